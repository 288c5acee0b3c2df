"""Finds and identifies files of rows.

A shard is a range of rows of one file. Before anything is computed, every file is read once in full: for its digest,
and for text also for the positions where its shards begin, so that a shard can later be read by itself.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyarrow import fs, ipc
from pyarrow import parquet as pq

from ..errors import CallerError, LatebindError, MachineError
from ._identity import Stamp, stamp_of
from ._store import locate
from ._text_rows import SEPARATORS, TextRows, digest_of_piece, lines, scan_csv, scan_jsonl, scan_lines

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".txt": "txt",
}
# Formats that are also accepted with gzip compression, as .gz.
_PACKED = ("csv", "tsv", "jsonl", "txt")
_BLOCK = 4 << 20
# The part at the end of a file where Parquet describes the positions and contents of all columns.
_END = 64 << 10
# No format compresses identical rows more than this. A damaged file may claim any number.
_ROWS_MAX_A_BYTE = 1_000_000


@dataclass(frozen=True)
class InputFile:
    """A file of rows, as found.

    Attributes:
        name: the path or URI that the user gave, or a path below it.
        bytes, sha256: of the whole file.
        rows: the number of rows.
        groups: the rows of each part that can be read by itself (row groups, record batches); empty for text.
        starts: for text, the byte at which each shard begins, and the end of the last one, in unpacked bytes.
        pieces: for text, a digest of each shard's bytes; otherwise one digest of the file's end.
        schema: the columns; for text as they are read.
        separator: between the values of CSV.
        stamp: the observed state before and after the scan.
    """

    filesystem: Any = field(repr=False)
    path: str
    name: str
    format: str
    bytes: int
    sha256: str
    rows: int
    groups: tuple[int, ...]
    starts: tuple[int, ...]
    pieces: tuple[str, ...]
    schema: pa.Schema
    separator: str
    stamp: Stamp

    @property
    def is_packed(self) -> bool:
        """Whether it is compressed by gzip."""
        return _is_packed(self.path)

    def shards(self, shard_rows: int) -> int:
        return -(-self.rows // shard_rows)


def find(places: Sequence[str | os.PathLike[str]], input_format: str | None = None) -> list[tuple[Any, str, str, str]]:
    """Returns (filesystem, path, name, format) of all files in the given order, and within a folder by name, including
    subfolders.

    Args:
        input_format: the text format of named files; None: determined by their names.

    Raises:
        CallerError: a place is missing or empty, or a file's format is not supported.
    """
    if input_format is not None and input_format not in _PACKED:
        raise CallerError(f"input_format is {input_format!r}; give {', '.join(map(repr, _PACKED))}")
    found = []
    for place in places:
        filesystem, path = locate(place, "the input")
        name = os.fspath(place).rstrip("/") if "://" in os.fspath(place) else path
        try:
            info = filesystem.get_file_info(path)
        except (OSError, UnicodeError) as error:
            raise MachineError(f"the input {name!r} cannot be read: {error}") from error
        if info.type == fs.FileType.NotFound:
            raise CallerError(f"the input {name} is not there")
        if info.type == fs.FileType.Directory:
            try:
                every = filesystem.get_file_info(fs.FileSelector(path, recursive=True))
            except (OSError, UnicodeError) as error:
                raise MachineError(f"the folder {name!r} cannot be listed: {error}") from error
            kinds = {
                each.path: kind
                for each in every
                if each.is_file and not _is_hidden(each.path[len(path) + 1 :]) and (kind := _format_of(each.path))
            }
            # Texts beside tables are documentation.
            if set(kinds.values()) != {"txt"}:
                kinds = {file: kind for file, kind in kinds.items() if kind != "txt"}
            if not kinds:
                raise CallerError(f"the folder {name} has no file that ends in {_ENDINGS}")
            for file in sorted(kinds):
                found.append((filesystem, file, name + file[len(path) :], kinds[file]))
        elif kind := input_format or _format_of(path):
            found.append((filesystem, path, name, kind))
        else:
            raise CallerError(f"the input {name} has an unsupported format; its name must end in {_ENDINGS}")
    if not found:
        raise CallerError("there is no input; give files or folders")
    # Links can give a file several names, or make a folder contain itself.
    seen: dict[str, str] = {}
    for filesystem, path, name, _ in found:
        real = os.path.realpath(path) if filesystem.type_name == "local" else name
        if real in seen:
            also = "" if seen[real] == name else f", also as {seen[real]}"
            raise CallerError(f"the input {name} is given twice{also}")
        seen[real] = name
    return found


_ENDINGS = ", ".join([*FORMATS, *(f"{ending}.gz" for ending, kind in FORMATS.items() if kind in _PACKED)])


def _is_packed(path: str) -> bool:
    return path.lower().endswith(".gz")


def _format_of(path: str) -> str:
    """Returns the format by the file's extension; "" if it is not supported."""
    name = path.lower()
    kind = FORMATS.get(os.path.splitext(name.removesuffix(".gz"))[1], "")
    return kind if kind in _PACKED or not _is_packed(path) else ""


