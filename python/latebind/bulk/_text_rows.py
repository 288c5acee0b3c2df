"""Rows of text: their positions in CSV or JSON lines files, their columns, and reading ranges of them."""

from __future__ import annotations

import codecs
import csv
import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import json as arrow_json

from ._damage import ENCODING_HINT

# JSON lines with more brackets are checked before pyarrow, which has no limit, reads them.
_DEPTH_MAX = 500
# The separators that a table may have, by format, in the order in which they are tried.
SEPARATORS = {"csv": ",;\t", "tsv": "\t"}
# The length of a line in bytes, without its end.
_LINE_MAX = 64 << 20
# The fewest digits of an integer that a double cannot represent exactly.
_LONG_NUMBER = re.compile(rb"[0-9]{16}")
_EXACT_MAX = 1 << 53
# Matches the row in pyarrow's errors.
_ROW = re.compile(r"in row ([0-9]+)")


@dataclass(frozen=True)
class TextRows:
    """The structure of a text file.

    Attributes:
        schema: its columns, as they are read.
        rows: the number of rows.
        starts: the byte at which each shard begins, and the end of the last one.
        pieces: a digest of each shard's bytes.
        separator: between the values of a row; "" without rows of values.
    """

    schema: pa.Schema
    rows: int
    starts: tuple[int, ...]
    pieces: tuple[str, ...]
    separator: str = ""


