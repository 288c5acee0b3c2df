"""Adds vectors to an Arrow table, the step that every engine runs: EmbedBatches."""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from .. import __version__
from .._library import c_text
from .._out import Vectors
from .._settings import settings_of
from .._text_model import EmbedStats
from ..errors import CallerError, CallerTypeError, InternalError, LatebindError
from ._columns import lists, names_of, others, taken, unreadable, with_readable, without_other_entries
from ._damage import RowError, refuse_damage
from ._model import Answers, OpenModel, open_model

Batch = TypeVar("Batch", pa.Table, pa.RecordBatch)

# Rows that are computed together. An interrupted shard resumes at such a window.
WINDOW_ROWS = 1024
# The key in the schema's metadata.
METADATA_KEY = b"latebind"
# Additional columns of skipped rows; latebind_file for rows from files.
SKIPPED_COLUMNS = ("latebind_file", "latebind_row", "latebind_reason")
_STRINGS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null)


@dataclass(frozen=True)
class Embedded:
    """The result of embedding a batch.

    Attributes:
        table: the embedded rows with the column of vectors; a Table or RecordBatch like the batch.
        skipped: the other rows, with `latebind_row`, the position in the batch, and `latebind_reason`.
        tokens: tokens without padding.
        truncated: rows whose text was truncated.
        fallback: rows computed by a device other than the preferred one.
        answers: what computed the vectors.
        is_mixed: whether another device took over midway.
    """

    table: Any
    skipped: Any
    tokens: int
    truncated: int
    fallback: int
    answers: Answers
    is_mixed: bool


@dataclass(frozen=True)
class _Done:
    """The vectors of the rows in `good`, and the reasons why the others have none."""

    good: Any  # intp[n]
    vectors: Vectors
    reasons: dict[int, str]
    counts: Counts
    answers: Answers
    is_mixed: bool


@dataclass(frozen=True)
class Counts:
    """Statistics of embedded rows; see Embedded."""

    tokens: int = 0
    truncated: int = 0
    fallback: int = 0

    @classmethod
    def since(cls, before: EmbedStats, after: EmbedStats) -> Counts:
        return cls(
            after.tokens - before.tokens,
            after.truncated_texts - before.truncated_texts,
            after.fallback_texts - before.fallback_texts,
        )

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.tokens + other.tokens, self.truncated + other.truncated, self.fallback + other.fallback)


class Follower:
    """Observes one embed(), window by window. This base class does nothing."""

    def begun(self, answers: Answers) -> tuple[Vectors, Counts] | None:
        """Returns vectors of the first usable rows that an earlier call computed, in whole windows."""
        return None

    def add(self, vectors: Vectors, counts: Counts) -> None:
        """Receives `vectors`, those of all rows computed so far."""


def refuse_names(names: Sequence[str], new: Sequence[str]) -> None:
    """Checks the names of columns.

    Raises:
        CallerError: a name occurs twice, or a new name is taken.
    """
    for name, count in Counter(names).items():
        if count > 1:
            raise CallerError(f"there are {count} columns '{name}'; rename all but one")
        if name in new:
            raise CallerError(
                f"there is already a column '{name}'; rename it, or choose another name for the vectors (vector_column, --vector-column)"
            )


