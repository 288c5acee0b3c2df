"""Numbers that OpenVINO computes otherwise: the next device answers as ONNX defines, and with `strict` they are an error that says why."""

import numpy as np
import onnx
import onnxruntime
import pytest
from latebind import Model
from latebind.errors import LatebindError
from onnx import TensorProto, helper, numpy_helper

BIG = np.array([16777217, 16777216, 5])
FAR = np.array([10**10, 1, 2])
HOLE = np.array([[1, np.nan, 3]], np.float32)
BYTES = [np.array([250, 3], np.uint8), np.array([10, 200], np.uint8)]
ZERO = np.array(0, np.float32)
node = helper.make_node
# (nodes of x, y and constants that make z; x and y; constants)
CASES = {
    **{op: ([node(op, ["x", "y"], ["z"])], [BIG, np.array([16777216, 16777217, 3])], {}) for op in ("Equal", "Greater", "Less", "Div", "Mod")},
    "Clip": ([node("Clip", ["x", "low"], ["z"])], [np.array([3])], {"low": np.array(16777217)}),
    "ReduceSum": ([node("ReduceSum", ["x"], ["z"])], [BIG], {}),
    "MatMulInteger": ([node("MatMulInteger", ["x", "y"], ["z"])], [np.full((1, 600), 255, np.uint8), np.full((600, 1), 255, np.uint8)], {}),
    "a count of ids": (
        [node("Equal", ["x", "pad"], ["a"]), node("Cast", ["a"], ["b"], to=1), node("Mul", ["b", "b"], ["c"]), node("ReduceSum", ["c"], ["z"])],
        [np.array([16777216] * 10 + [16777217])], {"pad": np.array(16777216)},
    ),
    "Where": ([node("Greater", ["x", "zero"], ["a"]), node("Where", ["a", "x", "zero"], ["z"])], [HOLE], {"zero": ZERO}),
    "Max": ([node("Max", ["x", "zero"], ["z"])], [HOLE], {"zero": ZERO}),
    **{op: ([node(op, ["x"], ["z"])], [HOLE], {}) for op in ("Relu", "Softmax")},
    **{f"{op} of bytes": ([node(op, ["x", "y"], ["a"]), node("Cast", ["a"], ["z"], to=6)], BYTES, {}) for op in ("Add", "Sub", "Mul")},
    "BitShift": ([node("BitShift", ["x", "y"], ["z"], direction="LEFT")], [np.array([200], np.uint8), np.array([1], np.uint8)], {}),
    "Cast": ([node("Cast", ["x"], ["z"], to=7)], [np.array([1e10], np.float32)], {}),
    "TopK": ([node("TopK", ["x", "k"], ["a", "z"])], [np.array([[1, 1, 1, 1, 0, 1]], np.float32)], {"k": np.array([3])}),
    "QuantizeLinear": ([node("QuantizeLinear", ["x", "s", "p"], ["z"])], [np.array([0.5, 1.5, 2.5], np.float32)], {"s": np.array(1, np.float32), "p": np.array(3, np.uint8)}),
    "Concat": ([node("Concat", ["x", "x"], ["z"], axis=0)], [FAR], {}),
    "Transpose": ([node("Transpose", ["x"], ["z"])], [FAR], {}),
    "TopK of none": ([node("TopK", ["x", "y"], ["a", "z"])], [np.array([[1, 2]], np.float32), np.array([0])], {}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_numbers_that_the_vendor_computes_otherwise(name, tmp_path):
    nodes, given, constants = CASES[name]
    feeds = dict(zip("xy", given))
    inputs = [helper.make_tensor_value_info(key, helper.np_dtype_to_tensor_dtype(one.dtype), one.shape) for key, one in feeds.items()]
    output = onnx.ValueInfoProto(name="z")
    graph = helper.make_graph(nodes, "g", inputs, [output], [numpy_helper.from_array(one, key) for key, one in constants.items()])
    model = onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
    file = tmp_path / "model.onnx"
    onnx.save(model, file)
    (wanted,) = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"]).run(None, feeds)
    made = Model(file, device="openvino:CPU,onnxruntime:CPU", precision="f32", threads=1, cache=False).run(feeds)["z"]
    np.testing.assert_array_equal(made, wanted)
    with pytest.raises(LatebindError, match="as ONNX defines it|computed differently from ONNX"):
        Model(file, device="openvino:CPU", strict=True, precision="f32", threads=1, cache=False).run(feeds)


def test_an_index_that_is_not_there_is_an_error(tmp_path):
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3]), helper.make_tensor_value_info("at", TensorProto.INT64, [2])]
    graph = helper.make_graph([node("Gather", ["x", "at"], ["z"])], "g", inputs, [helper.make_tensor_value_info("z", TensorProto.FLOAT, [2])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "model.onnx")
    model = Model(tmp_path / "model.onnx", device="openvino:CPU,onnxruntime:CPU", threads=1, cache=False)
    with pytest.raises(LatebindError, match="out of data bounds"):
        model.run({"x": np.arange(3, dtype=np.float32), "at": np.array([0, 7])})
