"""docs/onnxruntime.md: its snippets run, one after the other, in one process."""

import os
import re
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper


def test_the_snippets_run(tmp_path, capsys):
    nodes = [
        helper.make_node("Abs", ["x"], ["a"]),
        helper.make_node("Sqrt", ["a"], ["b"]),
        helper.make_node("Add", ["b", "x"], ["y"]),
    ]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 16]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "model.onnx")
    text = (Path(os.environ["LATEBIND_TEST_SOURCE_DIR"]) / "docs/onnxruntime.md").read_text()
    snippets = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(snippets) == 3
    names = {
        "library": os.environ["LATEBIND_TEST_PROVIDER"],
        "model": model.SerializeToString(),
        "model_file": str(tmp_path / "model.onnx"),
        "compiled_file": str(tmp_path / "compiled.onnx"),
    }
    for snippet in snippets:
        exec(snippet, names)  # noqa: S102
    np.testing.assert_allclose(names["result"][0], 2)
    assert capsys.readouterr().out.strip() == "openvino:CPU"
