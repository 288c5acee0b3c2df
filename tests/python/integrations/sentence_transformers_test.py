"""SentenceTransformer without torch: the arguments that people use, those that are refused, and how mteb calls it."""

import enum
import json
import pickle
import re
import shutil
from types import SimpleNamespace

import latebind
import numpy
import pytest
from frameworks import DOCUMENTS, QUESTION, TEXTS, TINY, cosines, good
from latebind.integrations.sentence_transformers import SentenceTransformer


@pytest.fixture(scope="module")
def model(embedder):
    return SentenceTransformer(embedder)


@pytest.fixture
def small(tiny):
    return SentenceTransformer(tiny)


def configured(folder, **config):
    shutil.copytree(TINY, folder)
    (folder / "config_sentence_transformers.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


# -- Vectors -----------------------------------------------------------------------------------------------------------


def test_the_vectors_are_the_golden_ones(model, golden):
    found = model.encode(TEXTS, batch_size=8, show_progress_bar=False, convert_to_numpy=True)
    assert (found.dtype, found.shape) == (numpy.float32, golden.shape)
    assert cosines(found, golden).min() >= 0.99999
    for again in (model.encode(sentences=TEXTS), model.encode(tuple(TEXTS)), model.encode(numpy.array(TEXTS, object))):
        numpy.testing.assert_allclose(again, found, atol=1e-5)
    assert model.encode(TEXTS[0]).shape == (384,)
    assert model.encode([]).shape == (0, 384)


def test_the_three_lines_of_everyone(model):
    vectors = model.encode(DOCUMENTS)
    scores = model.similarity(model.encode_query(QUESTION), vectors)
    assert scores.shape == (1, 3) and scores.argmax() == 1


def test_vectors_are_normalised_and_cut(small, tiny):
    whole = tiny.encode(["a", "b c"])
    lengths = numpy.linalg.norm(whole, axis=1, keepdims=True)
    numpy.testing.assert_allclose(small.encode(["a", "b c"], normalize_embeddings=True), whole / lengths, atol=1e-5)
    # What is cut is not normalised again unless that was asked for.
    numpy.testing.assert_allclose(small.encode(["a", "b c"], truncate_dim=5), whole[:, :5], atol=1e-5)
    numpy.testing.assert_allclose(small.encode("a", truncate_dim=5), whole[0, :5], atol=1e-5)
    both = small.encode(["a", "b c"], truncate_dim=5, normalize_embeddings=True)
    expected = whole[:, :5] / numpy.linalg.norm(whole[:, :5], axis=1, keepdims=True)
    numpy.testing.assert_allclose(both, expected, atol=1e-5)
    assert both.flags.c_contiguous
    assert small.encode("a", truncate_dim=10_000).shape == (tiny.dimension,)

    cut = SentenceTransformer(tiny, truncate_dim=5)
    assert cut.encode("a").shape == (5,) and cut.get_embedding_dimension() == 5
    with cut.truncate_embeddings(3):
        assert cut.encode("a").shape == (3,) and cut.get_sentence_embedding_dimension() == 3
    with pytest.raises(ZeroDivisionError), cut.truncate_sentence_embeddings(None):
        assert cut.encode("a").shape == (tiny.dimension,)
        raise ZeroDivisionError
    assert cut.truncate_dim == 5


def test_the_models_files_say_how_many_numbers_it_keeps(tmp_path, tiny):
    model = tmp_path / "model"
    shutil.copytree(TINY, model)
    (model / "config_sentence_transformers.json").write_text('{"truncate_dim": 5}')
    whole = tiny.encode(["a", "b c"])
    own = SentenceTransformer(model, device="cpu")
    assert own.truncate_dim == own.get_embedding_dimension() == 5
    # Not normalised again, as in the reference; Embedder does that, as for dimensions.
    numpy.testing.assert_allclose(own.encode(["a", "b c"]), whole[:, :5], atol=1e-5)
    assert (own.embedder.dimension, own.embedder.dimension_max) == (5, tiny.dimension)
    assert own.embedder.encode("a").shape == (5,)
    assert own.embedder.encode("a", dimensions=tiny.dimension).shape == (tiny.dimension,)
    assert own.encode("a", truncate_dim=3).shape == (3,)
    with own.truncate_embeddings(None):
        numpy.testing.assert_allclose(own.encode("a"), whole[0], atol=1e-5)
    assert SentenceTransformer(own.embedder, truncate_dim=7).encode("a").shape == (7,)
    own.embedder.close()


def test_numbers_become_smaller_ones():
    from latebind.integrations._vectors import quantized

    vectors = numpy.array([[0.0, -255.0, 3.0], [255.0, 255.0, 3.0], [127.5, 63.75, 3.0]], numpy.float32)
    steps = [[0, 0, 0], [255, 255, 0], [127, 159, 0]]
    assert quantized(vectors, "uint8").tolist() == steps
    assert quantized(vectors, "int8").tolist() == [[each - 128 for each in row] for row in steps]
    assert [quantized(vectors, name).dtype for name in ("uint8", "int8")] == [numpy.uint8, numpy.int8]
    bits = quantized(vectors, "ubinary")
    assert (bits.dtype, bits.tolist()) == (numpy.uint8, [[0b00100000], [0b11100000], [0b11100000]])
    signed = quantized(vectors, "binary")
    assert (signed.dtype, signed.tolist()) == (numpy.int8, [[32 - 128], [224 - 128], [224 - 128]])
    assert quantized(vectors[0], "ubinary").tolist() == [32]


@pytest.mark.parametrize(("precision", "dtype"), [("int8", "int8"), ("uint8", "uint8")])
def test_precision_makes_smaller_numbers(model, golden, precision, dtype):
    found = model.encode(TEXTS, precision=precision)
    assert (found.dtype, found.shape) == (numpy.dtype(dtype), golden.shape)
    steps = (golden.max(axis=0) - golden.min(axis=0)) / 255
    back = (found.astype(numpy.float32) + (128 if dtype == "int8" else 0)) * steps + golden.min(axis=0)
    assert cosines(back, golden).min() > 0.999
    with pytest.raises(latebind.CallerError, match="there is only one"):
        model.encode("a", precision=precision)


def test_precision_makes_bits(model, golden):
    found = model.encode(TEXTS, precision="ubinary")
    assert (found.dtype, found.shape) == (numpy.uint8, (len(TEXTS), 48))
    assert (numpy.unpackbits(found, axis=1) == (golden > 0)).mean() > 0.999
    assert model.encode("a", precision="binary").shape == (48,)


@pytest.mark.parametrize("name", ["cosine", "dot", "euclidean", "manhattan"])
def test_similarities(small, name):
    numbers = numpy.random.default_rng(1)
    a, b = numbers.normal(size=(5, 7)).astype(numpy.float32), numbers.normal(size=(4, 7)).astype(numpy.float32)
    small.similarity_fn_name = name
    one = {
        "cosine": lambda x, y: x @ y / numpy.linalg.norm(x) / numpy.linalg.norm(y),
        "dot": lambda x, y: x @ y,
        "euclidean": lambda x, y: -(((x - y) ** 2).sum() ** 0.5),
        "manhattan": lambda x, y: -abs(x - y).sum(),
    }[name]
    expected = numpy.array([[one(x, y) for y in b] for x in a])
    found = small.similarity(a, b)
    assert (found.dtype, found.shape) == (numpy.float32, (5, 4))
    numpy.testing.assert_allclose(found, expected, atol=1e-4)
    numpy.testing.assert_allclose(small.similarity_pairwise(a[:4], b), numpy.diag(expected), atol=1e-4)
    numpy.testing.assert_allclose(small.similarity(list(a), b[0].tolist()), expected[:, :1], atol=1e-4)
    assert small.similarity_fn_name == name


def test_wrong_vectors_are_the_caller_s_errors(small):
    for a, b in ((numpy.ones((2, 3)), numpy.ones((2, 4))), (numpy.ones((2, 3, 1)), numpy.ones((2, 3))), ("a", "b")):
        with pytest.raises(latebind.CallerError):
            small.similarity(a, b)
    with pytest.raises(latebind.CallerError, match="do not fit"):
        small.similarity_pairwise(numpy.ones((2, 3)), numpy.ones((3, 3)))
    assert small.similarity(numpy.zeros((1, 3)), numpy.zeros((1, 3))).tolist() == [[0.0]]


# -- Prompts -----------------------------------------------------------------------------------------------------------


def test_prompts_by_name_by_text_and_by_default(prompted):
    with latebind.Embedder(prompted) as plain:
        model = SentenceTransformer(plain, prompts={"other": "o: "}, default_prompt_name="other")
        assert model.prompts == {"query": "Frage: ", "document": "", "passage": "Absatz: ", "other": "o: "}
        for found, text in (
            (model.encode("a"), "o: a"),
            (model.encode("a", prompt_name="query"), "Frage: a"),
            (model.encode("a", "query"), "Frage: a"),
            (model.encode("a", prompt="x: ", prompt_name="query"), "x: a"),
            (model.encode("a", prompt=""), "a"),
            (model.encode_query("a"), "Frage: a"),
            (model.encode_query(sentences="a"), "Frage: a"),
            (model.encode_query("a", prompt_name="passage"), "Absatz: a"),
            (model.encode_query("a", prompt="y"), "ya"),
            (model.encode_document("a"), "Absatz: a"),
            (model.encode_document("a", None, "z: ", 32, False), "z: a"),
        ):
            numpy.testing.assert_allclose(found, plain.encode(text), atol=1e-5)
        with pytest.raises(latebind.CallerError, match="no prompt 'nope'; known: query, document, passage, other"):
            model.encode("a", prompt_name="nope")
        with pytest.raises(latebind.CallerError, match="no prompt 'nope'"):
            SentenceTransformer(plain, default_prompt_name="nope")


def test_the_model_s_own_default_prompt_is_used_unless_another_is_given(tmp_path, tiny):
    folder = configured(tmp_path / "model", prompts={"query": "Frage: ", "other": "o: "}, default_prompt_name="query")
    model = SentenceTransformer(folder)
    assert model.default_prompt_name == "query"
    for found, text in (
        (model.encode("a"), "Frage: a"),
        (model.encode("a", prompt=""), "a"),
        (model.encode_document("a"), "a"),
        (SentenceTransformer(folder, default_prompt_name="other").encode("a"), "o: a"),
    ):
        numpy.testing.assert_allclose(found, tiny.encode(text), atol=1e-5)
    numpy.testing.assert_array_equal(model.tokenize("a")["input_ids"][0], tiny.tokenize("a"))
    numpy.testing.assert_array_equal(model.preprocess(["a"], prompt="o: ")["input_ids"][0], tiny.tokenize("o: a"))


def test_a_model_without_prompts_has_empty_ones(small, tiny):
    assert small.prompts == {"query": "", "document": ""}
    numpy.testing.assert_allclose(small.encode("a", prompt_name="query"), tiny.encode("a"), atol=1e-5)
    numpy.testing.assert_allclose(small.encode_document(["a"]), tiny.encode(["a"]), atol=1e-5)


def test_the_model_s_own_similarity_counts_unless_another_is_given(tmp_path):
    own = SentenceTransformer(configured(tmp_path / "model", similarity_fn_name="dot"))
    assert own.similarity_fn_name == "dot"
    assert SentenceTransformer(own.embedder, similarity_fn_name="euclidean").similarity_fn_name == "euclidean"
    own.embedder.close()


# -- What it is --------------------------------------------------------------------------------------------------------


def test_what_it_says_of_itself(model):
    assert model.get_sentence_embedding_dimension() == model.get_embedding_dimension() == 384
    assert model.max_seq_length == model.get_max_seq_length() == 256
    assert (model.similarity_fn_name, model.device, model.eval()) == ("cosine", "auto", model)
    assert repr(model).startswith("SentenceTransformer(<Embedder ")


def test_tokens(model):
    found = model.tokenize(["hello world", "hello"])
    assert found["input_ids"].tolist() == [[101, 7592, 2088, 102], [101, 7592, 102, 0]]
    assert found["attention_mask"].tolist() == [[1, 1, 1, 1], [1, 1, 1, 0]]
    assert {name: array.dtype.name for name, array in found.items()} == dict.fromkeys(found, "int64")
    assert model.tokenize("hello")["input_ids"].tolist() == [[101, 7592, 102]]
    assert model.tokenize([])["input_ids"].shape == (0, 0)


def test_setting_the_longest_text_opens_the_model_again(tiny):
    model = SentenceTransformer(TINY, device="cpu", max_tokens=16)
    model.max_seq_length = 8
    assert model.max_seq_length == 8
    assert model.tokenize(["a " * 100])["input_ids"].shape == (1, 8)
    numpy.testing.assert_allclose(model.encode("a " * 100), model.embedder.encode("a " * 50), atol=1e-5)
    for wrong in (0, "8", 10**9):
        with pytest.raises(latebind.CallerError):
            model.max_seq_length = wrong
    assert model.max_seq_length == 8
    model.embedder.close()


def test_a_pickled_one_is_its_arguments(tiny):
    first = SentenceTransformer(TINY, device="cpu", prompts={"query": "q: "}, truncate_dim=5, similarity_fn_name="dot")
    second = pickle.loads(pickle.dumps(first))
    numpy.testing.assert_allclose(second.encode_query("a"), tiny.encode("q: a")[:5], atol=1e-5)
    assert (second.similarity_fn_name, second.device) == ("dot", "cpu")
    first.embedder.close()
    second.embedder.close()


def test_it_imports_neither_torch_nor_the_package_that_it_is_like():
    code = "import sys\nfrom latebind.integrations.sentence_transformers import SentenceTransformer\n"
    assert (
        good(code + "print({'torch', 'sentence_transformers', 'transformers', 'mteb'} & set(sys.modules))") == "set()\n"
    )


# -- What is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"cache_folder": "/tmp"}, "cache_folder: models are in the hub's cache"),
        ({"token": "x"}, "token: set HF_TOKEN"),
        ({"local_files_only": True}, "local_files_only: set HF_HUB_OFFLINE=1"),
        ({"model_kwargs": {"torch_dtype": "float16"}}, "model_kwargs: .*precision"),
        ({"tokenizer_kwargs": {"padding_side": "left"}}, "tokenizer_kwargs: "),
        ({"backend": "onnx"}, 'backend: .*device="onnxruntime"'),
        ({"modules": [1]}, "modules: "),
        ({"device": "cuda"}, "cuda"),
        ({"similarity_fn_name": "maxsim"}, "similarity_fn_name is 'maxsim'; known: cosine"),
        ({"truncate_dim": 0}, "truncate_dim is 0"),
        ({"prompts": ["q"]}, "prompts is list"),
        ({"prompts": {"query": 3}}, "the prompt 'query' is int"),
        ({"default_prompt_name": 3}, "default_prompt_name is int"),
        ({"batch_tokns": 3}, r"did you mean batch_tokens\?"),
    ],
)
def test_arguments_of_the_constructor_that_cannot_be_met_are_refused_by_name(arguments, text):
    with pytest.raises(latebind.CallerError, match=text):
        SentenceTransformer(TINY, **arguments)


