#!/usr/bin/env python3
"""Writes the golden vectors of a model: what sentence-transformers computes of tests/data/golden/minilm.jsonl, text by text.

Needs sentence-transformers (6.x) and torch; the tests need neither. Usage: make_golden.py MODEL_FOLDER
"""

import json
import sys
from pathlib import Path

import numpy
from sentence_transformers import SentenceTransformer

GOLDEN = Path(__file__).resolve().parents[1] / "data" / "golden"


def main():
    folder = Path(sys.argv[1])
    lines = (GOLDEN / "minilm.jsonl").read_text(encoding="utf-8").splitlines()
    model = SentenceTransformer(str(folder), device="cpu")
    vectors = [model.encode(json.loads(line)["text"], convert_to_numpy=True) for line in lines]
    numpy.save(GOLDEN / f"{folder.resolve().name}.npy", numpy.stack(vectors).astype(numpy.float32))


if __name__ == "__main__":
    main()
