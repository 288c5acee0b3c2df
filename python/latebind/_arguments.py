"""Checks arguments that many calls share."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _abi
from ._library import c_text
from .errors import CallerError, CallerTypeError

# The limit of the smallest type that the library uses for counts.
_COUNT_MAX = (1 << 31) - 1

_ROLES = {"query": _abi.LB_ROLE_QUERY, "document": _abi.LB_ROLE_DOCUMENT}


def positive(value: Any, what: str) -> int:
    """Returns a count, or 0 for None.

    Raises:
        CallerTypeError, CallerError: the value is not an int of at least 1; the message begins with `what`.
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
    """Returns True or False, or False for None.

    Raises:
        CallerTypeError: the value is not a bool; the message begins with `what`.
    """
    if value is None:
        return False
    if not isinstance(value, (bool, np.bool_)):
        raise CallerTypeError(f"{what} is {type(value).__name__}; give True or False")
    return bool(value)


def role_number(value: Any) -> int:
    """Returns the library's number for a role, "query", "document" or None.

    Raises:
        CallerError: the role is unknown.
    """
    if value is None:
        return int(_abi.LB_ROLE_UNSPECIFIED)
    if not isinstance(value, str) or value not in _ROLES:
        raise CallerError(f"role is {value!r}; known: {', '.join(_ROLES)}")
    return _ROLES[value]


def optional_text(value: Any, what: str) -> str | None:
    """Returns a str, or None for None.

    Raises:
        CallerTypeError, CallerError: the value is not a text; the message begins with `what`.
    """
    return None if value is None else c_text(value, what).decode()
