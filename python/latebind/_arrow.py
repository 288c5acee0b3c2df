"""Reads strings from Arrow arrays in place, through Arrow's C data interface.

This supports pyarrow, polars, pandas, nanoarrow and other libraries with __arrow_c_array__ or __arrow_c_stream__. No
str objects are created, and pyarrow is not required. The layout is specified in
https://arrow.apache.org/docs/format/CDataInterface.html.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_int,
    c_int64,
    c_void_p,
    py_object,
)
from typing import Any

import numpy as np
import numpy.typing as npt

from ._memory import memory_at
from .errors import CallerError, CallerTypeError

Addresses = npt.NDArray[np.uintp]


class _Schema(Structure):
    format: bytes | None
    release: Any
    dictionary: Any


_Schema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_void_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", c_void_p),
    ("dictionary", POINTER(_Schema)),
    ("release", CFUNCTYPE(None, POINTER(_Schema))),
    ("private_data", c_void_p),
]


class _Array(Structure):
    length: int
    null_count: int
    offset: int
    n_buffers: int
    buffers: Any
    dictionary: Any
    release: Any


_Array._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", c_void_p),
    ("dictionary", POINTER(_Array)),
    ("release", CFUNCTYPE(None, POINTER(_Array))),
    ("private_data", c_void_p),
]


class _Stream(Structure):
    get_schema: Any
    get_next: Any
    get_last_error: Any
    release: Any


_Stream._fields_ = [
    ("get_schema", CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Schema))),
    ("get_next", CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Array))),
    ("get_last_error", CFUNCTYPE(c_char_p, POINTER(_Stream))),
    ("release", CFUNCTYPE(None, POINTER(_Stream))),
    ("private_data", c_void_p),
]


_INDEX_TYPES = {
    b"c": np.int8,
    b"C": np.uint8,
    b"s": np.int16,
    b"S": np.uint16,
    b"i": np.int32,
    b"I": np.uint32,
    b"l": np.int64,
    b"L": np.uint64,
}
_BINARY = (b"z", b"Z", b"vz", b"w")


def _pointer(capsule: Any, name: bytes) -> int:
    from ctypes import pythonapi  # PyPy has none, and reads the values as any other sequence

    get = pythonapi.PyCapsule_GetPointer
    get.restype = c_void_p
    get.argtypes = (py_object, c_char_p)
    found: int = get(capsule, name)
    return found


def _buffer(array: _Array, index: int) -> int | None:
    address: int | None = array.buffers[index]
    return address


def _nulls(array: _Array) -> npt.NDArray[np.intp]:
    """Returns the positions of the null values."""
    bitmap = _buffer(array, 0) if array.n_buffers else None
    if array.null_count == 0 or bitmap is None:
        return np.empty(0, np.intp)
    last = array.offset + array.length
    bits = np.unpackbits(memory_at(bitmap, np.uint8, (last + 7) // 8), bitorder="little")[array.offset : last]
    return np.flatnonzero(bits == 0)


def _refuse_null(index: int) -> CallerTypeError:
    return CallerTypeError(f"text {index} is null; fill or drop nulls")


def _refuse_damage(is_damaged: npt.NDArray[np.bool_], first: int) -> None:
    if is_damaged.any():
        index = first + int(np.flatnonzero(is_damaged)[0])
        raise CallerError(f"the Arrow array is damaged: text {index} is outside its memory")


def _offsets(array: _Array, dtype: Any, texts: Addresses, first: int) -> None:
    """Fills in the address and the size of each text of a string or large_string array."""
    address = _buffer(array, 1)
    whole = memory_at(address, dtype, array.offset + array.length + 1)[array.offset :]
    sizes = whole[1:] - whole[:-1]
    # The interface does not give the size of the memory (see refuse_damage()), so only the order of the offsets can be
    # checked.
    _refuse_damage((sizes < 0) | (whole[:-1] < 0), first)
    texts[:, 0] = whole[:-1]
    texts[:, 0] += np.uintp(_buffer(array, 2) or 0)
    texts[:, 1] = sizes


def _views(array: _Array, texts: Addresses, nulls: npt.NDArray[np.intp], first: int) -> None:
    """Like _offsets(), for a string_view array. Each view has 16 bytes and holds a short text or names the buffer of a
    long one. The view of a null is arbitrary."""
    address = _buffer(array, 1)
    views = memory_at(address, np.int32, 4 * (array.offset + array.length)).reshape(-1, 4)[array.offset :]
    count = max(array.n_buffers - 3, 0)
    buffers = np.array([_buffer(array, 2 + index) or 0 for index in range(count)], np.uintp)
    size = views[:, 0].copy()
    size[nulls] = 0
    _refuse_damage(size < 0, first)
    inside = np.uintp((address or 0) + 16 * array.offset + 4) + np.arange(array.length, dtype=np.uintp) * np.uintp(16)
    texts[:, 0] = inside
    texts[:, 1] = size
    is_long = size > 12
    if is_long.any():
        which, start = views[:, 2], views[:, 3].astype(np.int64)
        _refuse_damage(is_long & ((which < 0) | (which >= count) | (start < 0)), first)
        last = memory_at(_buffer(array, array.n_buffers - 1), np.int64, count)[which[is_long]]
        is_damaged = np.zeros(array.length, np.bool_)
        is_damaged[is_long] = start[is_long] + size[is_long] > last
        _refuse_damage(is_damaged, first)
        texts[is_long, 0] = buffers[which[is_long]] + start[is_long].astype(np.uintp)


def _read(schema: _Schema, array: _Array, first: int, may_have_nulls: bool = False) -> Addresses:
    """Returns the address and the size of each text. `first` is the index of the array's first text, for messages."""
    kind = schema.format or b""
    if kind == b"n":  # the type of an array that only contains nulls
        if array.length:
            raise _refuse_null(first)
        return np.zeros((0, 2), np.uintp)
    nulls = _nulls(array)
    if nulls.size and not may_have_nulls:
        raise _refuse_null(first + int(nulls[0]))
    texts = np.zeros((array.length, 2), np.uintp)
    if schema.dictionary:
        if kind not in _INDEX_TYPES:
            raise CallerTypeError(f"an Arrow dictionary with indices of type '{kind.decode()}' is not supported")
        if not array.length:
            return _read(schema.dictionary.contents, _Array(), first)
        indices = memory_at(_buffer(array, 1), _INDEX_TYPES[kind], array.offset + array.length)[array.offset :]
        words = array.dictionary.contents
        absent = _nulls(words)
        if absent.size and (used := np.flatnonzero(np.isin(indices, absent))).size:
            raise _refuse_null(first + int(used[0]))
        values = _read(schema.dictionary.contents, words, first, may_have_nulls=True)
        if indices.size and (int(indices.min()) < 0 or int(indices.max()) >= len(values)):
            raise CallerError("an Arrow dictionary has indices beyond its values")
        found: Addresses = values[indices]
        return found
    if kind in (b"u", b"U"):
        if array.length:
            _offsets(array, np.int32 if kind == b"u" else np.int64, texts, first)
    elif kind == b"vu":
        if array.length:
            _views(array, texts, nulls, first)
    elif kind in _BINARY or kind.startswith(b"w:"):
        raise CallerTypeError("the Arrow array has binary values; cast it to string")
    elif kind == b"+s":
        raise CallerTypeError("an Arrow table was given; choose the column with the texts")
    else:
        raise CallerTypeError(f"the Arrow array is of type '{kind.decode()}'; strings are needed")
    return texts


