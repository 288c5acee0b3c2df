"""Shows progress bars if tqdm is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress_bar(total: int | None, shows: bool, unit: str, doing: str) -> Iterator[Callable[[int], Any]]:
    """Yields a function to call with the number of completed units. `unit` and `doing` label the bar, such as "text"
    and "Embedding"."""
    tqdm: Any = None
    if shows:
        try:
            from tqdm.auto import tqdm  # type: ignore[import-untyped,no-redef,unused-ignore]
        except ImportError:
            pass
    if tqdm is None:
        yield lambda count: None
        return
    with tqdm(total=total, unit=unit, desc=doing) as bar:
        yield bar.update
