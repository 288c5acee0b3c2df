"""Files of rows: which there are, what identifies them, and how the rows of a shard are read.

A shard is a range of rows of one file. Every file is read once from its beginning to its end before anything is
computed: for its digest, and for text also for where its shards begin, so that a shard can be read by itself later.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import json
import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import fs, ipc
from pyarrow import json as arrow_json
from pyarrow import parquet as pq

from ..errors import CallerError, MachineError
from ._store import locate

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_BLOCK = 4 << 20


@dataclass(frozen=True)
class InputFile:
    """A file of rows, as it was found.

    Attributes:
        name: the path or URI that it was given by, or found below.
        bytes, sha256: of all of it.
        rows: how many.
        groups: rows of each part that can be read by itself (row groups, record batches); empty for text.
        starts: of text, the byte at which each shard begins, and where the last one ends.
        schema: the columns; of text as it is read.
        changed_ns: when it was last written to, before it was scanned; None where the filesystem does not say.
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
    schema: pa.Schema
    changed_ns: int | None = None

    def shards(self, shard_rows: int) -> int:
        return -(-self.rows // shard_rows)


# Lines of JSON with more brackets are looked at before pyarrow reads them, which has no limit of its own.
_DEPTH_MAX = 500
# As few digits as an integer can have that a double does not hold exactly.
_LONG_NUMBER = re.compile(rb"[0-9]{16}")
_EXACT_MAX = 1 << 53
# In errors of pyarrow's.
_ROW = re.compile(r"in row ([0-9]+)")


def find(places: Sequence[str | os.PathLike[str]]) -> list[tuple[Any, str, str, str]]:
    """(filesystem, path, name, format) of files, in the order given; those of a folder, with all below it, by name.

    Raises:
        CallerError: nothing there, or a file of a kind that is not read.
    """
    found = []
    for place in places:
        filesystem, path = locate(place, "the input")
        name = os.fspath(place).rstrip("/") if "://" in os.fspath(place) else path
        try:
            info = filesystem.get_file_info(path)
        except (OSError, UnicodeError) as error:
            raise MachineError(f"the input {name!r} cannot be looked at: {error}") from error
        if info.type == fs.FileType.NotFound:
            raise CallerError(f"the input {name} is not there")
        if info.type == fs.FileType.Directory:
            try:
                every = filesystem.get_file_info(fs.FileSelector(path, recursive=True))
            except (OSError, UnicodeError) as error:
                raise MachineError(f"the folder {name!r} cannot be looked through: {error}") from error
            files = [
                each
                for each in every
                if each.is_file and _suffix(each.path) in FORMATS and not _is_hidden(each.path[len(path) + 1 :])
            ]
            if not files:
                raise CallerError(f"the folder {name} has no file that ends in {', '.join(FORMATS)}")
            for each in sorted(files, key=lambda each: each.path):
                found.append((filesystem, each.path, name + each.path[len(path) :], FORMATS[_suffix(each.path)]))
        elif (suffix := _suffix(path)) in FORMATS:
            found.append((filesystem, path, name, FORMATS[suffix]))
        else:
            raise CallerError(f"the input {name} is of no kind that is read; its name must end in {', '.join(FORMATS)}")
    if not found:
        raise CallerError("there is no input; give files or folders")
    # By links a file has several names, and a folder may lie in itself.
    seen: dict[str, str] = {}
    for filesystem, path, name, _ in found:
        real = os.path.realpath(path) if filesystem.type_name == "local" else name
        if real in seen:
            also = "" if seen[real] == name else f", also as {seen[real]}"
            raise CallerError(f"the input {name} is given twice{also}")
        seen[real] = name
    return found


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def _is_hidden(path: str) -> bool:
    # As Spark and Arrow see it: what their writers leave beside data begins so.
    return any(part.startswith((".", "_")) for part in path.split("/"))


def scan(filesystem: Any, path: str, name: str, format: str, text_column: str, shard_rows: int) -> InputFile:
    """Reads a file through, in bounded memory.

    Raises:
        CallerError: it is not what its name says. MachineError: it cannot be read.
    """
    digest, size = hashlib.sha256(), 0

    def blocks() -> Iterator[bytes]:
        nonlocal size
        # As it lies there: pyarrow would otherwise unpack what has a name that says so.
        with filesystem.open_input_stream(path, compression=None) as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
                size += len(block)
                yield block

    groups: list[int] = []
    starts: list[int] = []
    try:
        changed_ns = filesystem.get_file_info(path).mtime_ns
        if format == "csv":
            schema, rows, starts = _scan_csv(_lines(blocks()), shard_rows)
        elif format == "jsonl":
            schema, rows, starts = _scan_jsonl(_lines(blocks()), shard_rows, text_column)
        else:
            for _ in blocks():
                pass
            with filesystem.open_input_file(path) as file:
                if format == "parquet":
                    parquet = pq.ParquetFile(file)
                    groups = [parquet.metadata.row_group(at).num_rows for at in range(parquet.num_row_groups)]
                    schema = parquet.schema_arrow
                else:
                    batches = ipc.open_file(file)
                    groups = [batches.get_batch(at).num_rows for at in range(batches.num_record_batches)]
                    schema = batches.schema
            rows = sum(groups)
    except (pa.ArrowException, csv.Error, ValueError) as error:
        raise CallerError(f"the input {name} cannot be read as {format}: {error}") from error
    except OSError as error:
        raise MachineError(f"the input {name} cannot be read: {error}") from error
    return InputFile(
        filesystem, path, name, format, size, digest.hexdigest(), rows, tuple(groups), tuple(starts), schema, changed_ns
    )


def _lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines with their ends."""
    begun: list[bytes] = []  # of a line that may have many blocks
    for block in blocks:
        *lines, last = block.split(b"\n")
        for line in lines:
            yield b"".join([*begun, line, b"\n"])
            begun.clear()
        begun.append(last)
    if rest := b"".join(begun):
        yield rest


@contextmanager
def _fields_of_any_size() -> Iterator[None]:
    before = csv.field_size_limit((1 << 31) - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _scan_csv(lines: Iterator[bytes], shard_rows: int) -> tuple[pa.Schema, int, list[int]]:
    """Schema, rows, and where each shard begins. All columns are strings: CSV has no types, and what the first rows
    look like says nothing of the last."""
    position, begin, rows = 0, 0, 0
    starts: list[int] = []
    names: list[str] = []

    def counted() -> Iterator[str]:
        nonlocal position
        for line in lines:
            if position == 0:
                position = len(line)
                # Before a quote it would make the name one without.
                yield line.removeprefix(codecs.BOM_UTF8).decode("latin-1")
                continue
            position += len(line)
            # Every byte is a character: quotes, commas and line ends are the same in UTF-8.
            yield line.decode("latin-1")

    with _fields_of_any_size():
        for record in csv.reader(counted()):
            if not names:
                names = [name.encode("latin-1").decode("utf-8") for name in record]
            elif record:
                if rows % shard_rows == 0:
                    starts.append(begin)
                rows += 1
            begin = position
    if not names:
        raise pa.ArrowInvalid("its first line is empty; it names the columns")
    return pa.schema([(name, pa.string()) for name in names]), rows, [*starts, position]


def _scan_jsonl(lines: Iterator[bytes], shard_rows: int, text_column: str) -> tuple[pa.Schema, int, list[int]]:
    """Schema, rows, and where each shard begins. A column has the type that holds what all lines have there."""
    position, rows, starts = 0, 0, []
    order: list[str] = []
    schema = pa.schema([(text_column, pa.string())])
    pending: list[bytes] = []
    large: dict[str, int] = {}  # columns with integers that a double does not hold, and a row of each

    def unify() -> None:
        nonlocal schema
        first = rows - len(pending)
        try:
            found = _read_json(b"".join(pending), pa.schema([(text_column, pa.string())])).schema
        except pa.ArrowInvalid as error:
            # Its rows are those of what it was given.
            raise pa.ArrowInvalid(_ROW.sub(lambda row: f"in row {int(row[1]) + first}", str(error))) from error
        found = pa.schema([field.with_type(_as_written(field.type)) for field in found])
        schema = pa.unify_schemas([schema, found], promote_options="permissive")
        pending.clear()

    for line in lines:
        if line.strip():
            if rows % shard_rows == 0:
                starts.append(position)
                if pending:
                    unify()
            # Its reader ends the process at a null.
            if not line.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{"):
                raise ValueError(f"row {rows} is no object")
            is_deep = line.count(b"[") + line.count(b"{") > _DEPTH_MAX
            has_long_number = _LONG_NUMBER.search(line) is not None
            if not order or is_deep or has_long_number:
                found = _object_of(line)
                order = order or list(found)
                for name in _large_integers(found, rows) if has_long_number else ():
                    large.setdefault(name, rows)
            rows += 1
            pending.append(line)
        position += len(line)
    if pending:
        unify()
    for name, row in large.items():
        if name in schema.names and _has_doubles(schema.field(name).type):
            raise ValueError(
                f"column '{name}' has an integer in row {row} that a floating-point number does not hold, and such numbers "
                "in others; write them as strings"
            )
    fields = sorted(schema, key=lambda field: order.index(field.name) if field.name in order else len(order))
    return pa.schema(fields), rows, [*starts, position]


def _object_of(line: bytes) -> dict[str, Any]:
    """What a line has; nothing where it is no object, which its reader says.

    Raises:
        ValueError: it is nested so deeply that its reader would end the process, or has a number of thousands of digits.
    """
    try:
        found = json.loads(line.decode("utf-8-sig", "replace"))
    except json.JSONDecodeError:
        return {}
    except RecursionError:
        raise ValueError("a line is nested too deeply") from None
    return found if isinstance(found, dict) else {}


def _large_integers(found: dict[str, Any], row: int) -> set[str]:
    """The columns of a line with integers that a double does not hold exactly.

    Raises:
        ValueError: an integer that has more than 64 bits.
    """

    def is_large(value: Any) -> bool:
        if isinstance(value, dict):
            return max(map(is_large, value.values()), default=False)  # all are looked at
        if isinstance(value, list):
            return max(map(is_large, value), default=False)
        if isinstance(value, bool) or not isinstance(value, int):
            return False
        if not -(1 << 63) <= value < 1 << 63:
            raise ValueError(f"row {row} has the number {value}, which has more than 64 bits; write it as a string")
        return abs(value) > _EXACT_MAX

    return {name for name, value in found.items() if is_large(value)}


def _as_written(kind: pa.DataType) -> pa.DataType:
    """Strings for what the reader takes for times: in the next shard it may be none."""
    if pa.types.is_temporal(kind):
        return pa.string()
    if pa.types.is_struct(kind):
        return pa.struct([kind.field(at).with_type(_as_written(kind.field(at).type)) for at in range(kind.num_fields)])
    if pa.types.is_list(kind):
        return pa.list_(_as_written(kind.value_type))
    return kind


def _has_doubles(kind: pa.DataType) -> bool:
    if pa.types.is_floating(kind):
        return True
    return any(_has_doubles(kind.field(at).type) for at in range(kind.num_fields))


def _read_json(content: bytes, schema: pa.Schema) -> pa.Table:
    # One block: an object may be as long as it likes.
    return arrow_json.read_json(
        pa.BufferReader(content),
        read_options=arrow_json.ReadOptions(block_size=len(content) + 1),
        parse_options=arrow_json.ParseOptions(explicit_schema=schema, newlines_in_values=False),
    )


class Reader:
    """Reads shards of a file. Those that follow each other are read in one pass. One thread."""

    def __init__(self, file: InputFile, columns: list[str] | None, shard_rows: int) -> None:
        """`columns`: of the output, in this order; all if None."""
        self._file = file
        self._columns = columns
        self._shard_rows = shard_rows
        self._firsts = [0, *accumulate(file.groups)]
        self._batches: Iterator[pa.RecordBatch] = iter(())
        self._next: int | None = None  # the first row of _rest, and then of _batches
        self._rest: list[pa.RecordBatch] = []

    def read(self, shard: int) -> pa.Table:
        """
        Raises:
            CallerError: its rows are not what the format has.
            MachineError: the file cannot be read, or is not any more what it was when it was scanned.
        """
        first = shard * self._shard_rows
        count = min(self._shard_rows, self._file.rows - first)
        try:
            if self._file.format in ("csv", "jsonl"):
                table = self._text(shard)
            else:
                table = self._rows(first, count)
        except (pa.ArrowException, OSError) as error:
            self._check_unchanged()
            kind = MachineError if isinstance(error, OSError) else CallerError
            raise kind(f"rows {first} to {first + count} of {self._file.name} cannot be read: {error}") from error
        self._check_unchanged()
        if table.num_rows != count:
            raise MachineError(
                f"{self._file.name} has {table.num_rows} rows from row {first} on, where {count} were found at first: it "
                "was changed, or its lines are not what they look like"
            )
        return table

    def _check_unchanged(self) -> None:
        try:
            info = self._file.filesystem.get_file_info(self._file.path)
        except OSError as error:
            raise MachineError(f"{self._file.name} cannot be looked at: {error}") from error
        if info.mtime_ns != self._file.changed_ns:
            raise MachineError(f"{self._file.name} was changed since it was scanned; run again")

    def _text(self, shard: int) -> pa.Table:
        begin, end = self._file.starts[shard : shard + 2]
        with self._file.filesystem.open_input_file(self._file.path) as stream:
            stream.seek(begin)
            content = stream.read(end - begin)
        if self._file.format == "jsonl":
            table = _read_json(content, self._file.schema)
            return table.select(self._columns or self._file.schema.names)
        names = self._file.schema.names
        return arrow_csv.read_csv(
            pa.BufferReader(content),
            read_options=arrow_csv.ReadOptions(column_names=names, block_size=len(content) + 1, use_threads=False),
            parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
            # What is not UTF-8 is the matter of a row, not of the file.
            convert_options=arrow_csv.ConvertOptions(
                column_types={name: pa.string() for name in names},
                strings_can_be_null=False,
                check_utf8=False,
                include_columns=self._columns,
            ),
        )

    def _stream(self, group: int) -> Iterator[pa.RecordBatch]:
        """Batches of rows from this part of the file on."""
        with self._file.filesystem.open_input_file(self._file.path) as file:
            if self._file.format == "parquet":
                # A buffer for each column, in the place of whole row groups.
                parquet = pq.ParquetFile(file, pre_buffer=False, buffer_size=_BLOCK)
                yield from parquet.iter_batches(
                    self._shard_rows, row_groups=range(group, parquet.num_row_groups), columns=self._columns
                )
                return
            batches = ipc.open_file(file)
            for at in range(group, batches.num_record_batches):
                batch = batches.get_batch(at)
                yield batch.select(self._columns) if self._columns else batch

    def _rows(self, first: int, count: int) -> pa.Table:
        if self._next is None or first < self._next or first >= self._firsts[-1]:
            self._begin(first)
        elif bisect_right(self._firsts, first) > bisect_right(self._firsts, self._next):
            self._begin(first)  # a later part of the file: what lies between is not read
        self._take(first - (self._next or 0))
        batches = self._take(count)
        schema = self._file.schema
        if self._columns:
            schema = pa.schema([schema.field(name) for name in self._columns], schema.metadata)
        return pa.Table.from_batches(batches, schema) if batches else schema.empty_table()

    def _begin(self, first: int) -> None:
        group = max(bisect_right(self._firsts, first) - 1, 0)
        self._batches, self._rest, self._next = self._stream(group), [], self._firsts[group]

    def _take(self, count: int) -> list[pa.RecordBatch]:
        """The next rows; fewer where the file ends."""
        taken: list[pa.RecordBatch] = []
        while count:
            if not self._rest:
                batch = next(self._batches, None)
                if batch is None:
                    break
                self._rest.append(batch)
            batch = self._rest.pop()
            taken.append(batch.slice(0, count))
            if batch.num_rows > count:
                self._rest.append(batch.slice(count))
            count -= taken[-1].num_rows
            self._next = (self._next or 0) + taken[-1].num_rows
        return taken
