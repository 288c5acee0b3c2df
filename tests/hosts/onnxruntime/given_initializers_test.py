"""Initializers that the application gives to a session, with other values than the model's: as on the CPU provider."""

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import helper, numpy_helper
from provider_scene import attestations, floats, layers, model_of, rows, session_options

FEEDS = rows(3)


def wide(width):
    """More weights than are copied in any case."""
    random = np.random.default_rng(1)
    weights = [(random.standard_normal((width, width)) / np.sqrt(width)).astype(np.float32) for _ in range(2)]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Relu", ["a"], ["b"]), helper.make_node("MatMul", ["b", "v"], ["y"])]
    return model_of(nodes, [floats("x", "n", width)], [floats("y", "n", width)], list(zip("wv", weights, strict=True)))


def both(file, devices, give, options=None, feeds=FEEDS):
    """The results of the provider and of the host, each in a session to which `give` gives."""
    ours, theirs = session_options(devices, options), ort.SessionOptions()
    kept = [give(made) for made in (ours, theirs)]
    session = ort.InferenceSession(str(file), ours, enable_fallback=False)
    assert [answer["device"] for answer in attestations()] == ["openvino:CPU"]
    expected = ort.InferenceSession(str(file), theirs, providers=["CPUExecutionProvider"]).run(None, feeds)[0]
    got = session.run(None, feeds)[0]
    del kept
    return got, expected


def add_initializer(name, value):
    def give(options):
        made = ort.OrtValue.ortvalue_from_numpy(value)
        options.add_initializer(name, made)
        return made

    return give


def add_external(name, value):
    def give(options):
        made = ort.OrtValue.ortvalue_from_numpy(value)
        options.add_external_initializers([name], [made])
        return made

    return give


def add_file_in_memory(name, content):
    return lambda options: options.add_external_initializers_from_files_in_memory([name], [content], [len(content)])


def save(model, file, apart):
    onnx.save(model, file, save_as_external_data=apart, location="weights.bin", size_threshold=0)
    return file


@pytest.mark.parametrize("width", [16, 1536])
@pytest.mark.parametrize("way", ["initializer", "external", "file in memory"])
def test_given_values_are_computed_with(devices, tmp_path, way, width):
    model = layers() if width == 16 else wide(width)
    weights = numpy_helper.to_array(next(tensor for tensor in model.graph.initializer if tensor.name == "w"))
    file = save(model, tmp_path / "model.onnx", way != "initializer")
    # Which are not those that the cache has of the model.
    options = {"cache.folder": str(tmp_path / "cache")}
    feeds = rows(3, width)
    for value in (weights, weights * 2, -weights):
        if way == "file in memory":
            content = (tmp_path / "weights.bin").read_bytes()
            place = content.index(weights.tobytes())
            content = content[:place] + value.tobytes() + content[place + value.nbytes :]
            give = add_file_in_memory("weights.bin", content)
        else:
            give = (add_initializer if way == "initializer" else add_external)("w", value)
        got, expected = both(file, devices, give, options, feeds)
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)


def test_all_that_is_given_and_a_name_that_the_model_does_not_have(devices, tmp_path):
    file = save(layers(), tmp_path / "model.onnx", False)

    def give(options):
        ones = np.full((16, 4), 0.5, np.float32)
        return [add_initializer("w", ones)(options), add_initializer("c", -ones[0])(options), add_initializer("z", ones)(options)]

    got, expected = both(file, devices, give)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


def test_a_compiled_model_takes_them_as_the_model_does(devices, tmp_path):
    file = save(layers(), tmp_path / "model.onnx", False)
    options = session_options(devices)
    kept = add_initializer("w", np.full((16, 4), 0.5, np.float32))(options)
    compiled = tmp_path / "compiled.onnx"
    ort.ModelCompiler(options, str(file), embed_compiled_data_into_model=False).compile_to_file(str(compiled))
    del kept
    other = np.full((16, 4), -0.25, np.float32)
    (expected,) = [both(file, devices, add_initializer("w", other))[1]]
    ours = session_options(devices)
    kept = add_initializer("w", other)(ours)
    session = ort.InferenceSession(str(compiled), ours, enable_fallback=False)
    np.testing.assert_allclose(session.run(None, FEEDS)[0], expected, rtol=1e-5, atol=1e-5)
    # Given nothing, it has the model's own.
    plain = ort.InferenceSession(str(file), providers=["CPUExecutionProvider"]).run(None, FEEDS)[0]
    session = ort.InferenceSession(str(compiled), session_options(devices), enable_fallback=False)
    np.testing.assert_allclose(session.run(None, FEEDS)[0], plain, rtol=1e-5, atol=1e-5)
    del kept