class _Batches:
    """The arrays of a stream. The object releases them and their schema."""

    def __init__(self, capsule: Any) -> None:
        self.schema = _Schema()
        self.arrays: list[_Array] = []
        self._capsule = capsule
        self._stream = _Stream.from_address(_pointer(capsule, b"arrow_array_stream"))
        _refuse_used(self._stream)
        self._check(self._stream.get_schema(byref(self._stream), byref(self.schema)))
        while True:
            array = _Array()
            self._check(self._stream.get_next(byref(self._stream), byref(array)))
            if not array.release:
                return
            self.arrays.append(array)

    def _check(self, code: int) -> None:
        if code:
            text = self._stream.get_last_error(byref(self._stream)) or b""
            raise CallerError(f"the Arrow stream could not be read: error {code}: {text.decode('utf-8', 'replace')}")

    def __del__(self) -> None:
        for owned in [*self.arrays, self.schema]:
            if owned.release:
                owned.release(byref(owned))


class ExportError(CallerTypeError):
    """An object with Arrow's methods failed to export its data."""


def _refuse_used(given: _Schema | _Array | _Stream) -> None:
    if not given.release:
        raise ExportError("the Arrow data was consumed before: export it again")


def _exported(values: Any) -> tuple[_Schema, _Array, Any] | _Batches:
    """Exports an object's arrays through its Arrow methods.

    Raises:
        ExportError: the object raised an error, or returned something other than Arrow's capsules.
        ImportError: pandas needs pyarrow to export.
    """
    try:
        if not hasattr(values, "__arrow_c_array__"):
            return _Batches(values.__arrow_c_stream__())
        capsules = values.__arrow_c_array__()
        schema = _Schema.from_address(_pointer(capsules[0], b"arrow_schema"))
        array = _Array.from_address(_pointer(capsules[1], b"arrow_array"))
    except (ImportError, CallerError):
        raise
    except Exception as error:  # noqa: BLE001 - any error that the object raises
        raise ExportError(f"{type(values).__name__} cannot be read as Arrow data: {error}") from None
    _refuse_used(schema)
    _refuse_used(array)
    return schema, array, capsules


