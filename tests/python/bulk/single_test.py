"""Texts of lines and packed files as input, and one file as output."""

import csv
import gzip
import json
import os
import re
import signal
import subprocess
import time

import latebind
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from latebind.bulk import DifferentRunError, EmbedBatches, embed_files
from latebind.bulk._inputs import find, scan
from latebind.bulk._reader import Reader
from latebind.bulk._text_rows import lines
from support import TINY
from tables import command, run, table, texts, vectors_of


def embed(source, output, **arguments):
    return embed_files(source, output, TINY, "body", **{"shard_rows": 300, **arguments})


def write_lines(rows, file):
    content = "".join(f"{text}\n" for text in rows).encode()
    file.write_bytes(gzip.compress(content) if file.name.endswith(".gz") else content)


def write_jsonl(rows, file):
    content = "".join(json.dumps(row) + "\n" for row in rows.to_pylist()).encode()
    file.write_bytes(gzip.compress(content) if file.name.endswith(".gz") else content)


# -- Lines, and what is packed ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["in.txt", "in.txt.gz"])
def test_a_line_is_a_row(tmp_path, name):
    write_lines(texts(1000), tmp_path / name)
    assert embed(tmp_path / name, tmp_path / "out").rows == 1000
    found = vectors_of(tmp_path / "out")
    assert found.column_names == ["body", "vector"] and found["body"].to_pylist() == texts(1000)
    batches = EmbedBatches(TINY, "body")
    assert found["vector"][:300].to_pylist() == batches(table(300))["vector"].to_pylist()


def test_lines_are_those_of_the_program(tmp_path):
    (tmp_path / "in.txt").write_bytes("\ufeffthe cat\r\n\nthe dog\n\ufeffran".encode())
    embed(tmp_path / "in.txt", tmp_path / "out", shard_rows=2)
    assert vectors_of(tmp_path / "out")["body"].to_pylist() == ["the cat", "", "the dog", "\ufeffran"]
    (tmp_path / "in.txt").write_bytes(b"the cat\n\xff\nran\n")
    with pytest.raises(latebind.bulk.RowError, match=r"in\.txt, rows from 0 on: row 1 .* not UTF-8"):
        embed(tmp_path / "in.txt", tmp_path / "bad")
    assert embed(tmp_path / "in.txt", tmp_path / "skipping", on_error="skip").skipped == 1


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_packed_files_have_the_rows_of_the_others(tmp_path, ending):
    rows = table(1000)
    plain = tmp_path / f"in.{ending}"
    if ending == "jsonl":
        write_jsonl(rows, plain)
    else:
        plain.write_text("id,body\n" + "".join(f"{row['id']},{row['body']}\n" for row in rows.to_pylist()))
    packed = tmp_path / f"in.{ending}.gz"
    # Of several members, as `cat a.gz b.gz` makes them.
    packed.write_bytes(gzip.compress(plain.read_bytes()[:20_000]) + gzip.compress(plain.read_bytes()[20_000:]))
    embed(plain, tmp_path / "plain")
    embed(packed, tmp_path / "packed")
    assert vectors_of(tmp_path / "packed").equals(vectors_of(tmp_path / "plain"))
    file = scan(*find([packed])[0], "body", 90)
    reader = Reader(file, "body", ["body"], 90)
    for shard in (3, 4, 0, 11, 5):
        assert reader.read(shard)["body"].to_pylist() == rows["body"].to_pylist()[shard * 90 : shard * 90 + 90]


