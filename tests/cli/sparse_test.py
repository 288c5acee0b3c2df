"""Sparse encoders: the weights that sentence-transformers gives, by `latebind embed`."""

import json
import shutil

import onnx
import pytest
from support import SOURCE, TINY, bad, good, provider

FOLDER = SOURCE / "tests" / "data" / "sparse_encoders"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
DEVICES = ["native:CPU", "openvino:CPU", "onnxruntime:CPU"]


def embed(model, texts, *arguments):
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    command = ("embed", "--model", model, "--outputs", "sparse", "--input-format", "jsonl", "-q", *arguments)
    found = [json.loads(line) for line in good(*command, input=lines).stdout.splitlines()]
    assert [vector["index"] for vector in found] == list(range(len(texts)))
    return found


def assert_same(found, expected):
    assert len(found) == len(expected) > 0
    for one, wanted in zip(found, expected, strict=True):
        assert one["indices"] == wanted["indices"]
        assert one["values"] == pytest.approx(wanted["values"], abs=1e-5)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", EXPECTED["vectors"])
def test_weights_are_the_references(name, device):
    found = embed(FOLDER / name, EXPECTED["texts"], "--device", device, "--strict", "--precision", "f32")
    assert_same(found, EXPECTED["vectors"][name])


def test_a_prompt_is_put_before_the_texts():
    assert_same(embed(FOLDER / "bert", EXPECTED["texts"], "--prompt-name", "query"), EXPECTED["query"])


def test_static_lengths_give_the_same():
    fixed = ("--device", "openvino:CPU", "--shapes", "static", "--static-lengths", "8")
    assert_same(embed(FOLDER / "bert", EXPECTED["texts"], *fixed), EXPECTED["vectors"]["bert"])


def test_many_texts_in_their_order():
    texts = EXPECTED["texts"] * 500
    found = embed(FOLDER / "distilbert", texts, "--batch-tokens", "64")
    assert_same(found, EXPECTED["vectors"]["distilbert"] * 500)
    assert max(len(vector["indices"]) for vector in found) == 5


def test_a_bundle_and_an_onnx_folder_give_the_same(tmp_path):
    bundle = tmp_path / "sparse.lbundle"
    good("compile", FOLDER / "mpnet", "--target", "cpu", "-o", bundle)
    assert_same(embed(bundle, EXPECTED["texts"], "--device", "openvino:CPU"), EXPECTED["vectors"]["mpnet"])
    model = shutil.copytree(FOLDER / "mpnet", tmp_path / "model")
    good("export", "--model", model, "-o", model / "ours.onnx")
    # As others export it: the numbers of every token.
    network = onnx.load(model / "ours.onnx")
    (bias,) = [node for node in network.graph.node if any("lm_head.bias" in name for name in node.input)]
    shape = ("batch", "tokens", 45)
    network.graph.output[0].CopyFrom(onnx.helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, shape))
    network.graph.node.append(onnx.helper.make_node("Identity", [bias.output[0]], ["logits"]))
    onnx.save(network, model / "model.onnx")
    (model / "model.safetensors").unlink()
    for device in ("openvino:CPU", "onnxruntime:CPU"):
        for file in ("ours.onnx", "model.onnx"):
            found = embed(model, EXPECTED["texts"], "--device", device, "--onnx-file", file)
            assert_same(found, EXPECTED["vectors"]["mpnet"])
    good("export", "--model", FOLDER / "mpnet", "--hidden-states", "-o", model / "states.onnx")
    message = bad(1, "embed", "--model", model, "--outputs", "sparse", "--onnx-file", "states.onnx", input="a\n")
    assert "'last_hidden_state' has 32 numbers for a token; the vocabulary has 45 entries" in message


def test_a_bundle_and_an_onnx_folder_of_a_sum_give_the_same(tmp_path):
    bundle = tmp_path / "sum.lbundle"
    good("compile", FOLDER / "sum", "--target", "cpu", "-o", bundle)
    model = shutil.copytree(FOLDER / "sum", tmp_path / "model")
    good("export", "--model", model, "-o", model / "model.onnx")
    (model / "model.safetensors").unlink()
    for device in ("openvino:CPU", "onnxruntime:CPU"):
        for place in (bundle, model):
            assert_same(embed(place, EXPECTED["texts"], "--device", device), EXPECTED["vectors"]["sum"])
    good("export", "--model", FOLDER / "bert", "-o", model / "largest.onnx")
    message = bad(1, "embed", "--model", model, "--outputs", "sparse", "--onnx-file", "largest.onnx", input="a\n")
    assert "'term_logits' is the largest number of all tokens, of which 'pooling_strategy' sum needs each" in message


