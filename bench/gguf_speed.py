#!/usr/bin/env python3
"""`native` in int8 beside llama.cpp, with the same GGUF file, the same texts and the same number of threads.

Usage: bench/gguf_speed.py MODEL.gguf … [--program build/release/bin/latebind] [--count 40] [--rounds 3] [--threads 2]

In each round, each of both embeds all texts once, in a process of its own. llama.cpp takes the texts one by one, Latebind
once so (`one`) and once all (`all`). Prints tokens per second, seconds of processor time for 1,000 tokens, the peak resident
size, and the least cosine between both's vectors. Needs numpy and cyllama, a wheel with llama.cpp whose instructions are
those of AVX2; neither is a dependency of Latebind.
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
LENGTH_MAX = 512


def peer(model, texts, threads):
    """Embeds with llama.cpp in this process, and prints the outcome."""
    from cyllama.llama.llama_cpp import LlamaBatch, LlamaContext, LlamaContextParams, LlamaModel, LlamaModelParams, disable_logging

    disable_logging()
    loaded = LlamaModel(model, LlamaModelParams())
    params = LlamaContextParams()
    params.n_ctx = params.n_batch = params.n_ubatch = LENGTH_MAX
    params.n_threads = params.n_threads_batch = threads
    params.embeddings = True
    params.pooling_type = 0  # none: the last token alone is an output
    context = LlamaContext(loaded, params)
    context.set_embeddings_mode(True)
    vocabulary = loaded.get_vocab()
    vectors = []
    tokens = 0
    begin, used = time.perf_counter(), time.process_time()
    for text in texts:
        ids = vocabulary.tokenize(text, add_special=True, parse_special=False)[:LENGTH_MAX]
        tokens += len(ids)
        context.kv_cache_clear()
        batch = LlamaBatch(n_tokens=len(ids), embd=0, n_seq_max=1)
        for i, token in enumerate(ids):
            batch.add(token, i, [0], i + 1 == len(ids))
        context.decode(batch)
        vectors.append(list(context.get_embeddings_ith(-1)))
    seconds, cpu = time.perf_counter() - begin, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"tokens": tokens, "seconds": seconds, "cpu": cpu, "peak": peak, "vectors": vectors}))


def run_peer(options, model, corpus):
    command = [sys.executable, __file__, str(model), "--peer", str(corpus), "--threads", str(options.threads)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.splitlines()[-1])


def run_own(options, model, corpus, batch):
    """Loading is measured with one text, and subtracted."""
    found = {}
    for part, file in (("load", f"{corpus}.one"), ("all", corpus)):
        out = f"{corpus}.npy"
        command = [options.program, "embed", model, "--device", "native:CPU", "--strict", "--precision", options.precision,
                   "--threads", str(options.threads), "--max-tokens", str(LENGTH_MAX), *batch, "--output-format", "npy",
                   "-o", out, file]  # fmt: skip
        begin = time.perf_counter()
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{' '.join(map(str, command))}: {process.returncode}")
        found[part] = (time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)
    seconds, cpu = (found["all"][i] - found["load"][i] for i in (0, 1))
    return {"seconds": seconds, "cpu": cpu, "peak": found["all"][2], "vectors": numpy.load(out).tolist()}


def cosines(a, b):
    a, b = numpy.array(a, numpy.float64), numpy.array(b, numpy.float64)
    return (a * b).sum(1) / numpy.linalg.norm(a, axis=1) / numpy.linalg.norm(b, axis=1)


def compare(options, model, corpus):
    found = {}
    for _ in range(options.rounds):
        of_peer = run_peer(options, model, corpus)
        found.setdefault("llama.cpp", []).append(of_peer)
        for name, batch in (("all", []), ("one", ["--batch-tokens", "1"])):
            one = run_own(options, model, corpus, batch)
            one["tokens"] = of_peer["tokens"]
            found.setdefault(name, []).append(one)
    for name, rounds in found.items():
        rate = statistics.median(one["tokens"] / one["seconds"] for one in rounds)
        cpu = statistics.median(one["cpu"] / one["tokens"] * 1000 for one in rounds)
        peak = max(one["peak"] for one in rounds) / 1e6
        least = cosines(rounds[0]["vectors"], found["llama.cpp"][0]["vectors"]).min()
        print(f"{model.stem:16} {name:10} {rate:10.1f} {cpu:12.2f} {peak:8.0f} {least:13.6f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/latebind")
    parser.add_argument("--precision", default="int8")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peer", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        peer(str(options.models[0]), options.peer.read_text(encoding="utf-8").splitlines(), options.threads)
        return
    with tempfile.TemporaryDirectory() as folder:
        corpus = pathlib.Path(folder) / "corpus.txt"
        subprocess.run([sys.executable, ROOT / "bench/corpus.py", corpus, "--count", str(options.count)], check=True)
        pathlib.Path(f"{corpus}.one").write_text(corpus.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
        print(f"{'model':16} {'':10} {'tokens/s':>10} {'CPU s/1,000':>12} {'peak MB':>8} {'least cosine':>13}")
        for model in options.models:
            compare(options, model, corpus)


if __name__ == "__main__":
    main()
