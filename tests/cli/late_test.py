"""Multi-vector encoders (late interaction, ColBERT): the vectors and scores that sentence-transformers gives, by `latebind
embed`, `latebind search` and `latebind rerank`."""

import json
import shutil

import onnx
import pytest
from support import SOURCE, TINY, bad, good

FOLDER = SOURCE / "tests" / "data" / "multi_vector_encoders"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
TEXTS = EXPECTED["texts"]
DEVICES = ["native:CPU", "openvino:CPU", "onnxruntime:CPU"]


def lines_of(texts):
    return "".join(json.dumps({"text": text}) + "\n" for text in texts)


def embed(model, texts, *arguments):
    command = ("embed", "--model", model, "--outputs", "multi_vector", "--input-format", "jsonl", "-q", *arguments)
    found = [json.loads(line) for line in good(*command, input=lines_of(texts)).stdout.splitlines()]
    assert [one["index"] for one in found] == list(range(len(texts)))
    return [one["vectors"] for one in found]


def assert_same(found, expected):
    assert len(found) == len(expected) > 0
    for one, wanted in zip(found, expected, strict=True):
        assert len(one) == len(wanted)
        for vector, wanted_vector in zip(one, wanted, strict=True):
            assert vector == pytest.approx(wanted_vector, rel=1e-5, abs=1e-5)


def assert_both_roles(model, name, *arguments):
    assert_same(embed(model, TEXTS, *arguments), EXPECTED["documents"][name])
    assert_same(embed(model, TEXTS, "--role", "query", *arguments), EXPECTED["queries"][name])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", EXPECTED["queries"])
def test_vectors_are_the_references(name, device):
    assert_both_roles(FOLDER / name, name, "--device", device, "--strict", "--precision", "f32")


def ranked(command, model, query, *arguments):
    lines = lines_of(text or " " for text in TEXTS)
    found = good(command, "--model", model, "--query", query, "--input-format", "jsonl", "--json", *arguments, "-", input=lines)
    return {result["line"] - 1: result["score"] for result in json.loads(found.stdout)["results"]}


@pytest.mark.parametrize("command", ["search", "rerank"])
@pytest.mark.parametrize("name", ["bert", "distilbert", "modernbert"])
def test_lines_are_ranked_by_the_references_scores(name, command):
    scores = ranked(command, FOLDER / name, TEXTS[1], "-k", "10")
    expected = EXPECTED["scores"][name][1]
    # An empty line is no document.
    assert scores == {i: pytest.approx(expected[i], abs=2e-5) for i, text in enumerate(TEXTS) if text}
    assert list(scores) == sorted(scores, key=lambda i: -expected[i])


def test_prompts_stand_instead_of_markers():
    model = FOLDER / "bert"
    assert_same(embed(model, TEXTS, "--prompt", "the cat "), EXPECTED["documents"]["bert"])
    assert_same(embed(model, TEXTS, "--prompt-name", "query", "--role", "query"), EXPECTED["queries"]["bert"])
    assert embed(model, TEXTS, "--prompt", "") != embed(model, TEXTS)
    assert ranked("search", model, TEXTS[1], "--query-prompt", "blue ") != ranked("search", model, TEXTS[1])


def test_static_lengths_give_the_same():
    fixed = ("--device", "openvino:CPU", "--shapes", "static", "--static-lengths", "8")
    for name in ("bert", "modernbert"):
        assert_both_roles(FOLDER / name, name, *fixed)


def test_many_texts_in_their_order():
    assert_same(embed(FOLDER / "stanford", TEXTS * 300, "--batch-tokens", "64"), EXPECTED["documents"]["stanford"] * 300)


@pytest.mark.parametrize("name", ["distilbert", "modernbert", "stanford"])
def test_a_bundle_gives_the_same(name, tmp_path):
    bundle = tmp_path / "late.lbundle"
    good("compile", FOLDER / name, "--target", "cpu", "-o", bundle)
    for device in ("openvino:CPU", "native:CPU"):
        assert_both_roles(bundle, name, "--device", device)


@pytest.mark.parametrize("name", ["modernbert", "stanford"])
def test_an_onnx_folder_gives_the_same(name, tmp_path):
    model = shutil.copytree(FOLDER / name, tmp_path / "model")
    good("export", "--model", model, "-o", model / "model.onnx")
    (output,) = onnx.load(model / "model.onnx").graph.output
    assert output.name == "token_vectors"
    good("export", "--model", model, "--hidden-states", "-o", model / "states.onnx")
    (model / "model.safetensors").unlink()
    for device in ("openvino:CPU", "onnxruntime:CPU"):
        assert_both_roles(model, name, "--device", device)
    message = bad(1, "embed", "--model", model, "--outputs", "multi_vector", "--onnx-file", "states.onnx", input="a\n")
    assert "a projection of each token's vector is to follow" in message


