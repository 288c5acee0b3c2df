"""Damaged Arrow data: an error that names the place, whatever it holds, and no byte of other memory."""

import latebind
import numpy as np
import pyarrow as pa
import pytest
from latebind._pairs import pairs_of
from latebind.bulk import EmbedBatches, RowError, embed_files
from support import TINY, good
from tables import contents

# Each gives an array of two values, and what damages it: afterwards, since pyarrow refuses to make much of what files have.


def strings(at, offset, kind=None):
    offsets = np.array([0, 5, 7], np.int64 if kind == pa.large_string() else np.int32)
    array = pa.Array.from_buffers(kind or pa.string(), 2, [None, pa.py_buffer(offsets), pa.py_buffer(b"hellooh")])
    return array, lambda: offsets.__setitem__(at, offset)


def views(at, value):
    """Of the second view number 0 is its size, 2 its buffer, 3 where it begins there."""
    content = pa.array(["oh", "the quick brown fox"], pa.string_view()).buffers()
    numbers = np.frombuffer(content[1], np.int32).copy()
    array = pa.Array.from_buffers(pa.string_view(), 2, [None, pa.py_buffer(numbers), content[2]])
    return array, lambda: numbers.__setitem__(4 + at, value)


def entries(index):
    indices = np.array([0, 1], np.int32)
    array = pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(["oh", "the fox"]))
    return array, lambda: indices.__setitem__(1, index)


def entries_of(strings):
    values, damage = strings
    return pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), values), damage


def lists():
    offsets = np.array([0, 1, 2], np.int32)
    values = pa.array(["a", "b"])
    array = pa.Array.from_buffers(pa.list_(pa.string()), 2, [None, pa.py_buffer(offsets)], children=[values])
    return array, lambda: offsets.__setitem__(1, 90_000)


TEXTS = {
    "string": lambda: strings(2, 100_000),
    "string, in the middle": lambda: strings(1, 50_000),
    "string, before its memory": lambda: strings(1, -50_000),
    "large_string": lambda: strings(2, 1 << 40, pa.large_string()),
    "view of a buffer that is not there": lambda: views(2, 9),
    "view beyond its buffer": lambda: views(3, 1 << 20),
    "view of a negative size": lambda: views(0, -5),
    "index": lambda: entries(77),
    "negative index": lambda: entries(-1),
    "dictionary": lambda: entries_of(strings(1, 50_000)),
}


@pytest.mark.parametrize("on_error", ["fail", "skip"])
@pytest.mark.parametrize("what", TEXTS)
def test_texts(what, on_error):
    array, damage = TEXTS[what]()
    sound = pa.array(["a", "b"]).cast(array.type)
    rows = pa.table({"id": [1, 2, 3, 4], "body": pa.chunked_array([sound, array])})
    batch = pa.record_batch({"body": array})
    damage()
    embed = EmbedBatches(TINY, "body", on_error=on_error)
    for call in (embed, embed.embed):
        with pytest.raises(latebind.CallerError, match=r"column 'body', batch 1 is damaged: ") as found:
            call(rows)
        assert not isinstance(found.value, RowError)
        with pytest.raises(latebind.CallerError, match=r"column 'body' is damaged: "):
            call(batch)


@pytest.mark.parametrize("what", [*TEXTS, "list"])
def test_other_columns(what):
    """Where a row is skipped the others are copied."""
    array, damage = (TEXTS | {"list": lists})[what]()
    rows = pa.table({"id": array, "body": pa.array(["a", None])})
    damage()
    embed = EmbedBatches(TINY, "body", on_error="skip")
    for call in (embed, embed.embed):
        with pytest.raises(latebind.CallerError, match="column 'id' is damaged: "):
            call(rows)


@pytest.mark.parametrize("what", TEXTS)
def test_texts_of_an_embedder(tiny, what):
    array, damage = TEXTS[what]()
    chunked = pa.chunked_array([array])
    damage()
    for values in (array, chunked):
        with pytest.raises(latebind.CallerError, match=r"damaged|beyond its values"):
            tiny.encode(values)


def test_texts_in_pandas(tiny):
    pandas = pytest.importorskip("pandas")
    array, damage = TEXTS["large_string"]()
    series = pandas.Series(pandas.arrays.ArrowStringArray(pa.chunked_array([array])))
    frame = pandas.DataFrame({"a": series, "b": series}, copy=False)
    damage()
    with pytest.raises(latebind.CallerError, match="damaged"):
        tiny.encode(series)
    with pytest.raises(latebind.CallerError, match="damaged"):
        pairs_of(frame)
    with pytest.raises(latebind.CallerTypeError, match="StringArray of pyarrow; give a list of pairs"):
        pairs_of(array)


