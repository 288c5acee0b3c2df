"""scripts/soak_provider, for a minute: registration, sessions and compiled models leave nothing behind."""

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"]) / "scripts/soak_provider"


def soak(*arguments, **options):
    command = [sys.executable, SCRIPT, "--library", os.environ["LATEBIND_TEST_PROVIDER"], *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_nothing_grows():
    done = soak("--times", "100", "--python", sys.executable)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert "100 times, nothing grew" in done.stdout


def test_what_grows_would_be_seen(tmp_path):
    # An interpreter in which each run keeps a file open and some memory.
    (tmp_path / "sitecustomize.py").write_text(
        "import os\n_kept = []\n_real = os.listdir\n"
        "def _listdir(path='.'):\n"
        "    if path == '/proc/self/fd':\n"
        "        _kept.append((open(os.devnull), bytearray(1 << 20)))\n"
        "    return _real(path)\n"
        "os.listdir = _listdir\n"
    )
    done = soak("--times", "50", "--python", sys.executable, env=os.environ | {"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1
    assert "open files from" in done.stderr and "memory from" in done.stderr
