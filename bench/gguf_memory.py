#!/usr/bin/env python3
"""The memory of `latebind embed` with GGUF files, and how far each precision is from f32.

Usage: bench/gguf_memory.py MODEL.gguf … [--program build/release/bin/latebind] [--precisions f32,bf16,int8] [--count 8]

Prints the peak resident size, the part of it that is mapped files, the seconds of the process, and, if f32 is the first
precision, the least cosine to its vectors. Needs numpy. bench/gguf_model.py makes models of random numbers.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEGABYTE = 1e6
EVERY = 0.01  # seconds between looks at the process


def mapped_bytes(pid):
    """The resident pages of mapped files; 0 when the process has ended."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssFile:"))


def embed(options, model, precision, texts, out):
    """Returns the vectors, the peak resident bytes, the most of them that were mapped files, and the seconds."""
    command = [options.program, "embed", model, "--device", "native:CPU", "--strict", "--precision", precision, "--threads",
               str(options.threads), "--output-format", "npy", "-o", out, texts]  # fmt: skip
    begin = time.monotonic()
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    mapped = 0
    done = 0
    while not done:
        mapped = max(mapped, mapped_bytes(process.pid))
        done, status, usage = os.wait4(process.pid, os.WNOHANG)
        time.sleep(0 if done else EVERY)
    seconds = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {process.returncode}")
    return numpy.load(out).astype(numpy.float64), usage.ru_maxrss * 1024, mapped, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/latebind")
    parser.add_argument("--precisions", default="f32,bf16,int8", help="words with commas")
    parser.add_argument("--count", type=int, default=8, help="texts of the corpus")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        texts = f"{folder}/corpus.txt"
        subprocess.run([sys.executable, ROOT / "bench/corpus.py", texts, "--count", str(options.count)], check=True)
        print(f"{'model':24} {'precision':10} {'peak MB':>8} {'mapped MB':>10} {'seconds':>8} {'least cosine':>13}")
        for model in options.models:
            exact = None
            for precision in options.precisions.split(","):
                vectors, peak, mapped, seconds = embed(options, model, precision, texts, f"{folder}/vectors.npy")
                exact = vectors if precision == "f32" else exact
                cosine = "" if exact is None else f"{(exact * vectors).sum(axis=1).min():.6f}"
                print(f"{model.stem:24} {precision:10} {peak / MEGABYTE:8.0f} {mapped / MEGABYTE:10.0f} {seconds:8.1f} {cosine:>13}",
                      flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
