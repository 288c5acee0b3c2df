"""Numbers that a model has in another file are looked at as those in the model."""

import numpy as np
import onnx
import pytest
from latebind import Model
from latebind.errors import LatebindError
from onnx import TensorProto, helper, numpy_helper


def save(folder, number):
    """y = table[at], with a table of int64 in a file beside the model."""
    folder.mkdir()
    table = numpy_helper.from_array(np.array([number, 7], np.int64), "table")
    ports = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name, shape in (("at", [1]), ("y", [1]))]
    graph = helper.make_graph([helper.make_node("Gather", ["table", "at"], ["y"])], "g", ports[:1], ports[1:], [table])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / "model.onnx", save_as_external_data=True, location="model.onnx_data", size_threshold=0)
    return folder / "model.onnx"


@pytest.mark.parametrize("number", [5, 2**40])
def test_a_constant_beyond_32_bits_is_not_cut(number, tmp_path):
    file = save(tmp_path / "model", number)
    at = {"at": np.array([0], np.int64)}
    if number == 5:
        np.testing.assert_array_equal(Model(file, device="openvino:CPU", threads=1, cache=False).run(at)["y"], [number])
        return
    with pytest.raises(LatebindError, match="Gather is computed differently from ONNX"):
        Model(file, device="openvino:CPU", threads=1, cache=False)
