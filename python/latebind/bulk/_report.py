"""Reports the result and the progress of a run."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ._shards import ShardResult

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True)
class Report:
    """The state of an output, and what the last run added.

    Attributes:
        shards, rows, skipped, tokens, truncated, fallback: of the whole output; `rows` have vectors, `skipped` have
            none, and `fallback` were computed by a device other than the preferred one.
        damaged: existing shards that were damaged or from another run, and were computed again.
        devices: the share of rows that each device computed, as {"openvino:CPU f32": 1.0}.
        shards_done, rows_done, seconds: of this run, without the scan of the input.
        rows_per_second, tokens_per_second: of this run.
        output: the place of the output.
    """

    output: str
    shards: int
    rows: int
    skipped: int
    tokens: int
    truncated: int
    fallback: int
    damaged: int
    devices: dict[str, float]
    shards_done: int
    rows_done: int
    seconds: float
    rows_per_second: float
    tokens_per_second: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        shares = ", ".join(f"{device} {share:.1%}" for device, share in self.devices.items()) or "none"
        lines = [
            f"{self.output}: {_count(self.rows, 'row')} in {_count(self.shards, 'shard')}",
            f"this run: {_count(self.rows_done, 'row')} in {self.seconds:.1f} s, {self.rows_per_second:.1f} rows/s",
            f"tokens: {self.tokens}, {self.tokens_per_second:.0f} a second; {_count(self.truncated, 'text')} cut",
            f"devices: {shares}; fallbacks: {_count(self.fallback, 'row')}",
            f"skipped: {_count(self.skipped, 'row')}",
        ]
        if self.damaged:
            lines.append(f"rebuilt after damage: {_count(self.damaged, 'shard')}")
        return "\n".join(lines)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def report_of(
    output: str, earlier: Iterable[ShardResult], now: list[ShardResult], damaged: int, seconds: float
) -> Report:
    every = [*earlier, *now]
    rows = sum(each.rows for each in every)
    devices: Counter[str] = Counter()
    for each in every:
        devices[each.device] += each.rows
    rows_done = sum(each.rows for each in now)
    return Report(
        output=output,
        shards=len(every),
        rows=rows,
        skipped=sum(each.skipped for each in every),
        tokens=sum(each.tokens for each in every),
        truncated=sum(each.truncated for each in every),
        fallback=sum(each.fallback for each in every),
        damaged=damaged,
        devices={device: count / rows for device, count in devices.most_common() if count},
        shards_done=len(now),
        rows_done=rows_done,
        seconds=seconds,
        rows_per_second=rows_done / seconds if now else 0.0,
        tokens_per_second=sum(each.tokens for each in now) / seconds if now else 0.0,
    )


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with a message about what was kept."""


class Progress:
    """A line on a terminal with rows, rate, and remaining time. Writes nothing to other streams."""

    def __init__(self, total: int, done: int, shows: bool) -> None:
        """The output has `total` rows, of which `done` already exist."""
        # A process may have no error stream.
        self._shows = shows and sys.stderr is not None and sys.stderr.isatty()
        self._total = total
        self._before = self._done = done
        self._start = time.monotonic()

    def __enter__(self) -> Self:
        self.add(0)
        return self

    def __exit__(self, *_: object) -> None:
        if self._shows:
            self._write("")

    def add(self, rows: int) -> None:
        self._done += rows
        if not self._shows:
            return
        seconds = time.monotonic() - self._start
        rate = (self._done - self._before) / max(seconds, 1e-9)
        left = f"{rate:.1f} rows/s, {_duration((self._total - self._done) / rate)} left" if rate else "starting"
        self._write(f"{self._done} of {self._total} rows ({self._done / max(self._total, 1):.1%}), {left}")

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def _duration(seconds: float) -> str:
    whole = round(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {whole % 60:02d} s"
