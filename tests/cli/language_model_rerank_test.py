"""Rerankers that are language models: the scores that sentence-transformers predicts, with and without an instruction, by
`latebind rerank` and `search --rerank`."""

import json
import shutil

import pytest
from support import SOURCE, TINY, bad, good, run

FOLDER = SOURCE / "tests" / "data" / "rerankers"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
DEVICES = ["native:CPU", "openvino:CPU", "onnxruntime:CPU"]
PAIRS = [(i, query, text) for i, (query, text) in enumerate(EXPECTED["pairs"]) if text.strip() and query]


def rerank(model, query, documents, *arguments):
    lines = "".join(json.dumps({"text": text}) + "\n" for text in documents)
    command = ("rerank", "--model", model, "--query", query, "--input-format", "jsonl", "--json", *arguments, "-")
    return json.loads(good(*command, input=lines).stdout)["results"]


def expect(name, key, queries, *arguments):
    by_query = {}
    for i, query, text in PAIRS:
        by_query.setdefault(query, []).append((i, text))
    for query, documents in list(by_query.items())[:queries]:
        found = rerank(FOLDER / name, query, [text for _, text in documents], *arguments)
        assert len(found) == len(documents)
        for result in found:
            wanted = EXPECTED["models"][name][key][documents[result["line"] - 1][0]]
            assert result["score"] == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", sorted(EXPECTED["models"]))
def test_scores_are_the_references(name, device):
    expect(name, "scores", 100 if device == "native:CPU" else 3, "--device", device, "--strict")
    expect(name, "logits", 1, "--device", device, "--strict", "--raw-scores")


@pytest.mark.parametrize("name", sorted(EXPECTED["models"]))
def test_an_instruction(name):
    expect(name, "instructed", 2, "--raw-scores", "--instruct", EXPECTED["instruction"])
    expect(name, "uninstructed", 2, "--raw-scores", "--instruct", "")


def test_a_search_is_reranked_with_an_instruction(tmp_path):
    query = PAIRS[0][1]
    documents = {text: i for i, other, text in PAIRS if other == query and "\n" not in text}
    (tmp_path / "lines.txt").write_text("".join(text + "\n" for text in documents))
    arguments = ("--query", query, "--rerank", FOLDER / "qwen3", "--instruct", EXPECTED["instruction"], "--json")
    found = json.loads(good("search", "--model", TINY, *arguments, tmp_path / "lines.txt").stdout)["results"]
    assert len(found) == len(documents)
    for result in found:
        wanted = EXPECTED["models"]["qwen3"]["instructed"][documents[result["text"]]]
        assert result["score"] == pytest.approx(wanted, abs=1e-5)


def test_a_bundle_has_the_chat_template(tmp_path):
    good("compile", FOLDER / "qwen3", "--target", "cpu", "-q", "-o", tmp_path / "bundle")
    i, query, text = PAIRS[0]
    (found,) = rerank(tmp_path / "bundle", query, [text])
    assert found["score"] == pytest.approx(EXPECTED["models"]["qwen3"]["scores"][i], abs=1e-5)


def test_what_is_refused_by_name(tmp_path):
    lines = tmp_path / "lines.txt"
    lines.write_text("a text\n")
    asked = ("--query", "q", lines)
    assert "--instruct is for --rerank" in bad(2, "search", "--model", TINY, "--instruct", "x", *asked)
    late = SOURCE / "tests" / "data" / "multi_vector_encoders" / "bert"
    assert "--instruct is for cross-encoders" in bad(1, "rerank", "--model", late, "--instruct", "x", *asked)
    folder = tmp_path / "model"
    shutil.copytree(FOLDER / "qwen3", folder)
    template = folder / "chat_template.jinja"
    for text, words in (
        ("{{ messages[0].content | wordwrap }}", "the filter 'wordwrap' is not supported"),
        ("{% include 'x' %}", "line 1: the statement 'include' is not supported"),
        ("{{ messages[0].content }}", "the message with the role 'document' is not in its text"),
        ("{{ raise_exception('no such role') }}", "no such role"),
    ):
        template.write_text(text)
        refused = bad(1, "rerank", "--model", folder, *asked)
        assert words in refused and "chat_template.jinja" in refused
    template.unlink()
    assert "'modality_config' has 'message', but there is neither a chat_template.jinja" in bad(
        1, "rerank", "--model", folder, *asked
    )
    score = folder / "1_LogitScore" / "config.json"
    template.write_text("{% for m in messages %}{{ m.content }}{% endfor %}")
    for config, words in (
        ({"true_token_id": 45}, "true_token_id"),
        ({"false_token_id": 1}, "'true_token_id' is missing"),
        ({"true_token_id": 1, "module_input_name": "logits"}, "'module_input_name' is 'logits'"),
    ):
        score.write_text(json.dumps(config))
        assert words in bad(1, "rerank", "--model", folder, *asked)


CODE = SOURCE / "tests" / "data" / "scoring_code"
SCORED = json.loads((CODE / "expected.json").read_text())


def expect_scored(model, name, wanted, *arguments):
    """The scores of the recorded pairs, one query after the other."""
    pairs = [(i, *pair) for i, pair in enumerate(SCORED["pairs"][: len(wanted)]) if pair[0].strip() and pair[1].strip()]
    for query in dict.fromkeys(query for _, query, _ in pairs):
        documents = [(i, text) for i, other, text in pairs if other == query]
        for result in rerank(model, query, [text for _, text in documents], *arguments):
            assert result["score"] == pytest.approx(wanted[documents[result["line"] - 1][0]], abs=1e-5), name


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", sorted(SCORED["models"]))
def test_folders_that_name_the_code_that_scores(name, device, tmp_path):
    expected = SCORED["models"][name]
    said = good("rerank", "--model", CODE / name, "--query", "a", "--device", device, "-", input="b\n").stderr
    assert f"names {'modeling_zeranker' if name == 'zerank' else 'FlagLLMReranker'}" in said
    expect_scored(CODE / name, name, expected["scores"], "--device", device, "--strict")
    if device != "native:CPU":
        return
    expect_scored(CODE / name, name, expected["logits"], "--raw-scores")
    good("compile", CODE / name, "--target", "cpu", "-q", "-o", tmp_path / "bundle")
    expect_scored(tmp_path / "bundle", name, expected["scores"])


def test_the_question_of_flag_is_replaced_by_an_instruction_and_zerank_takes_none():
    expect_scored(CODE / "flag", "flag", SCORED["models"]["flag"]["asked"]["scores"], "--instruct", SCORED["question"])
    done = run("rerank", "--model", CODE / "zerank", "--query", "a", "--instruct", "be exact", "-", input="b\n")
    assert done.returncode == 1 and not done.stdout and "takes no instruction" in done.stderr
