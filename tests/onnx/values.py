"""Numbers of each kind, by element type: what the sweep gives to operators.

A kind is a property of numbers by which an implementation may go wrong although others come out right: NaN, an integer that a
float does not hold, a number whose sum wraps around. `plain` is none of it.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

TYPES = {
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f64": np.dtype(np.float64),
    "i8": np.dtype(np.int8),
    "u8": np.dtype(np.uint8),
    "i16": np.dtype(np.int16),
    "u16": np.dtype(np.uint16),
    "i32": np.dtype(np.int32),
    "u32": np.dtype(np.uint32),
    "i64": np.dtype(np.int64),
    "u64": np.dtype(np.uint64),
    "bool": np.dtype(np.bool_),
}
FLOATS = ("f32", "f16", "bf16", "f64")
INTEGERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")

NAN, INF = float("nan"), float("inf")
_FLOAT_KINDS = {
    "plain": [-2.5, -1.0, -0.75, 0.25, 1.0, 2.0, 3.5, 7.0],
    "zero": [0.0, -0.0, 1.0, -1.0],
    "half": [0.5, 1.5, 2.5, -0.5, -1.5, -2.5],
    "nan": [NAN, 1.0, -1.0, 3.0],
    "inf": [INF, 1.0, -1.0],
    "minus-inf": [-INF, 1.0, -1.0],
    "both-inf": [INF, -INF, 1.0, -1.0],
    "subnormal": [1e-40, -1e-40, 1.0],
    "huge": [3.4028235e38, -3.4028235e38, 1.1754944e-38, 1.0],
    "large": [16777216.0, 16777218.0, 2147483648.0, -2147483648.0, 3e9, 1e10, -1e10, 9007199254740992.0],
}
_LIMITS = {"f16": 65504.0, "bf16": 3.3895314e38, "f64": 1.7976931348623157e308}


def kinds(type_name: str) -> dict[str, np.ndarray]:
    """{kind: its numbers} of a type; `plain` comes first."""
    dtype = TYPES[type_name]
    if type_name == "bool":
        return {"plain": np.array([True, False])}
    if type_name in FLOATS:
        found = {}
        for kind, numbers in _FLOAT_KINDS.items():
            if kind == "subnormal" and type_name != "f32":
                continue
            if kind == "huge":
                numbers = [_LIMITS.get(type_name, numbers[0]), -_LIMITS.get(type_name, numbers[0]), 1.0]
            if kind == "large" and type_name == "f16":
                numbers = [2048.0, 4096.0, 30000.0]
            found[kind] = np.array(numbers, np.float64).astype(dtype)
        return found
    limits = np.iinfo(dtype)
    plain = [0, 1, 2, 3, 5, 7] if limits.min == 0 else [-3, -2, -1, 0, 1, 2, 5]
    found = {"plain": np.array(plain, dtype), "limit": np.array([limits.min, limits.min + 1, limits.max - 1, limits.max, 1, 2], dtype)}
    if limits.bits == 8:
        found["sum"] = np.array([limits.max, limits.max, limits.min or limits.max, limits.max - 2], dtype)
    if limits.bits >= 32:
        found["sum of products"] = np.array([2**13 + 1, 2**13 + 3, 2**12 + 1], dtype)
        found["sum of numbers"] = np.array([2**22 + 1, 2**22 + 3, 2**21 + 1], dtype)
    if limits.bits <= 16:
        found["wrap"] = np.array([limits.max - 5, limits.max // 2 + 1, limits.min + 3, 10, 3], dtype)
    if limits.bits >= 32:
        signs = [1] if limits.min == 0 else [1, -1]
        found["beyond24"] = np.array([s * (2**24 + d) for s in signs for d in (0, 1, 2, 3)] + [1], dtype)
        found["near31"] = np.array([s * (2**30 + d) for s in signs for d in (0, 1, 65)] + [2**31 - 1, 1], dtype)
    if type_name == "u32":
        found["beyond31"] = np.array([2**31, 2**31 + 1, 2**32 - 1, 3, 1], dtype)
    if limits.bits == 64:
        far = [2**31, 2**32, 2**32 + 5, 10**10]
        found["beyond31"] = np.array(far + ([] if limits.min == 0 else [-(2**31) - 1, -(10**10)]) + [1, 5], dtype)
        found["beyond53"] = np.array([2**53, 2**53 + 1, 2**53 + 3, 2**62 + 1, 1], dtype)
    return found
