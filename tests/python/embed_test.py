"""Embedder: the right vectors from every kind of input, into every kind of memory, and an error for everything else."""

import array
import json
import shutil

import latebind
import numpy
import pandas
import polars
import pyarrow
import pytest
from support import GOLDEN, TINY, cosines, good

TEXTS = [json.loads(line)["text"] for line in (GOLDEN / "minilm.jsonl").read_text(encoding="utf-8").splitlines()]
EXPECTED = numpy.load(GOLDEN / "minilm.npy")
# Short, empty, not ASCII, and too long for a string_view to hold in place.
SOME = [
    "",
    "a",
    "twelve bytes",
    "thirteen bytes",
    "größer als ein Byte",
    "北京大学的学生正在学习机器学习。",
    "x" * 3000,
]

ARROW_TYPES = [
    pyarrow.string(),
    pyarrow.large_string(),
    pyarrow.string_view(),
    pyarrow.dictionary(pyarrow.int8(), pyarrow.string()),
    pyarrow.dictionary(pyarrow.uint16(), pyarrow.large_string()),
    pyarrow.dictionary(pyarrow.int64(), pyarrow.string()),
]


def arrow(texts, kind):
    if pyarrow.types.is_dictionary(kind):
        encoded = pyarrow.array(texts, kind.value_type).dictionary_encode()
        return pyarrow.DictionaryArray.from_arrays(encoded.indices.cast(kind.index_type), encoded.dictionary)
    return pyarrow.array(texts, kind)


KINDS = {
    "list": list,
    "tuple": tuple,
    "iterator": iter,
    "generator": lambda texts: (text for text in texts),
    "dict keys' list": lambda texts: map(str, texts),
    "NumPy object": lambda texts: numpy.array(texts, object),
    "NumPy <U": lambda texts: numpy.array(texts, "U"),
    "NumPy StringDType": lambda texts: numpy.array(texts, numpy.dtypes.StringDType()),
    "NumPy strided": lambda texts: numpy.array([each for text in texts for each in (text, "no")], object)[::2],
    "pandas object": lambda texts: pandas.Series(texts, dtype=object),
    "pandas str": lambda texts: pandas.Series(texts),
    "pandas of Arrow": lambda texts: pandas.Series(texts, dtype=pandas.ArrowDtype(pyarrow.string())),
    "polars": lambda texts: polars.Series(texts),
    "polars categories": lambda texts: polars.Series(texts, dtype=polars.Categorical),
    "Arrow chunks": lambda texts: pyarrow.chunked_array([texts[:2], [], texts[2:]], pyarrow.string()),
    "Arrow chunks of dictionaries": lambda texts: pyarrow.chunked_array(
        [pyarrow.array(texts[:3]).dictionary_encode(), pyarrow.array(texts[3:]).dictionary_encode()]
    ),
    "str subclass": lambda texts: [type("Text", (str,), {})(text) for text in texts],
    "NumPy's str": lambda texts: [numpy.str_(text) for text in texts],
    **{f"Arrow {kind}": lambda texts, kind=kind: arrow(texts, kind) for kind in ARROW_TYPES},
    **{
        f"Arrow {kind}, sliced": lambda texts, kind=kind: arrow(["zero", *texts, "end"], kind)[1:-1]
        for kind in ARROW_TYPES
    },
}


# -- Vectors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", ["openvino", "onnxruntime"])
def test_agrees_with_the_golden_vectors(device):
    from support import MODEL

    with latebind.Embedder(MODEL, device=device, strict=True) as embedder:
        found = embedder.encode(TEXTS)
        assert (found.dtype, found.shape) == (numpy.float32, EXPECTED.shape)
        assert cosines(found, EXPECTED).min() >= 0.99999
        assert embedder.attestation.backend == device


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_input_gives_the_same_vectors(tiny, kind):
    # NumPy's <U has no NUL at an end, and none of these has.
    found = tiny.encode(KINDS[kind](SOME))
    assert (found.dtype, found.shape) == (numpy.float32, (len(SOME), tiny.dimension))
    numpy.testing.assert_allclose(found, tiny.encode(SOME), atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_golden_vectors_come_from_every_kind_of_input(embedder, kind):
    if kind == "NumPy <U" and any(text.endswith("\0") for text in TEXTS):
        pytest.fail("a golden text ends with NUL, which NumPy drops")
    assert cosines(embedder.encode(KINDS[kind](TEXTS)), EXPECTED).min() >= 0.99999


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "chunk" not in kind and "strided" not in kind])
def test_no_texts_give_no_vectors(tiny, kind):
    assert tiny.encode(KINDS[kind]([])).shape == (0, tiny.dimension)


