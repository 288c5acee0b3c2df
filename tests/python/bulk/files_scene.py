"""What the tests of embed_files() share."""

import json

import latebind
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq
from latebind.bulk import (
    EmbedBatches,
    embed_files,
)
from support import TINY


def embed(source, output, **arguments):
    return embed_files(source, output, TINY, "body", **{"shard_rows": 300, **arguments})


def device():
    """Whichever CPU is the first one on this processor."""
    with latebind.Embedder(TINY) as embedder:
        return embedder.attestation.device


def expected(rows):
    """The vectors that rows must have: one call for each shard of 300."""
    batches = EmbedBatches(TINY, "body")
    return [batches(rows.slice(start, 300))["vector"].to_pylist() for start in range(0, rows.num_rows, 300)]


def found(output):
    return [pq.read_table(file)["vector"].to_pylist() for file in sorted((output / "vectors").iterdir())]


def write(rows, file):
    if file.suffix == ".parquet":
        pq.write_table(rows, file, row_group_size=130)
    elif file.suffix == ".arrow":
        with pa.ipc.new_file(file, rows.schema) as writer:
            writer.write_table(rows, 70)
    elif file.suffix == ".csv":
        pa.csv.write_csv(rows, file)
    else:
        file.write_text("".join(json.dumps(row) + "\n" for row in rows.to_pylist()), encoding="utf-8")
