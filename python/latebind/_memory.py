"""Views foreign memory as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class _At:
    """The array interface of memory at an address. An array refers to it, and thus to `owner`."""

    def __init__(self, address: int, shape: tuple[int, ...], dtype: np.dtype[Any], is_read_only: bool, owner: Any):
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "data": (address, is_read_only),
            "shape": shape,
            "typestr": dtype.str,
        }


def memory_at(
    address: int | None,
    dtype: Any,
    shape: int | tuple[int, ...],
    owner: Any = None,
    is_read_only: bool = True,
) -> npt.NDArray[Any]:
    """Returns memory at an address as an array, without copying. `owner` lives as long as the array and its views."""
    kind = np.dtype(dtype)
    whole = (shape,) if isinstance(shape, int) else shape
    if not address or 0 in whole:
        return np.empty(whole, kind)
    return np.asarray(_At(address, whole, kind, is_read_only, owner))
