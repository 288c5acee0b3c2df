"""Vectors that only store the numbers that are not zero: SparseVectors."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arguments import positive
from ._call import Owner
from ._library import c_text, check, library, owned_text
from ._out import Vectors
from .errors import CallerError, LibraryError

Begins = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int32]
# Compressed sparse rows: the boundaries of the rows, and the index and value of each entry.
Rows = tuple[Begins, Indices, Vectors]


class Vocabulary:
    """The tokens of a model by id. Thread-safe. After unpickling or in a forked child, it reads the model's folder
    again."""

    def __init__(self, folder: str, size: int, tokenizer: Owner | None = None) -> None:
        self._folder = folder
        self._tokenizer = tokenizer
        #: Ids are smaller than this.
        self.size = size

    def token(self, index: int) -> str | None:
        """Returns the token, or None if the tokenizer lacks that entry of the network."""
        try:
            return owned_text(library().lb_tokenizer_token, self._opened(), index)
        except CallerError:
            return None

    def _opened(self) -> Owner:
        tokenizer = self._tokenizer
        if tokenizer is None or not tokenizer.is_of_this_process:
            tokenizer = Owner(library().lb_tokenizer_destroy)
            check(library().lb_tokenizer_open(c_text(self._folder, "model"), tokenizer.out))
            self._tokenizer = tokenizer
        return tokenizer

    def __reduce__(self) -> tuple[Any, ...]:
        return Vocabulary, (self._folder, self.size)


def row_numbers(begins: Begins) -> Begins:
    """Returns the row of each entry."""
    return np.repeat(np.arange(len(begins) - 1), np.diff(begins))


def joined(parts: Sequence[Rows]) -> Rows:
    """Returns the rows of all parts, copied."""
    begins = np.zeros(1 + sum(len(part[0]) - 1 for part in parts), np.int64)
    np.cumsum(np.concatenate([np.diff(part[0]) for part in parts] or [begins[:0]]), out=begins[1:])
    return (
        begins,
        np.concatenate([part[1] for part in parts] or [np.empty(0, np.int32)]),
        np.concatenate([part[2] for part in parts] or [np.empty(0, np.float32)]),
    )


def largest_of(begins: Begins, indices: Indices, values: Vectors, most: int) -> Rows:
    """Keeps the `most` largest numbers of each row; of equal ones, those with lower indices. Indices stay in ascending
    order."""
    counts = np.diff(begins)
    if not most or not (counts > most).any():
        return begins, indices, values
    order = np.lexsort((indices, -values, row_numbers(begins)))
    kept = np.sort(order[np.arange(len(order)) - np.repeat(begins[:-1], counts) < most])
    fewer = np.zeros_like(begins)
    np.cumsum(np.minimum(counts, most), out=fewer[1:])
    return fewer, indices[kept], values[kept]


class SparseVectors:
    """Sparse vectors of texts: weights for entries of a model's vocabulary, without the zeros.

    Text i has the entries [indptr[i], indptr[i + 1]), as in SciPy's csr_matrix. The caller owns the arrays. Can be
    pickled.

    Attributes:
        indptr: int64[n + 1].
        indices: int32 per entry: the id in the vocabulary, ascending within a text.
        values: float32 per entry: the weight, above 0.
    """

    def __init__(self, indptr: Begins, indices: Indices, values: Vectors, vocabulary: Vocabulary) -> None:
        self.indptr = indptr
        self.indices = indices
        self.values = values
        self._vocabulary = vocabulary

    @property
    def shape(self) -> tuple[int, int]:
        """(texts, size of the vocabulary)."""
        return len(self), self._vocabulary.size

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, index: int) -> tuple[Indices, Vectors]:
        """Returns (indices, values) of one text, as views of the arrays.

        Raises:
            IndexError: there is no such text.
        """
        at = operator.index(index)
        if not -len(self) <= at < len(self):
            raise IndexError(f"there is no text {at}; there are {len(self)}")
        begin, end = self.indptr[at % len(self)], self.indptr[at % len(self) + 1]
        return self.indices[begin:end], self.values[begin:end]

    def __iter__(self) -> Iterator[tuple[Indices, Vectors]]:
        return (self[index] for index in range(len(self)))

    def to_scipy(self) -> Any:
        """Returns a float32 scipy.sparse.csr_matrix of shape (texts, size of the vocabulary), which shares these arrays
        if SciPy accepts them.

        Raises:
            LibraryError: SciPy is not installed.
        """
        try:
            from scipy.sparse import csr_matrix
        except ImportError as error:
            raise LibraryError(f'scipy cannot be imported ({error}); run: pip install "scipy"') from None
        return csr_matrix((self.values, self.indices, self.indptr), shape=self.shape)

    def to_dicts(self) -> list[dict[int, float]]:
        """Returns {index: weight} for each text, the form that vector databases accept."""
        return [dict(zip(indices.tolist(), values.tolist(), strict=True)) for indices, values in self]

    def tokens(self, index: int, top_k: int | None = None) -> dict[str, float]:
        """Returns {token: weight} for one text, the largest weight first; of equal weights, the lower index first.

        Args:
            index: the position of the text.
            top_k: how many tokens to return; all by default.

        Returns:
            tokens as in the vocabulary ("##ing"), or "[30522]" for an index without a token.
        """
        return {
            f"[{at}]" if token is None else token: weight
            for at, token, weight in self._best(index, positive(top_k, "top_k"))
        }

    def decode(self, top_k: int | None = None) -> list[dict[str, float]]:
        """Returns tokens() of every text."""
        return [self.tokens(index, top_k) for index in range(len(self))]

    def __repr__(self) -> str:
        return f"<SparseVectors {self.shape}, {len(self.values)} weights>"

    # -- Inside --------------------------------------------------------------------------------------------------------

    def _best(self, index: int, most: int) -> list[tuple[int, str | None, float]]:
        """Returns (index, token, weight), largest first; all if `most` is 0."""
        indices, values = self[index]
        order = np.argsort(-values, kind="stable")[: most or None]
        found = zip(indices[order].tolist(), values[order].tolist(), strict=True)
        return [(at, self._vocabulary.token(at), weight) for at, weight in found]
