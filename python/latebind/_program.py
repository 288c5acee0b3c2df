"""Starts the program `latebind` that comes with the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from .errors import LibraryError


def find_program() -> Path:
    """Returns the program in the package's folder, or the one that LATEBIND_PROGRAM names.

    Raises:
        LibraryError: the program was not found.
    """
    name = "latebind.exe" if sys.platform == "win32" else "latebind"
    place = Path(__file__).resolve().parent / "bin" / name
    if place.is_file():
        return place
    given = os.environ.get("LATEBIND_PROGRAM", "")
    if not given:
        raise LibraryError(
            f"the program latebind was not found: there is no {place}, and LATEBIND_PROGRAM is not set; install a wheel "
            "of latebind for this platform, or set LATEBIND_PROGRAM to the program"
        )
    found = shutil.which(given) if os.path.dirname(given) else None
    if found is None:
        raise LibraryError(f"LATEBIND_PROGRAM is {given!r}, which is not a program: give its full path")
    return Path(found)


def main() -> int:
    """Runs the program with the arguments of this process, replacing the process where the system supports that."""
    try:
        program = str(find_program())
    except LibraryError as error:
        print(f"latebind: {error}", file=sys.stderr)
        return 1
    arguments = [program, *sys.argv[1:]]
    # Tells the program where this package is, for the work that only the package can do.
    os.environ.setdefault("LATEBIND_PYTHON", sys.executable)
    if sys.platform == "win32":
        return subprocess.run(arguments, check=False).returncode
    os.execv(program, arguments)
