"""Models of the hub."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .._jobs import Watch
from .common import path_text, report_from, run

__all__ = ["PulledFile", "PulledModel", "pull"]


@dataclass(frozen=True)
class PulledFile:
    """A file of a model.

    Attributes:
        name: the name in the model's folder.
        bytes: the size.
        loaded: False if the file was in the cache.
    """

    name: str
    bytes: int
    loaded: bool
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class PulledModel:
    """A model from the hub, now in the cache.

    Attributes:
        model: "ORG/NAME".
        revision: the requested branch, tag or commit.
        commit: the commit of that revision.
        folder: the model's folder, which Embedder accepts.
        from_cache: True if nothing was downloaded.
        loaded_bytes: the number of bytes downloaded.
        files: the model's files.
    """

    model: str
    revision: str
    commit: str
    folder: str
    from_cache: bool
    loaded_bytes: int
    files: tuple[PulledFile, ...]
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


def pull(model: str, progress: Watch | None = None, force: bool = False, **settings: Any) -> PulledModel:
    """Downloads a model, ORG/NAME or ORG/NAME@REVISION, into the hub's cache. Cached files are compared with the hub's
    sizes and digests, and downloaded again if they differ, or always with `force`."""
    raw = run("pull", {"model": path_text(model, "model"), "force": force}, settings, progress)
    return report_from(PulledModel, raw, files=tuple(report_from(PulledFile, one) for one in raw["files"]))
