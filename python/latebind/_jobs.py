"""Runs jobs of the library, which are what the program's commands do: arguments and report are JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from ctypes import byref, c_char_p, c_void_p
from dataclasses import dataclass
from typing import Any

from . import _abi
from ._library import Options, c_text, check, last_error, library, sized, text_of
from .errors import CallerError, CallerTypeError

# How long a wait in the library takes at most before Ctrl-C is noticed, and progress told.
_SLICE_MS = 50


@dataclass(frozen=True)
class Progress:
    """How far a job is.

    Attributes:
        activity: "loading", "compiling npu-v73-f16-1x32".
        done: bytes while loading, otherwise steps.
        total: of the same; 0 while that is unknown.
    """

    activity: str
    done: int
    total: int


Watch = Callable[[Progress], object]


def _json_of(arguments: dict[str, Any]) -> bytes:
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        return c_text(json.dumps(given, ensure_ascii=False), "the job's arguments")
    except (TypeError, ValueError, RecursionError) as error:
        if isinstance(error, CallerError):
            raise
        raise CallerTypeError(f"an argument is of a type that the job does not accept: {error}") from None


def run_job(
    name: str, arguments: dict[str, Any], settings: dict[str, str], runtime: c_void_p, progress: Watch | None
) -> dict[str, Any]:
    """The report of a job. Ctrl-C, and an exception of `progress`, cancel it.

    Raises:
        LatebindError: the job's own error. Its `report` is that of the failed job, where it has one, else None.
    """
    functions = library()
    job = c_void_p()
    with Options(settings) as options:
        check(functions.lb_job_start(runtime, name.encode(), _json_of(arguments), options, byref(job)))
    try:
        now = sized(_abi.lb_job_progress)
        last = None
        code = _abi.LB_DEADLINE_EXCEEDED
        while code == _abi.LB_DEADLINE_EXCEEDED:
            code = functions.lb_job_wait(job, _SLICE_MS, byref(now))
            found = Progress(text_of(now.activity), now.done, now.total)
            # Also of a job that was over before the first look.
            if progress is not None and found.activity and found != last:
                progress(found)
                last = found
        check(code)
        text = c_char_p()
        code = functions.lb_job_result(job, byref(text))
        error = last_error(code) if code else None
        report: dict[str, Any] | None = json.loads(text.value) if text.value else None
        if error is not None:
            error.report = report
            raise error
        return report or {}
    finally:
        # Cancels it, too, if it is not over.
        functions.lb_job_destroy(job)
