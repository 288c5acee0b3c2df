"""What input and earlier output may hold, and what is refused instead of being changed on the way."""

import json
import os
from dataclasses import replace

import latebind
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from latebind.bulk import DifferentRunError, EmbedBatches, RowError, _inputs, _model, embed_files
from latebind.bulk.__main__ import main
from latebind.bulk._identity import stamp_of
from latebind.bulk._inputs import find, scan
from latebind.bulk._reader import Reader
from pyarrow import fs
from support import TINY
from tables import contents, table, vectors_of


def embed(source, output, **arguments):
    return embed_files(source, output, TINY, "body", **{"shard_rows": 2, **arguments})


def jsonl(file, *rows):
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


# -- Numbers and times of JSON -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1 << 63, (1 << 64) - 1, -(1 << 63) - 1])
@pytest.mark.parametrize("inside", [lambda n: n, lambda n: [n], lambda n: {"x": n}])
def test_integers_of_more_than_64_bits_are_refused(tmp_path, number, inside):
    source = jsonl(tmp_path / "in.jsonl", {"id": inside(number), "body": "a"})
    with pytest.raises(latebind.CallerError, match="more than 64 bits; write it as a string"):
        embed(source, tmp_path / "out")


def test_integers_beside_fractions_are_refused_where_they_would_change(tmp_path):
    source = jsonl(
        tmp_path / "in.jsonl", {"id": 2**53 + 1, "body": "a"}, {"id": 1, "body": "b"}, {"id": 1.5, "body": "c"}
    )
    with pytest.raises(latebind.CallerError, match="column 'id' has an integer in row 0"):
        embed(source, tmp_path / "out")


def test_large_integers_are_kept(tmp_path):
    numbers = [2**63 - 1, -(2**63), 2**53 + 1, 7]
    source = jsonl(tmp_path / "in.jsonl", *({"id": number, "body": "1234567890123456789"} for number in numbers))
    embed(source, tmp_path / "out", id_column="id")
    assert vectors_of(tmp_path / "out")["id"].to_pylist() == numbers


def test_what_looks_like_a_time_is_kept_as_it_is_written(tmp_path):
    days = ["2024-01-01", "2024-01-02", "soon", "2024-01-01T10:00:00Z"]
    rows = [{"body": "a", "day": day, "nested": {"days": [day]}} for day in days]
    embed(jsonl(tmp_path / "in.jsonl", *rows), tmp_path / "out")
    found = vectors_of(tmp_path / "out")
    assert found["day"].to_pylist() == days
    assert found["nested"].to_pylist() == [{"days": [day]} for day in days]


# -- CSV -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", ['"id","body"', '"body","id"', '"last, first","body"', "id,body"])
def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path, names):
    (tmp_path / "in.csv").write_bytes(f"\ufeff{names}\r\na,b\r\n".encode())
    embed(tmp_path / "in.csv", tmp_path / "out")
    found = vectors_of(tmp_path / "out").column_names
    assert "body" in found and found[:-1] == json.loads(f"[{names}]" if '"' in names else '["id", "body"]')


@pytest.mark.parametrize("quoted", ["b", '"b"'])
def test_a_byte_order_mark_within_csv_belongs_to_its_value(tmp_path, quoted):
    (tmp_path / "in.csv").write_bytes(f"\ufeffid,body\na,x\n\ufeff{quoted},y\n\ufeffid,body\nc,z\n".encode())
    for rows in (1, 2, 3, 100):
        embed(tmp_path / "in.csv", tmp_path / f"{rows}", shard_rows=rows)
        found = vectors_of(tmp_path / f"{rows}")
        assert found["id"].to_pylist() == ["a", f"\ufeff{quoted}", "\ufeffid", "c"]


