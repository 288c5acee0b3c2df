#!/usr/bin/env python3
"""Compares Latebind with its peers on one corpus, side by side, and prints a table of ratios.

Every round runs each contender once, in turn and in a process of its own, so that whatever else the machine does hits
all of them; the ratios are taken round by round, and their least, median and largest are printed. Two threads each.

Contenders:
  latebind-f32, latebind-bf16       `latebind bench embed --json` on OpenVINO
  latebind-ort-f32                  the same on ONNX Runtime
  native-f32, native-bf16, native-f16, native-int8
                                    the same on native:CPU, without a vendor's runtime
  raw-f32, raw-bf16                 raw_openvino (bench/raw_openvino.cpp): OpenVINO's C interface alone, the same graph
  single-f32, single-bf16           single_text (bench/single_text.cpp): one text at a time, Latebind and OpenVINO's C
                                    interface in turn in one process, since a text takes less than a round's noise
  python-openvino-f32, -bf16        OpenVINO's Python interface, tokenizers, the same graph
  python-onnxruntime                ONNX Runtime's Python interface, tokenizers, the same graph, sorted batches
  sentence-transformers             the reference, in f32
  fastembed-32, fastembed-1         fastembed, the same graph, batches of 32 texts and of one: it does not sort them, and with
                                    its default of 256 takes more memory than most machines have

Those that are not installed are left out, and said so. Usage:

  bench/run_peers.py --build build/release [--rounds 5] [--only NAME,...] [--json FILE]

Needs the model and the runtimes that scripts/setup brings, and a build of the preset `bench`. Another model is the
folder that BENCH_MODEL names: all-mpnet-base-v2, for instance.
"""
import argparse
import glob
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODEL = pathlib.Path(os.environ.get("BENCH_MODEL", ROOT / "build/runtime/model/all-MiniLM-L6-v2"))
THREADS = 2
BATCH_TOKENS = 2048

# Which ratio is of interest: ours, the peer's, and what the ratio is meant to be at least.
RATIOS = [
    ("latebind-f32", "raw-f32", 0.98),
    ("latebind-bf16", "raw-bf16", 0.98),
    ("latebind-f32", "python-openvino-f32", 0.98),
    ("latebind-bf16", "python-openvino-bf16", 0.98),
    ("latebind-f32", "sentence-transformers", 2.0),
    ("latebind-bf16", "sentence-transformers", 3.7),
    ("latebind-ort-f32", "python-onnxruntime", 0.98),
    ("native-f32", "raw-f32", 1.0),
    ("native-f32", "latebind-f32", 1.0),
    ("native-bf16", "raw-bf16", 1.05),
    ("native-f16", "native-f32", 2.2),
    ("native-int8", "native-f32", 2.0),
    ("native-int8", "raw-int8", 1.6),
]


def max_tokens():
    return json.loads((MODEL / "sentence_bert_config.json").read_text())["max_seq_length"]


# --- contenders in Python: each runs in a process of its own, `run_peers.py --child NAME …` -------------------------


def read_texts(corpus):
    return [line for line in pathlib.Path(corpus).read_text(encoding="utf-8").split("\n") if line]


def make_encoder():
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(MODEL / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens())
    return lambda texts: [encoding.ids for encoding in tokenizer.encode_batch(texts)]