def write(file, *batches):
    """An IPC file, whatever is in it."""
    with pa.ipc.new_file(file, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return file


@pytest.mark.parametrize("column", ["id", "body"])
def test_a_file(tmp_path, column):
    array, damage = TEXTS["string, in the middle"]()
    columns = {"id": pa.array(["x", "y"]), "body": pa.array(["a", "b"])}
    sound, wrong = pa.record_batch(columns), pa.record_batch({**columns, column: array})
    damage()
    file = write(tmp_path / "in.arrow", sound, sound, wrong)
    for id_column in ("id", None):
        with pytest.raises(latebind.CallerError, match=rf"in\.arrow, record batch 2: column '{column}' is damaged"):
            embed_files(
                file, tmp_path / f"{id_column}", TINY, "body", id_column=id_column, on_error="skip", shard_rows=2
            )
    # What is neither kept nor embedded is not looked at.
    if column == "id":
        embed_files(file, tmp_path / "other", TINY, "body", id_column="body", shard_rows=2)
        assert len(contents(tmp_path / "other")) == 4


def test_a_name_of_a_column_and_a_number_of_rows(tmp_path):
    content = write(tmp_path / "in.arrow", pa.record_batch({"body": ["a"], "quick_name": ["b"]})).read_bytes()
    (tmp_path / "in.arrow").write_bytes(content.replace(b"quick_name", b"quick\xff\xffame"))
    with pytest.raises(latebind.CallerError, match=r"in\.arrow.* not UTF-8"):
        embed_files(tmp_path / "in.arrow", tmp_path / "out", TINY, "body")
    write(tmp_path / "in.arrow", pa.record_batch([pa.nulls((1 << 31) - 1)], names=["body"]))
    with pytest.raises(latebind.CallerError, match="declares 2147483647 rows in"):
        embed_files(tmp_path / "in.arrow", tmp_path / "out", TINY, "body", on_error="skip")
    assert not (tmp_path / "out").exists()


FUZZ = """
import random, sys
from pathlib import Path
import pyarrow as pa, pyarrow.ipc, latebind
from latebind.bulk import EmbedBatches
from latebind.bulk._inputs import find, scan
from latebind.bulk._reader import Reader
from latebind.bulk._shards import _parquet

model, folder, seeds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
words = [f"the quick brown fox {n} " + "dog " * (n % 5) if n % 7 else None for n in range(24)]
plain = pa.array(words)
columns = {
    "string": plain,
    "large": plain.cast(pa.large_string()),
    "view": plain.cast(pa.string_view()),
    "entries": plain.dictionary_encode(),
    "lists": pa.array([words[n : n + n % 3] for n in range(24)]),
    "structs": pa.array([{"x": n, "y": words[n]} for n in range(24)]),
}
counts = {"right": 0, "refused": 0}
for compression in (None, "zstd"):
    batch = pa.record_batch(columns)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_batch(batch)
        writer.write_batch(batch.slice(3))
    sound = sink.getvalue().to_pybytes()
    embedders = {name: EmbedBatches(model, name, on_error="skip") for name in ("string", "large", "view", "entries")}
    for seed in range(seeds):
        rng = random.Random(f"{seed} {compression}")
        content = bytearray(sound)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(content))
            content[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, content[at] ^ 1 << rng.randrange(8), rng.randrange(256)])
        file = folder / "in.arrow"
        file.write_bytes(content)
        name = rng.choice(list(embedders))
        print(seed, compression, name, flush=True)
        try:
            found = scan(*find([file])[0], name, 20)
            embedders[name].check(found.schema)
            reader = Reader(found, name, None, 20)
            for shard in range(found.shards(20)):
                rows = reader.read(shard)
                done = embedders[name].embed(rows)
                _parquet(done.table)
                _parquet(done.skipped)
                if compression is None:
                    for text in done.table[name].to_pylist():
                        assert text.encode() in content, text
            counts["right"] += 1
        except latebind.LatebindError as error:
            counts["refused"] += 1
            assert "in.arrow" in str(error) or "damaged" in str(error) or "column" in str(error), error
print(counts["right"], counts["refused"])
"""


def test_bytes_that_were_changed(tmp_path):
    """In a process of its own: where it crashes, its last line says by which bytes."""
    right, refused = map(int, good(FUZZ, TINY, tmp_path, 60).split("\n")[-2].split())
    assert right + refused == 120
    assert min(right, refused) > 20
