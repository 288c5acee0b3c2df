"""Converts pairs of texts of all supported types to addresses and sizes for the library.

A row of Texts then has two texts, which is lb_text_pair. Errors name the text by its pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from ._arrow import is_of_pyarrow, refuse_damage
from ._texts import PART_TEXTS, ListSource, Source, Texts, encoded, whole_source_of
from .errors import CallerError, CallerTypeError

Pair = tuple[Any, Any]

_NEEDED = "give a list of pairs of str, or one pair"


def _listed(pairs: Any) -> list[Any]:
    if isinstance(pairs, (list, tuple)):
        return list(pairs)
    if isinstance(pairs, (str, bytes, bytearray, memoryview, Mapping, AbstractSet)) or not isinstance(pairs, Iterable):
        raise CallerTypeError(f"pairs is {type(pairs).__name__}; {_NEEDED}")
    if is_of_pyarrow(pairs):
        raise CallerTypeError(f"pairs is {type(pairs).__name__} of pyarrow; {_NEEDED}")
    if hasattr(pairs, "columns") and hasattr(pairs, "to_numpy"):
        for _, column in getattr(pairs, "items", dict)():
            refuse_damage(getattr(column, "array", None), full=True)
        pairs = pairs.to_numpy()  # by iteration, a table would give its column names
    if not isinstance(pairs, np.ndarray):
        return list(pairs)
    try:
        listed = pairs.tolist()
    except (SystemError, ValueError) as error:
        raise CallerError(f"the array contains a text that is not Unicode: {error}") from None
    if not isinstance(listed, list):
        raise CallerTypeError(f"pairs is an array without dimensions; {_NEEDED}")
    return listed


def _two(given: Any, place: str) -> Pair:
    texts = given.tolist() if isinstance(given, np.ndarray) else given
    if not isinstance(texts, (list, tuple)):
        raise CallerTypeError(f"{place} is {type(given).__name__}, not a pair of str")
    if len(texts) != 2:
        raise CallerError(f"{place} has the length {len(texts)}; a pair must have two texts")
    return texts[0], texts[1]


def pairs_of(pairs: Any) -> tuple[list[Pair], bool]:
    """Returns the pairs, and whether the argument was a single pair of two texts rather than a list.

    Raises:
        CallerTypeError, CallerError: an element is not a pair. Whether its elements are texts is checked when they are
            read.
    """
    listed = _listed(pairs)
    if listed and not isinstance(listed[0], (list, tuple, np.ndarray)):
        return [_two(listed, "pairs")], True
    return [_two(each, f"pairs[{index}]") for index, each in enumerate(listed)], False


class Pairs(ListSource):
    """The pairs that pairs_of() returned."""

    def __init__(self, pairs: list[Pair], is_single: bool) -> None:
        super().__init__(pairs)
        self._is_single = is_single

    def _characters(self, items: list[Any]) -> int:
        return super()._characters([text for pair in items for text in pair])

    def _encoded(self, items: list[Any], first: int) -> Texts:
        texts = encoded([text for pair in items for text in pair], 2 * first, self._place)
        return Texts(texts.addresses.reshape(-1, 4), texts)

    def _place(self, index: int) -> str:
        return f"pairs[{index}]" if self._is_single else f"pairs[{index // 2}][{index % 2}]"


class Candidates(Source):
    """A query paired with each of many documents: any input of encode() except a str."""

    def __init__(self, query: Any, documents: Any) -> None:
        """Encodes the query.

        Raises:
            CallerTypeError, CallerError: the query is not a text, or the documents cannot be texts.
        """
        self._query = encoded([query], place=lambda _: "the query")
        if isinstance(documents, str):
            raise CallerTypeError("documents is a str; give a list of them")
        self._documents = whole_source_of(documents, "documents")
        super().__init__(self._documents.count)

    def text(self, index: int) -> str:
        return self._documents.text(index)

    def parts(self, most: int = PART_TEXTS) -> Iterator[tuple[int, Texts]]:
        for first, part in self._documents.parts(most):
            addresses = np.empty((part.count, 4), np.uintp)
            addresses[:, :2] = self._query.addresses
            addresses[:, 2:] = part.addresses
            yield first, Texts(addresses, (self._query, part))
