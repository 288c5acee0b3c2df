"""embed_files() and its command, in this process: formats, resuming, refusals, reports."""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import time
from dataclasses import replace

import latebind
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from files_scene import device, embed, expected, found, write
from latebind.bulk import (
    DifferentRunError,
    EmbedBatches,
    RowError,
    _engine,
    _shards,
    _store,
    embed_files,
)
from latebind.bulk._inputs import find, scan
from latebind.bulk._reader import Reader
from pyarrow import fs
from pyarrow._fs import _MockFileSystem
from support import MODEL, TINY
from tables import command, contents, run, table, texts, vectors_of

# -- Formats ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "jsonl"])
def test_every_format(tmp_path, ending):
    rows = table(1000)
    write(rows, tmp_path / f"in.{ending}")
    report = embed(tmp_path / f"in.{ending}", tmp_path / "out")
    assert (report.rows, report.shards, report.skipped) == (1000, 4, 0)
    assert found(tmp_path / "out") == expected(rows)
    output = vectors_of(tmp_path / "out")
    assert output.column_names == ["id", "body", "vector"]
    # CSV has no types.
    kind = pa.string() if ending == "csv" else pa.int64()
    assert output["id"].equals(rows["id"].cast(kind))
    assert output["body"].to_pylist() == rows["body"].to_pylist()


def test_csv_with_lines_in_its_fields(tmp_path):
    values = ["the cat\nthe dog", 'a "quick" fox', "a, b", "\r\nmat\r\n", '5" tree', "", "ünder\u2028x"] * 20
    lines = "".join('{},"{}"\r\n'.format(number, value.replace('"', '""')) for number, value in enumerate(values))
    (tmp_path / "in.csv").write_bytes(("\ufeffid,body\r\n" + lines + "\r\n").encode())
    embed(tmp_path / "in.csv", tmp_path / "out", shard_rows=3)
    output = vectors_of(tmp_path / "out")
    assert output["body"].to_pylist() == values
    assert output["id"].to_pylist() == [str(number) for number in range(len(values))]


def test_types_of_json_are_those_of_all_lines(tmp_path):
    lines = [
        {"body": text, "n": number if number < 9 else number / 2, "date": "2020-01-01"}
        for number, text in enumerate(texts(20))
    ]
    lines[15]["later"] = [1, 2]
    (tmp_path / "in.jsonl").write_text("\n\n".join(map(json.dumps, lines)), encoding="utf-8")
    embed(tmp_path / "in.jsonl", tmp_path / "out", shard_rows=4)
    output = vectors_of(tmp_path / "out")
    assert output["n"].to_pylist() == [line["n"] for line in lines]
    assert output["later"].to_pylist() == [line.get("later") for line in lines]


def test_folders_and_several_files(tmp_path):
    source = tmp_path / "in"
    (source / "deep").mkdir(parents=True)
    (source / "_temporary").mkdir()
    write(table(10), source / "b.parquet")
    write(table(10, 10), source / "deep" / "a.jsonl")
    write(table(10, 90), source / "_temporary" / "c.parquet")
    (source / "notes.txt").write_text("no rows")
    write(table(10, 20), tmp_path / "last.arrow")
    report = embed([source, (tmp_path / "last.arrow").as_uri()], tmp_path / "out")
    assert report.shards == 3
    assert vectors_of(tmp_path / "out")["id"].to_pylist() == list(range(30))


def test_only_the_column_that_is_asked_for(tmp_path, parquet):
    embed(parquet, tmp_path / "out", id_column="id", vector_column="v")
    output = vectors_of(tmp_path / "out")
    assert output.column_names == ["id", "v"]
    assert output["id"].to_pylist() == list(range(1000))