def test_code_of_a_model_may_be_trusted_and_is_not_needed(tiny, tmp_path):
    with SentenceTransformer(str(TINY), trust_remote_code=True).embedder as embedder:
        numpy.testing.assert_allclose(embedder.encode("a"), tiny.encode("a"), atol=1e-6)
    folder = shutil.copytree(TINY, tmp_path / "model")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config |= {"model_type": "unheard-of", "auto_map": {"AutoModel": "modeling.Unheard"}}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(latebind.LatebindError, match="'model_type' is 'unheard-of'"):
        SentenceTransformer(str(folder), trust_remote_code=True).encode("a")
    with pytest.raises(latebind.CallerError, match="trust_remote_code is str"):
        SentenceTransformer(str(TINY), trust_remote_code="yes")


def test_a_module_is_refused_with_what_stands_for_it(small):
    with pytest.raises(latebind.CallerTypeError, match=r"model\[0\]: it contains no PyTorch modules; ") as refused:
        small[0]
    with pytest.raises(latebind.CallerTypeError, match=r"model\[0\]"):
        list(small)
    assert not hasattr(small, "_first_module")
    model = small
    said = re.findall(r"model\.[a-z_.]+", str(refused.value))
    assert said == ["model.max_seq_length", "model.embedder.folder", "model.tokenize"]
    assert model.max_seq_length == 20
    assert model.embedder.folder == str(TINY)
    assert model.tokenize(["a"])["input_ids"].shape[0] == 1


def test_arguments_of_the_constructor_that_ask_for_nothing_are_taken(tiny):
    nothing = {"trust_remote_code": False, "token": None, "local_files_only": False, "model_kwargs": {}}
    with SentenceTransformer(str(TINY), revision="main", backend="torch", device="cpu", **nothing).embedder as embedder:
        assert embedder.settings["device"] == "cpu"
    with pytest.raises(latebind.CallerError, match="model is NoneType"):
        SentenceTransformer(None)


def test_a_revision_is_part_of_a_name_on_the_hub():
    code = """
import latebind
from latebind.integrations.sentence_transformers import SentenceTransformer
try:
    SentenceTransformer("some-one/some-model", revision="v2")
except latebind.LatebindError as error:
    print(error)
"""
    assert "some-one/some-model@v2" in good(code, env={"HF_HUB_OFFLINE": "1", "HF_HOME": "/nonexistent"})


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"output_value": "token_embeddings"}, "output_value is 'token_embeddings'; only vectors of whole texts"),
        ({"output_value": None}, "output_value is None"),
        ({"precision": "float16"}, "precision is 'float16'; known: float32, int8, uint8, binary, ubinary"),
        ({"device": "cuda:0"}, "device is 'cuda:0', and the model was opened with 'auto'"),
        ({"device": ["cpu", "cpu"]}, "device is"),
        ({"pool": {}}, "pool: one process"),
        ({"chunk_size": 5}, "chunk_size: one process"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"batch_size": None}, "batch_size is None"),
        ({"truncate_dim": -1}, "truncate_dim is -1"),
        ({"normalize_embeddings": 1}, "normalize_embeddings is int"),
        ({"show_progress_bar": "yes"}, "show_progress_bar is str"),
        ({"convert_to_numpy": "yes"}, "convert_to_numpy is str"),
        ({"num_workers": 3}, "no argument 'num_workers'"),
        ({"sentences": ["b"]}, "as inputs, or as sentences"),
        ({"prompt": 3}, "prompt is int"),
    ],
)
def test_arguments_of_encode_that_cannot_be_met_are_refused_by_name(small, arguments, text):
    for encode in (small.encode, small.encode_query, small.encode_document):
        with pytest.raises(latebind.CallerError, match=text):
            encode(["a"], **arguments)


