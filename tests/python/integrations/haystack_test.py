"""LatebindTextEmbedder, LatebindDocumentEmbedder and LatebindRanker in the real Haystack."""

import asyncio

import latebind
import numpy
import pytest
from frameworks import ANSWER, CLASSIFIER, DOCUMENTS, MODEL, QUESTION, RERANKER, TEXTS, TINY, cosines, recorded_query
from haystack import Document, Pipeline
from haystack.components.embedders.types import DocumentEmbedder, TextEmbedder
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.components.writers import DocumentWriter
from haystack.core.errors import DeserializationError
from haystack.document_stores.in_memory import InMemoryDocumentStore
from latebind.integrations.haystack import LatebindDocumentEmbedder, LatebindRanker, LatebindTextEmbedder

SETTINGS = {"device": "cpu", "precision": "f32", "strict": False}
BOTH = [LatebindTextEmbedder, LatebindDocumentEmbedder]


def vector(component, text, **meta):
    if isinstance(component, LatebindTextEmbedder):
        return component.run(text)["embedding"]
    return component.run([Document(content=text, meta=meta)])["documents"][0].embedding


def test_queries_and_documents_are_the_golden_vectors(embedder, golden):
    of_texts: TextEmbedder = LatebindTextEmbedder(embedder)
    of_documents: DocumentEmbedder = LatebindDocumentEmbedder(embedder)
    documents = [Document(content=text, meta={"row": row}) for row, text in enumerate(TEXTS)]
    found = of_documents.run(documents)["documents"]
    assert [(each.id, each.content, each.meta) for each in found] == [(d.id, d.content, d.meta) for d in documents]
    assert documents[0].embedding is None
    assert isinstance(found[0].embedding, list) and isinstance(found[0].embedding[0], float)
    assert cosines(numpy.array([each.embedding for each in found]), golden).min() >= 0.99999
    query = of_texts.run(TEXTS[0])["embedding"]
    assert cosines(numpy.array([query]), golden[:1]).min() >= 0.99999
    assert of_documents.run([]) == {"documents": []}


def pipelines(embedder):
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    writing = Pipeline()
    writing.add_component("embedder", LatebindDocumentEmbedder(embedder))
    writing.add_component("writer", DocumentWriter(store))
    writing.connect("embedder.documents", "writer.documents")
    asking = Pipeline()
    asking.add_component("embedder", LatebindTextEmbedder(embedder))
    asking.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=1))
    asking.connect("embedder.embedding", "retriever.query_embedding")
    return writing, asking


def test_pipelines_find_what_was_meant(embedder):
    writing, asking = pipelines(embedder)
    writing.run({"embedder": {"documents": [Document(content=text) for text in DOCUMENTS]}})
    [found] = asking.run({"embedder": {"text": QUESTION}})["retriever"]["documents"]
    assert found.content == ANSWER


def test_pipelines_run_asynchronously(embedder):
    writing, asking = pipelines(embedder)

    async def both():
        await writing.run_async({"embedder": {"documents": [Document(content=text) for text in DOCUMENTS]}})
        return await asking.run_async({"embedder": {"text": QUESTION}})

    [found] = asyncio.run(both())["retriever"]["documents"]
    assert found.content == ANSWER


def test_a_pipeline_is_kept_as_text(tiny):
    first = Pipeline()
    first.add_component("texts", LatebindTextEmbedder(TINY, device="cpu", max_tokens=16, dimensions=5, prefix="q: "))
    first.add_component("documents", LatebindDocumentEmbedder(TINY, suffix=" end", meta_fields_to_embed=["title"]))
    text = first.dumps()
    # Haystack loads what is not its own only where the caller names it.
    with pytest.raises(DeserializationError, match="allow"):
        Pipeline.loads(text)
    second = Pipeline.loads(text, allowed_modules=["latebind.integrations.*"])
    assert second == first
    second.warm_up()
    found = second.run({"texts": {"text": "a"}, "documents": {"documents": [Document(content="b")]}})
    numpy.testing.assert_allclose(found["texts"]["embedding"], tiny.encode("q: a", dimensions=5), atol=1e-5)
    [document] = found["documents"]["documents"]
    numpy.testing.assert_allclose(document.embedding, tiny.encode("b end"), atol=1e-5)
    assert second.get_component("texts").embedder.settings == {**SETTINGS, "max_tokens": 16}


@pytest.mark.parametrize("kind", BOTH)
def test_what_is_kept_of_a_component_makes_the_same_again(tiny, kind):
    first = kind(tiny, prefix="p: ", suffix=" s", normalize=True)
    data = first.to_dict()
    assert data["type"] == f"latebind.integrations.haystack.{kind.__name__}"
    assert data["init_parameters"]["model"] == str(TINY)
    second = kind.from_dict(data)
    assert second.to_dict() == data
    assert second.embedder is not tiny
    numpy.testing.assert_allclose(vector(second, "a"), tiny.encode("p: a s", normalize=True), atol=1e-5)


