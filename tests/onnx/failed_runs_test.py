"""A run that fails leaves nothing behind that a later one computes with."""

import numpy as np
import onnx
import pytest
from latebind import Model
from latebind.errors import LatebindError
from onnx import TensorProto, helper


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("device", ["openvino:CPU", "onnxruntime:CPU"])
def test_a_run_after_one_whose_shapes_do_not_go_together(device, threads, tmp_path):
    ports = [("x", ["m", "k"]), ("w", [1, "n"])]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ports]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["m", "n"])
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", inputs, [output])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "model.onnx")
    model = Model(tmp_path / "model.onnx", device=device, threads=threads, cache=False)
    x, w = np.array([[1], [2], [3]], np.float32), np.array([[1, 10]], np.float32)
    for _ in range(2):
        np.testing.assert_array_equal(model.run({"x": x, "w": w})["y"], x @ w)
        with pytest.raises(LatebindError):
            model.run({"x": np.ones((3, 2), np.float32), "w": w})
    np.testing.assert_array_equal(model.run({"x": x, "w": w})["y"], x @ w)
