"""EmbedBatches: what comes out of a batch, and that nothing but the batch decides it."""

import json
import pickle
import shutil
import threading

import latebind
import numpy as np
import pyarrow as pa
import pytest
from latebind.bulk import EmbedBatches, RowError, _batches
from support import MODEL, TINY, cosines, good
from tables import table, texts


@pytest.fixture(scope="module")
def embed():
    return EmbedBatches(TINY, "body")


@pytest.fixture(scope="module")
def lenient():
    return EmbedBatches(TINY, "body", on_error="skip")


def numbers(column):
    return np.stack(column.to_numpy(zero_copy_only=False))


def test_a_table_gets_a_column_of_vectors(embed, tiny):
    rows = table(50)
    found = embed(rows)
    assert found.schema.field("vector").type == pa.list_(pa.float32(), tiny.dimension)
    assert found.drop_columns(["vector"]).equals(rows)
    assert np.allclose(numbers(found["vector"]), tiny.encode(texts(50)), atol=1e-6)


def test_of_the_real_model_too():
    model = EmbedBatches(MODEL, "body")
    found = numbers(model(table(20))["vector"])
    with latebind.Embedder(MODEL) as embedder:
        assert cosines(found, embedder.encode(texts(20))).min() > 0.99999


@pytest.mark.parametrize("of", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())])
def test_strings_of_every_kind(embed, of):
    rows = pa.table({"body": pa.array(texts(20)).cast(of)})
    assert embed(rows)["vector"].equals(embed(table(20))["vector"])


def test_a_record_batch_stays_one(embed):
    batch = table(20).to_batches()[0]
    found = embed(batch)
    assert isinstance(found, pa.RecordBatch)
    assert found["vector"].equals(embed(table(20))["vector"].combine_chunks())
    assert embed.embed(batch).table.equals(found)


def test_chunks_make_no_difference(embed):
    chunked = pa.concat_tables([table(7), table(13, 7)])
    assert embed(chunked)["vector"].to_pylist() == embed(table(20))["vector"].to_pylist()


def test_no_rows(embed, lenient):
    for each in (embed, lenient):
        assert each(table(0)).schema.field("vector").type == pa.list_(pa.float32(), 32)
        assert each.embed(table(0)).skipped.num_rows == 0


def test_the_schema_says_what_computed_it(embed):
    rows = table(3).replace_schema_metadata({"mine": "kept"})
    metadata = EmbedBatches(TINY, "body", normalize=True, device="openvino:CPU", threads=1)(rows).schema.metadata
    assert metadata[b"mine"] == b"kept"
    label = json.loads(metadata[b"latebind"])
    assert label["model"] == embed.answers().model
    assert label["model"].startswith("sha256:")
    assert (label["device"], label["precision"], label["version"]) == ("openvino:CPU", "f32", latebind.__version__)
    assert label["settings"]["normalize"] is True
    assert label["settings"]["embedder"] == {"device": "openvino:CPU", "threads": 1}


def test_the_digest_is_that_of_the_bytes(tmp_path, embed):
    copy = tmp_path / "copy"
    shutil.copytree(TINY, copy)
    assert EmbedBatches(copy, "body").answers().model == embed.answers().model
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    other = tmp_path / "other"
    shutil.copytree(TINY, other)
    (other / "model.safetensors").write_bytes(weights)
    assert EmbedBatches(other, "body").answers().model != embed.answers().model


def bad_rows():
    """Five rows, of which 1 is null and 3 is not UTF-8."""
    data = pa.array([b"a text", None, b"another", b"\xffoh", b""], pa.binary())
    return pa.table({"id": range(5), "body": pa.Array.from_buffers(pa.string(), 5, data.buffers())})


def test_a_bad_row_is_an_error(embed):
    with pytest.raises(RowError, match=r"row 1 of column 'body' .* null"):
        embed(bad_rows())
    with pytest.raises(RowError, match="row 1 .* not UTF-8"):
        embed(bad_rows().slice(2))


def test_or_it_is_skipped_with_the_reason(lenient, tiny):
    found = lenient.embed(bad_rows())
    assert found.table["id"].to_pylist() == [0, 2, 4]
    assert np.allclose(numbers(found.table["vector"]), tiny.encode(["a text", "another", ""]), atol=1e-6)
    assert found.skipped["id"].to_pylist() == found.skipped["latebind_row"].to_pylist() == [1, 3]
    null, bytes_ = found.skipped["latebind_reason"].to_pylist()
    assert "null" in null
    assert "not UTF-8: invalid start byte at byte 0" in bytes_