def test_fields_of_meta_come_before_the_content(tiny):
    component = LatebindDocumentEmbedder(tiny, meta_fields_to_embed=["title", "year"], embedding_separator=" | ")
    whole = vector(component, "text", year=1984, title="A title", other="x")
    numpy.testing.assert_allclose(whole, tiny.encode("A title | 1984 | text"), atol=1e-5)
    numpy.testing.assert_allclose(vector(component, "text", title=None), tiny.encode("text"), atol=1e-5)
    numpy.testing.assert_allclose(vector(component, None, year=1984), tiny.encode("1984 | "), atol=1e-5)


def test_the_prompts_of_the_model_or_one_s_own_come_before_texts(prompted):
    with latebind.Embedder(prompted) as plain:
        for kind, own in ((LatebindTextEmbedder, "Frage: "), (LatebindDocumentEmbedder, "Absatz: ")):
            numpy.testing.assert_allclose(vector(kind(plain), "a"), plain.encode(own + "a"), atol=1e-5)
            numpy.testing.assert_allclose(vector(kind(plain, prefix=""), "a"), plain.encode("a"), atol=1e-5)


def test_the_asynchronous_calls_give_the_same(tiny):
    texts, documents = LatebindTextEmbedder(tiny), LatebindDocumentEmbedder(tiny)
    numpy.testing.assert_allclose(asyncio.run(texts.run_async("a"))["embedding"], vector(texts, "a"), atol=1e-5)
    [found] = asyncio.run(documents.run_async([Document(content="a")]))["documents"]
    numpy.testing.assert_allclose(found.embedding, vector(documents, "a"), atol=1e-5)


@pytest.mark.parametrize("kind", BOTH)
def test_the_model_is_opened_by_warm_up_once(kind):
    component = kind("/nonexistent/model")
    with pytest.raises(latebind.CallerError, match="/nonexistent/model"):
        component.warm_up()
    component = kind(MODEL, device="openvino", strict=True)
    component.warm_up()
    opened = component.embedder
    component.warm_up()
    assert component.embedder is opened and opened.attestation.backend == "openvino"
    opened.close()


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("model", "arguments", "text"),
    [
        (None, {}, "model is NoneType"),
        (TINY, {"max_tokns": 1}, r"'max_tokns' \(did you mean max_tokens\?\)"),
        (TINY, {"batch_size": 32}, "batch_size"),
        (TINY, {"prefix": 3}, "prefix is int"),
        (TINY, {"suffix": None}, "suffix is NoneType"),
        (TINY, {"dimensions": True}, "dimensions is bool"),
    ],
)
def test_wrong_arguments_are_the_caller_s_errors(kind, model, arguments, text):
    with pytest.raises(latebind.CallerError, match=text):
        kind(model, **arguments)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"meta_fields_to_embed": "title"}, "meta_fields_to_embed is a str"),
        ({"meta_fields_to_embed": [3]}, "meta_fields_to_embed is int"),
        ({"embedding_separator": None}, "embedding_separator is NoneType"),
        ({"progress_bar": "yes"}, "progress_bar is str"),
    ],
)
def test_wrong_arguments_of_documents_are_the_caller_s_errors(tiny, arguments, text):
    with pytest.raises(latebind.CallerTypeError, match=text):
        LatebindDocumentEmbedder(tiny, **arguments)


def test_what_is_no_text_or_document_is_the_caller_s_error(tiny):
    texts, documents = LatebindTextEmbedder(tiny), LatebindDocumentEmbedder(tiny)
    for wrong in (None, ["a"], Document(content="a")):
        with pytest.raises(latebind.CallerTypeError, match="to a LatebindDocumentEmbedder"):
            texts.run(wrong)
    for wrong in (None, "a", Document(content="a")):
        with pytest.raises(latebind.CallerTypeError, match="to a LatebindTextEmbedder"):
            documents.run(wrong)
    with pytest.raises(latebind.CallerTypeError, match="document 1 is str"):
        documents.run([Document(content="a"), "b"])


# -- Scores ------------------------------------------------------------------------------------------------------------

QUERY, CANDIDATES, SCORES = recorded_query("bert")
ORDER = sorted(range(len(SCORES)), key=lambda index: -SCORES[index])


def candidates():
    return [Document(content=text, meta={"row": row}, score=row / 10) for row, text in enumerate(CANDIDATES)]


def test_documents_are_ranked_by_their_scores(reranker):
    ranker = LatebindRanker(reranker)
    given = candidates()
    for found in (ranker.run(QUERY, given)["documents"], asyncio.run(ranker.run_async(QUERY, given))["documents"]):
        assert [(each.id, each.content, each.meta) for each in found] == [
            (given[row].id, CANDIDATES[row], {"row": row}) for row in ORDER
        ]
        assert [each.score for each in found] == pytest.approx([SCORES[row] for row in ORDER], abs=1e-5)
    assert [each.score for each in given] == [row / 10 for row in range(len(given))]
    assert ranker.run(QUERY, []) == {"documents": []}


