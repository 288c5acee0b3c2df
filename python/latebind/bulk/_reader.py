"""Reads the rows of a shard from an input file that is unchanged since its scan: Reader."""

from __future__ import annotations

import gzip
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

import pyarrow as pa
from pyarrow import ipc
from pyarrow import parquet as pq

from ..errors import CallerError, MachineError
from ._damage import refuse_damage
from ._identity import stamp_of
from ._inputs import InputFile, end_of, error_of
from ._text_rows import SEPARATORS, digest_of_piece, read_csv, read_json, read_lines

# The size of reads from Parquet, per column.
_BLOCK = 4 << 20


class Reader:
    """Reads shards of a file. Consecutive shards are read in one pass. For one thread."""

    def __init__(self, file: InputFile, text_column: str, columns: list[str] | None, shard_rows: int) -> None:
        """`columns` are those of the output, in order; all if None."""
        self._file = file
        self._stamp = file.stamp
        self._text_column = text_column
        self._columns = columns
        self._shard_rows = shard_rows
        self._firsts = [0, *accumulate(file.groups)]
        self._batches: Iterator[pa.RecordBatch] = iter(())
        self._next: int | None = None  # first row of _rest, followed by _batches
        self._rest: list[pa.RecordBatch] = []
        self._packed: gzip.GzipFile | None = None

    def read(self, shard: int) -> pa.Table:
        """Reads a shard.

        Raises:
            CallerError: its rows do not match the format, or are damaged.
            MachineError: the file cannot be read, or has changed since it was scanned.
        """
        first = shard * self._shard_rows
        count = min(self._shard_rows, self._file.rows - first)
        try:
            if self._file.format in (*SEPARATORS, "jsonl", "txt"):
                table = self._text(shard)
            else:
                table = self._rows(first, count)
        except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
            self._check_unchanged()
            what = f"rows {first} to {first + count} of {self._file.name} cannot be read"
            raise error_of(self._file.filesystem, what, error) from error
        except CallerError:
            self._check_unchanged()
            raise
        self._check_unchanged()
        if table.num_rows != count:
            raise MachineError(
                f"{self._file.name} has {table.num_rows} rows from row {first} on, where {count} were found at first: it "
                "has changed, or its lines are ambiguous"
            )
        return table

    def _check_unchanged(self) -> None:
        now = stamp_of(self._file.filesystem, self._file.path, self._file.name)
        if not self._stamp.fits(now):
            raise self._changed()
        self._stamp = now  # as this machine observes it

    def _changed(self) -> MachineError:
        return MachineError(f"{self._file.name} changed since it was scanned; run again")

    def _text(self, shard: int) -> pa.Table:
        begin, end = self._file.starts[shard : shard + 2]
        if self._file.is_packed:
            content = self._unpacked(begin, end - begin)
        else:
            with self._file.filesystem.open_input_file(self._file.path) as stream:
                stream.seek(begin)
                content = stream.read(end - begin)
        if digest_of_piece(content) != self._file.pieces[shard]:
            raise self._changed()
        names = self._file.schema.names
        if self._file.format == "jsonl":
            return read_json(content, self._file.schema).select(self._columns or names)
        if self._file.format == "txt":
            return read_lines(content, names[0], begin == 0)
        return read_csv(content, names, self._columns, self._file.separator)

    def _unpacked(self, begin: int, size: int) -> bytes:
        """Returns unpacked bytes of a compressed file. Also unpacks all preceding bytes, unless the last call did."""
        if self._packed is None or self._packed.tell() > begin:
            stream = self._file.filesystem.open_input_stream(self._file.path, compression=None)
            self._packed = gzip.GzipFile(fileobj=stream, mode="rb")
        self._packed.seek(begin)
        return self._packed.read(size)

    def _stream(self, group: int) -> Iterator[pa.RecordBatch]:
        """Yields batches of rows from this part of the file on."""
        with self._file.filesystem.open_input_file(self._file.path) as file:
            if digest_of_piece(end_of(file)) != self._file.pieces[0]:
                raise self._changed()
            if self._file.format == "parquet":
                # Buffers each column instead of whole row groups.
                parquet = pq.ParquetFile(file, pre_buffer=False, buffer_size=_BLOCK)
                # One row group at a time, because pyarrow cannot read a batch that spans two for lists and structs of
                # dictionaries.
                for at in range(group, parquet.num_row_groups):
                    yield from parquet.iter_batches(self._shard_rows, row_groups=[at], columns=self._columns)
                return
            batches = ipc.open_file(file)
            for at in range(group, batches.num_record_batches):
                batch = batches.get_batch(at)
                batch = batch.select(self._columns) if self._columns else batch
                try:
                    refuse_damage(batch, self._text_column)
                except CallerError as error:
                    error.message = f"in {self._file.name}, record batch {at}: {error.message}"
                    raise
                yield batch

    def _rows(self, first: int, count: int) -> pa.Table:
        if self._next is None or first < self._next or first >= self._firsts[-1]:
            self._begin(first)
        elif bisect_right(self._firsts, first) > bisect_right(self._firsts, self._next):
            self._begin(first)  # continues at a later part; what lies between is not read
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
        """Returns the next rows; fewer at the end of the file."""
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