class EmbedBatches:
    """Adds vectors to batches of rows.

    The vectors depend only on the batch and on what answers: device batches are never shared with other calls. The
    object can be pickled; each process opens the model when its first batch arrives. If the model's files change
    afterwards, the next batch fails.

    Args:
        model: see Embedder; a folder must exist on every machine that embeds. A relative path refers to the current
            folder at construction.
        text_column: a column of strings (string, large_string, string_view, or a dictionary of these).
        vector_column: the name of the new column, FixedSizeList<float32>[d].
        prompt_name, prompt, role, task, normalize, dimensions: see Embedder.encode().
        on_error: the effect of a row without a usable text (a null, bytes that are not UTF-8, a text whose vector is
            not finite): "fail" or "skip"; see embed() and __call__().
        **settings: see Embedder: `device="npu"`, `precision="bf16"`, `threads=4`.

    Raises:
        CallerError, CallerTypeError: an argument is invalid.
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        text_column: str,
        *,
        vector_column: str = "vector",
        prompt_name: str | None = None,
        prompt: str | None = None,
        role: str | None = None,
        task: str | None = None,
        normalize: bool = False,
        dimensions: int | None = None,
        on_error: str = "fail",
        **settings: Any,
    ) -> None:
        for name, value in (("text_column", text_column), ("vector_column", vector_column)):
            if not isinstance(value, str):
                raise CallerTypeError(f"{name} is {type(value).__name__}; give the name of a column")
        if on_error not in ("fail", "skip"):
            raise CallerError(f"on_error is {on_error!r}; give 'fail' or 'skip'")
        self._given = c_text(model, "model").decode()
        self.model = os.path.abspath(self._given) if os.path.exists(self._given) else self._given
        self._digest: str | None = None  # of the model, once opened
        self.text_column = text_column
        self.vector_column = vector_column
        self.on_error = on_error
        self.encoding: dict[str, Any] = {
            "prompt_name": prompt_name,
            "prompt": prompt,
            "role": role,
            "task": task,
            "normalize": normalize,
            "dimensions": dimensions,
        }
        self.settings = settings
        self._is_checked = False
        settings_of(settings)  # rejects unknown settings

    @property
    def error_column(self) -> str:
        """The column with the reason why a row has no vector, for calls with on_error="skip"."""
        return f"{self.vector_column}_error"

    def described(self) -> dict[str, Any]:
        """Returns all arguments except the model, in JSON's types."""
        settings = {
            name: value if isinstance(value, (bool, int, str)) else str(value)
            for name, value in sorted(self.settings.items())
            if value is not None
        }
        return {
            "text_column": self.text_column,
            "vector_column": self.vector_column,
            **self.encoding,
            "on_error": self.on_error,
            "embedder": settings,
        }

    def answers(self) -> Answers:
        """Returns what would answer in this process, opening the model.

        Raises:
            LatebindError: see Embedder.
        """
        return self._open().answers()

    def check(self, schema: pa.Schema, kept: Sequence[str] | None = None) -> None:
        """Checks that a schema can be embedded.

        Args:
            kept: the columns that are read; all if None.

        Raises:
            CallerError: the text column is missing, a name occurs twice, or the name of a new column is taken.
            CallerTypeError: the text column does not contain strings.
        """
        names = names_of(schema)
        if names.count(self.text_column) != 1:
            found = "there are several columns" if self.text_column in names else "there is no column"
            raise CallerError(
                f"{found} '{self.text_column}'; the columns are: {', '.join(names) or 'none'} (name another with "
                "text_column, --text-column or, in the program, --text-field)"
            )
        is_lenient = self.on_error == "skip"
        refuse_names(
            names if kept is None else kept,
            [self.vector_column, *([self.error_column, *SKIPPED_COLUMNS] if is_lenient else [])],
        )
        kind = schema.field(self.text_column).type
        values = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not any(fits(values) for fits in _STRINGS):
            raise CallerTypeError(f"the column '{self.text_column}' is {kind}; strings are needed")

    def embed(self, batch: pa.Table | pa.RecordBatch, follower: Follower | None = None) -> Embedded:
        """Returns the rows with vectors and, with on_error="skip", the rows without vectors in a separate table.

        Args:
            follower: receives each window of rows once computed.

        Raises:
            CallerError, CallerTypeError: see check(); or this is not an Arrow batch, or a column is damaged.
            RowError: with on_error="fail", a row has no usable text; the message has its position.
        """
        done = self._compute(batch, follower or Follower())
        table = batch
        if done.reasons:
            table = without_other_entries(taken(batch, done.good), self.text_column)
        table = table.append_column(self.vector_column, lists(done.vectors))
        bad = sorted(done.reasons)
        skipped = taken(batch, np.array(bad, np.intp)) if bad else batch.slice(0, 0)
        skipped = with_readable(skipped, self.text_column)
        skipped = skipped.append_column("latebind_row", pa.array(bad, pa.int64()))
        skipped = skipped.append_column("latebind_reason", pa.array([done.reasons[row] for row in bad], pa.string()))
        return Embedded(
            self._labelled(table, done.answers),
            skipped,
            done.counts.tokens,
            done.counts.truncated,
            done.counts.fallback,
            done.answers,
            done.is_mixed,
        )

    def __call__(self, batch: Batch) -> Batch:
        """Returns the batch with a column of vectors and all rows in place.

        With on_error="skip", a row without a usable text has a null, and the additional column VECTOR_COLUMN_error has
        the reason, which is null in all other rows.

        Raises:
            the errors of embed()
        """
        done = self._compute(batch, Follower())
        vectors, absent = done.vectors, None
        if done.reasons:
            absent = np.ones(batch.num_rows, np.bool_)
            absent[done.good] = False
            vectors = np.zeros((batch.num_rows, done.vectors.shape[1]), np.float32)
            vectors[done.good] = done.vectors
        table = batch.append_column(self.vector_column, lists(vectors, absent))
        if self.on_error == "skip":
            reasons = [done.reasons.get(row) for row in range(batch.num_rows)] if done.reasons else None
            table = table.append_column(
                self.error_column, pa.array(reasons, pa.string()) if reasons else pa.nulls(batch.num_rows, pa.string())
            )
        return self._labelled(table, done.answers)

    def __repr__(self) -> str:
        return f"EmbedBatches({self.model!r}, {self.text_column!r})"

    # -- Inside --------------------------------------------------------------------------------------------------------

    def _open(self) -> OpenModel:
        # An engine may have copied the folder to another machine, into the worker's current folder.
        opened = open_model(self.model if os.path.exists(self.model) else self._given, self.settings)
        if self._digest not in (None, opened.digest):
            what = f" ('{opened.changed}' was changed)" if opened.changed else ""
            raise CallerError(
                f"the model {self.model} has changed since this was first used{what}, but all vectors of an output must be of one "
                "model; create a new EmbedBatches for the new one, and keep other files out of a model's folder"
            )
        self._digest = opened.digest
        with opened.lock:
            if not self._is_checked:
                # Checks the prompt and the dimensions before an output is begun.
                with contextlib.suppress(InternalError):
                    opened.embedder.encode("a", **self.encoding)
                self._is_checked = True
        return opened

    def _labelled(self, table: Any, answers: Answers) -> Any:
        label = {
            "model": answers.model,
            "device": answers.device,
            "precision": answers.precision,
            "version": __version__,
            "settings": self.described(),
        }
        return table.replace_schema_metadata({**(table.schema.metadata or {}), METADATA_KEY: json.dumps(label)})

    def _texts_of(self, batch: Any) -> Any:
        """Returns the column of texts as strings."""
        if not isinstance(batch, (pa.Table, pa.RecordBatch)):
            raise CallerTypeError(f"the batch is {type(batch).__name__}; give a Table or RecordBatch of pyarrow")
        self.check(batch.schema)
        refuse_damage(batch, self.text_column)
        texts = batch.column(self.text_column)
        if pa.types.is_dictionary(texts.type) or pa.types.is_null(texts.type):
            texts = texts.cast(pa.string())
        return texts

    def _compute(self, batch: Any, follower: Follower) -> _Done:
        texts = self._texts_of(batch)
        reasons = unreadable(texts)
        if reasons and self.on_error == "fail":
            row = min(reasons)
            raise RowError(f"row {row} of column '{self.text_column}' cannot be embedded: {reasons[row]}")
        opened = self._open()
        with opened.lock:
            expected = opened.answers()
            good = others(len(texts), reasons)
            try:
                vectors, counts = self._encode(opened, texts, good, follower)
            except InternalError:
                # Only this error concerns a text rather than the device: its vector is not finite, or zero.
                if self.on_error == "fail":
                    raise
                reasons.update(self._without_vector(opened, texts, good))
                good = others(len(texts), reasons)
                vectors, counts = self._encode(opened, texts, good, Follower())
            answers = opened.answers()
            # A model opened without its preferred device always counts as a fallback.
            is_mixed = answers != expected or (counts.fallback > 0 and not opened.embedder.attestation.fallback)
        return _Done(good, vectors, reasons, counts, answers, is_mixed)

    def _encode(self, opened: OpenModel, texts: Any, rows: Any, follower: Follower) -> tuple[Vectors, Counts]:
        if len(rows) != len(texts):
            texts = taken(texts, rows)
        embedder = opened.embedder
        vectors = np.empty((len(rows), self.encoding["dimensions"] or embedder.dimension), np.float32)
        first, earlier = follower.begun(opened.answers()) or (vectors[:0], Counts())
        done = len(first)
        vectors[:done] = first
        before = embedder.stats
        # A window depends only on its rows, not on later ones.
        windows = embedder.encode_stream(texts.slice(done), window_texts=WINDOW_ROWS, **self.encoding)
        try:
            for window in windows:
                vectors[done : done + len(window)] = window
                done += len(window)
                follower.add(vectors[:done], earlier + Counts.since(before, embedder.stats))
        except LatebindError as error:
            if len(first):
                error.message = f"in the rows from {len(first)} on: {error.message}"
            raise
        return vectors, earlier + Counts.since(before, embedder.stats)

    def _without_vector(self, opened: OpenModel, texts: Any, rows: Any) -> dict[int, str]:
        """Finds the rows without vectors by bisection, at about twice the cost of one call per such row."""
        try:
            self._encode(opened, texts, rows, Follower())
        except InternalError as error:
            if len(rows) == 1:
                return {int(rows[0]): error.message}
            middle = len(rows) // 2
            return {
                **self._without_vector(opened, texts, rows[:middle]),
                **self._without_vector(opened, texts, rows[middle:]),
            }
        return {}
