"""The README's commands do what it says: every ```sh block after the line <!-- run --> is run, word for word."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

from support import SOURCE

SNIPPET = re.compile(r"^<!-- run -->\n```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class SnippetsTest(unittest.TestCase):
    def test_every_marked_snippet_of_the_readme_runs(self):
        snippets = SNIPPET.findall((SOURCE / "README.md").read_text(encoding="utf-8"))
        self.assertTrue(snippets)
        for snippet in snippets:
            # A place like the repository, where the snippet may leave files.
            with tempfile.TemporaryDirectory() as folder:
                for name in os.listdir(SOURCE):
                    if not name.startswith("."):
                        os.symlink(SOURCE / name, os.path.join(folder, name))
                with self.subTest(snippet=snippet):
                    done = subprocess.run(
                        [shutil.which("bash"), "-euo", "pipefail", "-c", snippet],
                        cwd=folder, capture_output=True, text=True, errors="replace",
                    )
                    self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
                    self.assertTrue(done.stdout, "printed nothing")


if __name__ == "__main__":
    unittest.main()
