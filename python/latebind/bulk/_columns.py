"""Operations on columns whose data is known to be sound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from .._out import Vectors
from ..errors import CallerError
from ._damage import ENCODING_HINT, fault_of


def names_of(schema: pa.Schema) -> list[str]:
    """Returns the names of the columns.

    Raises:
        CallerError: a name is not UTF-8.
    """
    try:
        names: list[str] = schema.names
    except UnicodeDecodeError as error:
        raise CallerError(f"the name of a column is not UTF-8: {error}") from None
    return names


def lists(vectors: Vectors, absent: Any = None) -> pa.FixedSizeListArray:
    """Converts float32[n, d] to FixedSizeList<float32>[d] without copying. `absent` marks the rows that are null."""
    mask = None if absent is None else pa.array(absent)
    return pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1], mask=mask)


def taken(values: Any, rows: Any) -> Any:
    """Returns rows of a Table, RecordBatch or array. `rows` is an ascending intp[…], possibly empty."""
    try:
        return values.take(pa.array(rows, pa.int64()))
    except pa.ArrowNotImplementedError:
        # Some types do not support take(): string_view.
        runs = np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1)
        pieces = [values.slice(int(run[0]), len(run)) for run in runs if len(run)] or [values.slice(0, 0)]
    if isinstance(values, pa.Table):
        return pa.concat_tables(pieces)
    if isinstance(values, pa.RecordBatch):
        return pa.concat_batches(pieces)
    flat = [chunk for piece in pieces for chunk in (piece.chunks if isinstance(piece, pa.ChunkedArray) else [piece])]
    return pa.chunked_array(flat, values.type)


def _values(column: Any) -> Any:
    """Returns the values of a dictionary column."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    plain = [chunk.dictionary.take(chunk.indices) for chunk in chunks]
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array(plain, column.type.value_type)
    return plain[0]


def with_readable(table: Any, name: str) -> Any:
    """Returns the table of rows without a usable text, with texts that every reader of Arrow and Parquet accepts: without
    a dictionary, and with U+FFFD for bytes that are not UTF-8."""
    at = table.schema.get_field_index(name)
    given = column = table.column(at)
    if pa.types.is_dictionary(column.type):
        column = _values(column)
    if fault_of(column):
        buffers = (text.as_buffer() for text in column)
        texts = [None if each is None else each.to_pybytes().decode(errors="replace") for each in buffers]
        column = pa.array(texts, column.type)
    return table if column is given else table.set_column(at, name, column)


def without_other_entries(table: Any, name: str) -> Any:
    """Returns the table with a dictionary that only has the entries of its rows."""
    at = table.schema.get_field_index(name)
    field = table.schema.field(at)
    if not pa.types.is_dictionary(field.type):
        return table
    return table.set_column(at, field, _values(table.column(at)).dictionary_encode().cast(field.type))


def others(count: int, rows: dict[int, str]) -> Any:
    """Returns all positions except these, as intp[…]."""
    return np.delete(np.arange(count), list(rows)) if rows else np.arange(count)


def unreadable(texts: Any) -> dict[int, str]:
    """Returns the reason why a text cannot be read, by position. The column is not damaged."""
    found: dict[int, str] = {}
    if texts.null_count:
        for row in np.flatnonzero(np.asarray(texts.is_null())).tolist():
            found[row] = "the text is null"
    # Nothing else can be wrong, because the texts were validated as bytes.
    if fault_of(texts):
        # Tested one by one, because Arrow's casts would reject the whole column.
        for row, value in enumerate(texts):
            try:
                value.as_py()
            except UnicodeDecodeError as error:
                found[row] = f"the text is not UTF-8: {error.reason} at byte {error.start}; {ENCODING_HINT}"
    return found
