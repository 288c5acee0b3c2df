"""How random_graphs.py makes nodes of operators that have weights, windows or scales."""

from __future__ import annotations

import numpy as np

from random_operators import FLOATS, axis_in, maker


@maker("MatMul")
def matmul(b, op):
    x = b.take(b.types_of(op), rank=(1, 2, 3))
    inner = b.shape(x)[-1]
    choices = [(inner, int(b.rng.integers(1, 5))), (inner,), (1, inner, 3), (b.shape(x)[0], inner, 2)]
    y = b.fresh(b.type(x), choices[int(b.rng.choice(4, p=[0.6, 0.15, 0.15, 0.1]))])
    if b.chance(0.2):
        y = b.take((b.type(x),), fits=lambda shape: len(shape) >= 2 and shape[-2] == inner)
    return b.node(op, [x, y])


@maker("Gemm")
def gemm(b, op):
    x = b.take(("f32", "f32", "f32", "f16", "i32"), rank=(2,))
    turned_x, turned_y, columns = b.chance(0.3), b.chance(0.4), int(b.rng.integers(1, 4))
    inner, rows = (b.shape(x)[0], b.shape(x)[1]) if turned_x else (b.shape(x)[1], b.shape(x)[0])
    inputs = [x, b.fresh(b.type(x), (columns, inner) if turned_y else (inner, columns))]
    if b.chance(0.7):
        choices = [(columns,), (rows, columns), (1, columns), (rows, 1), (), (1,)]
        inputs.append(b.fresh(b.type(x), choices[int(b.rng.integers(len(choices)))]))
    attributes = {name: float(b.rng.choice([0.5, 1.0, 2.0])) for name in ("alpha", "beta") if b.chance(0.4)}
    attributes |= {"transA": 1} if turned_x else {}
    attributes |= {"transB": 1} if turned_y else {}
    return b.node(op, inputs, **attributes)


@maker("Einsum")
def einsum(b, op):
    equation, shapes = [("ij,jk->ik", ((2, 3), (3, 2))), ("bij,bkj->bik", ((2, 2, 3), (2, 4, 3))), ("ij->ji", ((2, 3),)), ("ii->i", ((3, 3),)),
                        ("ij,ij->", ((2, 3), (2, 3))), ("bhid,bhjd->bhij", ((1, 2, 3, 2), (1, 2, 4, 2))), ("ij->i", ((2, 3),)),
                        ("...ij,jk->...ik", ((2, 2, 3), (3, 2)))][int(b.rng.integers(8))]  # fmt: skip
    kind = str(b.rng.choice(("f32", "f32", "i32", "i64")))
    return b.node(op, [b.fresh(kind, shape) for shape in shapes], equation=equation)


def window(b, spatial, with_kernel=True):
    attributes = {"kernel_shape": [2] * spatial} if with_kernel else {}
    if b.chance(0.4):
        attributes["strides"] = b.rng.integers(1, 3, spatial).tolist()
    if b.chance(0.2):
        attributes["dilations"] = b.rng.integers(1, 3, spatial).tolist()
    kind = b.rng.integers(5)
    if kind == 0:
        attributes["pads"] = b.rng.integers(0, 2, 2 * spatial).tolist()
    elif kind == 1 and "dilations" not in attributes:
        attributes["auto_pad"] = str(b.rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))
    return attributes


def image(b, types=("f32", "f32", "f16", "bf16"), channels=2):
    spatial = int(b.rng.choice([1, 2, 2, 2, 3]))
    shape = (int(b.rng.integers(1, 3)), channels, *b.rng.integers(4, 6, spatial).tolist())
    if b.chance(0.5):
        return b.take(types, fits=lambda other: len(other) in (3, 4, 5) and other[1] == channels and min(other[2:]) >= 3, otherwise=shape)
    return b.fresh(str(b.rng.choice(types)), shape)


