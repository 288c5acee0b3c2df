"""A run that fails leaves nothing behind that a later one computes with."""

import threading

import numpy as np
import onnx
import pytest
from latebind import Model
from latebind.errors import LatebindError
from onnx import TensorProto, helper


# With one thread, OpenVINO loses the error of a run in its own stream (docs/decisions/0178).
@pytest.mark.parametrize("properties", [{}, {"NUM_STREAMS": "1"}, {"NUM_STREAMS": "0"}, {"ENABLE_CPU_PINNING": "YES"}])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_after_one_whose_shapes_do_not_go_together(threads, properties, tmp_path):
    fails_and_runs("openvino:CPU", threads, properties, tmp_path)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_with_onnxruntime(threads, tmp_path):
    fails_and_runs("onnxruntime:CPU", threads, {}, tmp_path)


def fails_and_runs(device, threads, properties, folder):
    ports = [("x", ["m", "k"]), ("w", [1, "n"])]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ports]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["m", "n"])
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", inputs, [output])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "model.onnx")
    x, w = np.array([[1], [2], [3]], np.float32), np.array([[1, 10]], np.float32)
    for _ in range(2):  # compiled, then imported from the cache
        model = Model(folder / "model.onnx", device=device, threads=threads, property=properties, cache_folder=folder / "cache")
        for _ in range(2):
            np.testing.assert_array_equal(model.run({"x": x, "w": w})["y"], x @ w)
            with pytest.raises(LatebindError):
                model.run({"x": np.ones((3, 2), np.float32), "w": w})
        np.testing.assert_array_equal(model.run({"x": x, "w": w})["y"], x @ w)


# In one stream and in two, with several runs at once.
@pytest.mark.parametrize("settings", [{"threads": 1, "requests": 4}, {"threads": 2}, {"threads": 2, "hint": "throughput"}])
def test_runs_of_other_threads_are_answered_while_some_fail(settings, tmp_path):
    ports = [("x", ["n", "k"]), ("w", ["j", 4])]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ports]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Relu", ["a"], ["y"])]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 4])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "model.onnx")
    model = Model(tmp_path / "model.onnx", device="openvino:CPU,onnxruntime:CPU", cache=False, **settings)
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for number in range(40):
            x, w = rng.standard_normal((1 + number % 4, 8)).astype(np.float32), rng.standard_normal((8, 4)).astype(np.float32)
            if number % 4 == 1:
                x[0, 0] = np.nan  # for the next device
            fails = number % 4 == 2
            try:
                made = model.run({"x": x, "w": w[:3] if fails else w})["y"]
            except LatebindError as error:
                if not fails:
                    wrong.append(f"{seed}, {number}: {error}")
                continue
            if fails or not np.allclose(made, np.maximum(x @ w, 0), atol=1e-4, equal_nan=True):
                wrong.append(f"{seed}, {number}: {made}")

    callers = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong
