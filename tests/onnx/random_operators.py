"""How random_graphs.py makes a node of each operator: its inputs' types and shapes, and a choice of every attribute."""

from __future__ import annotations

import numpy as np

FLOATS = ("f32", "f32", "f32", "f32", "f16", "bf16")
WIDE = ("i64", "i32")
INTEGERS = ("i64", "i64", "i32", "i32", "u8", "i8", "u32", "u64", "i16", "u16")
NUMBERS = FLOATS + INTEGERS
ALL = (*NUMBERS, "bool")

# Operators whose float results are exact where their inputs are few bits.
EXACT = frozenset(
    "Abs Add And Cast CastLike Ceil Clip Compress Concat ConcatFromSequence Constant ConstantOfShape Conv CumSum DepthToSpace "
    "Dropout Einsum Equal Expand EyeLike Flatten Floor Gather GatherElements GatherND Gemm GlobalMaxPool Greater GreaterOrEqual Identity "
    "If IsInf IsNaN Less LessOrEqual MatMul Max MaxPool Min Mul Neg NonZero Not OneHot Or Pad ReduceMax ReduceMin ReduceSum Relu Reshape "
    "ReverseSequence Round ScatterElements ScatterND Shape Sign Size Slice SpaceToDepth Split Squeeze Sub Sum Tile TopK Transpose Trilu "
    "Unsqueeze Where Xor ArgMax ArgMin Range".split()
)

MAKERS = {}


def maker(*names):
    def keep(function):
        for name in names:
            MAKERS[name] = lambda b, name=name, function=function: function(b, name)
        return function

    return keep


def axis_in(b, rank, negative=True):
    axis = int(b.rng.integers(rank))
    return axis - rank if negative and b.chance(0.3) else axis


def broadcast_partner(b, shape):
    """A shape that goes together with another one."""
    kind = b.rng.integers(5)
    if kind == 0:
        return shape
    if kind == 1:
        return ()
    cut = tuple(shape[int(b.rng.integers(len(shape) + 1)) :])
    return tuple(1 if b.chance(0.4) else size for size in cut)


