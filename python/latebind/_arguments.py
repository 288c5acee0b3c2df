"""Checks of arguments that many calls have."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _abi
from ._library import c_text
from .errors import CallerError, CallerTypeError

# Of the smallest type that the library takes counts as.
_COUNT_MAX = (1 << 31) - 1

_ROLES = {"query": _abi.LB_ROLE_QUERY, "document": _abi.LB_ROLE_DOCUMENT}


def positive(value: Any, what: str) -> int:
    """A count that may be left out; 0 then.

    Raises:
        CallerTypeError, CallerError: no int of 1 or more; the message begins with `what`.
    """
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise CallerTypeError(f"{what} is {type(value).__name__}; give an int")
    if value < 1:
        raise CallerError(f"{what} is {value}; give 1 or more")
    if value > _COUNT_MAX:
        raise CallerError(f"{what} is too large; {_COUNT_MAX} is the limit")
    return int(value)


def flag(value: Any, what: str) -> bool:
    """True or False; False where it is left out.

    Raises:
        CallerTypeError: neither; the message begins with `what`.
    """
    if value is None:
        return False
    if not isinstance(value, (bool, np.bool_)):
        raise CallerTypeError(f"{what} is {type(value).__name__}; give True or False")
    return bool(value)


def role_number(value: Any) -> int:
    """What texts are, "query" or "document", as the library has it; unsaid where it is left out.

    Raises:
        CallerError: another one.
    """
    if value is None:
        return int(_abi.LB_ROLE_UNSAID)
    if not isinstance(value, str) or value not in _ROLES:
        raise CallerError(f"role is {value!r}; known: {', '.join(_ROLES)}")
    return _ROLES[value]


def optional_text(value: Any, what: str) -> str | None:
    """A str that may be left out.

    Raises:
        CallerTypeError, CallerError: no text; the message begins with `what`.
    """
    return None if value is None else c_text(value, what).decode()
