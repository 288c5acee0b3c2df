"""latebind serve with a model that has several tasks; each request chooses one."""

import json
import shutil

import pytest
from daemon import SOURCE, Daemon

ADAPTERS = SOURCE / "tests" / "data" / "adapters"
TEXT = json.loads((SOURCE / "tests" / "data" / "tiny-bert" / "expected.json").read_text())["texts"][0]


@pytest.fixture(scope="module")
def daemon():
    with Daemon("--device", "native:CPU", models=(f"jina={ADAPTERS / 'jina_v3'}",)) as running:
        yield running


def test_a_model_that_needs_a_task_is_served(tmp_path):
    model = tmp_path / "model"
    shutil.copytree(SOURCE / "tests" / "data" / "networks" / "eurobert", model)
    shutil.copytree(ADAPTERS / "tasks" / "adapters", model / "adapters")
    with Daemon("--device", "native:CPU", models=(f"tasks={model}",)) as running:
        for task in ("clustering", "retrieval"):
            answer = running.ask("POST", "/embed", {"inputs": [TEXT], "task": task})
            assert answer.status == 200 and len(answer.json()[0]) > 0
        refused = running.ask("POST", "/embed", {"inputs": [TEXT]})
        assert refused.status == 422 and "needs a task" in refused.json()["error"]


def openai(daemon, **body):
    answer = daemon.ask("POST", "/v1/embeddings", {"model": "jina", "input": [TEXT], **body})
    return answer.json()["data"][0]["embedding"]


def test_each_protocol_takes_the_task(daemon):
    wanted = pytest.approx(openai(daemon, task="text-matching"), abs=1e-6)
    assert openai(daemon) != wanted
    assert daemon.ask("POST", "/embed", {"inputs": [TEXT], "task": "text-matching"}).json()[0] == wanted
    ollama = daemon.ask("POST", "/api/embed", {"model": "jina", "input": [TEXT], "task": "text-matching"}).json()
    assert ollama["embeddings"][0] == wanted
    tensor = {"name": "text", "shape": [1], "datatype": "BYTES", "data": [TEXT]}
    body = {"inputs": [tensor], "parameters": {"task": "text-matching"}}
    assert daemon.ask("POST", "/v2/models/jina/infer", body).json()["outputs"][0]["data"] == wanted
    body = {"model": "jina", "inputs": [TEXT], "outputs": ["dense"], "task": "text-matching"}
    encoded = daemon.ask("POST", "/latebind/encode", body).json()
    assert encoded["results"][0]["dense"] == wanted


def cohere(daemon, model, input_type):
    body = {"model": model, "texts": [TEXT], "input_type": input_type}
    return daemon.ask("POST", "/v2/embed", body).json()["embeddings"]["float"][0]


def test_an_input_type_of_cohere_is_a_task(daemon):
    for input_type, task in (("search_query", "retrieval.query"), ("search_document", "retrieval.passage")):
        assert cohere(daemon, "jina", input_type) == openai(daemon, task=task)
    # The model has no task for it.
    assert cohere(daemon, "jina", "classification") == openai(daemon)


@pytest.mark.parametrize(("input_type", "task"), [("clustering", "separation"), ("classification", "Classification")])
def test_an_input_type_of_cohere_is_the_task_of_its_name(tmp_path, input_type, task):
    model = tmp_path / "model"
    shutil.copytree(ADAPTERS / "jina_v3", model)
    config = json.loads((model / "config.json").read_text())
    config["lora_adaptations"][2] = task
    config["task_instructions"][task] = config["task_instructions"].pop("text-matching")
    (model / "config.json").write_text(json.dumps(config))
    with Daemon("--device", "native:CPU", models=(f"jina={model}",)) as running:
        assert cohere(running, "jina", input_type) == openai(running, task=task)


def test_a_role_has_its_task_and_unknown_ones_are_named(daemon):
    assert openai(daemon, role="query") == openai(daemon, task="retrieval.query")
    answer = daemon.ask("POST", "/v1/embeddings", {"model": "jina", "input": ["a"], "task": "x"})
    assert answer.status == 400
    error = answer.json()["error"]
    assert error["param"] == "task" and "no task 'x'; it has: retrieval.query" in error["message"]
