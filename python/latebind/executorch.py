"""Latebind as a backend of ExecuTorch, in an unmodified ExecuTorch: `register()`, then load programs as usual."""

from __future__ import annotations

import importlib.util
import platform
from ctypes import CDLL
from pathlib import Path

from ._library import library_file
from .errors import LibraryError

_NAME = "liblatebind_executorch.so"
_BUILT_FOR = "Linux on x86_64"


def _runtime() -> Path:
    """ExecuTorch's shared library, of the package that `import executorch` finds. Imports nothing."""
    spec = importlib.util.find_spec("executorch")
    if spec is None:
        raise LibraryError("ExecuTorch is not installed in this Python; run: pip install executorch")
    for folder in spec.submodule_search_locations or ():
        file = Path(folder) / "lib" / "libexecutorch.so"
        if file.is_file():
            return file
    raise LibraryError("this ExecuTorch has no lib/libexecutorch.so: releases from 1.5 on have it in their wheel")


def register() -> None:
    """Makes Latebind the backend "LatebindBackend" of this process's ExecuTorch. Again it does nothing.

    It stays until the process ends. No vendor's library is opened before a program wants one. The settings are those of
    the program and of ExecuTorch's own load options: docs/executorch.md.

    Raises:
        LibraryError: ExecuTorch is not installed, or is another release than the delegate was built for; or there is no
            delegate, which is for Linux on x86_64 and which a build without ExecuTorch's SDK leaves out.
    """
    delegate = library_file().parent / _NAME
    if not delegate.is_file():
        here = f"{platform.system()} on {platform.machine()}"
        raise LibraryError(
            f"there is no {delegate}: it was not included when this Latebind was built; `scripts/setup executorch` fetches the "
            f"SDK that its build needs (docs/executorch.md)"
            if here == _BUILT_FOR
            else f"there is no {delegate}: it is for {_BUILT_FOR} alone, and this is {here}"
        )
    runtime = _runtime()
    try:
        CDLL(str(runtime))
        CDLL(str(delegate))
    except OSError as error:
        raise LibraryError(f"Latebind's delegate does not fit this ExecuTorch ({runtime}): {error}") from None
