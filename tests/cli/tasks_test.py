"""Models with low-rank parts: merged adapters, and tasks that each call chooses among."""

import json
import shutil

import numpy
import pytest
from support import SOURCE, bad, cosines, good, vectors

DATA = SOURCE / "tests" / "data"
ADAPTERS = DATA / "adapters"
TEXTS = json.loads((DATA / "tiny-bert" / "expected.json").read_text())["texts"]
LINES = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS)
MERGED = json.loads((ADAPTERS / "expected.json").read_text())["vectors"]
TASKS = json.loads((ADAPTERS / "expected_tasks.json").read_text())["vectors"]
DEVICES = ["native:CPU", "openvino:CPU", "onnxruntime:CPU"]


def embed(model, *options, device="native:CPU"):
    done = good("embed", model, "--device", device, "--precision", "f32", "--strict", "-q", "--input-format", "jsonl", *options,
                input=LINES)  # fmt: skip
    return vectors(done.stdout)


def adapter(place, name):
    shutil.copytree(ADAPTERS / name, place)
    config = json.loads((place / "adapter_config.json").read_text())
    config["base_model_name_or_path"] = str(DATA / config["base_model_name_or_path"])
    (place / "adapter_config.json").write_text(json.dumps(config))
    return place


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["plain", "dora"])
def test_a_merged_adapter_gives_the_vectors_of_peft(tmp_path, name, device):
    wanted = numpy.array(MERGED[name][: len(TEXTS)])
    assert cosines(embed(adapter(tmp_path / "model", name), device=device), wanted).min() > 0.9999999


def test_a_bundle_of_an_adapter_has_its_base_inside(tmp_path):
    model = adapter(tmp_path / "model", "plain")
    wanted = embed(model)
    good("compile", model, "--output", tmp_path / "model.lbx")
    shutil.rmtree(model)
    assert (embed(tmp_path / "model.lbx") == wanted).all()
    assert cosines(embed(tmp_path / "model.lbx", device="onnxruntime:CPU"), wanted).min() > 0.9999999


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("task", list(TASKS["jina_v3"]))
def test_each_task_gives_the_vectors_of_transformers(task, device):
    options = ["--task", task] if task else []
    found = embed(ADAPTERS / "jina_v3", "--prompt", "", *options, device=device)
    assert cosines(found, numpy.array(TASKS["jina_v3"][task][: len(TEXTS)])).min() > 0.9999999


def test_a_role_has_its_task_and_its_prompt():
    model = ADAPTERS / "jina_v3"
    by_role = embed(model, "--role", "query")
    assert (by_role == embed(model, "--task", "retrieval.query")).all()
    assert (by_role == embed(model, "--task", "retrieval.query", "--prompt", "query ")).all()
    assert not numpy.allclose(by_role, embed(model, "--prompt", "query "))
    assert (embed(model, "--role", "document") == embed(model, "--task", "retrieval.passage")).all()


def test_unknown_tasks_are_named_with_those_that_there_are():
    said = bad(1, "embed", ADAPTERS / "jina_v3", "--task", "separation", "--text", "a")
    assert "no task 'separation'; it has: retrieval.query, retrieval.passage, text-matching" in said


def test_a_search_takes_the_tasks_of_its_roles(tmp_path):
    (tmp_path / "lines.txt").write_text("the cat sat\na dog ran\n")
    line = ["search", ADAPTERS / "jina_v3", "--query", "a cat", "--json", tmp_path / "lines.txt"]
    by_role = json.loads(good(*line).stdout)
    named = json.loads(good(*line, "--task", "retrieval.passage", "--query-task", "retrieval.query").stdout)
    other = json.loads(good(*line, "--task", "text-matching", "--query-task", "text-matching").stdout)
    assert by_role == named and by_role != other
