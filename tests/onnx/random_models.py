"""Random models of several nodes, with the numbers to give them: made of a seed, for random_graphs.py."""

from __future__ import annotations

import copy
import re
import warnings

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import random_layers  # noqa: F401  (adds its operators)
from random_operators import EXACT, FLOATS, MAKERS

warnings.filterwarnings("ignore")
np.seterr(all="ignore")
onnxruntime.set_default_logger_severity(4)

TYPES = {
    "f32": (TensorProto.FLOAT, np.float32), "f16": (TensorProto.FLOAT16, np.float16), "bf16": (TensorProto.BFLOAT16, ml_dtypes.bfloat16),
    "i8": (TensorProto.INT8, np.int8), "u8": (TensorProto.UINT8, np.uint8), "i16": (TensorProto.INT16, np.int16), "u16": (TensorProto.UINT16, np.uint16),
    "i32": (TensorProto.INT32, np.int32), "u32": (TensorProto.UINT32, np.uint32), "i64": (TensorProto.INT64, np.int64),
    "u64": (TensorProto.UINT64, np.uint64), "bool": (TensorProto.BOOL, np.bool_),
}  # fmt: skip
NAMES = {np.dtype(kind).name: name for name, (_, kind) in TYPES.items()}
SPECIAL = {
    "nan": [float("nan")], "inf": [float("inf")], "minus-inf": [-float("inf")], "zero": [0.0, -0.0], "large": [2.0**24 + 2, 3e9, -3e9],
    "huge": [3e38, -3e38], "subnormal": [1e-40],
}  # fmt: skip
WHOLE = {"limits": (0, 1, -1), "wrap": (2, 3), "beyond24": (), "beyond31": ()}
KINDS = ["plain"] * 8 + list(SPECIAL) + list(WHOLE)
# ONNX Runtime's CPU provider ends the process where these have a tensor without elements.
ENDS_AT_NOTHING = ("GRU", "InstanceNormalization", "LSTM", "RNN")


class Rejected(Exception):
    """A node that ONNX does not define for these inputs."""