def test_arguments_of_encode_that_ask_for_nothing_are_taken(small, tiny):
    found = small.encode(["a"], None, None, 1, None, "sentence_embedding", "float32", True, False, "auto", False, None)
    numpy.testing.assert_allclose(found, tiny.encode(["a"]), atol=1e-5)


@pytest.mark.parametrize("texts", [None, [None], [("a", "b")], [{"text": "a"}], b"a", 3])
def test_what_is_no_text_is_refused(small, texts):
    with pytest.raises(latebind.CallerTypeError):
        small.encode(texts)


def test_tensors_need_torch(small):
    for arguments in ({"convert_to_tensor": True}, {"convert_to_numpy": False}):
        with pytest.raises(
            latebind.LibraryError, match=r'torch, for convert_to_tensor=True .*pip install "torch"'
        ) as found:
            small.encode("a", **arguments)
        assert isinstance(found.value, ImportError)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("fit", "does not support training"),
        ("save_pretrained", "the model is not changed"),
        ("half", "chosen once"),
        ("start_multi_process_pool", "one process"),
        ("tokenizer", "tokenize"),
        ("state_dict", "no PyTorch modules"),
    ],
)
def test_methods_that_are_not_there_say_why(small, name, text):
    with pytest.raises(latebind.CallerError, match=f"^{name}: .*{text}"):
        getattr(small, name)
    assert not hasattr(small, name)
    with pytest.raises(AttributeError, match="no attribute 'no_such'"):
        _ = small.no_such


