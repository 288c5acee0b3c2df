#!/usr/bin/env python3
"""Compares reranking by a cross-encoder with its peers, side by side, and prints pairs a second and ratios.

The model is the default embedding model with a made-up classifier on it (as large as ms-marco-MiniLM-L6-v2), since no
cross-encoder is in a package registry. For each of 20 queries, 100 documents are ranked by one call. Every round runs
each contender once, in turn and in a process of its own; the ratios are taken round by round. Two threads each, f32.

Contenders:
  latebind               latebind.CrossEncoder.rank on OpenVINO
  native                 the same without a vendor's runtime
  python-openvino        OpenVINO's Python interface, tokenizers, the same graph, batches sorted by length of at most 512
                         tokens, with which it is fastest: of 2,048, as in run_peers.py, 100 pairs are three
  sentence-transformers  CrossEncoder.rank, in the interpreter that --sentence-transformers names

With --raw it is OpenVINO's C interface that is beside Latebind, in one process, with the very batches that Latebind forms,
and with others: bench/rerank_beside_raw.cpp says which. 10 queries then.

Usage:

  bench/rerank.py --build build/release [--rounds 5] [--sentence-transformers PYTHON | --raw] [--json]

Needs the model and the runtimes that scripts/setup brings, and a release build; for --raw one of the preset `bench`.
"""

import argparse
import glob
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import run_peers

ROOT = Path(__file__).resolve().parent.parent
THREADS = run_peers.THREADS
BATCH_TOKENS = 512
QUERIES = 20
DOCUMENTS = 100
RATIOS = [("latebind", "python-openvino"), ("native", "python-openvino"), ("latebind", "sentence-transformers"),
          ("native", "sentence-transformers")]  # fmt: skip


def make_model(folder):
    """The default model's network with `classifier.weight` and `classifier.bias` behind its weights."""
    folder.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(run_peers.MODEL / name, folder)
    config = json.loads((run_peers.MODEL / "config.json").read_text())
    config |= {"architectures": ["BertForSequenceClassification"], "id2label": {"0": "LABEL_0"}}
    (folder / "config.json").write_text(json.dumps(config))
    weights = (run_peers.MODEL / "model.safetensors").read_bytes()
    (size,) = struct.unpack("<Q", weights[:8])
    header = json.loads(weights[8 : 8 + size])
    data = weights[8 + size :]
    hidden = config["hidden_size"]
    values = struct.pack(f"<{hidden + 1}f", *((-1) ** i * 0.05 for i in range(hidden)), 0.0)
    for name, shape, begin, end in (("weight", [1, hidden], 0, 4 * hidden), ("bias", [1], 4 * hidden, 4 * hidden + 4)):
        header[f"classifier.{name}"] = {
            "dtype": "F32", "shape": shape, "data_offsets": [len(data) + begin, len(data) + end]}  # fmt: skip
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data + values)


def requests_of(corpus):
    """(query, documents), of one corpus: the documents follow each other, the queries are short."""
    texts = run_peers.read_texts(corpus)
    queries = sorted(texts, key=len)[:QUERIES]
    return [(query, [texts[(i * DOCUMENTS + j) % len(texts)] for j in range(DOCUMENTS)]) for i, query in enumerate(queries)]


# --- contenders: each runs in a process of its own, `rerank.py --child NAME …` --------------------------------------


def by_latebind(options, device):
    import latebind

    model = latebind.CrossEncoder(
        options.model, device=device, precision="f32", strict=True, threads=THREADS, hint="throughput")
    return lambda query, documents: model.rank(query, documents)