def test_long_lengths_are_cut_and_short_ones_refused():
    assert all(len(vectors) <= 5 for vectors in embed(FOLDER / "bert", TEXTS, "--max-tokens", "5"))
    # The length of queries is the model's own.
    assert_same(embed(FOLDER / "bert", TEXTS, "--role", "query", "--max-tokens", "5"), EXPECTED["queries"]["bert"])


def test_the_jobs_know_it():
    good("warm", "--model", FOLDER / "modernbert", "--device", "openvino:CPU")
    good("verify", FOLDER / "modernbert", "--device", "native:CPU", "--against", "openvino:CPU")


def test_tokens_are_those_of_the_role():
    lengths = {}
    for role in ("query", "document"):
        lines = good("tokens", "--model", FOLDER / "bert", "--role", role, input="a\na b\n").stdout.splitlines()
        lengths[role] = [len(line.split()) for line in lines]
    assert lengths["query"] == [11, 11] and lengths["document"][0] < lengths["document"][1] < 11
    assert good("tokens", "--model", FOLDER / "bert", "--role", "query", "--offsets", input="a\n").stdout.endswith(":0:0\n")


def test_each_kind_names_the_command_for_it():
    message = bad(1, "embed", "--model", FOLDER / "bert", "--outputs", "dense", input="a\n")
    assert "bert has no output 'dense'; its outputs are: multi_vector, token_vectors. It is a multi-vector encoder" in message
    message = bad(1, "embed", "--model", TINY, "--outputs", "multi_vector", input="a\n")
    assert "gives vectors for texts" in message and "latebind embed" in message
    for kind, words in (("sparse_encoders", "is a sparse encoder"), ("cross_encoders", "is a cross-encoder")):
        other = SOURCE / "tests" / "data" / kind / "bert"
        assert words in bad(1, "embed", "--model", other, "--outputs", "multi_vector", input="a\n")
    assert words in bad(1, "search", "--model", other, "--query", "q", "-", input="a\n")
    message = bad(2, "rerank", "--model", FOLDER / "bert", "--raw-scores", "--query", "q", "-", input="a\n")
    assert "--raw-scores is for cross-encoders" in message


@pytest.fixture
def folder(tmp_path):
    return lambda name: shutil.copytree(FOLDER / name, tmp_path / name)


def change(file, **members):
    file.write_text(json.dumps(json.loads(file.read_text()) | members))


def refusal(model, *arguments):
    return bad(1, "embed", "--model", model, "--outputs", "multi_vector", *arguments, input="a\n")


def test_what_is_not_known_is_refused_by_name(folder):
    model = folder("bert")
    network = model / "sentence_bert_config.json"
    expansion = json.loads(network.read_text())["query_expansion"]
    for changed, message in (({"strategy": "most"}, "'strategy' of 'query_expansion' is 'most'; supported are fixed and min"),
                             ({"length": None}, "'length' of 'query_expansion' is missing"),
                             ({"length": 0}, "'length'"), ({"length": 25}, "queries are filled up to 25 tokens; the network takes 24"),
                             ({"attend": "yes"}, "'attend'"), ({"token": ""}, "'token'"), ({"token": 7}, "'token'"),
                             ({"token": "unheard"}, "filled up with 'unheard', which is not a token"),
                             ({"side": "left"}, "'query_expansion' has 'side'")):
        change(network, query_expansion=expansion | changed)
        assert message in refusal(model), changed
    change(network, query_expansion=["fixed"])
    assert "'query_expansion' is not an object" in refusal(model)
    change(network, query_expansion=expansion, query_length=10)
    assert "'query_length' is 10, less than the 11 tokens that queries are filled up to" in refusal(model)
    change(network, query_length=None, document_length="long")
    assert "'document_length'" in refusal(model)
    change(network, document_length=12)
    mask = model / "2_MultiVectorMask" / "config.json"
    for changed, message in (({"skiplist_words": "!"}, "'skiplist_words' is not a list"),
                             ({"skiplist_words": [3]}, "'skiplist_words' has 3"),
                             ({"skiplist_words": ["x" * 300]}, "'skiplist_words' has"),
                             ({"skiplist_tasks": ["passage"]}, "'skiplist_tasks' has \"passage\"; supported are query and document"),
                             ({"keep_only_token_ids": [-1]}, "'keep_only_token_ids' has -1"),
                             ({"keep_only_token_ids": 3}, "'keep_only_token_ids' is not a list")):
        old = mask.read_text()
        change(mask, **changed)
        assert message in refusal(model), changed
        mask.write_text(old)
    dense = model / "1_Dense" / "config.json"
    change(dense, module_input_name="sentence_embedding")
    assert "'module_input_name' is 'sentence_embedding'; only token_embeddings is supported" in refusal(model)
    change(dense, module_input_name="token_embeddings", module_output_name="scores")
    assert "'module_output_name' is 'scores'" in refusal(model)