@maker("Conv", "ConvTranspose")
def conv(b, op):
    x = image(b)
    spatial, groups = len(b.shape(x)) - 2, 2 if b.chance(0.3) else 1
    channels = 2 // groups
    shape = (int(b.rng.choice([2, 4])), channels) if op == "Conv" else (2, int(b.rng.integers(1, 3)))
    w = b.fresh(b.type(x), (*shape, *[2] * spatial))
    filters = shape[0] if op == "Conv" else shape[1] * groups
    attributes = window(b, spatial, b.chance(0.6)) | ({"group": groups} if groups > 1 else {})
    if op == "ConvTranspose" and b.chance(0.2) and "strides" in attributes:
        attributes["output_padding"] = [s - 1 for s in attributes["strides"]]
    return b.node(op, [x, w] + ([b.fresh(b.type(x), (filters,))] if b.chance(0.6) else []), **attributes)


@maker("MaxPool", "AveragePool", "LpPool", "GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool")
def pool(b, op):
    x = image(b, ("f32", "f32", "f32", "f16", "u8") if op == "MaxPool" else ("f32", "f32", "f16"))
    if op.startswith("Global"):
        return b.node(op, [x], **({"p": 2} if op == "GlobalLpPool" and b.chance(0.5) else {}))
    attributes = window(b, len(b.shape(x)) - 2)
    if op == "AveragePool" and b.chance(0.4):
        attributes["count_include_pad"] = int(b.rng.integers(2))
    if op == "LpPool":
        attributes["p"] = int(b.rng.integers(1, 4))
    if b.opset >= 18 and b.chance(0.2) or op == "MaxPool" and b.chance(0.2):
        attributes["ceil_mode"] = int(b.rng.integers(2))
    if op != "MaxPool" and b.opset < 19:
        attributes.pop("dilations", None)
    return b.node(op, [x], outputs=2 if op == "MaxPool" and b.chance(0.15) else 1, **attributes)


@maker("BatchNormalization", "InstanceNormalization", "GroupNormalization", "LRN", "MeanVarianceNormalization", "LayerNormalization", "RMSNormalization",
       "LpNormalization")  # fmt: skip
def normalize(b, op):
    attributes = {"epsilon": float(b.rng.choice([1e-5, 1e-3, 0.5]))} if op[0] not in "M" and op[:2] not in ("LR", "Lp") and b.chance(0.5) else {}
    if op in ("LayerNormalization", "RMSNormalization", "LpNormalization"):
        x = b.take(("f32", "f32", "f16"), rank=(2, 3), exact=op == "LpNormalization")
        shape = b.shape(x)
        axis = axis_in(b, len(shape))
        if op == "LpNormalization":
            return b.node(op, [x], axis=axis, p=int(b.rng.integers(1, 3)))
        weights = [b.fresh(b.type(x), shape[axis:]) for _ in range(1 if op[0] == "R" else int(b.rng.integers(1, 3)))]
        return b.node(op, [x, *weights], axis=axis, **attributes)
    x = image(b, ("f32", "f32", "f16"))
    if op == "LRN":
        return b.node(op, [x], size=int(b.rng.choice([1, 3, 5])), **({"alpha": 0.5, "beta": 0.75, "bias": 2.0} if b.chance(0.5) else {}))
    if op == "MeanVarianceNormalization":
        return b.node(op, [x], **({"axes": [0, 2]} if b.chance(0.5) else {}))
    if op == "GroupNormalization":
        return b.node(op, [x, b.fresh(b.type(x), (2,)), b.fresh(b.type(x), (2,))], num_groups=int(b.rng.integers(1, 3)), **attributes)
    inputs = [x, b.fresh(b.type(x), (2,)), b.fresh(b.type(x), (2,))]
    if op == "BatchNormalization":
        inputs += [b.fresh(b.type(x), (2,)), b.fresh(b.type(x), (2,), "positive")]
    return b.node(op, inputs, **attributes)


