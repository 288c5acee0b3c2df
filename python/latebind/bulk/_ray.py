"""Ray: EmbedBatches in a pool of Ray Data's actors, and shards in a pool of its own."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..errors import CallerError, LatebindError, LibraryError, TransientError
from ._batches import EmbedBatches
from ._engine import Engine, pack, unpack
from ._follow import Advance
from ._model import Answers
from ._shards import Job, ShardResult

if TYPE_CHECKING:
    from typing_extensions import Self

# Actors of a pool: a number, or the least and the most, between which the load decides.
Pool = int | tuple[int, int]


# So often a shard, or one actor after the other as it starts, may be lost before that is taken for no accident.
_LOSSES_MAX = 3


def _bounds(concurrency: Pool) -> tuple[int, int]:
    least, most = (concurrency, concurrency) if isinstance(concurrency, int) else concurrency
    if not 1 <= least <= most:
        raise CallerError(f"concurrency is {concurrency}; give a number of actors, or (least, most)")
    return least, most


def embed_ray(
    dataset: Any,
    model: str | os.PathLike[str],
    text_column: str,
    *,
    concurrency: Pool = 1,
    num_cpus: float | None = None,
    resources: dict[str, float] | None = None,
    batch_size: int = 4096,
    **arguments: Any,
) -> Any:
    """A dataset of Ray Data with a column of vectors.

    Args:
        dataset: a ray.data.Dataset.
        model, text_column, **arguments: as of EmbedBatches. An actor's model uses all processors that it finds:
            where several actors share a machine, give `threads`.
        concurrency: actors: a number, or (least, most).
        num_cpus: of an actor.
        resources: what else an actor takes of its node, as {"intel_npu": 1} where nodes were started with it.
        batch_size: rows of a batch.

    Raises:
        LibraryError: Ray Data is not installed. CallerError, CallerTypeError: as of EmbedBatches.
    """
    embed = EmbedBatches(model, text_column, **arguments)
    least, most = _bounds(concurrency)
    try:
        from ray.data import ActorPoolStrategy
    except ImportError as error:
        raise LibraryError("Ray Data is not installed; run: pip install 'latebind[ray]'") from error
    return dataset.map_batches(
        _Batches,
        fn_constructor_args=(embed,),
        batch_size=batch_size,
        batch_format="pyarrow",
        compute=ActorPoolStrategy(min_size=least, max_size=most),
        num_cpus=num_cpus,
        resources=resources,
    )


class _Batches:
    """An actor for batches."""

    def __init__(self, embed: EmbedBatches) -> None:
        self._embed = embed

    def __call__(self, table: Any) -> Any:
        return self._embed(table)


def _answers(embed: EmbedBatches) -> str:
    return pack(lambda: vars(embed.answers()), LatebindError)


class _Shards:
    """An actor for shards."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def begin(self) -> None:
        """Is done once there is such an actor."""

    def run(self, shard: int) -> str:
        return pack(lambda: asdict(self._job.run(shard)), LatebindError)


class _Pool:
    """Actors, each of which has one shard at a time. What is lost with an actor or its node is done by another one.

    Not a dataset of Ray Data, whose executor and actors of its own take several hundredths of a small cluster's time.
    """

    def __init__(self, ray: Any, job: Job, bounds: tuple[int, int], needs: dict[str, Any]) -> None:
        self._ray = ray
        # On different nodes as long as there is room; none starts again by itself: another one takes its place.
        self._make = ray.remote(**needs, scheduling_strategy="SPREAD")(_Shards).remote
        self._job = ray.put(job)
        self._least, self._most = bounds
        self._starting: dict[Any, Any] = {}  # an actor by its begin()
        self._busy: dict[Any, tuple[Any, int]] = {}  # an actor and a shard by its run()
        self._idle: list[Any] = []
        self._proven: set[Any] = set()  # those that have done a shard, and so have opened the model
        self._failed_starts = 0  # since one did its first shard; fewer with each shard of others
        self._losses: Counter[int] = Counter()  # of shards, with actors that had done others

    def run(self, shards: Sequence[int]) -> Iterator[ShardResult]:
        waiting = deque(shards)
        try:
            while waiting or self._busy:
                self._hand_out(waiting)
                done, _ = self._ray.wait([*self._starting, *self._busy])
                for call in done:
                    if call in self._starting:
                        self._begun(call)
                    elif (result := self._ran(call, waiting)) is not None:
                        yield result
        finally:
            for actor in [*self._starting.values(), *(actor for actor, _ in self._busy.values()), *self._idle]:
                self._ray.kill(actor)

    def _hand_out(self, waiting: deque[int]) -> None:
        while waiting and self._idle:
            actor, shard = self._idle.pop(), waiting.popleft()
            self._busy[actor.run.remote(shard)] = actor, shard
        # On a node where none starts there is always room for one more: while others are at work, it is left alone for a
        # while. Those for which there is no room yet wait for it in Ray, whose autoscaler sees them.
        most = 0 if self._failed_starts > _LOSSES_MAX and self._busy else self._most
        while len(self._starting) < len(waiting) and len(self._starting) + len(self._busy) < most:
            actor = self._make(self._job)
            self._starting[actor.begin.remote()] = actor
        while not waiting and self._idle and len(self._idle) + len(self._busy) > self._least:
            self._ray.kill(self._idle.pop())

    def _begun(self, call: Any) -> None:
        actor = self._starting.pop(call)
        try:
            self._ray.get(call)
        except self._ray.exceptions.RayActorError as error:
            self._lost_early(actor, error)
        else:
            self._idle.append(actor)

    def _lost_early(self, actor: Any, error: Exception) -> None:
        """Of an actor that has done nothing: raises its error, where such are lost in succession and none is at work."""
        self._ray.kill(actor)  # one that only cannot be reached would keep its place
        self._failed_starts += 1
        if self._failed_starts > _LOSSES_MAX and not (self._busy or self._idle):
            raise error

    def _ran(self, call: Any, waiting: deque[int]) -> ShardResult | None:
        """What became of the shard; None if it is lost, and waits again."""
        actor, shard = self._busy.pop(call)
        try:
            packed = self._ray.get(call)
        except self._ray.exceptions.RayActorError as error:
            waiting.appendleft(shard)
            if actor not in self._proven:
                self._lost_early(actor, error)
                return None
            self._ray.kill(actor)
            self._proven.remove(actor)
            self._losses[shard] += 1
            if self._losses[shard] > _LOSSES_MAX:
                raise TransientError(
                    f"shard {shard} was lost with its actor {self._losses[shard]} times: {_last_line(error)}",
                    retryable=True,
                ) from error
            return None
        self._failed_starts = max(self._failed_starts - 1, 0) if actor in self._proven else 0
        self._proven.add(actor)
        self._idle.append(actor)
        return ShardResult(**unpack(packed))


