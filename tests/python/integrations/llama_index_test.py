"""LatebindEmbedding and LatebindRerank in the real LlamaIndex."""

import asyncio
import copy
import pickle

import latebind
import numpy
import pytest
from frameworks import ANSWER, DOCUMENTS, MODEL, NO_RERANKERS, QUESTION, RERANKER, TEXTS, TINY, cosines, recorded_query
from latebind.integrations.llama_index import LatebindEmbedding, LatebindRerank
from llama_index.core import StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.storage.kvstore import SimpleKVStore

SETTINGS = {"device": "cpu", "precision": "f32", "strict": False}


@pytest.fixture(scope="module")
def embedding(embedder):
    return LatebindEmbedding(embedder)


def nodes():
    return [TextNode(text=text, id_=str(row)) for row, text in enumerate(DOCUMENTS)]


def test_texts_and_queries_are_the_golden_vectors(embedding, golden):
    assert isinstance(embedding, BaseEmbedding)
    found = embedding.get_text_embedding_batch(TEXTS)
    assert isinstance(found[0][0], float)
    assert cosines(numpy.array(found), golden).min() >= 0.99999
    singles = [embedding.get_text_embedding(TEXTS[0]), embedding.get_query_embedding(TEXTS[0])]
    assert cosines(numpy.array(singles), golden[[0, 0]]).min() >= 0.99999


def test_batches_of_any_size_give_the_same(embedder, golden):
    small = LatebindEmbedding(embedder, embed_batch_size=5)
    assert cosines(numpy.array(small.get_text_embedding_batch(TEXTS)), golden).min() >= 0.99999
    assert LatebindEmbedding(embedder).embed_batch_size == 2048


def test_an_index_finds_what_was_meant_also_after_it_was_saved(embedding, tmp_path):
    index = VectorStoreIndex(nodes(), embed_model=embedding)
    [found] = index.as_retriever(similarity_top_k=1).retrieve(QUESTION)
    assert found.node.get_content() == ANSWER
    [found] = asyncio.run(index.as_retriever(similarity_top_k=1).aretrieve(QUESTION))
    assert found.node.node_id == "1"

    index.storage_context.persist(tmp_path)
    storage = StorageContext.from_defaults(persist_dir=str(tmp_path))
    again = load_index_from_storage(storage, embed_model=embedding)
    [found] = again.as_retriever(similarity_top_k=1).retrieve(QUESTION)
    assert found.node.node_id == "1"


def test_it_is_a_step_of_a_pipeline(embedding, golden):
    pipeline = IngestionPipeline(transformations=[embedding])
    done = pipeline.run(nodes=[TextNode(text=text) for text in TEXTS])
    assert cosines(numpy.array([node.embedding for node in done]), golden).min() >= 0.99999
    [done] = asyncio.run(pipeline.arun(nodes=[TextNode(text=TEXTS[0])]))
    assert cosines(numpy.array([done.embedding]), golden[:1]).min() >= 0.99999


def test_the_asynchronous_calls_give_the_same(embedding):
    async def all_of_them():
        return await asyncio.gather(
            embedding.aget_text_embedding_batch(DOCUMENTS),
            embedding.aget_text_embedding(DOCUMENTS[0]),
            embedding.aget_query_embedding(QUESTION),
        )

    batch, one, query = asyncio.run(all_of_them())
    numpy.testing.assert_allclose(batch, embedding.get_text_embedding_batch(DOCUMENTS), atol=1e-5)
    numpy.testing.assert_allclose(one, batch[0], atol=1e-5)
    numpy.testing.assert_allclose(query, embedding.get_query_embedding(QUESTION), atol=1e-5)


def test_the_prompts_of_the_model_or_one_s_own_come_before_texts(prompted):
    with latebind.Embedder(prompted) as plain:
        own = LatebindEmbedding(plain)
        numpy.testing.assert_allclose(own.get_query_embedding("a"), plain.encode("Frage: a"), atol=1e-5)
        numpy.testing.assert_allclose(own.get_text_embedding("a"), plain.encode("Absatz: a"), atol=1e-5)
        other = LatebindEmbedding(plain, query_prompt="", document_prompt="d: ")
        numpy.testing.assert_allclose(other.get_query_embedding("a"), plain.encode("a"), atol=1e-5)
        numpy.testing.assert_allclose(other.get_text_embedding("a"), plain.encode("d: a"), atol=1e-5)


