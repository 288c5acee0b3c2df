"""Latebind as a backend of an unmodified ExecuTorch: call `register()`, then load programs as usual."""

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
    """Returns the shared library of the ExecuTorch package that `import executorch` would find, without importing it."""
    spec = importlib.util.find_spec("executorch")
    if spec is None:
        raise LibraryError("ExecuTorch is not installed in this Python; run: pip install executorch")
    for folder in spec.submodule_search_locations or ():
        file = Path(folder) / "lib" / "libexecutorch.so"
        if file.is_file():
            return file
    raise LibraryError("this ExecuTorch has no lib/libexecutorch.so: releases from 1.5 on have it in their wheel")


def register() -> None:
    """Registers Latebind as "LatebindBackend" in this process's ExecuTorch. Later calls do nothing.

    The registration lasts until the process ends. A vendor's library is only opened when a program needs it. Settings
    come from the program and from ExecuTorch's load options: docs/executorch.md.

    Raises:
        LibraryError: ExecuTorch is not installed, or is a different release than the delegate was built for; or there
            is no delegate, which exists for Linux on x86_64 in builds with ExecuTorch's SDK.
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
