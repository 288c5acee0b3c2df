"""What ONNX defines a recipe's results to be, and how results are compared with it."""

from __future__ import annotations

import warnings
import zlib

import numpy as np
import onnxruntime
from onnx.reference import ReferenceEvaluator

from recipes import N, Recipe
from values import FLOATS, INTEGERS, TYPES, kinds

warnings.filterwarnings("ignore")
np.seterr(all="ignore")
onnxruntime.set_default_logger_severity(4)

# ONNX does not say in which order these add up, nor in which precision, so that sums beyond the largest number may be anything.
SUMS = frozenset(
    "AveragePool BatchNormalization Conv ConvTranspose CumSum Einsum Gemm GlobalAveragePool GlobalLpPool GroupNormalization "
    "InstanceNormalization LRN LayerNormalization LpNormalization LpPool MatMul Mean MeanVarianceNormalization ReduceL1 ReduceL2 "
    "ReduceLogSum ReduceLogSumExp ReduceMean ReduceSum ReduceSumSquare Sum".split()
)
# What a finite result may differ by, relative to its scale.
BOUNDS = {"float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2, "float64": 1e-9}


def _allowed(pool: np.ndarray, avoid: tuple[str, ...]) -> np.ndarray:
    numbers = pool.astype(np.float64) if pool.dtype.name in ("bfloat16", "float16") else pool
    keep = np.ones(pool.shape, bool)
    for what in avoid:
        if what == "zero":
            keep &= numbers != 0
        elif what == "minus one":
            keep &= numbers != -1 if numbers.dtype.kind != "u" else True
        elif what == "negative":
            keep &= ~(numbers < 0)
        elif what == "nan":
            keep &= ~np.isnan(numbers)
        elif what == "inf":
            keep &= ~np.isinf(numbers)
        elif what.startswith("out of ") and what[7:] in INTEGERS and numbers.dtype.kind == "f":
            limits = np.iinfo(TYPES[what[7:]])
            whole = np.trunc(np.where(np.isfinite(numbers), numbers, 0).astype(np.float64))
            keep &= np.isfinite(numbers) & (whole >= float(limits.min)) & (whole <= float(limits.max)) & (whole != 2.0**63) & (whole != 2.0**64)
    return pool[keep]


def data_sets(recipe: Recipe, seed: int, plain_first: bool = False) -> list[tuple[str, dict[str, np.ndarray]]]:
    """[(kind, numbers by input)] of the kinds that some value input of the recipe has. `plain_first`: but for an
    integer first input."""
    names = list(dict.fromkeys(kind for t in recipe.types.values() for kind in kinds(t))) or ["plain"]
    if recipe.op in SUMS:
        names = [name for name in names if name != "huge"]
    if recipe.is_error or any(0 in shape for shape in recipe.shapes.values()):
        names = ["plain"]
    found = []
    for kind in names:
        numbers = {}
        rng = np.random.default_rng(zlib.crc32(f"{recipe.name} {kind} {seed}".encode()))
        for place, (name, t) in enumerate(recipe.types.items()):
            of_type = kinds(t)
            # A device that refuses a caller's wide integers would not be asked about a constant's.
            special = of_type["plain"] if plain_first and place == 0 and t in INTEGERS else of_type.get(kind, of_type["plain"])
            # Sums are as large as they can be where nothing is mixed in.
            mixed = [special] if kind.startswith("sum") else [special, of_type["plain"]]
            pool = _allowed(np.concatenate(mixed), recipe.avoid.get(name, ()))
            shape = recipe.shapes[name]
            count = int(np.prod(shape))
            if shape == (N,):
                # All pairs of numbers of the first two inputs, and some triples.
                order = np.arange(N)
                step = (order // len(pool), order, order // 3)[min(place, 2)]
                numbers[name] = pool[step % len(pool)]
            elif shape == () and "order" in recipe.avoid.get(name, ()):
                numbers[name] = of_type["plain"][0].reshape(())
            elif shape == ():
                numbers[name] = pool[rng.integers(min(len(pool), 3))].reshape(())
            else:
                rare = rng.random(count) < 0.3
                first = pool[: max(1, len(pool) - len(of_type["plain"]))]
                rest = pool[len(first) :] if len(pool) > len(first) else pool
                numbers[name] = np.where(rare, first[rng.integers(len(first), size=count)], rest[rng.integers(len(rest), size=count)]).reshape(shape)
            numbers[name] = numbers[name].astype(TYPES[t])
        empty = any(0 in shape for shape in recipe.shapes.values())
        found.append(("outside" if recipe.is_error else "empty" if empty else kind, numbers))
    return found


def feeds_of(recipe: Recipe, numbers: dict[str, np.ndarray], constant: frozenset[str] = frozenset()) -> dict[str, np.ndarray]:
    fixed = {name: array for name, array in recipe.fixed.items() if name.startswith("run_")}
    return fixed | {name: array for name, array in numbers.items() if name not in constant}


def differences(recipe: Recipe, got: list, expected: list, numbers: dict[str, np.ndarray]) -> str:
    """'' where the results are as expected, else how they differ."""
    for name, one, other in zip(recipe.outputs, got, expected):
        one, other = np.asarray(one), np.asarray(other)
        if one.dtype != other.dtype or one.shape != other.shape:
            return f"{name}: {one.dtype}{list(one.shape)} instead of {other.dtype}{list(other.shape)}"
        if other.dtype.name not in BOUNDS:
            wrong = one != other
        else:
            left, right = one.astype(np.float64), other.astype(np.float64)
            size = np.maximum(1.0, np.abs(right))
            if recipe.op in ("Sum", "Mean"):
                # In whatever order they are summed up.
                size = np.maximum.reduce([np.nan_to_num(np.abs(v.astype(np.float64)), posinf=0) for v in numbers.values()] + [size])
            if other.shape != (N,):
                scales = [np.abs(v.astype(np.float64))[np.isfinite(v.astype(np.float64))] for v in numbers.values() if v.dtype.name in BOUNDS]
                finite = np.abs(right[np.isfinite(right)])
                size = max(1.0, *(s.max() for s in [*scales, finite] if s.size), 1.0)
            near = np.abs(left - right) <= BOUNDS[other.dtype.name] * size
            wrong = ~(near | (left == right) | (np.isnan(left) & np.isnan(right)))
        if wrong.any():
            where = tuple(int(i) for i in np.argwhere(wrong)[0])
            given = {}
            if other.shape == (N,):
                given = {n: v[where].item() if v.shape == other.shape else v.item() for n, v in numbers.items() if v.shape in ((N,), ())}
            return f"{name}{list(where)}: {one[where]!r} instead of {other[where]!r}, {int(wrong.sum())} of {wrong.size}" + (f", of {given}" if given else "")
    return ""


def fits_in_32_bits(recipe: Recipe, got: list, expected: list, numbers: dict[str, np.ndarray]) -> bool:
    """Whether some integer comes out wrong although it and what it is made of fit in 32 bits with a sign."""

    def fits(array):
        return np.abs(array.astype(np.float64)) < 2.0**31

    given = [v for v in numbers.values() if v.dtype.kind in "iu"]
    for one, other in zip(got, expected):
        one, other = np.asarray(one), np.asarray(other)
        if one.shape != other.shape or other.dtype.kind not in "iub":
            continue
        wrong = (one != other) & fits(other)
        for array in given:
            wrong &= fits(array) if array.shape == other.shape else fits(array).all()
        if wrong.any():
            return True
    return False


def by_reference(model, feeds):
    try:
        return [np.asarray(one) for one in ReferenceEvaluator(model).run(None, feeds)]
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]


def by_onnxruntime(model, data):
    """A list of results, one for each of the data; a text where there is none."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        return [f"{type(error).__name__}: {error}"[:200]] * len(data)
    found = []
    for feeds in data:
        try:
            found.append([np.asarray(one) for one in session.run(None, feeds)])
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}"[:200])
    return found
