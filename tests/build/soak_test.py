"""scripts/soak fails when memory drifts, when a text is lost and when the program does, and only then.

A stand-in plays the program: what the real one does with an hour's worth of texts is for scripts/soak itself to say.
"""

import importlib.machinery
import importlib.util
import itertools
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import SOURCE

SOAK = SOURCE / "scripts" / "soak"

STAND_IN = f"""#!{sys.executable}
import sys
behaviour = sys.argv[-1]
held = [b"x" * (32 << 20)]
for count, line in enumerate(sys.stdin.buffer):
    if behaviour == "leaks" and count % 500 == 0:
        held.append(bytearray(b"x" * (1 << 19)))
    if behaviour == "dies" and count == 100:
        sys.exit("out of luck")
    if behaviour == "loses" and count == 100:
        continue
    sys.stdout.buffer.write(b"12345678")
"""


def load():
    loader = importlib.machinery.SourceFileLoader("soak", str(SOAK))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("soak", loader))
    loader.exec_module(module)
    return module


class VerdictTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.soak = load()

    def drift(self, size_at, seconds=600):
        samples = [(float(at), size_at(at)) for at in range(seconds)]
        return self.soak.drift_of(self.soak.windows_of(samples, 60.0))

    def test_flat_is_flat_whatever_the_first_minute_was_like(self):
        self.assertEqual(self.drift(lambda at: 100.0 if at < 60 else 400.0), 0)

    def test_a_slow_leak_is_found(self):
        self.assertGreater(self.drift(lambda at: 400 + at * 0.05), 0.05)

    def test_shrinking_is_drift_too(self):
        self.assertLess(self.drift(lambda at: 400 - at * 0.05), -0.05)

    def test_what_goes_up_and_comes_down_is_found(self):
        self.assertGreater(self.drift(lambda at: 500.0 if 300 <= at < 400 else 400.0), 0.2)

    def test_a_short_peak_is_none(self):
        self.assertEqual(self.drift(lambda at: 900.0 if at % 50 == 0 else 400.0), 0)

    def test_too_few_samples_are_no_verdict(self):
        with self.assertRaises(ValueError):
            self.drift(lambda at: 400.0, seconds=80)

    def test_a_gap_is_overlooked_and_half_a_stream_is_no_verdict(self):
        samples = [(float(at), 500.0) for at in range(600)]
        self.assertEqual(len(self.soak.windows_of([s for s in samples if not 200 < s[0] < 290], 60.0)), 9)
        with self.assertRaisesRegex(ValueError, "gaps"):
            self.soak.windows_of([s for s in samples if not 100 < s[0] < 560], 60.0)

    def test_texts_are_the_same_for_a_seed_and_mixed(self):
        some = list(itertools.islice(self.soak.texts(1), 5000))
        self.assertEqual(some, list(itertools.islice(self.soak.texts(1), 5000)))
        self.assertNotEqual(some, list(itertools.islice(self.soak.texts(2), 5000)))
        self.assertFalse(any("\n" in text for text in some))
        words = sorted(len(text.split()) for text in some)
        self.assertLessEqual(words[100], 1)
        self.assertGreaterEqual(words[-100], 150)


class StreamTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program = self.folder / "latebind"
        self.program.write_text(STAND_IN)
        self.program.chmod(0o755)

    def run_soak(self, behaviour, *arguments):
        for minutes in "0.2", "1":
            done = subprocess.run(
                [SOAK, "--program", self.program, "--model", self.folder, "--minutes", minutes, "--backend", "openvino",
                 "--shapes", "dynamic", *arguments, "--", behaviour], capture_output=True, text=True, timeout=120)
            # On a machine that stalls it says so, and what to do.
            if "too few to judge" not in done.stderr:
                break
        return done

    def test_a_program_that_holds_still_passes(self):
        done = self.run_soak("works", "--drift", "100")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("openvino", done.stdout)
        self.assertRegex(done.stdout, r"drift\nopenvino dynamic +\d+")

    def test_a_program_that_leaks_does_not(self):
        done = self.run_soak("leaks", "--drift", "30")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stderr, r"^soak: openvino dynamic: resident memory drifted by \+")

    def test_a_lost_text_is_a_failure(self):
        done = self.run_soak("loses")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("are no vectors for", done.stderr)

    def test_a_program_that_dies_is_a_failure_with_its_own_words(self):
        done = self.run_soak("dies")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("out of luck", done.stderr)

    def test_what_is_missing_is_named_with_the_remedy(self):
        self.program.unlink()
        done = self.run_soak("works")
        self.assertEqual(done.returncode, 1)
        self.assertIn("type: scripts/test release", done.stderr)

    def test_has_help(self):
        done = subprocess.run([SOAK, "--help"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        self.assertIn("--minutes", done.stdout)


if __name__ == "__main__":
    unittest.main()