def test_memory_does_not_grow_with_the_file(tmp_path):
    rows, width = 40_000, 4000
    body = [os.urandom(width // 2).hex() for _ in range(64)]
    schema = pa.schema([("body", pa.string())])
    with pq.ParquetWriter(tmp_path / "in.parquet", schema, compression="none", use_dictionary=False) as writer:
        batch = pa.record_batch([pa.array([body[at % 64] for at in range(rows)])], schema=schema)
        writer.write_batch(batch, row_group_size=rows)  # one group of 160 MB
    del batch
    file = scan(*find([tmp_path / "in.parquet"])[0], "body", 500)
    reader = Reader(file, "body", None, 500)
    most = 0
    for shard in range(file.shards(500)):
        assert reader.read(shard).num_rows == 500
        most = max(most, pa.total_allocated_bytes())
    assert len(file.groups) == 1
    assert most < 40 << 20


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "jsonl"])
def test_shards_in_any_order(tmp_path, ending):
    rows = table(1000)
    write(rows, tmp_path / f"in.{ending}")
    file = scan(*find([tmp_path / f"in.{ending}"])[0], "body", 90)
    reader = Reader(file, "body", ["body"], 90)
    order = list(range(file.shards(90)))
    random.Random(3).shuffle(order)
    for shard in order:
        assert reader.read(shard)["body"].to_pylist() == rows["body"].to_pylist()[shard * 90 : shard * 90 + 90]


def test_a_file_that_is_changed_meanwhile(tmp_path):
    write(table(100), tmp_path / "in.jsonl")
    file = scan(*find([tmp_path / "in.jsonl"])[0], "body", 90)
    (tmp_path / "in.jsonl").write_text("")
    with pytest.raises(latebind.MachineError, match=r"in\.jsonl"):
        Reader(file, "body", None, 90).read(0)


# -- Again --------------------------------------------------------------------------------------------------------------


def test_run_again_it_does_nothing(tmp_path, parquet):
    first = embed(parquet, tmp_path / "out")
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "out").rglob("*.*")}
    again = embed(parquet, tmp_path / "out")
    assert (first.shards_done, again.shards_done) == (4, 0)
    assert (again.rows, again.tokens, again.devices) == (first.rows, first.tokens, first.devices)
    assert before == {file: file.stat().st_mtime_ns for file in (tmp_path / "out").rglob("*.*")}


def test_what_is_missing_or_damaged_is_made_again_to_the_byte(tmp_path, parquet):
    embed(parquet, tmp_path / "out")
    whole = contents(tmp_path / "out")
    parts = sorted((tmp_path / "out" / "vectors").iterdir())
    parts[1].unlink()
    parts[2].write_bytes(parts[2].read_bytes()[:-100])
    shutil.copy(parts[0], parts[3])
    embed(parquet, tmp_path / "other", normalize=True)
    shutil.copy(tmp_path / "other" / "vectors" / parts[0].name, parts[0])
    (tmp_path / "out" / "vectors" / ".part-x-y").write_text("left by a writer that was killed")
    report = embed(parquet, tmp_path / "out")
    assert (report.shards_done, report.damaged) == (4, 3)
    assert contents(tmp_path / "out") == whole


def test_killed_at_any_moment_and_resumed_it_gives_the_same_bytes(tmp_path):
    write(table(20_000), tmp_path / "in.parquet")
    arguments = [tmp_path / "in.parquet", "--shard-rows", 1000, "--normalize"]
    assert run(*arguments, "-o", tmp_path / "whole").returncode == 0
    rounds = 0
    vectors = tmp_path / "out" / "vectors"
    for most in (1, 4, 9, 15):
        process = subprocess.Popen(command(*arguments, "-o", tmp_path / "out"), stdout=subprocess.DEVNULL)
        while process.poll() is None and (not vectors.exists() or len(list(vectors.glob("part-*"))) < most):
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        rounds += process.wait() == -signal.SIGKILL
    assert rounds >= 3, "it was too quick to be killed"
    done = run(*arguments, "-o", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["rows"] == 20_000
    assert 0 < report["shards_done"] < 20
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_of_the_real_model_too(tmp_path):
    arguments = {"shard_rows": 100}
    parquet = tmp_path / "in.parquet"
    write(table(350), parquet)
    embed_files(parquet, tmp_path / "whole", MODEL, "body", **arguments)
    shutil.copytree(tmp_path / "whole", tmp_path / "out")
    (tmp_path / "out" / "vectors" / "part-000002.parquet").unlink()
    assert embed_files(parquet, tmp_path / "out", MODEL, "body", **arguments).rows_done == 100
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"shard_rows": 200}, r"run: shard_rows was 300, now 200"),
        ({"normalize": True}, r"run: normalize was false, now true"),
        ({"id_column": "id"}, r"run: id_column was not given, now"),
        ({"on_error": "skip"}, r"run: on_error was"),
        ({"precision": "fast"}, r"precision was not given, now"),
        ({"threads": 1}, r"run: threads was not given, now 1; the number of threads was"),
    ],
)
def test_other_settings_are_refused(tmp_path, parquet, change, names):
    embed(parquet, tmp_path / "out")
    whole = contents(tmp_path / "out")
    with pytest.raises(DifferentRunError, match=names):
        embed(parquet, tmp_path / "out", **change)
    assert contents(tmp_path / "out") == whole


