"""Identifies a file without reading it, to notice when it is replaced."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass
from typing import Any

from ..errors import MachineError

# Writes within one clock tick get the same date. A file system whose dates have no fractions counts in units of one or
# two seconds.
_TICK_NS = 20_000_000
_SECONDS_NS = 2_000_000_000
# Limits the wait for a file that is being written to constantly.
_WAITS_MAX = 3


def settled_stat(file: str) -> os.stat_result:
    """Returns os.stat() of a file once any change would give it another date. Waits at most a few milliseconds, and
    only if the file was just written."""
    for _ in range(_WAITS_MAX):
        info = os.stat(file)
        now = time.time_ns()
        wait = max(_wait_ns(now - date, date) for date in (info.st_mtime_ns, info.st_ctime_ns))
        if not wait:
            break
        time.sleep(wait / 1e9)
    return info


def _wait_ns(age: int, date: int) -> int:
    step = _TICK_NS if date % 1_000_000_000 else _SECONDS_NS
    # A date in the future comes from another clock or was set explicitly.
    return step - age if 0 <= age < step else 0


@dataclass(frozen=True)
class Stamp:
    """The observed state of a file on any filesystem. Can be pickled.

    The inode is not part of it, because FUSE filesystems change it.

    Attributes:
        bytes: the size.
        written_ns: the time of the last write; None if the filesystem does not report it.
        changed_ns: the time of the last change of the entry, which users cannot set; None on filesystems other than the
            system's.
        machine: the machine that observed it. Another machine may have a copy with another changed_ns.
    """

    bytes: int | None
    written_ns: int | None
    changed_ns: int | None
    machine: str

    def fits(self, later: Stamp) -> bool:
        """Whether the file observed later is the same."""
        return (self.bytes, self.written_ns) == (later.bytes, later.written_ns) and (
            self.machine != later.machine or self.changed_ns == later.changed_ns
        )


def stamp_of(filesystem: Any, path: str, name: str, settled: bool = False) -> Stamp:
    """Observes a file.

    Args:
        settled: waits until any later change would give another stamp, on the system's filesystem.

    Raises:
        MachineError: the file cannot be accessed.
    """
    try:
        if filesystem.type_name == "local":
            info = settled_stat(path) if settled else os.stat(path)
            return Stamp(info.st_size, info.st_mtime_ns, info.st_ctime_ns, platform.node())
        found = filesystem.get_file_info(path)
    except OSError as error:
        raise MachineError(f"{name} cannot be read: {error}") from error
    return Stamp(found.size, found.mtime_ns, None, platform.node())
