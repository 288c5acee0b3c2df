"""Models with modules behind pooling, with other modes of pooling, without a network, and with weights in pieces."""

import json
import re
import shutil
import struct

import numpy
import onnxruntime
import pytest
from pytorch_weights import Storage, Tensor, as_pytorch, save, tensors_of
from support import SOURCE, TINY, bad, cosines, good, vectors

MODULES = SOURCE / "tests" / "data" / "modules"
WORDS = SOURCE / "tests" / "data" / "words"
EXPECTED = json.loads((MODULES / "expected.json").read_text())
DEVICES = ["native:CPU", "openvino:CPU", "onnxruntime:CPU"]


@pytest.fixture
def model(tmp_path):
    return shutil.copytree(TINY, tmp_path / "model")


def add_modules(model):
    shutil.rmtree(model / "1_Pooling")
    shutil.copytree(MODULES / "behind", model, dirs_exist_ok=True)
    return model


def cut_in_pieces(model):
    """As huggingface_hub does it, but tensor by tensor in turn."""
    data = (model / "model.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    pieces = [(f"model-0000{i}-of-00003.safetensors", {}, bytearray()) for i in (1, 2, 3)]
    weight_map = {}
    for number, (name, tensor) in enumerate(header.items()):
        file, head, body = pieces[number % 3]
        begin, end = tensor["data_offsets"]
        head[name] = tensor | {"data_offsets": [len(body), len(body) + end - begin]}
        body += data[8 + length + begin : 8 + length + end]
        weight_map[name] = file
    for file, head, body in pieces:
        text = json.dumps(head).encode()
        (model / file).write_bytes(struct.pack("<Q", len(text)) + text + body)
    (model / "model.safetensors").unlink()
    index = model / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": len(data)}, "weight_map": weight_map}))
    return model


def embed(model, *arguments):
    lines = "".join(json.dumps({"text": text}) + "\n" for text in EXPECTED["texts"])
    return vectors(good("embed", "--model", model, "--input-format", "jsonl", *arguments, input=lines).stdout)


def agrees(found, what):
    wanted = numpy.array(EXPECTED["vectors"][what])
    assert found.shape == wanted.shape
    assert cosines(found, wanted).min() > 0.999999
    assert numpy.abs(found - wanted).max() < 1e-5


@pytest.mark.parametrize("mode", ["lasttoken", "weightedmean"])
def test_the_side_of_padding_changes_nothing(model, mode):
    """A text has the vector that it has alone."""
    (model / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode": mode}))
    right = embed(model, "--device", "openvino:CPU")
    tokenizer = json.loads((model / "tokenizer.json").read_text())
    tokenizer["padding"] = {"strategy": "BatchLongest", "direction": "Left", "pad_to_multiple_of": None, "pad_id": 0,
                            "pad_type_id": 0, "pad_token": "[PAD]"}  # fmt: skip
    (model / "tokenizer.json").write_text(json.dumps(tokenizer))
    (model / "tokenizer_config.json").write_text(json.dumps({"padding_side": "left"}))
    left = embed(model, "--device", "openvino:CPU")
    assert (left == right).all()
    line = json.dumps({"text": EXPECTED["texts"][-1]}) + "\n"
    alone = vectors(good("embed", "--model", model, "--input-format", "jsonl", "--device", "openvino:CPU", input=line).stdout)
    assert numpy.abs(alone - left[-1:]).max() < 1e-6


@pytest.mark.parametrize("device", DEVICES)
def test_modules_behind_pooling(model, device):
    agrees(embed(add_modules(model), "--device", device, "--strict"), "behind")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("mode", ["mean_sqrt_len_tokens", "weightedmean"])
def test_modes_of_pooling(model, mode, device):
    (model / "1_Pooling" / "config.json").write_text(json.dumps({"embedding_dimension": 32, "pooling_mode": mode}))
    modules = json.loads((model / "modules.json").read_text())
    (model / "modules.json").write_text(json.dumps(modules[:2]))  # without a normalisation
    agrees(embed(model, "--device", device, "--strict"), mode)


def without_modules(network, folder):
    """A folder of that network with the tokenizer of TINY, but without a list of modules."""
    shutil.copytree(TINY, folder)
    shutil.copytree(SOURCE / "tests" / "data" / "networks" / network, folder, dirs_exist_ok=True)
    (folder / "modules.json").unlink()
    return folder


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("network", "mode"), [("qwen3", "lasttoken"), ("gemma3_text", "mean"), ("roberta", "mean")])
def test_without_modules_the_network_says_how_texts_are_pooled(tmp_path, network, mode, device):
    plain = without_modules(network, tmp_path / "plain")
    listed = shutil.copytree(plain, tmp_path / "listed")
    kinds = [("Transformer", ""), ("Pooling", "1_Pooling")]
    list_of_modules = [{"path": path, "type": f"sentence_transformers.models.{kind}"} for kind, path in kinds]
    (listed / "modules.json").write_text(json.dumps(list_of_modules))
    (listed / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode": mode}))
    found = embed(plain, "--device", device, "--strict")
    # Alone a text may be cut later than with the list, whose companion says where.
    short = [len(text) < 15 for text in EXPECTED["texts"]]
    assert sum(short) > 2
    assert (found[short] == embed(listed, "--device", device, "--strict")[short]).all()


@pytest.mark.parametrize("device", DEVICES[1:])
def test_without_modules_an_onnx_file_of_token_vectors_is_pooled_as_the_weights_are(tmp_path, device):
    model = without_modules("qwen3", tmp_path / "model")
    whole = embed(model, "--device", device)
    good("export", "--model", model, "--hidden-states", "-o", tmp_path / "model.onnx")
    (model / "model.safetensors").unlink()
    shutil.move(tmp_path / "model.onnx", model)
    done = good("embed", "--model", model, "--device", device, "--strict", input="text\n")
    assert "the vector of the last token is taken" in done.stderr
    assert numpy.abs(embed(model, "--device", device, "--strict") - whole).max() < 1e-5


def test_what_is_assumed_without_modules_is_said_once(tmp_path):
    said = ("model has no modules.json: the vector of the last token is taken for a text's, because config.json names "
            "Qwen3ForCausalLM, and it is not normalized")  # fmt: skip
    not_read = "; not read without it: 1_Pooling/config.json, sentence_bert_config.json"
    model = without_modules("qwen3", tmp_path / "model")
    done = good("embed", "--model", model, input="text\n")
    assert done.stderr.startswith(f"latebind: {said}{not_read}\n")
    assert done.stderr.count(said) == 1
    bundle = tmp_path / "model.lbundle"
    assert good("compile", model, "-q", "-o", bundle).stderr == f"latebind: {said}{not_read}\n"
    assert said in good("embed", "--model", bundle, input="text\n").stderr
    shown = good("inspect", bundle)
    assert (f"\nassumed: {said}\n" in shown.stdout, shown.stderr) == (True, "")
    assert json.loads(good("inspect", bundle, "--json").stdout)["assumed"] == said
    assert said in good("export", "--model", model, "-o", tmp_path / "model.onnx").stderr
    # A file that pools by itself leaves nothing to be assumed.
    (model / "model.safetensors").unlink()
    shutil.move(tmp_path / "model.onnx", model)
    assert "modules.json" not in good("embed", "--model", model, input="text\n").stderr
    # Nor does a list of modules.
    listed = tmp_path / "listed.lbundle"
    good("compile", TINY, "-q", "-o", listed)
    assert json.loads(good("inspect", listed, "--json").stdout)["assumed"] is None
    assert "assumed" not in good("inspect", listed).stdout


PROMPTS = {"default": [], "passage": ["--prompt-name", "passage"], "none": ["--prompt", ""], "other": ["--prompt", "on "]}


@pytest.fixture
def prompted(model):
    shutil.copy(MODULES / "prompts" / "config_sentence_transformers.json", model)
    return model


@pytest.mark.parametrize("asked", PROMPTS)
def test_prompts_of_the_model_and_of_a_call(prompted, tmp_path, asked):
    wanted = numpy.array(EXPECTED["prompts"][asked])
    bundle = tmp_path / "model.lbundle"
    good("compile", prompted, "-q", "-o", bundle)
    for one in prompted, bundle:
        found = embed(one, *PROMPTS[asked])
        assert cosines(found, wanted).min() > 0.999999
        assert numpy.abs(found - wanted).max() < 1e-5


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("mode", sorted(EXPECTED["without_prompt"]))
def test_a_prompt_that_pooling_leaves_out(model, tmp_path, mode, device):
    pooling = {"embedding_dimension": 32, "pooling_mode": mode, "include_prompt": False}
    (model / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    modules = json.loads((model / "modules.json").read_text())
    (model / "modules.json").write_text(json.dumps(modules[:2]))  # without a normalisation
    wanted = numpy.array(EXPECTED["without_prompt"][mode])
    places = [model]
    if mode == "mean":
        places.append(tmp_path / "model.lbundle")
        good("compile", model, "--target", "cpu", "-q", "-o", places[1])
    for place in places:
        found = embed(place, "--device", device, "--strict", "--prompt", "cat and dog: ")
        assert cosines(found, wanted).min() > 0.999999
        assert numpy.abs(found - wanted).max() < 1e-5
    # Without one nothing is left out.
    if mode in EXPECTED["vectors"]:
        agrees(embed(model, "--device", device), mode)


def test_a_prompt_that_leaves_nothing_to_be_pooled(model):
    (model / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode": "mean", "include_prompt": False}))
    post = json.loads((model / "tokenizer.json").read_text())
    post["post_processor"] = None
    (model / "tokenizer.json").write_text(json.dumps(post))
    (model / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    said = bad(1, "embed", "--model", model, "--prompt", "cat and dog and cat", "--max-tokens", "3", input="text\n")
    assert "at most 3 tokens leave none of the text" in said
    said = bad(1, "embed", "--model", model, "--prompt", "cat and dog and cat", input="\n")
    assert "nothing but the prompt is left of the text's 5 tokens" in said
    add_modules(model)
    (model / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode": "mean", "include_prompt": False}))
    assert "'include_prompt' is false" in bad(1, "embed", "--model", model, "--prompt", "cat ", input="text\n")


def test_tokens_are_those_of_the_prompted_texts(prompted):
    config = json.loads((prompted / "config_sentence_transformers.json").read_text())["prompts"]

    def tokens(text, *arguments):
        return good("tokens", "--model", prompted, *arguments, input=text + "\n").stdout

    assert tokens("on") == tokens(config["query"] + "on", "--prompt", "")
    assert tokens("on", "--prompt-name", "passage") == tokens(config["passage"] + "on", "--prompt-name", "document")


def test_a_query_and_the_lines_have_prompts_of_their_own(prompted):
    def scores(query, lines, *arguments):
        done = good("search", "--json", "-q", "--model", prompted, "--query", query, *arguments, "-", input=lines)
        return [(result["line"], result["score"]) for result in json.loads(done.stdout)["results"]]

    nothing = ["--prompt", "", "--query-prompt", ""]
    wanted = scores("x: the cat", "y: a dog\ny: the mat\n", *nothing)
    assert scores("the cat", "a dog\nthe mat\n", "--query-prompt", "x: ", "--prompt", "y: ") == wanted
    config = json.loads((prompted / "config_sentence_transformers.json").read_text())["prompts"]
    wanted = scores(config["query"] + "the cat", config["passage"] + "a dog\n", *nothing)
    assert scores("the cat", "a dog\n", "--prompt-name", "passage") == wanted


def test_a_prompt_that_there_is_not_is_refused(prompted):
    said = bad(1, "embed", "--model", prompted, "--prompt-name", "other", input="text\n")
    assert "no prompt 'other'; it has: document, passage, query" in said
    assert "--prompt" in bad(2, "embed", "--model", prompted, "--prompt-name", "query", "--prompt", "x", input="text\n")
    (prompted / "config_sentence_transformers.json").write_text('{"default_prompt_name": "other"}')
    assert "'default_prompt_name' is 'other'" in bad(1, "embed", "--model", prompted, input="text\n")


@pytest.fixture
def static(tmp_path):
    return shutil.copytree(MODULES / "static", tmp_path / "static")


def with_tensors(file, change):
    """Rewrites the file with other names or other tensors in front."""
    data = file.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    text = json.dumps(change(json.loads(data[8 : 8 + length]))).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length :])


@pytest.mark.parametrize("device", DEVICES)
def test_static_embeddings(static, device):
    agrees_but_for_the_empty_text(embed(static, "--device", device, "--strict"))


def agrees_but_for_the_empty_text(found, what="static"):
    """That has no direction."""
    wanted = numpy.array(EXPECTED["vectors"][what])
    assert EXPECTED["texts"][0] == "" and not found[0].any() and not wanted[0].any()
    assert cosines(found[1:], wanted[1:]).min() > 0.999999
    assert numpy.abs(found - wanted).max() < 1e-5


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["glove", "lower"])
def test_word_embeddings(name, device, tmp_path):
    expected = json.loads((WORDS / "expected.json").read_text())
    lines = "".join(json.dumps({"text": text}) + "\n" for text in expected["texts"])
    bundle = tmp_path / "words.lbundle"
    good("compile", WORDS / name, "--target", "cpu", "-q", "-o", bundle)
    for model in (WORDS / name, bundle):
        out = good("embed", "--model", model, "--input-format", "jsonl", "--device", device, "--strict", input=lines).stdout
        found, wanted = vectors(out), numpy.array(expected[name]["vectors"])
        has_words = numpy.array([bool(ids) for ids in expected[name]["ids"]])
        assert 3 < has_words.sum() < len(has_words)
        assert cosines(found[has_words], wanted[has_words]).min() > 0.9999999
        assert numpy.abs(found - wanted).max() < 1e-5
    good("inspect", "--verify", bundle)


def test_static_embeddings_of_model2vec_and_in_a_folder_of_their_own(static):
    with_tensors(static / "model.safetensors", lambda head: {
        "embeddings" if name == "embedding.weight" else name: tensor for name, tensor in head.items()})  # fmt: skip
    (static / "config.json").write_text(json.dumps({"model_type": "model2vec", "normalize": True}))
    agrees_but_for_the_empty_text(embed(static))
    (static / "0_StaticEmbedding").mkdir()
    for file in "model.safetensors", "tokenizer.json", "config.json":
        (static / file).rename(static / "0_StaticEmbedding" / file)
    modules = json.loads((static / "modules.json").read_text())
    modules[0]["path"] = "0_StaticEmbedding"
    (static / "modules.json").write_text(json.dumps(modules))
    agrees_but_for_the_empty_text(embed(static))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("table", ["compressed", "shared", "weighed"])
def test_compressed_tables_of_model2vec(static, tmp_path, table, device):
    shutil.copy(MODULES / f"{table}.safetensors", static / "model.safetensors")
    agrees_but_for_the_empty_text(embed(static, "--device", device, "--strict"), table)
    bundle = tmp_path / "static.lbundle"
    good("compile", static, "--target", "cpu", "-q", "-o", bundle)
    agrees_but_for_the_empty_text(embed(bundle, "--device", device, "--strict"), table)
    good("inspect", "--verify", bundle)


@pytest.mark.parametrize(
    ("table", "tensor", "change", "said"),
    [
        ("compressed", "mapping", {"shape": [9, 5]}, "'mapping' has the shape [9,5], a number for each token"),
        ("compressed", "mapping", {"dtype": "F64"}, "'mapping' has the type F64; I32 and I64 are supported"),
        ("compressed", "weights", {"shape": [15, 3]}, "'weights' has the shape [15,3], a number for each token"),
        ("compressed", "weights", {"dtype": "U64"}, "has the type U64"),
        ("compressed", "embeddings", {"shape": [264]}, "'embeddings' has the shape [264], a table was expected"),
        ("compressed", "embeddings", {"dtype": "I32"}, "has the type I32"),
        ("weighed", "embeddings", {"shape": [90, 12]}, "'weights' has 45 numbers for 90 tokens"),
        ("shared", "embeddings", {"shape": [1, 264]}, "and 'embeddings' has 1 rows"),
    ],
)
def test_compressed_tables_that_do_not_fit_are_refused(static, table, tensor, change, said):
    shutil.copy(MODULES / f"{table}.safetensors", static / "model.safetensors")
    with_tensors(static / "model.safetensors", lambda head: head | {tensor: head[tensor] | change})
    assert said in bad(1, "embed", "--model", static, input="text\n")


def test_a_compressed_table_has_a_limit(static):
    tokens, width = 1 << 22, 96
    head = {
        "embeddings": {"dtype": "F32", "shape": [1, width], "data_offsets": [0, 4 * width]},
        "mapping": {"dtype": "I32", "shape": [tokens], "data_offsets": [4 * width, 4 * width + 4 * tokens]},
    }
    text = json.dumps(head).encode()
    content = struct.pack("<Q", len(text)) + text + bytes(4 * width + 4 * tokens)
    (static / "model.safetensors").write_bytes(content)
    said = bad(1, "embed", "--model", static, input="text\n")
    assert "4194304 vectors of 96 numbers are more than the 1073741824 bytes" in said


@pytest.mark.parametrize("device", DEVICES)
def test_a_bundle_of_static_embeddings(static, tmp_path, device):
    bundle = tmp_path / "static.lbundle"
    good("compile", static, "--target", "cpu", "-q", "-o", bundle)
    agrees_but_for_the_empty_text(embed(bundle, "--device", device, "--strict"))
    good("inspect", "--verify", bundle)


def test_texts_of_static_embeddings_have_no_special_tokens_and_are_cut_where_the_tokenizer_cuts_them(static):
    def tokens():
        return good("tokens", "--model", static, input="the cat sat on the mat\n").stdout.split()

    whole = tokens()
    assert len(whole) == 6
    tokenizer = json.loads((static / "tokenizer.json").read_text())
    tokenizer["truncation"] = {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0}
    (static / "tokenizer.json").write_text(json.dumps(tokenizer))
    assert tokens() == whole[:4]
    tokenizer["truncation"]["direction"] = "Left"
    (static / "tokenizer.json").write_text(json.dumps(tokenizer))
    assert "'truncation' is to the 'Left'" in bad(1, "tokens", "--model", static, input="text\n")


def test_static_embeddings_that_are_not_understood_are_refused(static):
    weights = static / "model.safetensors"
    good_bytes = weights.read_bytes()
    for name, said in {
        "mapping": "neither 'embedding.weight' nor 'embeddings'",
        "weights": "neither 'embedding.weight' nor 'embeddings'",
        "other": "neither 'embedding.weight' nor 'embeddings'",
    }.items():
        with_tensors(weights, lambda head, name=name: {
            name: tensor for tensor in head.values() if "dtype" in tensor})  # fmt: skip
        assert said in bad(1, "embed", "--model", static, input="text\n")
        weights.write_bytes(good_bytes)
    with_tensors(weights, lambda head: {
        "embedding.weight": head["embedding.weight"] | {"shape": [44, 24], "data_offsets": [0, 44 * 96]},
        "weights": {"dtype": "F32", "shape": [24], "data_offsets": [44 * 96, 45 * 96]}})  # fmt: skip
    assert "'weights' of model2vec beside 'embedding.weight' is not supported" in bad(
        1, "embed", "--model", static, input="text\n")
    weights.write_bytes(good_bytes)
    with_tensors(weights, lambda head: {"embedding.weight": head["embedding.weight"] | {"shape": [45 * 24]}})
    assert "a table was expected" in bad(1, "embed", "--model", static, input="text\n")
    weights.unlink()
    assert "model.safetensors" in bad(1, "embed", "--model", static, input="text\n")
    modules = json.loads((static / "modules.json").read_text())
    modules.insert(1, {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"})
    (static / "modules.json").write_text(json.dumps(modules))
    assert "as number 2 is not supported" in bad(1, "embed", "--model", static, input="text\n")


@pytest.mark.parametrize("device", DEVICES)
def test_weights_in_pieces_are_those_of_one_file(model, device):
    whole = embed(model, "--device", device)
    assert numpy.array_equal(embed(cut_in_pieces(model), "--device", device, "--strict"), whole)


@pytest.mark.parametrize("options", [{}, {"old": True}, {"pieces": 3}, {"old": True, "pieces": 2}, {"protocol": 5}])
def test_weights_of_pytorch_are_those_of_safetensors(model, options):
    whole = embed(model, "--device", "native:CPU")
    weights = as_pytorch((model / "model.safetensors").read_bytes(), **options)
    (model / "model.safetensors").unlink()
    for name, content in weights.items():
        (model / name).write_bytes(content)
    assert numpy.array_equal(embed(model, "--device", "native:CPU", "--strict"), whole)


def as_views(safetensors):
    """pytorch_model.bin whose tensors share one storage, matrices transposed in it."""
    tensors, data = tensors_of(safetensors), bytearray(b"before")
    data += bytes(-len(data) % 4)
    shared = Storage("F32", b"")
    state = {}
    for name, tensor in tensors.items():
        numbers = numpy.frombuffer(tensor.storage.data, "<f4").reshape(tensor.shape)
        turned = len(tensor.shape) == 2
        strides = (1, tensor.shape[0]) if turned else None
        state[name] = Tensor(shared, tensor.shape, strides, len(data) // 4)
        data += (numbers.T if turned else numbers).tobytes()
    shared.__init__("F32", bytes(data))
    return save(state)


@pytest.mark.parametrize("device", DEVICES)
def test_views_of_one_storage_are_the_tensors(model, device, tmp_path):
    whole = embed(model, "--device", device)
    content = as_views((model / "model.safetensors").read_bytes())
    (model / "model.safetensors").unlink()
    (model / "pytorch_model.bin").write_bytes(content)
    assert numpy.array_equal(embed(model, "--device", device, "--strict"), whole)
    # Also from a bundle, whose portable model has the tensors that were copied in a file of their own.
    bundle = tmp_path / "bundle"
    good("compile", "--model", model, "--output", bundle)
    assert numpy.array_equal(embed(bundle, "--device", device, "--strict"), whole)


def test_weights_of_a_module_may_be_pytorchs(model):
    dense = add_modules(model) / "2_Dense"
    whole = embed(model)
    (dense / "pytorch_model.bin").write_bytes(as_pytorch((dense / "model.safetensors").read_bytes())["pytorch_model.bin"])
    (dense / "model.safetensors").unlink()
    assert numpy.array_equal(embed(model), whole)


class Intruder:
    """What a malicious pickle calls."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return open, (str(self.file), "w")


@pytest.mark.parametrize("old", [False, True])
def test_a_pickle_that_calls_is_refused_by_name_and_calls_nothing(model, tmp_path, old):
    tensors = tensors_of((model / "model.safetensors").read_bytes())
    (model / "model.safetensors").unlink()
    (model / "pytorch_model.bin").write_bytes(save({"x": Intruder(tmp_path / "written"), **tensors}, old=old))
    refused = bad(1, "embed", "--model", model, input="text\n")
    assert "pytorch_model.bin: it contains 'io.open', which is not a part of tensors" in refused
    assert not (tmp_path / "written").exists()


def test_vectors_are_as_short_as_the_models_files_say(model, tmp_path):
    file = model / "config_sentence_transformers.json"
    whole = embed(model)
    file.write_text(json.dumps({"model_type": "SentenceTransformer", "truncate_dim": 8}))
    short = embed(model)
    assert short.shape == (len(whole), 8)
    assert cosines(short, whole[:, :8]).min() > 0.999999
    assert numpy.array_equal(embed(model, "--dimensions", "8"), short)
    # A call may ask for fewer, and for more up to the whole.
    assert embed(model, "--dimensions", "3").shape == (len(whole), 3)
    assert numpy.array_equal(embed(model, "--dimensions", str(whole.shape[1])), whole)
    said = bad(1, "embed", "--model", model, "--dimensions", str(whole.shape[1] + 1), input="text\n")
    assert f"the model gives {whole.shape[1]}" in said
    assert '"kept_dimensions": 8' in good("inspect", model, "--json").stdout
    # A bundle keeps them, too, and search compares the short ones.
    good("compile", model, "--target", "cpu", "-q", "-o", tmp_path / "b.lbundle")
    assert embed(tmp_path / "b.lbundle").shape == (len(whole), 8)
    texts = tmp_path / "texts.txt"
    texts.write_text("text\n")
    assert good("search", model, "--query", "text", texts).stdout.split()[:2] == ["1", "1.0000"]


@pytest.mark.parametrize("device", DEVICES)
def test_a_bundle_has_all_files(model, tmp_path, device):
    cut_in_pieces(add_modules(model))
    bundle = tmp_path / "model.lbundle"
    good("compile", model, "--target", "cpu", "-q", "-o", bundle)
    agrees(embed(bundle, "--device", device, "--strict"), "behind")
    good("inspect", "--verify", bundle)


def test_one_onnx_file_has_all_weights(model, tmp_path):
    cut_in_pieces(add_modules(model))
    good("export", "--model", model, "--output", tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    ids = json.loads((TINY.parent / "expected.json").read_text())["ids"]
    found = [
        session.run(None, {"input_ids": [row], "attention_mask": [[1] * len(row)]})[0][0]
        for row in ids[: len(EXPECTED["texts"])]
    ]
    agrees(numpy.array(found), "behind")


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        ("2_Dense/config.json", {"use_residual": True}, "no tensor 'residual.weight'"),
        ("2_Dense/config.json", {"module_input_name": "token_embeddings"}, "only sentence_embedding"),
        ("3_Dense/config.json", {"activation_function": "torch.nn.modules.activation.Mish"}, "Mish"),
        ("3_Dense/config.json", {"activation_function": "my.Identity"}, "my.Identity"),
        ("3_Dense/config.json", {"in_features": 47}, "tensor 'linear.weight' has the shape [20,48]"),
        ("4_LayerNorm/config.json", {"dimension": 21}, "tensor 'norm.weight' has the shape [20]"),
        ("4_LayerNorm/config.json", {"dimension": None}, "'dimension' is missing"),
    ],
)
def test_a_module_that_is_not_understood_or_does_not_fit_is_refused(model, file, change, said):
    add_modules(model)
    (model / file).write_text(json.dumps(json.loads((model / file).read_text()) | change))
    refused = bad(1, "embed", "--model", model, input="text\n")
    assert said in refused and file.split("/")[0] in refused


def test_a_module_without_weights_is_refused(model):
    (add_modules(model) / "2_Dense" / "model.safetensors").rename(model / "2_Dense" / "weights")
    assert "2_Dense: the module Dense has neither model.safetensors nor pytorch_model.bin" in bad(
        1, "embed", "--model", model, input="text\n")


def test_modules_behind_a_ready_onnx_file_are_refused(model, tmp_path):
    good("export", "--model", model, "--output", tmp_path / "model.onnx")
    (add_modules(model) / "model.safetensors").unlink()
    (tmp_path / "model.onnx").rename(model / "model.onnx")
    assert "modules with weights after the pooling" in bad(1, "embed", "--model", model, input="text\n")


def test_a_missing_piece_or_a_strange_one_is_refused(model):
    cut_in_pieces(model)
    index = model / "model.safetensors.index.json"
    listed = json.loads(index.read_text())
    (model / "model-00002-of-00003.safetensors").rename(model / "elsewhere")
    assert "the piece 'model-00002-of-00003.safetensors' of the weights is missing" in bad(
        1, "embed", "--model", model, input="text\n")  # fmt: skip
    (model / "elsewhere").rename(model / "model-00002-of-00003.safetensors")
    tensor = next(iter(listed["weight_map"]))
    for piece in "../model.safetensors", "/etc/passwd", "", 7, ".hidden":
        index.write_text(json.dumps({"weight_map": listed["weight_map"] | {tensor: piece}}))
        assert "is not a file of the folder" in bad(1, "embed", "--model", model, input="text\n")
    for damaged in "{}", '{"weight_map": {}}', '{"weight_map": []}', "[]":
        index.write_text(damaged)
        assert "'weight_map'" in bad(1, "embed", "--model", model, input="text\n")


def test_a_tensor_in_two_pieces_is_refused(model):
    cut_in_pieces(model)
    shutil.copy(model / "model-00001-of-00003.safetensors", model / "model-00002-of-00003.safetensors")
    assert "is in another file of the model, too" in bad(1, "embed", "--model", model, input="text\n")
