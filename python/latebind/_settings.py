"""Settings as keywords: the library's table, which docs/configuration.md lists.

A setting's keyword is the name of its environment variable without LATEBIND_, in lower case: `batch_tokens` is
embedding.batch_tokens, `cache` is cache.enabled. A key with dots can be used as is, and `property` is a dict of vendor
properties.
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

# Settings that the runtime needs before it opens a model: where libraries are, and what backends compute with.
_OF_RUNTIME = ("openvino.", "onnxruntime.", "native.", "backends.", "plugin.")


# What sentence-transformers takes when a model is opened, and Latebind when texts are encoded.
_OF_CALLS = {"truncate_dim": "dimensions", "dimensions": "dimensions", "normalize_embeddings": "normalize"}


@cache
def keywords() -> dict[str, str]:
    """Returns keys by keyword, without those of the daemon, which this package does not run."""
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
    """Formats a value as the table does: true, 8, a path, or a list with commas.

    Raises:
        CallerTypeError: no setting has this type.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return str(value)
    with suppress(TypeError):  # not an integer
        number = operator.index(value)  # includes NumPy's integers
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
        return keyword  # the library rejects an unknown keyword and names the nearest
    known = keywords()
    if keyword in known:
        return known[keyword]
    if keyword in _OF_CALLS:
        raise CallerError(
            f"'{keyword}' is no setting of a model: give {_OF_CALLS[keyword]} to encode(), or to a class of "
            "latebind.integrations.sentence_transformers"
        )
    import difflib

    nearest = difflib.get_close_matches(keyword, [*known, "property"], 1, 0.5)
    hint = f" (did you mean {nearest[0]}?)" if nearest else ""
    raise CallerError(f"there is no setting '{keyword}'{hint}; known: {', '.join([*known, 'property'])}")


def settings_of(given: dict[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Returns the texts of the runtime's settings and of the model's, by key. None means not set.

    Raises:
        CallerError: a name is unknown; the message has the nearest known one.
        CallerTypeError: no setting has this type.
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
