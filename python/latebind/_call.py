"""What every call into the library needs: a handle that may be closed at any time, a time limit, and an end by Ctrl-C.

Python runs signal handlers on the main thread, between two of its own instructions. A call into C that takes seconds
would therefore hold up Ctrl-C for as long. Long calls of the main thread are made by a thread of their own, while the
main thread waits for it in Python, where a signal does reach it; it then cancels the call through the library. Calls
that are known to be short are made directly: starting a thread takes some 50 µs.
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

# A call that is expected to take less is made directly: Ctrl-C then waits for it. Half of the 100 ms within which a
# call must end, because expectations are rough.
LONG_SECONDS = 0.05
# What a clock can still be added to; no deadline is farther away.
_SECONDS_MAX = 1e9
# As PyPy: what nothing refers to any more is found later.
_COUNTS_NO_REFERENCES = sys.implementation.name != "cpython"
# References to what only one variable refers to, as sys.getrefcount() counts them.
_ALONE = 2


class Owner:
    """An object of the library, destroyed with the last reference to this, on whatever thread. Passed to the library as it
    is. Made empty, and filled through `out`, so that nothing is lost to a signal that comes meanwhile.

    Whoever knows that nobody else refers to it closes it: what a signal's handler raises as an object goes is lost.
    """

    __slots__ = ("_as_parameter_", "_destroy", "_pid")

    def __init__(self, destroy: Callable[..., None]) -> None:
        self._destroy = destroy
        self._pid = os.getpid()
        self._as_parameter_ = c_void_p()

    @property
    def out(self) -> Any:
        """Where a function that opens it puts the pointer."""
        return byref(self._as_parameter_)

    @property
    def is_of_this_process(self) -> bool:
        return self._pid == os.getpid()

    def close(self) -> None:
        pointer = self._as_parameter_
        # What a parent process has opened has none of its threads here.
        if pointer and self.is_of_this_process:
            self._as_parameter_ = c_void_p()
            self._destroy(pointer)

    def __del__(self) -> None:
        if hasattr(self, "_as_parameter_"):  # not where a signal came while it was made
            self.close()


class Handle:
    """An object of the library that may be closed while it is used: what use() gave keeps it until then.

    References are counted by the interpreter, since whatever counts here may be interrupted by a signal.
    """

    __slots__ = ("_owner", "_what")

    def __init__(self, owner: Owner, what: str) -> None:
        self._owner: Owner | None = owner
        self._what = what

    def use(self) -> Owner:
        """
        Raises:
            ClosedError: it was closed. ForkedError: another process has opened it.
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
        """Does not wait for those who use it: the last one destroys it. Closing again does nothing, as does closing what
        a parent process has opened."""
        owner, self._owner = self._owner, None
        if owner is None:
            return
        if _COUNTS_NO_REFERENCES:
            del owner
            gc.collect()
        elif sys.getrefcount(owner) <= _ALONE:
            owner.close()


class Deadline:
    """When a call must have ended; never, if `seconds` is None.

    Raises:
        CallerTypeError, CallerError: `seconds` is no number of seconds.
    """

    __slots__ = ("_end",)

    def __init__(self, seconds: float | None) -> None:
        self._end: float | None = None
        if seconds is None:
            return
        if isinstance(seconds, bool) or not isinstance(seconds, Real):
            raise CallerTypeError(f"deadline is {type(seconds).__name__}; give seconds from now, as a number")
        # Also of inf, and of ints that no float can hold. What is not a number stays it.
        bounded = float(min(max(seconds, -_SECONDS_MAX), _SECONDS_MAX))
        if math.isnan(bounded):
            raise CallerError("deadline is not a number; give seconds from now")
        self._end = time.monotonic() + bounded

    def left_ms(self) -> int:
        """Milliseconds for the library, rounded up; 0 when there is no limit.

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
    """Ends the calls that carry it. Any thread may request that, also while the object goes."""

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
    """For lb_…(…, call); None where a call has no limits, which is the quickest. Keeps nothing alive."""
    left = deadline.left_ms()
    if not left and cancellation is None:
        return None
    call = sized(_abi.lb_call_options)
    call.timeout_ms = left
    if cancellation is not None:
        call.cancellation = cancellation.address
    return call


class Work(Generic[Result]):
    """One call on a thread of its own, which the main thread may be interrupted to wait for.

    Not a future: those of Python are guarded by conditions, and a signal that comes while the main thread enters one
    leaves it locked for good. Whoever starts it calls end() in the end.
    """

    def __init__(self, body: Callable[[], Result]) -> None:
        self._body = body
        self._right = Once()
        self._is_over = Gate()
        self._is_here = False
        self._result: Result | None = None
        self._error: BaseException | None = None

    def start(self) -> None:
        """Where there can be no more threads, it is done before this returns."""
        thread = threading.Thread(target=self._run, name="latebind", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no more threads, or the interpreter is about to end; or a signal handler's
            if thread.ident is not None or not self._right.claim():
                raise
            self._is_here = True
            self._do()

    def result(self) -> Result:
        """What the call gave, or the error that it raised, once it is over."""
        self._is_over.wait()
        if self._error is not None:
            try:
                raise self._error
            finally:
                self._error = None  # its traceback refers to this frame
        return self._result  # type: ignore[return-value]

    def end(self) -> None:
        """Waits for a call that has begun. One that has not never does."""
        if not self._is_here and not self._right.claim():
            self._is_over.wait()

    def _run(self) -> None:
        if self._right.claim():
            self._do()

    def _do(self) -> None:
        try:
            self._result = self._body()
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            self._error = error
        finally:
            self._is_over.open()


async def awaited(body: Callable[[Cancellation], Result]) -> Result:
    """body(cancellation) in a thread of the event loop's executor. Cancelling the task cancels the call."""
    import asyncio  # a tenth of a second with all that it needs, and most callers do not

    cancellation = Cancellation()
    right = Once()

    def work() -> Result | None:
        if not right.claim():
            return None  # cancelled before there was a thread for it
        return body(cancellation)

    future = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        found = await asyncio.shield(future)
    except asyncio.CancelledError:
        cancellation.request()
        # Seen: it is that of the cancellation.
        future.add_done_callback(lambda over: over.cancelled() or over.exception())
        if not right.claim():
            # The caller's memory must not be written to any more when this returns.
            await asyncio.wait([future])
        raise
    assert found is not None
    return found


def on_main_thread() -> bool:
    return threading.get_ident() == threading.main_thread().ident


def interruptible(body: Callable[[Cancellation | None], Result], given: Cancellation | None, is_long: bool) -> Result:
    """body(cancellation), which Ctrl-C ends within 100 ms if it is long.

    `given` is the caller's own cancellation, if any: that caller does not wait on the main thread.
    """
    if given is not None or not is_long or not on_main_thread() or sys.is_finalizing():
        return body(given)
    cancellation = Cancellation()
    work = Work(lambda: body(cancellation))
    try:
        work.start()
        return work.result()
    except BaseException:
        # The call writes into the caller's memory until it returns, which it soon does. Whoever interrupts again does
        # not want to wait for that either.
        cancellation.request()
        work.end()
        raise
