"""The types of latebind.integrations with the frameworks' own, which scripts/check_python has not."""

import os
import subprocess
import sys

from frameworks import SOURCE


def test_mypy_finds_nothing_with_the_types_of_the_frameworks():
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            f"--config-file={SOURCE / 'pyproject.toml'}",
            f"--python-executable={SOURCE / 'build' / 'runtime' / 'integrations' / 'bin' / 'python'}",
            f"--cache-dir={os.devnull}",
            str(SOURCE / "python" / "latebind" / "integrations"),
        ],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Success" in done.stdout
