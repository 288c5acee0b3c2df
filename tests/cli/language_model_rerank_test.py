"""Rerankers that are language models: the scores that sentence-transformers predicts, with and without an instruction, by
`latebind rerank` and `search --rerank`."""

import json
import shutil

import numpy
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support import SOURCE, TINY, bad, good, run

FOLDER = SOURCE / "tests" / "data" / "rerankers"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
DEVICES = ["native:CPU", "openvino:CPU", "onnxruntime:CPU"]
PAIRS = [(i, query, text) for i, (query, text) in enumerate(EXPECTED["pairs"]) if text.strip() and query]


def rerank(model, query, documents, *arguments):
    lines = "".join(json.dumps({"text": text}) + "\n" for text in documents)
    command = ("rerank", "--model", model, "--query", query, "--input-format", "jsonl", "--json", *arguments, "-")
    return json.loads(good(*command, input=lines).stdout)["results"]


def depends_on_document(name, key, i):
    """Whether the number of this pair differs from that of the same query with another document."""
    numbers = EXPECTED["models"][name][key]
    query, text = EXPECTED["pairs"][i]
    others = [j for j, (first, second) in enumerate(EXPECTED["pairs"]) if first == query and second != text]
    return all(numbers[j] != numbers[i] for j in others)


def expect(name, key, queries, *arguments):
    by_query = {}
    for i, query, text in PAIRS:
        if depends_on_document(name, key, i):
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


# The reference computes these pairs: after the query, no token of the document is left, so all scores are equal.
@pytest.mark.parametrize("name", sorted(set(EXPECTED["models"]) - {"mistral"}))
def test_a_query_that_leaves_no_room_for_a_document_is_an_error(name, tmp_path):
    query = " ".join(["the tin can be the same"] * 20)
    (tmp_path / "lines.txt").write_text("a list\nthe best of all\n")
    words = "leave none of the second text: the first text, the instruction and the chat template take them all"
    assert words in bad(1, "rerank", "--model", FOLDER / name, "--query", query, tmp_path / "lines.txt")
    instructed = ("--query", "a", "--instruct", query)
    assert words in bad(1, "rerank", "--model", FOLDER / name, *instructed, tmp_path / "lines.txt")


def test_a_prompt_that_leaves_no_room_for_a_query_is_an_error(tmp_path):
    (tmp_path / "lines.txt").write_text("a list of the best\nthe best of all\n")
    asked = ("--query", "a list", "--instruct", " ".join(["the same"] * 40), tmp_path / "lines.txt")
    assert "leave none of the first text after its prompt" in bad(1, "rerank", "--model", FOLDER / "mistral", *asked)


def test_a_bundle_has_the_chat_template(tmp_path):
    good("compile", FOLDER / "qwen3", "--target", "cpu", "-q", "-o", tmp_path / "bundle")
    i, query, text = PAIRS[0]
    (found,) = rerank(tmp_path / "bundle", query, [text])
    assert found["score"] == pytest.approx(EXPECTED["models"]["qwen3"]["scores"][i], abs=1e-5)


def write_onnx(folder, last_inputs=(), size=45):
    """A ready ONNX file in place of the weights: its logits are sums of numbers of each token and of its position."""
    numbers = numpy.random.default_rng(48)
    words = numbers.standard_normal((45, size)).astype(numpy.float32)
    places = numbers.standard_normal((64, size)).astype(numpy.float32)
    names = ["input_ids", "attention_mask", "position_ids", *last_inputs]
    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["of_words"]),
        helper.make_node("Gather", ["places", "position_ids"], ["of_places"]),
        helper.make_node("Add", ["of_words", "of_places"], ["sums"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["column"]),
        helper.make_node("Mul", ["sums", "column"], ["logits"]),
    ]
    constants = [numpy_helper.from_array(array, name) for name, array in (("words", words), ("places", places), ("last", numpy.array([2])))]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in names]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "tokens", size])]
    graph = helper.make_graph(nodes, "logits", inputs, outputs, constants)
    (folder / "onnx").mkdir(exist_ok=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "onnx" / "model.onnx")
    (folder / "model.safetensors").unlink(missing_ok=True)
    return words, places


@pytest.mark.parametrize("network", ["qwen3", "unknown"])
@pytest.mark.parametrize("device", ["openvino:CPU", "onnxruntime:CPU"])
def test_a_ready_onnx_file_gives_the_last_token_s_number(tmp_path, network, device):
    folder = tmp_path / "model"
    shutil.copytree(FOLDER / "qwen3", folder)
    words, places = write_onnx(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"model_type": network}))
    query = PAIRS[0][1]
    pairs = [(i, text) for i, first, text in PAIRS if first == query]
    found = rerank(folder, query, [text for _, text in pairs], "--device", device, "--strict")
    assert len({len(EXPECTED["models"]["qwen3"]["ids"][i]) for i, _ in pairs}) > 2
    for result in found:
        ids = EXPECTED["models"]["qwen3"]["ids"][pairs[result["line"] - 1][0]]
        logits = words[ids[-1]] + places[len(ids) - 1]
        assert result["score"] == pytest.approx(logits[5] - logits[6], abs=1e-5)


def test_an_onnx_file_that_does_not_fit_is_refused(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(FOLDER / "qwen3", folder)
    (tmp_path / "lines.txt").write_text("a text\n")
    asked = ("rerank", "--model", folder, "--query", "q", tmp_path / "lines.txt")
    write_onnx(folder, ["past_key_values.0.key"])
    assert "export it without a cache" in bad(1, *asked)
    write_onnx(folder, size=6)
    assert "has 6 numbers for a token, and the score is that of token 6" in bad(1, *asked)


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
        ({"true_token_id": 1, "true_token": "yes"}, "'true_token' is not supported; the nearest supported name is true_token_id"),
        ({"true_token_id": 1, "falsetoken_id": 2}, "'falsetoken_id' is not supported; the nearest supported name is false_token_id"),
        ({"true_token_id": 1, "false_token_id": 1}, "'true_token_id' and 'false_token_id' are the same"),
        ({"true_token_id": True}, "true_token_id"),
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
