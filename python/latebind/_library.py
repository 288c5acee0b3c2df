"""Finds liblatebind, opens it on first use, and converts its codes to exceptions.

Importing the package opens nothing. The library is searched for in the package's folder, where wheels have it, and
otherwise LATEBIND_LIBRARY names the file, or a folder that has it, such as the prefix of an installation. All functions
are thread-safe.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from ctypes import CDLL, POINTER, byref, c_void_p, cast, sizeof, string_at
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from . import _abi
from ._locks import Lock, in_child
from .errors import CallerError, CallerTypeError, LatebindError, LibraryError, class_of

_lock = Lock()
_open: _abi.Functions | None = None

Sized = TypeVar("Sized")


def _names() -> list[str]:
    if sys.platform == "win32":
        return ["latebind.dll"]
    return ["liblatebind.so", "liblatebind.so.*", "liblatebind.dylib"]


def library_file() -> Path:
    """Returns the library's file.

    Raises:
        LibraryError: the library was not found.
    """
    package = Path(__file__).resolve().parent
    folders = [package / "lib", package / "bin"]
    for folder in folders:
        for name in _names():
            for file in sorted(folder.glob(name)):
                return file
    given = os.environ.get("LATEBIND_LIBRARY", "")
    if given and os.path.isdir(given):
        return _library_in(Path(given))
    if given:
        return Path(given)
    raise LibraryError(
        f"Latebind's library was not found: {_names()[0]} is neither in {folders[0]} nor in {folders[1]}, and "
        f"LATEBIND_LIBRARY is not set; install a wheel of latebind for this platform, or set LATEBIND_LIBRARY to the "
        f"file that `cmake --install` installed, or to the prefix"
    )


def _library_in(folder: Path) -> Path:
    """Returns the library in a folder that LATEBIND_LIBRARY names.

    Raises:
        LibraryError: there is none.
    """
    for name in _names():
        # Debian's packages have a folder for each architecture.
        for pattern in (name, f"lib/{name}", f"lib64/{name}", f"lib/*/{name}", f"bin/{name}"):
            for file in sorted(folder.glob(pattern)):
                return file
    raise LibraryError(
        f"LATEBIND_LIBRARY is the folder {folder}, and there is no {_names()[0]} in it, in its lib, or in its bin: give the "
        "file, or the prefix of the installation"
    )


def _load() -> _abi.Functions:
    file = library_file()
    try:
        library = CDLL(str(file))
    except (OSError, ValueError) as error:
        raise LibraryError(f"Latebind's library could not be opened: {file}: {error}") from None
    functions = _abi.Functions()
    try:
        library.lb_abi_version.restype = _abi.SIGNATURES["lb_abi_version"][0]
        found = library.lb_abi_version()
        if found < _abi.LATEBIND_ABI_VERSION:
            raise LibraryError(
                f"{file} has version {found} of the C interface, and this package needs {_abi.LATEBIND_ABI_VERSION}: "
                "install the package and the library of the same release",
                code=_abi.LB_LIBRARY_UNUSABLE,
                name="LIBRARY_UNUSABLE",
            )
        for name, (result, arguments) in _abi.SIGNATURES.items():
            function = getattr(library, name)
            function.restype = result
            function.argtypes = arguments
            setattr(functions, name, function)
    except AttributeError as error:
        raise LibraryError(
            f"{file} is not Latebind's library, or of another release: {error}",
            code=_abi.LB_LIBRARY_UNUSABLE,
            name="LIBRARY_UNUSABLE",
        ) from None
    return functions


def _meet_main_thread(pid: int) -> None:
    """Introduces the main thread to the library, so that the library waits for other threads when the process ends.

    The library knows the main thread if that opened it or started work. Otherwise the main thread calls this at exit.
    """
    if os.getpid() != pid:
        return
    job = c_void_p()
    with suppress(LatebindError):
        check(library().lb_job_start(runtime({}), b"cache_list", None, None, byref(job)))
        library().lb_job_destroy(job)  # the list is not needed


def library() -> _abi.Functions:
    """Returns the library, opening it if necessary.

    Raises:
        LibraryError: the library is missing or unusable. The next call tries again.
    """
    global _open
    found = _open
    if found is None:
        with _lock:
            found = _open
            if found is None:
                found = _open = _load()
                if threading.current_thread() is not threading.main_thread():
                    atexit.register(_meet_main_thread, os.getpid())
    return found


def text_of(given: bytes | None) -> str:
    """Decodes a string of the library. It may contain a vendor's text, which need not be UTF-8."""
    return "" if given is None else given.decode("utf-8", "replace")


