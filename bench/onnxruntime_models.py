#!/usr/bin/env python3
"""What Latebind's provider takes of models that people have, and what the table of known errors costs them.

Builds models of public architectures (bench/onnx_models.py: random weights, real widths, fewer layers) and runs each with ordinary
inputs through the provider with the built-in table, through it with an empty one (`openvino.known_errors`), and on ONNX Runtime's
own CPU provider, in turn, round by round. Prints a table in markdown: the nodes that the provider takes, in how many parts, the
median time of a run, the largest difference to the CPU provider's outputs as a part of the largest number in them, and who
computed the last run, as the provider attests. Below it stand the nodes that are left, by operator and reason, as the host's log
has them. Exits with 1 where a result differs by more than 1e-3, or a run with ordinary inputs was computed by the fallback.

Usage:

  bench/onnxruntime_models.py PROVIDER [--table FILE] [--layers 3] [--rounds 9] [--threads 2] [--only REGEX] [--json FILE]
                              [--nan-masks]

With --threads 1, times are those of the processor. --nan-masks adds the time, with an empty table, of the same network with a
NaN mask around each Relu, which is the other way to compute a Relu as ONNX defines it.

PROVIDER is libonnxruntime_providers_latebind.so; the interpreter needs onnx and onnxruntime (build/runtime/oracle/bin/python).
--table is a table of known errors in place of the built-in one.
"""

import argparse
import collections
import ctypes
import json
import os
import pathlib
import platform
import re
import statistics
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime as ort
from onnx_models import MODELS

DIFFERENCE_MAX = 1e-3  # f32 that is summed in another order, through all layers
COLOURS = re.compile("\x1b\\[[0-9;]*m")


def processor():
    try:
        found = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


class Log:
    """What is written to the process's standard error within it, which is where the host logs to."""

    def __enter__(self):
        sys.stderr.flush()
        self._before, self._file = os.dup(2), tempfile.TemporaryFile()
        os.dup2(self._file.fileno(), 2)
        return self

    def __exit__(self, *_):
        os.dup2(self._before, 2)
        os.close(self._before)
        self._file.seek(0)
        self.text = COLOURS.sub("", self._file.read().decode(errors="replace"))
        self._file.close()


class Contender:
    """A session, what the log said while it was made, and how long its runs took."""

    def __init__(self, model, devices, settings, threads):
        options = ort.SessionOptions()
        options.log_severity_level = 1
        self.times = []
        # One thread is the caller's, so other work on the machine does not count.
        self.clock = time.thread_time if threads == 1 else time.perf_counter
        with Log() as log:
            if devices:
                options.intra_op_num_threads = 1
                options.add_provider_for_devices(devices, {"precision": "f32", "threads": str(threads)} | settings)
                self.session = ort.InferenceSession(model, options, enable_fallback=False)
            else:
                options.intra_op_num_threads = threads
                self.session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.log = log.text

    def run(self, feeds):
        begin = self.clock()
        made = self.session.run(None, feeds)
        self.times.append(self.clock() - begin)
        return made

    def coverage(self):
        """How much of the graph is taken, and what is left."""
        taken = re.search(r"Latebind takes (\d+) of (\d+) nodes in (\d+) parts", self.log)
        left = collections.Counter()
        for op, why in re.findall(r"Latebind leaves to the host: (\S+) (?:'[^']*' )?(.*)", self.log):
            left[f"{op} {why}"] += 1
        more = re.search(r"Latebind leaves (\d+) more", self.log)
        if more:
            left["more, for reasons that the log does not list"] = int(more[1])
        count = [int(one) for one in taken.groups()] if taken else [0, 0, 0]
        return {"taken": count[0], "nodes": count[1], "parts": count[2], "left": dict(left)}


def attestations(library):
    text = ctypes.create_string_buffer(1 << 22)
    library.LatebindAttestations.restype = ctypes.c_size_t
    library.LatebindAttestations(text, ctypes.c_size_t(len(text)))
    return json.loads(text.value)


def difference(got, expected):
    """The largest of all outputs, each as a part of the largest number in it; infinity where one is not finite alone."""
    largest = 0.0
    for one, other in zip(got, expected):
        if one.shape != other.shape or not np.array_equal(np.isfinite(one), np.isfinite(other)):
            return float("inf")
        finite = np.isfinite(other)
        if finite.any():
            apart = np.abs(one[finite].astype(np.float64) - other[finite])
            largest = max(largest, float(apart.max()) / max(float(np.abs(other[finite]).max()), 1e-30))
    return largest


def with_nan_masks(model_file):
    """The model in which each Relu lets a NaN through: Where(IsNaN(x), x, Relu(x)). Returns the name of its file."""
    model = onnx.load(model_file)
    nodes = []
    for node in model.graph.node:
        if node.op_type != "Relu":
            nodes.append(node)
            continue
        x, y = node.input[0], node.output[0]
        nodes += [onnx.helper.make_node("Relu", [x], [f"{y}_relu"]), onnx.helper.make_node("IsNaN", [x], [f"{y}_nan"])]
        nodes.append(onnx.helper.make_node("Where", [f"{y}_nan", x, f"{y}_relu"], [y]))
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    masked = str(pathlib.Path(model_file).with_name("masked.onnx"))
    onnx.save(model, masked)
    return masked