# -- mteb --------------------------------------------------------------------------------------------------------------


class PromptType(str, enum.Enum):
    query = "query"
    document = "document"


def batches(texts, size):
    """As mteb's DataLoader gives them."""
    return [{"text": texts[first : first + size], "id": [""] * size} for first in range(0, len(texts), size)]


def task(name="STSBenchmark", kind="STS"):
    return SimpleNamespace(name=name, type=kind)


def test_mteb_calls_it_with_batches(model, golden):
    found = model.encode(
        batches(TEXTS, 5),
        task_metadata=task(),
        hf_split="test",
        hf_subset="default",
        prompt_type=None,
        batch_size=32,
        show_progress_bar=False,
    )
    assert (found.dtype, found.shape) == (numpy.float32, golden.shape)
    assert cosines(found, golden).min() >= 0.99999


@pytest.mark.parametrize(
    ("name", "kind", "prompt_type", "prompt"),
    [
        ("TaskA", "STS", PromptType.query, "both: "),
        ("TaskA", "STS", PromptType.document, "task: "),
        ("TaskA", "STS", None, "task: "),
        ("TaskB", "STS", PromptType.document, "kind with type: "),
        ("TaskB", "STS", PromptType.query, "kind: "),
        ("TaskB", "Retrieval", PromptType.query, "q: "),
        ("TaskB", "Retrieval", PromptType.document, "p: "),
        ("TaskB", "Retrieval", None, ""),
    ],
)
def test_mteb_s_prompts_are_found_as_it_finds_them(tiny, name, kind, prompt_type, prompt):
    prompts = {
        "TaskA-query": "both: ",
        "TaskA": "task: ",
        "STS-document": "kind with type: ",
        "STS": "kind: ",
        "query": "q: ",
        "passage": "p: ",
    }
    model = SentenceTransformer(tiny, prompts=prompts)
    found = model.encode(
        batches(["a"], 1), task_metadata=task(name, kind), hf_split="", hf_subset="", prompt_type=prompt_type
    )
    numpy.testing.assert_allclose(found, tiny.encode([prompt + "a"]), atol=1e-5)