@pytest.mark.parametrize(
    "again",
    [
        lambda first: LatebindEmbedding.from_dict(first.to_dict()),
        lambda first: LatebindEmbedding.from_json(first.to_json()),
        lambda first: pickle.loads(pickle.dumps(first)),
        copy.deepcopy,
    ],
)
def test_what_is_kept_of_it_makes_the_same_again(tiny, again):
    first = LatebindEmbedding(
        TINY, device="cpu", max_tokens=16, normalize=True, dimensions=5, query_prompt="q: ", embed_batch_size=7
    )
    second = again(first)
    assert type(second) is LatebindEmbedding and second.to_dict() == first.to_dict()
    assert (second.class_name(), second.model_name, second.embed_batch_size) == ("LatebindEmbedding", str(TINY), 7)
    assert second.embedder is not first.embedder
    assert second.embedder.settings == {**SETTINGS, "max_tokens": 16}
    expected = tiny.encode("q: a", normalize=True, dimensions=5)
    numpy.testing.assert_allclose(second.get_query_embedding("a"), expected, atol=1e-5)


def test_an_open_embedder_is_shared_and_not_opened_again(tiny):
    embedding = LatebindEmbedding(tiny)
    assert embedding.embedder is tiny
    assert (embedding.model_name, embedding.settings["device"]) == (str(TINY), "auto")


def test_vectors_are_kept_in_a_cache(tiny):
    cache = SimpleKVStore()
    embedding = LatebindEmbedding(tiny, embeddings_cache=cache)
    first = embedding.get_text_embedding_batch(["a", "b"])
    before = tiny.stats.texts
    assert embedding.get_text_embedding_batch(["a", "b"]) == first
    assert tiny.stats.texts == before and set(cache.get_all("embeddings")) == {"a", "b"}


@pytest.mark.parametrize(
    ("model", "arguments", "text"),
    [
        (None, {}, "model is NoneType"),
        (TINY, {"model_name": "x"}, "model and model_name are the same"),
        ("/nonexistent/model", {}, "/nonexistent/model"),
        (TINY, {"max_tokns": 1}, r"'max_tokns' \(did you mean max_tokens\?\)"),
        (TINY, {"settings": {"max_tokns": 1}}, "max_tokns"),
        (TINY, {"normalize": "yes"}, "normalize is str"),
        (TINY, {"dimensions": 0}, "dimensions is 0"),
        (TINY, {"query_prompt": 3}, "query_prompt is int"),
        (TINY, {"embed_batch_size": 0}, "embed_batch_size: "),
        (TINY, {"embeddings_cache": 3}, "embeddings_cache must be of type BaseKVStore"),
    ],
)
def test_wrong_arguments_are_the_caller_s_errors(model, arguments, text):
    with pytest.raises(latebind.CallerError, match=text):
        LatebindEmbedding(model, **arguments)


def test_wrong_texts_are_the_caller_s_errors(tiny):
    embedding = LatebindEmbedding(tiny)
    with pytest.raises(latebind.CallerTypeError, match="text 1 is NoneType"):
        embedding.get_text_embedding_batch(["a", None])
    with pytest.raises(latebind.CallerTypeError, match="text 1 is NoneType"):
        asyncio.run(embedding.aget_text_embedding_batch(["a", None]))


def test_the_model_s_name_is_all_that_is_needed():
    embedding = LatebindEmbedding(model_name=str(MODEL))
    with embedding.embedder:
        assert len(embedding.get_query_embedding("a")) == 384


@pytest.mark.parametrize(
    "name", ["model_name", "settings", "normalize", "dimensions", "query_prompt", "document_prompt"]
)
def test_what_the_model_was_opened_for_is_not_assigned(tiny, name):
    embedding = LatebindEmbedding(tiny)
    with pytest.raises(latebind.CallerError, match=name):
        setattr(embedding, name, None)
    with pytest.raises(latebind.CallerError, match=name):
        embedding.model_copy(update={name: None})
    embedding.embed_batch_size = 7
    assert embedding.model_copy(update={"embed_batch_size": 8}).embed_batch_size == 8


# -- Scores ------------------------------------------------------------------------------------------------------------

QUERY, CANDIDATES, SCORES = recorded_query("bert")
ORDER = sorted(range(len(SCORES)), key=lambda index: -SCORES[index])


def retrieved():
    return [
        NodeWithScore(node=TextNode(text=text, id_=str(row)), score=row / 10) for row, text in enumerate(CANDIDATES)
    ]


