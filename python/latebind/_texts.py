"""Texts of all the types that callers have, as the addresses and sizes that the library takes.

`source_of` says what was given; a Source gives parts of it as Texts, whose memory lives as long as they do. Errors name
the text by its index.
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

# A list is copied as UTF-8 in parts of at most so many texts and, roughly, bytes: memory is bounded, and each part is
# still large enough to fill every batch.
PART_TEXTS = 65536
PART_BYTES = 64 << 20


class Texts:
    """Texts in memory: `addresses` is uintp[n, 2], with where each begins and how many bytes it has; uintp[n, 4] of pairs
    of texts, which are counted as one."""

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
        """The bytes of one text, not copied; valid as long as this."""
        address, size = self.addresses[index].tolist()
        return memory_at(address, np.uint8, size)

    def part(self, start: int, end: int) -> Texts:
        return Texts(self.addresses[start:end], self._owners)


class OneText(Texts):
    """A single text. Arrays of NumPy would take ten times as long to make."""

    __slots__ = ()

    def __init__(self, text: bytes) -> None:
        self.count = 1
        self.bytes = len(text)
        self.pointer = byref(lb_text(text, len(text)))


def _in_a_list(index: int) -> str:
    return f"text {index}"


def _refuse(place: str, text: object) -> CallerTypeError | CallerError:
    """The error of one text that cannot be encoded. `place`: which one."""
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
    """A list of str as Texts. For messages: `first` is the index of the first one, and place(index) says which one it is.

    Raises:
        CallerTypeError: one is no str. CallerError: one has a lone surrogate.
    """
    try:
        # Twice as quick as a loop, and takes nothing but str.
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
    """A str as Texts.

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
        """(index of its first text, texts), in order, of at most `most` texts each."""
        raise NotImplementedError

    def text(self, index: int) -> str:
        """One of them, once parts() has given it."""
        raise NotImplementedError


class ListSource(Source):
    """Of a list of whatever _characters() and _encoded() take: str, here."""

    def __init__(self, items: list[Any] | tuple[Any, ...]) -> None:
        # A copy of the references: the list may change while another thread goes through it.
        self._items = list(items)
        super().__init__(len(self._items))

    def text(self, index: int) -> str:
        return str(self._items[index])

    def parts(self, most: int = PART_TEXTS) -> Iterator[tuple[int, Texts]]:
        start = 0
        while start < self.count:
            end = min(start + most, self.count)
            # Only long lists: what is refused because of its type is refused by encoded(), with its index.
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
        if most == PART_TEXTS:  # nothing is copied: one part is enough
            if self.count:
                yield 0, self._texts
            return
        for start in range(0, self.count, most):
            yield start, self._texts.part(start, min(start + most, self.count))


def _array_source(array: Any) -> Source:
    """Of a NumPy array of str: object, <U or StringDType."""
    if array.ndim != 1:
        raise CallerError(f"the array of texts has {array.ndim} dimensions; give one of 1")
    if array.dtype.kind not in "OUT":
        raise CallerTypeError(f"the array of texts has the type {array.dtype}; strings are needed")
    try:
        return ListSource(array.tolist())
    except (SystemError, ValueError) as error:
        raise CallerError(f"the array contains a text that is not Unicode: {error}") from None


def source_of(texts: Any, what: str = "texts") -> Source | Iterator[Any]:
    """A Source, or an iterator where the number of texts is not known. `what`: the argument's name, for messages.

    Raises:
        CallerTypeError: of a type that cannot hold texts, or with something else in it.
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
            # pandas needs pyarrow for it, which says less of what is no text.
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
    """The same, of an iterator once it has been read to its end."""
    source = source_of(texts, what)
    return source if isinstance(source, Source) else ListSource(list(source))


def chunks(texts: Iterator[Any], size: int = 1024) -> Iterator[tuple[int, Texts]]:
    """(index of its first text, texts) of an iterator, a few at a time."""
    first = 0
    while part := list(islice(texts, size)):
        yield first, encoded(part, first)
        first += len(part)
