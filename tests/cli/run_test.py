"""latebind run: any ONNX or IR model, arrays in and out."""

import json

import numpy
import onnx
import pytest
from onnx import TensorProto, helper
from support import OPENVINO_GONE, bad, good

BACKENDS = ["openvino", "onnxruntime"]


def save(path, nodes, inputs, outputs):
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.fixture(scope="module")
def sum_model(tmp_path_factory):
    """sum = a + b and twice = a + a, for f32 of shape [n, 3]."""
    value = helper.make_tensor_value_info
    return save(
        tmp_path_factory.mktemp("model") / "sum.onnx",
        [helper.make_node("Add", ["a", "b"], ["sum"]), helper.make_node("Add", ["a", "a"], ["out/twice:0"])],
        [value("a", TensorProto.FLOAT, ["n", 3]), value("b", TensorProto.FLOAT, ["n", 3])],
        [value("sum", TensorProto.FLOAT, ["n", 3]), value("out/twice:0", TensorProto.FLOAT, ["n", 3])],
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_arrays_go_in_and_come_out(tmp_path, sum_model, backend):
    a = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
    b = numpy.full((2, 3), 0.5, numpy.float32)
    numpy.save(tmp_path / "a.npy", a)
    numpy.save(tmp_path / "b.npy", numpy.asfortranarray(b))
    done = good("run", "--model", sum_model, "--device", backend, "--input", f"a={tmp_path}/a.npy", "--input",
                f"b={tmp_path}/b.npy", "--output-dir", tmp_path / "out")
    assert backend + ":CPU" in done.stdout
    assert "sum  f32 [2,3]" in done.stdout and "load" in done.stdout and "p50" in done.stdout
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "out" / "sum.npy"), a + b)
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "out" / "out_twice_0.npy"), a + a)
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == ["out_twice_0.npy", "sum.npy"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_missing_inputs_are_random_and_repeatable(tmp_path, sum_model, backend):
    arrays = []
    for seed, folder in (("7", "x"), ("7", "y"), ("8", "z")):
        done = good("run", "--model", sum_model, "--device", backend, "--seed", seed, "--shape", "a=4x3", "--shape",
                    "b=4x3", "--output-dir", tmp_path / folder)
        assert f"random, seed {seed}" in done.stdout and "[4,3], chosen for [?,3]" in done.stdout
        arrays.append(numpy.load(tmp_path / folder / "sum.npy"))
    assert arrays[0].shape == (4, 3)
    numpy.testing.assert_array_equal(arrays[0], arrays[1])
    assert not numpy.array_equal(arrays[0], arrays[2])


def test_json_has_what_its_help_says(sum_model):
    report = json.loads(good("run", "--json", "--model", sum_model, "--repeat", "3").stdout)
    assert set(report) == {
        "model", "device", "backend", "device_full_name", "runtime_version", "precision", "fallback", "reason", "verification",
        "load_ms", "first_ms", "p50_ms", "repeat", "inputs", "outputs"}
    assert report["repeat"] == 3 and report["precision"] == "f32" and report["fallback"] is False
    assert report["inputs"][0] == {
        "name": "a", "type": "f32", "declared_shape": [-1, 3], "shape": [1, 3], "source": "random, seed 0"}
    assert [one["name"] for one in report["outputs"]] == ["sum", "out/twice:0"]
    assert report["outputs"][0]["file"] is None and report["outputs"][0]["shape"] == [1, 3]
    assert 0 < report["p50_ms"] and 0 < report["first_ms"] and 0 < report["load_ms"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "int64", "float16", "float32", "float64"])
def test_element_types_keep_their_values(tmp_path, backend, dtype):
    value = helper.make_tensor_value_info
    kind = helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype))
    model = save(
        tmp_path / "same.onnx", [helper.make_node("Transpose", ["x"], ["y"], perm=[1, 0])],
        [value("x", kind, [2, 3])], [value("y", kind, [3, 2])])
    x = numpy.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
    numpy.save(tmp_path / "x.npy", x)
    if backend == "openvino" and dtype == "float64":
        # It would be cut to single precision.
        said = bad(1, "run", "--model", model, "--device", backend, "--input", f"x={tmp_path}/x.npy")
        assert "Transpose is computed differently from ONNX by openvino" in said
        return
    good("run", "--model", model, "--device", backend, "--input", f"x={tmp_path}/x.npy", "--output-dir", tmp_path)
    y = numpy.load(tmp_path / "y.npy")
    assert y.dtype == x.dtype
    numpy.testing.assert_array_equal(y, x.T)


def test_ir_runs_on_openvino_and_is_refused_elsewhere(tmp_path, sum_model):
    openvino = pytest.importorskip("openvino")
    openvino.save_model(openvino.Core().read_model(sum_model), tmp_path / "sum.xml", compress_to_fp16=False)
    assert "openvino:CPU" in good("run", "--model", tmp_path / "sum.xml").stdout
    said = bad(1, "run", "--model", tmp_path / "sum.xml", "--device", "onnxruntime")
    assert "onnxruntime" in said


def test_wrong_arrays_are_refused_by_name(tmp_path, sum_model):
    for name, array in {"type": numpy.zeros((2, 3), numpy.int32), "shape": numpy.zeros((2, 4), numpy.float32),
                        "rank": numpy.zeros(3, numpy.float32)}.items():
        file = tmp_path / f"{name}.npy"
        numpy.save(file, array)
        assert "'a'" in bad(1, "run", "--model", sum_model, "--input", f"a={file}")
    (tmp_path / "cut.npy").write_bytes((tmp_path / "type.npy").read_bytes()[:-1])
    assert "cut.npy" in bad(1, "run", "--model", sum_model, "--input", f"a={tmp_path}/cut.npy")
    assert "none.npy" in bad(1, "run", "--model", sum_model, "--input", f"a={tmp_path}/none.npy")
    said = bad(1, "run", "--model", sum_model, "--shape", "c=1x3")
    assert "unknown input 'c'" in said and "known: a, b" in said


def test_outputs_are_not_left_half_written(tmp_path, sum_model):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    said = bad(1, "run", "--model", sum_model, "--output-dir", blocked)
    assert str(blocked) in said
    assert blocked.read_text() == "in the way"


def test_a_fallback_is_told(sum_model):
    done = good("run", "--model", sum_model, env=OPENVINO_GONE)
    assert sum("fallback" in line for line in done.stderr.splitlines()) == 1
    assert "onnxruntime:CPU" in done.stdout