def numbers(rng, name, shape, what, kind):
    """Numbers for a tensor. `what` says what they are for; `kind`, which special ones are among them."""
    dtype = np.dtype(TYPES[name][1])
    if isinstance(what, tuple):
        low = -what[1] if what[0] == "index" and rng.random() < 0.3 else 0
        low, high = (low, what[1]) if what[0] == "index" else (1, what[1] + 1)
        return rng.integers(low, max(high, low + 1), shape).astype(dtype)
    if name == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if name in FLOATS:
        made = rng.integers(-8, 9, shape) / rng.choice([1, 2, 4])
        if what in ("nonzero", "positive", "small"):
            made = np.abs(made) + 0.5
        if what == "unit":
            made = made / 9
        if kind in SPECIAL and not what:
            made = np.where(rng.random(shape) < 0.25, rng.choice(SPECIAL[kind], shape), made)
        if name == "f16":
            made = np.where(np.isfinite(made), np.clip(made, -2e4, 2e4), made)
        return made.astype(dtype)
    limits = np.iinfo(dtype)
    made = rng.integers(0 if limits.min == 0 else -6, 7, shape)
    if what in ("nonzero", "small"):
        made = np.abs(made) % 4 + 1
    made = made.astype(dtype)
    if kind in WHOLE and not what:
        pool = {"limits": [limits.min, limits.max], "wrap": [limits.max - 3, limits.max // 2 + 1], "beyond24": [2**24 + 1, 2**24 + 3],
                "beyond31": [2**31, 2**33 + 1]}[kind]  # fmt: skip
        pool = np.array([one for one in pool if one <= limits.max] or [3], dtype)
        made = np.where(rng.random(shape) < 0.3, rng.choice(pool, shape), made).astype(dtype)
    return made


def run_by_onnxruntime(model, feeds):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    if any(array.dtype.name == "bfloat16" for array in feeds.values()):
        raise TypeError("Python's side of ONNX Runtime has no bfloat16")
    return session.run(None, feeds)


def run_by_reference(model, feeds):
    return [np.asarray(one) for one in ReferenceEvaluator(model).run(None, feeds)]


class Builder:
    """A graph that grows by a node at a time, each of which is computed at once for the sizes of the next."""

    def __init__(self, seed, types=()):
        self.rng = np.random.default_rng(seed)
        self.seed = seed
        self.opset = int(self.rng.choice([13, 17, 18, 20, 22, 23, 24], p=[0.1, 0.25, 0.2, 0.15, 0.1, 0.15, 0.05]))
        self.kind = KINDS[int(self.rng.integers(len(KINDS)))]
        self.constants = float(self.rng.choice([0.0, 0.3, 0.7]))
        self.is_open = bool(self.chance(0.5))
        self.nodes, self.initializers, self.inputs = [], {}, {}
        self.arrays, self.exact, self.makers = {}, set(), {}
        # Most graphs are of few types: others have every node refused.
        mains = types or [None, "f32", "f32", "f32", "f16", "u8", "i8", "i64"]
        self.main = mains[int(self.rng.integers(len(mains)))]

    def chance(self, share):
        return self.rng.random() < share

    def name(self, letter):
        return f"{letter}{len(self.arrays)}"

    def type(self, name):
        return NAMES[self.arrays[name].dtype.name]

    def shape(self, name):
        return self.arrays[name].shape

    def onnx_type(self, kind):
        return TYPES[kind][0]

    def tensor(self, array, kind, name="t"):
        array = np.asarray(array, TYPES[kind][1])
        return helper.make_tensor(name, TYPES[kind][0], array.shape, array.tobytes(), raw=True)

    def some_shape(self, most=4):
        return tuple(int(size) for size in self.rng.integers(1, 5, int(self.rng.integers(most + 1))))

    def types_of(self, op):
        schema = onnx.defs.get_schema(op, self.opset)
        allowed = set()
        for constraint in schema.type_constraints:
            if schema.inputs and constraint.type_param_str == schema.inputs[0].type_str:
                allowed = {text[7:-1] for text in constraint.allowed_type_strs}
        names = {"float": "f32", "float16": "f16", "bfloat16": "bf16", "bool": "bool", **{f"{u}int{n}": f"{u[:1] or 'i'}{n}" for u in ("", "u") for n in (8, 16, 32, 64)}}
        kinds = [names[text] for text in allowed if text in names]
        return tuple(sorted(kinds)) or ("f32",)

    def goes_together(self, one, other):
        try:
            return np.broadcast_shapes(one, other) is not None
        except ValueError:
            return False

    def reject(self, why):
        raise Rejected(why)

    def keep(self, name, array, is_exact):
        self.arrays[name] = array
        if is_exact:
            self.exact.add(name)
        return name

    def constant(self, array, kind):
        name = self.name("c")
        array = np.asarray(array, TYPES[kind][1])
        if self.chance(0.3):
            self.nodes.append(helper.make_node("Constant", [], [name], value=self.tensor(array, kind)))
        else:
            self.initializers[name] = self.tensor(array, kind, name)
        return self.keep(name, array, True)

    def input(self, make, kind):
        name = self.name("x")
        array = make(self.rng, None)
        self.inputs[name], self.makers[name] = kind, make
        return self.keep(name, np.asarray(array, TYPES[kind][1]), True)

    def fresh(self, kind, shape, what=""):
        shape = tuple(int(size) for size in shape)
        same = [name for name in self.arrays if self.type(name) == kind and self.shape(name) == shape and (name in self.inputs or name[0] == "c")]
        if same and not what and self.chance(0.15):
            return str(self.rng.choice(same))
        if self.chance(self.constants):
            return self.constant(numbers(self.rng, kind, shape, what, self.kind), kind)
        return self.input(lambda rng, sizes: numbers(rng, kind, sizes if sizes is not None else shape, what, self.kind), kind)

    def fixed(self, array, kind, run=0.0):
        array = np.asarray(array, TYPES[kind][1])
        return self.input(lambda rng, sizes: array, kind) if self.chance(run) else self.constant(array, kind)

    def take(self, types, rank=None, fits=None, exact=False, otherwise=None):
        """The name of a tensor: mostly one that is there."""
        if self.main in types and self.chance(0.8):
            types = (self.main,)

        def suits(name):
            shape = self.shape(name)
            return (
                self.type(name) in types and (rank is None or len(shape) in rank) and (fits is None or fits(shape))
                and (not exact or name in self.exact or self.type(name) not in FLOATS) and (self.arrays[name].size > 0 or self.chance(0.3))
            )  # fmt: skip

        found = [name for name in self.arrays if suits(name)]
        if found and self.chance(0.8):
            made = [name for name in found if name[0] == "y"]
            return str(self.rng.choice(made if made and self.chance(0.8) else found))
        kind = str(self.rng.choice(types))
        for _ in range(20):
            shape = otherwise or self.some_shape()
            if (rank is None or len(shape) in rank) and (fits is None or fits(shape)):
                return self.fresh(kind, shape)
        raise Rejected("no shape")

    def node(self, op, inputs, outputs=1, **attributes):
        first = len(self.arrays)
        names = [f"y{first + i}" for i in range(outputs)]
        return self.add(helper.make_node(op, inputs, names, **attributes), [name for name in inputs if name])

    def add(self, node, inputs):
        feeds = {name: self.arrays[name] for name in inputs}
        results = self.computed(node, feeds)
        if sum(array.size for array in results) > 4096 or any(array.ndim > 5 for array in results) or any(array.dtype.name not in NAMES for array in results):
            raise Rejected("too large")
        self.nodes.append(node)
        follows = all(name in self.exact or self.type(name) not in FLOATS for name in inputs) and node.op_type in EXACT
        for name, array in zip(node.output, results):
            limit, grid = (1024, 256) if array.dtype == np.float32 else (64, 16)
            values = array.astype(np.float64) if NAMES[array.dtype.name] in FLOATS else np.zeros(1)
            values = values[np.isfinite(values) & (np.abs(values) < 1e8)]
            self.keep(name, array, follows and bool(np.all((values * grid) % 1 == 0) and np.all(np.abs(values) <= limit)))
        return list(node.output)

    def by_steps(self, feeds):
        """The results of all nodes, each computed alone."""
        known = {name: numpy_helper.to_array(tensor) for name, tensor in self.initializers.items()} | feeds
        for node in self.nodes:
            inner = [one for attribute in node.attribute if attribute.HasField("g") for one in attribute.g.node]
            needed = [name for one in [node, *inner] for name in one.input if name in known]
            known |= dict(zip(node.output, self.computed(node, {name: known[name] for name in needed})))
        return known

    def computed(self, node, feeds):
        values = {name: helper.make_tensor_value_info(name, TYPES[NAMES[array.dtype.name]][0], array.shape) for name, array in feeds.items()}
        outputs = [helper.make_tensor_value_info(name, 0, None) for name in node.output]
        for output in outputs:
            output.ClearField("type")
        graph = helper.make_graph([node], "one", list(values.values()), outputs)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)
        try:
            return [np.asarray(one) for one in run_by_onnxruntime(model, feeds)]
        except Exception as error:
            if not any(word in str(error) for word in ("NOT_IMPLEMENTED", "bfloat16", "not implemented", "Type Error")):
                raise Rejected(str(error)[:200]) from error
        try:
            made = run_by_reference(model, feeds)
            types = [one.type.tensor_type.elem_type for one in onnx.shape_inference.infer_shapes(model).graph.output]
        except Exception as error:
            raise Rejected(str(error)[:200]) from error
        if any(kind and NAMES.get(array.dtype.name) and kind != TYPES[NAMES[array.dtype.name]][0] for kind, array in zip(types, made)):
            raise Rejected("package onnx's evaluator makes another type")
        return made

    def branches(self, condition, x):
        """If: a node or two of the same tensor in each branch."""
        kind, graphs = self.type(x), []
        for letter in "ab":
            op = str(self.rng.choice(["Neg", "Abs", "Identity", "Mul", "Add"]))
            made = f"{letter}{len(self.arrays)}"
            constant = self.tensor(np.full(self.shape(x)[-1:], 2), kind, made + "c")
            inner = [helper.make_node("Constant", [], [made + "c"], value=constant)] if op in ("Mul", "Add") else []
            inner.append(helper.make_node(op, [x, made + "c"] if inner else [x], [made]))
            output = helper.make_tensor_value_info(made, TYPES[kind][0], [None] * len(self.shape(x)))
            graphs.append(helper.make_graph(inner, letter, [], [output]))
        names = [f"y{len(self.arrays)}"]
        node = helper.make_node("If", [condition], names, then_branch=graphs[0], else_branch=graphs[1])
        return self.add(node, [condition, x])


