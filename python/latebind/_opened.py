"""The base of all objects that are opened and closed: Opened."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from ctypes import byref, c_void_p
from functools import partial
from typing import TYPE_CHECKING, Any

from ._call import Cancellation, Deadline, Handle, Owner, call_options, interruptible
from ._library import Options, check

if TYPE_CHECKING:
    from typing_extensions import Self

# The model, device, precision, strict, and all other settings.
Arguments = tuple[str, Any, Any, bool, dict[str, Any]]


def open_by(
    function: Callable[..., int],
    destroy: Callable[..., None],
    runtime: c_void_p,
    file: bytes,
    settings: dict[str, str],
) -> Owner:
    """Opens an object with lb_…(runtime, file, options, call, &object). Ctrl-C cancels."""

    def open_it(cancellation: Cancellation | None) -> Owner:
        opened = Owner(destroy)
        call = call_options(Deadline(None), cancellation)
        with Options(settings) as options:
            check(function(runtime, file, options, call and byref(call), opened.out))
        return opened

    return interruptible(open_it, None, True)


class Opened:
    """An object of the library and the arguments that it was opened with, to which it is pickled."""

    def __init__(self, arguments: Arguments, handle: Handle) -> None:
        self._arguments = arguments
        self._handle = handle
        # Also runs when the interpreter exits, before its modules are torn down.
        self._finalizer = weakref.finalize(self, self._handle.close)

    def close(self) -> None:
        """Releases the object. Calls on other threads complete first. Closing again does nothing."""
        self._finalizer()

    @property
    def closed(self) -> bool:
        return self._handle.is_closed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        model, device, precision, strict, settings = self._arguments
        return partial(type(self), **settings), (model, device, precision, strict)
