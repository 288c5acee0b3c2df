"""Ray Data, on a cluster of two nodes on this machine; workers and a node are killed in the middle."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import latebind
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from latebind.bulk import EmbedBatches, RowError, embed_files, embed_ray
from support import TINY
from tables import command, contents, run_snippets, table, vectors_of

# Before Ray is imported: neither a file in the home folder, nor a word to anybody.
# And its workers have as much of a busy machine as others.
os.environ |= {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}

import ray
from ray.cluster_utils import Cluster

NODE = {"num_cpus": 1, "resources": {"intel_npu": 1}, "object_store_memory": 100 << 20}
# One thread, so that the output is that of the local engine whatever the node.
SETTINGS = {"threads": 1, "shard_rows": 100}


@pytest.fixture(scope="module")
def cluster():
    found = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    found.add_node(**NODE)
    found.wait_for_nodes()
    ray.init(address=found.address, log_to_driver=False)
    yield found
    ray.shutdown()
    found.shutdown()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An input of 80 shards, and what the local engine makes of it."""
    folder = tmp_path_factory.mktemp("whole")
    pq.write_table(table(8000), folder / "in.parquet", row_group_size=700)
    embed_files(folder / "in.parquet", folder / "out", TINY, "body", **SETTINGS)
    return folder


def workers(node, name_begins=b"ray::_Shards"):
    """The processes of actors on a node."""
    raylet = node.all_processes["raylet"][0].process.pid
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name = (folder / "cmdline").read_bytes()
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == raylet and name.startswith(name_begins):
            found.append(int(folder.name))
    return found


def all_at_work(cluster, wanted):
    """The processes of actors, once there are so many: until then those that are there rest, so that work is left."""
    resting = set()
    end = time.monotonic() + 90
    try:
        while True:
            found = [pid for node in cluster.list_all_nodes() for pid in workers(node)]
            if len(found) >= wanted or time.monotonic() > end:
                return found
            for pid in found:
                os.kill(pid, signal.SIGSTOP)
                resting.add(pid)
            time.sleep(0.05)
    finally:
        for pid in resting:
            os.kill(pid, signal.SIGCONT)


def while_at_work(whole, out, shards, act, concurrency):
    """Embeds on Ray; act() comes when there are so many shards. What act() gave, and the report."""
    acted = []

    def watch():
        while len(list(out.glob("vectors/part-*"))) < shards:
            time.sleep(0.01)
        acted.append(act())

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    report = embed_files(
        whole / "in.parquet",
        out,
        TINY,
        "body",
        engine="ray",
        engine_options={"concurrency": concurrency, "num_cpus": 1},
        **SETTINGS,
    )
    thread.join()
    return acted[0], report


def check(whole, out, report):
    assert (report.rows, report.shards_done) == (8000, 80)
    assert contents(out) == contents(whole / "out")
    assert np.array_equal(vectors_of(out)["id"].to_numpy(), np.arange(8000))


def test_a_dataset_gets_a_column(cluster):
    rows = table(1000)
    dataset = embed_ray(
        ray.data.from_arrow(rows),
        TINY,
        "body",
        concurrency=(1, 2),
        resources={"intel_npu": 1},
        batch_size=250,
        threads=1,
    )
    found = pa.concat_tables(ray.get(dataset.to_arrow_refs())).sort_by("id").combine_chunks()
    assert found.column_names == ["id", "body", "vector"]
    assert found.schema.field("vector").type == pa.list_(pa.float32(), 32)
    embed = EmbedBatches(TINY, "body", threads=1)
    expected = np.stack(
        [
            vector
            for start in range(0, 1000, 250)
            for vector in embed(rows.slice(start, 250))["vector"].to_numpy(zero_copy_only=False)
        ]
    )
    assert np.array_equal(np.stack(found["vector"].to_numpy(zero_copy_only=False)), expected)


def test_a_dataset_loses_nothing_with_a_killed_worker(cluster):
    rows = table(3000)
    killed = []

    def kill():
        end = time.monotonic() + 90
        while not killed and time.monotonic() < end:
            killed.extend(pid for node in cluster.list_all_nodes() for pid in workers(node, b"ray::MapWorker"))
            time.sleep(0.01)
        os.kill(killed[0], signal.SIGKILL)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    dataset = embed_ray(
        ray.data.from_arrow(rows),
        TINY,
        "body",
        concurrency=(1, 2),
        resources={"intel_npu": 1},
        batch_size=50,
        threads=1,
    )
    found = pa.concat_tables(ray.get(dataset.to_arrow_refs())).sort_by("id").combine_chunks()
    thread.join()
    assert killed
    assert found["id"].to_pylist() == list(range(3000))
    whole = EmbedBatches(TINY, "body", threads=1)(rows)
    made, expected = (np.stack(one["vector"].to_numpy(zero_copy_only=False)) for one in (found, whole))
    np.testing.assert_allclose(made, expected, atol=1e-6)