def test_another_input_or_model_is_refused(tmp_path, parquet):
    embed(parquet, tmp_path / "out")
    write(table(1000, 1), parquet)
    with pytest.raises(DifferentRunError, match=r"run: [^;]*in\.parquet was changed; give"):
        embed(parquet, tmp_path / "out")
    write(table(1000), parquet)
    model = tmp_path / "model"
    shutil.copytree(TINY, model)
    (model / "more.txt").write_text("other bytes")
    with pytest.raises(DifferentRunError, match=r"the model is another one"):
        embed_files(parquet, tmp_path / "out", model, "body", shard_rows=300)


def test_another_device_is_refused_unless_it_is_allowed(tmp_path, parquet):
    out = tmp_path / "out"
    embed(parquet, out)
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["answers"]["device"] = "openvino:NPU"
    (out / "manifest.json").write_text(json.dumps(manifest))
    (out / "vectors" / "part-000003.parquet").unlink()
    with pytest.raises(DifferentRunError, match=rf'the device was "openvino:NPU", now "{device()}"'):
        embed(parquet, out)
    assert embed(parquet, out, allow_other_devices=True).shards_done == 1


def test_a_worker_where_something_else_answers_is_refused(tmp_path, parquet, monkeypatch):
    real = _engine.Engine.answers
    monkeypatch.setattr(_engine.Engine, "answers", lambda self, batches: replace(real(self, batches), precision="bf16"))
    with pytest.raises(latebind.TransientError, match="precision: bf16, here f32; allow it with --allow-other-devices"):
        embed(parquet, tmp_path / "out")
    assert not (tmp_path / "out" / "vectors").exists()
    assert embed(parquet, tmp_path / "out", allow_other_devices=True).devices == {f"{device()} f32": 1.0}


def test_help_by_another_device_is_refused(tmp_path, parquet, monkeypatch):
    real = EmbedBatches.embed
    helped = lambda self, batch, follower: replace(real(self, batch, follower), is_mixed=True, fallback=7)
    monkeypatch.setattr(EmbedBatches, "embed", helped)
    with pytest.raises(latebind.TransientError, match="computed 7 rows of shard 0"):
        embed(parquet, tmp_path / "out")
    assert embed(parquet, tmp_path / "out", allow_other_devices=True).fallback == 28


def test_a_folder_with_something_else_is_left_alone(tmp_path, parquet):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(DifferentRunError, match=r"has files and no manifest\.json"):
        embed(parquet, tmp_path / "out")


def test_two_at_once_are_refused(tmp_path, parquet):
    with _store.Store(fs.LocalFileSystem(), str(tmp_path / "out")).lock():
        done = run(parquet, "-o", tmp_path / "out")
        assert done.returncode == 1
        assert "another run is writing" in done.stderr
    assert run(parquet, "-o", tmp_path / "out").returncode == 0


# -- Rows without a text ------------------------------------------------------------------------------------------------


@pytest.fixture
def holes(tmp_path):
    rows = table(1000)
    body = [None if number in (5, 700) else text for number, text in enumerate(rows["body"].to_pylist())]
    write(rows.set_column(1, "body", pa.array(body)), tmp_path / "holes.parquet")
    return tmp_path / "holes.parquet"