def test_nodes_are_kept_by_their_scores(reranker):
    rerank = LatebindRerank(reranker)
    assert isinstance(rerank, BaseNodePostprocessor) and rerank.top_n == 2
    given = retrieved()
    for found in (
        rerank.postprocess_nodes(given, query_str=QUERY),
        rerank.postprocess_nodes(given, QueryBundle(QUERY)),
        asyncio.run(rerank.apostprocess_nodes(given, query_str=QUERY)),
    ):
        assert [each.node.node_id for each in found] == [str(row) for row in ORDER[:2]]
        assert [each.score for each in found] == pytest.approx([SCORES[row] for row in ORDER[:2]], abs=1e-5)
        assert all(type(each.score) is float and each.node.metadata == {} for each in found)
    assert [each.score for each in given] == [row / 10 for row in range(len(given))]
    rerank.top_n = 100
    assert len(rerank.postprocess_nodes(given, query_str=QUERY)) == len(given)
    assert rerank.postprocess_nodes([], query_str=QUERY) == []


def test_the_score_that_a_node_had_is_kept_where_that_is_wanted(reranker):
    given = retrieved()
    found = LatebindRerank(reranker, keep_retrieval_score=True).postprocess_nodes(given, query_str=QUERY)
    assert [each.node.metadata for each in found] == [{"retrieval_score": row / 10} for row in ORDER[:2]]
    assert all(each.node.metadata == {} for each in given)


def test_nodes_are_ranked_by_what_embeddings_see(reranker):
    node = TextNode(text="a dog", metadata={"title": "cats"}, excluded_embed_metadata_keys=["file"])
    node.metadata["file"] = "x"
    [found] = LatebindRerank(reranker).postprocess_nodes([NodeWithScore(node=node)], query_str=QUERY)
    assert found.score == pytest.approx(float(reranker.predict((QUERY, "title: cats\n\na dog"))), abs=1e-6)


def test_it_is_a_step_of_a_query_and_its_events_are_seen(reranker, embedding):
    debug = LlamaDebugHandler(print_trace_on_end=False)
    rerank = LatebindRerank(reranker, top_n=1, callback_manager=CallbackManager([debug]))
    index = VectorStoreIndex([TextNode(text=text) for text in CANDIDATES], embed_model=embedding)
    nodes = index.as_retriever(similarity_top_k=len(CANDIDATES)).retrieve(QUERY)
    [found] = rerank.postprocess_nodes(nodes, query_str=QUERY)
    assert found.node.get_content() == CANDIDATES[ORDER[0]]
    [[begin, end]] = debug.get_event_pairs(CBEventType.RERANKING)
    assert begin.payload["top_k"] == 1 and len(begin.payload["nodes"]) == len(CANDIDATES)
    assert end.payload["nodes"] == [found]


@pytest.mark.parametrize(
    "again",
    [
        lambda first: LatebindRerank.from_dict(first.to_dict()),
        lambda first: LatebindRerank.from_json(first.to_json()),
        lambda first: pickle.loads(pickle.dumps(first)),
        copy.deepcopy,
    ],
)
def test_what_is_kept_of_a_reranker_makes_the_same_again(again):
    first = LatebindRerank(RERANKER, device="native", max_tokens=12, top_n=3, keep_retrieval_score=True)
    second = again(first)
    assert type(second) is LatebindRerank and second.to_dict() == first.to_dict()
    assert (second.class_name(), second.model, second.top_n) == ("LatebindRerank", str(RERANKER), 3)
    assert second.keep_retrieval_score and second.cross_encoder is not first.cross_encoder
    assert second.cross_encoder.settings == {**SETTINGS, "device": "native", "max_tokens": 12}


@pytest.mark.parametrize(
    ("model", "arguments", "text"),
    [
        *NO_RERANKERS,
        (RERANKER, {"top_n": 0}, "top_n is 0"),
        (RERANKER, {"top_n": None}, "top_n: "),
        (RERANKER, {"keep_retrieval_score": 1}, "keep_retrieval_score is int"),
    ],
)
def test_wrong_arguments_of_a_reranker_are_the_caller_s_errors(model, arguments, text):
    with pytest.raises(latebind.CallerError, match=text):
        LatebindRerank(model, **arguments)


def test_wrong_calls_of_a_reranker_are_the_caller_s_errors(reranker):
    rerank = LatebindRerank(reranker)
    with pytest.raises(latebind.CallerError, match="ranking nodes needs a query: give query_str"):
        rerank.postprocess_nodes(retrieved())
    for name in ("model", "settings"):
        with pytest.raises(latebind.CallerError, match=name):
            setattr(rerank, name, None)