_WITNESS = """
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
*_, last = sys.stdin.read().split("\\0")
if last:
    print(last, file=sys.stderr)
"""


class _Witness:
    """Says why this process is gone, where Ray ends it: it does so at once, without an error and without a word on any
    stream, where it loses its node or the cluster's head, also as it is to be left.

    Another process, which prints what it was told last once this one has ended, and nothing after leave().
    """

    def __init__(self) -> None:
        self._process = None
        if sys.executable:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _WITNESS],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # what interrupts this process is none of its business
            )
        self.tell("this process was terminated, by Ray because its node or the cluster's head is lost, or by a user")

    def tell(self, reason: str) -> None:
        self._write(f"\0latebind.bulk: {reason}; finished shards are kept; run again to continue")

    def leave(self) -> None:
        self._write("\0")
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
            self._process.wait()

    def _write(self, text: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):  # it was ended
                self._process.stdin.write(text.encode(errors="replace"))
                self._process.stdin.flush()


class RayEngine(Engine):
    """Shards in actors. What is lost with an actor or a node is done again by another one.

    Uses the cluster that this process is connected to, else the one that RAY_ADDRESS names or that runs here, else
    starts one here for the time of the run.

    Args:
        concurrency: actors: a number, or (least, most). It begins with the first for which there is room, and has as
            many as there is room for; once no shard waits, all but the least end as they have nothing to do.
        num_cpus, resources: as of embed_ray(); an actor takes one processor if None.

    Raises:
        LibraryError: Ray is not installed. CallerError: concurrency is no number of actors.
    """

    def __init__(
        self, concurrency: Pool = 1, num_cpus: float | None = None, resources: dict[str, float] | None = None
    ) -> None:
        try:
            import ray
        except ImportError as error:
            raise LibraryError("Ray is not installed; run: pip install 'latebind[ray]'") from error
        self._ray = ray
        self._bounds = _bounds(concurrency)
        self._needs: dict[str, Any] = {"num_cpus": 1 if num_cpus is None else num_cpus, "resources": resources or {}}
        self._is_ours = False
        self._witness: _Witness | None = None

    def __enter__(self) -> Self:
        if not self._ray.is_initialized():
            # What is started here tells nobody.
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            try:
                self._ray.init(logging_level=logging.ERROR, log_to_driver=False)
            except ConnectionError as error:
                raise TransientError(f"Ray cannot be reached: {_last_line(error)}", retryable=True) from error
            self._is_ours = True
        self._witness = _Witness()
        return self

    def __exit__(self, *raised: object) -> None:
        if self._witness is not None and raised[1] is not None:
            self._witness.tell(str(raised[1]))
        if self._is_ours:
            self._ray.shutdown()
        if self._witness is not None:
            self._witness.leave()

    def answers(self, embed: EmbedBatches) -> Answers:
        with _errors(self._ray):
            # One call, so that the process ends and leaves its memory to actors.
            asked = self._ray.remote(max_calls=1, **self._needs)(_answers)
            return Answers(**unpack(self._ray.get(asked.remote(embed))))

    def run(self, job: Job, shards: Sequence[int], advance: Advance) -> Iterator[ShardResult]:
        with _errors(self._ray):
            for result in _Pool(self._ray, job, self._bounds, self._needs).run(shards):
                advance(job.rows(result.shard))
                yield result


def _last_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[-1]


@contextmanager
def _errors(ray: Any) -> Iterator[None]:
    try:
        yield
    except ray.exceptions.RayError as error:
        raise TransientError(f"Ray has given up: {_last_line(error)}", retryable=True) from error
