"""Devices of this machine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .common import html_table, report_from, run

__all__ = ["Device", "DeviceList", "devices"]


@dataclass(frozen=True)
class Device:
    """A device that a backend can run on.

    Attributes:
        id: "openvino:CPU", as `device=` accepts it.
        backend, name: its two parts.
        kind: "cpu", "gpu", "npu" or "other".
        full_name: the vendor's name for it.
        runtime_version: the version of the vendor's library.
        virtual: True if the device is not in this machine but can be compiled for.
        metadata: the vendor's description.
    """

    id: str
    backend: str
    name: str
    kind: str
    full_name: str
    runtime_version: str
    virtual: bool
    metadata: dict[str, str]
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


class DeviceList(tuple[Device, ...]):
    """A tuple of devices, which notebooks show as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        head = ("device", "kind", "name", "runtime")
        rows = [
            (one.id, one.kind + (" (virtual)" if one.virtual else ""), one.full_name, one.runtime_version)
            for one in self
        ]
        return html_table(head, rows)


def devices(virtual: bool = False, **settings: Any) -> DeviceList:
    """Lists the devices of this machine. Opens the vendors' libraries; doctor() explains why one is missing.

    Args:
        virtual: also lists devices that are not here but can be compiled for.
    """
    raw = run("devices", {"virtual": virtual}, settings)
    return DeviceList(report_from(Device, one) for one in raw["devices"])
