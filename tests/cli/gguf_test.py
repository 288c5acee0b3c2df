"""Models in one GGUF file (tests/data/gguf/make.py) against transformers' results of the same numbers."""

import json
import os
import pathlib
import shutil

import numpy
import pytest
from support import bad, good, needs_native_int8

DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "gguf"
EXPECTED = json.loads((DATA / "expected.json").read_text(encoding="utf-8"))["models"]
DEVICES = ["native:CPU", "openvino:CPU", "onnxruntime:CPU"]
EMBEDDERS = [name for name in EXPECTED if name != "reranker"]


def embed(model, device, *more):
    lines = "".join(json.dumps({"text": text}) + "\n" for text in EXPECTED["bert"]["texts"])
    done = good("embed", model, "--device", device, "--strict", "-q", "--input-format", "jsonl", *more, input=lines)
    return numpy.array([json.loads(line)["embedding"] for line in done.stdout.splitlines()])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", EMBEDDERS)
def test_vectors_are_the_references(name, device):
    found = embed(DATA / f"{name}.gguf", device, "--precision", "f32")
    wanted = numpy.array(EXPECTED[name]["results"])
    assert found.shape == wanted.shape
    cosines = (found * wanted).sum(1) / numpy.linalg.norm(found, axis=1) / numpy.linalg.norm(wanted, axis=1)
    assert cosines.min() >= 0.9999999, cosines


@pytest.mark.parametrize("device", DEVICES)
def test_a_reranker_gives_the_references_scores(device):
    expected = EXPECTED["reranker"]
    for (query, text), (wanted,) in zip(expected["texts"], expected["results"], strict=True):
        if not query or not text:
            continue
        done = good("rerank", "--model", DATA / "reranker.gguf", "--query", query, "--device", device, "--precision", "f32",
                    "--strict", "--input-format", "jsonl", "--json", "-", input=json.dumps({"text": text}) + "\n")  # fmt: skip
        assert json.loads(done.stdout)["results"][0]["score"] == pytest.approx(wanted, abs=1e-5)


# Of Q8_0, and of Q4_0 and Q4_1, whose matrices stay in four bits.
@pytest.mark.parametrize("name", ["qwen3", "qwen2", "gemma"])
def test_in_int8_the_vectors_are_close(name):
    needs_native_int8(DATA / f"{name}.gguf")
    found = embed(DATA / f"{name}.gguf", "native:CPU", "--precision", "int8")
    wanted = numpy.array(EXPECTED[name]["results"])
    assert (found * wanted).sum(1).min() >= 0.99


def test_a_folder_with_one_is_the_model_and_inspect_says_what_it_is(tmp_path):
    shutil.copy(DATA / "qwen3.gguf", tmp_path / "any-name.gguf")
    for place in (tmp_path, tmp_path / "any-name.gguf"):
        described = json.loads(good("inspect", place, "--json").stdout)
        assert described["network"]["types"] == "Q8_0"
        assert described["network"]["form"] == "weights"
        assert "whether vectors are normalized" in described["assumed"]
    assert embed(tmp_path, "native:CPU") == pytest.approx(embed(DATA / "qwen3.gguf", "native:CPU"), abs=1e-7)
    shutil.copy(DATA / "qwen2.gguf", tmp_path / "other.gguf")
    assert "2 GGUF files; name one" in bad(1, "embed", tmp_path, "--text", "x")


def test_a_bundle_of_one_gives_the_same(tmp_path):
    good("compile", DATA / "llama.gguf", "-o", tmp_path / "bundle")
    for device in DEVICES:
        found = embed(tmp_path / "bundle", device, "--precision", "f32")
        assert found == pytest.approx(numpy.array(EXPECTED["llama"]["results"]), abs=1e-5)


@pytest.mark.parametrize("content", ["", "some text, and no model"])
@pytest.mark.parametrize("name", ["m.gguf", "M.GGUF"])
def test_what_is_named_like_one_and_is_none_is_told(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    for command in (["embed", tmp_path / name, "--text", "x"], ["tokens", tmp_path / name, "--text", "x"],
                    ["inspect", tmp_path / name], ["compile", tmp_path / name, "-o", tmp_path / "bundle"]):  # fmt: skip
        said = bad(1, *command)
        assert "not a GGUF file: its first bytes are not GGUF" in said, said
        assert name in said and "is missing before it" not in said, said


def test_a_damaged_one_was_meant_to_be_the_model(tmp_path):
    for name in "m.gguf", "m.bin":
        (tmp_path / name).write_bytes((DATA / "qwen3.gguf").read_bytes()[:1000])
        said = bad(1, "embed", tmp_path / name)
        assert "is it cut short?" in said and "is missing before it" not in said, said


def test_a_suffix_in_upper_case_is_the_same(tmp_path):
    shutil.copy(DATA / "qwen3.gguf", tmp_path / "M.GGUF")
    assert embed(tmp_path, "native:CPU") == pytest.approx(embed(DATA / "qwen3.gguf", "native:CPU"), abs=1e-7)


@pytest.mark.parametrize("name", ["pipe", "pipe.gguf"])
def test_a_named_pipe_is_no_model(tmp_path, name):
    os.mkfifo(tmp_path / name)
    for command in (["embed", tmp_path / name, "--text", "x"], ["inspect", tmp_path / name],
                    ["compile", tmp_path / name, "-o", tmp_path / "bundle"]):  # fmt: skip
        assert name in bad(1, *command, timeout=20)
    assert "not a GGUF" not in bad(1, "embed", tmp_path / name, "--text", "x", timeout=20)
    # One in a folder is no model of it.
    shutil.copy(DATA / "qwen3.gguf", tmp_path / "m.gguf")
    good("embed", tmp_path, "--text", "x", "--device", "native:CPU", "-q", timeout=60)
