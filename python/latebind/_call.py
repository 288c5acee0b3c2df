"""Calls the library with handles that may be closed at any time, time limits, and interruption by Ctrl-C.

Python runs signal handlers on the main thread, between two bytecode instructions, so a C call that takes seconds would
delay Ctrl-C that long. Long calls of the main thread therefore run on a separate thread, while the main thread waits in
Python, where a signal reaches it; it then cancels the call through the library. Short calls are made directly, since
starting a thread takes some 50 µs.
"""

from __future__ import annotations

import gc
import math
import os
import sys
import threading
import time
from collections.abc import Callable
from ctypes import byref, c_void_p
from numbers import Real
from typing import Any, Generic, TypeVar

from . import _abi
from ._library import check, library, sized
from ._locks import Gate, Once
from .errors import CallerError, CallerTypeError, ClosedError, ForkedError, TransientError

Result = TypeVar("Result")

# Calls expected to be shorter are made directly and delay Ctrl-C. This is half of the 100 ms within which a call must
# end, because the expectation is rough.
LONG_SECONDS = 0.05
# Limits deadlines, so that adding them to a clock cannot overflow.
_SECONDS_MAX = 1e9
# True on PyPy, for example, where unreferenced objects are found later.
_COUNTS_NO_REFERENCES = sys.implementation.name != "cpython"
# What sys.getrefcount() returns for an object that only one variable refers to.
_ALONE = 2


class Owner:
    """An object of the library, which is destroyed with the last reference, on any thread.

    It is passed to the library directly. It is created empty and filled through `out`, so that a signal in between
    loses nothing. A sole owner closes it explicitly, because what a signal handler raises inside a finalizer is lost.
    """

    __slots__ = ("_as_parameter_", "_destroy", "_pid")

    def __init__(self, destroy: Callable[..., None]) -> None:
        self._destroy = destroy
        self._pid = os.getpid()
        self._as_parameter_ = c_void_p()

    @property
    def out(self) -> Any:
        """Returns the address where a function that opens the object stores the pointer."""
        return byref(self._as_parameter_)

    @property
    def is_of_this_process(self) -> bool:
        return self._pid == os.getpid()

    def close(self) -> None:
        pointer = self._as_parameter_
        # In a forked child, the object's threads do not exist.
        if pointer and self.is_of_this_process:
            self._as_parameter_ = c_void_p()
            self._destroy(pointer)

    def __del__(self) -> None:
        if hasattr(self, "_as_parameter_"):  # missing if a signal interrupted the constructor
            self.close()


class Handle:
    """An object of the library that may be closed while it is in use, which keeps it alive.

    The interpreter counts the references, because a signal may interrupt any other count.
    """

    __slots__ = ("_owner", "_what")

    def __init__(self, owner: Owner, what: str) -> None:
        self._owner: Owner | None = owner
        self._what = what

    def use(self) -> Owner:
        """Returns the object and keeps it alive.

        Raises:
            ClosedError: the handle was closed.
            ForkedError: another process opened it.
        """
        owner = self._owner
        if owner is None:
            raise ClosedError(f"this {self._what} was closed")
        if not owner.is_of_this_process:
            raise ForkedError(
                f"this {self._what} was opened by process {owner._pid}, and a process that fork() makes does not have its "
                f"threads: open it in this one, or start processes by multiprocessing's 'spawn' or 'forkserver'"
            )
        return owner

    @property
    def is_closed(self) -> bool:
        return self._owner is None

    def close(self) -> None:
        """Closes the handle without waiting for its users; the last one destroys the object. Does nothing if the handle
        is closed or belongs to a parent process."""
        owner, self._owner = self._owner, None
        if owner is None:
            return
        if _COUNTS_NO_REFERENCES:
            del owner
            gc.collect()
        elif sys.getrefcount(owner) <= _ALONE:
            owner.close()


class Deadline:
    """The time by which a call must end; unlimited if `seconds` is None.

    Raises:
        CallerTypeError, CallerError: `seconds` is not a number of seconds.
    """

    __slots__ = ("_end",)

    def __init__(self, seconds: float | None) -> None:
        self._end: float | None = None
        if seconds is None:
            return
        if isinstance(seconds, bool) or not isinstance(seconds, Real):
            raise CallerTypeError(f"deadline is {type(seconds).__name__}; give seconds from now, as a number")
        # Also handles inf, and ints that exceed a float. NaN is preserved.
        bounded = float(min(max(seconds, -_SECONDS_MAX), _SECONDS_MAX))
        if math.isnan(bounded):
            raise CallerError("deadline is not a number; give seconds from now")
        self._end = time.monotonic() + bounded

    def left_ms(self) -> int:
        """Returns the remaining milliseconds for the library, rounded up; 0 means unlimited.

        Raises:
            TransientError: the time has passed (DEADLINE_EXCEEDED).
        """
        if self._end is None:
            return 0
        left = (self._end - time.monotonic()) * 1000
        if left <= 0:
            raise TransientError(
                "the deadline of the call has passed", _abi.LB_DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED", True
            )
        return int(left) + 1


