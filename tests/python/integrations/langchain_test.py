"""LatebindEmbeddings, LatebindReranker and LatebindCrossEncoder in the real LangChain."""

import asyncio
import pickle

import latebind
import numpy
import pytest
from frameworks import (
    ANSWER,
    DOCUMENTS,
    MODEL,
    NO_RERANKERS,
    QUESTION,
    RECORDED,
    RERANKER,
    TEXTS,
    TINY,
    cosines,
    recorded_query,
)
from langchain_core.cross_encoders import BaseCrossEncoder
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore
from latebind.integrations.langchain import LatebindCrossEncoder, LatebindEmbeddings, LatebindReranker


@pytest.fixture(scope="module")
def embeddings(embedder):
    return LatebindEmbeddings(embedder)


def test_documents_and_queries_are_the_golden_vectors(embeddings, golden):
    assert isinstance(embeddings, Embeddings)
    found = embeddings.embed_documents(TEXTS)
    assert isinstance(found, list) and isinstance(found[0][0], float)
    assert cosines(numpy.array(found), golden).min() >= 0.99999
    assert cosines(numpy.array([embeddings.embed_query(text) for text in TEXTS[:4]]), golden[:4]).min() >= 0.99999
    assert embeddings.embed_documents([]) == []


def test_a_store_finds_what_was_meant(embeddings):
    store = InMemoryVectorStore(embeddings)
    store.add_documents([Document(text, metadata={"row": row}) for row, text in enumerate(DOCUMENTS)])
    [found] = store.similarity_search(QUESTION, k=1)
    assert (found.page_content, found.metadata) == (ANSWER, {"row": 1})
    [found] = asyncio.run(store.asimilarity_search(QUESTION, k=1))
    assert found.page_content == ANSWER
    assert [each.page_content for each in store.as_retriever(search_kwargs={"k": 1}).invoke(QUESTION)] == [ANSWER]


def test_the_asynchronous_calls_give_the_same(embeddings):
    async def both():
        return await asyncio.gather(embeddings.aembed_documents(DOCUMENTS), embeddings.aembed_query(QUESTION))

    documents, query = asyncio.run(both())
    numpy.testing.assert_allclose(documents, embeddings.embed_documents(DOCUMENTS), atol=1e-5)
    numpy.testing.assert_allclose(query, embeddings.embed_query(QUESTION), atol=1e-5)


def test_the_prompts_of_the_model_or_one_s_own_come_before_texts(prompted):
    with latebind.Embedder(prompted) as plain:
        own = LatebindEmbeddings(plain)
        numpy.testing.assert_allclose(own.embed_query("a"), plain.encode("Frage: a"), atol=1e-5)
        numpy.testing.assert_allclose(own.embed_documents(["a"]), plain.encode(["Absatz: a"]), atol=1e-5)
        other = LatebindEmbeddings(plain, query_prompt="q: ", document_prompt="")
        numpy.testing.assert_allclose(other.embed_query("a"), plain.encode("q: a"), atol=1e-5)
        numpy.testing.assert_allclose(other.embed_documents(["a"]), plain.encode(["a"]), atol=1e-5)
        numpy.testing.assert_allclose(asyncio.run(other.aembed_query("a")), plain.encode("q: a"), atol=1e-5)


def test_settings_go_to_the_model_and_survive_pickling(tiny):
    first = LatebindEmbeddings(TINY, device="cpu", max_tokens=16, normalize=True, dimensions=5, query_prompt="q: ")
    assert first.embedder.max_tokens == 16
    expected = tiny.encode("q: a", normalize=True, dimensions=5)
    again = pickle.loads(pickle.dumps(first))
    for each in (first, again):
        numpy.testing.assert_allclose(each.embed_query("a"), expected, atol=1e-5)
        assert each.embedder.settings == {"device": "cpu", "precision": "f32", "strict": False, "max_tokens": 16}
        each.embedder.close()
    assert repr(first).startswith("LatebindEmbeddings(<Embedder ")
    with pytest.raises(latebind.ClosedError):
        first.embed_query("a")


def test_an_open_embedder_is_shared_and_not_opened_again(tiny):
    assert LatebindEmbeddings(tiny).embedder is tiny


@pytest.mark.parametrize(
    ("model", "arguments", "text"),
    [
        (None, {}, "model is NoneType"),
        ("/nonexistent/model", {}, "/nonexistent/model"),
        (TINY, {"max_tokns": 1}, r"'max_tokns' \(did you mean max_tokens\?\)"),
        (TINY, {"normalize": 1}, "normalize is int"),
        (TINY, {"dimensions": 0}, "dimensions is 0"),
        (TINY, {"dimensions": "5"}, "dimensions is str"),
        (TINY, {"query_prompt": 3}, "query_prompt is int"),
        (TINY, {"document_prompt": "\ud800"}, "document_prompt contains a lone surrogate"),
    ],
)
def test_wrong_arguments_are_the_caller_s_errors(model, arguments, text):
    with pytest.raises(latebind.CallerError, match=text):
        LatebindEmbeddings(model, **arguments)


def test_an_open_embedder_takes_no_settings(tiny):
    with pytest.raises(latebind.CallerError, match="device, max_tokens: the Embedder is open and has its settings"):
        LatebindEmbeddings(tiny, device="cpu", max_tokens=5)


