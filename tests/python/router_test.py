"""Routers: the reference's vectors of queries and of documents, of both classes and their counterparts in the shape of
sentence-transformers'."""

import asyncio
import json

import latebind
import numpy
import pytest
from latebind.integrations.sentence_transformers import SentenceTransformer
from latebind.integrations.sentence_transformers import SparseEncoder as ShapedSparseEncoder
from support import SOURCE, assert_sparse

FOLDER = SOURCE / "tests" / "data" / "routers"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
TEXTS, VECTORS = EXPECTED["texts"], EXPECTED["vectors"]


def near(found, expected):
    numpy.testing.assert_allclose(found, numpy.array(expected, numpy.float32), atol=1e-5)


@pytest.mark.parametrize("name", ["alone", "published", "sparse"])
def test_sparse_ones(name):
    with latebind.SparseEncoder(FOLDER / name, device="native", strict=True) as model:
        assert_sparse(model.encode(TEXTS), VECTORS[name][""])
        assert_sparse(model.encode_query(TEXTS), VECTORS[name]["query"])
        assert_sparse(model.encode_document(TEXTS), VECTORS[name]["document"])
        assert_sparse(model.encode(TEXTS, role="query"), VECTORS[name]["query"])
        assert_sparse(asyncio.run(model.aencode(TEXTS, role="query")), VECTORS[name]["query"])
        # An index is a token of either way.
        assert model.encode_query("a dog", prompt="").tokens(0).keys() <= {"a", "dog"}
    shaped = ShapedSparseEncoder(FOLDER / name, device="native")
    assert_sparse(shaped.encode_query(TEXTS), VECTORS[name]["query"])
    assert_sparse(shaped.encode_document(TEXTS), VECTORS[name]["document"])
    assert_sparse(shaped.encode(TEXTS, task="query", prompt_name="query"), VECTORS[name]["query"])
    numpy.testing.assert_allclose(
        shaped.similarity(shaped.encode_query(TEXTS), shaped.encode_document(TEXTS)).shape, (len(TEXTS), len(TEXTS))
    )


@pytest.mark.parametrize("name", ["networks", "shared", "static"])
def test_dense_ones(name):
    with latebind.Embedder(FOLDER / name, device="native", strict=True) as model:
        near(model.encode_query(TEXTS), VECTORS[name]["query"])
        near(model.encode_query(TEXTS[0]), VECTORS[name]["query"][0])
        near(model.encode_document(TEXTS), VECTORS[name]["document"])
        near(model.encode(iter(TEXTS), role="query"), VECTORS[name]["query"])
        near(numpy.concatenate(list(model.encode_stream(TEXTS, role="document"))), VECTORS[name]["document"])
        if "" in VECTORS[name]:
            near(model.encode(TEXTS), VECTORS[name][""])
    shaped = SentenceTransformer(FOLDER / name, device="native")
    near(shaped.encode_query(TEXTS), VECTORS[name]["query"])
    near(shaped.encode_document(TEXTS), VECTORS[name]["document"])


def test_who_does_not_say_the_role_is_asked():
    with latebind.Embedder(FOLDER / "networks", device="native") as model:
        for call in (model.encode, model.tokenize, lambda texts: next(iter(model.encode_stream(texts)))):
            with pytest.raises(latebind.CallerError, match="give the role of the texts, query or document"):
                call(["a"])
        with pytest.raises(latebind.CallerError, match="role is 'question'; known: query, document"):
            model.encode("a", role="question")
        with pytest.raises(latebind.CallerError, match="role is 1"):
            model.encode("a", role=1)


def test_tokens_are_those_of_the_role():
    with latebind.Embedder(FOLDER / "static", device="native") as model:
        query, document = (model.tokenize("a dog", role=role) for role in ("query", "document"))
        assert document[1:-1].tolist() == query.tolist()
        assert model.count_tokens("a dog", role="query") == 2
        ids, places = model.tokenize("a dog", role="query", offsets=True)
        assert places.tolist() == [[0, 1], [2, 5]] and ids.tolist() == query.tolist()


def test_a_bundle_has_the_table_too(tmp_path):
    latebind.compile(FOLDER / "sparse", tmp_path / "sparse.lbundle", "openvino:CPU")
    with latebind.SparseEncoder(tmp_path / "sparse.lbundle", device="native") as model:
        assert_sparse(model.encode_query(TEXTS), VECTORS["sparse"]["query"])
        assert model.query_prompt == "the cat "
