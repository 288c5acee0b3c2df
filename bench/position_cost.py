#!/usr/bin/env python3
"""What positions in the attention cost on `native`: the processor time of texts by MPNet, whose attention has a bias for
each distance, beside that by BERT of the same sizes, which has none.

Both networks have random weights and the tokenizer of a given BERT folder. Each is opened with few and with many copies of
the same texts; what more texts take more is theirs. Processor time counts, so other work on the machine changes it little.
Needs NumPy. Usage:

  bench/position_cost.py --build build/release --model build/runtime/model/all-MiniLM-L6-v2 --texts corpus.txt [--rounds 5]
"""

import argparse
import json
import os
import shutil
import statistics
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy

HIDDEN, WIDE, HEADS, LAYERS, POSITIONS, VOCABULARY = 384, 1536, 12, 6, 514, 30527
ATTENTION = {
    "bert": ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"),
    "mpnet": ("attention.attn.q", "attention.attn.k", "attention.attn.v", "attention.attn.o"),
}
NORMS = {"bert": "attention.output.LayerNorm", "mpnet": "attention.LayerNorm"}


def shapes_of(kind):
    yield "embeddings.word_embeddings.weight", (VOCABULARY, HIDDEN)
    yield "embeddings.position_embeddings.weight", (POSITIONS, HIDDEN)
    if kind == "bert":
        yield "embeddings.token_type_embeddings.weight", (2, HIDDEN)
    else:
        yield "encoder.relative_attention_bias.weight", (32, HEADS)
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        place = f"encoder.layer.{layer}."
        linear = [(name, HIDDEN, HIDDEN) for name in ATTENTION[kind]]
        for name, out, inner in [*linear, ("intermediate.dense", WIDE, HIDDEN), ("output.dense", HIDDEN, WIDE)]:
            yield f"{place}{name}.weight", (out, inner)
            yield f"{place}{name}.bias", (out,)
        norms += [place + NORMS[kind], place + "output.LayerNorm"]
    for name in norms:
        yield f"{name}.weight", (HIDDEN,)
        yield f"{name}.bias", (HIDDEN,)


def write_model(kind, source, folder):
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("model.safetensors", "onnx"))
    drawn = numpy.random.default_rng(7)
    head, body = {}, bytearray()
    for name, shape in shapes_of(kind):
        numbers = (drawn.standard_normal(shape) * 0.05 + name.endswith("LayerNorm.weight")).astype("<f4").tobytes()
        head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(body), len(body) + len(numbers)]}
        body += numbers
    text = json.dumps(head).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + body)
    config = {
        "model_type": kind, "vocab_size": VOCABULARY, "max_position_embeddings": POSITIONS, "hidden_size": HIDDEN,
        "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": WIDE, "hidden_act": "gelu",
        "layer_norm_eps": 1e-12, "pad_token_id": 1 if kind == "mpnet" else 0}  # fmt: skip
    if kind == "mpnet":
        config["relative_attention_num_buckets"] = 32
    else:
        config["type_vocab_size"] = 2
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def processor_seconds(program, model, texts):
    """Of one run, which ends before this returns."""
    before = os.times()
    subprocess.run(
        [program, "embed", "-q", "--model", model, "--device", "native:CPU", "--strict", "--output", os.devnull],
        input=texts, check=True, text=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    program = arguments.build / "bin/latebind"
    lines = arguments.texts.read_text().splitlines()
    kinds = {"as they are": lines, "to 256 tokens": [" ".join(lines[i : i + 12]) for i in range(0, len(lines), 12)]}
    with tempfile.TemporaryDirectory() as folder:
        models = {kind: write_model(kind, arguments.model, Path(folder) / kind) for kind in ("bert", "mpnet")}
        for kind, texts in kinds.items():
            some, many = "\n".join(texts[: len(texts) // 10]) + "\n", "\n".join(texts) + "\n"
            ratios, seconds = [], {name: [] for name in models}
            for _ in range(arguments.rounds):
                for name, model in models.items():
                    took = processor_seconds(program, model, many) - processor_seconds(program, model, some)
                    seconds[name].append(took)
                ratios.append(seconds["mpnet"][-1] / seconds["bert"][-1])
            print(
                f"texts {kind}: bert {statistics.median(seconds['bert']):.2f} s, mpnet "
                f"{statistics.median(seconds['mpnet']):.2f} s, ratio {statistics.median(ratios):.3f} "
                f"({min(ratios):.3f} to {max(ratios):.3f})", flush=True)


if __name__ == "__main__":
    main()