def test_columns_between_tabs_are_those_between_commas(tmp_path):
    rows = [("id", "body"), ("1", 'a "b", c'), ("2", "two\nlines"), ("3", "the cat")]
    for ending, dialect in (("csv", "excel"), ("tsv", "excel-tab")):
        with (tmp_path / f"in.{ending}").open("w", newline="") as file:
            csv.writer(file, dialect).writerows(rows)
        embed(tmp_path / f"in.{ending}", tmp_path / ending, shard_rows=2)
    found = vectors_of(tmp_path / "tsv")
    assert found.equals(vectors_of(tmp_path / "csv"))
    assert list(zip(found["id"].to_pylist(), found["body"].to_pylist(), strict=True)) == rows[1:]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_the_header_shows_what_separates_the_columns_of_csv(tmp_path, separator):
    rows = [("id", "body"), ("1", 'a "b", c; d'), ("2", "two\nlines"), ("3", "4,5")]
    with (tmp_path / "in.csv").open("w", newline="") as file:
        csv.writer(file, delimiter=separator).writerows(rows)
    embed(tmp_path / "in.csv", tmp_path / "out", shard_rows=2)
    found = vectors_of(tmp_path / "out")
    assert list(zip(found["id"].to_pylist(), found["body"].to_pylist(), strict=True)) == rows[1:]
    (tmp_path / "other.csv").write_text(f"id{separator}words\n1{separator}a\n")
    with pytest.raises(
        latebind.CallerError, match="no column 'body'; the columns are: id, words .name another with text_column"
    ):
        embed(tmp_path / "other.csv", tmp_path / "refused")


@pytest.mark.parametrize("kept", [None, "id", "body"])
def test_json_lines_are_those_of_the_program(tmp_path, kept):
    write_jsonl(table(1000), tmp_path / "in.jsonl.gz")
    embed(tmp_path / "in.jsonl.gz", tmp_path / "v.npy", id_column=kept)
    report = embed(tmp_path / "in.jsonl.gz", tmp_path / "v.jsonl", id_column=kept)
    assert report.rows == 1000 and not (tmp_path / "v.jsonl.part").exists()
    found = [json.loads(line) for line in (tmp_path / "v.jsonl").read_text().splitlines()]
    assert [line["index"] for line in found] == list(range(1000))
    assert [line["id"] for line in found] == table(1000)[kept or "id"].to_pylist()
    read = np.array([line["embedding"] for line in found], np.float32)
    assert np.array_equal(read, np.load(tmp_path / "v.npy"))
    assert max(map(len, (tmp_path / "v.jsonl").read_text().splitlines())) < 32 * 16 + 50, "the shortest numbers"


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-10], lambda b: b[:500] + b"\0\0\0\0" + b[504:], lambda b: b + b"x", lambda b: b"x"]
)
def test_damaged_packed_files_are_refused(tmp_path, damage):
    packed = gzip.compress("".join(f"{text}\n" for text in texts(2000)).encode())
    (tmp_path / "in.txt.gz").write_bytes(damage(packed))
    with pytest.raises(latebind.CallerError, match=r"in\.txt\.gz cannot be read as txt"):
        embed(tmp_path / "in.txt.gz", tmp_path / "out")


