"""The backends of this machine, and plug-ins."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .common import Path, html_table, path_text, report_from, run

__all__ = ["AddedBackend", "Backend", "BackendList", "add_backend", "backends", "remove_backend"]


@dataclass(frozen=True)
class Backend:
    """A backend, or a plug-in's manifest that was found.

    Attributes:
        name: "openvino"; "" for a manifest that cannot be read.
        state: "ready", "unavailable", "refused", "unusable" or "hidden", as `latebind backends --help` says.
        reason: why it is not ready; "" if it is.
        version: of the vendor's library, or of the plug-in.
        built_in: False for plug-ins.
        file: the plug-in's manifest.
        library: the plug-in's library.
        source: the rule of the search that found it.
        description: what the plug-in says of itself.
        devices: the ids of its devices.
    """

    name: str
    state: str
    reason: str
    version: str
    built_in: bool
    file: str
    library: str
    source: str
    description: str
    devices: tuple[str, ...]
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


class BackendList(tuple[Backend, ...]):
    """A tuple of backends, which notebooks show as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        rows = [(one.name, one.state, one.version, one.reason or ", ".join(one.devices)) for one in self]
        return html_table(("backend", "state", "version", "devices"), rows)


@dataclass(frozen=True)
class AddedBackend:
    """A plug-in that was added for this user.

    Attributes:
        name: the plug-in's name.
        file: the manifest that was written.
        library: its library, which stays where it is.
        version: of the plug-in.
        devices: the ids of its devices.
        reason: why it cannot be used for now; "" if it can.
    """

    name: str
    file: str
    library: str
    version: str
    devices: tuple[str, ...]
    reason: str
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


def backends(retry: bool = False, **settings: Any) -> BackendList:
    """Lists the backends, plug-ins included.

    Args:
        retry: tries every plug-in again in a process of its own, instead of listing what is remembered of that.
    """
    raw = run("backends", {"retry": retry}, settings)
    return BackendList(report_from(Backend, one, devices=tuple(one["devices"])) for one in raw["backends"])


def add_backend(file: Path, **settings: Any) -> AddedBackend:
    """Adds a plug-in for this user, after a process of its own has tried it. Processes that start later have its devices.

    Args:
        file: the plug-in's manifest or its library.
    """
    raw = run("backends_add", {"file": path_text(file, "file")}, settings)
    return report_from(AddedBackend, raw, devices=tuple(raw["devices"]))


def remove_backend(name: str, **settings: Any) -> tuple[str, ...]:
    """Removes a plug-in that add_backend() has added. Its library stays.

    Returns:
        the manifests that were removed.
    """
    return tuple(run("backends_rm", {"name": name}, settings)["files"])
