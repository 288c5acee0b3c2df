"""Converts texts of all supported types to addresses and sizes for the library.

source_of() recognises the type. A Source yields its texts in parts, as Texts, which keep their memory alive. Errors
name a text by its index.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from ctypes import byref
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _arrow
from ._abi import lb_text
from ._arrow import Addresses
from ._memory import memory_at
from .errors import CallerError, CallerTypeError

# The limits of a part of a list that is copied as UTF-8, in texts and roughly in bytes. They bound the memory, and a
# part still fills every batch.
PART_TEXTS = 65536
PART_BYTES = 64 << 20


class Texts:
    """Texts in memory. `addresses` is uintp[n, 2], with the address and the size in bytes of each text; for pairs,
    which count as one text, uintp[n, 4]."""

    __slots__ = ("_owners", "addresses", "bytes", "count", "pointer")

    def __init__(self, addresses: Addresses, owners: Any) -> None:
        self.addresses = np.ascontiguousarray(addresses)
        self.count = len(addresses)
        self.bytes = int(self.addresses[:, 1::2].sum()) if self.count else 0
        self.pointer: Any = int(self.addresses.ctypes.data)
        self._owners = owners

    def pointer_to(self, index: int) -> int:
        return int(self.pointer) + index * self.addresses.strides[0]

    def memory(self, index: int) -> npt.NDArray[np.uint8]:
        """Returns the bytes of one text without copying; valid as long as this object."""
        address, size = self.addresses[index].tolist()
        return memory_at(address, np.uint8, size)

    def part(self, start: int, end: int) -> Texts:
        return Texts(self.addresses[start:end], self._owners)


class OneText(Texts):
    """A single text, without NumPy arrays, which would take ten times as long to make."""

    __slots__ = ()

    def __init__(self, text: bytes) -> None:
        self.count = 1
        self.bytes = len(text)
        self.pointer = byref(lb_text(text, len(text)))


def _in_a_list(index: int) -> str:
    return f"text {index}"


def _refuse(place: str, text: object) -> CallerTypeError | CallerError:
    """Returns the error for a text that cannot be encoded. `place` names the text."""
    if not isinstance(text, str):
        what = "a text is needed"
        is_nan = isinstance(text, float) and math.isnan(text)
        if isinstance(text, (bytes, bytearray)):
            what = "decode it first"
        elif text is None or is_nan or type(text).__name__ in ("NAType", "NaTType"):
            what = "fill or drop missing values"
        shown = "nan" if is_nan else type(text).__name__
        return CallerTypeError(f"{place} is {shown}, not str; {what}")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return CallerError(f"{place} contains a lone surrogate at character {error.start}: it is not Unicode text")
    return CallerError(f"{place} cannot be encoded")


def encoded(texts: list[Any], first: int = 0, place: Callable[[int], str] = _in_a_list) -> Texts:
    """Encodes a list of str. In messages, `first` is the index of the first one, and place(index) names a text.

    Raises:
        CallerTypeError: an element is not a str.
        CallerError: an element has a lone surrogate.
    """
    try:
        # Twice as fast as a loop, and only accepts str.
        pieces = list(map(str.encode, texts))
    except (TypeError, UnicodeEncodeError):
        for index, text in enumerate(texts):
            if not isinstance(text, str):
                raise _refuse(place(first + index), text) from None
            try:
                text.encode("utf-8")
            except UnicodeEncodeError:
                raise _refuse(place(first + index), text) from None
        raise
    memory = b"".join(pieces)
    whole = np.frombuffer(memory, np.uint8)
    addresses = np.empty((len(pieces), 2), np.uintp)
    addresses[:, 1] = np.fromiter(map(len, pieces), np.uintp, len(pieces))
    if pieces:
        ends = np.cumsum(addresses[:, 1], dtype=np.uintp)
        addresses[:, 0] = ends - addresses[:, 1] + np.uintp(whole.ctypes.data)
    return Texts(addresses, memory)


def one_text(text: str) -> OneText:
    """Encodes one str.

    Raises:
        CallerError: it has a lone surrogate.
    """
    try:
        return OneText(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise _refuse(_in_a_list(0), text) from None


class Source:
    """Texts whose number is known."""

    def __init__(self, count: int) -> None:
        self.count = count

    def parts(self, most: int = PART_TEXTS) -> Iterator[tuple[int, Texts]]:
        """Yields (index of the first text, texts) in order, with at most `most` texts each."""
        raise NotImplementedError

    def text(self, index: int) -> str:
        """Returns one of the texts that parts() has yielded."""
        raise NotImplementedError


class ListSource(Source):
    """The items of a list, of any type that _characters() and _encoded() accept: here str."""

    def __init__(self, items: list[Any] | tuple[Any, ...]) -> None:
        # Copies the references, because the list may change while another thread reads it.
        self._items = list(items)
        super().__init__(len(self._items))

    def text(self, index: int) -> str:
        return str(self._items[index])

    def parts(self, most: int = PART_TEXTS) -> Iterator[tuple[int, Texts]]:
        start = 0
        while start < self.count:
            end = min(start + most, self.count)
            # Only long lists are halved. encoded() rejects an item of the wrong type, with its index.
            while end - start > 256 and self._characters(self._items[start:end]) > PART_BYTES:
                end = start + (end - start) // 2
            yield start, self._encoded(self._items[start:end], start)
            start = end

    def _characters(self, items: list[Any]) -> int:
        return sum(len(text) for text in items if isinstance(text, str))

    def _encoded(self, items: list[Any], first: int) -> Texts:
        return encoded(items, first)


class _Arrow(Source):
    def __init__(self, values: Any) -> None:
        addresses, owners = _arrow.read_strings(values)
        super().__init__(len(addresses))
        self._texts = Texts(addresses, owners)

    def text(self, index: int) -> str:
        return self._texts.memory(index).tobytes().decode()

    def parts(self, most: int = PART_TEXTS) -> Iterator[tuple[int, Texts]]:
        if most == PART_TEXTS:  # nothing is copied, so one part suffices
            if self.count:
                yield 0, self._texts
            return
        for start in range(0, self.count, most):
            yield start, self._texts.part(start, min(start + most, self.count))


def _array_source(array: Any) -> Source:
    """Returns the source for a NumPy array of str: object, <U or StringDType."""
    if array.ndim != 1:
        raise CallerError(f"the array of texts has {array.ndim} dimensions; give one of 1")
    if array.dtype.kind not in "OUT":
        raise CallerTypeError(f"the array of texts has the type {array.dtype}; strings are needed")
    try:
        return ListSource(array.tolist())
    except (SystemError, ValueError) as error:
        raise CallerError(f"the array contains a text that is not Unicode: {error}") from None


def source_of(texts: Any, what: str = "texts") -> Source | Iterator[Any]:
    """Returns a Source, or an iterator if the number of texts is unknown. `what` is the argument's name for messages.

    Raises:
        CallerTypeError: the type cannot hold texts, or an element is not a text.
    """
    if isinstance(texts, (list, tuple)):
        return ListSource(texts)
    if isinstance(texts, np.ndarray):
        return _array_source(texts)
    is_pandas = "pandas" in sys.modules and hasattr(texts, "to_numpy")
    if is_pandas:
        _arrow.refuse_damage(getattr(texts, "array", None))
    if _arrow.is_arrow(texts):
        try:
            return _Arrow(texts)
        except (ImportError, _arrow.ExportError) as error:
            # pandas requires pyarrow to export, whose error would describe invalid texts less well.
            if not is_pandas:
                raise _arrow.ExportError(str(error)) from None
    if is_pandas:
        return _array_source(texts.to_numpy())
    if isinstance(texts, (bytes, bytearray, memoryview)):
        raise CallerTypeError(f"{what} is {type(texts).__name__}; decode it first, for example with str(…, 'utf-8')")
    if isinstance(texts, (Mapping, AbstractSet)) or not isinstance(texts, Iterable):
        raise CallerTypeError(
            f"{what} is {type(texts).__name__}; give a str, a list, an array of NumPy or Arrow, or an iterator"
        )
    return iter(texts)


def whole_source_of(texts: Any, what: str = "texts") -> Source:
    """Like source_of(), but reads an iterator to its end."""
    source = source_of(texts, what)
    return source if isinstance(source, Source) else ListSource(list(source))


def chunks(texts: Iterator[Any], size: int = 1024) -> Iterator[tuple[int, Texts]]:
    """Yields (index of the first text, texts) of an iterator, a few texts at a time."""
    first = 0
    while part := list(islice(texts, size)):
        yield first, encoded(part, first)
        first += len(part)
