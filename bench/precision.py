#!/usr/bin/env python3
"""What a precision changes: vectors of the corpus in it beside the same device's in f32.

Prints the least and the mean cosine of 2,200 texts, and how many of the ten nearest of 2,000 texts stay the same, by 200
queries. Usage:

  bench/precision.py [--build build/release] [--device native:CPU] [--precision bf16,int8]

Needs numpy, and the model that scripts/setup brings.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODEL = ROOT / "build/runtime/model/all-MiniLM-L6-v2"
TEXTS = 2000
QUERIES = 200
NEAREST = 10


def embed(options, precision, corpus, folder):
    out = f"{folder}/{precision}.npy"
    subprocess.run(
        [options.build / "bin/latebind", "embed", "--model", MODEL, "--device", options.device, "--precision", precision,
         "--strict", "--output-format", "npy", "-o", out, corpus],
        check=True,
    )  # fmt: skip
    vectors = numpy.load(out).astype(numpy.float64)
    return vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)


def nearest(vectors):
    return numpy.argsort(-(vectors[TEXTS:] @ vectors[:TEXTS].T), axis=1, kind="stable")[:, :NEAREST]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--device", default="native:CPU")
    parser.add_argument("--precision", default="bf16,int8", help="words with commas")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        corpus = f"{folder}/corpus.txt"
        subprocess.run([sys.executable, ROOT / "bench/corpus.py", corpus, "--count", str(TEXTS + QUERIES)], check=True)
        exact = embed(options, "f32", corpus, folder)
        print(f"{'':8} {'least cosine':>14} {'mean cosine':>14} {'same of the nearest ten':>24}")
        for precision in options.precision.split(","):
            vectors = embed(options, precision, corpus, folder)
            cosines = (exact * vectors).sum(axis=1)
            shared = [len(set(a) & set(b)) for a, b in zip(nearest(exact), nearest(vectors))]
            print(f"{precision:8} {cosines.min():14.6f} {cosines.mean():14.6f} {numpy.mean(shared) / NEAREST:24.4f}")


if __name__ == "__main__":
    main()
