#!/usr/bin/env python3
"""The Python package beside the program, and beside the packages that people use for the same, in one run.

Every round runs each contender once, in turn and in a process of its own; ratios are taken round by round. Two threads
each. Figures are medians over the rounds.

  program                  `latebind bench embed`, without its part for single texts
  python                   Embedder.encode() of the same texts as a list, with the program's hint for throughput
  python-default           the same as people write it, without a hint
  sentence-transformers    in the interpreter that --sentence-transformers names
  fastembed-32, -1         in the one of --fastembed, with batches of 32 texts and of one (bench/run_peers.py)

Besides: what encode() of 2,000 short strings costs more than the seconds that the library reports for the same call
(EmbedStats.seconds), the time that importing the package takes once NumPy is imported, and the peak of resident memory
beside that of the program and of an interpreter with NumPy.

usage: bench/python.py [--build build/release] [--python PYTHON] [--library PATH] [--precision f32] [--rounds 5]
                       [--sentence-transformers PYTHON] [--fastembed PYTHON] [--corpus FILE] [--json]

Needs the model and the runtimes that scripts/setup brings.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import run_peers
from run_peers import MODEL, ROOT, THREADS

OVERHEAD_TEXTS = 2000
# Calls of one round, after one that is not counted.
OVERHEAD_CALLS = 5
UNITS = {"texts_per_s": "texts/s", "rss_mb": "MB", "ms": "ms"}

# Which ratio is of interest: ours, the other's, and what the ratio is meant to be at least.
RATIOS = [
    ("python", "program", 0.98),
    ("python-default", "program", None),
    ("python-default", "sentence-transformers", None),
    ("python-default", "fastembed-32", None),
    ("python-default", "fastembed-1", None),
]


# --- what runs in processes of their own: bench/python.py --child NAME ----------------------------------------------


def open_embedder(options, **settings):
    import latebind

    return latebind.Embedder(
        MODEL, device="openvino:CPU", precision=options.precision, strict=True, threads=THREADS, **settings)


def encode(options, **settings):
    texts = run_peers.read_texts(options.corpus)
    with open_embedder(options, **settings) as embedder:
        return run_peers.figures_of(lambda: embedder.encode(texts), texts, options.repeat)


def bare_numpy(_):
    import numpy  # noqa: F401 - being there is all that it does

    return {"rss_mb": run_peers.peak_mb()}


def importing(_):
    import numpy  # noqa: F401 - its time is not ours

    begin = time.perf_counter()
    import latebind

    # Names are loaded when they are first used.
    for name in ("Embedder", "Model", "devices"):
        getattr(latebind, name)
    return {"ms": (time.perf_counter() - begin) * 1000}


def overhead(options):
    texts = [f"short text number {number}" for number in range(OVERHEAD_TEXTS)]
    with open_embedder(options) as embedder:

        def beyond_the_library():
            before = embedder.stats.seconds
            begin = time.perf_counter()
            embedder.encode(texts)
            return (time.perf_counter() - begin - (embedder.stats.seconds - before)) * 1000

        beyond_the_library()
        return {"ms": statistics.median(beyond_the_library() for _ in range(OVERHEAD_CALLS))}


CHILDREN = {
    "python": lambda options: encode(options, hint="throughput"),
    "python-default": encode,
    "numpy": bare_numpy,
    "import": importing,
    "overhead": overhead,
}


# --- the runner -----------------------------------------------------------------------------------------------------


def commands(options, onnx):
    found = {
        "program": [options.build / "bin/latebind", "bench", "embed", "--json", "--strict", "--model", MODEL, "--device",
                    "openvino:CPU", "--precision", options.precision, "--threads", THREADS, "--singles", 0, "--repeat",
                    options.repeat, options.corpus]}
    for name in CHILDREN:
        found[name] = [options.python, __file__, "--child", name, "--corpus", options.corpus, "--precision",
                       options.precision, "--repeat", options.repeat]
    for contenders, interpreter in ((["sentence-transformers"], options.sentence_transformers),
                                    (["fastembed-32", "fastembed-1"], options.fastembed)):
        for name in contenders if interpreter else []:
            found[name] = [interpreter, run_peers.__file__, "--child", name, "--onnx", onnx, "--corpus", options.corpus,
                           "--repeat", options.repeat]
    return {name: [str(part) for part in command] for name, command in found.items()}


def measure(options, onnx):
    """The figures of every round, by contender."""
    ours = os.environ | {
        "PYTHONPATH": str(ROOT / "python"), "LATEBIND_LIBRARY": str(options.build / "lib/liblatebind.so")}
    found = {name: [] for name in commands(options, onnx)}
    for number in range(options.rounds):
        for name, command in commands(options, onnx).items():
            print(f"round {number + 1}/{options.rounds}: {name} ...", end=" ", flush=True, file=sys.stderr)
            figures, why = run_peers.run_once(command, ours if name in CHILDREN else None)
            if figures is None:
                sys.exit(f"\npython: {name} failed: {why}")
            shown = (f"{figures[key]:.1f} {unit}" for key, unit in UNITS.items() if key in figures)
            print(", ".join(shown), file=sys.stderr)
            found[name].append(figures)
    return found


def summary(rounds):
    def median(name, key):
        return statistics.median(figures[key] for figures in rounds[name])

    ratios = {}
    for ours, theirs, wanted in RATIOS:
        if theirs in rounds:
            each = [a["texts_per_s"] / b["texts_per_s"] for a, b in zip(rounds[ours], rounds[theirs])]
            ratios[f"{ours} / {theirs}"] = {
                "least": min(each), "median": statistics.median(each), "most": max(each), "wanted": wanted}
    return {
        "texts_per_s": {name: median(name, "texts_per_s") for name in rounds if "texts_per_s" in rounds[name][0]},
        "ratios": ratios,
        "overhead_ms": median("overhead", "ms"),
        "import_ms": median("import", "ms"),
        "peak_mb": {name: median(name, "rss_mb") for name in rounds if "rss_mb" in rounds[name][0]},
    }


def report(found):
    for name, rate in found["texts_per_s"].items():
        print(f"{name:24} {rate:8.1f} texts/s {found['peak_mb'][name]:8.0f} MB")
    for name, one in found["ratios"].items():
        wanted = f" (asked: {one['wanted']})" if one["wanted"] else ""
        print(f"{name}: {one['median']:.3f}, {one['least']:.3f} to {one['most']:.3f}{wanted}")
    print(f"{OVERHEAD_TEXTS} short strings: {found['overhead_ms']:.2f} ms beside the library's own time (asked: 2)")
    print(f"import: {found['import_ms']:.1f} ms beside NumPy's (asked: 60)")
    most = found["peak_mb"]["program"] + found["peak_mb"]["numpy"]
    print(f"memory: {found['peak_mb']['python']:.0f} MB (asked: {most:.0f}, which are {found['peak_mb']['program']:.0f} of the "
          f"program and {found['peak_mb']['numpy']:.0f} of an interpreter with NumPy)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--python", default=ROOT / "build/runtime/python/bin/python", help="an interpreter with NumPy")
    parser.add_argument("--library", default=os.environ.get("LATEBIND_OPENVINO_LIBRARY", ""), help="OpenVINO's folder")
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--sentence-transformers", metavar="PYTHON", help="an interpreter that has it")
    parser.add_argument("--fastembed", metavar="PYTHON", help="an interpreter that has it")
    parser.add_argument("--corpus", help="a text a line (default: bench/corpus.py's)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=2, help="passes in one process; the best counts")
    parser.add_argument("--json", action="store_true", help="prints the figures, those of every round included")
    parser.add_argument("--child", choices=CHILDREN, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(CHILDREN[options.child](options)))
        return
    if min(options.rounds, options.repeat) < 1:
        parser.error("--rounds and --repeat are 1 or more")
    if not os.access(options.build / "bin/latebind", os.X_OK):
        sys.exit(f"python: {options.build}/bin/latebind is missing; type: scripts/test release")
    os.environ.pop("LATEBIND_LIBRARY", None)  # the program takes nothing but settings
    if options.library:
        os.environ["LATEBIND_OPENVINO_LIBRARY"] = options.library

    with tempfile.TemporaryDirectory() as folder:
        onnx = f"{folder}/model.onnx"
        if options.fastembed:
            run_peers.export(options.build, onnx)
        if not options.corpus:
            options.corpus = run_peers.write_corpus(folder)
        rounds = measure(options, onnx)
    found = summary(rounds)
    if options.json:
        print(json.dumps(found | {"rounds": rounds}, indent=1))
    else:
        report(found)


if __name__ == "__main__":
    main()
