"""The command python -m latebind.bulk, and the guide."""

import contextlib
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys

import latebind
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from files_scene import device, embed, write
from latebind.bulk import (
    _batches,
    _engine,
    _follow,
    _shards,
)
from latebind.bulk.__main__ import main
from support import TINY
from tables import command, contents, run, run_snippets, snippets_with, table, texts, vectors_of

# -- The command --------------------------------------------------------------------------------------------------------


def test_the_command_reports(tmp_path, parquet):
    done = run(parquet, "-o", tmp_path / "out", "--shard-rows", 300)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for part in ("1000 rows in 4 shards", "rows/s", "tokens:", f"{device()} f32 100.0%", "fallbacks: 0", "skipped: 0"):
        assert part in done.stdout
    report = json.loads(run(parquet, "-o", tmp_path / "out", "--shard-rows", 300, "--json").stdout)
    with latebind.Embedder(TINY) as embedder:
        assert report["tokens"] == embedder.count_tokens(texts(1000)).sum()
    assert report["devices"] == {f"{device()} f32": 1.0}


def test_on_a_terminal_it_says_how_far_it_is(tmp_path, parquet):
    here, there = pty.openpty()
    done = subprocess.run(
        command(parquet, "-o", tmp_path / "out", "--shard-rows", 100),
        stdout=subprocess.PIPE,
        stderr=there,
        check=False,
        timeout=100,
    )
    os.close(there)
    shown = os.read(here, 1 << 20).decode()
    os.close(here)
    assert done.returncode == 0
    assert "500 of 1000 rows (50.0%), " in shown
    assert "rows/s, 0 min" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.parquet"], "nowhere.parquet is not there"),
        (["in.parquet", "--text-column", "other"], "no column 'other'; the columns are: id, body"),
        (["in.parquet", "--id-column", "other"], "no column 'other'"),
        (["in.dat"], "has an unsupported format"),
        (["in.parquet", "in.parquet"], "given twice"),
        (["."], "is in the input ."),
        (["in.parquet", "--shard-rows", "0"], "shard_rows is 0"),
        (["in.parquet", "--model", "./nowhere"], "nowhere"),
        (["in.parquet", "--set", "thread=2"], "thread"),
        (["in.parquet", "--set", "shard_rows=2"], "'shard_rows' is not a setting"),
        (["broken.parquet"], "cannot be read as parquet"),
        (["broken.jsonl"], "cannot be read as jsonl"),
        (["in.parquet", "--ray-cpus", "1"], "the local engine has no option"),
        (["what://in.parquet"], "cannot be used"),
        (["in.parquet", "--on-error", "ignore"], "invalid choice"),
        ([], "required: IN"),
    ],
)
def test_what_cannot_be_right_ends_with_2(tmp_path, parquet, arguments, message, monkeypatch, capsys):
    for name in ("in.dat", "broken.parquet", "broken.jsonl"):
        (tmp_path / name).write_text('{"body": \n')
    monkeypatch.chdir(tmp_path)
    usual = ["-o", "out", "--model", str(TINY), "--text-column", "body"]
    try:
        code = main([*usual, *arguments])
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    assert message in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "out" / "vectors").exists()


def interrupted(arguments, is_time):
    """The code and the last line of the command, which Ctrl-C ends once `is_time`."""
    here, there = pty.openpty()
    process = subprocess.Popen(arguments, stderr=there, stdout=subprocess.DEVNULL)
    os.close(there)
    shown = ""
    while not is_time(shown):
        shown += os.read(here, 1 << 16).decode()
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(OSError):  # as a terminal ends
        while more := os.read(here, 1 << 16):
            shown += more.decode()
    os.close(here)
    return process.wait(timeout=60), shown.splitlines()[-1].rpartition("\x1b[K")[2]


