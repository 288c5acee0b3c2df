"""ONNX's own node tests (onnx.backend.test) through the provider: which are taken, and which come out as on the CPU.

usage: node_tests.py LIBRARY [--table FILE] [--every N] [PATTERN]

Prints a summary, and each wrong test with its numbers; exits with 1 if there is a wrong one. --table writes one line for
each test: name, operator, what came of it. --every N takes each Nth test only.
"""

import argparse
import ctypes
import os
import re
import sys

import numpy as np
import onnx
import onnx.backend.test.loader as loader
import onnxruntime as ort
from onnx import numpy_helper

# What a result may differ by, relative to the largest number in it, by type.
BOUNDS = {"float32": 1e-5, "float16": 4e-3, "float64": 1e-9}


def attestations(library):
    text = ctypes.create_string_buffer(1 << 20)
    library.LatebindAttestations.restype = ctypes.c_size_t
    library.LatebindAttestations(text, ctypes.c_size_t(len(text)))
    return text.value


def equal(got, expected):
    """'' when they are, else how they differ."""
    if not isinstance(expected, np.ndarray):
        return "" if got == expected else "not equal"
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return f"{got.dtype}{list(got.shape)} instead of {expected.dtype}{list(expected.shape)}"
    if got.dtype.name not in BOUNDS:
        return "" if np.array_equal(got, expected) else f"{np.count_nonzero(got != expected)} of {got.size} differ"
    left, right = got.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(right)
    if not np.array_equal(left[~finite], right[~finite], equal_nan=True):
        return "other numbers that are not finite"
    if not finite.any():
        return ""
    scale = max(1.0, float(np.abs(right[finite]).max()))
    difference = float(np.abs(left[finite] - right[finite]).max())
    return "" if difference <= BOUNDS[got.dtype.name] * scale else f"difference {difference:.3g} at scale {scale:.3g}"


def session(model, devices):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if devices:
        options.add_provider_for_devices(devices, {"threads": "1"})
        return ort.InferenceSession(model, options)
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def run_case(case, devices, library):
    """(what came of it, detail)"""
    model = case.model if case.model is not None else onnx.load(case.model_dir + "/model.onnx")
    bytes_ = model.SerializeToString()
    names = [value.name for value in model.graph.input]
    try:
        host = session(bytes_, None)
    except Exception:
        host = None
    try:
        ours = session(bytes_, devices)
    except Exception as error:
        return ("unsupported by the host", "") if host is None else ("wrong", f"no session: {error}")
    taken = attestations(library) != b"[]"
    if not taken:
        return "left to the CPU", ""
    for inputs, expected in case.data_sets or []:
        feeds = {
            name: numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value
            for name, value in zip(names, inputs)
        }
        feeds = {k: np.asarray(v) if isinstance(v, np.generic) else v for k, v in feeds.items()}
        expected = [numpy_helper.to_array(v) if isinstance(v, onnx.TensorProto) else v for v in expected]
        try:
            reference = host.run(None, feeds) if host is not None else expected
        except Exception:
            return "unsupported by the host", ""
        try:
            got = ours.run(None, feeds)
        except Exception as error:
            if "Numpy_type" in str(error):  # which Python's side of the host cannot pass on
                return "unsupported by the host", ""
            return "wrong", f"run: {str(error)[:200]}"
        for one, other in zip(got, reference):
            if difference := equal(one, other):
                return "wrong", difference
    return "right", ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--table")
    parser.add_argument("--every", type=int, default=1)
    arguments = parser.parse_args()
    arguments.library = os.path.abspath(arguments.library)
    library = ctypes.CDLL(arguments.library)
    ort.set_default_logger_severity(4)
    ort.register_execution_provider_library("latebind", arguments.library)
    devices = [device for device in ort.get_ep_devices() if device.ep_name == "Latebind"]
    if not devices:
        print("Latebind offers no device")
        return 1
    cases = [case for case in loader.load_model_tests(kind="node") if re.search(arguments.pattern, case.name)]
    counts = {}
    table = open(arguments.table, "w") if arguments.table else None
    for case in cases[:: arguments.every]:
        if table:
            table.write(f"{case.name}\t")
            table.flush()
        outcome, detail = run_case(case, devices, library)
        counts[outcome] = counts.get(outcome, 0) + 1
        if table:
            table.write(f"{outcome}\t{detail}\n")
        if outcome == "wrong":
            print(f"{case.name}: {detail}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    return 1 if counts.get("wrong") else 0


if __name__ == "__main__":
    sys.exit(main())