def test_what_a_row_did_is_told(cluster, tmp_path):
    pq.write_table(pa.table({"body": ["the cat", None]}), tmp_path / "in.parquet")
    with pytest.raises(RowError, match=r"in\.parquet, rows from 0 on: row 1 "):
        embed_files(tmp_path / "in.parquet", tmp_path / "out", TINY, "body", engine="ray")
    with pytest.raises(latebind.CallerError, match="did you mean threads"):
        embed_files(tmp_path / "in.parquet", tmp_path / "other", TINY, "body", engine="ray", thread=1)


def test_by_the_command(cluster, whole, tmp_path):
    arguments = command(
        whole / "in.parquet",
        "-o",
        tmp_path / "out",
        "--shard-rows",
        100,
        "--set",
        "threads=1",
        "--engine",
        "ray",
        "--ray-actors",
        "1,2",
        "--ray-cpus",
        1,
        "--ray-resource",
        "intel_npu=1",
    )
    # The local engine has done half of it.
    embed_files(whole / "in.parquet", tmp_path / "out", TINY, "body", **{**SETTINGS, "threads": "1"})
    for shard in range(0, 80, 2):
        (tmp_path / "out" / "vectors" / f"part-{shard:06d}.parquet").unlink()
    done = subprocess.run(
        arguments,
        env={**os.environ, "RAY_ADDRESS": cluster.address},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "8000 rows in 80 shards\nthis run: 4000 rows" in done.stdout
    assert np.array_equal(vectors_of(tmp_path / "out")["id"].to_numpy(), np.arange(8000))


def test_the_guide(cluster, tmp_path):
    run_snippets(tmp_path, "embed_ray")
    found = pq.read_table(tmp_path / "by-ray").sort_by("id").to_pydict()
    assert found["id"] == list(range(300))
    assert {len(vector) for vector in found["vector"]} == {384}


def test_a_killed_worker_loses_nothing(cluster, whole, tmp_path):
    def kill():
        victims = all_at_work(cluster, 2)
        os.kill(victims[-1], signal.SIGKILL)
        return len(victims)

    count, report = while_at_work(whole, tmp_path / "out", 10, kill, 2)
    assert count == 2
    check(whole, tmp_path / "out", report)


def test_losing_every_worker_is_an_error_and_none_is_left(cluster, whole, tmp_path):
    is_over = threading.Event()

    def kill_all():
        while not is_over.is_set():
            for node in cluster.list_all_nodes():
                for pid in workers(node):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

    thread = threading.Thread(target=kill_all, daemon=True)
    thread.start()
    try:
        with pytest.raises(latebind.TransientError, match="Ray has given up|was lost with its actor 4 times"):
            embed_files(whole / "in.parquet", tmp_path / "out", TINY, "body", engine="ray", **SETTINGS)
    finally:
        is_over.set()
        thread.join()
    # Run again, it goes on.
    assert embed_files(whole / "in.parquet", tmp_path / "out", TINY, "body", engine="ray", **SETTINGS).rows == 8000
    assert contents(tmp_path / "out") == contents(whole / "out")
    end = time.monotonic() + 30
    while any(workers(node) for node in cluster.list_all_nodes()) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(workers(node) for node in cluster.list_all_nodes())


def test_nor_does_a_node(cluster, whole, tmp_path):
    lost = next(node for node in cluster.list_all_nodes() if node is not cluster.head_node)

    def remove():
        all_at_work(cluster, 2)
        count = len(workers(lost))
        cluster.remove_node(lost, allow_graceful=False)
        return count

    count, report = while_at_work(whole, tmp_path / "out", 10, remove, (1, 2))
    assert count == 1
    check(whole, tmp_path / "out", report)


def test_a_cluster_that_loses_its_head(cluster, whole, tmp_path):
    """The last one: it is not there any more afterwards."""
    line = command(
        *(whole / "in.parquet", "-o", tmp_path / "out", "--shard-rows", 100, "--set", "threads=1"),
        *("--engine", "ray", "--ray-actors", 1, "--ray-cpus", 1),
    )
    environment = os.environ | {"RAY_ADDRESS": cluster.address, "RAY_gcs_rpc_server_reconnect_timeout_s": "5"}
    job = subprocess.Popen(line, env=environment, stderr=subprocess.PIPE, encoding="utf-8")
    while len(list(tmp_path.glob("out/vectors/part-*"))) < 10 and job.poll() is None:
        time.sleep(0.01)
    nodes = cluster.list_all_nodes()
    lost = [node.all_processes["raylet"][0].process.pid for node in nodes]
    for pid in [*all_at_work(cluster, 1), cluster.head_node.all_processes["gcs_server"][0].process.pid, *lost]:
        os.kill(pid, signal.SIGKILL)
    _, said = job.communicate(timeout=200)
    assert job.returncode == 1
    assert "Traceback" not in said
    assert [line for line in said.splitlines() if line.startswith("latebind.bulk: ") and "run again" in line], said
    settings = SETTINGS | {"threads": "1"}
    report = embed_files(whole / "in.parquet", tmp_path / "out", TINY, "body", **settings)
    assert (report.rows, report.shards_done < 71) == (8000, True)
    embed_files(whole / "in.parquet", tmp_path / "reference", TINY, "body", **settings)
    assert contents(tmp_path / "out") == contents(tmp_path / "reference")
