"""Operations on computed vectors: normalisation, quantisation, similarities."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._out import Vectors
from ..errors import CallerError, CallerTypeError

PRECISIONS = ("float32", "int8", "uint8", "binary", "ubinary")
SIMILARITIES = ("cosine", "dot", "euclidean", "manhattan")


def normalized(vectors: Vectors) -> Vectors:
    """Scales vectors to length 1. Zero vectors stay zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    found: Vectors = vectors / np.maximum(lengths, np.float32(1e-12))
    return found


def quantized(vectors: Vectors, precision: str) -> npt.NDArray[Any]:
    """Quantises float32[…, d] to one of PRECISIONS, as sentence-transformers does.

    int8 and uint8: each of the d numbers in 256 steps between its minimum and maximum among these vectors. binary and
    ubinary: one bit per number, set if it is above 0, packed into int8 or uint8 with the first number in the most
    significant bit; binary subtracts 128.

    Raises:
        CallerError: int8 or uint8 for a single vector, which has no range.
    """
    if precision == "float32" or not vectors.size:
        return vectors
    if precision in ("binary", "ubinary"):
        bits: npt.NDArray[np.uint8] = np.packbits(vectors > 0, axis=-1)
        return bits if precision == "ubinary" else (bits.astype(np.int16) - 128).astype(np.int8)
    if vectors.ndim == 1 or len(vectors) == 1:
        raise CallerError(f"precision is {precision!r}, which takes its ranges from all vectors, but there is only one")
    least = vectors.min(axis=0)
    step = (vectors.max(axis=0) - least) / np.float32(255)
    steps = np.floor((vectors - least) / np.where(step == 0, np.float32(1), step)).clip(0, 255)
    found: npt.NDArray[Any] = steps.astype(np.uint8) if precision == "uint8" else (steps - 128).astype(np.int8)
    return found


def _array(embeddings: Any) -> Vectors:
    if isinstance(embeddings, (list, tuple)):
        embeddings = [np.asarray(each) for each in embeddings]
    try:
        found = np.asarray(embeddings, np.float32)
    except (TypeError, ValueError) as error:
        raise CallerTypeError(f"these are not vectors: {error}") from None
    if found.ndim == 1:
        found = found[np.newaxis]
    if found.ndim != 2:
        raise CallerError(f"the vectors have the shape {found.shape}; give n vectors of d numbers")
    return found


def is_tensor(embeddings: Any) -> bool:
    if isinstance(embeddings, (list, tuple)):
        return bool(embeddings) and is_tensor(embeddings[0])
    return type(embeddings).__module__.split(".")[0] == "torch"


def _pairs(name: str, a: Vectors, b: Vectors) -> Vectors:
    found: Vectors
    if name in ("cosine", "dot"):
        found = (a * b).sum(1)
    elif name == "manhattan":
        found = -np.abs(a - b).sum(1)
    else:
        found = -np.linalg.norm(a - b, axis=1)
    return found


def refuse_shapes(a: tuple[int, ...], b: tuple[int, ...], pairwise: bool) -> None:
    """Refuses to compare vectors whose shapes do not match."""
    if a[1] != b[1] or (pairwise and a[0] != b[0]):
        raise CallerError(f"the vectors have the shapes {a} and {b}, which do not fit")


def as_given(found: Vectors, *embeddings: Any) -> Any:
    """Returns a tensor if one of the inputs is a tensor."""
    if not any(map(is_tensor, embeddings)):
        return found
    import torch

    return torch.from_numpy(found)


def similarity_of(name: str, embeddings1: Any, embeddings2: Any, pairwise: bool) -> Any:
    """Computes one of SIMILARITIES between n and m vectors: float32[n, m], or float32[n] for pairs. Distances are
    negative.

    Raises:
        CallerError: vectors have different lengths, or pairs differ in number.
    """
    a, b = _array(embeddings1), _array(embeddings2)
    refuse_shapes(a.shape, b.shape, pairwise)
    if name == "cosine":
        a, b = normalized(a), normalized(b)
    if pairwise:
        found = _pairs(name, a, b)
    elif name in ("cosine", "dot"):
        found = a @ b.T
    else:
        found = np.empty((len(a), len(b)), np.float32)
        for row, vector in enumerate(a):  # row by row, because n · m · d numbers need too much memory
            found[row] = _pairs(name, vector[np.newaxis], b)
    return as_given(found, embeddings1, embeddings2)