def test_ctrl_c_keeps_finished_shards_and_it_goes_on(tmp_path):
    write(table(20_000), tmp_path / "in.parquet")
    arguments = command(tmp_path / "in.parquet", "-o", tmp_path / "out", "--shard-rows", 1000)
    code, line = interrupted(arguments, lambda _: list(tmp_path.glob("out/vectors/part-*")))
    assert code == 130
    kept = re.fullmatch(
        r"latebind\.bulk: interrupted: (\d+) of 20000 rows are kept in .*out; run the same command again to continue",
        line,
    )
    assert kept and 0 < int(kept[1]) < 20_000, line
    assert not list(tmp_path.glob("out/vectors/.part-*"))
    assert subprocess.run(arguments, stdout=subprocess.DEVNULL, check=False).returncode == 0
    assert np.array_equal(vectors_of(tmp_path / "out")["id"].to_numpy(), np.arange(20_000))


def test_ctrl_c_within_a_shard_keeps_its_windows(tmp_path):
    """The report counts only what this run has done, and the bytes are those of one run."""
    write(table(200_000), tmp_path / "in.parquet")
    arguments = [tmp_path / "in.parquet", "--shard-rows", 200_000]
    code, line = interrupted(command(*arguments, "-o", tmp_path / "out"), lambda shown: "[K8192 of" in shown)
    assert code == 130
    kept = int(re.search(r"interrupted: (\d+) of 200000 rows are kept", line)[1])
    assert 8192 <= kept < 200_000 and kept % 1024 == 0
    assert [file.name for file in (tmp_path / "out" / "begun").iterdir()] == ["part-000000.parquet"]
    assert run(*arguments, "--normalize", "-o", tmp_path / "out").returncode == 2  # it belongs to another run
    code, line = interrupted(command(*arguments, "-o", tmp_path / "out"), lambda shown: f"[K{kept + 1024} of" in shown)
    assert code == 130 and int(re.search(r"interrupted: (\d+) of", line)[1]) > kept
    assert run(*arguments, "-o", tmp_path / "out").returncode == 0
    assert run(*arguments, "-o", tmp_path / "whole").returncode == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_what_is_kept_of_another_shard_or_damaged_is_not_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(_batches, "WINDOW_ROWS", 100)
    write(table(1000), tmp_path / "in.parquet")

    class Interrupting(_follow.ShardFollower):
        def add(self, vectors, counts):
            super().add(vectors, counts)
            if len(vectors) == 200:
                raise KeyboardInterrupt

    embed(tmp_path / "in.parquet", tmp_path / "whole", shard_rows=500)
    for damage in (
        lambda file: None,
        lambda file: file.write_bytes(file.read_bytes()[:-9]),
        lambda file: file.write_bytes(file.read_bytes().replace(b"normalize", b"normalise")),
        lambda file: shutil.copy(file, file.with_name("part-000001.parquet")),
        lambda file: file.write_bytes(b""),
    ):
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt, match="^200 of 1000 rows are kept"):
            patch.setattr(_engine, "ShardFollower", Interrupting)
            embed(tmp_path / "in.parquet", tmp_path / "out", shard_rows=500)
        (file,) = (tmp_path / "out" / "begun").iterdir()
        damage(file)
        embed(tmp_path / "in.parquet", tmp_path / "out", shard_rows=500)
        assert contents(tmp_path / "out") == contents(tmp_path / "whole")
        shutil.rmtree(tmp_path / "out")


def test_long_shards_are_kept_from_time_to_time(tmp_path, monkeypatch):
    monkeypatch.setattr(_batches, "WINDOW_ROWS", 100)
    monkeypatch.setattr(_follow, "_SAVE_SECONDS", 0)
    kept = []
    monkeypatch.setattr(
        _shards.Job, "keep_begun", lambda self, shard, answers, vectors, counts: kept.append(len(vectors))
    )
    write(table(450), tmp_path / "in.parquet")
    embed(tmp_path / "in.parquet", tmp_path / "out", shard_rows=300)
    assert kept == [100, 200, 300, 100, 150]