@pytest.mark.parametrize(
    "empty", [pyarrow.chunked_array([], pyarrow.string()), pyarrow.array([], pyarrow.null()), numpy.array([], object)]
)
def test_nothing_of_any_type_gives_no_vectors(tiny, empty):
    assert tiny.encode(empty).shape == (0, tiny.dimension)


def test_a_str_gives_one_vector(tiny):
    assert tiny.encode("a text").shape == (tiny.dimension,)
    numpy.testing.assert_allclose(tiny.encode("a text"), tiny.encode(["a text"])[0], atol=1e-6)
    assert tiny.encode("").shape == (tiny.dimension,)


def test_arrow_strings_are_read_in_place(tiny, monkeypatch):
    from latebind import _texts

    monkeypatch.setattr(_texts, "encoded", None)
    column = pyarrow.array(SOME)
    source = _texts.source_of(column)
    ((first, texts),) = source.parts()
    data = column.buffers()[2]
    assert first == 0
    assert all(data.address <= address <= data.address + data.size for address, _ in texts.addresses.tolist())


def test_a_long_list_is_embedded_in_parts(tiny, monkeypatch):
    from latebind import _texts

    texts = [f"text {number}" for number in range(50)]
    expected = tiny.encode(texts)
    monkeypatch.setattr(_texts, "PART_BYTES", 20)
    source = _texts.source_of(texts * 20)
    assert len(list(source.parts())) > 1
    assert len(list(_texts.source_of(texts).parts(7))) == 8
    numpy.testing.assert_allclose(tiny.encode(texts), expected, atol=1e-5)


def test_normalize_and_dimensions(embedder):
    found = embedder.encode(TEXTS[:8], dimensions=100, normalize=True)
    assert found.shape == (8, 100)
    numpy.testing.assert_allclose(numpy.linalg.norm(found, axis=1), 1, atol=1e-5)
    assert cosines(found, EXPECTED[:8, :100]).min() >= 0.99999
    assert embedder.encode("a", dimensions=1).shape == (1,)
    assert embedder.encode(iter(["a"]), dimensions=7).shape == (1, 7)


def test_a_progress_bar_changes_nothing(tiny, capsys):
    texts = SOME * 700
    found = tiny.encode(texts, show_progress=True)
    shown = capsys.readouterr().err
    assert "4900/4900" in shown or "4.90k/4.90k" in shown
    numpy.testing.assert_allclose(found[-len(SOME) :], tiny.encode(SOME), atol=1e-5)
    assert tiny.encode(iter(SOME), show_progress=True).shape[0] == len(SOME)


# -- Streams -----------------------------------------------------------------------------------------------------------


def test_a_stream_gives_windows_in_order_and_reads_as_they_are_taken(tiny):
    read = []

    def texts():
        for number in range(100_000):
            read.append(number)
            yield f"text {number % 50}"

    windows = tiny.encode_stream(texts(), window_texts=100)
    first = next(windows)
    assert first.shape == (100, tiny.dimension)
    assert len(read) < 20_000
    second = next(windows)
    numpy.testing.assert_allclose(first, second, atol=1e-5)
    windows.close()
    expected = tiny.encode([f"text {number}" for number in range(50)])
    numpy.testing.assert_allclose(first[:50], expected, atol=1e-5)


def test_an_iterator_of_many_texts_gives_all_of_them(tiny):
    count = 40_000
    found = tiny.encode(f"text {number % 100}" for number in range(count))
    assert found.shape == (count, tiny.dimension)
    numpy.testing.assert_allclose(found[-100:], tiny.encode([f"text {number}" for number in range(100)]), atol=1e-5)


