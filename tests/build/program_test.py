"""What is promised of the program that users get: light to start, light to ship."""

import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from support import BINARY, VENDOR, run

PROGRAM = BINARY / "bin" / "latebind"


class ProgramTest(unittest.TestCase):
    def test_version_opens_no_vendor_file(self):
        self.assertIsNotNone(shutil.which("strace"), "strace is missing; type: scripts/setup test")
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "strace"
            # The environment would lead to vendor libraries, if anybody looked.
            environment = {
                **os.environ,
                "OPENVINO_LIB_PATH": "/nonexistent/libopenvino_c.so",
                "LATEBIND_OPENVINO_LIBRARY": "/nonexistent/libopenvino_c.so",
                "LATEBIND_ONNXRUNTIME_LIBRARY": "/nonexistent/libonnxruntime.so",
            }
            version = run(
                "strace", "-f", "-qq", "-s", "4096", "-e", "trace=%file", "-o", log, PROGRAM, "--version",
                env=environment,
            )
            self.assertIn(os.environ["LATEBIND_TEST_PROJECT_VERSION"], version)
            calls = [
                call for call in log.read_text(encoding="utf-8", errors="replace").splitlines()
                if "execve(" not in call
            ]
        self.assertTrue(any("libc.so.6" in call for call in calls), "strace saw nothing")
        for call in calls:
            self.assertNotRegex(call.replace(str(BINARY), ""), VENDOR)

    def test_version_takes_less_than_10_ms(self):
        def median():
            times = []
            for _ in range(25):
                start = time.perf_counter()
                subprocess.run([PROGRAM, "--version"], stdout=subprocess.DEVNULL, check=True)
                times.append(time.perf_counter() - start)
            return statistics.median(times)

        # Other programs may hold the machine for a while; they can only make it slower.
        best = median()
        for _ in range(20):
            if best < 0.010:
                break
            time.sleep(0.5)
            best = min(best, median())
        self.assertLess(best, 0.010)

    def test_the_stripped_program_is_below_8_mb(self):
        with tempfile.TemporaryDirectory() as folder:
            stripped = Path(folder) / "latebind"
            run("strip", "-o", stripped, PROGRAM)
            self.assertLess(stripped.stat().st_size, 8_000_000)

    def test_the_program_tells_its_version(self):
        self.assertRegex(run(PROGRAM, "--version"), re.escape(os.environ["LATEBIND_TEST_PROJECT_VERSION"]))


if __name__ == "__main__":
    unittest.main()