@maker("RNN", "GRU", "LSTM")
def recurrent(b, op):
    steps, batch, size, hidden, gates = 3, 2, 2, 2, {"RNN": 1, "GRU": 3, "LSTM": 4}[op]
    direction = str(b.rng.choice(["forward", "reverse", "bidirectional"]))
    ways = 2 if direction == "bidirectional" else 1
    x = b.take(("f32",), fits=lambda shape: shape == (steps, batch, size), otherwise=(steps, batch, size))
    inputs = [x, b.fresh("f32", (ways, gates * hidden, size)), b.fresh("f32", (ways, gates * hidden, hidden))]
    inputs.append(b.fresh("f32", (ways, 2 * gates * hidden)) if b.chance(0.6) else "")
    inputs.append(b.fresh("i32", (batch,), ("length", steps)) if b.chance(0.2) else "")
    inputs += [b.fresh("f32", (ways, batch, hidden)) if b.chance(0.4) else "" for _ in range(2 if op == "LSTM" else 1)]
    while inputs[-1] == "":
        inputs.pop()
    attributes = {"hidden_size": hidden} | ({"direction": direction} if direction != "forward" or b.chance(0.5) else {})
    if op == "GRU" and b.chance(0.5):
        attributes["linear_before_reset"] = int(b.rng.integers(2))
    if b.chance(0.2):
        names = {"RNN": ["Relu"], "GRU": ["Sigmoid", "Relu"], "LSTM": ["Sigmoid", "Relu", "Tanh"]}[op]
        attributes["activations"] = names * ways
    return b.node(op, inputs, outputs=int(b.rng.integers(1, 4 if op == "LSTM" else 3)), **attributes)


