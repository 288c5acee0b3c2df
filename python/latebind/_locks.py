"""Locks that are free in a process that fork() makes. All locks of the package are made here, and a test finds others.

fork() copies the thread that calls it and no other, and every lock as it is: what another thread held there would be
held for ever in the child. So this module knows all locks, and renews them in the child: those of the threads that are
not there become free, and what waits for these threads is told so. What a thread holds while it forks itself (in a
signal's handler, for instance) stays held, and is given back by that thread in either process.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable

from .errors import ForkedError

# Waiting for a lock cannot be interrupted on Windows. It is waited for in slices there.
_WAIT_SECONDS = 0.05 if sys.platform == "win32" else -1.0
# How long a lock is waited for before the wait begins again: where a signal's handler has forked meanwhile, the lock is
# another one in the child.
_AGAIN_SECONDS = 1.0


class Lock:
    """Held by one thread at a time, within a `with` block; by the same one several times."""

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _renewed.add(self)

    def __enter__(self) -> None:
        while not self._lock.acquire(timeout=_AGAIN_SECONDS):
            pass

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def renew(self) -> None:
        if not self._lock._is_owned():  # type: ignore[attr-defined]  # as Condition asks for it
            self._lock = threading.RLock()


class Once:
    """Something that one thread may do, and only once. Nobody waits."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def claim(self) -> bool:
        """Whether it is this call that may."""
        return self._lock.acquire(blocking=False)


class Gate:
    """Closed until a thread opens it. The main thread may be interrupted while it waits."""

    __slots__ = ("__weakref__", "_is_open", "_lock", "_pid")

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._is_open = False
        self._lock = threading.Lock()
        self._lock.acquire()
        _renewed.add(self)

    def open(self) -> None:
        self._is_open = True
        if self._lock.locked():  # not in a child of the thread that opens it
            self._lock.release()

    def wait(self) -> None:
        """
        Raises:
            ForkedError: it was closed when this process was made by fork(): the thread that would open it is not here.
        """
        # A signal may come when the lock is taken already, and whoever handles it waits again.
        while not self._is_open:
            if self._pid != os.getpid():
                raise ForkedError(
                    f"what this waits for was started by process {self._pid}, and a process that fork() makes does not have "
                    "its threads: start it in this process"
                )
            self._lock.acquire(timeout=_WAIT_SECONDS)

    def renew(self) -> None:
        if not self._is_open and self._lock.locked():
            self._lock.release()  # for whoever waits here already


_renewed: weakref.WeakSet[Lock | Gate] = weakref.WeakSet()
_forgotten: list[Callable[[], object]] = []


def in_child(forget: Callable[[], object]) -> None:
    """Has forget() called in every process that fork() makes, when the locks are free: what only the parent can use."""
    _forgotten.append(forget)


def _renew() -> None:
    for each in list(_renewed):
        each.renew()
    for forget in _forgotten:
        forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