def digest_of_piece(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class _Cuts:
    """Records where the shards of a file begin and the digests of their bytes. Bytes before the first shard are
    ignored.

    Attributes:
        rows: the number of rows so far.
    """

    def __init__(self, shard_rows: int) -> None:
        self.rows = 0
        self._shard_rows = shard_rows
        self._starts: list[int] = []
        self._pieces: list[str] = []
        self._piece: Any = None

    def begin_row(self, position: int) -> bool:
        """Records that a row begins at this byte; it counts once it is complete. Returns True for the first row of a
        shard."""
        if self.rows % self._shard_rows:
            return False
        self._starts.append(position)
        self._end_piece()
        self._piece = hashlib.sha256()
        return True

    def add(self, line: bytes) -> None:
        if self._piece is not None:
            self._piece.update(line)

    def found(self, schema: pa.Schema, end: int, separator: str = "") -> TextRows:
        """Returns the structure of a file whose last row ends at this byte."""
        self._end_piece()
        return TextRows(schema, self.rows, (*self._starts, end), tuple(self._pieces), separator)

    def _end_piece(self) -> None:
        if self._piece is not None:
            self._pieces.append(self._piece.hexdigest())


def _too_long(number: int) -> ValueError:
    return ValueError(f"line {number} is longer than {_LINE_MAX >> 20} MiB; split it")


def lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yields lines including their ends.

    Raises:
        ValueError: a line exceeds the program's limit; a compressed file of a few MB may hold one of many GB.
    """
    begun: list[bytes] = []  # of a line that spans several blocks
    size, number = 0, 1
    for block in blocks:
        *lines, last = block.split(b"\n")
        for line in lines:
            if size + len(line) > _LINE_MAX:
                raise _too_long(number)
            yield b"".join([*begun, line, b"\n"])
            begun.clear()
            size = 0
            number += 1
        begun.append(last)
        size += len(last)
        if size > _LINE_MAX:
            raise _too_long(number)
    if rest := b"".join(begun):
        yield rest


@contextmanager
def _fields_of_any_size() -> Iterator[None]:
    before = csv.field_size_limit((1 << 31) - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _separator_of(header: str, separators: str, text_column: str) -> str:
    """Returns the first separator with which the header names the column of texts, as the program does; otherwise the
    one with which it names most columns."""
    names = {one: next(csv.reader([header], delimiter=one), []) for one in separators}
    for one in separators:
        if text_column in names[one]:
            return one
    return max(separators, key=lambda one: len(names[one]))


def scan_csv(lines: Iterator[bytes], shard_rows: int, separators: str, text_column: str) -> TextRows:
    """Scans CSV. All columns are strings, because CSV has no types and the first rows do not determine those of the
    last.

    Args:
        separators: those that the file may have.
        text_column: the column whose name in the header shows which of them it has.
    """
    position, begin = 0, 0
    first = next(lines, b"")
    lines = itertools.chain([first] if first else [], lines)
    header = first.removeprefix(codecs.BOM_UTF8).decode("latin-1")
    with _fields_of_any_size():
        separator = _separator_of(header, separators, text_column.encode("utf-8").decode("latin-1"))
    cuts = _Cuts(shard_rows)
    pending: list[bytes] = []  # of a record that spans several lines
    names: list[str] = []

    def counted() -> Iterator[str]:
        nonlocal position
        for line in lines:
            pending.append(line)
            if position == 0:
                position = len(line)
                # Before a quote, it would make the quote part of the name.
                yield line.removeprefix(codecs.BOM_UTF8).decode("latin-1")
                continue
            position += len(line)
            # Decodes every byte to one character; quotes, commas and line ends are the same in UTF-8.
            yield line.decode("latin-1")

    with _fields_of_any_size():
        for record in csv.reader(counted(), delimiter=separator):
            if not names:
                try:
                    names = [name.encode("latin-1").decode("utf-8") for name in record]
                except UnicodeDecodeError as error:
                    raise ValueError(f"a name of a column is not UTF-8: {error.reason}; {ENCODING_HINT}") from None
            elif record:
                cuts.begin_row(begin)
                cuts.rows += 1
            for line in pending:
                cuts.add(line)
            pending.clear()
            begin = position
    if not names:
        raise pa.ArrowInvalid("its first line is empty; it names the columns")
    return cuts.found(pa.schema([(name, pa.string()) for name in names]), position, separator)


def scan_lines(lines: Iterator[bytes], shard_rows: int, text_column: str) -> TextRows:
    """Scans lines. Every line is a row with one column, even an empty line."""
    position = 0
    cuts = _Cuts(shard_rows)
    for line in lines:
        cuts.begin_row(position)
        cuts.rows += 1
        cuts.add(line)
        position += len(line)
    return cuts.found(pa.schema([(text_column, pa.string())]), position)


def scan_jsonl(lines: Iterator[bytes], shard_rows: int, text_column: str) -> TextRows:
    """Scans JSON lines. A column's type fits the values of all lines."""
    position = 0
    cuts = _Cuts(shard_rows)
    order: list[str] = []
    schema = pa.schema([(text_column, pa.string())])
    pending: list[bytes] = []
    large: dict[str, int] = {}  # columns with integers that a double cannot represent exactly, and a row of each

    def unify() -> None:
        nonlocal schema
        first = cuts.rows - len(pending)
        try:
            found = read_json(b"".join(pending), pa.schema([(text_column, pa.string())])).schema
        except pa.ArrowInvalid as error:
            # pyarrow counts rows within the bytes that it was given.
            raise pa.ArrowInvalid(_ROW.sub(lambda row: f"in row {int(row[1]) + first}", str(error))) from error
        found = pa.schema([field.with_type(_as_written(field.type)) for field in found])
        schema = pa.unify_schemas([schema, found], promote_options="permissive")
        pending.clear()

    for line in lines:
        if line.strip():
            if cuts.begin_row(position) and pending:
                unify()
            if position and line.startswith(codecs.BOM_UTF8):
                raise ValueError(
                    f"row {cuts.rows} begins with a byte-order mark, which is allowed only at the beginning of a file; remove it"
                )
            # pyarrow's reader crashes on a null.
            if not line.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{"):
                raise ValueError(f"row {cuts.rows} is not an object")
            is_deep = line.count(b"[") + line.count(b"{") > _DEPTH_MAX
            has_long_number = _LONG_NUMBER.search(line) is not None
            if not order or is_deep or has_long_number:
                found = _object_of(line)
                order = order or list(found)
                for name in _large_integers(found, cuts.rows) if has_long_number else ():
                    large.setdefault(name, cuts.rows)
            cuts.rows += 1
            pending.append(line)
        cuts.add(line)
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
    return cuts.found(pa.schema(fields), position)


def _object_of(line: bytes) -> dict[str, Any]:
    """Returns the members of a line; empty if it is not an object, which the reader reports.

    Raises:
        ValueError: it is nested so deeply that the reader would crash, or has a number with thousands of digits.
    """
    try:
        found = json.loads(line.decode("utf-8-sig", "replace"))
    except json.JSONDecodeError:
        return {}
    except RecursionError:
        raise ValueError("a line is nested too deeply") from None
    return found if isinstance(found, dict) else {}


def _large_integers(found: dict[str, Any], row: int) -> set[str]:
    """Returns the columns of a line with integers that a double cannot represent exactly.

    Raises:
        ValueError: an integer exceeds 64 bits.
    """

    def is_large(value: Any) -> bool:
        if isinstance(value, dict):
            return max(map(is_large, value.values()), default=False)  # all values must be checked
        if isinstance(value, list):
            return max(map(is_large, value), default=False)
        if isinstance(value, bool) or not isinstance(value, int):
            return False
        if not -(1 << 63) <= value < 1 << 63:
            raise ValueError(f"row {row} has the number {value}, which has more than 64 bits; write it as a string")
        return abs(value) > _EXACT_MAX

    return {name for name, value in found.items() if is_large(value)}


def _as_written(kind: pa.DataType) -> pa.DataType:
    """Returns strings for what the reader takes for times, because the next shard may contain other strings."""
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


def read_lines(content: bytes, text_column: str, is_first: bool) -> pa.Table:
    """Reads lines without their ends. Invalid UTF-8 concerns a row, not the file."""
    if is_first:
        content = content.removeprefix(codecs.BOM_UTF8)
    found = content.split(b"\n")
    if not found[-1]:
        found.pop()
    texts = pa.array([line.removesuffix(b"\r") for line in found], pa.large_binary())
    return pa.table({text_column: texts.view(pa.large_string()).cast(pa.string(), safe=False)})


def read_csv(content: bytes, names: list[str], columns: list[str] | None, separator: str) -> pa.Table:
    """Reads rows of CSV without a header line. Keeps `columns`; all if None."""
    # pyarrow removes a leading byte-order mark. Within the file, it is part of a value.
    if content.startswith(codecs.BOM_UTF8):
        content = codecs.BOM_UTF8 + content
    return arrow_csv.read_csv(
        pa.BufferReader(content),
        read_options=arrow_csv.ReadOptions(column_names=names, block_size=len(content) + 1, use_threads=False),
        parse_options=arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        # Invalid UTF-8 concerns a row, not the file.
        convert_options=arrow_csv.ConvertOptions(
            column_types={name: pa.string() for name in names},
            strings_can_be_null=False,
            check_utf8=False,
            include_columns=columns,
        ),
    )


def read_json(content: bytes, schema: pa.Schema) -> pa.Table:
    # In one block, because objects may have any length.
    return arrow_json.read_json(
        pa.BufferReader(content),
        read_options=arrow_json.ReadOptions(block_size=len(content) + 1),
        parse_options=arrow_json.ParseOptions(explicit_schema=schema, newlines_in_values=False),
    )
