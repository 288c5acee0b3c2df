"""Vectors that are not finite are refused, in every format and by every command, with the text's position."""

import json
import struct

import numpy
import pytest
from support import VENDORS_FIRST, bad, copy_model, good

LINES = "a man\nthe cat\na man\n"


def spoil(folder, word):
    """A copy of the tiny model in whose vectors a text with `word` gives no number."""
    model = copy_model(folder)
    token = json.loads((model / "tokenizer.json").read_text())["model"]["vocab"][word]
    weights = model / "model.safetensors"
    data = bytearray(weights.read_bytes())
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    (name,) = [key for key in header if key.endswith("word_embeddings.weight")]
    begin, end = (8 + size + offset for offset in header[name]["data_offsets"])
    table = numpy.frombuffer(data[begin:end], "<f4").reshape(header[name]["shape"]).copy()
    table[token] = numpy.nan
    data[begin:end] = table.tobytes()
    weights.unlink()
    weights.write_bytes(data)
    return model


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return spoil(tmp_path_factory.mktemp("spoilt"), "cat")


@pytest.mark.parametrize("backend", ["openvino", "onnxruntime", "native"])
@pytest.mark.parametrize("form", ["jsonl", "npy", "f32"])
def test_embed_refuses_them_in_every_format(model, tmp_path, backend, form):
    out = tmp_path / "out"
    arguments = ("embed", "--model", model, "--device", backend, "--output-format", form, "-o", out)
    line = bad(1, *arguments, input=LINES)
    assert f"texts[1]: {backend}:CPU gave a vector with numbers that are not finite, in f32" in line
    assert not out.exists()
    good(*arguments, input="a man\n")
    assert out.exists()


def test_native_refuses_them_in_every_precision(model):
    devices = json.loads(good("devices", "--json").stdout)["devices"]
    (precisions,) = [one["metadata"]["Precisions"] for one in devices if one["id"] == "native:CPU"]
    for precision in precisions.split(","):
        arguments = ("embed", "--model", model, "--device", "native", "--precision", precision)
        assert f"texts[1]: native:CPU gave a vector with numbers that are not finite, in {precision}" in bad(
            1, *arguments, input=LINES)
        good(*arguments, input="a man\n")


def test_search_shows_no_scores_that_are_none(model):
    line = bad(1, "search", "--model", model, *VENDORS_FIRST, "--query", "a man", "-", input=LINES)
    assert "texts[1]: openvino:CPU gave a vector" in line
    assert "--query: texts[0]: openvino:CPU gave a vector" in bad(1, "search", "--model", model, *VENDORS_FIRST, "--query", "cat", "-",
                                                                  input=LINES)
