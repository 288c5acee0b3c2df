"""What the functions of all jobs share: running one, reading its report, and checking arguments."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, TypeVar, cast

from .._jobs import Watch, run_job
from .._library import runtime
from .._settings import setting_text, settings_of
from ..errors import CallerTypeError

Report = TypeVar("Report")
Path = str | os.PathLike[str]


def report_from(kind: type[Report], raw: dict[str, Any], **given: Any) -> Report:
    """Builds a report's dataclass from `given` and, for the other fields, from members of the same names."""
    named = {each.name for each in fields(cast(Any, kind))} - given.keys() - {"raw"}
    made: Any = kind
    return cast(Report, made(**{name: raw[name] for name in named if name in raw}, **given, raw=raw))


def html_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    from html import escape

    def line(cells: Iterable[object], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    return f"<table>{line(head, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"


def run(
    name: str, arguments: dict[str, Any], settings: dict[str, Any], progress: Watch | None = None
) -> dict[str, Any]:
    if progress is not None and not callable(progress):
        raise CallerTypeError(f"progress is {type(progress).__name__}; give a function")
    of_runtime, of_model = settings_of(settings)
    return run_job(name, arguments, of_model, runtime(of_runtime), progress)


def path_text(given: Any, what: str) -> str:
    if not isinstance(given, (str, os.PathLike)):
        raise CallerTypeError(f"{what} is {type(given).__name__}; give a str or a path")
    return setting_text(given, what)


def texts_of(given: str | Sequence[str] | None, what: str) -> list[str] | None:
    if given is None:
        return None
    if isinstance(given, str):
        return given.split(",")
    if not isinstance(given, (list, tuple)):
        raise CallerTypeError(f"{what} is {type(given).__name__}; give a str, or a list of them")
    return [setting_text(each, what) for each in given]
