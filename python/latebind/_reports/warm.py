"""Compiling a model for this machine, into the cache."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .._jobs import Watch
from .common import Path, path_text, report_from, run

__all__ = ["WarmDevice", "warm"]


@dataclass(frozen=True)
class WarmDevice:
    """A device that a model was compiled for.

    Attributes:
        device: "openvino:CPU".
        ready: whether it can run the model.
        seconds: the duration.
        reason: why not; "" if it is ready.
        verification: with the setting "verification.enabled", the result of comparing it with another device; otherwise
            "".
    """

    device: str
    ready: bool
    seconds: float
    reason: str
    verification: str
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


def warm(model: Path, progress: Watch | None = None, **settings: Any) -> tuple[WarmDevice, ...]:
    """Compiles a model for every device of `device=` and stores the results in the compile cache, where later starts
    with the same settings and `cache=True` find them."""
    raw = run("warm", {"model": path_text(model, "model")}, settings, progress)
    return tuple(report_from(WarmDevice, one) for one in raw["devices"])
