"""Settings as keywords: the table of docs/configuration.md, as the library has it.

A setting's keyword is the name of its environment variable without LATEBIND_, in lower case: `batch_tokens` is
embedding.batch_tokens, `cache` is cache.enabled. A key with dots is taken as it is, and `property` is a dict of the
vendor's own properties.
"""

from __future__ import annotations

import operator
import os
from contextlib import suppress
from ctypes import byref
from functools import cache
from typing import Any

from . import _abi
from ._library import check, library, path_text, sized, text_of
from .errors import CallerError, CallerTypeError

# What the runtime must know before it has any model: where vendors' libraries are, and what native computes with.
_OF_RUNTIME = ("openvino.", "onnxruntime.", "native.")


@cache
def keywords() -> dict[str, str]:
    """Keys by their keywords. Those of the daemon are left out: nothing here serves."""
    functions = library()
    found = {}
    for index in range(functions.lb_option_count()):
        info = sized(_abi.lb_option_info)
        check(functions.lb_option_at(index, byref(info)))
        key, environment = text_of(info.key), text_of(info.environment)
        if environment and not key.startswith("server."):
            found[environment.removeprefix("LATEBIND_").lower()] = key
    return found


def setting_text(value: Any, what: str) -> str:
    """A value as the table writes it: true, 8, a path, or several with commas.

    Raises:
        CallerTypeError: of a type that no setting has.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return str(value)
    with suppress(TypeError):  # of what is no whole number
        number = operator.index(value)  # NumPy's, too
        if abs(number) >> 63:
            raise CallerError(f"{what} is too large")
        return str(number)
    if isinstance(value, os.PathLike):
        return os.fsdecode(path_text(value, what))
    if isinstance(value, (list, tuple)) and not any(isinstance(each, (list, tuple)) for each in value):
        return ",".join(setting_text(each, what) for each in value)
    raise CallerTypeError(f"{what} is {type(value).__name__}; give a bool, an int, a str, a path, or a list of these")


def _key_of(keyword: str) -> str:
    if "." in keyword:
        return keyword  # the library refuses what it does not know, and names the nearest
    known = keywords()
    if keyword in known:
        return known[keyword]
    import difflib

    nearest = difflib.get_close_matches(keyword, [*known, "property"], 1, 0.5)
    hint = f" (did you mean {nearest[0]}?)" if nearest else ""
    raise CallerError(f"there is no setting '{keyword}'{hint}; known: {', '.join([*known, 'property'])}")


def settings_of(given: dict[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Texts by key: those of the runtime, and those of a model. What is None is not set.

    Raises:
        CallerError: an unknown name; the message has the nearest known one.
        CallerTypeError: a value of a type that no setting has.
    """
    of_runtime: dict[str, str] = {}
    of_model: dict[str, str] = {}
    for keyword, value in given.items():
        if value is None:
            continue
        if keyword == "property":
            if not isinstance(value, dict):
                raise CallerTypeError(f"property is {type(value).__name__}; give a dict of the vendor's properties")
            for name, each in value.items():
                of_model[f"property.{name}"] = setting_text(each, f"property {name!r}")
            continue
        key = _key_of(keyword)
        (of_runtime if key.startswith(_OF_RUNTIME) else of_model)[key] = setting_text(value, keyword)
    return of_runtime, of_model