def test_a_bad_row_fails_with_its_place(tmp_path, holes):
    with pytest.raises(RowError, match=r"holes\.parquet, rows from 0 on: row 5 of column 'body'"):
        embed(holes, tmp_path / "out")
    done = run(holes, "-o", tmp_path / "other")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("value", "code"),
    # Of nulls alone pyarrow makes lists that it cannot read itself.
    [("[" * 50 + "1" + "]" * 50, 2), ("{}", 2), ("[null, null]", 2)],
)
def test_a_column_that_parquet_does_not_have_is_refused(tmp_path, value, code):
    (tmp_path / "in.jsonl").write_text(f'{{"body": "a", "x": {value}}}\n')
    done = run(tmp_path / "in.jsonl", "-o", tmp_path / "out")
    assert done.returncode == code
    assert "column 'x'" in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.glob("out/vectors/*"))
    assert run(tmp_path / "in.jsonl", "-o", tmp_path / "out", "--id-column", "body").returncode == 0


def test_a_wrong_line_is_told_by_its_row_of_the_file(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"body": "a"}\n' * 1000 + '{"body": 7}\n' + '{"body": "a"}\n' * 50)
    with pytest.raises(latebind.CallerError, match="in row 1000"):
        embed(tmp_path / "in.jsonl", tmp_path / "out")


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "arrow"])
def test_a_column_that_is_not_utf_8_is_refused_in_every_format(tmp_path, ending):
    file = tmp_path / f"in.{ending}"
    if ending == "jsonl":
        file.write_bytes(b'{"body": "a", "x": "\xff"}\n')
    else:
        bad = pa.array([b"\xff"]).view(pa.string())
        write(pa.table({"body": ["a"], "x": bad}), file)
    done = run(file, "-o", tmp_path / "out")
    assert done.returncode == 1
    assert "column 'x' is not UTF-8" in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.glob("out/vectors/part*"))


def test_a_dictionary_with_a_text_that_is_skipped_leaves_files_that_can_be_read(tmp_path):
    entries = pa.array([b"the cat", b"\xff", b"a man"]).view(pa.string())
    body = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0], pa.int8()), entries)
    write(pa.table({"body": body, "id": range(4)}), tmp_path / "in.arrow")
    report = embed(tmp_path / "in.arrow", tmp_path / "out", on_error="skip", id_column=None)
    assert (report.rows, report.skipped) == (3, 1)
    found = pq.read_table(tmp_path / "out" / "vectors").to_pydict()
    assert (found["body"], found["id"]) == (["the cat", "a man", "the cat"], [0, 2, 3])
    skipped = pq.read_table(tmp_path / "out" / "skipped")
    assert skipped["id"].to_pylist() == [1] and "not UTF-8" in skipped["latebind_reason"][0].as_py()
    assert embed(tmp_path / "in.arrow", tmp_path / "out", on_error="skip", id_column=None).shards_done == 0


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_rows_that_are_skipped_can_be_read_by_all(tmp_path, kind):
    """Readers of Parquet refuse a whole file in which a string is not UTF-8."""
    bad = pa.array([b"the cat", b"the \xff fox", None, b"\xe2\x82", b""], pa.binary()).view(pa.string())
    if kind != pa.string():
        bad = (
            bad.cast(pa.binary()).cast(pa.large_binary() if kind == pa.large_string() else pa.binary_view()).view(kind)
        )
    write(pa.table({"body": bad, "id": range(5)}), tmp_path / "in.arrow")
    report = embed(tmp_path / "in.arrow", tmp_path / "out", on_error="skip", id_column=None)
    assert (report.rows, report.skipped) == (2, 3)
    skipped = pq.read_table(tmp_path / "out" / "skipped")
    skipped.validate(full=True)
    assert skipped["body"].to_pylist() == ["the \ufffd fox", None, "\ufffd"]


def test_what_was_written_to_meanwhile_is_an_error(tmp_path, parquet, monkeypatch):
    compute = _shards.Job.compute

    def changed(self, shard, table, follower=None):
        if shard == 1:
            os.utime(parquet, ns=(1, 1))
        return compute(self, shard, table, follower)

    monkeypatch.setattr(_shards.Job, "compute", changed)
    with pytest.raises(latebind.MachineError, match="changed since it was scanned"):
        embed(parquet, tmp_path / "out")


