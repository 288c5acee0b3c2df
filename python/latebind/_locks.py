"""Locks that are safe across fork(). All locks of the package are made here, which a test enforces.

fork() copies only the calling thread but all locks, so a lock held by another thread would stay held in the child
forever. This module knows all locks and renews them in the child: locks of missing threads are released, and waits for
these threads fail with an error. A lock held by the forking thread itself, for instance in a signal handler, stays
held, and that thread releases it in both processes.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable

from .errors import ForkedError

# On Windows, waiting for a lock cannot be interrupted, so it is done in slices.
_WAIT_SECONDS = 0.05 if sys.platform == "win32" else -1.0
# The wait for a lock is restarted at this interval, because a signal handler may have forked, and in the child the lock
# is a different one.
_AGAIN_SECONDS = 1.0


class Lock:
    """A reentrant lock for `with` blocks."""

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
        if not self._lock._is_owned():  # type: ignore[attr-defined]  # Condition uses it, too
            self._lock = threading.RLock()


class Once:
    """A right that one thread may claim, once. Nothing waits for it."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def claim(self) -> bool:
        """Whether this call claimed the right."""
        return self._lock.acquire(blocking=False)


class Gate:
    """Closed until a thread opens it. A signal can interrupt the main thread's wait."""

    __slots__ = ("__weakref__", "_is_open", "_lock", "_pid")

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._is_open = False
        self._lock = threading.Lock()
        self._lock.acquire()
        _renewed.add(self)

    def open(self) -> None:
        self._is_open = True
        if self._lock.locked():  # false in a child of the thread that opens it
            self._lock.release()

    def wait(self) -> None:
        """Waits until the gate is open.

        Raises:
            ForkedError: the gate was closed when fork() made this process, so the thread that would open it is missing.
        """
        # A signal may arrive after the lock is acquired, and its handler may wait as well.
        while not self._is_open:
            if self._pid != os.getpid():
                raise ForkedError(
                    f"what this waits for was started by process {self._pid}, and a process that fork() makes does not have "
                    "its threads: start it in this process"
                )
            self._lock.acquire(timeout=_WAIT_SECONDS)

    def renew(self) -> None:
        if not self._is_open and self._lock.locked():
            self._lock.release()  # for other threads that wait


_renewed: weakref.WeakSet[Lock | Gate] = weakref.WeakSet()
_forgotten: list[Callable[[], object]] = []


def in_child(forget: Callable[[], object]) -> None:
    """Registers forget() to run in every forked child once the locks are free, to drop what only the parent can use."""
    _forgotten.append(forget)


def _renew() -> None:
    for each in list(_renewed):
        each.renew()
    for forget in _forgotten:
        forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
