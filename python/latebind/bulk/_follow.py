"""Follows a shard while it is embedded, and saves its progress if it ends too early."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..errors import LatebindError
from ._batches import Counts, Follower

if TYPE_CHECKING:
    from .._out import Vectors
    from ._model import Answers
    from ._shards import Job

# The most work that killing a run can lose.
_SAVE_SECONDS = 30.0

Advance = Callable[[int], None]


class ShardFollower(Follower):
    """For one thread.

    Args:
        advance: called with the number of rows completed since the last call.
    """

    def __init__(self, job: Job, shard: int, advance: Advance) -> None:
        self._job = job
        self._shard = shard
        self._advance = advance
        self._saved = time.monotonic()
        self._now: tuple[Answers, Vectors, Counts] | None = None
        self._answers: Answers | None = None
        self._rows = 0  # already reported to `advance`

    def begun(self, answers: Answers) -> tuple[Vectors, Counts] | None:
        self._answers = answers
        found = self._job.begun(self._shard, answers)
        if found is not None:
            self._tell(len(found[0]))
        return found

    def add(self, vectors: Vectors, counts: Counts) -> None:
        assert self._answers is not None
        self._now = (self._answers, vectors, counts)
        self._tell(len(vectors))
        if time.monotonic() - self._saved >= _SAVE_SECONDS:
            self.save()
            self._saved = time.monotonic()

    def save(self) -> None:
        """Saves the completed windows for a later run."""
        if self._now is not None:
            self._job.keep_begun(self._shard, *self._now)

    def end(self) -> None:
        """Reports all rows as done, including those without a vector."""
        self._tell(self._job.rows(self._shard))

    def _tell(self, rows: int) -> None:
        if rows > self._rows:
            self._advance(rows - self._rows)
            self._rows = rows


def save_quietly(follower: ShardFollower) -> None:
    """Calls save() while another error is being raised, and ignores its errors."""
    try:
        follower.save()
    except LatebindError:
        pass  # the previous save remains
