#!/usr/bin/env python3
"""Measures Latebind's provider inside ONNX Runtime (docs/onnxruntime.md), beside Latebind alone, OpenVINO alone and ONNX
Runtime's own CPU provider.

Every round runs each contender once, in turn and in a process of its own; ratios are taken round by round, and their
least, median and largest are printed. Two threads each, f32.

  tiny     provider_run (bench/provider_run.cpp): one run of a model of three nodes, through the host and by Latebind's C
           interface in turn, in one process; the difference is what the host and the provider cost
  corpus   the default model over the benchmark's corpus, sorted batches of 2,048 tokens: through the provider, on the host's
           CPU provider, by OpenVINO's Python interface, and `latebind bench embed`
  start    from the registration to the first vector in a host in C++ (bench/provider_start.cpp), in the second process with a
           folder for compiled models, and from a compiled model (EPContext) with its bundle beside it; beside the least that
           OpenVINO's C interface needs for the same blob (bench/raw_import.cpp), and beside that and what the host itself
           needs for the model on its own CPU provider: it reads and optimises the model whoever computes it

Usage:

  bench/onnxruntime_host.py --build build/release [--rounds 5] [--only tiny,corpus,start] [--json FILE]

Needs the model and the runtimes that scripts/setup brings, an interpreter with onnxruntime, openvino and tokenizers
(--python), and a build of the preset `bench`.
"""

import argparse
import glob
import json
import pathlib
import queue
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import run_peers
from run_peers import MODEL, ROOT, THREADS

# Ours, the others', whose figures are added, the figure, and what the ratio is meant to be.
RATIOS = [
    ("provider", ["latebind"], "texts_per_s", "at least 0.98"),
    ("provider", ["host-cpu"], "texts_per_s", ""),
    ("provider", ["openvino"], "rss_mb", "at most 1.2"),
    ("provider-compiled", ["raw-import"], "again_ms", ""),
    ("provider-compiled", ["raw-import"], "ms", "at most 1.2"),
    ("provider-compiled", ["raw-import"], "rss_mb", "at most 1.2"),
    ("provider-cached", ["raw-import"], "ms", "at most 1.2"),
    ("provider-cached", ["host-start", "raw-import"], "ms", "at most 1.0"),
    ("provider-cached", ["host-start"], "rss_mb", ""),
]


# --- contenders in Python: each runs in a process of its own, `onnxruntime_host.py --child NAME …` -------------------


def provider_session(library, onnx, settings):
    import onnxruntime

    onnxruntime.set_default_logger_severity(3)
    onnxruntime.register_execution_provider_library("latebind", library)
    devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == "Latebind"]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.add_provider_for_devices(devices, {"precision": "f32", "threads": str(THREADS)} | settings)
    return onnxruntime.InferenceSession(onnx, options, enable_fallback=False)


def provider_corpus(library, onnx, texts):
    """As many callers as threads: the host runs one call on one thread of the caller's."""
    session, encode = provider_session(library, onnx, {"hint": "throughput"}), run_peers.make_encoder()

    def run():
        waiting = queue.SimpleQueue()

        def work():
            while (feed := waiting.get()) is not None:
                session.run(None, feed)

        callers = [threading.Thread(target=work) for _ in range(THREADS)]
        for caller in callers:
            caller.start()
        for feed in run_peers.make_batches(encode(texts)):
            waiting.put(feed)
        for _ in callers:
            waiting.put(None)
        for caller in callers:
            caller.join()

    return run


def compile_model(library, onnx, compiled):
    import onnxruntime

    onnxruntime.register_execution_provider_library("latebind", library)
    devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == "Latebind"]
    options = onnxruntime.SessionOptions()
    options.add_provider_for_devices(devices, {"precision": "f32", "threads": str(THREADS)})
    onnxruntime.ModelCompiler(options, onnx, embed_compiled_data_into_model=False).compile_to_file(compiled)


def child(options):
    if options.child == "compile":
        return compile_model(options.library, options.onnx, options.compiled)
    texts = run_peers.read_texts(options.corpus)
    if options.child == "provider":
        run = provider_corpus(options.library, options.onnx, texts)
    elif options.child == "host-cpu":
        run = run_peers.python_onnxruntime(options.onnx, texts)
    else:
        run = run_peers.python_openvino(options.onnx, texts, "f32")
    print(json.dumps(run_peers.figures_of(run, texts, options.repeat)))


