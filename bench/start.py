#!/usr/bin/env python3
"""Times the start, from the process's begin to the first vector: from the model folder compiled, from the cache of
compiled models, and from a bundle, beside the least that OpenVINO's C interface needs for the same blob
(bench/raw_import.cpp), and beside native:CPU in f32, bf16 and int8, which compiles nothing.

Every round runs each contender once, in a process of its own; the median and the range are printed, and the ratios that
are of interest. Usage:

  bench/start.py --build build/release [--rounds 11] [--json]

Needs the model and the runtimes that scripts/setup brings, and a build of the preset `bench`.
"""

import argparse
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODEL = ROOT / "build/runtime/model/all-MiniLM-L6-v2"
TEXT = "The cat slept on the warm windowsill.\n"


def measured(command, text=None, cache=None):
    """(ms from the start of the process to its first vector, peak resident MiB)"""
    env = os.environ | ({"XDG_CACHE_HOME": str(cache)} if cache else {})
    start = time.perf_counter()
    process = subprocess.Popen(
        command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if text is not None:
        process.stdin.write(text.encode())
    process.stdin.close()
    first = process.stdout.readline()
    ms = (time.perf_counter() - start) * 1000
    process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0 or not first:
        sys.exit(f"start: {' '.join(map(str, command))} failed")
    return ms, usage.ru_maxrss / 1024


def native_precisions(program):
    """Those of f32, bf16 and int8 that native:CPU computes in here; says which it does not."""
    devices = json.loads(subprocess.run([program, "devices", "--json"], check=True, stdout=subprocess.PIPE).stdout)
    (known,) = [one["metadata"]["Precisions"].split(",") for one in devices["devices"] if one["id"] == "native:CPU"]
    for precision in ("f32", "bf16", "int8"):
        if precision in known:
            yield precision
        else:
            print(f"left out: this processor has no instructions for native:CPU in {precision}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    latebind, raw = options.build / "bin/latebind", options.build / "bin/raw_import"
    (library,) = glob.glob(str(ROOT / "build/runtime/venv/lib/python3*/site-packages/openvino/libs/libopenvino_c.so*"))
    with tempfile.TemporaryDirectory() as folder:
        bundle, blob = Path(folder) / "model.lbundle", Path(folder) / "model.blob"
        # The raw import gives ids and a mask, which is not all that a graph with packed tokens takes.
        onnx = Path(folder) / "model.onnx"
        subprocess.run([latebind, "export", "--model", MODEL, "-o", onnx], check=True, stderr=subprocess.DEVNULL)
        for model, output, form in (MODEL, bundle, "bundle"), (onnx, blob, "blob"):
            subprocess.run([latebind, "compile", model, "--target", "cpu", "--format", form, "-o", output, "--quiet",
                            "--threads", "2"], check=True)
        embed = [latebind, "embed", "--quiet", "--device", "openvino:CPU", "--threads", "2", "-", "--model"]
        native = {f"native, {precision}": ([latebind, "embed", "--quiet", "--device", "native", "--precision", precision,
                                            "--threads", "2", "-", "--model", MODEL], TEXT)
                  for precision in native_precisions(latebind)}
        contenders = {
            "raw OpenVINO, import": ([raw, library, blob],),
            "latebind, bundle": ([*embed, bundle, "--no-cache"], TEXT),
            "latebind, cached": ([*embed, MODEL], TEXT, folder),
            "latebind, compiled": ([*embed, MODEL, "--no-cache"], TEXT),
            **native,
        }
        # The first start compiles and fills the cache, the second finds the weights' digest remembered.
        for _ in range(2):
            measured([*embed, MODEL], TEXT, folder)
        figures = {name: [] for name in contenders}
        for _ in range(options.rounds):
            for name, contender in contenders.items():
                figures[name].append(measured(*contender))
    result = {}
    for name, runs in figures.items():
        ms, mib = [run[0] for run in runs], [run[1] for run in runs]
        result[name] = {"first_vector_ms": statistics.median(ms), "ms_min": min(ms), "ms_max": max(ms),
                        "rss_mib": statistics.median(mib)}
    raw_run, from_bundle, cached, compiled = list(result.values())[:4]
    ratios = {
        "speed, cached over compiled": compiled["first_vector_ms"] / cached["first_vector_ms"],
        "speed, bundle over compiled": compiled["first_vector_ms"] / from_bundle["first_vector_ms"],
        "memory, bundle over raw": from_bundle["rss_mib"] / raw_run["rss_mib"],
        "time, native over cached": result["native, f32"]["first_vector_ms"] / cached["first_vector_ms"],
    }
    if options.json:
        print(json.dumps({"contenders": result, "ratios": ratios}, indent=1))
        return
    for name, one in result.items():
        print(f"{name:<28} {one['first_vector_ms']:7.1f} ms ({one['ms_min']:.1f} to {one['ms_max']:.1f})  "
              f"{one['rss_mib']:6.1f} MiB peak")
    for name, ratio in ratios.items():
        print(f"{name:<28} {ratio:7.2f}")


if __name__ == "__main__":
    main()
