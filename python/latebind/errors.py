"""What Latebind raises: one class a band of codes, all of them a LatebindError.

A message says what was tried, what was found and what to do. The class says whose turn it is: the caller's
(CallerError), the machine's (MachineError), nobody's but time's (TransientError), or ours (InternalError).
"""

from __future__ import annotations

__all__ = [
    "CallerError",
    "CallerTypeError",
    "ClosedError",
    "ForkedError",
    "InternalError",
    "LatebindError",
    "LibraryError",
    "MachineError",
    "TransientError",
]

# The numbers of the C interface that are used without the library: the same as in _abi.py, which need not be loaded to
# catch an error.
_INVALID_ARGUMENT = 100
_LIBRARY_NOT_FOUND = 200


class LatebindError(Exception):
    """The base of all errors of this package.

    Attributes:
        message: one line, including the vendor's message.
        code: the number of the C interface, such as 202 (LB_DEVICE_NOT_FOUND).
        name: its name, such as "DEVICE_NOT_FOUND".
        retryable: True when the same call may succeed later without any change.
        vendor_code: the number that a vendor's library returned; None when it had no part in it.
        vendor_text: the vendor's message, unchanged; "" when there is none.
        details: what led to it, one thing a line, such as every place where a library was looked for; "" when there is
            nothing.
        report: what a failed job found before it failed; None for all other errors.
    """

    def __init__(
        self,
        message: str,
        code: int = _INVALID_ARGUMENT,
        name: str = "INVALID_ARGUMENT",
        retryable: bool = False,
        vendor_code: int | None = None,
        vendor_text: str = "",
        details: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.name = name
        self.retryable = retryable
        self.vendor_code = vendor_code
        self.vendor_text = vendor_text
        self.details = details
        self.report: dict[str, object] | None = None

    def __reduce__(self) -> tuple[object, ...]:
        # Errors of worker processes are pickled.
        given = (self.message, self.code, self.name, self.retryable, self.vendor_code, self.vendor_text, self.details)
        return type(self), given

    def __str__(self) -> str:
        return self.message


class CallerError(LatebindError, ValueError):
    """The caller's error (codes 1xx): the same call fails again."""


class CallerTypeError(CallerError, TypeError):
    """An argument of a type that is not taken; what is in a list is named by its index."""


class ClosedError(CallerError):
    """The object was closed."""


class ForkedError(CallerError):
    """The object was opened before fork(), by the parent of this process: its threads are not here."""


class MachineError(LatebindError):
    """The machine must change (codes 2xx): a library, a device, a permission or a file is missing."""


class LibraryError(MachineError):
    """Latebind's own library could not be loaded."""

    def __init__(
        self,
        message: str,
        code: int = _LIBRARY_NOT_FOUND,
        name: str = "LIBRARY_NOT_FOUND",
        retryable: bool = False,
        vendor_code: int | None = None,
        vendor_text: str = "",
        details: str = "",
    ) -> None:
        super().__init__(message, code, name, retryable, vendor_code, vendor_text, details)


class TransientError(LatebindError):
    """A retry may help (codes 3xx): busy, out of time, memory or disk space, a device that failed."""


class InternalError(LatebindError):
    """A bug of Latebind (codes 4xx): please report it."""


_BANDS: dict[int, type[LatebindError]] = {1: CallerError, 2: MachineError, 3: TransientError, 4: InternalError}


def class_of(code: int) -> type[LatebindError]:
    """The class of a code's band; LatebindError itself for a band that this release does not know."""
    return _BANDS.get(code // 100, LatebindError)
