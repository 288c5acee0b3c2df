"""LatebindEmbedding in the real LlamaIndex."""

import asyncio
import copy
import pickle

import latebind
import numpy
import pytest
from frameworks import ANSWER, DOCUMENTS, MODEL, QUESTION, TEXTS, TINY, cosines
from latebind.integrations.llama_index import LatebindEmbedding
from llama_index.core import StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import TextNode
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
