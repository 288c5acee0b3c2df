"""A model with many weights through the provider: what it takes of memory, beside OpenVINO alone.

usage: large_model.py LIBRARY [--mib N] [--inline]

Makes a model of matrix products with N MiB of weights (default 320) in a file beside it, or, with --inline, within the
model; runs it in a process of its own on ONNX Runtime's CPU, in OpenVINO alone, through the provider, and from a
compiled model that the provider writes. Prints for each the time to load and the most memory that the process had
(memory of its own, and mapped files), and exits with 1 when an answer is wrong or the provider did not take the model.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH = 2048  # 16 MiB a matrix
MOST_COMPILED = 1984  # MiB: more are not in a compiled model

RUN = """
import ctypes, json, sys, threading, time
import numpy as np
kind, library, model, compiled = sys.argv[1:]
most = {"RssAnon": 0, "RssFile": 0, "VmRSS": 0}
over = threading.Event()

def watch():
    while not over.is_set():
        for line in open("/proc/self/status"):
            key, _, value = line.partition(":")
            if key in most:
                most[key] = max(most[key], int(value.split()[0]) // 1024)
        time.sleep(0.005)

thread = threading.Thread(target=watch, daemon=True)
thread.start()
begin = time.monotonic()
device = ""
x = np.ones((1, %d), np.float32)
if kind == "openvino":
    import openvino
    core = openvino.Core()
    core.set_property("CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    session = core.compile_model(model, "CPU")
    loaded = time.monotonic()
    y = session([x])[0]
else:
    import onnxruntime as ort
    ort.set_default_logger_severity(4)
    options = ort.SessionOptions()
    if kind != "cpu":
        ort.register_execution_provider_library("latebind", library)
        mine = [found for found in ort.get_ep_devices() if found.ep_name == "Latebind"]
        options.add_provider_for_devices(mine, {"precision": "f32"})
    if kind == "compile":
        options.add_session_config_entry("ep.context_enable", "1")
        options.add_session_config_entry("ep.context_file_path", compiled)
    session = ort.InferenceSession(compiled if kind == "compiled" else model, options, enable_fallback=False)
    loaded = time.monotonic()
    y = session.run(None, {"x": x})[0]
    if kind != "cpu":
        text = ctypes.create_string_buffer(1 << 16)
        ctypes.CDLL(library).LatebindAttestations(text, ctypes.c_size_t(len(text)))
        device = ",".join(one["device"] for one in json.loads(text.value))
over.set()
thread.join()
print(json.dumps({"load_s": round(loaded - begin, 2), "device": device, "y": y.ravel()[:8].tolist(), **most}))
""" % WIDTH


def make(folder, mib, inline):
    count = max(1, mib * (1 << 20) // (WIDTH * WIDTH * 4))
    random = np.random.default_rng(1)
    base = (random.standard_normal((WIDTH, WIDTH)) / np.sqrt(WIDTH)).astype(np.float32)
    names, nodes, tensors = ["x"], [], []
    with (folder / "weights.data").open("wb") as data:
        for i in range(count):
            weights = np.roll(base, i, axis=1)
            if inline:
                tensors.append(numpy_helper.from_array(weights, f"w{i}"))
            else:
                tensor = TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT, dims=weights.shape)
                tensor.data_location = TensorProto.EXTERNAL
                place = {"location": "weights.data", "offset": data.tell(), "length": weights.nbytes}
                for key, value in place.items():
                    tensor.external_data.add(key=key, value=str(value))
                tensors.append(tensor)
                data.write(weights.tobytes())
            nodes.append(helper.make_node("MatMul", [names[-1], f"w{i}"], [f"h{i}"]))
            names.append(f"h{i}")
    nodes[-1].output[0] = "y"
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", WIDTH]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / "model.onnx").write_bytes(model.SerializeToString())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--mib", type=int, default=320)
    parser.add_argument("--inline", action="store_true")
    arguments = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, arguments.mib, arguments.inline)
        expected = None
        print(f"{arguments.mib} MiB of weights, {'within the model' if arguments.inline else 'in a file beside it'}")
        for kind in ("cpu", "openvino", "provider", "compile", "compiled"):
            command = [sys.executable, "-c", RUN, kind, Path(arguments.library).resolve(), folder / "model.onnx", folder / "c.onnx"]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=500)
            if done.returncode != 0 and kind == "openvino" and "No module named 'openvino'" in done.stderr:
                print("openvino: its Python package is not there")
                continue
            if done.returncode != 0 and arguments.mib > MOST_COMPILED:
                words = done.stderr.strip().rpartition("\n")[2]
                print(f"{kind}: {words}")
                failed = failed or (kind == "compile" and "too much for a compiled model" not in words)
                continue
            if done.returncode != 0:
                print(f"{kind}: failed\n{done.stderr[-2000:]}")
                failed = True
                continue
            answer = json.loads(done.stdout)
            y = answer.pop("y")
            expected = y if expected is None else expected
            is_right = np.allclose(y, expected, rtol=1e-3, atol=1e-3)
            is_taken = kind in ("cpu", "openvino") or answer["device"] == "openvino:CPU"
            print(f"{kind}: {answer}" + ("" if is_right else " WRONG") + ("" if is_taken else " NOT TAKEN"))
            failed = failed or not is_right or not is_taken
        print("files left:", sorted(file.name for file in folder.iterdir()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