def test_called_every_row_keeps_its_place(lenient):
    found = lenient(bad_rows())
    assert found["id"].to_pylist() == [0, 1, 2, 3, 4]
    assert [vector is None for vector in found["vector"].to_pylist()] == [False, True, False, True, False]
    assert [reason is None for reason in found["vector_error"].to_pylist()] == [True, False, True, False, True]
    assert lenient(table(3))["vector_error"].to_pylist() == [None] * 3


def test_all_rows_bad(lenient):
    rows = pa.table({"body": pa.nulls(4)})
    assert lenient.embed(rows).table.num_rows == 0
    assert lenient(rows)["vector"].null_count == 4


def test_a_text_whose_vector_is_not_finite(tmp_path):
    model = tmp_path / "broken"
    shutil.copytree(TINY, model)
    file = model / "model.safetensors"
    content = file.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    name = next(name for name in header if "word_embeddings" in name)
    width = header[name]["shape"][1]
    with latebind.Embedder(TINY) as embedder:
        _, broken, _ = embedder.tokenize("lazy")
    weights = bytearray(content)
    at = 8 + size + header[name]["data_offsets"][0] + broken * width * 4
    weights[at : at + width * 4] = np.full(width, np.nan, np.float32).tobytes()
    file.write_bytes(weights)

    rows = pa.table({"body": ["the dog", "lazy", "the cat sat", "", "the lazy cat"]})
    found = EmbedBatches(model, "body", on_error="skip").embed(rows)
    assert found.skipped["latebind_row"].to_pylist() == [1, 4]
    assert all("finite" in reason for reason in found.skipped["latebind_reason"].to_pylist())
    assert found.table.num_rows == 3
    with pytest.raises(latebind.InternalError, match="finite"):
        EmbedBatches(model, "body")(rows)


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        (pa.table({"other": ["a"]}), "no column 'body'; the columns are: other"),
        (pa.table({"body": ["a"], "vector": [1]}), "there is already a column 'vector'"),
        (pa.table({"body": [1]}), "is int64; strings are needed"),
        (pa.table([["a"], ["b"]], names=["body", "body"]), "several columns 'body'"),
        ({"body": ["a"]}, "the batch is dict"),
    ],
)
def test_what_cannot_be_embedded(embed, rows, error):
    with pytest.raises(latebind.CallerError, match=error):
        embed(rows)


def test_arguments_that_cannot_be_right():
    with pytest.raises(latebind.CallerError, match="'fail' or 'skip'"):
        EmbedBatches(TINY, "body", on_error="ignore")
    with pytest.raises(latebind.CallerTypeError, match="text_column is int"):
        EmbedBatches(TINY, 3)
    with pytest.raises(latebind.CallerError, match="did you mean threads"):
        EmbedBatches(TINY, "body", thread=3)(table(1))


def test_nothing_is_opened_before_the_first_batch():
    print_opened = (
        "import pickle, sys, pyarrow as pa\n"
        "from latebind.bulk import EmbedBatches, _model\n"
        "embed = pickle.loads(pickle.dumps(EmbedBatches(sys.argv[1], 'body')))\n"
        "print(len(_model._models))\n"
        "copies = [pickle.loads(pickle.dumps(embed)) for _ in range(3)]\n"
        "for each in copies: each(pa.table({'body': ['a']}))\n"
        "print(len(set(each._open() for each in copies)))\n"
        "print([name for name in ('ray', 'pyspark', 'daft') if name in sys.modules])"
    )
    assert good(print_opened, TINY).split("\n")[:3] == ["0", "1", "[]"]


def test_its_texts_share_batches_with_nobody(embed, monkeypatch):
    """Those of a stream never do; and its windows are the same ones for the same rows."""
    asked = []
    native = latebind.Embedder.encode_stream

    def watched(self, texts, **options):
        asked.append(options["window_texts"])
        return native(self, texts, **options)

    monkeypatch.setattr(latebind.Embedder, "encode_stream", watched)
    embed(table(10))
    assert asked == [_batches.WINDOW_ROWS]


def test_alone_is_a_flag(tiny):
    assert np.array_equal(tiny.encode(texts(9), alone=True), tiny.encode(texts(9), alone=True))
    with pytest.raises(latebind.CallerTypeError, match="alone is str; give True or False"):
        tiny.encode(texts(9), alone="yes")


def test_the_bits_do_not_depend_on_what_else_runs():
    embed = EmbedBatches(MODEL, "body")
    rows = table(100)
    expected = embed(rows)
    stop = threading.Event()

    def disturb():
        opened = embed._open().embedder
        while not stop.is_set():
            opened.encode(texts(3, 1000))

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        for _ in range(3):
            assert pickle.loads(pickle.dumps(embed))(rows).equals(expected, check_metadata=True)
    finally:
        stop.set()
        thread.join()
