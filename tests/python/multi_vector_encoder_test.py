"""MultiVectorEncoder: the reference's vectors and scores, and an error for everything else."""

import asyncio
import json
import pickle

import latebind
import numpy
import pytest
from latebind.integrations.sentence_transformers import MultiVectorEncoder as Shaped
from support import SOURCE, TINY

FOLDER = SOURCE / "tests" / "data" / "multi_vector_encoders"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
TEXTS = EXPECTED["texts"]


@pytest.fixture(scope="module")
def model():
    with latebind.MultiVectorEncoder(FOLDER / "bert", device="native") as opened:
        yield opened


def assert_same(found, expected):
    assert len(found) == len(expected)
    for one, wanted in zip(found, expected, strict=True):
        assert one.dtype == numpy.float32 and one.ndim == 2
        numpy.testing.assert_allclose(one, numpy.array(wanted, numpy.float32).reshape(one.shape), atol=1e-5)


@pytest.mark.parametrize("name", sorted(EXPECTED["queries"]))
def test_vectors_and_scores_are_the_references(name):
    with latebind.MultiVectorEncoder(FOLDER / name, device="native", strict=True) as opened:
        queries, documents = opened.encode_query(TEXTS), opened.encode_document(TEXTS)
        assert_same(queries, EXPECTED["queries"][name])
        assert_same(documents, EXPECTED["documents"][name])
        numpy.testing.assert_allclose(opened.scores(queries, documents), EXPECTED["scores"][name], rtol=1e-5)


def test_every_form_of_texts(model):
    expected = EXPECTED["documents"]["bert"]
    assert_same(model.encode(TEXTS), expected)
    assert_same(model.encode(iter(TEXTS), role="document"), expected)
    assert_same([model.encode(TEXTS[1])], expected[1:2])
    assert_same(asyncio.run(model.aencode(TEXTS, role="query")), EXPECTED["queries"]["bert"])
    assert model.encode([]) == []
    vectors = model.encode(TEXTS[1])
    vectors[:] = 0  # the caller's own
    assert_same(pickle.loads(pickle.dumps(model)).encode(TEXTS[:2]), expected[:2])
    assert model.dimension == vectors.shape[1] and f"{model.dimension} dimensions a token" in repr(model)
    assert model.max_tokens >= 1 and model.max_query_tokens >= 1


def test_tokens_are_those_that_it_computes(model):
    for role in ("query", "document"):
        before = model.stats.tokens
        model.encode(TEXTS, role=role)
        counts = model.count_tokens(TEXTS, role=role)
        assert counts.sum() == model.stats.tokens - before
        assert [len(ids) for ids in model.tokenize(TEXTS, role=role)] == counts.tolist()
    query, document = model.tokenize("hello", role="query"), model.tokenize("hello")
    assert len(query) == model.max_query_tokens and query[1] != document[1]  # markers
    assert model.count_tokens("hello", prompt="") < len(document)


def test_offsets_are_places_in_the_text_with_its_marker(model):
    text = "hello \u00e9 world"
    for role, before in (
        ("query", model.query_prompt),
        ("document", model.document_prompt),
        (None, model.document_prompt),
    ):
        assert before
        ids, places = model.tokenize(text, offsets=True, role=role)
        assert ids.tolist() == model.tokenize(text, role=role).tolist()
        found = [(before + text)[begin:end] for begin, end in places]
        assert "".join(found).replace(" ", "") == (before + text).replace(" ", "")
        assert places[0].tolist() == [0, 0]  # [CLS]
    assert model.tokenize(text, offsets=True, role="query")[1][-1].tolist() == [0, 0]  # what fills queries up
    ids, places = model.tokenize(text, offsets=True, prompt="\u4e2d ")
    assert [("\u4e2d " + text)[begin:end] for begin, end in places][1] == "\u4e2d"


def test_scores_take_one_array_for_a_text(model):
    query, document = model.encode_query(TEXTS[1]), model.encode_document(TEXTS[2])
    found = model.scores(query, document)
    assert found.shape == (1, 1) and found[0, 0] == pytest.approx(EXPECTED["scores"]["bert"][1][2], rel=1e-5)
    assert model.scores([], [document]).shape == (0, 1)
    assert model.scores([query], [document[:0]])[0, 0] < -1e8


def test_what_is_wrong_is_named(model):
    query = model.encode_query(TEXTS[1])
    with pytest.raises(latebind.CallerError, match=r"documents\[1\] has the shape"):
        model.scores([query], [query, query[:, :3]])
    with pytest.raises(latebind.CallerTypeError, match=r"queries\[0\] is str"):
        model.scores(["a"], [query])
    with pytest.raises(latebind.CallerError, match="role is 'both'"):
        model.encode("a", role="both")
    with pytest.raises(latebind.CallerError, match="gives vectors"):
        latebind.MultiVectorEncoder(TINY, device="native")
    with pytest.raises(latebind.CallerError, match="opens it as MultiVectorEncoder"):
        latebind.Embedder(FOLDER / "bert", device="native")
    with pytest.raises(latebind.CallerTypeError):
        model.encode(["a", None])


# -- In the shape of sentence-transformers' --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(EXPECTED["queries"]))
def test_the_shaped_one_gives_the_same(name):
    shaped = Shaped(FOLDER / name, device="native")
    queries, documents = shaped.encode_query(TEXTS), shaped.encode_document(TEXTS, convert_to_numpy=True)
    assert_same(queries, EXPECTED["queries"][name])
    assert_same(documents, EXPECTED["documents"][name])
    numpy.testing.assert_allclose(shaped.similarity(queries, documents), EXPECTED["scores"][name], rtol=1e-5)
    pairs = shaped.similarity_pairwise(queries, documents)
    numpy.testing.assert_allclose(pairs, numpy.diag(EXPECTED["scores"][name]), rtol=1e-5)


def test_the_shaped_one_compares_by_either_function():
    shaped = Shaped(FOLDER / "bert", device="native", similarity_fn_name="maxsim")
    queries, documents = shaped.encode_query(TEXTS[1:]), shaped.encode_document(TEXTS[1:])
    whole = shaped.similarity(queries, documents)
    shaped.similarity_fn_name = "meanmaxsim"
    counts = numpy.array([len(query) for query in queries])[:, None]
    numpy.testing.assert_allclose(shaped.similarity(queries, documents), whole / counts, rtol=1e-5)
    with pytest.raises(latebind.CallerError, match="known: maxsim, meanmaxsim"):
        shaped.similarity_fn_name = "cosine"


def test_the_shaped_one_refuses_what_cannot_be_met():
    shaped = Shaped(FOLDER / "bert", device="native")
    for arguments, message in (
        ({"output_value": None}, "output_value is None"),
        ({"token_pooling": 2}, "token_pooling"),
        ({"task": "both"}, "task is 'both'"),
        ({"convert_to_tensor": True}, "no argument 'convert_to_tensor'"),
        ({"pool": 1}, "pool"),
    ):
        with pytest.raises(latebind.CallerError, match=message):
            shaped.encode("a", **arguments)