@maker("Resize")
def resize(b, op):
    x = b.fresh(str(b.rng.choice(("f32", "f32", "f16", "u8", "i32"))), (1, 2, int(b.rng.integers(2, 5)), int(b.rng.integers(2, 5))))
    attributes = {"mode": str(b.rng.choice(["nearest", "linear", "cubic"]))}
    if b.chance(0.7):
        attributes["coordinate_transformation_mode"] = str(b.rng.choice(["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]))
    if attributes["mode"] == "nearest" and b.chance(0.6):
        attributes["nearest_mode"] = str(b.rng.choice(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]))
    height, width = b.shape(x)[2:]
    if b.chance(0.5):
        return b.node(op, [x, "", "", b.fixed(np.array([1, 2, height * 2, width + int(b.rng.integers(3))], np.int64), "i64")], **attributes)
    return b.node(op, [x, "", b.fixed(np.array([1, 1, float(b.rng.choice([0.5, 1.5, 2])), 2], np.float32), "f32")], **attributes)


@maker("GridSample")
def grid_sample(b, op):
    x = b.fresh("f32", (1, 2, 3, 4))
    attributes = {"mode": str(b.rng.choice(["bilinear", "nearest", "bicubic"] if b.opset < 20 else ["linear", "nearest", "cubic"]))}
    attributes |= {"padding_mode": str(b.rng.choice(["zeros", "border", "reflection"])), "align_corners": int(b.rng.integers(2))}
    return b.node(op, [x, b.fresh("f32", (1, 2, 2, 2), "unit")], **attributes)


@maker("QuantizeLinear", "DequantizeLinear")
def quantize(b, op):
    to = str(b.rng.choice(["u8", "i8"]))
    if op == "QuantizeLinear":
        x = b.take(("f32", "f32", "f16") if b.opset >= 19 else ("f32",), rank=(1, 2, 3), exact=True)
        scale_type = b.type(x)
    else:
        x, scale_type = b.take((to, to, "i32"), rank=(1, 2, 3)), "f32"
        to = b.type(x)
    by_axis = b.chance(0.3)
    axis = axis_in(b, len(b.shape(x)))
    shape = (b.shape(x)[axis],) if by_axis else ()
    scale = b.fixed(b.rng.choice([0.25, 0.5, 1.0], shape), scale_type, run=0.15)
    zero = [b.fixed(np.zeros(shape) if to == "i32" else b.rng.integers(0, 9, shape), to, run=0.1)] if b.chance(0.7) or (op[0] == "Q" and to == "i8") else []
    return b.node(op, [x, scale, *zero], **({"axis": axis} if by_axis else {}))


@maker("DynamicQuantizeLinear")
def dynamic_quantize(b, op):
    return b.node(op, [b.take(("f32",), rank=(1, 2, 3), exact=True)], outputs=3)


@maker("MatMulInteger", "ConvInteger")
def integer_product(b, op):
    kind, other = str(b.rng.choice(["u8", "i8"])), str(b.rng.choice(["u8", "i8"]))
    if op == "MatMulInteger":
        x = b.take((kind,), rank=(2, 3))
        y = b.fresh(other, (b.shape(x)[-1], int(b.rng.integers(1, 4))))
    else:
        kind = "u8"
        x, y = b.fresh(kind, (1, 2, 4, 4)), b.fresh(other, (2, 2, 2, 2))
    zeros = [b.fixed(np.asarray(int(b.rng.integers(0, 4))), kind), b.fixed(np.asarray(int(b.rng.integers(0, 4))), other)]
    return b.node(op, [x, y, *zeros[: int(b.rng.integers(3))]])


@maker("QLinearMatMul")
def qlinear(b, op):
    kind = str(b.rng.choice(["u8", "i8"]))
    x = b.take((kind,), rank=(2, 3))
    one = [b.fixed(np.asarray(0.5), "f32"), b.fixed(np.asarray(int(b.rng.integers(0, 4))), kind)]
    y = b.fresh(kind, (b.shape(x)[-1], 2))
    return b.node(op, [x, *one, y, b.fixed(np.asarray(0.25), "f32"), b.fixed(np.asarray(1), kind), b.fixed(np.asarray(0.5), "f32"), b.fixed(np.asarray(2), kind)])


@maker("Attention")
def attention(b, op):
    query, keys = (1, 2, 3, 4), (1, 2, int(b.rng.integers(2, 5)), 4)
    inputs = [b.fresh("f32", query), b.fresh("f32", keys), b.fresh("f32", keys)]
    if b.chance(0.4):
        inputs.append(b.fresh(str(b.rng.choice(["f32", "bool"])), (query[2], keys[2])))
    attributes = {"is_causal": int(b.rng.integers(2))} if b.chance(0.4) else {}
    return b.node(op, inputs, **attributes, **({"scale": 0.5} if b.chance(0.4) else {}))


@maker("AffineGrid", "Col2Im", "Det", "CenterCropPad", "MaxRoiPool", "RotaryEmbedding")
def others(b, op):
    if op == "AffineGrid":
        return b.node(op, [b.fresh("f32", (1, 2, 3)), b.fixed(np.array([1, 2, 3, 4], np.int64), "i64")], align_corners=int(b.rng.integers(2)))
    if op == "Col2Im":
        return b.node(op, [b.fresh("f32", (1, 8, 4)), b.fixed(np.array([3, 3], np.int64), "i64"), b.fixed(np.array([2, 2], np.int64), "i64")])
    if op == "Det":
        return b.node(op, [b.take(("f32",), fits=lambda s: len(s) >= 2 and s[-1] == s[-2], otherwise=(2, 2))])
    if op == "CenterCropPad":
        return b.node(op, [b.take(FLOATS, rank=(2,)), b.fixed(np.array([2, 4], np.int64), "i64")])
    if op == "MaxRoiPool":
        return b.node(op, [b.fresh("f32", (1, 2, 4, 4)), b.fixed(np.array([[0, 0, 0, 2, 3]]), "f32", run=0.5)], pooled_shape=[2, 2])
    return b.node(op, [b.fresh("f32", (1, 2, 3, 4)), b.fresh("f32", (1, 3, 2)), b.fresh("f32", (1, 3, 2))], **({"interleaved": 1} if b.chance(0.4) else {}))
