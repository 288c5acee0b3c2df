#!/usr/bin/env python3
"""Local bulk work beside the same on Ray Data, on two nodes that share the cores: rates and their ratio.

Short rows are generated and written in bounded memory; both runs read the same file. The nodes have half of the cores
each, and their models as many threads; the local run has all. Timed is what the report of a run has: for Ray the start of
the actors and their models is in it, that of the cluster is not.

With --stages what surrounds the computation is timed instead, by itself, on one thread: a file read through for its digest,
its rows read, texts tokenized, shards of vectors written.

usage: bench/bulk.py MODEL [--rows 1000000] [--shard-rows 16384] [--library PATH] [--folder FOLDER] [--stages] [--json]

Run it with the interpreter of scripts/setup test (build/runtime/bulk/bin/python), LATEBIND_LIBRARY naming
liblatebind.so, and PYTHONPATH python/. Ratios count on a machine that does nothing else.
"""

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

# Nothing of Ray's in the home folder, and no word to anybody.
os.environ |= {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}

WORDS = ("account bank river cat window money house green letter small market water paper morning road teacher number stone "
         "music garden engine winter answer question table").split()


def generate(file, rows):
    """Rows of three to nine words, the same for the same number, a group of 65,536 at a time."""
    chance = random.Random(7)
    schema = pa.schema([("id", pa.int64()), ("body", pa.string())])
    with pq.ParquetWriter(file, schema) as writer:
        for first in range(0, rows, 65536):
            count = min(65536, rows - first)
            body = [" ".join(chance.choices(WORDS, k=chance.randint(3, 9))) for _ in range(count)]
            writer.write_table(pa.table([range(first, first + count), body], schema=schema))


def stages(model, folder, rows, shard_rows):
    """Rows a second of each stage."""
    import numpy as np
    from latebind import Embedder
    from latebind.bulk._inputs import find, scan
    from latebind.bulk._reader import Reader
    from latebind.bulk._shards import _parquet

    def rate(work):
        start = time.monotonic()
        work()
        return rows / (time.monotonic() - start)

    place = find([folder / "in.parquet"])[0]
    file = scan(*place, "body", shard_rows)
    shards = file.shards(shard_rows)
    reader = Reader(file, "body", None, shard_rows)
    vectors = np.random.default_rng(7).standard_normal((shard_rows, 384), np.float32)
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), 384)
    table = pa.table({"id": range(shard_rows), "vector": column})

    with Embedder(model) as embedder:
        texts = reader.read(0)["body"]
        start = time.monotonic()
        tokens = int(embedder.count_tokens(texts).sum())
        tokenized = tokens / (time.monotonic() - start)

    def write():
        for shard in range(shards):
            (folder / f"out-{shard % 4}.parquet").write_bytes(_parquet(table, "vector"))

    return {
        "rows": rows,
        "scan_rows_per_second": rate(lambda: scan(*place, "body", shard_rows)),
        "read_rows_per_second": rate(lambda: [reader.read(shard) for shard in range(shards)]),
        "tokenized_tokens_per_second": tokenized,
        "write_rows_per_second": rate(write),
        "bytes_of_a_written_row": (folder / "out-0.parquet").stat().st_size / shard_rows,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--shard-rows", type=int, default=16384)
    parser.add_argument("--library", help="where OpenVINO is")
    parser.add_argument("--folder", help="for input and output; a temporary one unless given")
    parser.add_argument("--stages", action="store_true", help="what surrounds the computation, instead")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.library:
        os.environ["LATEBIND_OPENVINO_LIBRARY"] = given.library

    from latebind.bulk import embed_files

    with tempfile.TemporaryDirectory(dir=given.folder) as temporary:
        folder = Path(temporary)
        generate(folder / "in.parquet", given.rows)
        if given.stages:
            print(json.dumps(stages(given.model, folder, given.rows, given.shard_rows), indent=2))
            return
        arguments = {"id_column": "id", "shard_rows": given.shard_rows, "show_progress": True}
        cores = len(os.sched_getaffinity(0))

        local = embed_files(folder / "in.parquet", folder / "local", given.model, "body", threads=cores, **arguments)
        print(f"local: {local.rows_per_second:.1f} rows/s", file=sys.stderr)

        import ray
        from ray.cluster_utils import Cluster

        node = {"num_cpus": max(cores // 2, 1), "object_store_memory": 200 << 20}
        cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
        cluster.add_node(**node)
        cluster.wait_for_nodes()
        ray.init(address=cluster.address, log_to_driver=False)
        on_ray = embed_files(folder / "in.parquet", folder / "ray", given.model, "body", engine="ray",
                             engine_options={"concurrency": 2, "num_cpus": node["num_cpus"]},
                             threads=node["num_cpus"], **arguments)
        ray.shutdown()
        cluster.shutdown()

        found = {
            "rows": given.rows,
            "cores": cores,
            "device": next(iter(local.devices)),
            "local_rows_per_second": local.rows_per_second,
            "local_tokens_per_second": local.tokens_per_second,
            "ray_rows_per_second": on_ray.rows_per_second,
            "ray_to_local": on_ray.rows_per_second / local.rows_per_second,
            "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
        assert local.rows == on_ray.rows == given.rows
    if given.json:
        print(json.dumps(found, indent=2))
        return
    print(f"{found['rows']} rows, {cores} cores, {found['device']}")
    print(f"local           {local.rows_per_second:10.1f} rows/s {local.tokens_per_second:10.0f} tokens/s")
    print(f"Ray, two nodes  {on_ray.rows_per_second:10.1f} rows/s {on_ray.tokens_per_second:10.0f} tokens/s")
    print(f"ratio           {found['ray_to_local']:10.3f}")
    print(f"peak memory of this process {found['peak_mib']:.0f} MiB")


if __name__ == "__main__":
    main()
