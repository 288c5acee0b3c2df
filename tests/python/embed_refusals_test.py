"""Texts, arguments and Arrow data that embed() refuses."""

import latebind
import numpy
import pandas
import polars
import pyarrow
import pytest
from support import TINY

# -- Errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "text"),
    [
        (["a", None], "text 1 is NoneType, not str; fill or drop"),
        (["a", "b", float("nan")], "text 2 is nan"),
        (["a", b"bytes"], "text 1 is bytes, not str; decode it first"),
        ([1], "text 0 is int"),
        ([["a"]], "text 0 is list"),
        ([pandas.NA], "text 0 is NAType, not str; fill or drop"),
        (numpy.array(["a", None], object), "text 1 is NoneType"),
        (numpy.array(["a", numpy.nan], object), "text 1 is nan"),
        (numpy.array([1.5]), "float64; strings are needed"),
        (numpy.array([b"a"]), "S1; strings are needed"),
        (iter(["a"] * 1500 + [3]), "text 1500 is int"),
        (pyarrow.array(["a", "b", None]), "text 2 is null"),
        (pyarrow.array(["a", None], pyarrow.string_view()), "text 1 is null"),
        (pyarrow.array([None, "a", "b", None])[1:], "text 2 is null"),
        (pyarrow.chunked_array([["a"], ["b", None]]), "text 2 is null"),
        (pyarrow.array(["a", None]).dictionary_encode(), "text 1 is null"),
        (pyarrow.DictionaryArray.from_arrays([0, 1], pyarrow.array(["a", None])), "text 1 is null"),
        (pyarrow.array([None]), "text 0 is null"),
        (pyarrow.array([b"a"]), "binary"),
        (pyarrow.array([1]), "of type 'l'"),
        (pyarrow.array([1]).dictionary_encode(), "of type 'l'"),
        (pyarrow.array([["a"]]), "of type"),
        (pyarrow.table({"body": ["a"]}), "choose the column"),
        (pyarrow.chunked_array([], pyarrow.int64()), "of type 'l'"),
        (polars.Series(["a", None]), "text 1 is null"),
        (polars.DataFrame({"body": ["a"]}), "choose the column"),
        (b"bytes", "texts is bytes"),
        (bytearray(b"x"), "texts is bytearray"),
        (None, "texts is NoneType"),
        (3, "texts is int"),
        ({"a": 1}, "texts is dict"),
        ({"a"}, "texts is set"),
        (object(), "texts is object"),
    ],
)
def test_what_is_no_text_is_a_type_error_with_its_index(tiny, texts, text):
    with pytest.raises(latebind.CallerTypeError, match=text):
        tiny.encode(texts)


@pytest.mark.parametrize(
    ("texts", "text"),
    [
        (["a", "b\ud800c"], "text 1 contains a lone surrogate at character 1"),
        ("\udc00", "text 0 contains a lone surrogate at character 0"),
        (iter(["a"] * 1100 + ["\udfff"]), "text 1100 contains a lone surrogate"),
        (numpy.array(["a", "\ud800"], object), "text 1 contains a lone surrogate"),
        (numpy.array([["a"]]), "2 dimensions"),
        (numpy.array("a"), "0 dimensions"),
        (
            pyarrow.StringArray.from_buffers(
                1, pyarrow.array([0, 2], pyarrow.int32()).buffers()[1], pyarrow.py_buffer(b"\xff\xfe")
            ),
            "UTF-8",
        ),
    ],
)
def test_what_is_no_unicode_is_a_value_error_with_its_index(tiny, texts, text):
    with pytest.raises(latebind.CallerError, match=text) as found:
        tiny.encode(texts)
    assert not isinstance(found.value, TypeError)


@pytest.mark.parametrize(
    "arguments",
    [
        {"normalize": "yes"},
        {"normalize": 1},
        {"dimensions": 0},
        {"dimensions": -1},
        {"dimensions": 10**6},
        {"dimensions": 1.5},
        {"dimensions": True},
        {"prompt_name": "query"},
        {"prompt_name": 3},
        {"batch_tokens": 4096},
        {"batch_tokens": 0},
        {"batch_tokens": "many"},
        {"show_progress": "yes"},
        {"deadline": "soon"},
        {"deadline": True},
        {"deadline": float("nan")},
        {"out": 3},
    ],
)
def test_garbage_in_any_argument_is_the_caller_s_error(tiny, arguments):
    for texts in ("a", ["a"], iter(["a"])):
        with pytest.raises(latebind.CallerError):
            tiny.encode(texts, **arguments)


@pytest.mark.parametrize(
    "arguments", [{"window_texts": 0}, {"window_texts": "x"}, {"dimensions": []}, {"prompt_name": "x"}]
)
def test_garbage_is_refused_before_a_stream_begins(tiny, arguments):
    with pytest.raises(latebind.CallerError):
        tiny.encode_stream(["a"], **arguments)


