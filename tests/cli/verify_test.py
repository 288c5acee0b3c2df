"""latebind verify, warm --verify and serve --verify: whether a device computes what another one does."""

import json

import numpy
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support import BOTH_GONE, MODEL, OPENVINO_GONE, TINY, bad, good, run

OUTPUT_KEYS = {"name", "type", "agrees", "why", "elements", "absolute", "relative", "cosine", "nan", "nan_against",
               "non_finite_apart", "different"}


def save(path, nodes, inputs, outputs, constants=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(constants))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.fixture(scope="module")
def product(tmp_path_factory):
    """y = x w, for x of f32 [n, 8]."""
    value = helper.make_tensor_value_info
    weights = numpy.random.default_rng(0).standard_normal((8, 4)).astype(numpy.float32)
    return save(tmp_path_factory.mktemp("model") / "product.onnx", [helper.make_node("MatMul", ["x", "w"], ["y"])],
                [value("x", TensorProto.FLOAT, ["n", 8])], [value("y", TensorProto.FLOAT, ["n", 4])],
                [numpy_helper.from_array(weights, "w")])


@pytest.fixture(scope="module")
def tile(tmp_path_factory):
    """Tile, with its repeats as an input: OpenVINO 2026.4 gives numbers that it never wrote."""
    value = helper.make_tensor_value_info
    folder = tmp_path_factory.mktemp("tile")
    model = save(folder / "tile.onnx", [helper.make_node("Tile", ["x", "repeats"], ["y"])],
                 [value("x", TensorProto.FLOAT, [2, 3, 4, 5]), value("repeats", TensorProto.INT64, [4])],
                 [value("y", TensorProto.FLOAT, ["a", "b", "c", "d"])])
    numpy.save(folder / "x.npy", numpy.random.default_rng(0).random((2, 3, 4, 5), numpy.float32) + 1)
    numpy.save(folder / "repeats.npy", numpy.array([7, 6, 4, 2], numpy.int64))
    return model, ("--input", f"x={folder}/x.npy", "--input", f"repeats={folder}/repeats.npy")


def report(*arguments, code=0, **options):
    done = run("verify", "--json", *arguments, **options)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_devices_that_compute_the_same_agree(product):
    made = report(product, "--device", "openvino:CPU", "--against", "onnxruntime:CPU")
    assert set(made) == {"agrees", "verdict", "tested", "against", "bounds", "failure", "samples", "outputs"}
    assert made["agrees"] and made["failure"] == "" and made["bounds"]["cosine_least"] == 0.9999
    assert made["tested"]["device"] == "openvino:CPU" and made["against"]["device"] == "onnxruntime:CPU"
    assert len({str(sample["shapes"]) for sample in made["samples"]}) > 2, "several shapes, where a dimension is open"
    (output,) = made["outputs"]
    assert set(output) == OUTPUT_KEYS and output["agrees"] and output["elements"] > 0
    assert 0 <= output["relative"] < 1e-5 and output["cosine"] > 0.999999


def test_without_against_it_is_the_first_other_cpu_that_takes_the_model(product):
    assert report(product, "--device", "openvino:CPU")["against"]["device"] == "onnxruntime:CPU"
    assert report(product, "--device", "onnxruntime:CPU")["against"]["device"] == "openvino:CPU"
    assert report(TINY, "--device", "openvino:CPU")["against"]["device"] == "native:CPU"


def test_what_openvino_computes_wrongly_is_found(tile, tmp_path):
    model, inputs = tile
    # It is known, and refused, unless nothing is.
    refused = run("verify", model, *inputs, "--device", "openvino:CPU", "--against", "onnxruntime:CPU")
    assert refused.returncode == 1 and "is computed differently from ONNX by openvino" in refused.stderr
    (tmp_path / "none.tsv").write_text("")
    nothing = {"LATEBIND_OPENVINO_KNOWN_ERRORS": str(tmp_path / "none.tsv")}
    made = report(model, *inputs, "--device", "openvino:CPU", "--against", "onnxruntime:CPU", code=1, env=nothing)
    assert not made["agrees"] and not made["outputs"][0]["agrees"] and made["outputs"][0]["why"]
    text = run("verify", model, *inputs, "--device", "openvino:CPU", "--against", "onnxruntime:CPU", env=nothing)
    assert text.returncode == 1 and "They disagree: output 'y': " in text.stdout


