#!/usr/bin/env python3
"""Gives the graphs that Latebind writes to the ONNX checker, to ONNX Runtime and to OpenVINO.

    build/runtime/oracle/bin/python tests/embedding/architectures/check_graph.py DRIVER

DRIVER is the program graph_driver. The tiny models and networks of tests/data must give the vectors of their
expected.json, in every weight type, pooling mode and form. What is not installed is skipped by name, and at least one runtime must be there.
Exit 1 when anything differs.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"
TOLERANCE = 2e-5


def optional(name):
    try:
        return __import__(name)
    except ImportError:
        print(f"{name}: not installed, skipped")
        return None


onnx, onnxruntime, openvino = (optional(name) for name in ("onnx", "onnxruntime", "openvino"))


def run_onnxruntime(file, ids, mask):
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    return session.run(None, {"input_ids": ids, "attention_mask": mask})[0]


def run_openvino(file, ids, mask):
    model = openvino.Core().read_model(str(file))
    compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return compiled({"input_ids": ids, "attention_mask": mask})[compiled.output(0)]


def check(data, runs):
    """All models of a folder."""
    expected = json.loads((data / "expected.json").read_text(encoding="utf-8"))
    width = max(map(len, expected["ids"]))
    # Padding has ids that would be seen if the mask did not hide them.
    ids = np.array([row + [7] * (width - len(row)) for row in expected["ids"]], np.int64)
    mask = np.array([[1] * len(row) + [0] * (width - len(row)) for row in expected["ids"]], np.int64)
    worst = 0.0
    for kind, modes in expected["vectors"].items():
        for mode in [*modes, "states"]:
            with tempfile.TemporaryDirectory() as out:
                subprocess.run([sys.argv[1], str(data / kind), mode, out], check=True)
                if onnx:
                    for name in ("external.onnx", "exported.onnx"):
                        onnx.checker.check_model(str(pathlib.Path(out) / name), full_check=True)
                for runtime, run, name in runs:
                    got = run(pathlib.Path(out) / name, ids, mask)
                    if mode == "states":
                        got, wanted = got[:, 0], np.array(modes["cls"])
                    else:
                        wanted = np.array(modes[mode])
                        wanted = wanted / np.linalg.norm(wanted, axis=1, keepdims=True)
                    error = float(np.abs(got - wanted).max()) if got.shape == wanted.shape else float("inf")
                    worst = max(worst, error)
                    if not error <= TOLERANCE:
                        sys.exit(f"{runtime}, {name}, {kind}, {mode}: differs by {error}")
    print(f"{data.name}: {', '.join(expected['vectors'])}: largest difference {worst:.1e}")


def main():
    runs = []
    if onnxruntime:
        runs += [("onnxruntime", run_onnxruntime, name) for name in ("external.onnx", "exported.onnx")]
    if openvino:
        runs += [("openvino", run_openvino, name) for name in ("model.xml", "exported.onnx")]
    if not runs:
        sys.exit("no runtime is installed: run scripts/setup test")
    for name in ("tiny-bert", "networks"):
        check(DATA / name, runs)


if __name__ == "__main__":
    main()
