"""Cross-encoders: the scores that sentence-transformers predicts, by `latebind rerank`."""

import json
import shutil
import time

import pytest
from support import SOURCE, TINY, bad, good, provider

FOLDER = SOURCE / "tests" / "data" / "cross_encoders"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
DEVICES = ["native:CPU", "openvino:CPU", "onnxruntime:CPU"]
RANKING = [name for name, scores in EXPECTED["scores"].items() if len(scores[0]) == 1]
# `latebind rerank` leaves empty lines out.
PAIRS = [(i, query, text) for i, (query, text) in enumerate(EXPECTED["pairs"]) if text.strip() and query]


def rerank(model, query, documents, *arguments):
    lines = "".join(json.dumps({"text": text}) + "\n" for text in documents)
    command = ("rerank", "--model", model, "--query", query, "--input-format", "jsonl", "--json", *arguments, "-")
    return json.loads(good(*command, input=lines).stdout)["results"]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", RANKING)
def test_scores_are_the_references(name, device):
    by_query = {}
    for i, query, text in PAIRS:
        by_query.setdefault(query, []).append((i, text))
    # All pairs of one query at once; those of a text with its neighbour, a few.
    several = [item for item in by_query.items() if len(item[1]) > 1]
    some = list(by_query.items())[::6]
    assert several
    for query, documents in several + some:
        found = rerank(FOLDER / name, query, [text for _, text in documents], "--device", device, "--strict")
        assert len(found) == len(documents)
        for result in found:
            wanted = EXPECTED["scores"][name][documents[result["line"] - 1][0]][0]
            assert result["score"] == pytest.approx(wanted, abs=1e-5)
        assert [result["rank"] for result in found] == list(range(1, len(found) + 1))
        assert [result["score"] for result in found] == sorted((r["score"] for r in found), reverse=True)


def test_raw_scores_are_the_networks_numbers():
    i, query, text = PAIRS[0]
    (found,) = rerank(FOLDER / "modernbert", query, [text], "--raw-scores")
    assert found["score"] == pytest.approx(EXPECTED["logits"]["modernbert"][i][0], abs=1e-5)
    assert found["score"] != pytest.approx(EXPECTED["scores"]["modernbert"][i][0], abs=1e-3)


def test_many_documents_keep_their_order_and_their_scores():
    texts = [text for _, _, text in PAIRS] * 40
    all_of_them = rerank(FOLDER / "electra", "a query", texts, "-k", "100000")
    assert len(all_of_them) == len(texts)
    first = {}
    for result in all_of_them:
        assert result["score"] == pytest.approx(first.setdefault(result["text"], result["score"]), abs=1e-6)
    best = rerank(FOLDER / "electra", "a query", texts, "-k", "3")
    assert [r["line"] for r in best] == [r["line"] for r in all_of_them[:3]]


def test_a_table_for_people(tmp_path):
    (tmp_path / "lines.txt").write_text("first\n\nsecond\n")
    printed = good("rerank", "--model", FOLDER / "bert", "--query", "q", tmp_path / "lines.txt").stdout
    assert [line.split()[0] for line in printed.splitlines()] == ["1", "2"]
    assert {line.split()[3] for line in printed.splitlines()} == {"1", "3"}


def test_warm_makes_one_ready(model, tmp_path):
    time.sleep(3)  # nothing is kept of a model that may still be written to
    cache = ["--device", "openvino:CPU", "--cache-folder", tmp_path / "cache"]
    assert "ready" in good("warm", "--model", model, *cache).stdout
    assert "model" in good("cache", "list", "--cache-folder", tmp_path / "cache").stdout
    i, query, text = PAIRS[0]
    (found,) = rerank(model, query, [text], "--raw-scores", *cache)
    assert found["score"] == pytest.approx(EXPECTED["logits"]["saved"][i][0], abs=1e-5)


def test_an_npu_that_is_not_there(model, tmp_path, monkeypatch):
    """Compiled by Qualcomm's compiler for a fixed length, and computed in its emulation, in f16."""
    monkeypatch.setenv("LATEBIND_ONNXRUNTIME_PROVIDERS", provider("onnxruntime-qnn"))
    bundle = tmp_path / "ranker.lbundle"
    good("compile", model, "--target", "npu:v73", "--shapes", "1x20", "-o", bundle)
    emulated = ("--device", "onnxruntime:QNN.v73", "--emulate", "--precision", "f16", "--strict")
    for i, query, text in PAIRS[:8]:
        (found,) = rerank(bundle, query, [text], "--raw-scores", *emulated)
        assert found["score"] == pytest.approx(EXPECTED["logits"]["saved"][i][0], abs=0.05)


