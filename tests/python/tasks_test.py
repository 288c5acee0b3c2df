"""Models with low-rank parts for several tasks; each call chooses one."""

import json
import shutil

import latebind
import numpy
import pytest
from support import SOURCE

ADAPTERS = SOURCE / "tests" / "data" / "adapters"
JINA = ADAPTERS / "jina_v3"
TASKS = ["retrieval.query", "retrieval.passage", "text-matching"]
TEXTS = json.loads((SOURCE / "tests" / "data" / "tiny-bert" / "expected.json").read_text())["texts"][:4]
# The texts of rows 1 to 3 of ../data/networks/expected.json, and what transformers computes of them for each task.
KNOWN = ["the cat sat on the mat.", "a dog", "the quick brown fox jumps over the lazy dog!"]
RECORDED = json.loads((ADAPTERS / "expected_tasks.json").read_text())["vectors"]["jina_v3"]


@pytest.fixture(scope="module")
def model():
    with latebind.Embedder(JINA, device="native:CPU") as opened:
        yield opened


def unit(vectors):
    vectors = numpy.array(vectors)
    return vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)


def test_a_task_is_a_choice_of_each_call(model):
    for task in TASKS:
        found = model.encode(KNOWN, task=task, prompt="")
        numpy.testing.assert_allclose(found, unit(RECORDED[task][1:4]), atol=1e-5)
    numpy.testing.assert_allclose(model.encode(KNOWN), unit(RECORDED[""][1:4]), atol=1e-5)


def test_a_role_has_its_task_and_a_task_its_prompt(model):
    of_query = model.encode(TEXTS, task="retrieval.query")
    numpy.testing.assert_array_equal(model.encode(TEXTS, role="query"), of_query)
    numpy.testing.assert_array_equal(
        model.encode(["query " + text for text in TEXTS], task="retrieval.query", prompt=""), of_query
    )
    of_document = model.encode(TEXTS, role="document")
    numpy.testing.assert_array_equal(of_document, model.encode(TEXTS, task="retrieval.passage"))
    assert not numpy.allclose(of_document, of_query)


def test_streams_and_several_outputs_take_a_task(model):
    wanted = model.encode(TEXTS, task="text-matching")
    numpy.testing.assert_allclose(
        numpy.vstack(list(model.encode_stream(TEXTS, task="text-matching"))), wanted, atol=1e-6
    )
    with latebind.Encoder(JINA, device="native:CPU") as encoder:
        numpy.testing.assert_allclose(encoder.encode(TEXTS, task="text-matching")["dense"], wanted, atol=1e-6)


def test_an_unknown_task_is_named_with_those_that_exist(model):
    with pytest.raises(
        latebind.CallerError, match="no task 'x'; it has: retrieval.query, retrieval.passage, text-matching"
    ):
        model.encode(TEXTS, task="x")


def test_a_model_that_needs_a_task_says_so(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(SOURCE / "tests" / "data" / "networks" / "eurobert", folder)
    shutil.copytree(ADAPTERS / "tasks" / "adapters", folder / "adapters")
    with latebind.Embedder(folder, device="native:CPU") as opened:
        with pytest.raises(latebind.CallerError, match="needs a task; it has: clustering, retrieval"):
            opened.encode(TEXTS)
        assert not numpy.allclose(opened.encode(TEXTS, task="clustering"), opened.encode(TEXTS, task="retrieval"))
