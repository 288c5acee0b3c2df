"""What the tests of the provider share: small models, sessions of them, and what the host's CPU provider computes."""

import ctypes
import json
import os

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

LIBRARY = os.environ["LATEBIND_TEST_PROVIDER"]
ort.set_default_logger_severity(4)


def attestations():
    function = ctypes.CDLL(LIBRARY).LatebindAttestations
    function.restype = ctypes.c_size_t
    text = ctypes.create_string_buffer(function(None, ctypes.c_size_t(0)) + 4096)
    function(text, ctypes.c_size_t(len(text)))
    return json.loads(text.value)


def session_options(devices, options=None, entries=None):
    made = ort.SessionOptions()
    made.add_provider_for_devices(devices, options or {})
    for key, value in (entries or {}).items():
        made.add_session_config_entry(key, str(value))
    return made


def load(model, devices, options=None, entries=None):
    source = model if isinstance(model, (str, bytes)) else model.SerializeToString()
    return ort.InferenceSession(source, session_options(devices, options, entries), enable_fallback=False)


def model_of(nodes, inputs, outputs, initializers=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(v, n) for n, v in initializers])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def floats(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def layers(width=16, activation="Relu"):
    weights = np.random.default_rng(1).standard_normal((width, 4)).astype(np.float32)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node(activation, ["a"], ["b"]),
        helper.make_node("Add", ["b", "c"], ["y"]),
    ]
    one = np.ones(4, np.float32)
    return model_of(nodes, [floats("x", "n", width)], [floats("y", "n", 4)], [("w", weights), ("c", one)])


def on_the_cpu(model, feeds):
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def rows(count, width=16):
    return {"x": np.random.default_rng(count).standard_normal((count, width)).astype(np.float32)}
