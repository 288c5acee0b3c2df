"""LatebindEmbeddingFunction in the real Chroma, in memory and on disk."""

import json

import chromadb
import latebind
import numpy
import pytest
from chromadb.api.types import EmbeddingFunction
from chromadb.config import Settings
from chromadb.utils.embedding_functions import config_to_embedding_function, known_embedding_functions
from frameworks import ANSWER, DOCUMENTS, MODEL, QUESTION, TEXTS, TINY, cosines, python
from latebind.integrations.chroma import LatebindEmbeddingFunction

IDS = ["0", "1", "2"]


@pytest.fixture(scope="module")
def function(embedder):
    return LatebindEmbeddingFunction(embedder)


def client(folder):
    return chromadb.PersistentClient(folder, settings=Settings(anonymized_telemetry=False))


def test_documents_and_queries_are_the_golden_vectors(function, golden):
    assert isinstance(function, EmbeddingFunction)
    for found in (function(TEXTS), function.embed_query(TEXTS)):
        assert isinstance(found, list) and (found[0].dtype, found[0].shape) == (numpy.float32, (384,))
        assert cosines(numpy.array(found), golden).min() >= 0.99999


def test_a_collection_in_memory_finds_what_was_meant(function):
    memory = chromadb.EphemeralClient(settings=Settings(anonymized_telemetry=False))
    collection = memory.create_collection("memory", embedding_function=function)
    assert collection.configuration["hnsw"]["space"] == "cosine"
    collection.add(ids=IDS, documents=DOCUMENTS)
    found = collection.query(query_texts=[QUESTION, DOCUMENTS[2]], n_results=1)
    assert (found["documents"], found["ids"]) == ([[ANSWER], [DOCUMENTS[2]]], [["1"], ["2"]])
    memory.delete_collection("memory")


REOPEN = """
import sys
import chromadb
from chromadb.config import Settings
if sys.argv[2] == "imported":
    from latebind.integrations import chroma
client = chromadb.PersistentClient(sys.argv[1], settings=Settings(anonymized_telemetry=False))
collection = client.get_collection("disk")
print(collection.query(query_texts=[sys.argv[3]], n_results=1)["ids"])
"""


def test_a_collection_on_disk_is_opened_again_by_another_process(tmp_path):
    first = client(tmp_path)
    with LatebindEmbeddingFunction(MODEL, device="openvino", max_tokens=128).embedder as embedder:
        own = LatebindEmbeddingFunction(embedder, document_prompt="")
        first.create_collection("disk", embedding_function=own).add(ids=IDS, documents=DOCUMENTS)
    first.close()

    done = python(REOPEN, tmp_path, "imported", QUESTION)
    assert done.stdout == "[['1']]\n", done.stderr
    # Chroma knows it by its name, which importing the module makes known.
    done = python(REOPEN, tmp_path, "not imported", QUESTION)
    assert done.returncode == 1 and "Embedding function latebind not found" in done.stderr

    again = client(tmp_path)
    collection = again.get_collection("disk")
    built = collection.configuration["embedding_function"]
    assert built.get_config() == own.get_config()
    with built.embedder as embedder:
        assert (embedder.max_tokens, embedder.settings["device"]) == (128, "openvino")
        assert collection.query(query_texts=[QUESTION], n_results=1)["documents"] == [[ANSWER]]
    again.close()


def test_what_is_kept_of_it_makes_the_same_again(tiny):
    first = LatebindEmbeddingFunction(
        TINY, device=("npu", "cpu"), max_tokens=16, normalize=True, dimensions=5, query_prompt="q: "
    )
    config = first.get_config()
    assert json.loads(json.dumps(config)) == config
    assert known_embedding_functions["latebind"] is LatebindEmbeddingFunction
    second = config_to_embedding_function({"name": first.name(), "config": config})
    assert type(second) is LatebindEmbeddingFunction and second.get_config() == config
    assert not first.is_legacy()
    with second.embedder as opened:
        assert opened.max_tokens == 16
        expected = tiny.encode(["q: a"], normalize=True, dimensions=5)
        numpy.testing.assert_allclose(second.embed_query(["a"]), expected, atol=1e-5)


def test_no_model_is_opened_before_the_first_text():
    function = LatebindEmbeddingFunction("/nonexistent/model")
    assert not function.is_legacy()
    with pytest.raises(latebind.CallerError, match="/nonexistent/model"):
        function(["a"])


def test_the_prompts_of_the_model_or_one_s_own_come_before_texts(prompted):
    with latebind.Embedder(prompted) as plain:
        own = LatebindEmbeddingFunction(plain)
        numpy.testing.assert_allclose(own.embed_query(["a"]), plain.encode(["Frage: a"]), atol=1e-5)
        numpy.testing.assert_allclose(own(["a"]), plain.encode(["Absatz: a"]), atol=1e-5)
        other = LatebindEmbeddingFunction(plain, query_prompt="", document_prompt="d: ")
        numpy.testing.assert_allclose(other.embed_query(["a"]), plain.encode(["a"]), atol=1e-5)
        numpy.testing.assert_allclose(other(["a"]), plain.encode(["d: a"]), atol=1e-5)


@pytest.mark.parametrize(
    ("model", "arguments", "text"),
    [
        (None, {}, "model is NoneType"),
        (TINY, {"max_tokns": 1}, r"'max_tokns' \(did you mean max_tokens\?\)"),
        (TINY, {"normalize": "yes"}, "normalize is str"),
        (TINY, {"dimensions": -1}, "dimensions is -1"),
        (TINY, {"query_prompt": 3}, "query_prompt is int"),
    ],
)
def test_wrong_arguments_are_the_caller_s_errors(model, arguments, text):
    with pytest.raises(latebind.CallerError, match=text):
        LatebindEmbeddingFunction(model, **arguments)


@pytest.mark.parametrize(
    ("config", "text"),
    [([], "the configuration is list"), ({}, "does not name a model"), ({"model": 3}, "model is int")],
)
def test_a_wrong_configuration_is_the_caller_s_error(config, text):
    with pytest.raises(latebind.CallerError, match=text):
        LatebindEmbeddingFunction.build_from_config(config)


def test_wrong_texts_are_the_caller_s_errors(tiny):
    function = LatebindEmbeddingFunction(tiny)
    for use in (function, function.embed_query):
        with pytest.raises(latebind.CallerTypeError, match="text 1 is NoneType"):
            use(["a", None])
        with pytest.raises(latebind.CallerTypeError, match="texts is a str"):
            use("a")
