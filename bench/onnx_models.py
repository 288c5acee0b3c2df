"""ONNX models of public architectures as their usual exporters write them, with random weights of a fixed seed.

The widths are those of the originals; how many layers or blocks there are is an argument, since they repeat. Nodes follow
what torch.onnx.export writes (opset 13 to 17): sizes by Shape and Gather, LayerNormalization in parts, GELU in parts,
masks by arithmetic with the lowest float or by Where.
"""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

F32, I32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL
LOWEST = float(np.finfo(np.float32).min)


class Builder:
    """A graph in the making. Methods add a node and return the name of its output."""

    def __init__(self, opset, seed=1):
        self.opset = opset
        self.random = np.random.default_rng(seed)
        self.nodes, self.initializers, self.inputs, self.constants = [], [], [], {}

    def name(self, op):
        return f"{op.lower()}_{len(self.nodes)}"

    def input(self, name, kind, shape):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def weight(self, *shape, scale=None, mean=0.0):
        """Normal numbers; by default a layer keeps the size of what goes in."""
        fan_in = int(np.prod(shape[1:])) if len(shape) == 4 else shape[0]
        scale = 1 / np.sqrt(fan_in) if scale is None else scale
        return self.constant(mean + scale * self.random.standard_normal(shape, np.float32))

    def constant(self, value, dtype=None):
        array = np.asarray(value, dtype)
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        key = (array.dtype.str, array.shape, array.tobytes()) if array.size < 64 else None
        if key is None or key not in self.constants:
            name = f"constant_{len(self.initializers)}"
            self.initializers.append(numpy_helper.from_array(array, name))
            self.constants[key] = name
        return self.constants[key]

    def op(self, op, *inputs, outputs=1, **attributes):
        """Numbers and arrays among the inputs become initializers."""
        names = [one if isinstance(one, str) else self.constant(one) for one in inputs]
        made = [f"{self.name(op)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, names, made, name=self.name(op), **attributes))
        return made[0] if outputs == 1 else made

    def size(self, value, axis):
        """One size of a tensor, as x.size(axis) is exported."""
        return self.op("Gather", self.op("Shape", value), np.array(axis), axis=0)

    def shape(self, *sizes):
        """A shape of sizes, names of scalars or numbers."""
        parts = [self.op("Unsqueeze", one, [0]) if isinstance(one, str) else np.array([one]) for one in sizes]
        return self.op("Concat", *parts, axis=0)

    def model(self, outputs):
        values = [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs.items()]
        graph = helper.make_graph(self.nodes, "model", self.inputs, values, self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)


# --- images -----------------------------------------------------------------------------------------------------------


def conv(b, x, out, into, size, stride=1, group=1, norm=True, scale=1.4):
    """Convolution with its normalisation: folded into it (norm False), or beside it."""
    weights = b.weight(out, into // group, size, size, scale=scale / np.sqrt(into // group * size * size))
    more = {"strides": [stride] * 2, "pads": [size // 2] * 4, "kernel_shape": [size] * 2, "group": group}
    if not norm:
        return b.op("Conv", x, weights, b.weight(out, scale=0.1), **more)
    x = b.op("Conv", x, weights, **more)
    return b.op("BatchNormalization", x, b.weight(out, scale=0.1, mean=1), b.weight(out, scale=0.1),
                b.weight(out, scale=0.1), np.abs(b.random.standard_normal(out, np.float32)) * 0.1 + 1)  # fmt: skip


def resnet(layers, norm):
    """ResNet-50: `layers` blocks at most in each of its four stages (3, 4, 6, 3)."""
    b = Builder(13)
    x = b.op("Relu", conv(b, b.input("input", F32, [1, 3, 224, 224]), 64, 3, 7, 2, norm=norm))
    x = b.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=0)
    into = 64
    for stage, (width, blocks) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
        for block in range(min(blocks, layers)):
            stride = 2 if stage > 0 and block == 0 else 1
            y = b.op("Relu", conv(b, x, width, into, 1, norm=norm))
            y = b.op("Relu", conv(b, y, width, width, 3, stride, norm=norm))
            y = conv(b, y, width * 4, width, 1, norm=norm, scale=0.5)
            if block == 0:
                x = conv(b, x, width * 4, into, 1, stride, norm=norm, scale=1)
            x, into = b.op("Relu", b.op("Add", y, x)), width * 4
    x = b.op("Flatten", b.op("GlobalAveragePool", x), axis=1)
    x = b.op("Gemm", x, b.weight(1000, 2048, scale=0.02), b.weight(1000, scale=0.1), transB=1)
    return b.model({x: F32}), {"input": b.random.standard_normal((1, 3, 224, 224), np.float32)}


# Of MobileNetV3-Large: kernel, expanded, out, squeeze and excite, hard-swish, stride.
MOBILENET = [(3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1), (5, 72, 40, 1, 0, 2), (5, 120, 40, 1, 0, 1),
             (3, 240, 80, 0, 1, 2), (3, 200, 80, 0, 1, 1), (3, 480, 112, 1, 1, 1), (3, 672, 112, 1, 1, 1),
             (5, 672, 160, 1, 1, 2), (5, 960, 160, 1, 1, 1)]  # fmt: skip


def mobilenet(layers):
    """MobileNetV3-Large: the first `layers` blocks times four; ReLU6 as Clip, as in its predecessor."""
    b = Builder(14)

    def hard_swish(x, number):
        # Opset 14 has the operator; exporters for older ones write its parts.
        return b.op("HardSwish", x) if number % 2 else b.op("Mul", x, b.op("HardSigmoid", x, alpha=1 / 6, beta=0.5))

    x = hard_swish(conv(b, b.input("input", F32, [1, 3, 224, 224]), 16, 3, 3, 2, norm=False), 1)
    into = 16
    for number, (size, width, out, excites, swishes, stride) in enumerate(MOBILENET[: layers * 4]):

        def act(y):
            return hard_swish(y, number) if swishes else b.op("Clip", y, 0.0, 6.0)

        y = act(conv(b, x, width, into, 1, norm=False))
        y = act(conv(b, y, width, width, size, stride, group=width, norm=False))
        if excites:
            s = b.op("ReduceMean", y, axes=[2, 3], keepdims=1) if number % 2 else b.op("GlobalAveragePool", y)
            s = b.op("Relu", conv(b, s, width // 4, width, 1, norm=False))
            s = b.op("HardSigmoid", conv(b, s, width, width // 4, 1, norm=False), alpha=1 / 6, beta=0.5)
            y = b.op("Mul", s, y)
        y = conv(b, y, out, width, 1, norm=False)
        x, into = (b.op("Add", x, y) if stride == 1 and into == out else y), out
    x = b.op("Flatten", b.op("GlobalAveragePool", hard_swish(conv(b, x, 960, into, 1, norm=False), 1)), axis=1)
    x = hard_swish(b.op("Gemm", x, b.weight(1280, 960, scale=0.03), b.weight(1280, scale=0.1), transB=1), 1)
    x = b.op("Gemm", x, b.weight(1000, 1280, scale=0.03), b.weight(1000, scale=0.1), transB=1)
    return b.model({x: F32}), {"input": b.random.standard_normal((1, 3, 224, 224), np.float32)}


def yolo(layers, selects):
    """YOLOv8-s: `layers` bottlenecks at most in each C2f; `selects`: with NonMaxSuppression behind it."""
    b = Builder(17)

    def silu(*what, **more):
        x = conv(b, *what, norm=False, **more)
        return b.op("Mul", x, b.op("Sigmoid", x))

    def c2f(x, into, out, blocks, shortcut):
        half = out // 2
        parts = b.op("Split", silu(x, out, into, 1), [half, half], outputs=2, axis=1)
        for _ in range(min(blocks, layers)):
            y = silu(silu(parts[-1], half, half, 3), half, half, 3)
            parts.append(b.op("Add", parts[-1], y) if shortcut else y)
        return silu(b.op("Concat", *parts, axis=1), out, half * len(parts), 1)

    def larger(x):
        return b.op("Resize", x, "", np.array([1, 1, 2, 2], np.float32), mode="nearest", nearest_mode="floor",
                    coordinate_transformation_mode="asymmetric")  # fmt: skip

    side = 320
    x = silu(b.input("images", F32, [1, 3, side, side]), 32, 3, 3, 2)
    levels = []
    for into, out, blocks in ((32, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 1)):
        x = c2f(silu(x, out, into, 3, 2), out, out, blocks, True)
        levels.append(x)
    pools = [silu(x, 256, 512, 1)]
    for _ in range(3):
        pools.append(b.op("MaxPool", pools[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2, 2, 2, 2]))
    p5 = silu(b.op("Concat", *pools, axis=1), 512, 1024, 1)
    p4 = c2f(b.op("Concat", larger(p5), levels[2], axis=1), 768, 256, 1, False)
    p3 = c2f(b.op("Concat", larger(p4), levels[1], axis=1), 384, 128, 1, False)
    p4 = c2f(b.op("Concat", silu(p3, 128, 128, 3, 2), p4, axis=1), 384, 256, 1, False)
    p5 = c2f(b.op("Concat", silu(p4, 256, 256, 3, 2), p5, axis=1), 768, 512, 1, False)
    heads, anchors, strides = [], [], []
    for x, into, stride in ((p3, 128, 8), (p4, 256, 16), (p5, 512, 32)):
        boxes = conv(b, silu(silu(x, 64, into, 3), 64, 64, 3), 64, 64, 1, norm=False)
        classes = conv(b, silu(silu(x, 128, into, 3), 128, 128, 3), 80, 128, 1, norm=False)
        heads.append(b.op("Reshape", b.op("Concat", boxes, classes, axis=1), np.array([1, 144, -1])))
        at = np.arange(side // stride) + 0.5
        anchors.append(np.stack(np.meshgrid(at, at), 0).reshape(2, -1))
        strides.append(np.full((1, anchors[-1].shape[1]), stride))
    boxes, classes = b.op("Split", b.op("Concat", *heads, axis=2), [64, 80], outputs=2, axis=1)
    anchors, strides = (np.concatenate(one, 1).astype(np.float32) for one in (anchors, strides))
    x = b.op("Transpose", b.op("Reshape", boxes, np.array([1, 4, 16, anchors.shape[1]])), perm=[0, 2, 1, 3])
    x = b.op("Conv", b.op("Softmax", x, axis=1), np.arange(16, dtype=np.float32).reshape(1, 16, 1, 1))
    x = b.op("Reshape", x, np.array([1, 4, anchors.shape[1]]))
    first = b.op("Slice", x, [0], [2], [1])
    last = b.op("Slice", x, [2], [4], [1])
    first, last = b.op("Sub", anchors[None], first), b.op("Add", last, anchors[None])
    x = b.op("Concat", b.op("Div", b.op("Add", first, last), 2.0), b.op("Sub", last, first), axis=1)
    x, classes = b.op("Mul", x, strides), b.op("Sigmoid", classes)
    outputs = {b.op("Concat", x, classes, axis=1): F32}
    if selects:
        best = b.op("ReduceMax", classes, axes=[1], keepdims=0)
        _, at = b.op("TopK", best, np.array([20]), outputs=2, axis=1)  # few, so that none are as good as equal
        at = b.op("Squeeze", at, [0])
        corners = b.op("Gather", b.op("Transpose", x, perm=[0, 2, 1]), at, axis=1)
        scores = b.op("Gather", classes, at, axis=2)
        chosen = b.op(
            "NonMaxSuppression", corners, scores, np.array([20]), np.array([0.5], np.float32), center_point_box=1
        )
        outputs = {corners: F32, scores: F32, chosen: I64}
    return b.model(outputs), {"images": b.random.random((1, 3, side, side), np.float32)}


# --- texts --------------------------------------------------------------------------------------------------------------


def linear(b, x, out, into, scale=None):
    return b.op("Add", b.weight(out, scale=0.05), b.op("MatMul", x, b.weight(into, out, scale=scale)))


def layer_norm(b, x, width, eps=1e-12):
    centred = b.op("Sub", x, b.op("ReduceMean", x, axes=[-1]))
    variance = b.op("ReduceMean", b.op("Pow", centred, 2.0), axes=[-1])
    x = b.op("Div", centred, b.op("Sqrt", b.op("Add", variance, eps)))
    return b.op("Add", b.op("Mul", x, b.weight(width, scale=0.1, mean=1)), b.weight(width, scale=0.1))


def gelu(b, x):
    return b.op("Mul", b.op("Mul", x, b.op("Add", b.op("Erf", b.op("Div", x, 1.4142135381698608)), 1.0)), 0.5)


def gelu_tanh(b, x):
    inner = b.op("Add", x, b.op("Mul", b.op("Pow", x, 3.0), 0.044714998453855515))
    inner = b.op("Add", b.op("Tanh", b.op("Mul", inner, 0.7978845834732056)), 1.0)
    return b.op("Mul", b.op("Mul", x, 0.5), inner)


def heads_of(b, x, like):
    """[batch, words, 768] in 12 heads."""
    shape = b.shape(b.size(like, 0), b.size(like, 1), 12, 64)
    return b.op("Transpose", b.op("Reshape", x, shape), perm=[0, 2, 1, 3])


def joined(b, x, like):
    x = b.op("Transpose", x, perm=[0, 2, 1, 3])
    return b.op("Reshape", x, b.shape(b.size(like, 0), b.size(like, 1), 768))


def encoder(b, x, mask, layers):
    """Layers of BERT: what is added to the scores is `mask`."""
    for _ in range(layers):
        q, k, v = (heads_of(b, linear(b, x, 768, 768), x) for _ in range(3))
        scores = b.op("Div", b.op("MatMul", q, b.op("Transpose", k, perm=[0, 1, 3, 2])), 8.0)
        found = b.op("MatMul", b.op("Softmax", b.op("Add", scores, mask), axis=-1), v)
        x = layer_norm(b, b.op("Add", linear(b, joined(b, found, x), 768, 768), x), 768)
        y = linear(b, gelu(b, linear(b, x, 3072, 768)), 768, 3072)
        x = layer_norm(b, b.op("Add", y, x), 768)
    return x


def mask_of(b, mask, width=F32):
    """(1 - mask) times the lowest float, for all heads and words."""
    wide = b.op("Unsqueeze", b.op("Unsqueeze", mask, [1]), [2])
    return b.op("Mul", b.op("Sub", 1.0, b.op("Cast", wide, to=width)), LOWEST)


def text_inputs(b, names):
    return [b.input(name, I64, ["batch", "words"]) for name in names]


def bert(layers):
    """BERT-base: position ids are sliced from a constant."""
    b = Builder(14)
    ids, mask, kinds = text_inputs(b, ("input_ids", "attention_mask", "token_type_ids"))
    x = b.op(
        "Add",
        b.op("Gather", b.weight(30522, 768, scale=0.05), ids),
        b.op("Gather", b.weight(2, 768, scale=0.05), kinds),
    )
    words = b.op("Unsqueeze", b.size(ids, 1), [0])
    places = b.op("Slice", np.arange(512)[None], [0], words, [1], [1])
    x = layer_norm(b, b.op("Add", x, b.op("Gather", b.weight(512, 768, scale=0.05), places)), 768)
    x = encoder(b, x, mask_of(b, mask), layers)
    first = b.op("Gather", x, np.array(0), axis=1)
    pooled = b.op("Tanh", b.op("Gemm", first, b.weight(768, 768), b.weight(768, scale=0.1), transB=1))
    feeds = {"input_ids": b.random.integers(0, 30522, (2, 64)), "attention_mask": np.ones((2, 64), np.int64),
             "token_type_ids": np.zeros((2, 64), np.int64)}  # fmt: skip
    feeds["attention_mask"][1, 40:] = 0
    return b.model({x: F32, pooled: F32}), feeds


def roberta(layers):
    """RoBERTa-base: position ids are counted from what is not padding; the mask is expanded and filled by Where."""
    b = Builder(14)
    ids, mask = text_inputs(b, ("input_ids", "attention_mask"))
    filled = b.op("Cast", b.op("Not", b.op("Equal", ids, np.array(1))), to=I32)
    places = b.op("Mul", b.op("Add", b.op("CumSum", filled, np.array(1)), np.array(0, np.int32)), filled)
    places = b.op("Add", b.op("Cast", places, to=I64), np.array(1))
    kinds = b.op("ConstantOfShape", b.op("Shape", ids), value=numpy_helper.from_array(np.array([0])))
    x = b.op(
        "Add",
        b.op("Gather", b.weight(50265, 768, scale=0.05), ids),
        b.op("Gather", b.weight(1, 768, scale=0.05), kinds),
    )
    x = layer_norm(b, b.op("Add", x, b.op("Gather", b.weight(514, 768, scale=0.05), places)), 768, 1e-5)
    wide = b.op("Unsqueeze", b.op("Unsqueeze", mask, [1]), [2])
    wide = b.op("Expand", wide, b.shape(b.size(ids, 0), 1, b.size(ids, 1), b.size(ids, 1)))
    inverted = b.op("Sub", 1.0, b.op("Cast", wide, to=F32))
    x = encoder(b, x, b.op("Where", b.op("Cast", inverted, to=BOOL), LOWEST, inverted), layers)
    feeds = {"input_ids": b.random.integers(4, 50265, (2, 64)), "attention_mask": np.ones((2, 64), np.int64)}
    feeds["attention_mask"][1, 40:], feeds["input_ids"][1, 40:] = 0, 1
    return b.model({x: F32}), feeds


def gpt2(layers, lowest):
    """GPT-2: `lowest` is what the causal mask fills with; with the lowest float there is an attention mask, too."""
    b = Builder(14)
    ids = b.input("input_ids", I64, ["batch", "words"])
    mask = mask_of(b, b.input("attention_mask", I64, ["batch", "words"])) if lowest == LOWEST else None
    places = b.op("Unsqueeze", b.op("Range", np.array(0), b.size(ids, 1), np.array(1)), [0])
    x = b.op(
        "Add",
        b.op("Gather", b.weight(50257, 768, scale=0.05), ids),
        b.op("Gather", b.weight(1024, 768, scale=0.05), places),
    )
    causal = np.tril(np.ones((1, 1, 1024, 1024), bool))

    def conv1d(x, out, into):
        shape = b.shape(b.size(x, 0), b.size(x, 1), out)
        flat = b.op("Reshape", x, np.array([-1, into]))
        return b.op("Reshape", b.op("Gemm", flat, b.weight(into, out), b.weight(out, scale=0.05)), shape)

    for _ in range(layers):
        y = layer_norm(b, x, 768, 1e-5)
        parts = b.op("Split", conv1d(y, 2304, 768), [768, 768, 768], outputs=3, axis=2)
        q, k, v = (heads_of(b, part, y) for part in parts)
        scores = b.op("MatMul", q, b.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = b.op("Div", scores, b.op("Sqrt", b.op("Cast", b.size(v, -1), to=F32)))
        words, before = b.size(k, -2), b.op("Sub", b.size(k, -2), b.size(q, -2))
        seen = b.op("Slice", causal, b.op("Unsqueeze", before, [0]), b.op("Unsqueeze", words, [0]), [2], [1])
        seen = b.op("Slice", seen, [0], b.op("Unsqueeze", words, [0]), [3], [1])
        scores = b.op("Where", seen, scores, lowest)
        if mask:
            scores = b.op("Add", scores, mask)
        found = joined(b, b.op("MatMul", b.op("Softmax", scores, axis=-1), v), y)
        x = b.op("Add", conv1d(found, 768, 768), x)
        y = gelu_tanh(b, conv1d(layer_norm(b, x, 768, 1e-5), 3072, 768))
        x = b.op("Add", x, conv1d(y, 768, 3072))
    logits = b.op("MatMul", layer_norm(b, x, 768, 1e-5), b.weight(768, 50257))
    feeds = {"input_ids": b.random.integers(0, 50257, (1, 64))}
    if mask:
        feeds["attention_mask"] = np.ones((1, 64), np.int64)
    return b.model({logits: F32}), feeds


# How each is made of a number of layers.
MODELS = {
    "ResNet-50": lambda layers: resnet(layers, norm=False),
    "ResNet-50, BatchNormalization": lambda layers: resnet(layers, norm=True),
    "MobileNetV3": mobilenet,
    "YOLOv8-s": lambda layers: yolo(layers, selects=False),
    "YOLOv8-s, NonMaxSuppression": lambda layers: yolo(layers, selects=True),
    "BERT-base": bert,
    "RoBERTa-base": roberta,
    "GPT-2, lowest float": lambda layers: gpt2(layers, LOWEST),
    "GPT-2, -inf": lambda layers: gpt2(layers, -np.inf),
}
