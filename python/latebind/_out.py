"""Uses the caller's memory as the destination of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import CallerError, CallerTypeError

Vectors = npt.NDArray[np.float32]


def floats_of(out: Any) -> Vectors:
    """Returns the memory of `out` as float32[size], without copying: a NumPy array, or an object with the buffer
    protocol or with DLPack on the CPU.

    Raises:
        CallerTypeError: it has no memory that is writable as float32.
        CallerError: it is not contiguous, or read-only.
    """
    array: Any
    if isinstance(out, np.ndarray):
        array = np.asarray(out)  # np.matrix cannot be flat
    else:
        try:
            array = np.asarray(memoryview(out))
        except (BufferError, TypeError, ValueError):
            if not hasattr(out, "__dlpack__"):
                raise CallerTypeError(
                    f"out is {type(out).__name__}; give a writable float32 array, or anything with the buffer protocol "
                    "or DLPack"
                ) from None
            try:
                array = np.from_dlpack(out)
            except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
                raise CallerTypeError(f"out cannot be used by DLPack: {error}") from None
    if array.dtype != np.float32 or not array.dtype.isnative:
        raise CallerTypeError(f"out has the type {array.dtype}; float32 is needed")
    if not array.flags.c_contiguous:
        raise CallerError("out is not contiguous in row-major order")
    if not array.flags.writeable:
        raise CallerError("out is read-only")
    floats: Vectors = array.reshape(-1)
    return floats


class Rows:
    """The destination of vectors: the caller's memory, or an array that grows. For one thread."""

    def __init__(self, dimension: int, count: int | None, out: Any) -> None:
        """`count` is the number of rows, or None if unknown."""
        self._dimension = dimension
        self._is_fixed = out is not None
        if out is None:
            self._floats = np.empty(dimension * (1024 if count is None else count), np.float32)
            return
        self._floats = floats_of(out)
        size = self._floats.size
        if size % dimension or (count is not None and size != dimension * count):
            rows = "n" if count is None else count
            raise CallerError(
                f"out has {size} numbers, of the shape {np.shape(out)}; {rows} vectors of {dimension} are needed"
            )

    def address(self, row: int) -> int:
        return int(self._floats.ctypes.data) + row * self._dimension * 4

    def left(self, row: int) -> int:
        """Returns the number of floats from this row on."""
        return self._floats.size - row * self._dimension

    def append(self, row: int, vectors: Vectors) -> None:
        """Copies the vectors of a window to their place.

        Raises:
            CallerError: the caller's memory is full.
        """
        end = (row + len(vectors)) * self._dimension
        if end > self._floats.size:
            if self._is_fixed:
                raise CallerError(f"out has {self._floats.size // self._dimension} rows, and there are more texts")
            # No other reference exists yet, so the array can grow in place without a second copy.
            self._floats.resize(max(end, 2 * self._floats.size), refcheck=False)
        self._floats[row * self._dimension : end] = vectors.reshape(-1)

    def result(self, count: int) -> Vectors:
        """Returns float32[count, dimension]."""
        if not self._is_fixed and self._floats.size != count * self._dimension:
            self._floats.resize(count * self._dimension, refcheck=False)
        return self._floats[: count * self._dimension].reshape(count, self._dimension)
