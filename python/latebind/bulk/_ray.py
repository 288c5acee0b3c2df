"""Runs EmbedBatches in Ray Data's pool of actors, and shards in a pool of this module."""

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

from .._extras import install_line
from ..errors import CallerError, LatebindError, LibraryError, TransientError
from ._batches import EmbedBatches
from ._engine import Engine, pack, unpack
from ._follow import Advance
from ._model import Answers
from ._shards import Job, ShardResult

if TYPE_CHECKING:
    from typing_extensions import Self

# The actors of a pool: a number, or a minimum and a maximum, between which the load decides.
Pool = int | tuple[int, int]


# How many losses of one shard, or of starting actors in a row, count as accidents.
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
    """Returns a Ray Data dataset with a column of vectors.

    Args:
        dataset: a ray.data.Dataset.
        model, text_column, **arguments: see EmbedBatches. An actor's model uses all available processors: if several
            actors share a machine, set `threads`.
        concurrency: the number of actors, or (minimum, maximum).
        num_cpus: the processors of an actor.
        resources: further resources that an actor takes from its node, such as {"intel_npu": 1} on nodes started with
            it.
        batch_size: rows per batch.

    Raises:
        LibraryError: Ray Data is not installed.
        CallerError, CallerTypeError: see EmbedBatches.
    """
    embed = EmbedBatches(model, text_column, **arguments)
    least, most = _bounds(concurrency)
    try:
        from ray.data import ActorPoolStrategy
    except ImportError as error:
        raise LibraryError(f"Ray Data is not installed; run: {install_line('ray')}") from error
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
        """Returns once the actor has started."""

    def run(self, shard: int) -> str:
        return pack(lambda: asdict(self._job.run(shard)), LatebindError)


class _Pool:
    """A pool of actors, each with one shard at a time. If an actor or its node is lost, another actor repeats the
    shard.

    This is not a Ray Data dataset, whose executor and actors take several percent of a small cluster's time.
    """

    def __init__(self, ray: Any, job: Job, bounds: tuple[int, int], needs: dict[str, Any]) -> None:
        self._ray = ray
        # Spread over the nodes while there is room. Lost actors are replaced rather than restarted.
        self._make = ray.remote(**needs, scheduling_strategy="SPREAD")(_Shards).remote
        self._job = ray.put(job)
        self._least, self._most = bounds
        self._starting: dict[Any, Any] = {}  # actor by its begin()
        self._busy: dict[Any, tuple[Any, int]] = {}  # actor and shard by its run()
        self._idle: list[Any] = []
        self._proven: set[Any] = set()  # actors that have finished a shard and thus opened the model
        self._failed_starts = 0  # since a first shard succeeded; every shard of other actors reduces it
        self._losses: Counter[int] = Counter()  # by shard, on actors that had finished others

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
        # A node on which actors fail to start always has room for another one, so it is left alone for a while if other
        # actors are working. Actors without room wait in Ray, where the autoscaler sees them.
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
        """Handles an actor lost before its first shard. Raises its error after several in a row if no actor is working."""
        self._ray.kill(actor)  # an unreachable actor would keep its resources
        self._failed_starts += 1
        if self._failed_starts > _LOSSES_MAX and not (self._busy or self._idle):
            raise error

    def _ran(self, call: Any, waiting: deque[int]) -> ShardResult | None:
        """Returns the shard's result, or None if it was lost and queued again."""
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
    """Runs shards in actors. If an actor or a node is lost, another actor repeats its shards.

    Uses the cluster that this process is connected to, otherwise the one named by RAY_ADDRESS or running on this
    machine, otherwise starts one for the duration of the run.

    Args:
        concurrency: the number of actors, or (minimum, maximum). Work begins with the first actor that finds room; once
            no shard waits, idle actors above the minimum end.
        num_cpus, resources: see embed_ray(); an actor takes one processor if None.

    Raises:
        LibraryError: Ray is not installed.
        CallerError: concurrency is not a number of actors.
    """

    def __init__(
        self, concurrency: Pool = 1, num_cpus: float | None = None, resources: dict[str, float] | None = None
    ) -> None:
        try:
            import ray
        except ImportError as error:
            raise LibraryError(f"Ray is not installed; run: {install_line('ray')}") from error
        self._ray = ray
        self._bounds = _bounds(concurrency)
        self._needs: dict[str, Any] = {"num_cpus": 1 if num_cpus is None else num_cpus, "resources": resources or {}}
        self._is_ours = False
        self._witness: _Witness | None = None

    def __enter__(self) -> Self:
        if not self._ray.is_initialized():
            # Disables usage reports of a cluster that is started here.
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
            # In a process with a single call, which ends and leaves its memory to the actors.
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
