"""Runs the library's jobs, which implement the program's commands. Arguments and reports are JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from ctypes import byref, c_char_p, c_void_p
from dataclasses import dataclass
from typing import Any

from . import _abi
from ._library import Options, c_text, check, last_error, library, sized, text_of
from .errors import CallerError, CallerTypeError

# The interval at which a wait in the library checks for Ctrl-C and reports progress.
_SLICE_MS = 50


@dataclass(frozen=True)
class Progress:
    """The progress of a job.

    Attributes:
        activity: "loading", "compiling npu-v73-f16-1x32".
        done: bytes while loading, otherwise steps.
        total: in the same unit; 0 while unknown.
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
    """Runs a job and returns its report. Ctrl-C, and an exception raised by `progress`, cancel it.

    Raises:
        LatebindError: the job failed. `report` is the failed job's report, or None.
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
            # Reports progress at least once, even for a job that ended before the first check.
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
        # Cancels the job if it is still running.
        functions.lb_job_destroy(job)