def test_nothing_to_rank():
    assert rerank(FOLDER / "bert", "q", []) == []
    assert rerank(FOLDER / "bert", "q", ["", " "]) == []


def test_each_kind_names_the_command_for_the_other(tmp_path):
    message = bad(1, "embed", "--model", FOLDER / "bert", input="a\n")
    assert "is a cross-encoder" in message and "latebind rerank" in message
    message = bad(1, "rerank", "--model", TINY, "--query", "q", "-", input="a\n")
    assert "gives vectors" in message and "latebind embed" in message


def test_several_labels_are_no_ranking():
    message = bad(1, "rerank", "--model", FOLDER / "roberta", "--query", "q", "-", input="a\n")
    assert "3 numbers for a pair (contradiction, entailment, neutral)" in message


@pytest.fixture
def model(tmp_path):
    return shutil.copytree(FOLDER / "saved", tmp_path / "model")


def change(file, **members):
    file.write_text(json.dumps(json.loads(file.read_text()) | members))


def refusal(model):
    return bad(1, "rerank", "--model", model, "--query", "q", "-", input="a\n")


def test_what_is_not_known_is_refused_by_name(model):
    own = model / "config_sentence_transformers.json"
    change(own, activation_fn="torch.nn.modules.activation.Softmax")
    said = refusal(model)
    assert "'activation_fn' is 'torch.nn.modules.activation.Softmax'" in said
    assert "torch.nn.modules.linear.Identity, torch.nn.modules.activation.Sigmoid and torch.nn.modules.activation.Tanh" in said
    change(own, activation_fn=None, model_type="SparseEncoder")
    assert "a SparseEncoder without SpladePooling" in refusal(model)
    change(own, model_type="ColPali")
    assert "'model_type' is 'ColPali'" in refusal(model)
    change(own, model_type="CrossEncoder")
    change(model / "config.json", id2label={"1": "x"})
    assert "'id2label' has no label 0" in refusal(model)
    change(model / "config.json", id2label={"0": "x", "1": "y"})
    assert "classifier.weight" in refusal(model)
    listed = json.loads((model / "modules.json").read_text())
    other = {"idx": 1, "name": "1", "path": "1", "type": "sentence_transformers.cross_encoder.modules.Unheard"}
    (model / "modules.json").write_text(json.dumps([*listed, other]))
    assert "Unheard' as number 2 is not supported" in refusal(model)


def test_a_head_that_is_not_known_is_refused(model):
    change(model / "config.json", model_type="nomic_bert", hidden_act="silu")
    assert "networks for sequence classification of 'model_type' 'nomic_bert' are not supported" in refusal(model)


def test_a_ready_file_needs_no_known_head(model):
    good("export", "--model", model, "-o", model / "model.onnx")
    change(model / "config.json", model_type="nomic_bert", hidden_act="silu", hidden_size=32, n_embd=32, n_head=4,
           n_inner=48, n_layer=2, n_positions=24)
    i, query, text = PAIRS[0]
    (found,) = rerank(model, query, [text], "--raw-scores", "--device", "openvino:CPU")
    assert found["score"] == pytest.approx(EXPECTED["logits"]["saved"][i][0], abs=1e-5)


def test_older_names_of_the_function(model):
    """sentence-transformers 3 and 4 had them in config.json."""
    i, query, text = PAIRS[0]
    for name in ("modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"):
        (model / name).unlink()
    score = lambda: rerank(model, query, [text])[0]["score"]
    assert score() == pytest.approx(EXPECTED["scores"]["bert"][i][0], abs=1e-5)
    raw = pytest.approx(EXPECTED["logits"]["bert"][i][0], abs=1e-5)
    change(model / "config.json", sbert_ce_default_activation_function="torch.nn.modules.linear.Identity")
    assert score() == raw
    change(model / "config.json", sbert_ce_default_activation_function=None,
           sentence_transformers={"activation_fn": "torch.nn.modules.linear.Identity"})
    assert score() == raw