def make_batches(ids):
    """Sorted by length, padded to the longest, at most BATCH_TOKENS tokens."""
    import numpy as np

    order = sorted(range(len(ids)), key=lambda i: -len(ids[i]))
    while order:
        width = len(ids[order[0]])
        rows = order[: max(1, BATCH_TOKENS // width)]
        order = order[len(rows) :]
        tokens = np.zeros((len(rows), width), np.int64)
        mask = np.zeros((len(rows), width), np.int64)
        for row, i in enumerate(rows):
            tokens[row, : len(ids[i])] = ids[i]
            mask[row, : len(ids[i])] = 1
        yield {"input_ids": tokens, "attention_mask": mask}


def python_openvino(onnx, texts, precision):
    import openvino

    compiled = openvino.Core().compile_model(
        onnx,
        "CPU",
        {"INFERENCE_PRECISION_HINT": precision, "NUM_STREAMS": THREADS, "INFERENCE_NUM_THREADS": THREADS},
    )
    queue = openvino.AsyncInferQueue(compiled, THREADS)
    queue.set_callback(lambda request, _: request.get_output_tensor(0).data.copy())
    encode = make_encoder()

    def run():
        for feed in make_batches(encode(texts)):
            queue.start_async(feed)
        queue.wait_all()

    return run


def python_onnxruntime(onnx, texts):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(onnx, options, providers=["CPUExecutionProvider"])
    encode = make_encoder()

    def run():
        for feed in make_batches(encode(texts)):
            session.run(None, feed)

    return run


def sentence_transformers(_, texts):
    import torch

    torch.set_num_threads(THREADS)
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(MODEL), device="cpu")
    return lambda: model.encode(texts, batch_size=32, normalize_embeddings=True)


def fastembed(onnx, texts, batch_size):
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    folder = pathlib.Path(onnx).parent
    for name in ("config.json", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(MODEL / name, folder)
    limits = json.loads((folder / "tokenizer_config.json").read_text()) | {"model_max_length": max_tokens()}
    (folder / "tokenizer_config.json").write_text(json.dumps(limits))
    # The graph pools and normalises by itself. Nothing is loaded from the source, which has to be named.
    name = "latebind/exported"
    dimension = json.loads((folder / "config.json").read_text())["hidden_size"]
    TextEmbedding.add_custom_model(name, PoolingType.DISABLED, False, ModelSource(hf=name), dimension, pathlib.Path(onnx).name)
    model = TextEmbedding(name, specific_model_path=str(folder), threads=THREADS)
    return lambda: list(model.embed(texts, batch_size=batch_size))


PYTHON = {
    "python-openvino-f32": lambda onnx, texts: python_openvino(onnx, texts, "f32"),
    "python-openvino-bf16": lambda onnx, texts: python_openvino(onnx, texts, "bf16"),
    "python-onnxruntime": python_onnxruntime,
    "sentence-transformers": sentence_transformers,
    "fastembed-32": lambda onnx, texts: fastembed(onnx, texts, 32),
    "fastembed-1": lambda onnx, texts: fastembed(onnx, texts, 1),
}


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def figures_of(run, texts, repeat):
    """Of the best of so many passes over all texts."""
    best = None
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        took = time.perf_counter() - start
        best = took if best is None else min(best, took)
    return {"texts_per_s": len(texts) / best, "rss_mb": peak_mb()}


def child(name, onnx, corpus, repeat):
    texts = read_texts(corpus)
    print(json.dumps(figures_of(PYTHON[name](onnx, texts), texts, repeat)))


# --- the runner -----------------------------------------------------------------------------------------------------


def commands(options, onnx, corpus):
    latebind = [str(options.build / "bin/latebind"), "bench", "embed", "--model", str(MODEL), "--json", "--threads",
                str(THREADS), "--repeat", str(options.repeat), "--strict"]  # fmt: skip
    libraries = glob.glob(str(ROOT / "build/runtime/venv/lib/python3*/site-packages/openvino/libs/libopenvino_c.so*"))
    library = libraries[0] if libraries else "none"

    def raw_with(graph):
        return [str(options.build / "bin/raw_openvino"), library, graph, str(MODEL), corpus]

    raw = raw_with(onnx)
    single = [str(options.build / "bin/single_text"), library, onnx, str(MODEL), corpus]
    found = {
        "latebind-f32": [*latebind, "--device", "openvino:CPU", "--precision", "f32", corpus],
        "raw-f32": [*raw, "f32", str(options.repeat), str(max_tokens())],
        "latebind-bf16": [*latebind, "--device", "openvino:CPU", "--precision", "bf16", corpus],
        "raw-bf16": [*raw, "bf16", str(options.repeat), str(max_tokens())],
        "single-f32": [*single, "f32"],
        "single-bf16": [*single, "bf16"],
        "raw-int8": [*raw_with(options.int8_model or "none"), "f32", str(options.repeat), str(max_tokens())],
        "single-native-f32": [*single, "f32", "200", "4", "native:CPU", "f32"],
        "single-native-int8": [*single, "f32", "200", "4", "native:CPU", "int8"],
        "latebind-ort-f32": [*latebind, "--device", "onnxruntime:CPU", "--precision", "f32", corpus],
        **{
            f"native-{precision}": [*latebind, "--device", "native:CPU", "--precision", precision, corpus]
            for precision in ("f32", "bf16", "f16", "int8")
        },
    }
    for name in PYTHON:
        found[name] = [options.python, __file__, "--child", name, "--onnx", onnx, "--corpus", corpus, "--repeat",
                       str(options.repeat)]  # fmt: skip
    return found


def export(build, onnx, model=MODEL):
    """Writes the model as the graph that all contenders run."""
    subprocess.run([build / "bin/latebind", "export", "--model", model, "-o", onnx], check=True)


def write_corpus(folder):
    corpus = f"{folder}/corpus.txt"
    subprocess.run([sys.executable, ROOT / "bench/corpus.py", corpus], check=True)
    return corpus


def run_once(command, environment=None):
    """The contender's figures, or why there are none."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
    except OSError as error:
        return None, str(error)
    # Peers may say something before it, each on a line of its own.
    begin = max(done.stdout.find("{\n"), done.stdout.rfind("\n{\"") + 1)
    if done.returncode == 0 and done.stdout[begin:].startswith("{"):
        return json.loads(done.stdout[begin:]), None
    return None, (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1][:160]


def spread(values):
    return f"{min(values):8.3f} {statistics.median(values):8.3f} {max(values):8.3f}"


def print_tables(figures):
    passes = {name: runs for name, runs in figures.items() if "texts_per_s" in runs[0]}
    singles = {name: runs for name, runs in figures.items() if "p50_ratio" in runs[0]}
    if passes:
        print(f"\n{'':24} {'texts/s: least, median, most':^28} {'peak MB':>8}")
    for name, runs in passes.items():
        rates = [run["texts_per_s"] for run in runs]
        line = f"{name:24} {min(rates):8.1f} {statistics.median(rates):8.1f} {max(rates):8.1f}   "
        print(line + f"{statistics.median(run['rss_mb'] for run in runs):8.0f}")
    if singles:
        print(f"\n{'':24} {'p50 ms':>8} {'raw':>8} {'p99 ms':>8} {'raw':>8}")
    for name, runs in singles.items():
        columns = [statistics.median(run[key] for run in runs)
                   for key in ("p50_ms", "raw_p50_ms", "p99_ms", "raw_p99_ms")]  # fmt: skip
        print(f"{name:24} " + " ".join(f"{column:8.2f}" for column in columns))
    print(f"\n{'ratio, round by round':46} {'least':>8} {'median':>8} {'most':>8}   wanted")
    for ours, theirs, wanted in RATIOS:
        if ours in passes and theirs in passes:
            ratios = [a["texts_per_s"] / b["texts_per_s"] for a, b in zip(figures[ours], figures[theirs])]
            print(f"{'texts/s, ' + ours + ' / ' + theirs:46} {spread(ratios)}   at least {wanted}")
    for name, runs in singles.items():
        print(f"{'p50, ' + name + ' / raw':46} {spread([run['p50_ratio'] for run in runs])}   at most 1.05")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--python", default=sys.executable, help="interpreter that has the peers' packages")
    parser.add_argument("--corpus", help="a text a line (default: bench/corpus.py's)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=2, help="passes in one process; the best counts")
    parser.add_argument("--only", help="names with commas")
    parser.add_argument("--int8-model", help="the default model in int8, as OpenVINO's IR, for raw-int8")
    parser.add_argument("--json", help="writes every figure of every round to this file")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--onnx", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.child, options.onnx, options.corpus, options.repeat)

    with tempfile.TemporaryDirectory() as folder:
        onnx = f"{folder}/model.onnx"
        export(options.build, onnx)
        corpus = options.corpus or write_corpus(folder)
        contenders = commands(options, onnx, corpus)
        if options.only:
            contenders = {name: contenders[name] for name in options.only.split(",")}
        figures = {name: [] for name in contenders}
        for number in range(options.rounds):
            for name in list(figures):
                print(f"round {number + 1}/{options.rounds}: {name} ...", end=" ", flush=True, file=sys.stderr)
                run, why = run_once(contenders[name])
                if run is None:
                    print(f"left out: {why}", file=sys.stderr)
                    del figures[name]
                    continue
                print(f"{run['texts_per_s']:.1f} texts/s" if "texts_per_s" in run else f"p50 {run['p50_ms']:.2f} ms",
                      file=sys.stderr)
                figures[name].append(run)
    print_tables(figures)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
