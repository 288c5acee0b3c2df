"""ONNX's own node tests (onnx.backend.test) through the provider: which are taken, and which come out as on the CPU.

usage: node_tests.py LIBRARY [--table FILE] [--every N] [--skip N] [--known-errors FILE] [PATTERN]

Each test is run in two forms: as it is, where a caller gives every input, and with all inputs but the first as
initializers, which is how models have weights, axes and sizes.

Prints a summary, and each wrong test with its numbers; exits with 1 if there is a wrong one. --table writes one line for
each test and form: name, form, what came of it, and why. --every N takes each Nth test only, --skip N leaves out the first
ones. --known-errors is a table of vendors' errors in place of the provider's own.
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


FORMS = ("as it is", "with initializers")


def cases(pattern=""):
    return [case for case in loader.load_model_tests(kind="node") if re.search(pattern, case.name)]


def model_of(case):
    return case.model if case.model is not None else onnx.load(case.model_dir + "/model.onnx")


def with_initializers(case):
    """(model, data sets) of the second form; None where the first input is the only one, or there are others than tensors."""
    model, data_sets = model_of(case), case.data_sets or []
    names = [value.name for value in model.graph.input]
    if len(names) < 2 or len(data_sets) != 1 or len(data_sets[0][0]) != len(names):
        return None
    inputs, expected = data_sets[0]
    tensors = [numpy_helper.from_array(v, n) if isinstance(v, np.ndarray) else v for v, n in zip(inputs, names)]
    if not all(isinstance(tensor, onnx.TensorProto) for tensor in tensors):
        return None
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    for tensor, name in zip(tensors[1:], names[1:]):
        changed.graph.initializer.add().CopyFrom(tensor)
        changed.graph.initializer[-1].name = name
    del changed.graph.input[1:]
    return changed, [(inputs[:1], expected)]


def session(model, devices, known_errors=""):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if devices:
        settings = {"threads": "1"} | ({"openvino.known_errors": known_errors} if known_errors else {})
        options.add_provider_for_devices(devices, settings)
        return ort.InferenceSession(model, options, enable_fallback=False)
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def run_model(model, data_sets, devices, library, known_errors=""):
    """(what came of it, detail)"""
    bytes_ = model.SerializeToString()
    names = [value.name for value in model.graph.input]
    try:
        host = session(bytes_, None)
    except Exception:
        host = None
    try:
        ours = session(bytes_, devices, known_errors)
    except Exception as error:
        return ("unsupported by the host", "") if host is None else ("wrong", f"no session: {str(error)[:200]}")
    if attestations(library) == b"[]":
        return "left to the CPU", ""
    for inputs, expected in data_sets:
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


def register(path):
    """(the library, the devices that it offers)"""
    library = ctypes.CDLL(path)
    ort.set_default_logger_severity(4)
    ort.register_execution_provider_library("latebind", path)
    return library, [device for device in ort.get_ep_devices() if device.ep_name == "Latebind"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--table")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--known-errors", default="")
    arguments = parser.parse_args()
    library, devices = register(os.path.abspath(arguments.library))
    if not devices:
        print("Latebind offers no device")
        return 1
    counts = {form: {} for form in FORMS}
    table = open(arguments.table, "a") if arguments.table else None
    for case in cases(arguments.pattern)[arguments.skip :: arguments.every]:
        for form in FORMS:
            made = (model_of(case), case.data_sets or []) if form == FORMS[0] else with_initializers(case)
            if made is None:
                continue
            if table:  # before it runs: so it is known what a process died of
                table.write(f"{case.name}\t{form}\t")
                table.flush()
            outcome, detail = run_model(*made, devices, library, arguments.known_errors)
            counts[form][outcome] = counts[form].get(outcome, 0) + 1
            if table:
                table.write(f"{outcome}\t{' '.join(detail.split())}\n")
            if outcome == "wrong":
                print(f"{case.name}, {form}: {detail}", flush=True)
    for form, of_form in counts.items():
        print(f"{form}: " + ", ".join(f"{count} {outcome}" for outcome, count in sorted(of_form.items())))
    return 1 if any(of_form.get("wrong") for of_form in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
