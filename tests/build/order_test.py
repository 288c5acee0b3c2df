"""What is installed after the first build is in the next one, and what is not is named.

Works on a tree of links to the sources, with a build/runtime of its own. Nothing is compiled but a schema.
"""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import SOURCE

RUNTIME = SOURCE / "build" / "runtime"


class OrderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "tree"
        self.root.mkdir()
        for entry in SOURCE.iterdir():
            if entry.name not in ("build", ".git"):
                (self.root / entry.name).symlink_to(entry)
        self.runtime = self.root / "build" / "runtime"
        self.runtime.mkdir(parents=True)
        self.sdk = next(RUNTIME.glob("executorch-[0-9]*"), None)
        for entry in RUNTIME.iterdir():
            if entry != self.sdk:
                (self.runtime / entry.name).symlink_to(entry)
        self.build = self.root / "build" / "scratch"

    def cmake(self, *arguments):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("LATEBIND_")}
        done = subprocess.run(["cmake", *map(str, arguments)], capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def left_out(self):
        return (self.build / "left_out.txt").read_text()

    def test_a_part_that_was_installed_after_the_first_build_is_in_the_next_one(self):
        self.assertIsNotNone(self.sdk, "ExecuTorch's SDK is missing; type: scripts/setup executorch")
        said = self.cmake("-G", "Ninja", "-S", self.root, "-B", self.build, "-DLATEBIND_BUILD_EXAMPLES=OFF",
                          "--log-level=NOTICE")
        self.assertIn("the delegate for ExecuTorch, and its tests", self.left_out())
        self.assertIn("writing and reading .pte files, and its tests", self.left_out())
        self.assertIn("Left out: writing and reading .pte files", said)
        (self.runtime / self.sdk.name).symlink_to(self.sdk)
        # Nothing but a build.
        self.cmake("--build", self.build, "--target", "latebind_pte_schema")
        self.assertNotIn("ExecuTorch", self.left_out())
        self.assertNotIn(".pte", self.left_out())
        targets = self.cmake("--build", self.build, "--target", "help")
        self.assertIn("liblatebind_executorch.so", targets)


if __name__ == "__main__":
    unittest.main()