@pytest.mark.parametrize("rows", [1, 2, 3, 100])
def test_a_byte_order_mark_within_json_lines_is_refused(tmp_path, rows):
    line = json.dumps({"body": "a"}) + "\n"
    (tmp_path / "in.jsonl").write_bytes(f"\ufeff{line}{line}\ufeff{line}{line}".encode())
    with pytest.raises(latebind.CallerError, match=r"in\.jsonl .*row 2 begins with a byte-order mark"):
        embed(tmp_path / "in.jsonl", tmp_path / "out", shard_rows=rows)
    assert not (tmp_path / "out").exists()
    (tmp_path / "in.jsonl").write_bytes(f"\ufeff{line}{line}{line}".encode())
    assert embed(tmp_path / "in.jsonl", tmp_path / "out", shard_rows=rows).rows == 3


def test_what_is_not_utf8_beside_the_texts_is_named(tmp_path):
    (tmp_path / "in.csv").write_bytes(b"body,name\na,b\nx,caf\xe9\n")
    with pytest.raises(RowError, match="column 'name' is not UTF-8.*iconv -f WINDOWS-1252 -t UTF-8"):
        embed(tmp_path / "in.csv", tmp_path / "out")
    (tmp_path / "text.csv").write_bytes(b"body,name\na,b\ncaf\xe9,x\n")
    with pytest.raises(RowError, match="row 1 .*the text is not UTF-8.*iconv -f WINDOWS-1252 -t UTF-8"):
        embed(tmp_path / "text.csv", tmp_path / "third")
    (tmp_path / "names.csv").write_bytes(b"body,caf\xe9\na,b\n")
    with pytest.raises(latebind.CallerError, match="cannot be read as csv.*iconv -f WINDOWS-1252 -t UTF-8"):
        embed(tmp_path / "names.csv", tmp_path / "other")


# -- Files and folders ---------------------------------------------------------------------------------------------------


def test_a_file_is_embedded_once_whatever_its_names(tmp_path):
    source = tmp_path / "in"
    (source / "deep").mkdir(parents=True)
    pq.write_table(table(3), source / "a.parquet")
    (source / "deep" / "back").symlink_to(source)
    with pytest.raises(latebind.CallerError, match="is given twice, also as"):
        find([source])
    with pytest.raises(latebind.CallerError, match="is given twice"):
        find([source / "a.parquet", source / "deep" / ".." / "a.parquet"])


@pytest.mark.parametrize("given", [None, 3, b"in.parquet", [3], [None]])
def test_what_is_no_path_is_refused(tmp_path, given):
    with pytest.raises(latebind.CallerTypeError):
        embed(given, tmp_path / "out")
    pq.write_table(table(1), tmp_path / "in.parquet")
    with pytest.raises(latebind.CallerTypeError):
        embed(tmp_path / "in.parquet", given)


def test_a_name_that_is_not_utf8_is_refused(tmp_path):
    with pytest.raises(latebind.CallerError, match="lone surrogate"):
        embed(str(tmp_path / "in-\udce9.parquet"), tmp_path / "out")


@pytest.mark.parametrize("rows", [0, -1, 1 << 70, True, 2.5])
def test_a_shard_has_a_reasonable_number_of_rows(tmp_path, rows):
    pq.write_table(table(1), tmp_path / "in.parquet")
    with pytest.raises(latebind.CallerError, match="shard_rows"):
        embed(tmp_path / "in.parquet", tmp_path / "out", shard_rows=rows)


def test_columns_that_cannot_be_taken_from_lose_their_bad_rows_too(tmp_path):
    rows = pa.table({"body": pa.array(["a", None, "b", "c", None], pa.string_view()), "id": [1, 2, 3, 4, 5]})
    with pa.ipc.new_file(tmp_path / "in.arrow", rows.schema) as writer:
        writer.write_table(rows)
    report = embed(tmp_path / "in.arrow", tmp_path / "out", on_error="skip", shard_rows=5)
    assert (report.rows, report.skipped) == (3, 2)
    assert vectors_of(tmp_path / "out")["id"].to_pylist() == [1, 3, 4]
    batch = EmbedBatches(TINY, "body", on_error="skip")(rows)
    assert batch["vector"].null_count == 2


