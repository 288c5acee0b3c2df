"""Computes one shard: reads a range of rows of a file, embeds them, and writes them to a separate file.

Any process may compute any shard, repeatedly: the file depends only on the shard, the model and what answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet as pq

from .._out import Vectors
from ..errors import CallerError, LatebindError, TransientError
from ._batches import METADATA_KEY, Counts, EmbedBatches, Embedded, Follower
from ._columns import lists
from ._inputs import InputFile
from ._manifest import BEGUN, SKIPPED, VECTORS
from ._model import Answers
from ._reader import Reader
from ._store import Store


@dataclass(frozen=True)
class ShardResult:
    """The result of a shard.

    Attributes:
        shard: its number.
        rows: the embedded rows.
        skipped: the other rows.
        tokens, truncated, fallback: see Embedded.
        device: what answered, such as "openvino:CPU f32".
    """

    shard: int
    rows: int
    skipped: int
    tokens: int
    truncated: int
    fallback: int
    device: str


@dataclass(frozen=True)
class Place:
    """The position of a shard."""

    file: InputFile
    index: int  # within the file
    rows: int


def name_of(shard: int) -> str:
    return f"part-{shard:06d}.parquet"


class Job:
    """Everything that a process needs to compute any shard. Can be pickled. One thread reads, one embeds, one writes."""

    def __init__(
        self,
        files: Sequence[InputFile],
        embed: EmbedBatches,
        id_column: str | None,
        shard_rows: int,
        store: Store,
        answers: Answers | None,
    ) -> None:
        """`answers` are those permitted; None permits any."""
        self.embed = embed
        self.store = store
        self._answers = answers
        self._shard_rows = shard_rows
        # A column that serves as both is written once.
        self._columns = list(dict.fromkeys([id_column, embed.text_column])) if id_column is not None else None
        self._id_column = id_column
        self._places = [
            Place(file, index, min(shard_rows, file.rows - index * shard_rows))
            for file in files
            for index in range(file.shards(shard_rows))
        ]
        self._reader: tuple[InputFile, Reader] | None = None
        # Shards that this process finished, and the rows of those it began.
        self.written: set[int] = set()
        self.begun_rows: dict[int, int] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_reader": None}

    def __len__(self) -> int:
        return len(self._places)

    def rows(self, shard: int) -> int:
        return self._places[shard].rows

    def read(self, shard: int) -> pa.Table:
        place = self._places[shard]
        if self._reader is None or self._reader[0] is not place.file:
            self._reader = place.file, Reader(place.file, self.embed.text_column, self._columns, self._shard_rows)
        return self._reader[1].read(place.index)

    def compute(self, shard: int, table: pa.Table, follower: Follower | None = None) -> Embedded:
        """Embeds the rows of a shard.

        Raises:
            CallerError: a row has no usable text; the message has the file and the row.
            TransientError: something else answers than what began the output.
        """
        place = self._places[shard]
        first = place.index * self._shard_rows
        if self._answers is not None:
            self._check_answers(self.embed.answers())
        try:
            embedded = self.embed.embed(table, follower)
        except LatebindError as error:
            error.message = f"in {place.file.name}, rows from {first} on: {error.message}"
            raise
        if self._answers is not None:
            self._check_answers(embedded.answers)
            if embedded.is_mixed:
                raise TransientError(
                    f"another device than {self._answers.device} computed {embedded.fallback} rows of "
                    f"shard {shard}; run again",
                    retryable=True,
                )
        return embedded

    def _check_answers(self, answers: Answers) -> None:
        if self._answers is not None and answers != self._answers:
            raise TransientError(
                "this worker computes differently from how this output was started: "
                f"{self._answers.difference(answers)}; allow it with --allow-other-devices",
                retryable=True,
            )

    def write(self, shard: int, embedded: Embedded) -> ShardResult:
        """Writes the skipped rows before the vectors, whose file marks the shard as complete."""
        place = self._places[shard]
        answers = embedded.answers
        result = ShardResult(
            shard,
            embedded.table.num_rows,
            embedded.skipped.num_rows,
            embedded.tokens,
            embedded.truncated,
            embedded.fallback,
            f"{answers.device} {answers.precision}",
        )
        label = {
            **json.loads(embedded.table.schema.metadata[METADATA_KEY]),
            "input": place.file.sha256,
            "answers": vars(answers),
            "result": asdict(result),
        }
        skipped_name = f"{SKIPPED}/{name_of(shard)}"
        if result.skipped:
            skipped = _labelled(self._located(embedded.skipped, place), label)
            self.store.write(skipped_name, self._bytes_of(skipped, place))
        elif self.store.has(skipped_name):
            self.store.remove(skipped_name)  # left by a killed run that skipped other rows
        table = self._of_output(_labelled(embedded.table, label))
        self.store.write(f"{VECTORS}/{name_of(shard)}", self._bytes_of(table, place, self.embed.vector_column))
        self.written.add(shard)
        self.begun_rows.pop(shard, None)
        return result

    def keep_begun(self, shard: int, answers: Answers, vectors: Vectors, counts: Counts) -> None:
        """Keeps the vectors of the first rows of a shard, for begun().

        Raises:
            TransientError: the filesystem rejects the write.
        """
        label = {**self._label_of_begun(shard, answers), "counts": asdict(counts)}
        table = pa.table({self.embed.vector_column: lists(vectors)})
        self.store.write(f"{BEGUN}/{name_of(shard)}", _parquet(_labelled(table, label), self.embed.vector_column))
        self.begun_rows[shard] = len(vectors)

    def begun(self, shard: int, answers: Answers) -> tuple[Vectors, Counts] | None:
        """Returns what keep_begun() kept, if it is intact and belongs to this output and the same answers."""
        name = f"{BEGUN}/{name_of(shard)}"
        if not self.store.has(name):
            return None
        try:
            with self.store.open(name) as file:
                table = pq.ParquetFile(file, page_checksum_verification=True).read()
            label = json.loads((table.schema.metadata or {})[METADATA_KEY])
            counts = Counts(**label.pop("counts"))
            column = table.column(self.embed.vector_column).combine_chunks()
            vectors = np.asarray(column.flatten()).reshape(len(column), -1)
            sizes = (answers.dimension, self.embed.encoding["dimensions"])
            is_whole = vectors.dtype == np.float32 and 0 < len(vectors) and vectors.shape[1] in sizes
        except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, RecursionError, AttributeError):
            return None
        is_ours = label == json.loads(json.dumps(self._label_of_begun(shard, answers)))
        return (vectors, counts) if is_ours and is_whole and len(vectors) <= self.rows(shard) else None

    def _label_of_begun(self, shard: int, answers: Answers) -> dict[str, Any]:
        return {
            "input": self._places[shard].file.sha256,
            "settings": self.embed.described(),
            "answers": vars(answers),
            "shard": shard,
            "shard_rows": self._shard_rows,
        }

    def empty(self, schema: pa.Schema) -> pa.Table:
        """Returns a shard without rows for a file with this schema."""
        embedded = self.embed.embed(schema.empty_table().select(self._columns or schema.names))
        return self._of_output(embedded.table)

    def _of_output(self, table: pa.Table) -> pa.Table:
        if self._id_column is not None and self._id_column != self.embed.text_column:
            return table.drop_columns([self.embed.text_column])
        return table

    def _bytes_of(self, table: pa.Table, place: Place, vector_column: str | None = None) -> pa.Buffer:
        try:
            return _parquet(table, vector_column)
        except pa.ArrowException as error:
            raise CallerError(
                f"{place.file.name}, rows from {place.index * self._shard_rows} on: its columns cannot be kept in "
                f"Parquet: {error}"
            ) from error

    def _located(self, skipped: pa.Table, place: Place) -> pa.Table:
        first = place.index * self._shard_rows
        at = skipped.schema.get_field_index("latebind_row")
        rows = pa.array([row + first for row in skipped.column(at).to_pylist()], pa.int64())
        skipped = skipped.set_column(at, "latebind_row", rows)
        return skipped.add_column(at, "latebind_file", pa.array([place.file.name] * len(rows), pa.string()))

    def run(self, shard: int) -> ShardResult:
        """Reads, embeds and writes a shard."""
        return self.write(shard, self.compute(shard, self.read(shard)))

    def _footer(self, name: str) -> tuple[dict[str, Any], int]:
        """Returns the label of an output file and the number of its rows."""
        with self.store.open(name) as file:
            parquet = pq.ParquetFile(file)
            return json.loads((parquet.schema_arrow.metadata or {})[METADATA_KEY]), parquet.metadata.num_rows

    def finished(self, shard: int) -> ShardResult | None:
        """Returns the result of a shard whose file exists. Returns None if that file or its skipped rows are damaged or
        belong to another output."""
        try:
            label, rows = self._footer(f"{VECTORS}/{name_of(shard)}")
            result = ShardResult(**label["result"])
            if not _is_plausible(result):
                return None
            answers = Answers(**label["answers"])
            skipped_name = f"{SKIPPED}/{name_of(shard)}"
            if result.skipped:
                has_skipped = self._footer(skipped_name) == (label, result.skipped)
            else:
                has_skipped = not self.store.has(skipped_name)
        except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, RecursionError):
            return None
        place = self._places[shard]
        wanted = (place.file.sha256, self.embed.described(), shard)
        is_ours = (label.get("input"), label.get("settings"), result.shard) == wanted and rows == result.rows
        is_whole = result.rows + result.skipped == place.rows and has_skipped
        return result if is_ours and is_whole and self._answers in (None, answers) else None


def _labelled(table: pa.Table, label: dict[str, Any]) -> pa.Table:
    return table.replace_schema_metadata({**(table.schema.metadata or {}), METADATA_KEY: json.dumps(label)})


def _is_plausible(result: ShardResult) -> bool:
    counts = (result.shard, result.rows, result.skipped, result.tokens, result.truncated, result.fallback)
    return isinstance(result.device, str) and all(type(count) is int and count >= 0 for count in counts)


def check_columns(schema: pa.Schema, names: Sequence[str] | None) -> None:
    """Checks that Parquet can hold columns.

    Raises:
        CallerError: Parquet cannot store one of these columns (all if None), or cannot read it back.
    """
    for field in schema:
        if names is not None and field.name not in names:
            continue
        try:
            pq.ParquetFile(pa.BufferReader(_parquet(pa.schema([field]).empty_table()))).schema_arrow  # noqa: B018
        except UnicodeDecodeError as error:
            raise CallerError(f"column '{field.name}' has a field whose name is not UTF-8: {error}") from None
        except (pa.ArrowException, OSError) as error:
            raise CallerError(
                f"column '{field.name}', of type {field.type}, cannot be kept in Parquet: {error}"
            ) from error


def _parquet(table: pa.Table, vector_column: str | None = None) -> pa.Buffer:
    """Returns the bytes of a Parquet file. Vectors are not compressed, as it has no effect."""
    sink = pa.BufferOutputStream()
    write_parquet([table], sink, vector_column)
    return sink.getvalue()


def write_parquet(tables: Iterable[pa.Table], stream: Any, vector_column: str | None) -> None:
    """Writes tables with the same columns into one file, as one row group each."""
    writer: Any = None
    try:
        for table in tables:
            if writer is None:
                # Vectors do not repeat, which Parquet's dictionary encoding would find out only after a megabyte.
                repeating = [name for name in table.schema.names if name != vector_column]
                writer = pq.ParquetWriter(
                    stream, table.schema, compression="zstd", use_dictionary=repeating, write_page_checksum=True
                )
            writer.write_table(table, max(table.num_rows, 1))
    finally:
        if writer is not None:
            writer.close()
