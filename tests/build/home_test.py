"""Tests have a home of their own: nothing of whoever runs them is seen by any."""

import os
import unittest
from pathlib import Path

from support import BINARY


class HomeTest(unittest.TestCase):
    def test_home_is_below_the_build(self):
        self.assertEqual(Path(os.environ["HOME"]).resolve(), (BINARY / "test-home").resolve())
        self.assertFalse((BINARY / "test-home" / ".local").exists())

    def test_no_variable_names_settings_libraries_or_caches(self):
        seen = [name for name in os.environ
                if name.startswith(("LATEBIND_", "XDG_", "HF_", "ORT_"))
                and not name.startswith(("LATEBIND_TEST_", "LATEBIND_CONFORMANCE_"))]
        seen += [name for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "INTEL_OPENVINO_DIR", "OPENVINO_LIB_PATH",
                                   "LD_LIBRARY_PATH") if name in os.environ]
        self.assertEqual(seen, [])


if __name__ == "__main__":
    unittest.main()
