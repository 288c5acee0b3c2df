"""Encoder: several outputs of one pass, and the outputs of every kind of model."""

import asyncio
import pickle
import sys

import latebind
import numpy as np
import pytest
from latebind import CrossEncoder, Embedder, Encoder, MultiVectorEncoder, SparseEncoder
from support import CROSS_ENCODERS, RECORDED, SOURCE, SPARSE, SPARSE_ENCODERS, TINY, assert_sparse, close_while_used

sys.path.append(str(SOURCE / "tests" / "cli"))
from m3_model import make_m3, projections, unit

TEXTS = ["a cat sat on the mat", "", "the dog"]
MULTI_VECTOR = SOURCE / "tests" / "data" / "multi_vector_encoders" / "bert"
ROUTERS = SOURCE / "tests" / "data" / "routers"


@pytest.fixture(scope="module")
def both():
    with Encoder(TINY, outputs=["dense", "token_vectors"]) as opened:
        yield opened


def test_one_pass_gives_all_outputs(both):
    before = both.stats.texts
    found = both.encode(TEXTS)
    assert list(found) == ["dense", "token_vectors"]
    assert both.stats.texts == before + len(TEXTS)
    with Embedder(TINY) as embedder:
        np.testing.assert_allclose(found["dense"], embedder.encode(TEXTS), atol=1e-5)
    counts = both.count_tokens(TEXTS).tolist()
    assert [vectors.shape for vectors in found["token_vectors"]] == [(count, 32) for count in counts]


def test_a_call_requests_some_of_them(both):
    assert list(both.encode(TEXTS, ["token_vectors"])) == ["token_vectors"]
    found = both.encode(TEXTS, outputs=["dense"], dimensions=4)
    assert found["dense"].shape == (3, 4)
    np.testing.assert_allclose(np.linalg.norm(found["dense"], axis=1), 1, atol=1e-5)
    vectors = both.encode(TEXTS, outputs=("token_vectors",), normalize=True)["token_vectors"]
    np.testing.assert_allclose(np.linalg.norm(vectors[0], axis=1), 1, atol=1e-5)


def test_one_text_and_none(both):
    found = both.encode("a cat")
    assert found["dense"].shape == (32,)
    assert found["token_vectors"].shape == (both.count_tokens("a cat"), 32)
    found = both.encode([])
    assert found["dense"].shape == (0, 32) and found["token_vectors"] == []


def test_results_belong_to_the_caller(both):
    found = both.encode(TEXTS)
    kept = found["dense"].copy()
    found["dense"] += 1
    for _ in range(3):
        both.encode(TEXTS)
    np.testing.assert_allclose(found["dense"], kept + 1, atol=1e-6)


def test_many_texts_are_in_order(both):
    texts = [TEXTS[index % 3] for index in range(9000)]
    found = both.encode(texts, show_progress=True)
    once = both.encode(TEXTS)
    np.testing.assert_allclose(found["dense"], np.tile(once["dense"], (3000, 1)), atol=1e-5)
    assert len(found["token_vectors"]) == 9000


def test_it_describes_its_outputs(both):
    assert [(output.name, output.form, output.dimension) for output in both.outputs] == [
        ("dense", "dense", 32),
        ("token_vectors", "ragged", 32),
    ]
    assert both.input == "text"
    assert "dense, token_vectors" in repr(both)
    with Encoder(CROSS_ENCODERS / "roberta") as encoder:
        assert encoder.input == "pair"
        assert [(output.name, output.form, output.dimension) for output in encoder.outputs] == [("score", "scores", 3)]
    with Encoder(MULTI_VECTOR) as encoder:
        assert (encoder.max_query_tokens, encoder.max_tokens) == (11, 12)


def test_models_of_every_kind():
    with Encoder(SPARSE_ENCODERS / "bert", device="native") as encoder:
        assert_sparse(encoder.encode(SPARSE["texts"])["sparse"], SPARSE["vectors"]["bert"])
    pairs = [tuple(pair) for pair in RECORDED["pairs"]]
    with Encoder(CROSS_ENCODERS / "bert", device="native") as encoder:
        scores = encoder.encode(pairs)["score"]
        np.testing.assert_allclose(scores, [row[0] for row in RECORDED["scores"]["bert"]], atol=1e-5)
        logits = encoder.encode(pairs, raw=True)["score"]
        np.testing.assert_allclose(logits, [row[0] for row in RECORDED["logits"]["bert"]], atol=1e-5)
        assert encoder.encode(pairs[0])["score"] == pytest.approx(scores[0], abs=1e-6)
    with Encoder(MULTI_VECTOR, device="native") as encoder, MultiVectorEncoder(MULTI_VECTOR, device="native") as late:
        one, other = encoder.encode_query("a cat")["multi_vector"], late.encode_query("a cat")
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_one_route_of_a_router():
    with Encoder(ROUTERS / "networks", role="query") as encoder:
        assert encoder.encode_query("a cat")["dense"].ndim == 1
        with pytest.raises(latebind.CallerError, match="opened for texts with another role"):
            encoder.encode_document("a cat")


