"""The conformance suite's models (tests/conformance) through the provider: as on the host's CPU provider."""

import os
import subprocess
from pathlib import Path

import node_tests
import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper

LIBRARY = os.environ["LATEBIND_TEST_PROVIDER"]
SUITE = Path(os.environ["LATEBIND_TEST_BINARY_DIR"]) / "bin/lb_conformance_tests"
# Numbers of f32 in bf16 or f16 are another test's.
SETTINGS = {"precision": "f32", "threads": "1"}


def feeds_of(model, size, seed):
    """Of the declared shapes, where a dimension that has no size is `size`."""
    random = np.random.default_rng(seed)
    feeds = {}
    given = {tensor.name for tensor in model.graph.initializer}
    for value in model.graph.input:
        if value.name in given:
            continue
        tensor = value.type.tensor_type
        shape = [dim.dim_value if dim.HasField("dim_value") else size for dim in tensor.shape.dim]
        kind = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        numbers = random.integers(0, 3, shape)
        if kind.kind not in "iub":
            numbers = numbers + random.random(shape)
        feeds[value.name] = np.asarray(numbers, dtype=kind)
    return feeds


def expectations(host, model):
    """[(feeds, what the host makes of them)] of those that it runs, and why it does not run the last other ones."""
    found, why = [], None
    for size in (3, 4, 2, 1):
        for seed in range(3):
            feeds = feeds_of(model, size, seed)
            try:
                found.append((feeds, host.run(None, feeds)))
            except Exception as error:
                why = error
        if found:
            break
    return found, why


def session(model, devices):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    if not devices:
        return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    options.add_provider_for_devices(devices, SETTINGS)
    return ort.InferenceSession(model, options, enable_fallback=False)


def test_they_are_equal(tmp_path):
    environment = os.environ | {"LATEBIND_CONFORMANCE_KEEP": str(tmp_path), "LATEBIND_CONFORMANCE_BACKENDS": "openvino"}
    done = subprocess.run([SUITE, "--gtest_brief=1"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    library, devices = node_tests.register(LIBRARY)
    outcomes = {"taken": 0, "left to the host": 0}
    refused, wrong, seen = [], [], set()
    for file in sorted(tmp_path.glob("*.onnx")):
        bytes_ = file.read_bytes()
        if bytes_ in seen or len(bytes_) > 1 << 24:
            continue
        seen.add(bytes_)
        model = onnx.load_from_string(bytes_)
        if len(model.graph.node) > 100:  # slow on purpose
            continue
        try:
            host = session(bytes_, None)
        except Exception as error:
            refused.append(f"{file.name}: {error}")
            continue
        expected, why = expectations(host, model)
        if not expected:
            refused.append(f"{file.name}: {why}")
            continue
        ours = session(bytes_, devices)
        is_taken = node_tests.attestations(library) != b"[]"
        outcomes["taken" if is_taken else "left to the host"] += 1
        for feeds, results in expected:
            for got, result in zip(ours.run(None, feeds), results):
                if difference := node_tests.equal(got, result):
                    wrong.append(f"{file.name}: {difference}")
        del ours, host
    print(outcomes, len(refused), "that the host refuses")
    assert not wrong, wrong
    assert outcomes["taken"] >= 20, (outcomes, refused)
    # These the host does not run on its own CPU: types that it has no kernel for or that Python cannot pass on, and numbers
    # that have to be more than random.
    assert len(refused) <= len(seen) // 4, refused
