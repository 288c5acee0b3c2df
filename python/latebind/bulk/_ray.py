"""Ray Data: EmbedBatches in a pool of actors."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..errors import CallerError, LatebindError, LibraryError, TransientError
from ._batches import EmbedBatches
from ._engine import Engine, pack, unpack
from ._model import Answers
from ._shards import Job, ShardResult

if TYPE_CHECKING:
    from typing_extensions import Self

# Actors of a pool: a number, or the least and the most, between which the load decides.
Pool = int | tuple[int, int]


def _ray() -> Any:
    try:
        import ray.data
    except ImportError as error:
        raise LibraryError("Ray Data is not installed; type: pip install latebind[ray]") from error
    return ray


def _actors(ray: Any, concurrency: Pool) -> Any:
    least, most = (concurrency, concurrency) if isinstance(concurrency, int) else concurrency
    if not 1 <= least <= most:
        raise CallerError(f"concurrency is {concurrency}; give a number of actors, or (least, most)")
    return ray.data.ActorPoolStrategy(min_size=least, max_size=most)


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
    return dataset.map_batches(
        _Batches,
        fn_constructor_args=(embed,),
        batch_size=batch_size,
        batch_format="pyarrow",
        compute=_actors(_ray(), concurrency),
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

    def __call__(self, row: dict[str, Any]) -> dict[str, str]:
        return {"found": pack(lambda: asdict(self._job.run(int(row["id"]))), LatebindError)}


class RayEngine(Engine):
    """Shards as rows of a dataset. What is lost with an actor or a node is done again by another one.

    Uses the cluster that this process is connected to, else the one that RAY_ADDRESS names or that runs here, else
    starts one here for the time of the run.

    Args:
        concurrency, num_cpus, resources: as of embed_ray().
    """

    def __init__(
        self, concurrency: Pool = 1, num_cpus: float | None = None, resources: dict[str, float] | None = None
    ) -> None:
        self._ray = _ray()
        self._actors = _actors(self._ray, concurrency)
        self._needs: dict[str, Any] = {"num_cpus": num_cpus, "resources": resources}
        self._is_ours = False

    def __enter__(self) -> Self:
        if not self._ray.is_initialized():
            # What is started here tells nobody.
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            self._ray.init(logging_level=logging.ERROR, log_to_driver=False)
            logging.getLogger("ray.data").setLevel(logging.ERROR)
            self._is_ours = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_ours:
            self._ray.shutdown()

    def answers(self, embed: EmbedBatches) -> Answers:
        needs = {name: value for name, value in self._needs.items() if value is not None}
        with _errors(self._ray):
            # One call, so that the process ends and leaves its memory to actors.
            asked = self._ray.remote(max_calls=1, **needs)(_answers)
            return Answers(**unpack(self._ray.get(asked.remote(embed))))

    def run(self, job: Job, shards: Sequence[int]) -> Iterator[ShardResult]:
        context = self._ray.data.DataContext.get_current()
        shows, context.enable_progress_bars = context.enable_progress_bars, False
        try:
            rows = self._ray.data.from_items([{"id": shard} for shard in shards], override_num_blocks=len(shards))
            done = rows.map(_Shards, fn_constructor_args=(job,), compute=self._actors, **self._needs)
            with _errors(self._ray):
                for row in done.iter_rows():
                    yield ShardResult(**unpack(row["found"]))
        finally:
            context.enable_progress_bars = shows


@contextmanager
def _errors(ray: Any) -> Iterator[None]:
    try:
        yield
    except ray.exceptions.RayError as error:
        raise TransientError(f"Ray has given up: {str(error).strip().splitlines()[-1]}", retryable=True) from error
