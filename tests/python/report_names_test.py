"""The package's lists of jobs' functions are those of its files, and the files ask for jobs that the table has."""

import shutil
import subprocess

import pytest
from support import SOURCE


def check(root):
    return subprocess.run(
        [str(root / "scripts" / "generate_python_reports"), "--check"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_the_lists_are_those_of_the_files():
    done = check(SOURCE)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("text", "instead", "said"),
    [
        ('run("warm"', 'run("warmer"', "runs 'warmer', which is no job of job_table.cpp"),
        ('{"model":', '{"modle":', "'warm' has no argument 'modle' in job_table.cpp"),
        ("whether it can run the model", "whether it cannot", "warm.py is out of date"),
        ("    ready: bool", "    ready: int", "warm.py is out of date"),
        ("class WarmDevice", "class Warmed", "lacks the dataclass WarmDevice of reports/warm.json"),
        (
            '__all__ = ["WarmDevice", "warm"]',
            '__all__ = ["warm"]',
            "is out of date; type: scripts/generate_python_reports",
        ),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, text, instead, said):
    for name in (
        "scripts/generate_python_reports",
        "app/job_table.cpp",
        "python/latebind/__init__.py",
        "docs/reports.md",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(SOURCE / name, tmp_path / name)
    shutil.copytree(SOURCE / "python" / "latebind" / "_reports", tmp_path / "python" / "latebind" / "_reports")
    shutil.copytree(SOURCE / "app" / "reports", tmp_path / "app" / "reports")
    assert check(tmp_path).returncode == 0
    file = tmp_path / "python" / "latebind" / "_reports" / "warm.py"
    changed = file.read_text(encoding="utf-8").replace(text, instead)
    assert instead in changed
    file.write_text(changed, encoding="utf-8")
    done = check(tmp_path)
    assert done.returncode == 1 and said in done.stderr, done.stderr
