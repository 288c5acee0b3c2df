"""The cache of compiled models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .common import Path, path_text, report_from, run

__all__ = ["Cache", "CacheEntry", "CacheListing", "CacheVerification"]


@dataclass(frozen=True)
class CacheEntry:
    """A compiled model in the cache.

    Attributes:
        file: its name in the cache's folder.
        model: the model that it was compiled from.
        device, runtime_version, precision: what it was compiled for.
        bytes: the size.
        last_used: UTC, as text.
        damage: what is wrong with it; "" if it is intact.
    """

    file: str
    model: str
    device: str
    runtime_version: str
    precision: str
    bytes: int
    last_used: str
    damage: str
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class CacheListing:
    """The contents of the cache.

    Attributes:
        folder: the cache's folder.
        entries: the compiled models.
        bytes: the total size.
    """

    folder: str
    entries: tuple[CacheEntry, ...]
    bytes: int
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class CacheVerification:
    """The result of verifying the cache.

    Attributes:
        checked: the number of verified entries.
        damaged: the damaged entries, which were removed.
    """

    checked: int
    damaged: tuple[CacheEntry, ...]
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


class Cache:
    """The compile cache.

    Args:
        folder: the cache's folder; by default the system's cache folder for Latebind.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._settings: dict[str, Any] = {}
        if folder is not None:
            self._settings["cache_folder"] = path_text(folder, "folder")

    def list(self) -> CacheListing:
        """Lists the contents."""
        raw = run("cache_list", {}, self._settings)
        return report_from(CacheListing, raw, entries=tuple(report_from(CacheEntry, one) for one in raw["entries"]))

    def verify(self) -> CacheVerification:
        """Verifies all entries against their checksums."""
        raw = run("cache_verify", {}, self._settings)
        return report_from(
            CacheVerification, raw, damaged=tuple(report_from(CacheEntry, one) for one in raw["damaged"])
        )

    def clear(self) -> int:
        """Removes all entries.

        Returns:
            the bytes that were freed.
        """
        return int(run("cache_clear", {}, self._settings)["bytes"])

    def __repr__(self) -> str:
        return f"Cache({self._settings.get('cache_folder', '')!r})"
