"""Spark in this machine's local mode, with a Python worker that is killed in the middle."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import latebind
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from latebind.bulk import EmbedBatches, RowError, embed_files, embed_spark
from support import TINY
from tables import contents, run_snippets, table, vectors_of

os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}

from pyspark.errors import PythonException
from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    found = (
        SparkSession.builder.master("local[2,4]")  # a task may fail three times
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")  # starts sooner
        .config("spark.sql.shuffle.partitions", 1)
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", 300)
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        .getOrCreate()
    )
    yield found
    found.stop()


def test_a_data_frame_gets_a_column(session):
    rows = table(1000)
    frame = embed_spark(session.createDataFrame(rows.to_pandas()).coalesce(1), TINY, "body", threads=1)
    assert frame.dtypes == [("id", "bigint"), ("body", "string"), ("vector", "array<float>")]
    found = frame.toPandas().sort_values("id")
    embed = EmbedBatches(TINY, "body", threads=1)
    expected = np.concatenate(
        [
            np.stack(embed(rows.slice(start, 300))["vector"].to_numpy(zero_copy_only=False))
            for start in range(0, 1000, 300)
        ]
    )
    assert np.array_equal(np.stack(found["vector"]), expected)


def test_no_column_is_overwritten(session):
    frame = session.createDataFrame([("the cat", 1)], "body string, Vector long")
    with pytest.raises(latebind.CallerError, match="already a column 'vector'"):
        embed_spark(frame, TINY, "body")
    session.conf.set("spark.sql.caseSensitive", "true")
    try:
        assert embed_spark(frame, TINY, "body").columns == ["body", "Vector", "vector"]
        with pytest.raises(latebind.CallerError, match="2 columns 'body'"):
            embed_spark(frame.select("body", "body"), TINY, "body")
    finally:
        session.conf.unset("spark.sql.caseSensitive")


def test_bad_rows(session):
    frame = session.createDataFrame([(1, "the cat"), (2, None)], "id long, body string")
    one, two = embed_spark(frame, TINY, "body", on_error="skip").sort("id").collect()
    assert len(one.vector) == 32
    assert one.vector_error is None
    assert two.vector is None
    assert "null" in two.vector_error
    with pytest.raises(PythonException, match="of column 'body' cannot be embedded"):
        embed_spark(frame, TINY, "body").collect()
    with pytest.raises(latebind.CallerError, match="no column 'other'"):
        embed_spark(frame, TINY, "other")


def python_workers():
    """The processes below this one that Spark has for Python, apart from the one that they are made from."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = (
                int((folder / "stat").read_text().rpartition(")")[2].split()[1]),
                (folder / "cmdline").read_bytes(),
            )
        except OSError:
            continue
    daemons = [
        pid
        for pid, (_, name) in parents.items()
        if b"pyspark.daemon" in name
        and b"java" in parents.get(parents[pid][0], (0, b""))[1]
        and parents[parents[pid][0]][0] == os.getpid()
    ]
    return [pid for pid, (parent, _) in parents.items() if parent in daemons]


def test_files_with_a_worker_killed(session, tmp_path):
    pq.write_table(table(4000), tmp_path / "in.parquet", row_group_size=700)
    settings = {"threads": 1, "shard_rows": 100}
    embed_files(tmp_path / "in.parquet", tmp_path / "whole", TINY, "body", **settings)
    killed = []

    def kill():
        while len(list(tmp_path.glob("out/vectors/part-*"))) < 6:
            time.sleep(0.01)
        killed.append(python_workers()[-1])
        os.kill(killed[0], signal.SIGKILL)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    report = embed_files(
        tmp_path / "in.parquet",
        tmp_path / "out",
        TINY,
        "body",
        engine="spark",
        engine_options={"session": session},
        **settings,
    )
    thread.join()
    assert killed
    assert (report.rows, report.shards_done) == (4000, 40)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert np.array_equal(vectors_of(tmp_path / "out")["id"].to_numpy(), np.arange(4000))


def test_what_a_row_did_is_told(session, tmp_path):
    pq.write_table(pa.table({"body": ["the cat", None]}), tmp_path / "in.parquet")
    with pytest.raises(RowError, match=r"in\.parquet, rows from 0 on: row 1 "):
        embed_files(tmp_path / "in.parquet", tmp_path / "out", TINY, "body", engine="spark")


def test_the_guide(session, tmp_path):
    run_snippets(tmp_path, "embed_spark")
    found = pq.read_table(tmp_path / "by-spark").sort_by("id").to_pydict()
    assert found["id"] == list(range(300))
    assert {len(vector) for vector in found["vector"]} == {384}