class RandomModel:
    """A model, and the numbers of each run. `operators` matches those that it is made of; `types` are those of most of its tensors."""

    def __init__(self, seed, operators="", types=()):
        b = Builder(seed, types)
        operators = [op for op in sorted(MAKERS) if re.search(operators, op)]
        count = int(b.rng.integers(3, 9))
        for _ in range(60):
            if len([node for node in b.nodes if node.op_type != "Constant"]) >= count:
                break
            marks = len(b.nodes), dict(b.initializers), dict(b.inputs), dict(b.arrays)
            op = operators[int(b.rng.integers(len(operators)))]
            try:
                onnx.defs.get_schema(op, b.opset)
                MAKERS[op](b)
            except (Rejected, onnx.defs.SchemaError):
                del b.nodes[marks[0] :]
                b.initializers, b.inputs, b.arrays = marks[1:]
                b.exact &= set(b.arrays)
        self.b = b
        used = {name for node in b.nodes for name in node.input} | {name for node in b.nodes if node.op_type == "If" for g in node.attribute for n in g.g.node for name in n.input}
        made = [name for node in b.nodes if node.op_type != "Constant" for name in node.output]
        last = [name for name in made if name not in used]
        self.outputs = [name for name in made if name in last or b.chance(0.15)]
        self.used = used
        self.open = {name: [b.is_open and size > 1 and b.chance(0.7) for size in b.shape(name)] for name in b.inputs}

    def part(self, places, known):
        """The model of some of the nodes: what the others make is given, or a constant where it comes from constants alone."""
        made = copy.copy(self)
        b = made.b = copy.copy(self.b)
        b.nodes = [self.b.nodes[place] for place in places]
        b.initializers, b.inputs, b.makers = dict(b.initializers), dict(b.inputs), dict(b.makers)
        fixed, own = set(b.initializers), {name for node in b.nodes for name in node.output}
        for node in self.b.nodes:
            is_fixed = all(name in fixed for name in node.input if name)
            fixed |= set(node.output) if is_fixed else set()
            for name in set(node.output) - own:
                kind = NAMES[known[name].dtype.name]
                if is_fixed:
                    b.initializers[name] = b.tensor(known[name], kind, name)
                else:
                    b.inputs[name] = kind
        b.arrays = dict(known)
        made.open = {name: self.open.get(name) or [b.is_open and size > 1 for size in known[name].shape] for name in b.inputs}
        inner = [one for node in b.nodes for attribute in node.attribute if attribute.HasField("g") for one in attribute.g.node]
        made.used = {name for node in [*b.nodes, *inner] for name in node.input}
        made.outputs = [name for name in self.outputs if name in own] or [name for name in own if name and name not in made.used]
        made.given = {name: known[name] for name in b.inputs if name in made.used}
        return made

    def model(self, outputs=None):
        b = self.b
        values = []
        for name, kind in b.inputs.items():
            if name not in self.used:
                continue
            shape = [f"s{size}" if is_open else size for size, is_open in zip(b.shape(name), self.open[name])]
            values.append(helper.make_tensor_value_info(name, TYPES[kind][0], shape))
        results = []
        for name in outputs or self.outputs:
            array = b.arrays[name]
            shape = [None] * array.ndim if b.is_open else list(array.shape)
            results.append(helper.make_tensor_value_info(name, TYPES[NAMES[array.dtype.name]][0], shape))
        tensors = [tensor for name, tensor in b.initializers.items() if name in self.used]
        graph = helper.make_graph(b.nodes, "random", values, results, tensors)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", b.opset)], ir_version=10)

    def runs(self):
        """[(what is special about them, the numbers)]: the first are those that the graph was made with."""
        b = self.b
        names = [name for name in b.inputs if name in self.used]
        found = [("first", {name: b.arrays[name] for name in names})]
        rng = np.random.default_rng(b.seed + 1_000_000)
        found.append(("other numbers", {name: np.asarray(b.makers[name](rng, None), b.arrays[name].dtype) for name in names}))
        sizes = sorted({size for name in names for size, is_open in zip(b.shape(name), self.open[name]) if is_open})
        if sizes:
            change = {size: int(rng.choice([0, 1, size + 1, size + 2])) for size in sizes if rng.random() < 0.6} or {sizes[0]: sizes[0] + 1}
            if any(node.op_type in ENDS_AT_NOTHING for node in b.nodes):
                change = {size: other or size + 3 for size, other in change.items()}
            feeds = {}
            for name in names:
                shape = tuple(change.get(size, size) if is_open else size for size, is_open in zip(b.shape(name), self.open[name]))
                feeds[name] = np.asarray(b.makers[name](rng, shape), b.arrays[name].dtype)
            found.append((f"other sizes {change}", feeds))
            found.append(("first again", found[0][1]))
        return found
