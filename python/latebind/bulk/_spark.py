"""Runs EmbedBatches in Spark, through mapInArrow."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .._extras import install_line
from ..errors import CallerError, LatebindError, LibraryError, TransientError
from ._batches import SKIPPED_COLUMNS, EmbedBatches, refuse_names
from ._engine import Engine, pack, unpack
from ._follow import Advance
from ._model import Answers
from ._shards import Job, ShardResult

if TYPE_CHECKING:
    from typing_extensions import Self


def _spark() -> Any:
    try:
        import pyspark.sql
    except ImportError as error:
        raise LibraryError(f"PySpark is not installed; run: {install_line('spark')}") from error
    return pyspark.sql


def embed_spark(df: Any, model: str | os.PathLike[str], text_column: str, **arguments: Any) -> Any:
    """Returns a Spark DataFrame with a column of vectors, array<float>.

    Args:
        df: a DataFrame of a classic session or of Spark Connect.
        model, text_column, **arguments: see EmbedBatches. Each Python worker of an executor opens the model once for
            all its tasks and uses all available processors unless `threads` is set: give a task as many
            (spark.task.cpus). A batch has at most spark.sql.execution.arrow.maxRecordsPerBatch rows.

    Raises:
        LibraryError: PySpark is not installed.
        CallerError, CallerTypeError: see EmbedBatches.
    """
    types = _spark().types
    embed = EmbedBatches(model, text_column, **arguments)
    if text_column not in df.columns:
        raise CallerError(f"there is no column '{text_column}'; the columns are: {', '.join(df.columns)}")
    is_lenient = embed.on_error == "skip"
    new = [embed.vector_column, *([embed.error_column, *SKIPPED_COLUMNS] if is_lenient else [])]
    if df.sparkSession.conf.get("spark.sql.caseSensitive", "false") == "true":
        refuse_names(df.columns, new)
    else:  # Spark does not distinguish "Vector" and "vector"
        refuse_names([name.lower() for name in df.columns], [name.lower() for name in new])
    fields = [*df.schema.fields, types.StructField(embed.vector_column, types.ArrayType(types.FloatType(), False))]
    if is_lenient:
        fields.append(types.StructField(embed.error_column, types.StringType()))

    def batches(given: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in given:
            found = embed(batch)
            at = found.schema.get_field_index(embed.vector_column)
            # Spark has no lists of fixed size.
            yield found.set_column(at, embed.vector_column, found.column(at).cast(_LIST))

    return df.mapInArrow(batches, types.StructType(fields))


_LIST = pa.list_(pa.field("element", pa.float32(), nullable=False))


class SparkEngine(Engine):
    """Runs each shard as a task. Spark repeats those lost with an executor.

    Args:
        session: a SparkSession; the active one or a new one if None.
    """

    def __init__(self, session: Any = None) -> None:
        sql = _spark()
        self._sql = sql
        self._session = session
        self._is_ours = False

    def __enter__(self) -> Self:
        if self._session is None:
            self._session = self._sql.SparkSession.getActiveSession()
        if self._session is None:
            # Workers would otherwise run python3, which may lack these packages.
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            self._session = self._sql.SparkSession.builder.appName("latebind.bulk").getOrCreate()
            self._is_ours = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_ours:
            self._session.stop()

    def answers(self, embed: EmbedBatches) -> Answers:
        return Answers(**self._each([0], lambda _: vars(embed.answers()))[0])

    def run(self, job: Job, shards: Sequence[int], advance: Advance) -> Iterator[ShardResult]:
        """Yields all results at the end, because Spark shows the progress."""
        for found in self._each(shards, lambda shard: asdict(job.run(shard))):
            advance(job.rows(found["shard"]))
            yield ShardResult(**found)

    def _each(self, numbers: Sequence[int], work: Any) -> list[dict[str, Any]]:
        """Calls work(number) in a separate task for each number."""

        def tasks(given: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in given:
                for position in batch.column(0).to_pylist():
                    # Returned rather than raised, because Spark would retry it four times in vain.
                    found = pack(partial(work, numbers[position]), CallerError)
                    yield pa.RecordBatch.from_pydict({"found": [found]})

        df = self._session.range(0, len(numbers), 1, numPartitions=len(numbers)).mapInArrow(tasks, "found string")
        with _errors():
            return [unpack(row["found"]) for row in df.collect()]


@contextmanager
def _errors() -> Iterator[None]:
    from pyspark.errors import PySparkException

    try:
        yield
    except LatebindError:
        raise
    except PySparkException as error:
        lines = str(error).strip().splitlines()
        ours = [line for line in lines if line.startswith("latebind.errors.")]
        raise TransientError(f"Spark has given up: {(ours or lines)[-1]}", retryable=True) from error