@pytest.mark.parametrize(
    ("outputs", "kind", "text"),
    [
        (["dens"], latebind.CallerError, r"there is no output 'dens' \(did you mean dense\?\)"),
        (["sparse"], latebind.CallerError, "has no output 'sparse'; its outputs are: dense, token_vectors"),
        (["dense", "dense"], latebind.CallerError, "given twice"),
        ([], latebind.CallerError, "outputs is empty"),
        ("dense", latebind.CallerTypeError, "outputs is str"),
        ([1], latebind.CallerTypeError, "outputs is int"),
    ],
)
def test_wrong_outputs_are_refused_when_it_opens(outputs, kind, text):
    with pytest.raises(kind, match=text):
        Encoder(TINY, outputs=outputs)


def test_wrong_calls_are_refused(both):
    with pytest.raises(latebind.CallerError, match="not opened with the output 'sparse'; it has: dense, token_vectors"):
        both.encode(TEXTS, ["sparse"])
    with pytest.raises(latebind.CallerError, match="requested twice"):
        both.encode(TEXTS, ["dense", "dense"])
    with pytest.raises(latebind.CallerTypeError, match="text 1 is NoneType"):
        both.encode(["a", None])
    with Encoder(CROSS_ENCODERS / "bert") as pairs:
        with pytest.raises(latebind.CallerTypeError, match="pairs is str"):
            pairs.encode("a")
        with pytest.raises(latebind.CallerError, match="scores have neither"):
            pairs.encode([("a", "b")], normalize=True)


@pytest.mark.parametrize("view", [Embedder, CrossEncoder, SparseEncoder, MultiVectorEncoder])
def test_views_refuse_models_without_their_output(view):
    folders = {
        Embedder: TINY,
        CrossEncoder: CROSS_ENCODERS / "bert",
        SparseEncoder: SPARSE_ENCODERS / "bert",
        MultiVectorEncoder: MULTI_VECTOR,
    }
    for owner, folder in folders.items():
        if owner is view:
            continue
        with pytest.raises(latebind.CallerError, match=f"has no output .* opens it as {owner.__name__}"):
            view(folder)


def test_pickling_keeps_outputs_and_role(both):
    with pickle.loads(pickle.dumps(both)) as again:
        assert again.outputs == both.outputs
        np.testing.assert_allclose(again.encode("a")["dense"], both.encode("a")["dense"], atol=1e-6)
    assert both.settings["outputs"] == ["dense", "token_vectors"]


def test_it_is_awaited_and_ends_in_time(both):
    found = asyncio.run(both.aencode(TEXTS))
    assert found["dense"].shape == (3, 32)
    with pytest.raises(latebind.TransientError, match="deadline"):
        both.encode(TEXTS, deadline=-1)


def test_closing_it_while_it_is_used():
    close_while_used(Encoder(TINY, outputs=["dense", "token_vectors"]), lambda opened: opened.encode(TEXTS))


def test_three_results_of_one_pass(tmp_path):
    """As of bge-m3: the same as those of an encoder for each."""
    model = make_m3(tmp_path / "model")
    names = ["dense", "sparse", "multi_vector"]
    with Encoder(model, outputs=names, device="native:CPU") as encoder:
        found = encoder.encode(TEXTS)
        counts = encoder.count_tokens(TEXTS)
    assert list(found) == names
    assert [vectors.shape for vectors in found["multi_vector"]] == [(count - 1, 32) for count in counts]
    with Encoder(model, outputs=["token_vectors"], device="native:CPU") as encoder:
        states = encoder.encode(TEXTS)["token_vectors"]
    weight, bias = projections()["colbert"]
    for text, vectors in enumerate(states):
        np.testing.assert_allclose(found["dense"][text], unit(vectors[0]), atol=1e-5)
        np.testing.assert_allclose(found["multi_vector"][text], unit(vectors[1:] @ weight.T + bias), atol=1e-5)
    with Encoder(model, outputs=["sparse"], device="native:CPU") as encoder:
        sparse = encoder.encode(TEXTS)["sparse"]
    assert found["sparse"].indices.tolist() == sparse.indices.tolist()
    np.testing.assert_allclose(found["sparse"].values, sparse.values, atol=1e-6)