class Cancellation:
    """Ends the calls that carry it. Any thread may request it, even while the object is being destroyed."""

    __slots__ = ("__weakref__", "_pointer")

    def __init__(self) -> None:
        self._pointer = c_void_p()
        check(library().lb_cancellation_create(byref(self._pointer)))

    def request(self) -> None:
        library().lb_cancellation_request(self._pointer)

    @property
    def address(self) -> int | None:
        return self._pointer.value

    def __del__(self) -> None:
        if self._pointer:
            library().lb_cancellation_destroy(self._pointer)


def call_options(deadline: Deadline, cancellation: Cancellation | None) -> _abi.lb_call_options | None:
    """Returns the call options for lb_…(…, call), or None for a call without limits. Keeps nothing alive."""
    left = deadline.left_ms()
    if not left and cancellation is None:
        return None
    call = sized(_abi.lb_call_options)
    call.timeout_ms = left
    if cancellation is not None:
        call.cancellation = cancellation.address
    return call


class Work(Generic[Result]):
    """A call on a separate thread, for which the main thread waits interruptibly.

    This is not a future: Python's futures use conditions, and a signal that arrives while the main thread enters one
    leaves it locked forever. The caller that starts it must call end().
    """

    def __init__(self, body: Callable[[], Result]) -> None:
        self._body = body
        self._right = Once()
        self._is_over = Gate()
        self._is_here = False
        self._result: Result | None = None
        self._error: BaseException | None = None

    def start(self) -> None:
        """Starts the call. If no thread is available, runs it before returning."""
        thread = threading.Thread(target=self._run, name="latebind", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no more threads, the interpreter is shutting down, or an error of a signal handler
            if thread.ident is not None or not self._right.claim():
                raise
            self._is_here = True
            self._do()

    def result(self) -> Result:
        """Waits for the call, and returns its result or raises its error."""
        self._is_over.wait()
        if self._error is not None:
            try:
                raise self._error
            finally:
                self._error = None  # its traceback refers to this frame
        return self._result  # type: ignore[return-value]

    def end(self) -> None:
        """Waits for the call if it has begun. Otherwise it never begins."""
        if not self._is_here and not self._right.claim():
            self._is_over.wait()

    def _run(self) -> None:
        if self._right.claim():
            self._do()

    def _do(self) -> None:
        try:
            self._result = self._body()
        except BaseException as error:  # noqa: BLE001 - the waiting thread raises it again
            self._error = error
        finally:
            self._is_over.open()


async def awaited(body: Callable[[Cancellation], Result]) -> Result:
    """Runs body(cancellation) in the event loop's executor. Cancelling the task cancels the call."""
    import asyncio  # takes a tenth of a second, and most callers do not need it

    cancellation = Cancellation()
    right = Once()

    def work() -> Result | None:
        if not right.claim():
            return None  # cancelled before a thread was available
        return body(cancellation)

    future = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        found = await asyncio.shield(future)
    except asyncio.CancelledError:
        cancellation.request()
        # Marks the error as retrieved, because it is due to the cancellation.
        future.add_done_callback(lambda over: over.cancelled() or over.exception())
        if not right.claim():
            # The call must not write to the caller's memory after this returns.
            await asyncio.wait([future])
        raise
    assert found is not None
    return found


def on_main_thread() -> bool:
    return threading.get_ident() == threading.main_thread().ident


def interruptible(body: Callable[[Cancellation | None], Result], given: Cancellation | None, is_long: bool) -> Result:
    """Runs body(cancellation). If it is long, Ctrl-C ends it within 100 ms.

    `given` is the caller's cancellation, if any; that caller does not wait on the main thread.
    """
    if given is not None or not is_long or not on_main_thread() or sys.is_finalizing():
        return body(given)
    cancellation = Cancellation()
    work = Work(lambda: body(cancellation))
    try:
        work.start()
        return work.result()
    except BaseException:
        # The call writes to the caller's memory until it returns, which is soon. A second interruption ends this wait,
        # too.
        cancellation.request()
        work.end()
        raise
