"""What works on this machine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .._jobs import Watch
from .common import html_table, report_from, run

__all__ = ["BackendDiagnosis", "DeviceTrial", "Diagnosis", "doctor"]


@dataclass(frozen=True)
class DeviceTrial:
    """The result of running a tiny model on a device.

    Attributes:
        id: "openvino:CPU".
        full_name: the vendor's name for it.
        works: whether the result was correct.
        reason: why not; "" if it works.
        ms: the duration in milliseconds.
    """

    id: str
    full_name: str
    works: bool
    reason: str
    ms: float
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class BackendDiagnosis:
    """A backend, and what prevents it from working.

    Attributes:
        name: "openvino".
        available: whether its vendor's library could be opened.
        runtime_version: the version of that library; "" if it is unavailable.
        code: "OK", or the name of the error.
        reason: why it is unavailable; "" if it is available.
        install: the command that installs the vendor's library.
        devices: its devices, each tested.
    """

    name: str
    available: bool
    runtime_version: str
    code: str
    reason: str
    install: str
    devices: tuple[DeviceTrial, ...]
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Diagnosis:
    """What works on this machine, and how to fix the rest.

    Attributes:
        version: the release of the library.
        platform: "linux-x86_64".
        works: whether any device can run a model.
        backends: one diagnosis per backend.
    """

    version: str
    platform: str
    works: bool
    backends: tuple[BackendDiagnosis, ...]
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def _repr_html_(self) -> str:
        rows: list[tuple[object, ...]] = []
        for backend in self.backends:
            if not backend.available:
                rows.append((backend.name, "not available", "", f"{backend.reason} To install it: {backend.install}"))
            for one in backend.devices:
                rows.append((one.id, "works" if one.works else "does not work", f"{one.ms} ms", one.reason))
        return html_table(("device", "state", "time", "reason"), rows)


def doctor(progress: Watch | None = None, **settings: Any) -> Diagnosis:
    """Searches for every vendor's library, and runs a tiny model on every device."""
    raw = run("doctor", {}, settings, progress)
    backends = tuple(
        report_from(BackendDiagnosis, one, devices=tuple(report_from(DeviceTrial, trial) for trial in one["devices"]))
        for one in raw["backends"]
    )
    return report_from(Diagnosis, raw, backends=backends)
