"""The exceptions of Latebind: one class per band of codes, all derived from LatebindError.

A message says what was tried, what was found and what to do. The class says who must act: the caller (CallerError), the
machine's owner (MachineError), no one, since a retry may help (TransientError), or Latebind's developers
(InternalError).
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

# Numbers of the C interface that are needed without the library. They equal those of _abi.py, which need not be loaded
# to catch an error.
_INVALID_ARGUMENT = 100
_LIBRARY_NOT_FOUND = 200


class LatebindError(Exception):
    """The base of all exceptions of this package.

    Attributes:
        message: one line, including the vendor's message.
        code: the number in the C interface, such as 202 (LB_DEVICE_NOT_FOUND).
        name: its name, such as "DEVICE_NOT_FOUND".
        retryable: True if the same call may succeed later.
        vendor_code: the number that a vendor's library returned; None if no vendor's library was involved.
        vendor_text: the vendor's message, unchanged; "" if there is none.
        details: the causes, one per line, such as every place where a library was searched for; "" if there are none.
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
        # Worker processes pickle errors.
        given = (self.message, self.code, self.name, self.retryable, self.vendor_code, self.vendor_text, self.details)
        return type(self), given

    def __str__(self) -> str:
        return self.message


class CallerError(LatebindError, ValueError):
    """A mistake of the caller (codes 1xx): the same call fails again."""


class CallerTypeError(CallerError, TypeError):
    """An argument has an unsupported type. An element of a list is named by its index."""


class ClosedError(CallerError):
    """The object was closed."""


class ForkedError(CallerError):
    """The object was opened by this process's parent before fork(), and its threads do not exist here."""


class MachineError(LatebindError):
    """The machine must change (codes 2xx): a library, a device, a permission or a file is missing."""


class LibraryError(MachineError):
    """A library or package that Latebind needs could not be loaded."""

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
    """A retry may help (codes 3xx): busy, out of time, memory or disk space, or a failed device."""


class InternalError(LatebindError):
    """A bug in Latebind (codes 4xx): please report it."""


_BANDS: dict[int, type[LatebindError]] = {1: CallerError, 2: MachineError, 3: TransientError, 4: InternalError}


def class_of(code: int) -> type[LatebindError]:
    """Returns the class of a code's band, or LatebindError for a band unknown to this release."""
    return _BANDS.get(code // 100, LatebindError)