class _Counted:
    """A stream that is read once and computes the digest and the number of its bytes."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.digest = hashlib.sha256()
        self.bytes = 0

    def read(self, size: int = -1) -> bytes:
        block: bytes = self._stream.read(size)
        self.digest.update(block)
        self.bytes += len(block)
        return block


def blocks_of(stream: Any, is_packed: bool) -> Iterator[bytes]:
    """Yields the unpacked content of a stream.

    Raises:
        OSError, EOFError, zlib.error: it is not gzip data, or is truncated.
    """
    source = gzip.GzipFile(fileobj=stream, mode="rb") if is_packed else stream
    while block := source.read(_BLOCK):
        yield block


def _is_hidden(path: str) -> bool:
    # As in Spark and Arrow, whose writers leave auxiliary files with such names.
    return any(part.startswith((".", "_")) for part in path.split("/"))


def scan(filesystem: Any, path: str, name: str, format: str, text_column: str, shard_rows: int) -> InputFile:
    """Reads a whole file in bounded memory.

    Raises:
        CallerError: its content does not match its format.
        MachineError: it cannot be read.
    """
    digest, size = "", 0

    def blocks() -> Iterator[bytes]:
        nonlocal digest, size
        # Unmodified, because pyarrow would unpack files with such names.
        with filesystem.open_input_stream(path, compression=None) as stream:
            counted = _Counted(stream)
            yield from blocks_of(counted, _is_packed(path))
            digest, size = counted.digest.hexdigest(), counted.bytes

    stamp = stamp_of(filesystem, path, name, settled=True)
    groups: list[int] = []
    try:
        if format in SEPARATORS:
            found = scan_csv(lines(blocks()), shard_rows, SEPARATORS[format], text_column)
        elif format == "jsonl":
            found = scan_jsonl(lines(blocks()), shard_rows, text_column)
        elif format == "txt":
            found = scan_lines(lines(blocks()), shard_rows, text_column)
        else:
            for _ in blocks():
                pass
            with filesystem.open_input_file(path) as file:
                schema, groups = _scan_parquet(file) if format == "parquet" else _scan_arrow(file)
                found = TextRows(schema, sum(groups), (), (digest_of_piece(end_of(file)),))
            if min(groups, default=0) < 0 or found.rows > size * _ROWS_MAX_A_BYTE:
                raise ValueError(f"it declares {found.rows} rows in {size} bytes")
    except (pa.ArrowException, csv.Error, ValueError, OSError, EOFError, zlib.error) as error:
        raise error_of(filesystem, f"the input {name} cannot be read as {format}", error) from error
    if not stamp.fits(stamp_of(filesystem, path, name)):
        raise MachineError(f"the input {name} changed while it was scanned; run again")
    return InputFile(
        filesystem,
        path,
        name,
        format,
        size,
        digest,
        found.rows,
        tuple(groups),
        found.starts,
        found.pieces,
        found.schema,
        found.separator,
        stamp,
    )


def _scan_parquet(file: Any) -> tuple[pa.Schema, list[int]]:
    parquet = pq.ParquetFile(file)
    return parquet.schema_arrow, [parquet.metadata.row_group(at).num_rows for at in range(parquet.num_row_groups)]


def _scan_arrow(file: Any) -> tuple[pa.Schema, list[int]]:
    batches = ipc.open_file(file)
    return batches.schema, [batches.get_batch(at).num_rows for at in range(batches.num_record_batches)]


def end_of(file: Any) -> bytes:
    """Returns the last bytes of an open file."""
    file.seek(max(file.size() - _END, 0))
    found: bytes = file.read(_END)
    return found


def error_of(filesystem: Any, what: str, error: Exception) -> LatebindError:
    """Converts an error of reading: a MachineError, or a CallerError for a damaged file."""
    # pyarrow also raises an OSError for blocks that cannot be unpacked. An error of this system has a number.
    is_systems = isinstance(error, OSError) and (error.errno is not None or filesystem.type_name != "local")
    return (MachineError if is_systems else CallerError)(f"{what}: {error}")