def test_few_documents_are_kept(reranker):
    def rows(ranker, **arguments):
        return [each.meta["row"] for each in ranker.run(QUERY, candidates(), **arguments)["documents"]]

    ranker = LatebindRanker(reranker, top_k=2)
    assert rows(ranker) == ORDER[:2] and rows(ranker, top_k=3) == ORDER[:3]
    assert (
        len(LatebindRanker(reranker).run(QUERY, [Document(content=str(row)) for row in range(20)])["documents"]) == 10
    )
    least = (SCORES[ORDER[1]] + SCORES[ORDER[2]]) / 2
    assert rows(LatebindRanker(reranker, score_threshold=least)) == ORDER[:2]
    assert rows(ranker, score_threshold=2) == []
    assert rows(LatebindRanker(reranker, score_threshold=2), score_threshold=0) == ORDER


def test_of_the_same_documents_the_first_counts(reranker):
    given = [
        Document(content="a dog", id="1", score=0.1),
        Document(content="cats", id="2"),
        Document(content="x", id="1"),
    ]
    found = LatebindRanker(reranker).run(QUERY, given)["documents"]
    assert {each.id: each.content for each in found} == {"1": "a dog", "2": "cats"}


def test_fields_of_meta_are_ranked_too(reranker):
    ranker = LatebindRanker(reranker, meta_fields_to_embed=["title"], embedding_separator=" | ")
    [found] = ranker.run(QUERY, [Document(content="a dog", meta={"title": "cats"})])["documents"]
    assert found.score == pytest.approx(float(reranker.predict((QUERY, "cats | a dog"))), abs=1e-6)


def test_a_pipeline_ranks_and_is_kept_as_text():
    store = InMemoryDocumentStore()
    store.write_documents(candidates())
    first = Pipeline()
    first.add_component("retriever", InMemoryBM25Retriever(store, top_k=len(CANDIDATES)))
    first.add_component("ranker", LatebindRanker(RERANKER, device="native", top_k=1, score_threshold=0.0))
    first.connect("retriever.documents", "ranker.documents")
    second = Pipeline.loads(first.dumps(), allowed_modules=["latebind.integrations.*"])
    assert second == first
    second.get_component("retriever").document_store = store  # what is kept of it has no documents
    second.warm_up()
    rows = {each.meta["row"] for each in first.get_component("retriever").run(QUERY)["documents"]}
    best = next(row for row in ORDER if row in rows)
    for pipeline in (first, second):
        [found] = pipeline.run({"retriever": {"query": QUERY}, "ranker": {"query": QUERY}})["ranker"]["documents"]
        assert found.content == CANDIDATES[best]
    ranker = second.get_component("ranker")
    assert ranker.cross_encoder.settings == {**SETTINGS, "device": "native"}
    assert LatebindRanker.from_dict(ranker.to_dict()).to_dict() == ranker.to_dict()


def test_the_ranker_s_model_is_opened_by_warm_up_once():
    ranker = LatebindRanker(RERANKER, device="native")
    ranker.warm_up()
    opened = ranker.cross_encoder
    ranker.warm_up()
    assert ranker.cross_encoder is opened
    opened.close()
    for model, text in (("/nonexistent/model", "/nonexistent"), (TINY, "latebind embed"), (CLASSIFIER, "3 labels")):
        with pytest.raises(latebind.CallerError, match=text):
            LatebindRanker(model).warm_up()


@pytest.mark.parametrize(
    ("model", "arguments", "text"),
    [
        (None, {}, "model is NoneType"),
        (RERANKER, {"max_tokns": 1}, r"did you mean max_tokens\?"),
        (RERANKER, {"top_k": 0}, "top_k is 0"),
        (RERANKER, {"score_threshold": "much"}, "score_threshold is str"),
        (RERANKER, {"meta_fields_to_embed": "title"}, "meta_fields_to_embed is a str"),
    ],
)
def test_wrong_arguments_of_the_ranker_are_the_caller_s_errors(model, arguments, text):
    with pytest.raises(latebind.CallerError, match=text):
        LatebindRanker(model, **arguments)


def test_wrong_calls_of_the_ranker_are_the_caller_s_errors(reranker):
    ranker = LatebindRanker(reranker)
    for query, documents, text in (
        (None, candidates(), "the query is NoneType"),
        ("a", "b", "documents is str; give a list of Document, and the query as a str"),
        ("a", [Document(content="a"), "b"], "document 1 is str"),
    ):
        with pytest.raises(latebind.CallerTypeError, match=text):
            ranker.run(query, documents)
    with pytest.raises(latebind.CallerError, match="top_k is -1"):
        ranker.run("a", candidates(), top_k=-1)
