"""Real models beyond the default one, from their folders as they are on the hub: the vectors of sentence-transformers.

The golden vectors are those that make_golden.py wrote; the ids are those of `tokenizers`. Run by scripts/test --models.
"""

import json
import os
import sys
from pathlib import Path

import numpy
import pytest
import tokenizers

SOURCE = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "cli"))

from support import GOLDEN, cosines, good, vectors  # noqa: E402

MODELS = ["all-mpnet-base-v2"]
TEXTS = GOLDEN / "minilm.jsonl"
# What each precision keeps of f32, on the processors that have it.
LEAST = {"f32": 0.999999, "bf16": 0.999, "f16": 0.9999, "int8": 0.99}


def folder_of(model):
    return SOURCE / "build" / "runtime" / "model" / model


def embed(model, *options):
    done = good("embed", "--model", folder_of(model), "--input-format", "jsonl", *options, TEXTS)
    return vectors(done.stdout), done.stderr


@pytest.mark.parametrize("backend", ["openvino", "onnxruntime", "native"])
@pytest.mark.parametrize("model", MODELS)
def test_gives_the_golden_vectors(model, backend):
    found, report = embed(model, "--device", f"{backend}:CPU", "--precision", "f32")
    assert cosines(found, numpy.load(GOLDEN / f"{model}.npy")).min() >= LEAST["f32"]
    assert f"{backend}:CPU" in report
    assert numpy.abs(numpy.linalg.norm(found, axis=1) - 1).max() < 1e-6


@pytest.mark.parametrize("model", MODELS)
def test_does_not_depend_on_the_company_of_a_text(model):
    together, _ = embed(model, "--device", "native:CPU", "--precision", "f32")
    alone, _ = embed(model, "--device", "native:CPU", "--precision", "f32", "--batch-tokens", "1")
    assert numpy.array_equal(together, alone)


@pytest.mark.parametrize("precision", ["bf16", "f16", "int8"])
@pytest.mark.parametrize("model", MODELS)
def test_other_precisions_of_native_stay_near(model, precision):
    devices = {one["id"]: one for one in json.loads(good("devices", "--json").stdout)["devices"]}
    if precision not in devices["native:CPU"]["metadata"]["Precisions"].replace(",", " ").split():
        pytest.skip(f"this processor has no {precision}")
    found, _ = embed(model, "--device", "native:CPU", "--precision", precision)
    assert cosines(found, numpy.load(GOLDEN / f"{model}.npy")).min() >= LEAST[precision]


@pytest.mark.parametrize("model", MODELS)
def test_ids_are_the_references(model, tmp_path):
    reference = tokenizers.Tokenizer.from_file(str(folder_of(model) / "tokenizer.json"))
    reference.no_padding()
    lines = [json.loads(line)["text"] for line in TEXTS.read_text(encoding="utf-8").splitlines()]
    lines += ["<pad> in a text", "<s></s> <mask> [UNK]", "naïve Ångström \u0130stanbul", "日本語 と English"]
    file = tmp_path / "lines.jsonl"
    file.write_text("".join(json.dumps({"text": line}) + "\n" for line in lines), encoding="utf-8")
    reference.enable_truncation(max_length=300)
    done = good("tokens", "--model", folder_of(model), "--input-format", "jsonl", "--max-tokens", "300", file)
    found = [[int(number) for number in line.split()] for line in done.stdout.splitlines()]
    assert found == [reference.encode(line).ids for line in lines]