@maker("Abs", "Neg", "Sign", "Relu", "Identity", "IsNaN", "Floor", "Ceil", "Round", "Exp", "Log", "Sqrt", "Reciprocal", "Sigmoid", "Tanh", "Erf",
       "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "Softplus", "Softsign", "HardSwish", "Mish")  # fmt: skip
def unary(b, op):
    x = b.take(b.types_of(op), exact=op in ("Sign", "Floor", "Ceil", "Round", "Reciprocal", "Acosh", "Atanh"))
    return b.node(op, [x])


@maker("Elu", "Celu", "LeakyRelu", "ThresholdedRelu", "Selu", "HardSigmoid", "Shrink", "Gelu", "Swish")
def activation(b, op):
    names = {"Elu": ["alpha"], "Celu": ["alpha"], "LeakyRelu": ["alpha"], "ThresholdedRelu": ["alpha"], "Selu": ["alpha", "gamma"],
             "HardSigmoid": ["alpha", "beta"], "Shrink": ["bias", "lambd"], "Swish": ["alpha"]}.get(op, [])  # fmt: skip
    attributes = {name: float(b.rng.choice([0.25, 0.5, 1.0, 2.0, 1.5])) for name in names if b.chance(0.5)}
    if op == "Gelu" and b.chance(0.6):
        attributes["approximate"] = str(b.rng.choice(["none", "tanh"]))
    x = b.take(b.types_of(op), exact=op in ("ThresholdedRelu", "Shrink"))
    return b.node(op, [x], **attributes)


@maker("IsInf")
def is_inf(b, op):
    return b.node(op, [b.take(("f32", "f16") if b.opset >= 20 else ("f32",))], **{name: int(b.rng.integers(2)) for name in ("detect_negative", "detect_positive") if b.chance(0.5)})


@maker("Add", "Sub", "Mul", "Div", "Pow", "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Mod", "PRelu", "And", "Or", "Xor",
       "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift")  # fmt: skip
def binary(b, op):
    compares = op in ("Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Mod")
    x = b.take(b.types_of(op), exact=compares)
    kind, attributes = b.type(x), {}
    if op == "Mod" and (kind in FLOATS or b.chance(0.4)):
        attributes["fmod"] = 1
    if op == "BitShift":
        attributes["direction"] = str(b.rng.choice(["LEFT", "RIGHT"]))
    if b.chance(0.35):
        y = b.take((kind,), exact=compares, fits=lambda shape: b.goes_together(b.shape(x), shape))
    else:
        y = b.fresh(kind, broadcast_partner(b, b.shape(x)), "nonzero" if op in ("Div", "Mod") else "small" if op in ("Pow", "BitShift") else "")
    if op == "PRelu" and np.broadcast_shapes(b.shape(x), b.shape(y)) != b.shape(x):
        b.reject("a slope of more numbers")
    swap = op not in ("Mod", "PRelu", "Pow", "BitShift", "Div") and b.chance(0.4)
    return b.node(op, [y, x] if swap else [x, y], **attributes)


@maker("Max", "Min", "Sum", "Mean")
def variadic(b, op):
    x = b.take(b.types_of(op))
    others = [b.fresh(b.type(x), broadcast_partner(b, b.shape(x))) for _ in range(int(b.rng.integers(3)))]
    return b.node(op, [*others, x] if b.chance(0.3) else [x, *others])


@maker("Not", "BitwiseNot")
def bits(b, op):
    return b.node(op, [b.take(b.types_of(op))])


@maker("Where")
def where(b, op):
    x = b.take(ALL)
    shape = b.shape(x)
    condition = b.take(("bool",), fits=lambda other: b.goes_together(shape, other)) if b.chance(0.6) else b.fresh("bool", broadcast_partner(b, shape))
    y = b.fresh(b.type(x), broadcast_partner(b, shape))
    return b.node(op, [condition, x, y] if b.chance(0.5) else [condition, y, x])


@maker("Clip")
def clip(b, op):
    x = b.take(b.types_of(op))
    kind = b.type(x)
    low = b.fixed(np.asarray(0 if kind[0] == "u" else -1), kind) if b.chance(0.7) else ""
    high = b.fixed(np.asarray(3), kind) if b.chance(0.7) or not low else ""
    return b.node(op, [x, low, high] if high else [x, low])


@maker("Cast")
def cast(b, op):
    x = b.take(ALL, exact=True)
    to = str(b.rng.choice(ALL))
    return b.node(op, [x], to=b.onnx_type(to))


@maker("CastLike")
def cast_like(b, op):
    x = b.take(ALL, exact=True)
    return b.node(op, [x, b.fresh(str(b.rng.choice(("f32", "i64", "i32", "bool"))), (1,))])


@maker("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp")
def reduce(b, op):
    x = b.take(b.types_of(op), rank=(0, 1, 2, 3, 4))
    rank = len(b.shape(x))
    axes = sorted(b.rng.choice(rank, size=int(b.rng.integers(rank + 1)), replace=False).tolist()) if rank else []
    axes = [axis - rank if b.chance(0.2) else axis for axis in axes]
    attributes = {"keepdims": int(b.rng.integers(2))} if b.chance(0.7) else {}
    as_input = b.opset >= (13 if op == "ReduceSum" else 18)
    if as_input and b.chance(0.2):
        attributes["noop_with_empty_axes"] = int(b.rng.integers(2))
    if not axes and b.chance(0.7):
        return b.node(op, [x], **attributes)
    if as_input:
        return b.node(op, [x, b.fixed(np.array(axes, np.int64), "i64")], **attributes)
    return b.node(op, [x], **attributes, **({"axes": axes} if axes else {}))


@maker("ArgMax", "ArgMin")
def arg(b, op):
    x = b.take(b.types_of(op), rank=(1, 2, 3), exact=True)
    attributes = {"axis": axis_in(b, len(b.shape(x)))} if b.chance(0.8) else {}
    for name in ("keepdims", "select_last_index"):
        if b.chance(0.5):
            attributes[name] = int(b.rng.integers(2))
    return b.node(op, [x], **attributes)


@maker("Softmax", "LogSoftmax", "Hardmax")
def softmax(b, op):
    x = b.take(FLOATS, rank=(1, 2, 3), exact=op == "Hardmax")
    return b.node(op, [x], **({"axis": axis_in(b, len(b.shape(x)))} if b.chance(0.7) else {}))


@maker("CumSum")
def cumsum(b, op):
    x = b.take(("f32", "f32", "i32", "i64"), rank=(1, 2, 3))
    axis = b.fixed(np.asarray(axis_in(b, len(b.shape(x))), np.int64), "i64")
    return b.node(op, [x, axis], **{name: int(b.rng.integers(2)) for name in ("exclusive", "reverse") if b.chance(0.5)})


@maker("Transpose")
def transpose(b, op):
    x = b.take(ALL, rank=(1, 2, 3, 4))
    return b.node(op, [x], **({"perm": b.rng.permutation(len(b.shape(x))).tolist()} if b.chance(0.8) else {}))


@maker("Reshape")
def reshape(b, op):
    x = b.take(ALL)
    size = int(np.prod(b.shape(x)))
    choices = [[-1], [1, -1], [-1, 1], list(b.shape(x)) + [1], [size]]
    if len(b.shape(x)) >= 2:
        choices += [[0, -1], [-1, b.shape(x)[-1]], [0, 0, -1] if len(b.shape(x)) > 2 else [0, 1, -1]]
    return b.node(op, [x, b.fixed(np.array(choices[int(b.rng.integers(len(choices)))], np.int64), "i64", run=0.15)])


@maker("Flatten")
def flatten(b, op):
    x = b.take(ALL, rank=(1, 2, 3))
    return b.node(op, [x], **({"axis": int(b.rng.integers(len(b.shape(x)) + 1))} if b.chance(0.7) else {}))


@maker("Squeeze", "Unsqueeze")
def squeeze(b, op):
    x = b.take(ALL, fits=(lambda shape: 1 in shape) if op == "Squeeze" else None)
    shape = b.shape(x)
    if op == "Squeeze":
        ones = [i for i, size in enumerate(shape) if size == 1]
        axes = [ones[int(b.rng.integers(len(ones)))]] if ones else None
        if axes is None or b.chance(0.15):
            return b.node(op, [x])
    else:
        axes = sorted({int(b.rng.integers(len(shape) + 1))} | ({len(shape) + 1} if b.chance(0.3) else set()))
    return b.node(op, [x, b.fixed(np.array(axes, np.int64), "i64")])


@maker("Expand")
def expand(b, op):
    x = b.take(ALL, rank=(0, 1, 2, 3))
    target = [int(b.rng.integers(1, 4)) if size == 1 else size for size in b.shape(x)]
    if b.chance(0.3):
        target = [2, *target]
    return b.node(op, [x, b.fixed(np.array(target, np.int64), "i64", run=0.15)])


@maker("Tile")
def tile(b, op):
    x = b.take(ALL, rank=(1, 2, 3))
    return b.node(op, [x, b.fixed(b.rng.integers(1, 3, len(b.shape(x))).astype(np.int64), "i64", run=0.1)])


@maker("Concat")
def concat(b, op):
    x = b.take(ALL, rank=(1, 2, 3))
    axis = axis_in(b, len(b.shape(x)))
    others = []
    for _ in range(int(b.rng.integers(3))):
        shape = list(b.shape(x))
        shape[axis] = int(b.rng.integers(1, 4))
        others.append(x if b.chance(0.2) else b.fresh(b.type(x), tuple(shape)))
    return b.node(op, [*others, x] if b.chance(0.4) else [x, *others], axis=axis)


@maker("Split")
def split(b, op):
    x = b.take(ALL, rank=(1, 2, 3), fits=lambda shape: max(shape) >= 2)
    shape = b.shape(x)
    axis = int(np.argmax(shape))
    first = int(b.rng.integers(1, shape[axis])) if shape[axis] > 1 else 1
    attributes = {"axis": axis - len(shape) if b.chance(0.3) else axis}
    if b.opset >= 18 and b.chance(0.3):
        return b.node(op, [x], outputs=2, num_outputs=2, **attributes)
    if b.opset < 18 and shape[axis] % 2 == 0 and b.chance(0.5):
        return b.node(op, [x], outputs=2, **attributes)
    return b.node(op, [x, b.fixed(np.array([first, shape[axis] - first], np.int64), "i64", run=0.1)], outputs=2, **attributes)


@maker("Slice")
def slice_(b, op):
    x = b.take(ALL, rank=(1, 2, 3))
    shape = b.shape(x)
    axes = b.rng.choice(len(shape), size=int(b.rng.integers(1, len(shape) + 1)), replace=False)
    rows = []
    for axis in axes:
        step = int(b.rng.choice([1, 1, 1, 2, -1, -2]))
        low, high = int(b.rng.integers(-shape[axis], shape[axis] + 1)), int(b.rng.choice([shape[axis], 2**31 - 1, 2**63 - 1, -1, 1]))
        if step < 0:
            low, high = shape[axis] - 1, int(b.rng.choice([-(2**31), -(2**63), 0, -shape[axis] - 1]))
        rows.append((low, high, axis, step))
    starts, ends, axes, steps = (b.fixed(np.array(column, np.int64), "i64", run=0.1) for column in zip(*rows))
    simple = len(rows) == len(shape) and all(row[2] == i for i, row in enumerate(rows)) and all(row[3] == 1 for row in rows) and b.chance(0.5)
    return b.node(op, [x, starts, ends] if simple else [x, starts, ends, axes, steps])


@maker("Gather")
def gather(b, op):
    x = b.take(ALL, rank=(1, 2, 3))
    axis = axis_in(b, len(b.shape(x)))
    at = b.fresh(str(b.rng.choice(WIDE)), b.some_shape(2), ("index", b.shape(x)[axis]))
    return b.node(op, [x, at], **({"axis": axis} if axis or b.chance(0.5) else {}))


@maker("GatherElements", "ScatterElements")
def elements(b, op):
    x = b.take(ALL, rank=(1, 2, 3))
    axis = axis_in(b, len(b.shape(x)))
    shape = tuple(int(b.rng.integers(1, size + 1)) if size else 0 for size in b.shape(x))
    at = b.fresh(str(b.rng.choice(WIDE)), shape, ("index", b.shape(x)[axis]))
    if op == "GatherElements":
        return b.node(op, [x, at], axis=axis)
    attributes = {"axis": axis}
    if b.opset >= 18 and b.chance(0.4):
        attributes["reduction"] = str(b.rng.choice(["none", "add", "mul", "max", "min"]))
    if attributes.get("reduction", "none") == "none":
        at = b.fresh("i64", tuple(1 if i == axis % len(shape) else size for i, size in enumerate(shape)), ("index", b.shape(x)[axis]))
    return b.node(op, [x, at, b.fresh(b.type(x), b.shape(at))], **attributes)


@maker("GatherND", "ScatterND")
def nd(b, op):
    x = b.take(ALL, rank=(1, 2, 3))
    shape = b.shape(x)
    depth = int(b.rng.integers(1, len(shape) + 1))
    at = b.fresh("i64", (int(b.rng.integers(1, 4)) if op == "GatherND" else 1, depth), ("index", min(shape[:depth])))
    if op == "GatherND":
        return b.node(op, [x, at])
    attributes = {"reduction": str(b.rng.choice(["none", "add", "mul", "max", "min"]))} if b.opset >= 18 and b.chance(0.4) else {}
    return b.node(op, [x, at, b.fresh(b.type(x), (1, *shape[depth:]))], **attributes)


@maker("OneHot")
def one_hot(b, op):
    x = b.fresh(str(b.rng.choice(WIDE)), b.some_shape(2), ("index", 4))
    values = b.fresh(str(b.rng.choice(("f32", "i64", "i32"))), (2,))
    return b.node(op, [x, b.fixed(np.asarray(4), "i64"), values], **({"axis": int(b.rng.choice([-1, 0]))} if b.chance(0.6) else {}))


@maker("TopK")
def topk(b, op):
    x = b.take(("f32", "i64", "i32"), rank=(1, 2), exact=True)
    axis = axis_in(b, len(b.shape(x)))
    k = b.fixed(np.array([max(1, b.shape(x)[axis] - 1)], np.int64), "i64", run=0.1)
    return b.node(op, [x, k], outputs=2, axis=axis, **{name: int(b.rng.integers(2)) for name in ("largest",) if b.chance(0.5)})


@maker("Pad")
def pad(b, op):
    x = b.take(ALL, rank=(1, 2, 3))
    mode = str(b.rng.choice(["constant", "reflect", "edge"]))
    most = 3 if mode != "reflect" else max(1, min(b.shape(x)))
    pads = b.fixed(b.rng.integers(-1 if mode == "constant" and b.chance(0.2) else 0, most, 2 * len(b.shape(x))).astype(np.int64), "i64")
    inputs = [x, pads] + ([b.fresh(b.type(x), ())] if mode == "constant" and b.chance(0.5) else [])
    return b.node(op, inputs, **({"mode": mode} if mode != "constant" or b.chance(0.5) else {}))


@maker("Trilu")
def trilu(b, op):
    x = b.take(ALL, rank=(2, 3))
    inputs = [x] + ([b.fixed(np.asarray(int(b.rng.integers(-2, 3))), "i64")] if b.chance(0.6) else [])
    return b.node(op, inputs, **({"upper": int(b.rng.integers(2))} if b.chance(0.6) else {}))


@maker("Shape", "Size")
def shape_of(b, op):
    x = b.take(ALL, rank=(1, 2, 3))
    attributes = {"start": int(b.rng.integers(-1, 2))} if op == "Shape" and b.opset >= 15 and b.chance(0.3) else {}
    return b.node(op, [x], **attributes)


@maker("ConstantOfShape")
def of_shape(b, op):
    value = {"value": b.tensor(np.array([int(b.rng.integers(0, 4))]), str(b.rng.choice(("f32", "i64", "i32", "bool", "u8"))))} if b.chance(0.7) else {}
    return b.node(op, [b.fixed(np.array(b.some_shape(3), np.int64), "i64", run=0.1)], **value)


@maker("Range")
def range_(b, op):
    kind = str(b.rng.choice(("i64", "i32", "f32")))
    low, high, step = int(b.rng.integers(-2, 2)), int(b.rng.integers(2, 6)), int(b.rng.integers(1, 3))
    return b.node(op, [b.fixed(np.asarray(value), kind, run=0.15) for value in (low, high, step)])


@maker("NonZero", "Compress", "Unique", "EyeLike")
def by_numbers(b, op):
    if op == "NonZero":
        return b.node(op, [b.take(ALL, rank=(1, 2), exact=True)])
    if op == "EyeLike":
        return b.node(op, [b.take(("f32", "i64", "i32"), rank=(2,))], **({"k": int(b.rng.integers(-1, 2))} if b.chance(0.5) else {}))
    if op == "Unique":
        return b.node(op, [b.take(("f32", "i64"), rank=(1, 2), exact=True)], outputs=int(b.rng.integers(1, 5)), sorted=1)
    x = b.take(ALL, rank=(1, 2))
    return b.node(op, [x, b.fresh("bool", (b.shape(x)[0],))], axis=0)


@maker("DepthToSpace", "SpaceToDepth")
def depth(b, op):
    x = b.fresh(str(b.rng.choice(("f32", "f16", "i64", "u8"))), (1, 4, 2, 2) if op == "DepthToSpace" else (1, 2, 4, 2))
    return b.node(op, [x], blocksize=2, **({"mode": str(b.rng.choice(["DCR", "CRD"]))} if op == "DepthToSpace" and b.chance(0.7) else {}))


@maker("ReverseSequence")
def reverse_sequence(b, op):
    x = b.take(ALL, rank=(2, 3))
    batch = int(b.rng.integers(2))
    return b.node(op, [x, b.fresh("i64", (b.shape(x)[batch],), ("length", b.shape(x)[1 - batch]))], batch_axis=batch, time_axis=1 - batch)


@maker("Dropout")
def dropout(b, op):
    return b.node(op, [b.take(("f32", "f16"))], outputs=1 + int(b.chance(0.2)))


@maker("If")
def if_(b, op):
    x = b.take(("f32", "f32", "i64", "i32"))
    condition = b.take(("bool",), fits=lambda shape: shape == ()) if b.chance(0.3) else b.fresh("bool", ())
    return b.branches(condition, x)
