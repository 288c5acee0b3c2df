"""Starts the program `latebind` that comes with the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from ._library import library_file
from .errors import LibraryError


def _beside_library(name: str) -> Path | None:
    """Returns the program of the installation or the build that the library belongs to, if there is one."""
    try:
        file = library_file().absolute()
    except LibraryError:
        return None
    # Never from PATH, where this module's own command may be.
    for folder in (file.parent, *file.parents[1:3]):
        for place in (folder / "bin" / name, folder / name):
            if place.is_file() and os.access(place, os.X_OK):
                return place
    return None


def find_program() -> Path:
    """Returns the program in the package's folder, the one that LATEBIND_PROGRAM names, or that of the installation whose
    library is used.

    Raises:
        LibraryError: the program was not found.
    """
    name = "latebind.exe" if sys.platform == "win32" else "latebind"
    place = Path(__file__).resolve().parent / "bin" / name
    if place.is_file():
        return place
    given = os.environ.get("LATEBIND_PROGRAM", "")
    if not given:
        beside = _beside_library(name)
        if beside is not None:
            return beside
        raise LibraryError(
            f"the program latebind was not found: there is no {place}, LATEBIND_PROGRAM is not set, and there is none "
            "beside the library that LATEBIND_LIBRARY names; install a wheel of latebind for this platform, or set "
            "LATEBIND_PROGRAM to the program"
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
