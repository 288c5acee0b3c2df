"""Checks which Arrow data may be read.

In damaged data, offsets, views and indices point outside of its memory. pyarrow follows them, and crashes or discloses
what lies there. So each column is validated before a byte of it is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from ..errors import CallerError

# What converts a file from the encoding that it probably has.
ENCODING_HINT = "if it is Latin-1, convert the file with `iconv -f WINDOWS-1252 -t UTF-8`"


class RowError(CallerError):
    """A row has no text that can be embedded."""


def refuse_damage(batch: pa.Table | pa.RecordBatch, text_column: str) -> None:
    """Validates all columns. Texts that are not UTF-8 only concern their rows.

    Raises:
        CallerError: a column is damaged; the message has its name, and for a Table the batch.
        RowError: a column other than the texts is not UTF-8.
    """
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if not isinstance(column, pa.ChunkedArray):
            _refuse(column, name, name == text_column, "")
            continue
        for at, chunk in enumerate(column.chunks):
            _refuse(chunk, name, name == text_column, f", batch {at}" if column.num_chunks > 1 else "")
    try:
        batch.validate()
    except pa.ArrowException as error:
        raise CallerError(f"its columns do not fit together: {error}") from None


def _refuse(array: Any, name: str, is_text: bool, place: str) -> None:
    found = fault_of(array)
    if found and is_text:
        found = fault_of(array, as_bytes)
    elif "UTF8" in found:
        raise RowError(f"column '{name}'{place} is not UTF-8: {found}; {ENCODING_HINT}")
    if found:
        raise CallerError(f"column '{name}'{place} is damaged: {found}; recreate the file or the table")


def fault_of(array: Any, seen: Callable[[Any], Any] = lambda array: array) -> str:
    """Returns what is wrong with an array, or with seen(array); "" if nothing is."""
    try:
        seen(array).validate(full=True)
    except pa.ArrowException as error:  # of an index or a view it is an ArrowIndexError
        return str(error)
    return ""


_BYTES = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}


def as_bytes(array: Any) -> Any:
    """Returns an array of strings, or of a dictionary of strings, as bytes, without copying or reading them."""
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, as_bytes(array.dictionary), safe=False)
    if array.type not in _BYTES:
        return array
    return array.view(_BYTES[array.type])