def test_lines_have_an_end(tmp_path):
    most = 64 << 20
    with gzip.open(tmp_path / "in.txt.gz", "wb", compresslevel=1) as file:
        file.write(b"a\n" + b"a" * (most + 1))
    with pytest.raises(latebind.CallerError, match=r"in\.txt\.gz cannot be read as txt: line 2 is longer than 64 MiB"):
        embed(tmp_path / "in.txt.gz", tmp_path / "out")
    # One that is as long as may be, whatever the blocks in which it comes.
    for size in (most // 3, most):
        blocks = [b"a" * size] * (most // size) + [b"a" * (most % size), b"\nb"]
        assert [len(line) for line in lines(blocks)] == [most + 1, 1]
        with pytest.raises(ValueError, match="line 1 is longer"):
            list(lines([b"a", *blocks]))


def test_in_a_folder_texts_beside_tables_are_about_them(tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    write_lines(texts(5), source / "notes.txt")
    assert embed(source, tmp_path / "texts").rows == 5
    write_jsonl(table(7), source / "rows.jsonl.gz")
    assert embed(source, tmp_path / "tables").rows == 7


# -- One file -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def source(tmp_path):
    write_jsonl(table(1000), tmp_path / "in.jsonl")
    return tmp_path / "in.jsonl"


def test_parquet_has_all_columns_and_a_row_group_a_shard(tmp_path, source):
    report = embed(source, tmp_path / "v.parquet")
    embed(source, tmp_path / "out")
    found = pq.ParquetFile(tmp_path / "v.parquet")
    assert found.read().equals(vectors_of(tmp_path / "out"))
    assert [found.metadata.row_group(at).num_rows for at in range(found.num_row_groups)] == [300, 300, 300, 100]
    assert json.loads(found.schema_arrow.metadata[b"latebind"])["settings"]["text_column"] == "body"
    assert (report.rows, report.output) == (1000, str(tmp_path / "v.parquet"))
    assert sorted(os.listdir(tmp_path)) == ["in.jsonl", "out", "v.parquet"]


def test_npy_has_the_vectors_and_ids_beside_them(tmp_path, source):
    embed(source, tmp_path / "v.npy")
    embed(source, tmp_path / "out")
    assert np.array_equal(
        np.load(tmp_path / "v.npy"), np.array(vectors_of(tmp_path / "out")["vector"].to_pylist(), np.float32)
    )
    ids = tmp_path / "v.npy.ids.jsonl"
    assert [json.loads(line) for line in ids.read_text().splitlines()] == list(range(1000))
    pq.write_table(vectors_of(tmp_path / "out").drop_columns(["id"]), tmp_path / "in.parquet")  # with a column "vector"
    embed(tmp_path / "in.parquet", tmp_path / "again.npy")
    assert (tmp_path / "again.npy").read_bytes() == (tmp_path / "v.npy").read_bytes()
    write_lines(texts(3), tmp_path / "in.txt")
    embed(tmp_path / "in.txt", tmp_path / "v.npy")
    assert np.load(tmp_path / "v.npy").shape[0] == 3 and not ids.exists()


def test_nothing_at_all_is_a_file_without_rows(tmp_path):
    (tmp_path / "in.txt").write_text("")
    for name in ("v.parquet", "v.npy"):
        embed(tmp_path / "in.txt", tmp_path / name)
    assert pq.read_table(tmp_path / "v.parquet").column_names == ["body", "vector"]
    assert np.load(tmp_path / "v.npy").shape[0] == 0


def test_skipped_rows_are_beside_it(tmp_path):
    pq.write_table(pa.table({"id": range(6), "body": ["a", None, "b", "c", None, "d"]}), tmp_path / "in.parquet")
    embed(tmp_path / "in.parquet", tmp_path / "v.parquet", on_error="skip", shard_rows=2)
    assert pq.read_table(tmp_path / "v.parquet")["id"].to_pylist() == [0, 2, 3, 5]
    assert pq.read_table(tmp_path / "v.parquet.skipped.parquet")["latebind_row"].to_pylist() == [1, 4]


def test_killed_at_any_moment_it_gives_the_same_bytes(tmp_path):
    write_lines(texts(20_000), tmp_path / "in.txt.gz")
    arguments = [tmp_path / "in.txt.gz", "--shard-rows", 1000]
    assert run(*arguments, "-o", tmp_path / "whole.parquet").returncode == 0
    vectors = tmp_path / "v.parquet.part" / "vectors"
    for most in (1, 8):
        process = subprocess.Popen(command(*arguments, "-o", tmp_path / "v.parquet"), stdout=subprocess.DEVNULL)
        while process.poll() is None and (not vectors.exists() or len(list(vectors.glob("part-*"))) < most):
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert not (tmp_path / "v.parquet").exists()
    done = run(*arguments, "-o", tmp_path / "v.parquet", "--json")
    assert done.returncode == 0 and 0 < json.loads(done.stdout)["shards_done"] < 20, done.stderr
    assert (tmp_path / "v.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert not (tmp_path / "v.parquet.part").exists()


def test_what_cannot_be_one_file_is_refused(tmp_path, source):
    write_jsonl(pa.table({"body": ["a"], "n": [1]}), tmp_path / "other.jsonl")
    with pytest.raises(latebind.CallerError, match=r"other\.jsonl has other columns than .*in\.jsonl"):
        embed([source, tmp_path / "other.jsonl"], tmp_path / "v.parquet")
    embed([source, tmp_path / "other.jsonl"], tmp_path / "v.npy")
    pq.write_table(table(3), tmp_path / "in.parquet")
    with pytest.raises(latebind.CallerError, match="is the input"):
        embed(tmp_path / "in.parquet", tmp_path / "in.parquet")


def test_what_the_program_has_not_finished_is_refused(tmp_path, source):
    part = tmp_path / "v.npy.part"
    part.mkdir()
    (part / "manifest.json").write_text('{"format": 1, "kind": "file"}')
    (part / "vectors").write_bytes(b"1234")
    with pytest.raises(DifferentRunError, match="an unfinished output of the program latebind"):
        embed(source, tmp_path / "v.npy")
    assert re.fullmatch(rb"\d+", (part / "vectors").read_bytes())


def test_a_format_that_the_name_does_not_say_and_beginning_anew(tmp_path, source):
    write_lines(texts(4), tmp_path / "notes")
    assert embed(tmp_path / "notes", tmp_path / "v.npy", input_format="txt").rows == 4
    assert embed(source, tmp_path / "lines.npy", input_format="txt").rows == 1000
    with pytest.raises(latebind.CallerError, match="input_format is 'parquet'"):
        embed(tmp_path / "notes", tmp_path / "w.npy", input_format="parquet")
    part = tmp_path / "v.parquet.part"
    (part / "vectors").mkdir(parents=True)
    (part / "manifest.json").write_text("{}")
    with pytest.raises(DifferentRunError):
        embed(source, tmp_path / "v.parquet")
    assert embed(source, tmp_path / "v.parquet", restart=True).rows == 1000
    with pytest.raises(latebind.CallerError, match="restart is for an output that is one file"):
        embed(source, tmp_path / "out", restart=True)


def test_prompts_and_roles_are_those_of_the_embedder(tmp_path, source):
    embed(source, tmp_path / "plain.npy")
    embed(source, tmp_path / "prompted.npy", prompt="the quick ")
    assert not np.array_equal(np.load(tmp_path / "plain.npy"), np.load(tmp_path / "prompted.npy"))
    done = run(source, "-o", tmp_path / "by-command.npy", "--shard-rows", 300, "--prompt", "the quick ", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "by-command.npy").read_bytes() == (tmp_path / "prompted.npy").read_bytes()


def test_nothing_is_removed_that_belongs_to_no_unfinished_output(tmp_path, source):
    part = tmp_path / "v.npy.part"

    def refused(what):
        for restart in (False, True):
            with pytest.raises(latebind.CallerError, match=what):
                embed(source, tmp_path / "v.npy", restart=restart)

    (part / "mine" / "deep").mkdir(parents=True)
    (part / "mine" / "deep" / "file").write_text("precious")
    refused("'mine'")
    assert (part / "mine" / "deep" / "file").read_text() == "precious"
    (part / "mine").rename(tmp_path / "mine")
    (part / "notes.txt").write_text("precious")
    refused("'notes.txt'")
    (part / "notes.txt").unlink()
    (part / "vectors").mkdir()
    (part / "vectors" / "notes.txt").write_text("precious")
    refused("'vectors/notes.txt'")
    (part / "vectors" / "notes.txt").unlink()
    (part / "vectors").rmdir()
    (part / "vectors").symlink_to(tmp_path / "mine")
    refused("'vectors'")
    (part / "vectors").unlink()
    part.rename(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "manifest.json").write_text("{}")
    part.symlink_to(tmp_path / "elsewhere")
    refused("is a link")
    assert (tmp_path / "elsewhere" / "manifest.json").exists()
    assert not (tmp_path / "v.npy").exists()
    part.unlink()
    assert embed(source, tmp_path / "v.npy").rows == 1000
    assert not part.exists()
