"""The program's commands as functions: devices, doctor, compile, inspect, pull, warm, verify, and the cache.

Results are small frozen dataclasses. Their `raw` is the library's report, which may contain more. All functions accept
settings as keywords, as Embedder does. Ctrl-C cancels, and so does an exception raised by `progress`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, cast

from ._jobs import Progress, Watch, run_job
from ._library import runtime
from ._settings import setting_text, settings_of
from .errors import CallerTypeError

Report = TypeVar("Report")
Path = str | os.PathLike[str]


def _from(kind: type[Report], raw: dict[str, Any], **given: Any) -> Report:
    """Builds a report's dataclass from `given` and, for the other fields, from members of the same names."""
    named = {each.name for each in fields(cast(Any, kind))} - given.keys() - {"raw"}
    made: Any = kind
    return cast(Report, made(**{name: raw[name] for name in named if name in raw}, **given, raw=raw))


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    from html import escape

    def line(cells: Iterable[object], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    return f"<table>{line(head, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"


def _run(
    name: str, arguments: dict[str, Any], settings: dict[str, Any], progress: Watch | None = None
) -> dict[str, Any]:
    if progress is not None and not callable(progress):
        raise CallerTypeError(f"progress is {type(progress).__name__}; give a function")
    of_runtime, of_model = settings_of(settings)
    return run_job(name, arguments, of_model, runtime(of_runtime), progress)


def _path(given: Any, what: str) -> str:
    if not isinstance(given, (str, os.PathLike)):
        raise CallerTypeError(f"{what} is {type(given).__name__}; give a str or a path")
    return setting_text(given, what)


def _texts(given: str | Sequence[str] | None, what: str) -> list[str] | None:
    if given is None:
        return None
    if isinstance(given, str):
        return given.split(",")
    if not isinstance(given, (list, tuple)):
        raise CallerTypeError(f"{what} is {type(given).__name__}; give a str, or a list of them")
    return [setting_text(each, what) for each in given]


# -- Devices -----------------------------------------------------------------------------------------------------------


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
        return _table(head, rows)


def devices(virtual: bool = False, **settings: Any) -> DeviceList:
    """Lists the devices of this machine. Opens the vendors' libraries; doctor() explains why one is missing.

    Args:
        virtual: also lists devices that are not here but can be compiled for.
    """
    raw = _run("devices", {"virtual": virtual}, settings)
    return DeviceList(_from(Device, one) for one in raw["devices"])


# -- Doctor ------------------------------------------------------------------------------------------------------------


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
        return _table(("device", "state", "time", "reason"), rows)


def doctor(progress: Watch | None = None, **settings: Any) -> Diagnosis:
    """Searches for every vendor's library, and runs a tiny model on every device."""
    raw = _run("doctor", {}, settings, progress)
    backends = tuple(
        _from(BackendDiagnosis, one, devices=tuple(_from(DeviceTrial, trial) for trial in one["devices"]))
        for one in raw["backends"]
    )
    return _from(Diagnosis, raw, backends=backends)


# -- Compiling ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variant:
    """A model compiled for one device.

    Attributes:
        name: the variant's name in the bundle.
        target: as requested: "cpu", "npu:v73".
        device: the device's full id.
        compiled: whether the compilation succeeded.
        bytes: the size of the blob; 0 if it failed.
        seconds: the duration.
        reason: why it failed; "" if it succeeded.
        note: further information, or "".
        left_to_cpu: the nodes that the compiler left to the CPU, as far as it reports them: {"count", "first":
            [{"operator", "name", "shape"}]}.
    """

    name: str
    target: str
    device: str
    compiled: bool
    bytes: int
    seconds: float
    reason: str
    note: str
    left_to_cpu: dict[str, Any]
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Compilation:
    """The result of compile().

    Attributes:
        output: the file or folder.
        variants: one per device and shape.
        refused: targets that cannot be compiled for on this machine, with the reason; empty without `keep_going`.
    """

    output: str | None
    variants: tuple[Variant, ...]
    refused: tuple[str, ...]
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


def compile(
    model: Path,
    output: Path,
    target: str | Sequence[str] | None = None,
    *,
    shapes: str | Sequence[str] | None = None,
    format: str | None = None,
    jobs: int | None = None,
    keep_going: bool | None = None,
    add: bool | None = None,
    strict: bool | None = None,
    name: str | None = None,
    package_version: str | None = None,
    source: str | None = None,
    revision: str | None = None,
    license: str | None = None,
    progress: Watch | None = None,
    **settings: Any,
) -> Compilation:
    """Compiles a model for devices that may be absent, into one file with the portable model.

    The arguments are the options of the command `latebind compile`, which its --help describes.

    Raises:
        LatebindError: a target failed; without `keep_going`, nothing is written. `report` has the variants.
    """
    arguments = {
        "model": _path(model, "model"),
        "output": _path(output, "output"),
        "target": _texts(target, "target"),
        "shapes": _texts(shapes, "shapes"),
        "format": format,
        "jobs": jobs,
        "keep_going": keep_going,
        "add": add,
        "strict": strict,
        "name": name,
        "package_version": package_version,
        "source": source,
        "revision": revision,
        "license": license,
    }
    raw = _run("compile", arguments, settings, progress)
    variants = tuple(_from(Variant, one) for one in raw["variants"])
    return _from(Compilation, raw, variants=variants, refused=tuple(raw.get("refused", ())))


@dataclass(frozen=True)
class Inspection:
    """The contents of a bundle or an ExecuTorch program; `raw` has the details.

    Attributes:
        form: "zip" or "folder" for a bundle, or "pte".
        bytes: the total size.
        intact: the result of `verify`; None if it was not requested.
        damages: what has changed since it was written.
        decisions: with `explain`, which variants every device loads, and why not the others; otherwise None.
    """

    form: str
    bytes: int
    intact: bool | None
    damages: tuple[Any, ...]
    decisions: tuple[dict[str, Any], ...] | None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


def inspect(
    bundle: Path,
    *,
    verify: bool = False,
    explain: bool = False,
    installed: bool = False,
    progress: Watch | None = None,
    **settings: Any,
) -> Inspection:
    """Shows the contents of a bundle or of an ExecuTorch program (.pte).

    Args:
        verify: compares every file with its recorded checksum.
        explain: tries to load the variants on every device of `device=`.
        installed: also accepts a package with the installed layout, which may refer to any file of this machine.
    """
    arguments = {"bundle": _path(bundle, "bundle"), "verify": verify, "explain": explain, "installed": installed}
    raw = _run("inspect", arguments, settings, progress)
    verification = raw.get("verification")
    damages = tuple(verification["damages"]) if verification else ()
    decisions = raw.get("decisions")
    return _from(
        Inspection,
        raw,
        intact=None if verification is None else not damages,
        damages=damages,
        decisions=None if decisions is None else tuple(decisions),
    )


# -- Models of the hub -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PulledFile:
    """A file of a model.

    Attributes:
        name: the name in the model's folder.
        bytes: the size.
        loaded: False if the file was in the cache.
    """

    name: str
    bytes: int
    loaded: bool
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class PulledModel:
    """A model from the hub, now in the cache.

    Attributes:
        model: "ORG/NAME".
        revision: the requested branch, tag or commit.
        commit: the commit of that revision.
        folder: the model's folder, which Embedder accepts.
        from_cache: True if nothing was downloaded.
        loaded_bytes: the number of bytes downloaded.
        files: the model's files.
    """

    model: str
    revision: str
    commit: str
    folder: str
    from_cache: bool
    loaded_bytes: int
    files: tuple[PulledFile, ...]
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


def pull(model: str, progress: Watch | None = None, force: bool = False, **settings: Any) -> PulledModel:
    """Downloads a model, ORG/NAME or ORG/NAME@REVISION, into the hub's cache. Cached files are compared with the hub's
    sizes and digests, and downloaded again if they differ, or always with `force`."""
    raw = _run("pull", {"model": _path(model, "model"), "force": force}, settings, progress)
    return _from(PulledModel, raw, files=tuple(_from(PulledFile, one) for one in raw["files"]))


@dataclass(frozen=True)
class WarmDevice:
    """A device that a model was compiled for.

    Attributes:
        device: "openvino:CPU".
        ready: whether it can run the model.
        seconds: the duration.
        reason: why not; "" if it is ready.
        verification: with the setting "verification.enabled", the result of comparing it with another device; otherwise
            "".
    """

    device: str
    ready: bool
    seconds: float
    reason: str
    verification: str
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


def warm(model: Path, progress: Watch | None = None, **settings: Any) -> tuple[WarmDevice, ...]:
    """Compiles a model for every device of `device=` and stores the results in the compile cache, where later starts
    with the same settings and `cache=True` find them."""
    raw = _run("warm", {"model": _path(model, "model")}, settings, progress)
    return tuple(_from(WarmDevice, one) for one in raw["devices"])


@dataclass(frozen=True)
class OutputComparison:
    """The difference between an output on two devices.

    Attributes:
        name: the name of the output.
        type: "f32", "i64".
        agrees: whether it is within the bounds for the device's precision.
        why: the violated bound; "" if it agrees.
        absolute: the largest difference.
        relative: the largest difference divided by the largest number of the other device's output.
        cosine: the least cosine between items along the first dimension.
        nan: how many numbers are NaN.
        nan_against: likewise on the other device.
        different: how many integers or booleans differ.
    """

    name: str
    type: str
    agrees: bool
    why: str
    absolute: float
    relative: float
    cosine: float
    nan: int
    nan_against: int
    different: int
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Verification:
    """The comparison of two devices.

    Attributes:
        agrees: whether all outputs agree.
        verdict: the result in one line.
        device: the tested device, "openvino:NPU".
        against: the device it was compared with, in f32.
        outputs: the comparison of each output.
    """

    agrees: bool
    verdict: str
    device: str
    against: str
    outputs: tuple[OutputComparison, ...]
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


def verify(
    model: Path,
    *,
    against: str = "",
    input: str | Sequence[str] | None = None,
    shape: str | Sequence[str] | None = None,
    seed: int = 0,
    progress: Watch | None = None,
    **settings: Any,
) -> Verification:
    """Compares the results of the first device of `device=` with those of another device on the same inputs.
    Disagreement is not an error.

    Args:
        model: an embedding model, an ONNX file or an OpenVINO IR.
        against: the device to compare with; "" is the first other CPU that accepts the model.
        input: one or several "NAME=FILE.npy", instead of generated samples.
        shape: one or several "NAME=1x128": the shapes of random inputs.
        seed: for random inputs.
    """
    arguments = {
        "model": _path(model, "model"),
        "against": against,
        "input": _texts(input, "input"),
        "shape": _texts(shape, "shape"),
        "seed": seed,
    }
    raw = _run("verify", arguments, settings, progress)
    return _from(
        Verification,
        raw,
        device=raw["tested"]["device"],
        against=raw["against"]["device"],
        outputs=tuple(_from(OutputComparison, one) for one in raw["outputs"]),
    )


# -- The cache of compiled models --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CacheEntry:
    """A compiled model in the cache.

    Attributes:
        file: its name in the cache's folder.
        model: the model that it was compiled from.
        device, runtime_version, precision: what it was compiled for.
        bytes: the size.
        last_used: UTC, as text.
        damage: what is wrong with it; "" if it is intact.
    """

    file: str
    model: str
    device: str
    runtime_version: str
    precision: str
    bytes: int
    last_used: str
    damage: str
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class CacheListing:
    """The contents of the cache.

    Attributes:
        folder: the cache's folder.
        entries: the compiled models.
        bytes: the total size.
    """

    folder: str
    entries: tuple[CacheEntry, ...]
    bytes: int
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class CacheVerification:
    """The result of verifying the cache.

    Attributes:
        checked: the number of verified entries.
        damaged: the damaged entries, which were removed.
    """

    checked: int
    damaged: tuple[CacheEntry, ...]
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


class Cache:
    """The compile cache.

    Args:
        folder: the cache's folder; by default the system's cache folder for Latebind.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._settings: dict[str, Any] = {}
        if folder is not None:
            self._settings["cache_folder"] = _path(folder, "folder")

    def list(self) -> CacheListing:
        """Lists the contents."""
        raw = _run("cache_list", {}, self._settings)
        return _from(CacheListing, raw, entries=tuple(_from(CacheEntry, one) for one in raw["entries"]))

    def verify(self) -> CacheVerification:
        """Verifies all entries against their checksums."""
        raw = _run("cache_verify", {}, self._settings)
        return _from(CacheVerification, raw, damaged=tuple(_from(CacheEntry, one) for one in raw["damaged"]))

    def clear(self) -> int:
        """Removes all entries.

        Returns:
            the bytes that were freed.
        """
        return int(_run("cache_clear", {}, self._settings)["bytes"])

    def __repr__(self) -> str:
        return f"Cache({self._settings.get('cache_folder', '')!r})"


__all__ = [
    "BackendDiagnosis",
    "Cache",
    "CacheEntry",
    "CacheListing",
    "CacheVerification",
    "Compilation",
    "Device",
    "DeviceList",
    "DeviceTrial",
    "Diagnosis",
    "Inspection",
    "OutputComparison",
    "Progress",
    "PulledFile",
    "PulledModel",
    "Variant",
    "Verification",
    "WarmDevice",
    "compile",
    "devices",
    "doctor",
    "inspect",
    "pull",
    "verify",
    "warm",
]