@pytest.mark.parametrize(
    ("texts", "text"), [("a", "texts is a str"), (["a", None], "text 1 is NoneType"), (3, "texts is int")]
)
def test_wrong_texts_are_the_caller_s_errors(tiny, texts, text):
    embeddings = LatebindEmbeddings(tiny)
    with pytest.raises(latebind.CallerTypeError, match=text):
        embeddings.embed_documents(texts)
    with pytest.raises(latebind.CallerTypeError, match=text):
        asyncio.run(embeddings.aembed_documents(texts))
    for query in (None, ["a"], b"a"):
        with pytest.raises(latebind.CallerTypeError, match="the query is"):
            embeddings.embed_query(query)


def test_too_many_dimensions_are_refused(tiny):
    with pytest.raises(latebind.CallerError, match="dimensions is 10000"):
        LatebindEmbeddings(tiny, dimensions=10000).embed_query("a")


def test_it_opens_a_model_of_its_own():
    embeddings = LatebindEmbeddings(str(MODEL), device="openvino", strict=True)
    with embeddings.embedder as opened:
        assert opened.attestation.backend == "openvino"
        assert len(embeddings.embed_query("a")) == 384


# -- Scores ------------------------------------------------------------------------------------------------------------

QUERY, CANDIDATES, SCORES = recorded_query("bert")
ORDER = sorted(range(len(SCORES)), key=lambda index: -SCORES[index])


def candidates():
    return [Document(text, metadata={"row": row}, id=str(row)) for row, text in enumerate(CANDIDATES)]


def test_documents_are_kept_by_their_scores(reranker):
    compressor = LatebindReranker(reranker)
    assert isinstance(compressor, BaseDocumentCompressor) and compressor.top_n == 3
    given = candidates()
    for found in (
        compressor.compress_documents(given, QUERY),
        asyncio.run(compressor.acompress_documents(given, QUERY, callbacks=None)),
    ):
        assert [(each.id, each.metadata["row"]) for each in found] == [(str(row), row) for row in ORDER[:3]]
        assert [each.page_content for each in found] == [CANDIDATES[row] for row in ORDER[:3]]
        scores = [each.metadata["relevance_score"] for each in found]
        assert all(type(score) is float for score in scores)
        assert scores == pytest.approx([SCORES[row] for row in ORDER[:3]], abs=1e-5)
    assert all("relevance_score" not in each.metadata for each in given)
    compressor.top_n = 1
    assert len(compressor.compress_documents(given, QUERY)) == 1
    assert len(LatebindReranker(reranker, top_n=None).compress_documents(given, QUERY)) == len(given)
    assert list(compressor.compress_documents([], QUERY)) == []


def test_a_cross_encoder_scores_pairs(reranker):
    encoder = LatebindCrossEncoder(reranker)
    assert isinstance(encoder, BaseCrossEncoder) and encoder.cross_encoder is reranker
    found = encoder.score([tuple(pair) for pair in RECORDED["pairs"]])
    assert type(found[0]) is float
    assert found == pytest.approx([row[0] for row in RECORDED["scores"]["bert"]], abs=1e-5)
    assert encoder.score([]) == []
    assert repr(encoder).startswith("LatebindCrossEncoder(<CrossEncoder ")


@pytest.mark.parametrize("kind", [LatebindReranker, LatebindCrossEncoder])
def test_what_scores_is_opened_with_its_settings_and_survives_pickling(kind):
    first = kind(RERANKER, device="native", max_tokens=12)
    again = pickle.loads(pickle.dumps(first))
    for each in (first, again):
        assert (each.cross_encoder.max_tokens, each.cross_encoder.settings["device"]) == (12, "native")
    assert again.cross_encoder is not first.cross_encoder
    first.cross_encoder.close()
    again.cross_encoder.close()


@pytest.mark.parametrize("kind", [LatebindReranker, LatebindCrossEncoder])
@pytest.mark.parametrize(("model", "arguments", "text"), NO_RERANKERS)
def test_wrong_arguments_of_what_scores_are_the_caller_s_errors(kind, model, arguments, text):
    with pytest.raises(latebind.CallerError, match=text):
        kind(model, **arguments)


def test_wrong_calls_of_what_scores_are_the_caller_s_errors(reranker, tiny):
    with pytest.raises(latebind.CallerError, match="device: the CrossEncoder is open and has its settings"):
        LatebindReranker(reranker, device="cpu")
    with pytest.raises(latebind.CallerTypeError, match="model is Embedder"):
        LatebindReranker(tiny)
    with pytest.raises(latebind.CallerError, match="top_n is 0"):
        LatebindReranker(reranker, top_n=0)
    with pytest.raises(latebind.CallerTypeError, match="the query is NoneType"):
        LatebindReranker(reranker).compress_documents(candidates(), None)
    with pytest.raises(ValueError, match="frozen"):
        LatebindReranker(reranker).model = "other"
    with pytest.raises(latebind.CallerError, match=r"pairs\[1\]\[1\] is NoneType"):
        LatebindCrossEncoder(reranker).score([("a", "b"), ("a", None)])