# --- the runner -----------------------------------------------------------------------------------------------------


def commands(options, folder, only):
    # To the host a path that is not absolute is beside its own library.
    library = options.build.resolve() / "lib/libonnxruntime_providers_latebind.so"
    (openvino,) = glob.glob(str(ROOT / "build/runtime/venv/lib/python3*/site-packages/openvino/libs/libopenvino_c.so*"))
    (host,) = glob.glob(str(ROOT / "build/runtime/venv/lib/python3*/site-packages/onnxruntime/capi/libonnxruntime.so.1.*"))
    onnx, corpus, blob = f"{folder}/model.onnx", f"{folder}/corpus.txt", f"{folder}/model.blob"
    run_peers.export(options.build, onnx)
    run_peers.write_corpus(folder)
    bench = [options.build / "bin/latebind", "bench", "embed", "--model", MODEL, "--json", "--threads", str(THREADS),
             "--repeat", str(options.repeat), "--strict", "--device", "openvino:CPU", "--precision", "f32", corpus]  # fmt: skip
    python = [options.python, __file__, "--library", library, "--onnx", onnx, "--corpus", corpus, "--repeat", str(options.repeat), "--child"]  # fmt: skip
    found = {}
    if "tiny" in only:
        found["tiny"] = [options.build / "bin/provider_run", host, library]
    if "corpus" in only:
        found |= {name: [*python, name] for name in ("provider", "host-cpu", "openvino")}
        found["latebind"] = bench
    if "start" in only:
        # Of the graph that the host passes on, so that both import the same.
        compile_blob = [options.build / "bin/latebind", "compile", onnx, "--target", "cpu", "--format", "blob", "-o", blob,
                        "--quiet", "--threads", str(THREADS), "--precision", "f32"]  # fmt: skip
        subprocess.run(compile_blob, check=True)
        compiled = f"{folder}/compiled.onnx"
        subprocess.run([*python, "compile", "--compiled", compiled], check=True)
        start = [options.build / "bin/provider_start", host]
        found["provider-cached"] = [*start, library, onnx, f"cache.folder={folder}/cache"]
        found["provider-compiled"] = [*start, library, compiled]
        found["host-start"] = [*start, "-", onnx]
        found["raw-import"] = [options.build / "bin/raw_import", openvino, blob]
        # The first one compiles, and fills the folder.
        for _ in range(2):
            subprocess.run(found["provider-cached"], check=True, stdout=subprocess.DEVNULL)
    return {name: [str(word) for word in command] for name, command in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--python", default=str(ROOT / "build/runtime/oracle/bin/python"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=2, help="passes in one process; the best counts")
    parser.add_argument("--only", default="tiny,corpus,start")
    parser.add_argument("--json", help="writes every figure of every round to this file")
    for hidden in ("--child", "--library", "--onnx", "--corpus", "--compiled"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options)
    with tempfile.TemporaryDirectory() as folder:
        contenders = commands(options, folder, options.only.split(","))
        figures = {name: [] for name in contenders}
        for number in range(options.rounds):
            for name, command in contenders.items():
                print(f"round {number + 1}/{options.rounds}: {name}", flush=True, file=sys.stderr)
                run, why = run_peers.run_once(command)
                if run is None:
                    sys.exit(f"onnxruntime_host: {name}: {why}")
                if "session_ms" in run:  # what a session takes where the provider is registered already
                    run["again_ms"] = run["session_ms"] + run["first_run_ms"]
                elif name == "raw-import":
                    run["again_ms"] = run["ms"]
                figures[name].append(run)
    for name, runs in figures.items():
        columns = [f"{key} {run_peers.spread([run[key] for run in runs])}" for key in runs[0] if key != "count"
                   and isinstance(runs[0][key], (int, float))]  # fmt: skip
        print(f"{name:18} " + "   ".join(columns if name != "latebind" else [column for column in columns
              if column.startswith(("texts_per_s", "rss_mb"))]))  # fmt: skip
    for ours, theirs, key, wanted in RATIOS:
        if all(name in figures for name in [ours, *theirs]):
            sums = [sum(run[key] for run in runs) for runs in zip(*(figures[name] for name in theirs))]
            ratios = [run[key] / of_others for run, of_others in zip(figures[ours], sums)]
            print(f"{key + ', ' + ours + ' / ' + ' + '.join(theirs):55} {run_peers.spread(ratios)}   {wanted}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