# -- An output that was begun --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [{"dimensions": 999}, {"prompt_name": "quer"}])
def test_what_the_model_refuses_takes_no_folder(tmp_path, wrong):
    pq.write_table(table(3), tmp_path / "in.parquet")
    with pytest.raises(latebind.CallerError):
        embed(tmp_path / "in.parquet", tmp_path / "out", **wrong)
    assert embed(tmp_path / "in.parquet", tmp_path / "out", dimensions=16).rows == 3


def test_nor_does_a_run_of_which_nothing_was_made(tmp_path):
    pq.write_table(pa.table({"body": ["a", None]}), tmp_path / "in.parquet")
    with pytest.raises(RowError):
        embed(tmp_path / "in.parquet", tmp_path / "out")
    assert embed(tmp_path / "in.parquet", tmp_path / "out", on_error="skip").skipped == 1
    with pytest.raises(DifferentRunError):
        embed(tmp_path / "in.parquet", tmp_path / "out")


def test_a_hostile_manifest_is_none_of_ours(tmp_path):
    pq.write_table(table(3), tmp_path / "in.parquet")
    embed(tmp_path / "in.parquet", tmp_path / "out")
    (tmp_path / "out" / "manifest.json").write_text("[" * 100_000)
    with pytest.raises(DifferentRunError, match=r"not a manifest of Latebind"):
        embed(tmp_path / "in.parquet", tmp_path / "out")


@pytest.mark.parametrize("change", [{"tokens": "x"}, {"device": {}}, {"skipped": None}, {"tokens": -5}, {"rows": True}])
def test_a_shard_with_a_hostile_label_is_made_again(tmp_path, change):
    pq.write_table(table(3), tmp_path / "in.parquet")
    embed(tmp_path / "in.parquet", tmp_path / "out")
    before = contents(tmp_path / "out")
    shard = tmp_path / "out" / "vectors" / "part-000001.parquet"
    rows = pq.read_table(shard)
    label = json.loads(rows.schema.metadata[b"latebind"])
    label["result"] |= change
    pq.write_table(rows.replace_schema_metadata({b"latebind": json.dumps(label)}), shard)
    assert embed(tmp_path / "in.parquet", tmp_path / "out").damaged == 1
    assert contents(tmp_path / "out") == before


def test_a_folder_that_is_a_file_is_named(tmp_path):
    pq.write_table(table(3), tmp_path / "in.parquet")
    embed(tmp_path / "in.parquet", tmp_path / "out")
    for shard in (tmp_path / "out" / "vectors").iterdir():
        shard.unlink()
    (tmp_path / "out" / "vectors").rmdir()
    (tmp_path / "out" / "vectors").write_text("")
    with pytest.raises(latebind.LatebindError, match="vectors cannot be"):
        embed(tmp_path / "in.parquet", tmp_path / "out")


def test_a_processor_of_the_same_name_with_other_instructions_is_refused(tmp_path, monkeypatch):
    pq.write_table(table(3), tmp_path / "in.parquet")
    embed(tmp_path / "in.parquet", tmp_path / "out")
    monkeypatch.setattr(_model, "_vector_instructions", lambda: "avx2")
    with pytest.raises(DifferentRunError, match=r"the processor was .*, now \"avx2\""):
        embed(tmp_path / "in.parquet", tmp_path / "out")


@pytest.mark.parametrize("setting", ["on_error=skip", "self=1", "model=x", "filesystem=1", "inputs=1"])
def test_settings_are_none_of_the_commands_own_arguments(tmp_path, setting, capsys):
    assert main(["in.parquet", "-o", str(tmp_path), "--model", "m", "--text-column", "body", "--set", setting]) == 2
    assert "is not a setting of the model" in capsys.readouterr().err


def with_bad_rows(file):
    pq.write_table(pa.table({"id": range(6), "body": ["a", None, "b", "c", None, "d"]}), file)
    return file


