"""Reads sparse vectors in all common forms and computes their similarities and tensors."""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._out import Vectors
from .._sparse_vectors import Begins, Indices, SparseVectors, joined, row_numbers
from ..errors import CallerError, CallerTypeError
from ._vectors import as_given, is_tensor, refuse_shapes


class SparseRows(NamedTuple):
    """Compressed sparse rows. `is_single` marks a single vector that was given by itself."""

    begins: Begins
    indices: Indices
    values: Vectors
    width: int
    is_single: bool

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.begins) - 1, self.width

    def row(self, index: int) -> tuple[Indices, Vectors]:
        part = slice(self.begins[index], self.begins[index + 1])
        return self.indices[part], self.values[part]


def _of_entries(rows: Any, indices: Any, values: Any, shape: Any) -> SparseRows:
    """Builds rows from entries in the order of rows and indices. A one-dimensional shape means a single vector."""
    count, width = (1, *shape)[-2:]
    begins = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=count), out=begins[1:])
    return SparseRows(begins, indices.astype(np.int32), values.astype(np.float32), width, len(shape) == 1)


def _of_tensor(tensor: Any) -> SparseRows:
    entries = tensor.detach().cpu().float().to_sparse().coalesce()
    indices = entries.indices().numpy()
    rows = indices[0] if len(indices) == 2 else np.zeros(indices.shape[1], np.int64)
    return _of_entries(rows, indices[-1], entries.values().numpy(), _checked(tuple(entries.shape)))


def _checked(shape: tuple[int, ...]) -> tuple[int, ...]:
    if len(shape) not in (1, 2):
        raise CallerError(f"the vectors have the shape {shape}; give n vectors of d numbers")
    return shape


def rows_of(embeddings: Any) -> SparseRows:
    """Reads SparseVectors, a SciPy matrix, a tensor, an array, or a list of these.

    Raises:
        CallerTypeError: the type is not supported.
        CallerError: the shape is not supported.
    """
    if isinstance(embeddings, SparseVectors):
        return SparseRows(embeddings.indptr, embeddings.indices, embeddings.values, embeddings.shape[1], False)
    if hasattr(embeddings, "tocsr"):
        csr = embeddings.tocsr().sorted_indices()
        rows = row_numbers(csr.indptr)
        return _of_entries(rows, csr.indices, csr.data, csr.shape)
    if isinstance(embeddings, (list, tuple)) and embeddings and not isinstance(embeddings[0], Real):
        return _together([rows_of(each) for each in embeddings])
    if is_tensor(embeddings):
        return _of_tensor(embeddings)
    try:
        array = np.asarray(embeddings, np.float32)
    except (TypeError, ValueError) as error:
        raise CallerTypeError(f"these are not vectors: {error}") from None
    shape = _checked(array.shape)
    rows, indices = np.nonzero(np.atleast_2d(array))
    return _of_entries(rows, indices, np.atleast_2d(array)[rows, indices], shape)


def _together(parts: list[SparseRows]) -> SparseRows:
    if len({part.width for part in parts}) != 1:
        raise CallerError(f"the vectors have {', '.join(str(part.width) for part in parts)} numbers")
    return SparseRows(*joined([part[:3] for part in parts]), parts[0].width, False)


def dense(rows: SparseVectors) -> Vectors:
    """Returns float32[n, d]."""
    found = np.zeros(rows.shape, np.float32)
    found[row_numbers(rows.indptr), rows.indices] = rows.values
    return found


def tensor_of(vectors: SparseVectors) -> Any:
    """Returns a sparse COO tensor [n, d]. torch must be installed."""
    import torch

    rows = row_numbers(vectors.indptr)
    at = torch.from_numpy(np.stack([rows, vectors.indices.astype(np.int64)]))
    return torch.sparse_coo_tensor(
        at, torch.from_numpy(vectors.values), vectors.shape, is_coalesced=True, check_invariants=False
    )


def _sums(of: Any, numbers: Any, count: int) -> npt.NDArray[np.float64]:
    """Sums the numbers of each row. `of` has the row of each number."""
    return np.bincount(of, numbers, count).astype(np.float64, copy=False)


def _lengths(rows: SparseRows) -> npt.NDArray[np.float64]:
    squares = _sums(row_numbers(rows.begins), rows.values.astype(np.float64) ** 2, len(rows.begins) - 1)
    found: npt.NDArray[np.float64] = np.maximum(np.sqrt(squares), 1e-12)
    return found


def _with_each(
    name: str, one: npt.NDArray[np.float64], of: Any, indices: Indices, values: Vectors, count: int
) -> npt.NDArray[np.float64]:
    """Computes a similarity of one dense vector with `count` sparse rows. `of` has the row of each entry. Reads only
    the entries and, for distances, the vector."""
    at = one[indices]
    found: npt.NDArray[np.float64]
    if name in ("cosine", "dot"):
        found = _sums(of, at * values, count)
    elif name == "manhattan":
        found = -(np.abs(one).sum() + _sums(of, np.abs(at - values) - np.abs(at), count))
    else:
        found = -np.sqrt(np.maximum((one**2).sum() + _sums(of, (at - values) ** 2 - at**2, count), 0))
    return found


def sparse_similarity_of(name: str, embeddings1: Any, embeddings2: Any, is_pairwise: bool) -> Any:
    """Like similarity_of(), for sparse vectors. Only one vector of the first at a time is made dense.

    Raises:
        the errors of similarity_of()
    """
    a, b = rows_of(embeddings1), rows_of(embeddings2)
    refuse_shapes(a.shape, b.shape, is_pairwise)
    count, others = len(a.begins) - 1, len(b.begins) - 1
    found = np.empty(count if is_pairwise else (count, others), np.float64)
    one = np.zeros(a.width)
    of = row_numbers(b.begins)
    for row in range(count):
        indices, values = a.row(row)
        one[indices] = values
        if is_pairwise:
            its, weights = b.row(row)
            found[row] = _with_each(name, one, np.zeros(len(its), np.int64), its, weights, 1)[0]
        else:
            found[row] = _with_each(name, one, of, b.indices, b.values, others)
        one[indices] = 0
    if name == "cosine":
        found /= _lengths(a) * _lengths(b) if is_pairwise else np.outer(_lengths(a), _lengths(b))
    return as_given(found.astype(np.float32), embeddings1, embeddings2)
