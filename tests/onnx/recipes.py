"""Models of one operator, or of a few that a runtime may fuse, for every element type: the shapes and attributes that the sweep tries.

A Recipe is a model without numbers: `values` are the inputs whose numbers the sweep chooses, `fixed` are those whose numbers the
operator's meaning dictates (axes, indices, shapes).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, defs, helper, numpy_helper

from values import FLOATS, INTEGERS, TYPES

OPSET = 21
ONNX_TYPES = {name: helper.np_dtype_to_tensor_dtype(dtype) for name, dtype in TYPES.items()}
_NAME_IN_SCHEMA = {
    "f32": "float", "f16": "float16", "bf16": "bfloat16", "f64": "double", "i8": "int8", "u8": "uint8", "i16": "int16",
    "u16": "uint16", "i32": "int32", "u32": "uint32", "i64": "int64", "u64": "uint64", "bool": "bool",
}  # fmt: skip

N = 240  # numbers of an elementwise input: every number of a kind beside every other
V, W = "x", "y"


@dataclass(frozen=True)
class Recipe:
    """`op` is what a finding is about; `label` tells its recipes apart."""

    op: str
    label: str
    types: dict[str, str]  # input -> element type
    shapes: dict[str, tuple[int, ...]]
    nodes: tuple[onnx.NodeProto, ...]
    fixed: dict[str, np.ndarray] = field(default_factory=dict)
    outputs: tuple[str, ...] = ("z",)
    # Numbers that a value input must not have: what ONNX leaves undefined. "zero", "negative", "out of range: TYPE"
    avoid: dict[str, tuple[str, ...]] = field(default_factory=dict)
    is_error: bool = False  # ONNX defines no result
    opset: int = OPSET
    is_dynamic: bool = False  # the sizes of the inputs are known in a run only

    @property
    def name(self) -> str:
        return f"{self.op} {self.label} {','.join(self.types.values())}".replace("  ", " ")

    @property
    def attributes(self) -> dict[str, str]:
        """Those of the operator that it is about which are integers or texts, and `odd`: its inputs that are odd constants."""
        node = next(node for node in self.nodes if node.op_type == self.op)
        values = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        found = {name: value.decode() if isinstance(value, bytes) else str(value) for name, value in values.items() if isinstance(value, (bytes, int))}
        odd = [str(i) for i, name in enumerate(node.input) if self.op == "QuantizeLinear" and name in self.fixed and self.fixed[name].size == 1 and self.fixed[name].item() % 2 == 1]
        return found | ({"odd": ",".join(odd)} if odd else {})

    def model(self, constant: frozenset[str] = frozenset(), numbers: dict[str, np.ndarray] | None = None) -> onnx.ModelProto:
        """`constant`: value inputs that are initializers, with these numbers."""
        inputs = []
        initializers = []
        for name, array in self.fixed.items():
            if name.startswith("run_"):
                inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
            else:
                initializers.append(numpy_helper.from_array(array, name))
        for name, kind in self.types.items():
            if name in constant:
                initializers.append(numpy_helper.from_array(numbers[name], name))
            else:
                shape = [f"{name}{i}" for i, _ in enumerate(self.shapes[name])] if self.is_dynamic else self.shapes[name]
                inputs.append(helper.make_tensor_value_info(name, ONNX_TYPES[kind], shape))
        outputs = [onnx.ValueInfoProto(name=name) for name in self.outputs]
        graph = helper.make_graph(list(self.nodes), "sweep", inputs, outputs, initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)
        return onnx.shape_inference.infer_shapes(model)


def types_of(op: str, place: int = 0) -> list[str]:
    """The element types that an input of an operator may have."""
    schema = defs.get_schema(op, OPSET, "")
    formal = schema.inputs[min(place, len(schema.inputs) - 1)]
    allowed = set(formal.types)
    return [name for name, text in _NAME_IN_SCHEMA.items() if f"tensor({text})" in allowed]


def one(op: str, label: str, types: dict[str, str], shapes: dict[str, tuple[int, ...]], attrs: dict | None = None, **more) -> Recipe:
    fixed = more.pop("fixed", {})
    order = more.pop("order", [*types, *fixed])
    outputs = more.get("outputs", ("z",))
    node = helper.make_node(op, order, list(outputs), **(attrs or {}))
    return Recipe(op, label, types, shapes, (node,), fixed, **more)


UNARY = {
    "Abs": {}, "Acos": {}, "Acosh": {}, "Asin": {}, "Asinh": {}, "Atan": {}, "Atanh": {}, "BitwiseNot": {}, "Ceil": {},
    "Celu": {"alpha": 0.5}, "Cos": {}, "Cosh": {}, "Elu": {"alpha": 0.5}, "Erf": {}, "Exp": {}, "Floor": {}, "Gelu": {},
    "HardSigmoid": {"alpha": 0.3}, "HardSwish": {}, "Identity": {}, "IsInf": {}, "IsNaN": {}, "LeakyRelu": {"alpha": 0.2},
    "Log": {}, "Mish": {}, "Neg": {}, "Not": {}, "Reciprocal": {}, "Relu": {}, "Round": {}, "Selu": {},
    "Shrink": {"lambd": 0.5, "bias": 0.25}, "Sigmoid": {}, "Sign": {}, "Sin": {}, "Sinh": {}, "Softplus": {}, "Softsign": {},
    "Sqrt": {}, "Tan": {}, "Tanh": {}, "ThresholdedRelu": {"alpha": 1.0},
}  # fmt: skip
BINARY = {
    "Add": {}, "And": {}, "BitwiseAnd": {}, "BitwiseOr": {}, "BitwiseXor": {}, "Div": {}, "Equal": {}, "Greater": {},
    "GreaterOrEqual": {}, "Less": {}, "LessOrEqual": {}, "Mod": {}, "Mul": {}, "Or": {}, "PRelu": {}, "Sub": {}, "Xor": {},
}  # fmt: skip
REDUCE = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")


def i64(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def elementwise() -> Iterator[Recipe]:
    for op, attrs in UNARY.items():
        for t in types_of(op):
            yield one(op, "", {V: t}, {V: (N,)}, attrs)
    yield one("IsInf", "positive", {V: "f32"}, {V: (N,)}, {"detect_negative": 0})
    yield one("Gelu", "tanh", {V: "f32"}, {V: (N,)}, {"approximate": "tanh"})
    for op, attrs in BINARY.items():
        for t in types_of(op):
            avoid = {W: ("zero", "minus one")} if op in ("Div", "Mod") and t in INTEGERS else {}
            extra = {"fmod": 1} if op == "Mod" and t in FLOATS else attrs
            yield one(op, "", {V: t, W: t}, {V: (N,), W: (N,)}, extra, avoid=avoid)
            if op == "Mod" and t in INTEGERS:
                yield one(op, "fmod", {V: t, W: t}, {V: (N,), W: (N,)}, {"fmod": 1}, avoid=avoid)
            yield one(op, "scalar", {V: t, W: t}, {V: (N,), W: ()}, extra, avoid=avoid)
    for t in types_of("Pow"):
        yield one("Pow", "", {V: t, W: t}, {V: (N,), W: (N,)}, avoid={W: ("negative",)} if t in INTEGERS else {})
        if t != "f32":
            yield one("Pow", "f32", {V: t}, {V: (N,)}, fixed={W: np.array([2.0], np.float32)})
        yield one("Pow", "square", {V: t}, {V: (N,)}, fixed={W: np.array([2]).astype(TYPES[t])})
    for t in types_of("BitShift"):
        for direction in ("LEFT", "RIGHT"):
            yield one("BitShift", direction, {V: t}, {V: (8,)}, {"direction": direction}, fixed={W: np.array([1, 2, 3, 7, 1, 5, 0, 4]).astype(TYPES[t])})
    for op in ("Max", "Min", "Sum", "Mean"):
        for t in types_of(op):
            yield one(op, "", {V: t, W: t}, {V: (N,), W: (N,)})
            yield one(op, "three", {V: t, W: t, "v": t}, {V: (N,), W: (N,), "v": (N,)})
    for t in types_of("Clip"):
        low, high = np.array(1).astype(TYPES[t]), np.array(3).astype(TYPES[t])
        yield one("Clip", "const", {V: t}, {V: (N,)}, fixed={"low": low, "high": high})
        yield one("Clip", "run", {V: t, "low": t, "high": t}, {V: (N,), "low": (), "high": ()}, avoid={"low": ("order",)})
        yield one("Clip", "low", {V: t}, {V: (N,)}, fixed={"low": low})
        yield one("Clip", "high", {V: t}, {V: (N,)}, fixed={"high": high}, order=[V, "", "high"])
    for t in types_of("Where", 1):
        yield one("Where", "", {"c": "bool", V: t, W: t}, {"c": (N,), V: (N,), W: (N,)})
    for t in types_of("Cast"):
        for to in types_of("Cast"):
            yield one("Cast", f"to {to}", {V: t}, {V: (N,)}, {"to": ONNX_TYPES[to]}, avoid={V: (f"out of {to}",)})


def reductions() -> Iterator[Recipe]:
    for short in REDUCE:
        op = "Reduce" + short
        for t in types_of(op):
            yield one(op, "axis", {V: t}, {V: (6, 8)}, {"keepdims": 0}, fixed={"axes": i64(1)})
            yield one(op, "all", {V: t}, {V: (48,)}, {"keepdims": 1})
            if t in ("f32", "i32", "i64"):
                yield one(op, "first", {V: t}, {V: (8, 6)}, {"keepdims": 1}, fixed={"axes": i64(0)})
                yield one(op, "run axes", {V: t}, {V: (6, 8)}, {"keepdims": 1}, fixed={"run_axes": i64(-1)})
                yield one(op, "long", {V: t}, {V: (2, 600)}, {"keepdims": 0}, fixed={"axes": i64(1)})
                yield one(op, "empty", {V: t}, {V: (2, 0, 3)}, {"keepdims": 0}, fixed={"axes": i64(1)})
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        for t in types_of(op):
            yield one(op, "last", {V: t}, {V: (6, 8)}, {"axis": -1})
            yield one(op, "first", {V: t}, {V: (8, 6)}, {"axis": 0})
    for op in ("ArgMax", "ArgMin"):
        for t in types_of(op):
            for last in (0, 1):
                yield one(op, f"last={last}", {V: t}, {V: (6, 8)}, {"axis": 1, "keepdims": 0, "select_last_index": last})
    for t in types_of("TopK"):
        for largest in (0, 1):
            for is_sorted in (0, 1):
                if is_sorted:
                    yield one("TopK", f"largest={largest}", {V: t}, {V: (6, 8)}, {"axis": 1, "largest": largest}, fixed={"k": i64(5)}, outputs=("z", "at"))
        for length, k in ((64, 10), (300, 5), (1000, 100)):
            for largest in (0, 1):
                yield one("TopK", f"{k} of {length} largest={largest}", {V: t}, {V: (2, length)}, {"axis": -1, "largest": largest},
                          fixed={"k": i64(k)}, outputs=("z", "at"))  # fmt: skip
        yield one("TopK", "run k", {V: t}, {V: (6, 8)}, {"axis": 0}, fixed={"run_k": i64(3)}, outputs=("z", "at"))
        if t in ("f32", "i64"):
            yield one("TopK", "run k=0", {V: t}, {V: (6, 8)}, {"axis": 1}, fixed={"run_k": i64(0)}, outputs=("z", "at"))
    for t in types_of("CumSum"):
        for exclusive, reverse in ((0, 0), (1, 0), (0, 1), (1, 1)):
            yield one("CumSum", f"{exclusive}{reverse}", {V: t}, {V: (6, 8)}, {"exclusive": exclusive, "reverse": reverse}, fixed={"axis": np.array(1, np.int64)})
    for t in types_of("NonZero"):
        yield one("NonZero", "", {V: t}, {V: (6, 8)})
    for t in types_of("Unique"):
        yield one("Unique", "", {V: t}, {V: (24,)}, {"sorted": 1}, outputs=("z", "at", "back", "count"))


def movements() -> Iterator[Recipe]:
    moves = [
        ("Reshape", {}, {"to": i64(8, 6)}), ("Transpose", {"perm": [1, 0]}, {}), ("Expand", {}, {"to": i64(2, 6, 8)}),
        ("Flatten", {"axis": 0}, {}), ("Squeeze", {}, {}), ("Unsqueeze", {}, {"axes": i64(0)}), ("Tile", {}, {"by": i64(2, 1)}),
        ("Slice", {}, {"a": i64(1, 7), "b": i64(5, 1), "axes": i64(0, 1), "steps": i64(1, -2)}), ("Trilu", {"upper": 0}, {}),
        ("Gather", {"axis": 1}, {"at": i64(0, 3, -1)}), ("GatherElements", {"axis": 1}, {"at": np.array([[0, 7, -1]] * 6, np.int64)}),
        ("GatherND", {}, {"at": np.array([[0, 7], [5, -1]], np.int64)}), ("Pad", {"mode": "reflect"}, {"pads": i64(1, 2, 0, 3)}),
        ("Pad", {"mode": "edge"}, {"pads": i64(1, 2, 0, 3)}), ("Pad", {"mode": "constant"}, {"pads": i64(1, 2, 0, 3)}),
        ("Split", {"axis": 1}, {"sizes": i64(3, 5)}), ("Compress", {"axis": 1}, {"which": np.array([1, 0, 1, 1, 0, 0, 0, 1], bool)}),
        ("Shape", {}, {}), ("Size", {}, {}),
    ]  # fmt: skip
    for op, attrs, fixed in moves:
        for t in types_of(op):
            label = attrs.get("mode", "")
            outputs = ("z", "z2") if op == "Split" else ("z",)
            yield one(op, label, {V: t}, {V: (6, 8)}, attrs, fixed=fixed, outputs=outputs)
            if t in ("f32", "i64") and fixed and op not in ("Compress", "Split"):
                run = {f"run_{name}": array for name, array in fixed.items()}
                yield one(op, f"{label} run", {V: t}, {V: (6, 8)}, attrs, fixed=run, outputs=outputs)
    wrong = np.array([[0, 9, -9]] * 6, np.int64)
    for op, at, order in (
        ("Gather", i64(0, 9, -9), [V, "run_at"]), ("GatherElements", wrong, [V, "run_at"]), ("GatherND", i64(0, 9).reshape(1, 2), [V, "run_at"]),
    ):  # fmt: skip
        yield one(op, "outside", {V: "f32"}, {V: (6, 8)}, {} if op == "GatherND" else {"axis": 1}, fixed={"run_at": at}, order=order, is_error=True)
    for at in (i64(9, 1), i64(1, -9)):
        yield one("ScatterElements", f"outside {at[0]}", {V: "f32", W: "f32"}, {V: (6,), W: (2,)}, fixed={"run_at": at}, order=[V, "run_at", W], is_error=True)
    for t in types_of("Concat"):
        yield one("Concat", "", {V: t, W: t}, {V: (6, 8), W: (6, 3)}, {"axis": 1})
    for op in ("DepthToSpace", "SpaceToDepth"):
        for t in types_of(op):
            yield one(op, "", {V: t}, {V: (1, 4, 4, 3) if op == "DepthToSpace" else (1, 3, 4, 4)}, {"blocksize": 2})
    for t in types_of("ScatterElements"):
        for how in ("none", "add", "mul", "max", "min"):
            if t == "bool" and how != "none":
                continue
            yield one("ScatterElements", how, {V: t, W: t}, {V: (6, 8), W: (6, 3)}, {"axis": 1, "reduction": how},
                      fixed={"at": np.array([[1, 3, 5]] * 6, np.int64)}, order=[V, "at", W])  # fmt: skip
            yield one("ScatterElements", f"{how} twice", {V: t, W: t}, {V: (6, 8), W: (6, 3)}, {"axis": 1, "reduction": how},
                      fixed={"at": np.array([[1, 1, 5]] * 6, np.int64)}, order=[V, "at", W]) if how != "none" else one(
                          "ScatterElements", "negative", {V: t, W: t}, {V: (6, 8), W: (6, 3)}, {"axis": 1},
                          fixed={"at": np.array([[1, -1, 5]] * 6, np.int64)}, order=[V, "at", W])  # fmt: skip
            yield one("ScatterND", how, {V: t, W: t}, {V: (6, 8), W: (2, 8)}, {"reduction": how},
                      fixed={"at": np.array([[1], [4]], np.int64)}, order=[V, "at", W])  # fmt: skip
    for t in types_of("OneHot", 2):
        yield one("OneHot", "", {V: t}, {V: (2,)}, fixed={"at": i64(0, 3, -1, 9), "depth": i64(5)}, order=["at", "depth", V])
    for t in types_of("OneHot", 0):
        yield one("OneHot", "indices", {V: t}, {V: (8,)}, fixed={"depth": i64(5), "v": np.array([0, 1], np.float32)}, order=[V, "depth", "v"])
    for t in types_of("Range"):
        yield one("Range", "", {}, {}, fixed={f"run_{n}": np.array(v).astype(TYPES[t]) for n, v in (("a", 3), ("b", 11), ("c", 2))})
        if t in ("i32", "i64"):
            yield one("Range", "beyond24", {}, {}, fixed={f"run_{n}": np.array(v).astype(TYPES[t]) for n, v in (("a", 2**24 - 1), ("b", 2**24 + 9), ("c", 3))})
    for t in types_of("EyeLike"):
        yield one("EyeLike", "", {V: t}, {V: (6, 8)}, {"k": 1})
    for t in types_of("ReverseSequence"):
        yield one("ReverseSequence", "", {V: t}, {V: (6, 8)}, {"batch_axis": 0, "time_axis": 1}, fixed={"lengths": i64(1, 2, 8, 4, 3, 5)})
    for t in ("f32", "i32", "i64"):
        yield one("ConstantOfShape", "", {}, {}, {"value": numpy_helper.from_array(np.array([2**24 + 1]).astype(TYPES[t]))}, fixed={"run_to": i64(2, 3)})
        yield one("ConstantOfShape", "empty", {}, {}, {"value": numpy_helper.from_array(np.array([3]).astype(TYPES[t]))}, fixed={"run_to": i64(2, 0)})


def products() -> Iterator[Recipe]:
    for t in types_of("MatMul"):
        yield one("MatMul", "", {V: t, W: t}, {V: (4, 8), W: (8, 3)})
        yield one("MatMul", "long", {V: t, W: t}, {V: (2, 600), W: (600, 2)})
        yield one("MatMul", "vector", {V: t, W: t}, {V: (8,), W: (8, 3)})
    for t in types_of("Gemm"):
        yield one("Gemm", "", {V: t, W: t, "c": t}, {V: (4, 8), W: (3, 8), "c": (3,)}, {"transB": 1})
    for t in types_of("MatMulInteger"):
        for u in types_of("MatMulInteger", 1):
            yield one("MatMulInteger", "", {V: t, W: u}, {V: (4, 8), W: (8, 3)})
            yield one("MatMulInteger", "vector", {V: t, W: u}, {V: (8,), W: (8, 3)})
            yield one("MatMulInteger", "long", {V: t, W: u}, {V: (2, 600), W: (600, 2)})
            yield one("MatMulInteger", "zero point", {V: t, W: u}, {V: (2, 600), W: (600, 2)},
                      fixed={"p": np.array(3, TYPES[t]), "q": np.array(5, TYPES[u])})  # fmt: skip
    for t in ("f32", "i32", "i64"):
        yield one("Einsum", "", {V: t, W: t}, {V: (4, 8), W: (8, 3)}, {"equation": "ij,jk->ik"})
    for t in types_of("Conv"):
        yield one("Conv", "", {V: t, W: t}, {V: (1, 2, 6, 6), W: (3, 2, 3, 3)}, {"pads": [1, 1, 1, 1]})
        yield one("ConvTranspose", "", {V: t, W: t}, {V: (1, 2, 4, 4), W: (2, 3, 3, 3)})
        for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
            yield one(op, "", {V: t}, {V: (1, 2, 4, 4)})
        yield one("AveragePool", "", {V: t}, {V: (1, 2, 6, 6)}, {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1})
        yield one("LpPool", "", {V: t}, {V: (1, 2, 6, 6)}, {"kernel_shape": [3, 3]})
        yield one("LRN", "", {V: t}, {V: (1, 6, 3, 3)}, {"size": 3})
        yield one("InstanceNormalization", "", {V: t, "s": t, "b": t}, {V: (1, 2, 4, 4), "s": (2,), "b": (2,)})
        yield one("LpNormalization", "", {V: t}, {V: (6, 8)}, {"axis": 1})
    for t in types_of("ConvInteger"):
        for u in types_of("ConvInteger", 1):
            yield one("ConvInteger", "", {V: t, W: u}, {V: (1, 40, 5, 5), W: (3, 40, 3, 3)})
    for t in types_of("MaxPool"):
        yield one("MaxPool", "", {V: t}, {V: (1, 2, 6, 6)}, {"kernel_shape": [3, 3]})
        yield one("MaxPool", "indices", {V: t}, {V: (1, 2, 6, 6)}, {"kernel_shape": [2, 2], "strides": [2, 2]}, outputs=("z", "at"))
    for op in ("LayerNormalization", "BatchNormalization", "GroupNormalization", "MeanVarianceNormalization"):
        for t in types_of(op):
            if op == "LayerNormalization":
                yield one(op, "", {V: t, "s": t}, {V: (6, 8), "s": (8,)}, {"axis": -1})
            elif op == "BatchNormalization":
                yield one(op, "", {V: t, "s": t, "b": t, "m": t, "v": t}, {V: (1, 2, 4, 4), "s": (2,), "b": (2,), "m": (2,), "v": (2,)},
                          avoid={"v": ("negative",)})  # fmt: skip
            elif op == "GroupNormalization":
                yield one(op, "", {V: t, "s": t, "b": t}, {V: (1, 4, 4, 4), "s": (4,), "b": (4,)}, {"num_groups": 2})
            else:
                yield one(op, "", {V: t}, {V: (1, 2, 4, 4)})


def quantized() -> Iterator[Recipe]:
    for t in types_of("QuantizeLinear"):
        if t not in ("f32", "f16"):
            continue
        for u in ("u8", "i8", "u16", "i16"):
            for point in (0, 3):
                fixed = {"s": np.array(0.5).astype(TYPES[t]), "p": np.array(point, TYPES[u])}
                yield one("QuantizeLinear", f"to {u} at {point}", {V: t}, {V: (N,)}, fixed=fixed, avoid={V: ("nan",)})
    for t in ("u8", "i8", "u16", "i16", "i32"):
        fixed = {"s": np.array(0.5, np.float32), "p": np.array(0 if t == "i32" else 3, TYPES[t])}
        yield one("DequantizeLinear", "", {V: t}, {V: (N,)}, fixed=fixed)
    yield one("DynamicQuantizeLinear", "", {V: "f32"}, {V: (N,)}, outputs=("z", "s", "p"), avoid={V: ("nan", "inf")})
    for t in ("u8", "i8"):
        point = np.array(3, TYPES[t])
        scale = np.array(0.05, np.float32)
        fixed = {"sa": scale, "pa": point, "sb": scale, "pb": point, "sc": np.array(1.0, np.float32), "pc": point}
        yield one("QLinearMatMul", "", {V: t, W: t}, {V: (4, 64), W: (64, 3)}, fixed=fixed, order=[V, "sa", "pa", W, "sb", "pb", "sc", "pc"])
        yield one("QLinearConv", "", {V: t, W: t}, {V: (1, 4, 5, 5), W: (3, 4, 3, 3)}, fixed=fixed, order=[V, "sa", "pa", W, "sb", "pb", "sc", "pc"])


def several() -> Iterator[Recipe]:
    """What a runtime may fuse: arithmetic before a Cast, a comparison before a Where, a reduction of a mask."""

    def graph(label: str, op: str, types: dict, shapes: dict, nodes: list, **more) -> Recipe:
        return Recipe(op, label, types, shapes, tuple(nodes), **more)

    node = helper.make_node
    for t in ("u8", "i8", "i16", "u16", "i32", "i64"):
        for op in ("Add", "Sub", "Mul"):
            for to in ("i32", "f32", "i64"):
                nodes = [node(op, [V, W], ["a"]), node("Cast", ["a"], ["z"], to=ONNX_TYPES[to])]
                yield graph(f"then Cast to {to}", op, {V: t, W: t}, {V: (N,), W: (N,)}, nodes)
    # What wraps around does so before the next node.
    for t in ("u8", "i8", "u16", "i16"):
        ones = np.array(1).astype(TYPES[t])
        for op, more, attrs in (
            ("BitwiseNot", (), {}), ("Neg", (), {}), ("Abs", (), {}), ("BitShift", ("c",), {"direction": "LEFT"}), ("BitShift", ("c",), {"direction": "RIGHT"}),
        ):  # fmt: skip
            if t in types_of(op) and not (op == "Abs" and t[0] == "u"):
                nodes = [node(op, [V, *more], ["a"], **attrs), node("Cast", ["a"], ["z"], to=ONNX_TYPES["i32"])]
                label = f"{attrs.get('direction', '')} then Cast".strip()
                yield graph(label, op, {V: t}, {V: (N,)}, nodes, fixed={name: ones for name in more})
        for u in ("i32", "i64"):
            nodes = [node("Cast", [V], ["a"], to=ONNX_TYPES[t]), node("Cast", ["a"], ["z"], to=ONNX_TYPES[u])]
            yield graph(f"to {t} and back", "Cast", {V: u}, {V: (N,)}, nodes)
    for narrow in (TensorProto.INT4, TensorProto.UINT4):
        nodes = [node("Cast", [V], ["a"], to=narrow), node("Cast", ["a"], ["z"], to=ONNX_TYPES["i8"])]
        yield graph(f"to {TensorProto.DataType.Name(narrow)} and back", "Cast", {V: "i8"}, {V: (N,)}, nodes)
    for narrow in (TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E5M2):
        nodes = [node("Cast", [V], ["a"], to=narrow), node("Cast", ["a"], ["z"], to=ONNX_TYPES["f32"])]
        yield graph(f"to {TensorProto.DataType.Name(narrow)} and back", "Cast", {V: "f32"}, {V: (N,)}, nodes)
    for t in ("f32", "i32", "i64"):
        zero = np.array(0, TYPES[t])
        for op in ("Greater", "Less", "Equal", "GreaterOrEqual", "LessOrEqual"):
            nodes = [node(op, [V, W], ["a"]), node("Where", ["a", V, "c"], ["z"])]
            yield graph("then Where", op, {V: t, W: t}, {V: (N,), W: (N,)}, nodes, fixed={"c": zero})
            nodes = [node(op, [V, W], ["a"]), node("Cast", ["a"], ["b"], to=ONNX_TYPES["f32"]), node("Mul", ["b", "b"], ["c"]), node("ReduceSum", ["c"], ["z"])]
            yield graph("then Cast, Mul, ReduceSum", op, {V: t, W: t}, {V: (N,), W: (N,)}, nodes)
            nodes = [node(op, [V, W], ["a"]), node("Not", ["a"], ["z"])]
            yield graph("then Not", op, {V: t, W: t}, {V: (N,), W: (N,)}, nodes)
    for op in ("Relu", "Sigmoid", "Tanh", "Abs", "Exp", "Sqrt", "Softplus", "Elu", "HardSigmoid", "LeakyRelu"):
        nodes = [node("Add", [V, W], ["a"]), node(op, ["a"], ["z"])]
        yield graph("after Add", op, {V: "f32", W: "f32"}, {V: (N,), W: (N,)}, nodes)
        nodes = [node("MatMul", [V, W], ["a"]), node(op, ["a"], ["z"])]
        yield graph("after MatMul", op, {V: "f32", W: "f32"}, {V: (4, 8), W: (8, 3)}, nodes)
    nodes = [node("MatMul", [V, W], ["a"]), node("Softmax", ["a"], ["b"], axis=-1), node("MatMul", ["b", W], ["z"])]
    yield graph("between MatMul", "Softmax", {V: "f32", W: "f32"}, {V: (8, 8), W: (8, 8)}, nodes)
    nodes = [node("Add", [V, W], ["a"]), node("Softmax", ["a"], ["z"], axis=-1)]
    yield graph("after Add", "Softmax", {V: "f32", W: "f32"}, {V: (6, 8), W: (6, 8)}, nodes)


def forms() -> Iterator[Recipe]:
    """Inputs where others have constants, attributes that later versions have as inputs, sizes that only a run knows, and none at all."""
    for t in ("f32", "i32", "i8"):
        fill = np.array(3).astype(TYPES[t])
        yield one("Pad", "run value", {V: t}, {V: (6, 8)}, {"mode": "constant"}, fixed={"pads": i64(1, 2, 0, 3), "run_fill": fill})
    for short in REDUCE:
        if short != "Sum":
            yield one("Reduce" + short, "attribute", {V: "f32"}, {V: (4, 3, 2)}, {"axes": [-2], "keepdims": 0}, opset=13)
        yield one("Reduce" + short, "dynamic", {V: "f32"}, {V: (6, 8)}, {"keepdims": 0}, fixed={"axes": i64(1)}, is_dynamic=True)
    for op in (*BINARY, "Max", "Min"):
        for t in types_of(op):
            if t in ("f32", "i32", "u8", "i8", "bool"):
                avoid = {W: ("zero", "minus one")} if op in ("Div", "Mod") and t in INTEGERS else {}
                extra = {"fmod": 1} if op == "Mod" and t in FLOATS else {}
                yield one(op, "dynamic", {V: t, W: t}, {V: (N,), W: (N,)}, extra, avoid=avoid, is_dynamic=True)
    for op, far in (("ReduceMax", -np.inf), ("ReduceMin", np.inf)):
        yield one(op, "infinite", {}, {}, {"keepdims": 0}, fixed={"run_x": np.full((2, 3), far, np.float32), "axes": i64(1)})
    nothing = np.zeros(0, np.int64)
    yield one("Gather", "nothing", {V: "f32"}, {V: (6, 8)}, {"axis": 0}, fixed={"at": nothing})
    yield one("Gather", "constants", {}, {}, {"axis": 0}, fixed={V: i64(2**40, 7), "run_at": i64(0, 1)})
    yield one("Identity", "constant", {}, {}, fixed={V: i64(2**40, 7)})
    for t in ("i32", "i64", "f32"):
        yield one("Range", "none", {}, {}, fixed={f"run_{n}": np.array(v).astype(TYPES[t]) for n, v in (("a", 3), ("b", 1), ("c", 1))})
    yield one("Resize", "cubic without outside", {V: "f32"}, {V: (1, 1, 4, 4)}, {"mode": "cubic", "exclude_outside": 1, "cubic_coeff_a": -0.75},
              fixed={"sizes": i64(1, 1, 6, 6)}, order=[V, "", "", "sizes"])  # fmt: skip
    for mode in ("nearest", "linear"):
        yield one("Resize", mode, {V: "i32"}, {V: (1, 1, 4, 4)}, {"mode": mode}, fixed={"sizes": i64(1, 1, 8, 8)}, order=[V, "", "", "sizes"])
    for p in (1, 2):
        small = np.array([[3e-3, -4e-3], [1e-3, 1e-6]], np.float32)
        yield one("LpNormalization", f"small {p}", {}, {}, {"axis": -1, "p": p}, fixed={"run_x": small})
    for opset in (10, 11, 13):
        for op in ("Softmax", "LogSoftmax", "Hardmax"):
            yield one(op, f"default axis of {opset}", {V: "f32"}, {V: (2, 3, 4)}, opset=opset)
    for word in ("SAME_UPPER", "SAME_LOWER"):
        yield one("MaxPool", f"indices {word}", {V: "f32"}, {V: (1, 2, 5, 5)}, {"kernel_shape": [3, 2], "strides": [2, 2], "auto_pad": word}, outputs=("z", "at"))
        yield one("ConvTranspose", word, {V: "f32", W: "f32"}, {V: (1, 2, 5, 5), W: (2, 3, 2, 3)}, {"auto_pad": word}, is_dynamic=True)
    yield one("MaxPool", "indices by columns", {V: "f32"}, {V: (1, 2, 6, 6)}, {"kernel_shape": [2, 2], "storage_order": 1}, outputs=("z", "at"))
    grid = np.array([[[[-0.4, 0.3], [0.1, 0.9]]]], np.float32)
    yield one("GridSample", "", {V: "i32"}, {V: (1, 1, 4, 4)}, {"mode": "linear"}, fixed={"grid": grid})
    yield one("GridSample", "", {V: "f32"}, {V: (1, 1, 4, 4)}, {"mode": "linear"}, fixed={"grid": grid})
    yield one("Gemm", "fractions", {V: "i64", W: "i64"}, {V: (4, 8), W: (8, 3)}, {"alpha": 0.5})
    yield one("Gemm", "beta 0", {V: "f32", W: "f32", "c": "f32"}, {V: (4, 8), W: (8, 3), "c": (3,)}, {"beta": 0.0})
    for t in ("u8", "i8"):
        yield one("Unique", "axis", {V: t}, {V: (8, 2)}, {"axis": 0}, outputs=("z", "at", "back", "count"))
    for op, name in (("Selu", "alpha"), ("Selu", "gamma"), ("HardSigmoid", "alpha"), ("HardSigmoid", "beta"), ("LeakyRelu", "alpha"), ("Elu", "alpha"), ("ThresholdedRelu", "alpha")):
        yield one(op, f"{name} 0", {V: "f32"}, {V: (N,)}, {name: 0.0})
    yield one("NonZero", "scalar", {V: "f32"}, {V: ()})
    yield one("OneHot", "floats", {V: "f32"}, {V: (2,)}, fixed={"at": np.array([0, 3, 1], np.float32), "depth": i64(5)}, order=["at", "depth", V])
    for op, shapes in (("Conv", ((1, 2, 3, 3), (2, 2, 2, 2))), ("ConvTranspose", ((1, 2, 2, 2), (2, 2, 3, 3)))):
        # Its result is where the next run begins.
        fixed = {V: np.ones(shapes[0], np.float32), W: np.ones(shapes[1], np.float32)}
        yield one(op, "constants", {"b": "f32"}, {"b": (2,)}, fixed=fixed, order=[V, W, "b"])


def reviewed() -> Iterator[Recipe]:
    """What a generator of random models has found: results that change from run to run, ties, places that are not there."""
    node = helper.make_node

    def graph(label: str, op: str, types: dict, shapes: dict, nodes: list, **more) -> Recipe:
        return Recipe(op, label, types, shapes, tuple(nodes), **more)

    # Weights of few bits with a scale or zero point that a run gives: each run's result is where the next one begins.
    few = np.arange(-6, 6, dtype=np.int8).reshape(4, 3)
    rows, half, none = np.ones((2, 4), np.float32), np.array(0.5, np.float32), np.array(0, np.int8)
    for label, nodes, fixed in (
        ("run scale", [node("DequantizeLinear", [W, V], ["w"]), node("MatMul", ["run_x", "w"], ["z"])], {W: few, "run_x": rows}),
        ("run scale of a Conv", [node("DequantizeLinear", [W, V], ["w"]), node("Conv", ["run_x", "w"], ["z"])],
         {W: few.reshape(3, 4, 1, 1), "run_x": np.ones((1, 4, 2, 2), np.float32)}),
    ):  # fmt: skip
        yield graph(label, "DequantizeLinear", {V: "f32"}, {V: ()}, nodes, fixed=fixed)
    nodes = [node("DequantizeLinear", [W, "half", V], ["w"]), node("MatMul", ["run_x", "w"], ["z"])]
    yield graph("run zero point", "DequantizeLinear", {V: "i8"}, {V: ()}, nodes, fixed={W: few, "half": half, "run_x": rows})
    nodes = [node("Cast", [W], ["a"], to=ONNX_TYPES["f32"]), node("Mul", ["a", V], ["w"]), node("MatMul", ["run_x", "w"], ["z"])]
    yield graph("of weights of few bits", "Mul", {V: "f32"}, {V: ()}, nodes, fixed={W: few, "run_x": rows})
    nodes = [node("Cast", [W], ["a"], to=ONNX_TYPES["f32"]), node("Sub", ["a", "half"], ["b"]), node("Mul", ["b", V], ["w"]), node("MatMul", ["run_x", "w"], ["z"])]
    yield graph("of weights of few bits less a zero point", "Mul", {V: "f32"}, {V: ()}, nodes, fixed={W: few, "half": half, "run_x": rows})
    nodes = [node("Cast", [W], ["a"], to=ONNX_TYPES["f32"]), node("Sub", ["a", V], ["b"]), node("Mul", ["b", "half"], ["w"]), node("MatMul", ["run_x", "w"], ["z"])]
    yield graph("of weights of few bits before Mul", "Sub", {V: "f32"}, {V: ()}, nodes, fixed={W: few, "half": half, "run_x": rows})
    for op, weights, more in (("QLinearMatMul", few, np.ones((2, 4), np.int8)), ("QLinearConv", few.reshape(3, 4, 1, 1), np.ones((1, 4, 2, 2), np.int8))):
        fixed = {"run_x": more, "half": half, "none": none, W: weights}
        yield one(op, "run scale", {V: "f32"}, {V: ()}, fixed=fixed, order=["run_x", "half", "none", W, V, "none", "half", "none"])
        yield one(op, "run zero point", {V: "i8"}, {V: ()}, fixed=fixed, order=["run_x", "half", "none", W, "half", V, "half", "none"])
    # What a vendor computes of constants once, and writes over in each run.
    image, pairs = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4), i64(1, 0).reshape(2, 1)
    weights = {"w": np.ones((1, 1, 2), np.float32), "r": np.full((1, 1, 1), 0.5, np.float32)}
    floats, bits = np.array([[-2, 1.5], [0.25, 3]], np.float32), np.array([[5, 2], [3, 6]], np.uint8)
    for op, t, fixed, attrs in (
        ("AveragePool", "f32", {"i": image}, {"kernel_shape": [2, 2]}), ("LpPool", "f32", {"i": image}, {"kernel_shape": [2, 2]}),
        ("LRN", "f32", {"i": image}, {"size": 3}), ("Elu", "f32", {"i": floats}, {}), ("Selu", "f32", {"i": floats}, {}),
        ("HardSigmoid", "f32", {"i": floats}, {}), ("Softsign", "f32", {"i": floats}, {}),
        ("PRelu", "i32", {"i": floats.astype(np.int32), "s": np.array([2], np.int32)}, {}),
        ("CumSum", "i32", {"i": floats.astype(np.int32), "axis": np.array(0)}, {}),
        ("ReverseSequence", "f32", {"i": floats, "n": i64(1, 2)}, {}), ("GatherElements", "f32", {"i": floats, "at": i64(1, 0).reshape(1, 2)}, {}),
        ("GatherND", "f32", {"i": floats, "at": pairs}, {}), ("BitwiseNot", "u8", {"i": bits}, {}),
        ("BitwiseXor", "u8", {"i": bits, "j": bits[::-1]}, {}), ("Abs", "i8", {"i": bits.astype(np.int8)}, {}),
        ("Sign", "i8", {"i": bits.astype(np.int8)}, {}), ("Max", "i8", {"i": bits.astype(np.int8), "j": bits[::-1].astype(np.int8)}, {}),
        ("RNN", "f32", {"i": floats.reshape(2, 1, 2), **weights}, {"hidden_size": 1}),
        ("DequantizeLinear", "f32", {"i": bits.astype(np.int8), "half": half}, {}),
    ):  # fmt: skip
        nodes = [node(op, list(fixed), ["a"], **attrs), node("Mul", ["a", V], ["z"])]
        yield graph("of constants alone", op if op != "DequantizeLinear" else "Mul", {V: t}, {V: ()}, nodes, fixed=fixed)
    # Sizes that only a run knows.
    for axis in (0, -1):
        scales = np.array([0.5, 0.25, 1, 2], np.float32)
        yield one("QuantizeLinear", f"scales along {axis}", {V: "f32"}, {V: (4, 4)}, {"axis": axis}, fixed={"s": scales, "p": np.zeros(4, np.uint8)}, avoid={V: ("nan",)}, is_dynamic=True)
    yield one("AffineGrid", "corners of one", {V: "f32"}, {V: (2, 2, 3)}, {"align_corners": 1}, fixed={"size": i64(2, 1, 2, 1)})
    # OpenVINO prepares slices along axes that a run gives when it loads the model, from memory that nothing was written to.
    nodes = [node("Slice", ["run_x", "from", "to", "run_axes"], ["a"]), node("Reciprocal", [V], ["z"])]
    bounds = {"from": i64(0, 0, 1), "to": i64(9, 9, 3)}
    yield graph("along axes of a run", "Slice", {V: "f32"}, {V: (3, 24, 7, 9)}, nodes, fixed={"run_x": np.ones((2, 74, 6, 3), np.float32), "run_axes": i64(0, 1, 2), **bounds}, outputs=("a", "z"))
    yield one("OneHot", "of a scalar", {}, {}, fixed={"run_at": np.array(3), "depth": i64(5), "v": np.array([2, 1], np.float32)}, is_error=True)
    tiny = np.tile(np.array([0, 1e-40, 1, 0, -1e-42, 2], np.float32), 33)
    yield graph("of subnormal constants", "NonZero", {}, {}, [node("Reshape", [W, "run_shape"], ["a"]), node("NonZero", ["a"], ["z"])], fixed={W: tiny, "run_shape": i64(3, 66)})
    nodes = [node("SoftmaxCrossEntropyLoss", ["i", "at", "w"], ["z"], reduction="sum"), node("Mul", [V, "half"], ["w"])]
    fixed = {"i": np.array([[2, 3], [-1, 0.5]], np.float32), "at": i64(1, 0), "half": half}
    yield graph("of constants", "SoftmaxCrossEntropyLoss", {V: "f32"}, {V: (2,)}, nodes[::-1], fixed=fixed)
    nodes = [node("Mul", [V, "half"], ["w"]), node("NegativeLogLikelihoodLoss", ["i", "at", "w"], ["z"], reduction="sum")]
    yield graph("of constants", "NegativeLogLikelihoodLoss", {V: "f32"}, {V: (2,)}, nodes, fixed=fixed)
    # Reductions of nothing still take the magnitude, the square root of the square, or the logarithm.
    for op in ("ReduceL1", "ReduceL2", "ReduceLogSum"):
        for label, axes in (("no axes", {}), ("axes of no elements", {"run_axes": i64()})):
            yield one(op, f"{label} without effect", {}, {}, {"noop_with_empty_axes": 1}, fixed={"run_x": np.array([[-1, 2, 3]], np.float32)[:, 1 if op == "ReduceLogSum" else 0 :], **axes})
    # A vendor library may read beyond what is not there when it loads the model.
    nothing = np.zeros((5, 0), np.float32)
    yield one("Expand", "nothing", {}, {}, fixed={"run_x": nothing, "shape": i64(5, 0)})
    yield one("Expand", "to a scalar", {}, {}, fixed={"run_x": np.array(2, np.float32), "run_shape": i64()})
    nodes = [node("Shape", [V], ["sizes"]), node("ArgMax", ["sizes"], ["z"], axis=-1)]
    yield graph("of a scalar's sizes", "ArgMax", {V: "f32"}, {V: ()}, nodes, is_error=True)
    ties = np.array([np.arange(200) % 5, np.arange(200) % 7], np.float32)
    yield one("Hardmax", "ties", {}, {}, {"axis": 1}, fixed={"run_x": ties})
    yield one("MatMulInteger", "a zero point for each row", {}, {}, fixed={"run_x": np.full((3, 3), 9, np.uint8), "run_y": few.reshape(3, 4), "at": np.array([1, 2, 3], np.uint8)})
    for label, condition in (("nothing", [False, False]), ("outside", [False, False, True])):
        yield one("Compress", label, {V: "f32"}, {V: (2, 3)}, {"axis": 0}, fixed={"run_at" if label == "outside" else "at": np.array(condition)}, is_error=label == "outside")
    nodes = [helper.make_node("Constant", [], ["at"], value=numpy_helper.from_array(np.zeros((2, 0), np.int64))), node("Gather", [V, "at"], ["a"], axis=0), node("Abs", ["a"], ["z"])]
    yield graph("nothing of a Constant", "Gather", {V: "f32"}, {V: (6,)}, nodes)
    nodes = [node("ArgMax", ["run_x"], ["at"], axis=0), node("Gather", [V, "at"], ["z"], axis=0)]
    yield graph("ArgMax of another tensor", "Gather", {V: "f32"}, {V: (2,)}, nodes, fixed={"run_x": np.arange(5, dtype=np.float32)}, is_error=True)


def layers() -> Iterator[Recipe]:
    """Recurrent layers, alone and beside what takes the same numbers, and other layers of numbers that are not ordinary."""
    rng = np.random.default_rng(3)
    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        weights = {name: rng.standard_normal((1, 2 * gates, 2)).astype(np.float32) for name in ("w", "r")}
        others = {name: rng.standard_normal((1, 2, 2)).astype(np.float32) for name in ("u", "v")}
        layer = helper.make_node(op, [V, "w", "r"], ["z"], hidden_size=2)
        other = {letter: helper.make_node("RNN", [letter, "u", "v"], ["z2"], hidden_size=2) for letter in (V, "a")}
        beside = {
            "alone": [], "beside another": [other[V]], "beside a Transpose": [helper.make_node("Transpose", [V], ["z2"], perm=[1, 0, 2])],
            "beside another by a Squeeze": [helper.make_node("Unsqueeze", [V, "axes"], ["b"]), helper.make_node("Squeeze", ["b", "axes"], ["a"]), other["a"]],
        }  # fmt: skip
        for label, nodes in beside.items():
            fixed = weights | (others if nodes and nodes[-1].op_type == "RNN" else {}) | ({"axes": i64(1)} if len(nodes) > 1 else {})
            for is_dynamic in (False, True):
                yield Recipe(op, f"{label}{' dynamic' if is_dynamic else ''}", {V: "f32"}, {V: (3, 2, 2)}, (layer, *nodes), fixed,
                             ("z", "z2") if nodes else ("z",), is_dynamic=is_dynamic)  # fmt: skip
    # A reduction of several dimensions, and a shape of as many as are left.
    for op in ("ReduceSum", "ReduceMax", "ReduceMean"):
        for label, last, more in (("Flatten", helper.make_node("Flatten", ["a"], ["z"], axis=0), {}), ("Reshape", helper.make_node("Reshape", ["a", "to"], ["z"]), {"to": i64(-1, 1)})):
            nodes = (helper.make_node(op, [V, "axes"], ["a"], keepdims=0), last)
            for is_dynamic in (False, True):
                yield Recipe(label, f"after {op}{' dynamic' if is_dynamic else ''}", {V: "f32"}, {V: (5, 2, 3, 4)}, nodes, {"axes": i64(0, 1), **more}, is_dynamic=is_dynamic)
    yield one("LRN", "size 1", {V: "f32"}, {V: (1, 2, 3, 3)}, {"size": 1})
    yield one("Attention", "", {V: "f32", W: "f32", "v": "f32"}, {V: (1, 2, 3, 4), W: (1, 2, 3, 4), "v": (1, 2, 3, 4)}, {"scale": 0.5}, opset=23)
    for to in ("bool", "i64", "f32"):
        yield one("CastLike", f"to {to}", {V: "f32"}, {V: (N,)}, fixed={"like": np.array(1).astype(TYPES[to])}, avoid={V: (f"out of {to}",)})
    for t in ("i32", "i64"):
        values = {f"run_{name}": np.array(value).astype(TYPES[t]) for name, value in (("a", 3), ("b", 11), ("c", 0))}
        yield one("Range", "by 0", {}, {}, fixed=values, is_error=True)


def all_recipes() -> list[Recipe]:
    makers = (elementwise, reductions, movements, products, quantized, several, forms, reviewed, layers)
    return [recipe for maker in makers for recipe in maker()]


if __name__ == "__main__":
    found = all_recipes()
    print(len(found), len({recipe.op for recipe in found}), TensorProto.FLOAT)