def _parts(values: Any) -> Iterator[tuple[_Schema, _Array, Any]]:
    """Yields each array, its schema, and what keeps both alive."""
    batches = _exported(values)
    if isinstance(batches, tuple):
        yield batches
    else:
        for array in batches.arrays:
            yield batches.schema, array, batches
        if not batches.arrays:
            _read(batches.schema, _Array(), 0)  # checks the type of an empty array, too


def is_of_pyarrow(values: Any) -> bool:
    """Whether `values` is an array or a table of pyarrow."""
    pyarrow = sys.modules.get("pyarrow")
    return pyarrow is not None and isinstance(
        values, (pyarrow.Array, pyarrow.ChunkedArray, pyarrow.RecordBatch, pyarrow.Table)
    )


def refuse_damage(values: Any, full: bool = False) -> None:
    """Refuses a pyarrow array whose offsets or buffers are invalid according to pyarrow.

    The data interface does not give the size of the memory. Nothing is read from a damaged array, not even its nulls.

    Args:
        values: any object; arrays of pyarrow, and those of pandas that hold one, are checked.
        full: for callers that do not use read_strings(), which checks every text itself.

    Raises:
        CallerError: the array is damaged.
    """
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is None:
        return
    if not isinstance(values, (pyarrow.Array, pyarrow.ChunkedArray)) and hasattr(values, "__arrow_array__"):
        values = values.__arrow_array__()
    if isinstance(values, (pyarrow.Array, pyarrow.ChunkedArray)):
        try:
            values.validate(full=full)
        except pyarrow.ArrowException as error:
            raise CallerError(f"the Arrow array is damaged: {error}") from None


def is_arrow(values: Any) -> bool:
    return hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__")


def read_strings(values: Any) -> tuple[Addresses, list[Any]]:
    """Returns uintp[n, 2], with the address and the size in bytes of each text, and the owners of their memory.

    Raises:
        CallerTypeError: the values are not strings, or include a null, whose index is named.
        CallerError: the array is damaged.
    """
    refuse_damage(values)
    found = []
    owners: list[Any] = []
    count = 0
    for schema, array, owner in _parts(values):
        found.append(_read(schema, array, count))
        owners.append(owner)
        count += array.length
    if len(found) == 1:
        return found[0], owners
    return (np.concatenate(found) if found else np.zeros((0, 2), np.uintp)), owners