def test_batches_without_texts_are_refused(small):
    for wrong in ([{"image": []}], 3, ["a"]):
        with pytest.raises(latebind.CallerError, match="the batches of STSBenchmark have no texts"):
            small.encode(wrong, task_metadata=task(), hf_split="", hf_subset="")


def test_the_metadata_need_mteb(small):
    with pytest.raises(latebind.LibraryError, match="mteb cannot be imported"):
        _ = small.mteb_model_meta


def test_an_empty_prompt_for_documents_is_meant(tmp_path):
    folder = configured(tmp_path / "model", prompts={"document": "", "passage": "a dog: "})
    model = SentenceTransformer(folder)
    numpy.testing.assert_array_equal(model.encode_document("money"), model.encode("money"))
    model = SentenceTransformer(configured(tmp_path / "other", prompts={"passage": "a dog: "}))
    numpy.testing.assert_array_equal(model.encode_document("money"), model.encode("money", prompt="a dog: "))
    model = SentenceTransformer(tmp_path / "other", prompts={"document": ""})
    numpy.testing.assert_array_equal(model.encode_document("money"), model.encode("money"))


def test_prompts_have_names_that_are_text(tiny):
    with pytest.raises(latebind.CallerTypeError, match="name of a prompt"):
        SentenceTransformer(tiny, prompts={1: "x"})
    with pytest.raises(latebind.CallerTypeError, match="prompt_name"):
        SentenceTransformer(tiny).encode("a", prompt_name=["query"])