def test_batch_tokens_is_what_the_embedder_was_opened_with(tiny):
    with pytest.raises(latebind.CallerError, match=r"Embedder\(…, batch_tokens=512\)"):
        tiny.encode("a", batch_tokens=512)
    with latebind.Embedder(TINY, batch_tokens=512) as embedder:
        assert embedder.encode("a", batch_tokens=512).shape == (embedder.dimension,)


# -- What cannot be trusted --------------------------------------------------------------------------------------------


class Exporting:
    """What has Arrow's method, and gives whatever a test wants."""

    def __init__(self, capsules):
        self.capsules = capsules

    def __arrow_c_array__(self, requested_schema=None):
        return self.capsules


class ExportingStream:
    def __init__(self, capsule):
        self.capsule = capsule

    def __arrow_c_stream__(self, requested_schema=None):
        return self.capsule


def test_arrow_data_that_was_consumed_is_refused(tiny):
    capsules = pyarrow.array(["a"]).__arrow_c_array__()
    pyarrow.Array._import_from_c_capsule(*capsules)
    with pytest.raises(latebind.CallerTypeError, match="consumed before"):
        tiny.encode(Exporting(capsules))
    stream = pyarrow.chunked_array([["a"]]).__arrow_c_stream__()
    pyarrow.ChunkedArray._import_from_c_capsule(stream)
    with pytest.raises(latebind.CallerTypeError, match="consumed before"):
        tiny.encode(ExportingStream(stream))


@pytest.mark.parametrize("given", [None, (), (1, 2), (None, None), "ab"])
def test_what_is_no_arrow_data_is_refused(tiny, given):
    with pytest.raises(latebind.CallerTypeError, match="cannot be read as Arrow data"):
        tiny.encode(Exporting(given))
    with pytest.raises(latebind.CallerTypeError, match="cannot be read as Arrow data"):
        tiny.encode(ExportingStream(given))


def strings_of(offsets):
    buffers = [None, pyarrow.py_buffer(numpy.array(offsets, numpy.int32)), pyarrow.py_buffer(b"abcdefgh")]
    return pyarrow.Array.from_buffers(pyarrow.string(), len(offsets) - 1, buffers)


def views_of(size, index, start):
    view = numpy.array([[1, ord("a"), 0, 0], [size, 0, index, start]], numpy.int32)
    buffers = [None, pyarrow.py_buffer(view), pyarrow.py_buffer(b"x" * 64)]
    return pyarrow.Array.from_buffers(pyarrow.string_view(), 2, buffers)


@pytest.mark.parametrize(
    "texts",
    [
        strings_of([0, 4, 2]),
        strings_of([0, -4, 2]),
        views_of(-5, 0, 0),
        views_of(13, 1, 0),
        views_of(13, -1, 0),
        views_of(13, 0, -1),
        views_of(13, 0, 60),
    ],
)
def test_damaged_arrow_strings_are_refused(tiny, texts):
    with pytest.raises(latebind.CallerError, match="text [01] is outside its memory"):
        tiny.encode(texts)


def test_good_views_are_read(tiny):
    found = tiny.encode(views_of(13, 0, 51))
    numpy.testing.assert_allclose(found, tiny.encode(["a", "x" * 13]), atol=1e-5)


def test_no_rows_of_a_dictionary_are_no_vectors(tiny):
    words = pyarrow.array(["a", "b"]).dictionary_encode()
    nothing = words.filter(pyarrow.array([False, False]))
    for texts in (nothing, pyarrow.chunked_array([], words.type), pyarrow.chunked_array([nothing])):
        assert tiny.encode(texts).shape == (0, tiny.dimension)


@pytest.mark.parametrize("values", [["a", 1], ["a", {}], ["a", object()], ["a", 1j], ["a", "\ud800"]])
def test_a_series_names_what_is_no_text(tiny, values):
    with pytest.raises(latebind.CallerError, match="text 1 "):
        tiny.encode(pandas.Series(values, dtype=object))


def test_a_list_has_as_many_texts_as_it_gives(tiny):
    class Longer(list):
        def __len__(self):
            return 3

    assert tiny.encode(Longer(["a"])).shape == (1, tiny.dimension)


@pytest.mark.parametrize("argument", ["dimensions", "batch_tokens"])
@pytest.mark.parametrize("value", [1 << 31, (1 << 64) + 1, pytest.param(10**5000, id="huge")])
def test_counts_have_a_limit(tiny, argument, value):
    with pytest.raises(latebind.CallerError, match="too large"):
        tiny.encode(["a"], **{argument: value})
    with pytest.raises(latebind.CallerError, match="too large"):
        tiny.tokenize(["a"], max_tokens=value)