def test_a_stream_takes_lists_and_arrays_too(tiny):
    for given in (SOME, pyarrow.array(SOME), numpy.array(SOME, object)):
        numpy.testing.assert_allclose(numpy.concatenate(list(tiny.encode_stream(given))), tiny.encode(SOME), atol=1e-5)
    assert next(tiny.encode_stream("one text")).shape == (1, tiny.dimension)
    assert list(tiny.encode_stream([])) == []


def test_an_error_of_the_iterator_is_passed_on(tiny):
    def texts():
        yield "one"
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        tiny.encode(texts())


# -- Memory of the caller ----------------------------------------------------------------------------------------------


class Dlpack:
    """A tensor that has nothing but DLPack, as those of other frameworks."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **arguments):
        return self._array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_vectors_go_into_the_caller_s_memory(tiny):
    expected = tiny.encode(SOME)
    count = expected.size
    matrix = numpy.empty(expected.shape, numpy.float32)
    flat = array.array("f", bytes(4 * count))
    raw = numpy.zeros(expected.shape, numpy.float32)
    for out in (matrix, flat, memoryview(flat), Dlpack(raw)):
        found = tiny.encode(SOME, out=out)
        assert found.shape == expected.shape
        numpy.testing.assert_allclose(found, expected, atol=1e-5)
    assert tiny.encode(SOME, out=matrix).base is not None
    assert numpy.shares_memory(tiny.encode(SOME, out=matrix), matrix)
    numpy.testing.assert_allclose(numpy.array(flat).reshape(expected.shape), expected, atol=1e-5)
    numpy.testing.assert_allclose(raw, expected, atol=1e-5)
    one = numpy.empty(tiny.dimension, numpy.float32)
    assert numpy.shares_memory(tiny.encode("a", out=one), one)


def test_an_iterator_fills_as_much_of_the_memory_as_it_has_texts(tiny):
    out = numpy.zeros((10, tiny.dimension), numpy.float32)
    found = tiny.encode(iter(SOME), out=out)
    assert found.shape == (len(SOME), tiny.dimension)
    assert numpy.shares_memory(found, out)
    with pytest.raises(latebind.CallerError, match="there are more texts"):
        tiny.encode(iter(SOME), out=out[:3])


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda n, d: numpy.empty((n, d)), "float64; float32 is needed"),
        (lambda n, d: numpy.empty((n, d), ">f4"), "float32 is needed"),
        (lambda n, d: numpy.empty((n, d + 1), numpy.float32), "numbers"),
        (lambda n, d: numpy.empty((n + 1, d), numpy.float32), "numbers"),
        (lambda n, d: numpy.empty((d, n), numpy.float32).T, "not contiguous"),
        (lambda n, d: numpy.empty((n, 2 * d), numpy.float32)[:, ::2], "not contiguous"),
        (lambda n, d: bytes(4 * n * d), "uint8; float32 is needed"),
        (lambda n, d: memoryview(bytes(4 * n * d)).cast("f"), "read-only"),
        (lambda n, d: [0.0] * n * d, "out is list"),
        (lambda n, d: object(), "out is object"),
        (lambda n, d: numpy.float32(3), "numbers|read-only"),
    ],
)
def test_memory_that_cannot_be_used_is_refused(tiny, make, text):
    with pytest.raises(latebind.CallerError, match=text):
        tiny.encode(SOME, out=make(len(SOME), tiny.dimension))


# -- Prompts -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def prompted(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(TINY, folder)
    prompts = {"query": "Frage: ", "passage": "Absatz: ", "none": ""}
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}), encoding="utf-8")
    with latebind.Embedder(folder) as embedder:
        yield embedder


@pytest.mark.parametrize(
    "kind", ["list", "iterator", "Arrow string", "Arrow string_view", "Arrow chunks", "NumPy object"]
)
def test_a_prompt_is_put_before_every_text(prompted, kind):
    assert prompted.prompts == {"query": "Frage: ", "passage": "Absatz: ", "none": ""}
    texts = SOME[:5]
    expected = prompted.encode(["Frage: " + text for text in texts])
    numpy.testing.assert_allclose(prompted.encode(KINDS[kind](texts), prompt_name="query"), expected, atol=1e-5)
    numpy.testing.assert_allclose(prompted.encode_query(KINDS[kind](texts)), expected, atol=1e-5)
    documents = prompted.encode(["Absatz: " + text for text in texts])
    numpy.testing.assert_allclose(prompted.encode_document(KINDS[kind](texts)), documents, atol=1e-5)


def test_a_prompt_is_put_before_a_single_text_too(prompted):
    numpy.testing.assert_allclose(prompted.encode_query("a"), prompted.encode("Frage: a"), atol=1e-5)
    with pytest.raises(latebind.CallerError, match="it has: query, passage, none"):
        prompted.encode("a", prompt_name="document")


def test_a_prompt_can_be_given_as_its_text(prompted):
    assert (prompted.query_prompt, prompted.document_prompt) == ("Frage: ", "Absatz: ")
    expected = prompted.encode(["x: a", "x: b"])
    for texts in (["a", "b"], iter(["a", "b"]), pyarrow.array(["a", "b"])):
        numpy.testing.assert_allclose(prompted.encode(texts, prompt="x: "), expected, atol=1e-5)
    numpy.testing.assert_allclose(prompted.encode_query("a", prompt="x: "), expected[0], atol=1e-5)
    numpy.testing.assert_allclose(prompted.encode_document("a", prompt=""), prompted.encode("a"), atol=1e-5)
    numpy.testing.assert_allclose(next(prompted.encode_stream(["a", "b"], prompt="x: ")), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"prompt": "x", "prompt_name": "query"}, "give one of them"),
        ({"prompt": 3}, "prompt is int"),
        ({"prompt": "a\ud800"}, "prompt contains a lone surrogate at character 1"),
        ({"prompt_name": 3}, "prompt_name is int"),
    ],
)
def test_a_wrong_prompt_is_named(prompted, arguments, text):
    for use in (prompted.encode, prompted.encode_query, prompted.encode_document, prompted.encode_stream):
        with pytest.raises(latebind.CallerError, match=text):
            use(["a"], **arguments)


def test_a_default_prompt_is_put_before_texts_unless_a_call_chooses(tmp_path):
    modules = TINY.parent.parent / "modules"
    golden = json.loads((modules / "expected.json").read_text(encoding="utf-8"))
    folder = shutil.copytree(TINY, tmp_path / "model")
    shutil.copy(modules / "prompts" / "config_sentence_transformers.json", folder)
    texts = golden["texts"]
    with latebind.Embedder(folder) as model:
        assert model.default_prompt == model.query_prompt == "cat and dog: "
        for name, arguments in {
            "default": {},
            "passage": {"prompt_name": "passage"},
            "none": {"prompt": ""},
            "other": {"prompt": "on "},
        }.items():
            wanted = golden["prompts"][name]
            numpy.testing.assert_allclose(model.encode(texts, **arguments), wanted, atol=1e-5)
            numpy.testing.assert_allclose(model.encode(iter(texts), **arguments), wanted, atol=1e-5)
            numpy.testing.assert_allclose(model.encode(texts[1], **arguments), wanted[1], atol=1e-5)
        # The model has a prompt for documents, which is nothing.
        numpy.testing.assert_allclose(model.encode_document(texts), golden["prompts"]["none"], atol=1e-5)
        plain = model.tokenize("cat and dog: on", prompt="")
        numpy.testing.assert_array_equal(model.tokenize("on"), plain)
        assert model.count_tokens("on") == model.count_tokens("cat and dog: on", prompt_name="document") == len(plain)
    with latebind.Embedder(TINY) as model:
        assert model.default_prompt == ""


def test_an_onnx_file_of_the_folder_stands_in_for_its_weights(tmp_path, tiny):
    from latebind import _jobs, _library

    folder = shutil.copytree(TINY, tmp_path / "model")
    (folder / "onnx").mkdir()
    arguments = {"model": str(TINY), "output": str(folder / "onnx" / "model_O3.onnx")}
    _jobs.run_job("export", arguments, {}, _library.runtime({}), None)
    (folder / "model.safetensors").unlink()
    with latebind.Embedder(folder, onnx_file="onnx/model_O3.onnx") as model:
        numpy.testing.assert_allclose(model.encode(SOME[:3]), tiny.encode(SOME[:3]), atol=1e-5)
    with pytest.raises(latebind.CallerError, match="has the ONNX file onnx/model_O3.onnx"):
        latebind.Embedder(folder, onnx_file="onnx/model_O4.onnx")


def test_what_it_was_opened_with_opens_another_one_like_it(tiny):
    with latebind.Embedder(TINY, device="cpu", max_tokens=16) as first:
        assert (first.model, first.folder) == (str(TINY), str(TINY))
        assert first.settings == {"device": "cpu", "precision": "f32", "strict": False, "max_tokens": 16}
        with latebind.Embedder(first.model, **first.settings) as second:
            assert (second.settings, second.max_tokens) == (first.settings, 16)
    assert (tiny.query_prompt, tiny.document_prompt) == ("", "")


def test_a_model_without_prompts_embeds_queries_as_they_are(tiny):
    assert tiny.prompts == {}
    numpy.testing.assert_allclose(tiny.encode_query("a"), tiny.encode("a"), atol=1e-6)


@pytest.mark.parametrize("text", ["not json", "[]", '{"prompts": []}', "[" * 100_000, "\ufeff{}"])
def test_a_damaged_file_of_prompts_gives_none_or_the_model_s_own_error(tmp_path, text):
    from latebind._prompts import config_of, prompts_of

    (tmp_path / "modules.json").write_text("[]", encoding="utf-8")
    (tmp_path / "config_sentence_transformers.json").write_text(text, encoding="utf-8")
    assert prompts_of(config_of(tmp_path)) == {}


def test_prompts_without_a_list_of_modules_are_those_of_nothing(tmp_path):
    folder = shutil.copytree(TINY, tmp_path / "model")
    config = {"prompts": {"query": "Frage: "}, "default_prompt_name": "query"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "modules.json").unlink()
    with latebind.Embedder(folder) as model:
        assert (model.prompts, model.default_prompt) == ({}, "")
        numpy.testing.assert_allclose(model.encode_query("a"), model.encode("a", prompt=""), atol=1e-6)


# -- Tokens, what it is ------------------------------------------------------------------------------------------------


def test_tokens(embedder):
    ids = embedder.tokenize("hello world")
    assert (ids.dtype, ids.tolist()) == (numpy.int32, [101, 7592, 2088, 102])
    many = embedder.tokenize(["hello world", ""])
    assert [each.tolist() for each in many] == [[101, 7592, 2088, 102], [101, 102]]
    assert embedder.count_tokens("hello world") == 4
    assert isinstance(embedder.count_tokens("hello world"), int)
    counts = embedder.count_tokens(pyarrow.array(["hello world", "", "x " * 5000]))
    assert counts.tolist() == [4, 2, embedder.max_tokens]
    assert embedder.count_tokens("x " * 50, max_tokens=8) == 8
    assert embedder.count_tokens(iter(["a"] * 3000)).tolist() == [3] * 3000
    assert embedder.tokenize([]) == []
    text = "Grüße, 中 unaffable 😀!"
    ids, offsets = embedder.tokenize(text, offsets=True)
    assert ids.tolist() == embedder.tokenize(text).tolist()
    assert (offsets.dtype, offsets.shape) == (numpy.int64, (len(ids), 2))
    pieces = [text[begin:end] for begin, end in offsets.tolist()]
    assert pieces[0] == pieces[-1] == ""
    assert "".join(pieces) == text.replace(" ", "")
    pairs = embedder.tokenize(pyarrow.array(["", "é hello"]), offsets=True, max_tokens=4)
    assert [pair[1].tolist() for pair in pairs] == [[[0, 0], [0, 0]], [[0, 0], [0, 1], [2, 7], [0, 0]]]
    with pytest.raises(latebind.CallerTypeError, match="text 1 is int"):
        embedder.count_tokens(["a", 3])
    with pytest.raises(latebind.CallerError):
        embedder.count_tokens("a", max_tokens=0)


def test_statistics_add_up(tiny):
    before = tiny.stats
    tiny.encode(["a b c", "d"])
    tiny.encode(iter(["e"]))
    after = tiny.stats
    assert after.texts - before.texts == 3
    assert after.tokens - before.tokens == int(tiny.count_tokens(["a b c", "d", "e"]).sum())
    assert after.padded_tokens - before.padded_tokens >= after.tokens - before.tokens
    assert after.seconds > before.seconds


@pytest.mark.parametrize("backend", ["openvino", "native"])
def test_the_attestation_says_what_answers(embedder, backend):
    with latebind.Embedder(TINY, device=f"{backend}:CPU") as one:
        found = one.attestation
    assert (found.backend, found.device, found.precision) == (backend, f"{backend}:CPU", "f32")
    assert found.runtime_version and not found.fallback and not found.emulated
    assert bool(found.library_file) == (backend == "openvino")
    assert found.steps[-1].taken and found.steps[-1].device == f"{backend}:CPU"
    assert (embedder.dimension, embedder.max_tokens) == (384, 256)


def test_settings_reach_the_engine():
    with latebind.Embedder(
        TINY, device=["npu", "openvino:CPU"], shapes="static", static_lengths=[8, 16], max_tokens=16, threads=1
    ) as embedder:
        assert embedder.max_tokens == 16
        assert embedder.encode(["a", "b c"]).shape == (2, embedder.dimension)
        found = embedder.attestation
        assert (found.threads, found.static_lengths, found.static_rows) == (1, (8, 16), 1)
        assert [step.taken for step in found.steps] == [False] * (len(found.steps) - 1) + [True]


def test_what_native_computes_with_is_a_setting_of_an_embedder(tiny):
    with latebind.Embedder(TINY, device="native:CPU", native_isa="portable") as embedder:
        numpy.testing.assert_allclose(embedder.encode(["a", "b c"]), tiny.encode(["a", "b c"]), atol=1e-5)
    with pytest.raises(latebind.MachineError, match=r"native\.isa is '?neon_i8mm"):
        latebind.Embedder(TINY, device="native:CPU", native_isa="neon_i8mm")


def test_numbers_of_numpy_are_settings():
    with latebind.Embedder(
        TINY, device="native:CPU", threads=numpy.int32(1), static_lengths=[numpy.int64(8)]
    ) as embedder:
        assert embedder.attestation.threads == 1
    for given in (numpy.bool_(True), numpy.float32(1), 1.0, numpy.ones(2, numpy.int32)):
        with pytest.raises(latebind.CallerTypeError, match="threads is "):
            latebind.Embedder(TINY, threads=given)


def test_representations_are_one_line(tiny):
    assert repr(tiny).startswith(f"<Embedder '{TINY}', ") and f"{tiny.attestation.backend}:CPU, f32" in repr(tiny)
    with latebind.Embedder(TINY) as embedder:
        pass
    assert repr(embedder) == f"<Embedder '{TINY}', closed>"


def test_numpy_is_all_that_embedding_needs():
    code = f"""
import sys
for name in ("pyarrow", "tqdm", "pandas", "ml_dtypes"):
    sys.modules[name] = None
import latebind
print(latebind.Embedder({str(TINY)!r}).encode(["a", "b"], show_progress=True).shape)
"""
    assert good(code).startswith("(2, ")


def test_no_prompt_is_the_model_s_own(prompted):
    expected = prompted.encode_query("money")
    for arguments in ({"prompt": None}, {"prompt_name": None}):
        numpy.testing.assert_array_equal(prompted.encode_query("money", **arguments), expected)
    assert numpy.abs(prompted.encode_query("money", prompt="") - expected).max() > 1e-3