def test_a_file_that_could_not_be_written_leaves_nothing(tmp_path):
    class Full:
        """A folder of this machine without room."""

        type_name = "local"

        def __getattr__(self, name):
            return getattr(fs.LocalFileSystem(), name)

        def open_output_stream(self, target):
            (tmp_path / target).write_text("half")

            class Stream:
                def write(self, _):
                    raise OSError("no space left")

            return Stream()

    store = _store.Store(Full(), str(tmp_path))
    with pytest.raises(latebind.TransientError, match="no space left"):
        store.write("vectors/part", b"whole")
    assert not list((tmp_path / "vectors").iterdir())


def test_rows_that_csv_cannot_have_are_the_callers_mistake(tmp_path):
    (tmp_path / "in.csv").write_text("body,name\na,b\nc\n")
    done = run(tmp_path / "in.csv", "-o", tmp_path / "out")
    assert done.returncode == 2
    assert "in.csv cannot be read" in done.stderr and "Traceback" not in done.stderr


def test_what_a_full_disk_has_left_is_removed(tmp_path, parquet):
    embed(parquet, tmp_path / "out")
    for folder in (tmp_path / "out", tmp_path / "out" / "vectors"):
        (folder / ".part-0-manifest.json").write_text("half")
    embed(parquet, tmp_path / "out")
    assert not list((tmp_path / "out").rglob(".part-*"))


def test_or_goes_into_a_file_with_the_reason(tmp_path, holes):
    report = embed(holes, tmp_path / "out", on_error="skip")
    assert (report.rows, report.skipped) == (998, 2)
    assert vectors_of(tmp_path / "out").num_rows == 998
    assert sorted(os.listdir(tmp_path / "out" / "skipped")) == ["part-000000.parquet", "part-000002.parquet"]
    skipped = pq.read_table(tmp_path / "out" / "skipped").sort_by("id").to_pylist()
    assert [row["id"] for row in skipped] == [row["latebind_row"] for row in skipped] == [5, 700]
    assert skipped[0]["latebind_file"].endswith("holes.parquet")
    assert "null" in skipped[0]["latebind_reason"]
    whole = contents(tmp_path / "out")
    (tmp_path / "out" / "vectors" / "part-000002.parquet").unlink()
    assert embed(holes, tmp_path / "out", on_error="skip").skipped == 2
    assert contents(tmp_path / "out") == whole


def test_bytes_of_csv_that_are_not_text(tmp_path):
    (tmp_path / "in.csv").write_bytes(b"id,body\n1,the cat\n2,\xff\xfe\n3,\n")
    assert embed(tmp_path / "in.csv", tmp_path / "out", on_error="skip").skipped == 1
    assert vectors_of(tmp_path / "out")["id"].to_pylist() == ["1", "3"]


# -- Stores -------------------------------------------------------------------------------------------------------------


def test_through_another_filesystem(tmp_path, parquet):
    (tmp_path / "tree").mkdir()
    below = fs.SubTreeFileSystem(str(tmp_path / "tree"), fs.LocalFileSystem())
    embed(parquet, "a/b", filesystem=below)
    embed(parquet, tmp_path / "out")
    assert contents(tmp_path / "tree" / "a" / "b") == contents(tmp_path / "out")


def test_an_object_is_put_once_and_whole(tmp_path, parquet, monkeypatch):
    monkeypatch.setattr(_store, "_OBJECT_STORES", ("mock",))
    store = _MockFileSystem()
    store.create_dir("bucket/out/vectors", recursive=True)
    assert embed(parquet, "bucket/out", filesystem=store).rows == 1000
    names = [info.base_name for info in store.get_file_info(fs.FileSelector("bucket/out", recursive=True))]
    assert sorted(names) == ["manifest.json", *(f"part-00000{at}.parquet" for at in range(4)), "vectors"]
    assert embed(parquet, "bucket/out", filesystem=store).shards_done == 0


def test_what_cannot_be_written_leaves_nothing_half(tmp_path, parquet):
    arguments = command(parquet, "-o", tmp_path / "out", "--shard-rows", 300)
    done = subprocess.run(
        arguments,
        capture_output=True,
        encoding="utf-8",
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),  # as on a full disk
    )
    assert done.returncode == 1
    assert "could not be written" in done.stderr
    assert not list(tmp_path.glob("out/vectors/part-*"))
    assert run(*arguments[3:-4]).returncode == 0
    assert not list(tmp_path.glob("out/vectors/.part-*"))