def test_an_npu_that_is_not_there(tmp_path):
    """Compiled by Qualcomm's compiler for a fixed length, and computed in its emulation, in f16."""
    qnn = {"LATEBIND_ONNXRUNTIME_PROVIDERS": provider("onnxruntime-qnn")}
    bundle = tmp_path / "sparse.lbundle"
    good("compile", FOLDER / "bert", "--target", "npu:v73", "--shapes", "1x20", "-o", bundle, env=qnn)
    lines = "".join(json.dumps({"text": text}) + "\n" for text in EXPECTED["texts"])
    command = ("embed", "--model", bundle, "--outputs", "sparse", "--input-format", "jsonl", "-q", "--strict")
    emulated = ("--device", "onnxruntime:QNN.v73", "--emulate", "--precision", "f16")
    found = [json.loads(line) for line in good(*command, *emulated, input=lines, env=qnn).stdout.splitlines()]
    for one, wanted in zip(found, EXPECTED["vectors"]["bert"], strict=True):
        ours, theirs = (dict(zip(each["indices"], each["values"], strict=True)) for each in (one, wanted))
        assert all(abs(ours.get(i, 0) - theirs.get(i, 0)) < 0.05 for i in {*ours, *theirs})


def test_nothing_to_embed():
    assert embed(FOLDER / "bert", []) == []


def test_each_kind_names_the_command_for_it(tmp_path):
    message = bad(1, "embed", "--model", FOLDER / "bert", "--outputs", "dense", input="a\n")
    assert "is a sparse encoder" in message and "`latebind embed` has them" in message
    message = bad(1, "embed", "--model", TINY, "--outputs", "sparse", input="a\n")
    assert "gives vectors" in message and "latebind embed" in message
    message = bad(1, "rerank", "--model", FOLDER / "bert", "--query", "q", "-", input="a\n")
    assert "is a sparse encoder" in message
    cross = SOURCE / "tests" / "data" / "cross_encoders" / "bert"
    assert "is a cross-encoder" in bad(1, "embed", "--model", cross, "--outputs", "sparse", input="a\n")


@pytest.fixture
def model(tmp_path):
    return shutil.copytree(FOLDER / "bert", tmp_path / "model")


def change(file, **members):
    file.write_text(json.dumps(json.loads(file.read_text()) | members))


def refusal(model):
    return bad(1, "embed", "--model", model, "--outputs", "sparse", input="a\n")


def test_what_is_not_known_is_refused_by_name(model):
    pooling = model / "1_SpladePooling" / "config.json"
    change(pooling, pooling_strategy="mean")
    assert "'pooling_strategy' is 'mean'; supported are max and sum" in refusal(model)
    change(pooling, pooling_strategy="max", activation_function="softplus")
    assert "'activation_function' is 'softplus'; supported are relu and log1p_relu" in refusal(model)
    change(pooling, activation_function="relu")
    own = model / "config_sentence_transformers.json"
    change(own, model_type="SentenceTransformer")
    assert "'model_type' is not SparseEncoder" in refusal(model)
    change(own, model_type="SparseEncoder", max_active_dims=0)
    assert "'max_active_dims'" in refusal(model)
    change(own, max_active_dims=None)
    task = model / "sentence_bert_config.json"
    change(task, transformer_task="feature-extraction")
    assert "'transformer_task' is 'feature-extraction'" in refusal(model)
    change(task, transformer_task="fill-mask")
    change(model / "config.json", model_type="nomic_bert", hidden_act="silu")
    assert "networks for masked language modelling of 'model_type' 'nomic_bert' are not supported" in refusal(model)


def test_a_matrix_that_may_not_be_that_of_the_words_must_be_there(model):
    change(model / "config.json", tie_word_embeddings=False)
    assert "cls.predictions.decoder.weight" in refusal(model)


def test_an_embedder_needs_a_network_that_gives_vectors(tmp_path):
    model = shutil.copytree(TINY, tmp_path / "model")
    change(model / "sentence_bert_config.json", transformer_task="fill-mask")
    assert "'transformer_task' is 'fill-mask'" in bad(1, "embed", "--model", model, input="a\n")