def test_modules_that_are_not_known_are_refused_by_name(folder):
    model = folder("bert")
    file = model / "modules.json"
    modules = json.loads(file.read_text())
    pooling = {"idx": 4, "name": "4", "path": "4_Pooling", "type": "sentence_transformers.multi_vector_encoder.modules.token_pooling.HierarchicalTokenPooling"}
    for changed in (modules + [pooling], modules + [modules[2]], modules[1:], [modules[0], modules[3], modules[1]]):
        file.write_text(json.dumps(changed))
        assert "is not supported" in refusal(model)
    own = model / "config_sentence_transformers.json"
    file.write_text(json.dumps(modules))
    change(own, model_type="ColBERT")
    assert "MultiVectorMask' as number 3 is not supported" in refusal(model)


def test_without_a_mask_or_a_length_all_is_as_the_reference_has_it(folder):
    """The reference has a vector for the tokens that are attended to."""
    model = folder("bert")
    file = model / "modules.json"
    modules = json.loads(file.read_text())
    file.write_text(json.dumps(modules[:2]))
    plain = embed(model, TEXTS, "--role", "query")
    for vectors, text, wanted in zip(plain, embed(model, TEXTS, "--prompt", "a "), EXPECTED["queries"]["bert"], strict=True):
        assert len(vectors) == min(len(text), 11)
        assert len(vectors) <= len(wanted)
        for vector, wanted_vector in zip(vectors, wanted, strict=False):
            length = sum(number * number for number in vector) ** 0.5
            assert [number / length for number in vector] == pytest.approx(wanted_vector, abs=1e-5)


def test_tokens_that_queries_are_filled_up_with(folder):
    model = folder("bert")
    tokenizer = model / "tokenizer_config.json"
    config = json.loads(tokenizer.read_text())
    del config["mask_token"]
    tokenizer.write_text(json.dumps(config))
    assert "neither a 'mask_token' nor an 'eos_token'" in refusal(model)
    (model / "special_tokens_map.json").write_text(json.dumps({"mask_token": {"content": "[MASK]"}}))
    assert_both_roles(model, "bert")
    (model / "special_tokens_map.json").unlink()
    tokenizer.write_text(json.dumps(config | {"tokenizer_class": "BertTokenizerFast"}))
    assert_both_roles(model, "bert")
    tokenizer.write_text(json.dumps(config | {"mask_token": "[MASK]", "padding_side": "left"}))
    assert "padded to the 'left'" in refusal(model)


def test_pylates_files(folder):
    model = folder("modernbert")
    own = model / "config_sentence_transformers.json"
    change(own, model_type="MultiVectorEncoder", skiplist_words=["!"])
    # As sentence-transformers' own there is no mask, no length 1, and no vector of what fills a query up.
    assert len(embed(model, TEXTS, "--role", "query")[2]) < 18
    change(own, model_type=None, skiplist_words=["!", ".", "cat", "unheard", "[UNK]"])
    assert_both_roles(model, "modernbert")
    change(own, prompts={"query": "[Q] ", "document": None})
    assert_both_roles(model, "modernbert")
    change(own, query_prefix=None)
    assert_both_roles(model, "modernbert")
    change(own, query_prefix="", prompts={})
    assert embed(model, TEXTS, "--role", "query") != EXPECTED["queries"]["modernbert"]
    change(own, do_query_expansion=False)
    assert len(embed(model, TEXTS, "--role", "query")[2]) < 18
    change(own, do_query_expansion="no")
    assert "'do_query_expansion'" in refusal(model)
    change(own, do_query_expansion=None, query_prefix="x" * 20000)
    assert "the prompt of 'query' has more than" in refusal(model)
    file = model / "modules.json"
    change(own, query_prefix="[Q] ")
    file.write_text(json.dumps(json.loads(file.read_text())[:1]))
    assert "a projection of each token's vector is yet to be trained" in refusal(model)


def test_stanfords_files(folder):
    model = folder("stanford")
    metadata = model / "artifact.metadata"
    whole = metadata.read_text()
    change(metadata, mask_punctuation=False)
    assert [len(vectors) for vectors in embed(model, TEXTS)] != [len(vectors) for vectors in EXPECTED["documents"]["stanford"]]
    for changed, message in (({"query_maxlen": -3}, "'query_maxlen'"), ({"doc_maxlen": "all"}, "'doc_maxlen'"),
                             ({"query_token_id": 7}, "'query_token_id'"), ({"query_maxlen": 32}, "filled up to 32 tokens; the network takes 24"),
                             ({"attend_to_mask_tokens": "no"}, "'attend_to_mask_tokens'")):
        metadata.write_text(whole)
        change(metadata, **changed)
        assert message in refusal(model), changed
    metadata.unlink()
    # Its defaults are longer than this network.
    assert "filled up to 32 tokens" in refusal(model)
    metadata.write_text(whole[:-9])
    assert "artifact.metadata" in refusal(model)