@pytest.mark.parametrize("device", ["openvino:CPU", "onnxruntime:CPU", "native:CPU"])
def test_models_of_texts_are_compared_on_texts(device):
    made = report(MODEL, "--device", device)
    assert made["agrees"], made["verdict"]
    assert sum("sentences" in sample["name"] for sample in made["samples"]) >= 24
    assert all(sample["left_out"] == "" for sample in made["samples"])


@pytest.mark.parametrize("precision", ["bf16", "int8"])
def test_lower_precisions_have_wider_bounds(precision):
    done = run("verify", "--json", MODEL, "--device", "native:CPU", "--precision", precision, "--against", "onnxruntime:CPU")
    if not done.stdout:  # refused by name where the processor does not have it
        assert done.returncode == 1 and f"{precision} was requested" in done.stderr, done.stderr
        return
    made = json.loads(done.stdout)
    assert made["agrees"], made["verdict"]
    assert made["tested"]["precision"] == precision and made["against"]["precision"] == "f32"
    assert made["bounds"]["cosine_least"] < 0.9999
    assert made["outputs"][0]["relative"] > 1e-4, "that it is another precision shows"


def test_what_is_missing_is_said(product):
    said = bad(1, "verify", product, "--device", "onnxruntime:CPU", env=OPENVINO_GONE)
    assert "nothing to compare onnxruntime:CPU with" in said and "openvino" in said
    said = bad(1, "verify", product, "--device", "openvino:CPU", "--against", "onnxruntime:NPU")
    assert "available: onnxruntime:CPU" in said
    assert "with itself" in bad(1, "verify", product, "--device", "openvino:CPU", "--against", "openvino:CPU")
    assert "must be one device" in bad(2, "verify", product, "--against", "onnxruntime")
    assert "NAME=VALUE" in bad(2, "verify", product, "--input", "x")
    assert "unknown input 'z'" in bad(1, "verify", product, "--shape", "z=1x8")
    bad(1, "verify", "/nonexistent/model.onnx")
    bad(1, "verify", product, env=BOTH_GONE)


def test_shapes_may_be_given(product):
    made = report(product, "--device", "openvino:CPU", "--shape", "x=5x8")
    assert [sample["shapes"] for sample in made["samples"]] == [[[5, 8]]]
    assert made["outputs"][0]["elements"] == 20


def test_warm_verifies_and_keeps_the_verdict(tmp_path):
    command = ("warm", "--model", TINY, "--device", "openvino:CPU,onnxruntime:CPU", "--verify", "--json",
               "--cache-folder", tmp_path)
    devices = json.loads(good(*command).stdout)["devices"]
    assert [one["device"] for one in devices] == ["openvino:CPU", "onnxruntime:CPU"]
    for one in devices:
        assert one["ready"] and one["verification"].startswith("agrees with native:CPU: "), one
    entries = json.loads(good("cache", "list", "--json", "--cache-folder", tmp_path).stdout)["entries"]
    assert sum("compared with native:CPU" in entry["model"] for entry in entries) == 2
    # The second start reads it: nothing runs, and the native device is not loaded.
    done = good("-v", "embed", "--model", TINY, "--device", "openvino:CPU", "--verify", "--cache-folder", tmp_path,
                input="a man\n")
    assert "native" not in done.stderr, done.stderr


def test_a_verdict_is_damaged_like_any_entry(tmp_path):
    command = ("warm", "--model", TINY, "--device", "onnxruntime:CPU", "--verify", "--json", "--cache-folder", tmp_path)
    good(*command)
    (kept,) = [tmp_path / entry["file"] for entry in json.loads(
        good("cache", "list", "--json", "--cache-folder", tmp_path).stdout)["entries"] if "compared" in entry["model"]]
    kept.write_bytes(kept.read_bytes()[:-1] + b"!")
    (one,) = json.loads(good(*command).stdout)["devices"]
    assert one["verification"].startswith("agrees with native:CPU: ")