def by_openvino(options):
    import numpy as np
    import openvino
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(Path(options.model) / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(512)
    compiled = openvino.Core().compile_model(
        options.onnx, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "NUM_STREAMS": THREADS, "INFERENCE_NUM_THREADS": THREADS})
    queue = openvino.AsyncInferQueue(compiled, THREADS)
    queue.set_callback(lambda request, rows: rows.append(request.get_output_tensor(0).data.copy()))

    def rank(query, documents):
        pairs = tokenizer.encode_batch([(query, document) for document in documents])
        order = sorted(range(len(pairs)), key=lambda i: -len(pairs[i].ids))
        numbers = []
        while order:
            width = len(pairs[order[0]].ids)
            rows = order[: max(1, BATCH_TOKENS // width)]
            order = order[len(rows) :]
            feed = {name: np.zeros((len(rows), width), np.int64) for name in ("input_ids", "attention_mask", "token_type_ids")}
            for row, i in enumerate(rows):
                length = len(pairs[i].ids)
                feed["input_ids"][row, :length] = pairs[i].ids
                feed["attention_mask"][row, :length] = 1
                feed["token_type_ids"][row, :length] = pairs[i].type_ids
            queue.start_async(feed, numbers)
        queue.wait_all()
        return np.sort(np.concatenate(numbers), axis=0)

    return rank


def by_sentence_transformers(options):
    import torch

    torch.set_num_threads(THREADS)
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(options.model, device="cpu")
    return lambda query, documents: model.rank(query, documents)


CHILDREN = {
    "latebind": lambda options: by_latebind(options, "openvino:CPU"),
    "native": lambda options: by_latebind(options, "native:CPU"),
    "python-openvino": by_openvino,
    "sentence-transformers": by_sentence_transformers,
}


def run_child(options):
    rank = CHILDREN[options.child](options)
    requests = requests_of(options.corpus)
    pairs = [document for _, documents in requests for document in documents]

    def run():
        for query, documents in requests:
            rank(query, documents)

    print(json.dumps(run_peers.figures_of(run, pairs, options.repeat)))


# --- the runner -----------------------------------------------------------------------------------------------------


def measure(options, folder):
    make_model(folder / "model")
    onnx = folder / "model.onnx"
    run_peers.export(options.build, onnx, folder / "model")
    corpus = run_peers.write_corpus(folder)
    interpreters = {name: str(options.python) for name in ("latebind", "native", "python-openvino")}
    if options.sentence_transformers:
        interpreters["sentence-transformers"] = options.sentence_transformers
    ours = os.environ | {
        "PYTHONPATH": str(ROOT / "python"), "LATEBIND_LIBRARY": str(options.build / "lib/liblatebind.so")}
    found = {name: [] for name in interpreters}
    for number in range(options.rounds):
        for name, interpreter in interpreters.items():
            print(f"round {number + 1}/{options.rounds}: {name} ...", end=" ", flush=True, file=sys.stderr)
            command = [interpreter, __file__, "--child", name, "--model", folder / "model", "--onnx", onnx, "--corpus", corpus,
                       "--repeat", options.repeat]  # fmt: skip
            figures, why = run_peers.run_once([str(part) for part in command], ours if name in ("latebind", "native") else None)
            if figures is None:
                sys.exit(f"\nrerank: {name} failed: {why}")
            print(f"{figures['texts_per_s']:.1f} pairs/s", file=sys.stderr)
            found[name].append(figures)
    return found


def beside_raw(options, folder):
    """Pairs a second of each contender in each round, by the device that is ours."""
    make_model(folder / "model")
    onnx = folder / "model.onnx"
    run_peers.export(options.build, onnx, folder / "model")
    corpus = run_peers.write_corpus(folder)
    (library, *_) = glob.glob(str(ROOT / "build/runtime/venv/lib/python3*/site-packages/openvino/libs/libopenvino_c.so*"))
    command = [options.build / "bin/rerank_beside_raw", library, onnx, folder / "model", corpus, "f32", str(options.rounds)]
    return {
        device: json.loads(subprocess.run([*command, device], check=True, capture_output=True, text=True).stdout)
        for device in ("openvino:CPU", "native:CPU")
    }


def print_beside_raw(found):
    for device, contenders in found.items():
        print(f"{device + ', ratio to raw with batches':46} {'least':>8} {'median':>8} {'most':>8}   pairs/s of raw")
        for name, rates in contenders.items():
            if name != "ours":
                ratios = [a / b for a, b in zip(contenders["ours"], rates)]
                print(f"  {name:44} {run_peers.spread(ratios)}   {statistics.median(rates):8.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--python", default=ROOT / "build/runtime/oracle/bin/python", help="with NumPy, OpenVINO, tokenizers")
    parser.add_argument("--sentence-transformers", metavar="PYTHON", help="an interpreter that has it")
    parser.add_argument("--raw", action="store_true", help="beside OpenVINO's C interface, in one process")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=2, help="passes in one process; the best counts")
    parser.add_argument("--json", action="store_true", help="prints the figures of every round")
    for hidden in ("--child", "--model", "--onnx", "--corpus"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return run_child(options)
    if min(options.rounds, options.repeat) < 1:
        parser.error("--rounds and --repeat are 1 or more")
    with tempfile.TemporaryDirectory() as folder:
        found = (beside_raw if options.raw else measure)(options, Path(folder))
    if options.json:
        print(json.dumps(found, indent=1))
        return None
    if options.raw:
        return print_beside_raw(found)
    for name, runs in found.items():
        print(f"{name:24} {statistics.median(run['texts_per_s'] for run in runs):8.1f} pairs/s")
    print(f"\n{'ratio, round by round':46} {'least':>8} {'median':>8} {'most':>8}")
    for ours, theirs in RATIOS:
        if theirs in found:
            ratios = [a["texts_per_s"] / b["texts_per_s"] for a, b in zip(found[ours], found[theirs])]
            print(f"{ours + ' / ' + theirs:46} {run_peers.spread(ratios)}")
    return None


if __name__ == "__main__":
    main()
