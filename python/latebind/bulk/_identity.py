"""What identifies a file without being read, so that it is noticed when another one takes its place."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass
from typing import Any

from ..errors import MachineError

# Systems date what is written at one tick alike; where a date has no fraction of a second, its file system counts in
# seconds, in two at most.
_TICK_NS = 20_000_000
_SECONDS_NS = 2_000_000_000
# A file that is being written to all the time is not waited for.
_WAITS_MAX = 3


def settled_stat(file: str) -> os.stat_result:
    """os.stat() of a file, once another date would be given to it if it were changed: after a few milliseconds at most, and
    only if it was written just now."""
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
    # What is from the future was dated by another clock, or by somebody.
    return step - age if 0 <= age < step else 0


@dataclass(frozen=True)
class Stamp:
    """A file of any filesystem, as it was looked at. Picklable.

    Not its inode: file systems that are programs give out others later.

    Attributes:
        bytes: its size.
        written_ns: when it was last written to; None where the filesystem does not say.
        changed_ns: when its entry was last changed, which nobody can set; None where the filesystem is not the system's.
        machine: where it was looked at. Another one may have a copy, with another changed_ns.
    """

    bytes: int | None
    written_ns: int | None
    changed_ns: int | None
    machine: str

    def fits(self, later: Stamp) -> bool:
        """Whether the file that was looked at later is the same one."""
        return (self.bytes, self.written_ns) == (later.bytes, later.written_ns) and (
            self.machine != later.machine or self.changed_ns == later.changed_ns
        )


def stamp_of(filesystem: Any, path: str, name: str, settled: bool = False) -> Stamp:
    """
    Args:
        settled: waits until a later change gives another stamp, where the filesystem is the system's.

    Raises:
        MachineError: it cannot be looked at.
    """
    try:
        if filesystem.type_name == "local":
            info = settled_stat(path) if settled else os.stat(path)
            return Stamp(info.st_size, info.st_mtime_ns, info.st_ctime_ns, platform.node())
        found = filesystem.get_file_info(path)
    except OSError as error:
        raise MachineError(f"{name} cannot be read: {error}") from error
    return Stamp(found.size, found.mtime_ns, None, platform.node())