def last_error(code: int) -> LatebindError:
    """Returns the exception for a code that a call on this thread has just returned."""
    functions = library()
    error = _abi.lb_error(struct_size=sizeof(_abi.lb_error))
    functions.lb_last_error(byref(error))
    return class_of(code)(
        text_of(error.message),
        code,
        text_of(functions.lb_code_name(code)),
        bool(error.retryable),
        error.vendor_code if error.has_vendor_code else None,
        text_of(error.vendor_text),
        text_of(error.details),
    )


def check(code: int) -> None:
    """Raises the exception for a code other than LB_OK. Must run on the thread that made the call."""
    if code:
        raise last_error(code)


def owned_text(function: Callable[..., int], owner: Any, index: int) -> str:
    """Returns the text of lb_…(owner, index, &text), which need not end in NUL or be UTF-8."""
    text = _abi.lb_text()
    check(function(owner, index, byref(text)))
    address = cast(byref(text), POINTER(c_void_p))[0]  # `data` would end at the first NUL
    return string_at(address, text.size).decode("utf-8", "replace") if text.size else ""


def sized(kind: type[Sized]) -> Sized:
    """Returns a zeroed struct with its size set, like LB_INIT."""
    return kind(struct_size=sizeof(kind))  # type: ignore[call-arg,arg-type]


def path_text(path: os.PathLike[Any], what: str) -> str | bytes:
    """Returns the text of a path-like object.

    Raises:
        CallerTypeError: it is neither str nor bytes.
    """
    try:
        found: str | bytes = os.fspath(path)
    except TypeError as error:
        raise CallerTypeError(f"{what} is not a path: {error}") from None
    return found


def c_text(text: str | os.PathLike[str], what: str) -> bytes:
    """Encodes a text for the library, which ends at the first NUL.

    Raises:
        CallerTypeError, CallerError: this is not a text, or cannot be a C string; the message begins with `what`.
    """
    given = path_text(text, what) if isinstance(text, os.PathLike) else text
    if not isinstance(given, str):
        raise CallerTypeError(f"{what} is {type(given).__name__}; give a str")
    if "\0" in given:
        raise CallerError(f"{what} contains a NUL character")
    try:
        return given.encode("utf-8")
    except UnicodeEncodeError as error:
        raise CallerError(
            f"{what} contains a lone surrogate at character {error.start}: it is not Unicode text"
        ) from None


class Options:
    """An lb_options for one call, destroyed at the end of the `with` block."""

    def __init__(self, settings: dict[str, str]) -> None:
        self._settings = settings

    def __enter__(self) -> c_void_p:
        functions = library()
        self._pointer = c_void_p()
        check(functions.lb_options_create(byref(self._pointer)))
        try:
            for key, text in self._settings.items():
                check(functions.lb_options_set(self._pointer, c_text(key, "a setting's name"), c_text(text, key)))
        except BaseException:
            functions.lb_options_destroy(self._pointer)
            raise
        return self._pointer

    def __exit__(self, *_: object) -> None:
        library().lb_options_destroy(self._pointer)


_runtimes: dict[tuple[tuple[str, str], ...], c_void_p] = {}
_runtimes_lock = Lock()
# In a forked child, the threads of the runtimes do not exist.
in_child(_runtimes.clear)


def runtime(settings: dict[str, str]) -> c_void_p:
    """Returns this process's runtime with these settings of backends. There is one per set of settings, and it is never
    closed: vendors' libraries stay loaded anyway, and models of one runtime share them."""
    key = tuple(sorted(settings.items()))
    with _runtimes_lock:
        found = _runtimes.get(key)
        if found is None:
            found = c_void_p()
            with Options(settings) as options:
                check(library().lb_runtime_create(options, byref(found)))
            _runtimes[key] = found
        return found


@cache
def version() -> str:
    """Returns the release of the library, such as "0.1.0"."""
    return text_of(library().lb_version())
