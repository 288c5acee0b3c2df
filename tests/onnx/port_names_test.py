"""Inputs and outputs have the model's names on every device, also where a vendor leaves out the node that names them."""

import numpy as np
import onnx
import pytest
from latebind import Model
from onnx import TensorProto, helper

NODE = helper.make_node
MODELS = {
    # nodes, names of the inputs and of the outputs
    "an output behind a node that copies": ([NODE("Relu", ["x"], ["inside"]), NODE("Identity", ["inside"], ["z"])], "x", "z"),
    "two outputs of one tensor": (
        [NODE("Relu", ["x"], ["i"]), NODE("Identity", ["i"], ["b"]), NODE("Identity", ["i"], ["z"])], "x", "bz"),
    "an output that is an input": ([NODE("Relu", ["x"], ["y"])], "x", "yx"),
    "a sum of one": ([NODE("Sum", ["x"], ["a"])], "x", "a"),
    "an input that nothing uses": ([NODE("Relu", ["x"], ["y"])], "axz", "y"),
    "an output that is constant": (
        [NODE("Relu", ["x"], ["y"]), NODE("Constant", [], ["c"], value_floats=[0.0, 1.0, 2.0])], "x", "yc"),
    "a cast to the same type": ([NODE("Cast", ["x"], ["a"], to=TensorProto.FLOAT)], "x", "a"),
}


@pytest.mark.parametrize("device", ["openvino:CPU", "onnxruntime:CPU"])
@pytest.mark.parametrize("which", MODELS)
def test_the_names_are_the_models(which, device, tmp_path):
    nodes, inputs, outputs = MODELS[which]
    ports = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in names] for names in (inputs, outputs)]
    model = helper.make_model(
        helper.make_graph(nodes, "g", *ports), opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "model.onnx")
    given = {name: np.arange(3, dtype=np.float32) for name in inputs}
    for _ in range(2):  # compiled, and from the cache
        loaded = Model(tmp_path / "model.onnx", device=device, threads=1, cache=True, **{"cache.folder": tmp_path / "cache"})
        assert [port.name for port in loaded.inputs] == list(inputs)
        assert [port.name for port in loaded.outputs] == list(outputs)
        answer = loaded.run(given)
        assert list(answer) == list(outputs)
        for name in outputs:
            np.testing.assert_array_equal(answer[name], given["x"])