def test_the_help_needs_no_pyarrow_and_the_work_says_what_to_install(tmp_path):
    (tmp_path / "pyarrow.py").write_text("raise ImportError('no pyarrow')")
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])}
    call = lambda *words: subprocess.run(
        [sys.executable, *words], env=env, capture_output=True, encoding="utf-8", check=False
    )
    done = call("-m", "latebind.bulk", "--help")
    assert (done.returncode, done.stderr) == (0, "") and "--text-column" in done.stdout
    assert call("-m", "latebind.bulk").returncode == 2
    done = call(*command("in.parquet", "-o", tmp_path / "out")[1:])
    line = 'latebind.bulk needs pyarrow; run: pip install "pyarrow>=16"'
    assert (done.returncode, done.stderr) == (1, f"latebind.bulk: {line}\n")
    done = call(
        "-c",
        "import latebind.bulk\ntry: latebind.bulk.EmbedBatches\nexcept latebind.LibraryError as error: print(error)",
    )
    assert done.stdout == line + "\n" and done.stderr == ""
    assert "has no attribute" in call("-c", "import latebind.bulk; latebind.bulk.nothing").stderr


def test_an_input_within_the_output_is_refused_and_stays(tmp_path):
    (tmp_path / "out" / "vectors").mkdir(parents=True)
    file = tmp_path / "out" / "vectors" / "part-000000.parquet"
    pq.write_table(table(3), file)
    before = file.read_bytes()
    (tmp_path / "link").symlink_to(tmp_path / "out")
    for source in (file, tmp_path / "out" / "vectors", tmp_path / "link" / "vectors", tmp_path / "out" / ".." / "out"):
        with pytest.raises(latebind.CallerError, match=r"(input|output) .* is in the (input|output)"):
            embed(source, tmp_path / "out")
    assert file.read_bytes() == before
    # What was left by another output is not taken for this one's.
    pq.write_table(table(3), tmp_path / "in.parquet")
    with pytest.raises(latebind.CallerError, match="has files and no"):
        embed(tmp_path / "in.parquet", tmp_path / "out")


def test_columns_of_views_and_lost_files_of_skipped_rows(tmp_path):
    texts = pa.table(
        {"body": pa.array(["a", "b"], pa.string_view()), "other": pa.array([b"x", b"y"], pa.binary_view())}
    )
    pq.write_table(texts, tmp_path / "views.parquet")
    assert embed(tmp_path / "views.parquet", tmp_path / "out").rows == 2
    pq.write_table(pa.table({"body": ["a", None]}), tmp_path / "null.parquet")
    for done in (1, 0):
        report = embed(tmp_path / "null.parquet", tmp_path / "skipping", on_error="skip")
        assert (report.skipped, report.shards_done) == (1, done)
    (lost,) = (tmp_path / "skipping" / "skipped").iterdir()
    lost.unlink()
    assert embed(tmp_path / "null.parquet", tmp_path / "skipping", on_error="skip").shards_done == 1
    assert lost.is_file()


@pytest.mark.parametrize("line", ["5", "null", "[" * 200_000, '{"body": "a"}\n' + "[" * 200_000, '"a"'])
def test_lines_of_json_that_are_no_objects_are_refused(tmp_path, line):
    (tmp_path / "in.jsonl").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(latebind.CallerError, match=r"in\.jsonl"):
        embed(tmp_path / "in.jsonl", tmp_path / "out")


def test_a_report_that_cannot_be_written_is_one_line(tmp_path, parquet):
    arguments = command(parquet, "-o", tmp_path / "out", "--json")
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, encoding="utf-8", check=False)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "finished, but cannot write the report" in done.stderr


# -- The guide ----------------------------------------------------------------------------------------------------------


def test_the_guide(tmp_path):
    names = run_snippets(tmp_path, "embed_files", "EmbedBatches")
    assert names["report"].rows == 300
    assert names["table"]["vector"].type == pa.list_(pa.float32(), 384)
    # Those of the engines run where these are: ray_test.py, spark_test.py, daft_test.py.
    assert len(snippets_with("python", "")) == 5


def test_the_commands_of_the_guide(tmp_path):
    pq.write_table(table(300), tmp_path / "articles.parquet")
    first, again = snippets_with("sh", "latebind.bulk articles")
    first, again = (each.replace("python -m", f"{sys.executable} -m") for each in (first, again))
    assert "300 rows in 1 shard\n" in subprocess.check_output(first, shell=True, cwd=tmp_path, encoding="utf-8")
    assert json.loads(subprocess.check_output(again, shell=True, cwd=tmp_path))["shards_done"] == 0
