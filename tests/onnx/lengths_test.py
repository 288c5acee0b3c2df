"""The lengths of a recurrent layer's sequences are obeyed, also where only a run knows how many sequences there are."""

import definition
import numpy as np
import onnx
import pytest
from latebind import Model
from latebind.errors import LatebindError
from onnx import TensorProto, helper, numpy_helper


@pytest.mark.parametrize(("op", "gates"), [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
def test_what_comes_after_a_sequences_end_is_left_out(op, gates, tmp_path):
    weights = {"w": np.full((1, 2 * gates, 1), 0.5, np.float32), "r": np.full((1, 2 * gates, 2), 0.25, np.float32)}
    nodes = [helper.make_node(op, ["x", "w", "r", "", "lengths"], ["y"], hidden_size=2)]
    ports = [("x", TensorProto.FLOAT, ["steps", "batch", 1]), ("lengths", TensorProto.INT32, ["batch"])]
    inputs = [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in ports]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["steps", 1, "batch", 2])]
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(v, n) for n, v in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "model.onnx")
    feeds = {"x": np.ones((3, 2, 1), np.float32), "lengths": np.array([3, 1], np.int32)}
    # The evaluator of package onnx does not look at lengths.
    (expected,) = definition.by_onnxruntime(model, [feeds])[0]
    try:
        got = Model(tmp_path / "model.onnx", device="openvino:CPU", strict=True, threads=1, cache=False).run(feeds)["y"]
    except LatebindError as error:
        assert f"does not compute model.onnx as ONNX defines it: {op}" in str(error)  # noqa: PT017
        return
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
