"""Reads the results of a call of the library as arrays."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref
from itertools import pairwise
from typing import Any

import numpy as np

from . import _abi
from ._call import Owner
from ._library import check, library
from ._memory import memory_at
from ._out import Vectors
from ._sparse_vectors import Rows


def results() -> Owner:
    """Returns an empty owner of an lb_results, to be filled through `out`."""
    return Owner(library().lb_results_destroy)


def _read(function: Callable[..., int], made: Any, output: str | None, rows: Any) -> Any:
    check(function(made, None if output is None else output.encode(), byref(rows)))
    return rows


def _floats(rows: Any, made: Any, is_read_only: bool) -> Vectors:
    found: Vectors = memory_at(rows.values, np.float32, (rows.count, rows.dimension), made, is_read_only)
    return found


def dense_rows(made: Any, output: str | None = None, *, is_read_only: bool = False) -> Vectors:
    """Returns float32[n, d] in the memory of the results, which live as long as the array."""
    return _floats(_read(library().lb_results_dense, made, output, _abi.lb_dense_rows()), made, is_read_only)


def score_rows(made: Any, output: str | None = None) -> Vectors:
    """Returns float32[n, labels] in the memory of the results."""
    return _floats(_read(library().lb_results_scores, made, output, _abi.lb_dense_rows()), made, False)


def sparse_rows(made: Owner, output: str | None = None) -> Rows:
    """Returns compressed sparse rows, whose indices and values are in the memory of the results."""
    rows = _read(library().lb_results_sparse, made, output, _abi.lb_sparse_rows())
    begins = memory_at(rows.begins, np.uintp, rows.count + 1, made).astype(np.int64)
    count = int(begins[-1])
    # SciPy uses signed indices without copying.
    return begins, memory_at(rows.indices, np.int32, count, made), memory_at(rows.values, np.float32, count, made)


def ragged_rows(made: Owner, output: str | None = None) -> list[Vectors]:
    """Returns copies of the vectors of each text, float32[t, d]."""
    rows = _read(library().lb_results_ragged, made, output, _abi.lb_ragged_rows())
    begins = memory_at(rows.begins, np.uintp, rows.count + 1, made).astype(np.int64)
    numbers = memory_at(rows.vectors, np.float32, (int(begins[-1]), rows.dimension), made)
    return [numbers[begin:end].copy() for begin, end in pairwise(begins)]
