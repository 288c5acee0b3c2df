"""Models like bge-m3: dense, sparse and multi-vector results of one pass."""

import json

import numpy
import pytest
from m3_model import linear, make_m3, of_states, projections
from support import bad, good

LINES = ["the cat sat on the mat.", "a dog", "", "the the cats and unknown dogs ran, it was the cat", "three small trees"]
DEVICES = ["native:CPU", "openvino:CPU", "onnxruntime:CPU"]
ALL = "dense,sparse,multi_vector"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_m3(tmp_path_factory.mktemp("m3") / "model")


def embed(model, outputs, device="native:CPU"):
    lines = "".join(json.dumps({"text": line}) + "\n" for line in LINES)
    done = good("embed", model, "--outputs", outputs, "--device", device, "--precision", "f32", "--strict", "-q",
                "--input-format", "jsonl", input=lines)
    return [json.loads(line) for line in done.stdout.splitlines()]


def ids_of(model):
    lines = "".join(line + "\n" for line in LINES)
    return [[int(word) for word in line.split()] for line in good("tokens", model, input=lines).stdout.splitlines()]


def agree(found, wanted, absolute=1e-5):
    dense, sparse, vectors = wanted
    assert found["dense"] == pytest.approx(list(dense), abs=absolute)
    weights = dict(zip(found["sparse"]["indices"], found["sparse"]["values"], strict=True))
    assert list(weights) == sorted(weights) == sorted(sparse)
    assert [weights[token] for token in weights] == pytest.approx([sparse[token] for token in weights], abs=absolute)
    assert numpy.asarray(found["multi_vector"]).shape == vectors.shape
    assert numpy.asarray(found["multi_vector"]) == pytest.approx(vectors, abs=absolute)


@pytest.mark.parametrize("device", DEVICES)
def test_one_pass_gives_what_flagembedding_makes_of_the_tokens(model, device):
    states = embed(model, "token_vectors", device)
    for found, text, ids in zip(embed(model, ALL, device), states, ids_of(model), strict=True):
        agree(found, of_states(text["vectors"], ids))


def test_each_output_is_the_same_alone_and_beside_the_vectors_of_all_tokens(model):
    together = embed(model, ALL)
    for output, key in (("dense", "embedding"), ("sparse", "sparse"), ("multi_vector", "vectors")):
        for found, alone in zip(together, embed(model, output), strict=True):
            if output == "sparse":
                assert found["sparse"]["indices"] == alone["indices"]
                assert found["sparse"]["values"] == pytest.approx(alone["values"], abs=1e-6)
            else:
                assert numpy.asarray(found[output]) == pytest.approx(numpy.asarray(alone[key]), abs=1e-6)
    for line, ids in zip(embed(model, "token_vectors,multi_vector"), ids_of(model), strict=True):
        assert (len(line["token_vectors"]), len(line["multi_vector"])) == (len(ids), len(ids) - 1)


def test_a_bundle_has_them_too(model, tmp_path):
    good("compile", model, "-o", tmp_path / "bundle")
    for found, wanted in zip(embed(tmp_path / "bundle", ALL), embed(model, ALL), strict=True):
        assert found == wanted


def test_projections_that_do_not_fit_are_refused_by_name(tmp_path):
    folder = make_m3(tmp_path / "model")
    weight, bias = projections()["sparse"]
    for name, content, said in (
        ("sparse", linear(weight[:, 1:], bias), "sparse_linear.pt: tensor 'weight' has the shape [1,31]"),
        ("sparse", linear(weight * numpy.nan, bias), "sparse_linear.pt: a number in it is not finite"),
        ("colbert", linear(weight[0], bias), "colbert_linear.pt: 'weight' has the shape [32]"),
        ("colbert", b"else", "colbert_linear.pt: not a file of torch.save()"),
    ):
        file = folder / f"{name}_linear.pt"
        kept = file.read_bytes()
        file.write_bytes(content)
        assert said in bad(1, "embed", folder, input="text\n")
        file.write_bytes(kept)


def test_a_model_without_them_has_no_such_outputs(tmp_path):
    folder = make_m3(tmp_path / "model")
    (folder / "colbert_linear.pt").unlink()
    assert [list(line) for line in embed(folder, "dense,sparse")] == [["index", "dense", "sparse"]] * len(LINES)
    assert "has no output 'multi_vector'; its outputs are: dense, sparse, token_vectors" in bad(
        1, "embed", folder, "--outputs", "multi_vector", input="text\n")