def measure(name, model_file, feeds, arguments, library, devices):
    empty = str(pathlib.Path(model_file).with_name("empty.tsv"))
    pathlib.Path(empty).touch()
    table = {"openvino.known_errors": os.path.abspath(arguments.table)} if arguments.table else {}
    contenders = {
        "built-in": Contender(model_file, devices, table, arguments.threads),
        "empty": Contender(model_file, devices, {"openvino.known_errors": empty}, arguments.threads),
        "host": Contender(model_file, None, {}, arguments.threads),
    }
    if arguments.nan_masks:
        masked = with_nan_masks(model_file)
        contenders["masked"] = Contender(masked, devices, {"openvino.known_errors": empty}, arguments.threads)
    results = {}
    for number in range(arguments.rounds + 1):
        print(f"{name}: round {number} of {arguments.rounds}", file=sys.stderr)
        for kind, contender in contenders.items():
            results[kind] = contender.run(feeds)
            if number == 0:
                contender.times.clear()
    # With the empty table nothing falls back, so that one who does is of the other session.
    answers = attestations(library)
    fallbacks = sorted({one["reason"] or one["device"] for one in answers if one["fallback"]})
    row = {"model": name, "devices": sorted({one["device"] for one in answers}), "fallbacks": fallbacks}
    row["host"] = {"ms": 1000 * statistics.median(contenders["host"].times)}
    for kind in ("built-in", "empty", *(["masked"] if arguments.nan_masks else [])):
        row[kind] = contenders[kind].coverage() | {
            "ms": 1000 * statistics.median(contenders[kind].times),
            "difference": difference(results[kind], results["host"]),
        }
    return row


def print_table(rows, arguments, version):
    print(f"{processor()}, {arguments.threads} threads, {arguments.layers} layers or blocks of each kind, f32, "
          f"ONNX Runtime {ort.__version__}, OpenVINO {version}, medians of {arguments.rounds} rounds\n")  # fmt: skip
    print(
        "| model | nodes | taken | with an empty table | a run | with an empty table | CPU provider | difference | computed by |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        ours, empty = row["built-in"], row["empty"]
        cells = [
            row["model"],
            str(ours["nodes"]),
            f"{ours['taken']} in {ours['parts']}",
            f"{empty['taken']} in {empty['parts']}",
        ]
        cells += [f"{one['ms']:.1f} ms" for one in (ours, empty, row["host"])]
        cells += [
            f"{max(ours['difference'], empty['difference']):.1e}",
            ", ".join(row["fallbacks"] or row["devices"] or ["the host"]),
        ]
        print("| " + " | ".join(cells) + " |")
    for row in rows:
        if "masked" in row:
            print(f"\n{row['model']} with NaN masks: {row['masked']['taken']} nodes, {row['masked']['ms']:.1f} ms", end="")
    print()
    for row in rows:
        for why, count in row["built-in"]["left"].items():
            note = "" if why in row["empty"]["left"] else " (not with an empty table)"
            print(f"- {row['model']}: {count} {why}{note}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("provider")
    parser.add_argument("--table", default="")
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--json")
    parser.add_argument("--nan-masks", action="store_true")
    arguments = parser.parse_args()
    # To the host a path that is not absolute is beside its own library.
    provider = os.path.abspath(arguments.provider)
    library = ctypes.CDLL(provider)
    ort.register_execution_provider_library("latebind", provider)
    devices = [device for device in ort.get_ep_devices() if device.ep_name == "Latebind"]
    if not devices:
        sys.exit(
            "onnxruntime_models: Latebind offers no device; LATEBIND_OPENVINO_LIBRARY names OpenVINO's libopenvino_c"
        )
    version = devices[0].ep_metadata["latebind.runtime_version"].split("-")[0]
    rows = []
    for name, make in MODELS.items():
        if not re.search(arguments.only, name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            model, feeds = make(arguments.layers)
            onnx.save(model, f"{folder}/model.onnx")
            del model
            rows.append(measure(name, f"{folder}/model.onnx", feeds, arguments, library, devices))
    print_table(rows, arguments, version)
    if arguments.json:
        found = {"processor": processor(), "onnxruntime": ort.__version__, "openvino": version, "layers": arguments.layers,
                 "threads": arguments.threads, "rounds": arguments.rounds, "models": rows}  # fmt: skip
        pathlib.Path(arguments.json).write_text(json.dumps(found, indent=1))
    is_wrong = [row["model"] for row in rows if row["fallbacks"] or not max(row["built-in"]["difference"], row["empty"]["difference"]) <= DIFFERENCE_MAX]  # fmt: skip
    if is_wrong or not rows:
        print(
            f"onnxruntime_models: other numbers, or the fallback: {', '.join(is_wrong) or 'no model'}", file=sys.stderr
        )
    return 1 if is_wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
