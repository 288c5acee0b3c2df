"""What the tests of this folder share."""

import importlib.machinery
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
BINARY = Path(os.environ["LATEBIND_TEST_BINARY_DIR"])

sys.path.insert(0, str(SOURCE / "scripts"))
from vendor_files import VENDOR


def run(*command, **options):
    """Output of a command that must succeed."""
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, errors="replace", **options
    )
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stderr}{done.stdout}")
    return done.stdout


def load_script(path):
    """A check of scripts/ as a module: many small trees are looked at faster without a process for each."""
    loader = importlib.machinery.SourceFileLoader(path.name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.name, loader))
    loader.exec_module(module)
    return module