def test_a_file_of_skipped_rows_that_is_damaged_or_of_another_shard_is_made_again(tmp_path):
    source = with_bad_rows(tmp_path / "in.parquet")
    embed(source, tmp_path / "out", on_error="skip")
    whole = contents(tmp_path / "out")
    skipped = tmp_path / "out" / "skipped"
    first, third = skipped / "part-000000.parquet", skipped / "part-000002.parquet"
    for damage in (
        lambda: first.write_bytes(b""),
        lambda: first.write_bytes(first.read_bytes()[:-20]),
        lambda: first.write_bytes(third.read_bytes()),
        lambda: pq.write_table(pq.read_table(first).slice(1), first),
        lambda: first.unlink(),
        # Of rows that have vectors.
        lambda: (skipped / "part-000001.parquet").write_bytes(first.read_bytes()),
    ):
        damage()
        report = embed(source, tmp_path / "out", on_error="skip")
        assert (report.damaged, report.shards_done) == (1, 1)
        assert contents(tmp_path / "out") == whole


# -- Parquet -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("on_error", ["fail", "skip"])
def test_dictionaries_in_lists_and_structs_over_several_row_groups(tmp_path, on_error):
    words = pa.dictionary(pa.int32(), pa.string())
    rows = pa.table(
        {
            "body": ["a", "b", None if on_error == "skip" else "c", "d", "e", "f", "g"],
            "tags": pa.array([[f"tag {row}", "all"] for row in range(7)], pa.list_(words)),
            "of": pa.array([{"kind": f"kind {row}"} for row in range(7)], pa.struct([("kind", words)])),
        }
    )
    pq.write_table(rows, tmp_path / "in.parquet", row_group_size=2)
    kept = [row for row in range(7) if rows["body"][row].is_valid]
    for shard_rows in (1, 3, 100):
        embed(tmp_path / "in.parquet", tmp_path / f"{shard_rows}", shard_rows=shard_rows, on_error=on_error)
        found = vectors_of(tmp_path / f"{shard_rows}").drop_columns(["vector"])
        assert found.to_pylist() == [rows.to_pylist()[row] for row in kept]


# -- Columns -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "id_column", "message"),
    [
        (["id", "id", "body"], None, "2 columns 'id'"),
        (["id", "id", "body"], "id", "2 columns 'id'"),
        (["body", "id", "body"], None, "several columns 'body'"),
        (["vector", "id", "body"], None, "already a column 'vector'"),
    ],
)
@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_names_that_are_there_twice_are_refused_before_anything_is_written(tmp_path, names, id_column, message, ending):
    rows = pa.table([["a", "b"]] * 3, names=names)
    file = tmp_path / f"in.{ending}"
    if ending == "parquet":
        pq.write_table(rows, file)
    elif ending == "arrow":
        with pa.ipc.new_file(file, rows.schema) as writer:
            writer.write_table(rows)
    else:
        file.write_text(",".join(names) + "\na,b,c\n")
    with pytest.raises(latebind.CallerError, match=rf"in\.{ending}: there (is|are) .*{message}"):
        embed(file, tmp_path / "out", id_column=id_column)
    assert not (tmp_path / "out").exists()
    with pytest.raises(latebind.CallerError, match=message):
        EmbedBatches(TINY, "body")(rows)


@pytest.mark.parametrize(
    ("id_column", "other", "message"),
    [
        (None, {"idqq": [1, 2]}, "the name of a column is not UTF-8"),
        ("id", {"idqq": [1, 2]}, "the name of a column is not UTF-8"),
        (None, {"of": [{"idqq": 1}, {"idqq": 2}]}, "column 'of' has a field whose name is not UTF-8"),
        ("of", {"of": [{"idqq": 1}, {"idqq": 2}]}, "column 'of' has a field whose name is not UTF-8"),
    ],
)
def test_a_name_of_a_column_or_field_that_is_not_utf8_is_refused(tmp_path, id_column, other, message):
    rows = pa.table({"body": ["a", "b"], "id": [1, 2], **other})
    with pa.ipc.new_file(tmp_path / "in.arrow", rows.schema) as writer:
        writer.write_table(rows)
    content = (tmp_path / "in.arrow").read_bytes()
    (tmp_path / "in.arrow").write_bytes(content.replace(b"idqq", b"id\xff\xfe"))
    with pytest.raises(latebind.CallerError, match=rf"in\.arrow: {message}"):
        embed(tmp_path / "in.arrow", tmp_path / "out", id_column=id_column)
    assert not (tmp_path / "out").exists()


