"""KServe's protocol by a client that many have: tritonclient, over the real program."""

import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import numpy
import pytest
import tritonclient.http as triton
from tritonclient.utils import InferenceServerException

SOURCE = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
PROGRAM = Path(os.environ["LATEBIND_TEST_BINARY_DIR"]) / "bin" / "latebind"
RUNTIME = SOURCE / "build" / "runtime"
MODEL = RUNTIME / "model" / "all-MiniLM-L6-v2"
GOLDEN = SOURCE / "tests" / "data" / "golden"

# Writes a network: y is the square root of x, and j twice k. By the interpreter that has the package for it.
NETWORK = """
import sys
import onnx
from onnx import TensorProto, helper
def value(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)
graph = helper.make_graph(
    [helper.make_node("Sqrt", ["x"], ["y"]), helper.make_node("Add", ["k", "k"], ["j"])], "two",
    [value("x", TensorProto.FLOAT, ["n", 2]), value("k", TensorProto.INT64, ["m"])],
    [value("y", TensorProto.FLOAT, ["n", 2]), value("j", TensorProto.INT64, ["m"])])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), sys.argv[1])
"""


@pytest.fixture(scope="module")
def client():
    with tempfile.TemporaryDirectory(prefix="latebind-triton-") as folder:
        network = Path(folder, "two.onnx")
        subprocess.run([RUNTIME / "oracle" / "bin" / "python", "-c", NETWORK, network], check=True)
        ready = Path(folder, "ready")
        command = [PROGRAM, "serve", "--model", MODEL, "--model", network, "--listen", "127.0.0.1:0", "--ready-file", ready]
        home = {"HOME": folder, "XDG_CACHE_HOME": folder, "XDG_CONFIG_HOME": folder}
        process = subprocess.Popen(list(map(str, command)), env=os.environ | home, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            until = time.monotonic() + 120
            while not ready.exists():
                assert process.poll() is None, process.returncode
                assert time.monotonic() < until, "the server does not become ready"
                time.sleep(0.05)
            address = ready.read_text().split()[0]
            with triton.InferenceServerClient(address.removeprefix("http://"), network_timeout=60) as made:
                yield made
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
        finally:
            process.kill()
            process.wait()


def texts_of(texts, shape, binary):
    given = triton.InferInput("text", shape, "BYTES")
    given.set_data_from_numpy(numpy.array(texts, dtype=object).reshape(shape), binary_data=binary)
    return given


def numbers_of(binary, x, k):
    first = triton.InferInput("x", x.shape, "FP32")
    first.set_data_from_numpy(x, binary_data=binary)
    second = triton.InferInput("k", k.shape, "INT64")
    second.set_data_from_numpy(k, binary_data=binary)
    return [first, second]


def test_the_server_and_its_models_are_described(client):
    assert client.is_server_live() and client.is_server_ready()
    assert client.is_model_ready(MODEL.name) and client.is_model_ready("two", "1")
    assert not client.is_model_ready("two", "2")
    assert client.get_server_metadata()["name"] == "latebind"
    metadata = client.get_model_metadata(MODEL.name)
    assert metadata["inputs"] == [{"name": "text", "datatype": "BYTES", "shape": [-1]}]
    assert metadata["outputs"] == [{"name": "embedding", "datatype": "FP32", "shape": [-1, 384]}]
    assert [one["name"] for one in client.get_model_repository_index()] == [MODEL.name, "two"]


@pytest.mark.parametrize("takes_binary", [False, True])
@pytest.mark.parametrize("gives_binary", [False, True])
def test_vectors_are_those_of_the_reference(client, takes_binary, gives_binary):
    golden = numpy.load(GOLDEN / "minilm.npy")
    texts = [json.loads(line)["text"] for line in (GOLDEN / "minilm.jsonl").read_text(encoding="utf-8").splitlines()]
    shape = [len(texts), 1] if takes_binary else [len(texts)]
    output = triton.InferRequestedOutput("embedding", binary_data=gives_binary)
    result = client.infer(MODEL.name, [texts_of(texts, shape, takes_binary)], outputs=[output])
    vectors = result.as_numpy("embedding")
    assert vectors.shape == golden.shape
    assert (vectors * golden).sum(axis=1).min() > 0.99999
    assert ("data" in result.get_output("embedding")) != gives_binary


@pytest.mark.parametrize("takes_binary", [False, True])
@pytest.mark.parametrize("gives_binary", [False, True])
def test_tensors_go_in_and_come_out(client, takes_binary, gives_binary):
    x = numpy.array([[1, 4], [9, 2], [0.25, 1e-20]], numpy.float32)
    k = numpy.array([-3, 1 << 60], numpy.int64)
    outputs = [triton.InferRequestedOutput(name, binary_data=gives_binary) for name in ("j", "y")]
    result = client.infer("two", numbers_of(takes_binary, x, k), outputs=outputs, request_id="seven")
    numpy.testing.assert_allclose(result.as_numpy("y"), numpy.sqrt(x), rtol=1e-6)
    numpy.testing.assert_array_equal(result.as_numpy("j"), k * 2)
    response = result.get_response()
    assert response["id"] == "seven" and [one["name"] for one in response["outputs"]] == ["j", "y"]


def test_without_outputs_all_come_in_binary(client):
    x = numpy.ones((1, 2), numpy.float32)
    result = client.infer("two", numbers_of(True, x, numpy.array([4], numpy.int64)))
    assert result.as_numpy("y").tolist() == [[1, 1]] and result.as_numpy("j").tolist() == [8]
    assert "data" not in result.get_output("y")


def test_numbers_that_json_cannot_hold_come_in_binary_only(client):
    inputs = numbers_of(True, numpy.array([[-1, 4]], numpy.float32), numpy.array([1], numpy.int64))
    assert numpy.isnan(client.infer("two", inputs).as_numpy("y")[0, 0])
    with pytest.raises(InferenceServerException, match="binary_data") as failure:
        client.infer("two", inputs, outputs=[triton.InferRequestedOutput("y", binary_data=False)])
    assert failure.value.status() == "400"


@pytest.mark.parametrize("algorithm", ["gzip", "deflate"])
def test_compressed_bodies_are_refused_in_words(client, algorithm):
    inputs = numbers_of(True, numpy.ones((1, 2), numpy.float32), numpy.array([1], numpy.int64))
    with pytest.raises(InferenceServerException) as failure:
        client.infer("two", inputs, request_compression_algorithm=algorithm)
    assert failure.value.status() == "415"


def test_mistakes_are_errors_in_words(client):
    with pytest.raises(InferenceServerException, match="no model is served as 'none'") as failure:
        client.infer("none", [texts_of(["a"], [1], True)])
    assert failure.value.status() == "404"
    with pytest.raises(InferenceServerException, match="'x' is missing"):
        client.infer("two", numbers_of(True, numpy.ones((1, 2), numpy.float32), numpy.array([1], numpy.int64))[1:])
    with pytest.raises(InferenceServerException, match="takes shape"):
        client.infer("two", numbers_of(True, numpy.ones((1, 3), numpy.float32), numpy.array([1], numpy.int64)))
    with pytest.raises(InferenceServerException, match="no output 'none'"):
        client.infer("two", numbers_of(True, numpy.ones((1, 2), numpy.float32), numpy.array([1], numpy.int64)),
                     outputs=[triton.InferRequestedOutput("none")])
    with pytest.raises(InferenceServerException, match=r"\[n,1\]"):
        client.infer(MODEL.name, [texts_of(["a", "b"], [1, 2], True)])


@pytest.mark.parametrize(("ask", "words"), [
    (lambda client: client.get_inference_statistics("two"), ["statistics", "/metrics"]),
    (lambda client: client.get_inference_statistics("two", "1"), ["statistics", "/metrics"]),
    (lambda client: client.get_inference_statistics(), ["statistics", "/metrics"]),
    (lambda client: client.get_model_config("two"), ["model configuration", "/v2/models/NAME"]),
    (lambda client: client.get_trace_settings("two"), ["traces", "--otlp-endpoint"]),
])
def test_what_only_triton_has_is_refused_with_what_there_is_instead(client, ask, words):
    with pytest.raises(InferenceServerException, match="this server has no .* in Triton's form") as error:
        ask(client)
    assert all(word in str(error.value) for word in words), error.value
