"""The base of the engines, and the engine that is always available: this process."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from .._call import Work
from ..errors import LatebindError, TransientError
from ._batches import EmbedBatches
from ._follow import Advance, ShardFollower, save_quietly
from ._model import Answers
from ._shards import Job, ShardResult

if TYPE_CHECKING:
    from typing_extensions import Self

_ERROR = "error "


def pack(work: Callable[[], dict[str, Any]], errors: type[LatebindError]) -> str:
    """Serialises the result of work(), or the error that it raised, for the process that asked for it."""
    try:
        return json.dumps(work())
    except errors as error:
        return f"{_ERROR}{pickle.dumps(error).hex()}"


def unpack(packed: str) -> dict[str, Any]:
    """Returns the result that pack() serialised.

    Raises:
        LatebindError: the error that the work raised.
    """
    if packed.startswith(_ERROR):
        raise pickle.loads(bytes.fromhex(packed[len(_ERROR) :]))
    found: dict[str, Any] = json.loads(packed)
    return found


class Engine:
    """Runs shards within a `with` block. This base class does so locally, reading and writing during the computation."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def answers(self, embed: EmbedBatches) -> Answers:
        """Returns what would answer where shards are computed."""
        return embed.answers()

    def run(self, job: Job, shards: Sequence[int], advance: Advance) -> Iterator[ShardResult]:
        """Runs the shards and yields each result once written, in any order.

        Calls advance(rows) as rows are completed. Keeps the completed part of a shard that cannot be finished, if
        possible.
        """
        ahead = Work(partial(job.read, shards[0]))
        behind: Work[ShardResult] | None = None
        try:
            ahead.start()
            for at, shard in enumerate(shards):
                table = ahead.result()
                if at + 1 < len(shards):
                    ahead = Work(partial(job.read, shards[at + 1]))
                    ahead.start()
                follower = ShardFollower(job, shard, advance)
                try:
                    embedded = job.compute(shard, table, follower)
                except (KeyboardInterrupt, TransientError):
                    save_quietly(follower)
                    raise
                follower.end()
                if behind is not None:
                    yield behind.result()
                behind = Work(partial(job.write, shard, embedded))
                behind.start()
            if behind is not None:
                yield behind.result()
        finally:
            ahead.end()
            if behind is not None:
                behind.end()