def test_names_of_columns_that_are_not_kept_do_not_matter(tmp_path):
    rows = pa.table([["a", "b"], ["x", "y"], ["x", "y"], [1, 2]], names=["body", "x", "x", "id"])
    pq.write_table(rows, tmp_path / "in.parquet")
    embed(tmp_path / "in.parquet", tmp_path / "out", id_column="id")
    assert vectors_of(tmp_path / "out").column_names == ["id", "vector"]


# -- Inputs that another file takes the place of -------------------------------------------------------------------------


def other_rows(file, ending):
    """Two files of the same size with other texts."""
    for name, first in (("one", 100), ("two", 500)):
        rows = pa.table({"id": range(first, first + 40), "body": [f"the {n} cats" for n in range(first, first + 40)]})
        target = file.with_suffix(f".{name}.{ending}")
        if ending == "parquet":
            pq.write_table(rows, target, compression="none", use_dictionary=False)
        elif ending == "arrow":
            with pa.ipc.new_file(target, rows.schema) as writer:
                writer.write_table(rows)
        elif ending == "csv":
            target.write_text(
                "id,body\n" + "".join(f"{n},{t}\n" for n, t in zip(*rows.to_pydict().values(), strict=True))
            )
        else:
            jsonl(target, *rows.to_pylist())
        yield target


@pytest.mark.parametrize("filesystem", ["local", "other"])
@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "jsonl"])
def test_a_file_with_the_same_size_and_date_is_another_one(tmp_path, ending, filesystem):
    one, two = other_rows(tmp_path / "in", ending)
    assert one.stat().st_size == two.stat().st_size
    place = find([one])[0]
    if filesystem == "other":  # whose entries say no more than size and date
        place = (fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem()), one.name, *place[2:])
    file = scan(*place, "body", 10)
    reader = Reader(file, "body", None, 10)
    assert reader.read(0).num_rows == 10
    dates = one.stat()
    two.replace(one)
    os.utime(one, ns=(dates.st_atime_ns, dates.st_mtime_ns))
    for each in (reader, Reader(file, "body", None, 10)):
        with pytest.raises(latebind.MachineError, match="changed since it was scanned; run again"):
            each.read(2)
            each.read(0)


def test_a_file_that_changes_while_it_is_scanned(tmp_path, monkeypatch):
    file = jsonl(tmp_path / "in.jsonl", {"body": "a"}, {"body": "b"})
    scan_jsonl = _inputs.scan_jsonl

    def scanned(*arguments):
        found = scan_jsonl(*arguments)
        jsonl(file, {"body": "c"}, {"body": "d"})
        return found

    monkeypatch.setattr(_inputs, "scan_jsonl", scanned)
    with pytest.raises(latebind.MachineError, match="changed while it was scanned"):
        embed(file, tmp_path / "out")


def test_a_date_can_be_put_back_and_that_of_the_entry_cannot(tmp_path):
    file, local = tmp_path / "in.arrow", fs.LocalFileSystem()
    for date in (None, 4e9) * 5:  # at any moment of the system's ticks, and with a date that somebody has set
        file.write_bytes(b"one")
        if date:
            os.utime(file, (date, date))
        before = stamp_of(local, str(file), "in", settled=True)
        assert before.fits(stamp_of(local, str(file), "in"))
        file.write_bytes(b"two")
        os.utime(file, ns=(before.written_ns, before.written_ns))
        after = stamp_of(local, str(file), "in")
        assert (after.bytes, after.written_ns) == (before.bytes, before.written_ns)
        assert not before.fits(after)
        # Another machine may have a copy.
        assert before.fits(replace(after, machine="another"))
