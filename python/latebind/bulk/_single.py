"""Assembles finished shards into one output file: FILE.parquet, FILE.npy or FILE.jsonl. FILE.part has unfinished work."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import fs
from pyarrow import parquet as pq

from ..errors import CallerError
from ._batches import METADATA_KEY
from ._manifest import BEGUN, NAME, SKIPPED, VECTORS
from ._shards import name_of, write_parquet
from ._store import Store

if TYPE_CHECKING:
    from ._inputs import InputFile
    from ._shards import Job

_JSON_LINES = (".jsonl", ".ndjson")
_ENDINGS = (".parquet", ".pq", ".npy", *_JSON_LINES)
# The suffixes of files for ids that the format cannot hold, and for skipped rows.
IDS = ".ids.jsonl"
SKIPPED_ROWS = ".skipped.parquet"


def is_single(filesystem: Any, path: str) -> bool:
    """Whether an output is one file: by its name, unless a folder of that name exists."""
    if os.path.splitext(path)[1].lower() not in _ENDINGS:
        return False
    return bool(filesystem.get_file_info(path).type != fs.FileType.Directory)


def has_no_columns(path: str) -> bool:
    """Whether its format has vectors, and ids at most."""
    return _is_npy(path) or _is_json_lines(path)


def _is_npy(path: str) -> bool:
    return path.lower().endswith(".npy")


def _is_json_lines(path: str) -> bool:
    return path.lower().endswith(_JSON_LINES)


def check_single(path: str, files: Sequence[InputFile], kept: Sequence[str] | None) -> None:
    """Checks that the inputs fit into one file.

    Raises:
        CallerError: the inputs have different columns, which one Parquet file cannot hold.
    """
    if has_no_columns(path):
        return
    first = _kept(files[0].schema, kept)
    for file in files[1:]:
        if not _kept(file.schema, kept).equals(first):
            raise CallerError(
                f"{file.name} has other columns than {files[0].name}, but an output of one file needs the same for all: give a folder "
                "as output, or keep one column with --id-column"
            )


def _kept(schema: pa.Schema, names: Sequence[str] | None) -> pa.Schema:
    return schema if names is None else pa.schema([schema.field(name) for name in names])


# What FILE.part may contain: the folders of shards, and files, including those of the program's outputs.
_FOLDERS = (VECTORS, SKIPPED, BEGUN)
_FILES = (NAME, "progress.json", "vectors", "ids", ".lock")
_SHARD = re.compile(r"part-\d+\.parquet")


def check_part(store: Store) -> None:
    """Checks the contents of FILE.part.

    Raises:
        CallerError: FILE.part contains something that is not part of an unfinished output and must not be removed.
    """
    if store.filesystem.type_name == "local" and os.path.islink(store.root):
        raise CallerError(f"{store.root} is a link, but an unfinished output is kept there: remove it")
    there = store.entries("")
    found = [name for name, kind in there.items() if not _is_own(store, name, kind)]
    for folder in _FOLDERS:
        if there.get(folder) == "folder":
            found += [
                f"{folder}/{name}"
                for name, kind in store.entries(folder).items()
                if kind != "file" or not (store.is_temporary(name) or _SHARD.fullmatch(name))
            ]
    if found:
        raise CallerError(
            f"{store.root} has {min(found)!r} in it, which belongs to no unfinished output; move it away, or write to "
            "another file"
        )


def _is_own(store: Store, name: str, kind: str) -> bool:
    if kind == "folder":
        return name in _FOLDERS
    return kind == "file" and (name in _FILES or store.is_temporary(name))


class SingleOutput:
    """Makes the file of a completed job."""

    def __init__(self, job: Job, path: str, empty: pa.Table, id_column: str | None) -> None:
        """Prepares the output.

        Args:
            empty: a shard without rows.
            id_column: the column of ids, for a format without columns; None if there is none.
        """
        self._job = job
        self._empty = empty
        self._id_column = id_column
        folder, _, self._name = path.rpartition("/")
        self._place = Store(job.store.filesystem, folder)

    def make(self) -> None:
        """Writes the file.

        Raises:
            TransientError: the file cannot be written.
        """
        if _is_npy(self._name):
            self._make_npy()
        elif _is_json_lines(self._name):
            self._make_json_lines()
        else:
            self._make_parquet(self._name, VECTORS, self._job.embed.vector_column)
        skipped = f"{self._name}{SKIPPED_ROWS}"
        if self._job.store.names(SKIPPED):
            self._make_parquet(skipped, SKIPPED, None)
        elif self._place.has(skipped):
            self._place.remove(skipped)  # of the replaced output

    def _shards(self, folder: str) -> Iterator[pa.Table]:
        there = set(self._job.store.names(folder))
        for shard in range(len(self._job)):
            if name_of(shard) in there:
                with self._job.store.open(f"{folder}/{name_of(shard)}") as file:
                    yield pq.ParquetFile(file, page_checksum_verification=True).read()

    def _make_parquet(self, name: str, folder: str, vector_column: str | None) -> None:
        def write(stream: Any) -> None:
            tables = self._shards(folder) if len(self._job) else iter([self._empty])
            write_parquet(map(_of_all_shards, tables), stream, vector_column)

        self._place.write_by(name, write)

    def _make_npy(self) -> None:
        rows = sum(table.num_rows for table in self._shards(VECTORS))
        column = self._job.embed.vector_column

        def write(stream: Any) -> None:
            size = self._job.embed.encoding["dimensions"] or self._job.embed.answers().dimension
            header = {"descr": "<f4", "fortran_order": False, "shape": (rows, size)}
            np.lib.format.write_array_header_1_0(stream, header)
            for table in self._shards(VECTORS):
                vectors = table.column(column).combine_chunks()
                stream.write(np.ascontiguousarray(vectors.flatten(), "<f4"))

        def write_ids(stream: Any) -> None:
            for table in self._shards(VECTORS):
                lines = (json.dumps(value, default=str) + "\n" for value in table.column(self._id_column).to_pylist())
                stream.write("".join(lines).encode())

        beside = f"{self._name}{IDS}"
        if self._id_column is not None:
            self._place.write_by(beside, write_ids)
        elif self._place.has(self._name) and self._place.has(beside):
            self._place.remove(beside)  # of the replaced output
        self._place.write_by(self._name, write)

    def _make_json_lines(self) -> None:
        """As the program writes them: the shortest numbers that read back as the same of 32 bits."""
        column = self._job.embed.vector_column

        def write(stream: Any) -> None:
            index = 0
            for table in self._shards(VECTORS):
                vectors = table.column(column).combine_chunks()
                rows = np.asarray(vectors.flatten(), np.float32).reshape(table.num_rows, -1)
                ids = [None] * table.num_rows if self._id_column is None else table.column(self._id_column).to_pylist()
                for row, its_id in zip(rows, ids, strict=True):
                    known = "" if its_id is None else f'"id":{json.dumps(its_id, default=str)},'
                    stream.write(f'{{"index":{index},{known}"embedding":[{",".join(map(str, row))}]}}\n'.encode())
                    index += 1

        self._place.write_by(self._name, write)


def _of_all_shards(table: pa.Table) -> pa.Table:
    """Returns the table of a shard with only the parts of its label that all shards share."""
    label = json.loads((table.schema.metadata or {})[METADATA_KEY])
    for name in ("input", "result"):
        label.pop(name, None)
    return table.replace_schema_metadata({**(table.schema.metadata or {}), METADATA_KEY: json.dumps(label)})
