"""Models like bge-m3: dense, sparse and multi-vector results of one pass."""

import contextlib
import json
import subprocess
import time
import urllib.error
import urllib.request

import numpy
import pytest
from m3_model import ROBERTA, linear, make_m3, of_states, projections, scores_of
from support import PROGRAM, bad, good

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


@contextlib.contextmanager
def serving(model, ready):
    """A server of the model; posts bodies to it."""
    command = [PROGRAM, "serve", model, "--listen", "127.0.0.1:0", "--ready-file", ready, "--device", "native:CPU", "--precision", "f32"]
    process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not ready.exists():
            assert process.poll() is None
            time.sleep(0.01)
        address = ready.read_text().splitlines()[0]

        def post(path, body, status=200):
            request = urllib.request.Request(address + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    assert answer.status == status
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                with error:
                    assert error.code == status, error.read()
                    return json.load(error)

        yield post
    finally:
        process.terminate()
        process.wait(60)


def wanted_scores(model, weights=(0.4, 0.2, 0.4)):
    """{line number: score} for the first line as the query; empty lines are skipped."""
    states = embed(model, "token_vectors")
    results = [of_states(text["vectors"], ids) for text, ids in zip(states, ids_of(model), strict=True)]
    return {i + 1: scores_of(results[0], results[i], weights) for i, line in enumerate(LINES) if line}


def ranked(*arguments, tmp_path):
    file = tmp_path / "lines.txt"
    file.write_text("".join(line + "\n" for line in LINES))
    done = good(*arguments, "--query", LINES[0], "--device", "native:CPU", "--precision", "f32", "--json", "-q", file)
    return {one["line"]: one["score"] for one in json.loads(done.stdout)["results"]}


def test_the_mixed_score_is_flagembeddings(model, tmp_path):
    for arguments, weights in (
        (("rerank", model), (0.4, 0.2, 0.4)),
        (("rerank", model, "--mix", "1,0,0.5"), (1, 0, 0.5)),
        (("search", model, "--mix", "0.4,0.2,0.4"), (0.4, 0.2, 0.4)),
        (("search", model, "--rerank", model), (0.4, 0.2, 0.4)),
    ):
        found = ranked(*arguments, tmp_path=tmp_path)
        wanted = wanted_scores(model, weights)
        assert list(found) == sorted(wanted, key=wanted.get, reverse=True)
        assert [found[line] for line in found] == pytest.approx([wanted[line] for line in found], abs=1e-5)
    # Without --mix, search compares the vectors of texts, which an index keeps.
    dense = wanted_scores(model, (1, 0, 0))
    found = ranked("search", model, tmp_path=tmp_path)
    assert [found[line] for line in found] == pytest.approx([dense[line] for line in found], abs=1e-5)


def test_weights_that_are_none_are_refused(model, tmp_path):
    file = tmp_path / "lines.txt"
    file.write_text("a dog\n")
    for text in ("1,2", "1,2,3,4", "a,b,c", "0,0,0", "-1,1,1", "nan,1,1", "1,,1"):
        assert f"--mix: '{text}': the weights of the mixed score" in bad(2, "rerank", model, "--query", "a", "--mix", text, file)
    assert "does not give all three" in bad(1, "rerank", ROBERTA, "--query", "a", "--mix", "1,1,1", file)
    assert "--index keeps one vector per line" in bad(
        2, "search", model, "--query", "a", "--mix", "1,1,1", "--index", tmp_path / "index", file)


def test_a_server_gives_all_three_and_ranks_by_the_mixed_score(model, tmp_path):
    states = embed(model, "token_vectors")
    results = [of_states(text["vectors"], ids) for text, ids in zip(states, ids_of(model), strict=True)]
    with serving(model, tmp_path / "ready") as post:
        answer = post("/latebind/encode", {"inputs": LINES, "outputs": ALL.split(",")})
        for i, wanted in enumerate(results):
            agree(answer["results"][i], wanted)
        documents = [line for line in LINES if line]
        for mix, weights in ((None, (0.4, 0.2, 0.4)), ([0, 1, 0], (0, 1, 0))):
            body = {"query": LINES[0], "documents": documents} | ({"mix": mix} if mix else {})
            found = {LINES.index(documents[one["index"]]) + 1: one["relevance_score"] for one in post("/v1/rerank", body)["results"]}
            assert found == pytest.approx(wanted_scores(model, weights), abs=1e-5)
        assert "'mix' must be an array" in post("/v1/rerank", {"query": "a", "documents": ["b"], "mix": [1, 2]}, 400)["message"]
