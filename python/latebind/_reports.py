"""What the program's commands do, as functions: devices, doctor, compile, inspect, pull, warm, and the cache.

Results are small frozen dataclasses. Each has `raw`, the library's own report, which may have more than is named here.
All take settings as keywords, as Embedder does; Ctrl-C cancels, as does an exception of `progress`.
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
    """A dataclass of a report: what it names and `given` has not, by the same names."""
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
    """Something a backend can run on.

    Attributes:
        id: "openvino:CPU", which `device=` takes.
        backend, name: its two parts.
        kind: "cpu", "gpu", "npu" or "other".
        full_name: as its vendor calls it.
        runtime_version: of the vendor's library.
        virtual: True when it is not in this machine, but can be compiled for.
        metadata: what the vendor says of it.
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
    """Devices, as a tuple that notebooks show as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        head = ("device", "kind", "name", "runtime")
        rows = [
            (one.id, one.kind + (" (virtual)" if one.virtual else ""), one.full_name, one.runtime_version)
            for one in self
        ]
        return _table(head, rows)


def devices(virtual: bool = False, **settings: Any) -> DeviceList:
    """The devices of this machine. Opens the vendors' libraries; one that is missing has no devices, and doctor() says
    why.

    Args:
        virtual: also devices that are not here but can be compiled for.
    """
    raw = _run("devices", {"virtual": virtual}, settings)
    return DeviceList(_from(Device, one) for one in raw["devices"])


# -- Doctor ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DeviceTrial:
    """A tiny model that was run on a device.

    Attributes:
        id: "openvino:CPU".
        full_name: as its vendor calls it.
        works: whether the result was right.
        reason: why not; "" when it works.
        ms: how long that took, in milliseconds.
    """

    id: str
    full_name: str
    works: bool
    reason: str
    ms: float
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class BackendDiagnosis:
    """One backend, and what keeps it from working.

    Attributes:
        name: "openvino".
        available: whether its vendor's library could be opened.
        runtime_version: of that library; "" when it is not available.
        code: "OK", or the name of the error.
        reason: why it is not available; "" when it is.
        install: what to type to install the vendor's library.
        devices: its devices, each tried.
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
    """What works here, and what to type to mend the rest.

    Attributes:
        version: the release of the library.
        platform: "linux-x86_64".
        works: whether any device can run a model.
        backends: one diagnosis each.
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
    """Looks for every vendor's library, and runs a tiny model on every device."""
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
        name: of the variant in the bundle.
        target: as it was asked for: "cpu", "npu:v73".
        device: the device's full id.
        compiled: whether it was.
        bytes: of the blob; 0 when it was not compiled.
        seconds: how long that took.
        reason: why it was not compiled; "" when it was.
        note: what else is to be known; may be "".
        left_to_cpu: the nodes that its compiler did not take, as far as it says which: {"count", "first":
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
    """What compile() has made.

    Attributes:
        output: the file or folder.
        variants: one for each device and shape.
        refused: targets that cannot be compiled for here, with the reason; empty without `keep_going`.
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
    """Compiles a model for devices that need not be here, into one file with the portable model.

    The arguments are the options of the command `latebind compile`, which its --help describes.

    Raises:
        LatebindError: a target failed, and without `keep_going` nothing is written. Its `report` has the variants.
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
    """What is in a bundle, or in a program of ExecuTorch: `raw` has all of it.

    Attributes:
        form: "zip" or "folder" of a bundle, or "pte".
        bytes: of all of it.
        intact: what `verify` has found; None when it was not asked for.
        damages: what was changed, if anything.
        decisions: with `explain`, for every device which variants it loads, and why not the others; else None.
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
    """Shows what is in a bundle or in a program of ExecuTorch (.pte).

    Args:
        verify: reads every file, and compares it with what was recorded of it.
        explain: loads the variants on every device of `device=`, to find out which ones they take.
        installed: takes a package with the installed layout too, which may refer to any file of this machine.
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
        name: in the model's folder.
        bytes: how large it is.
        loaded: False when it was in the cache.
    """

    name: str
    bytes: int
    loaded: bool
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class PulledModel:
    """A model of the hub that is in the cache now.

    Attributes:
        model: "ORG/NAME".
        revision: the branch, tag or commit that was asked for.
        commit: what it is.
        folder: where the model is, which Embedder takes.
        from_cache: True when nothing was loaded.
        loaded_bytes: what was.
        files: of the model.
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
    """Loads a model from the hub by its name, ORG/NAME or ORG/NAME@REVISION, into the hub's own cache. What is there is
    compared with the hub's sizes and digests, and loaded again where it differs; with `force` in any case."""
    raw = _run("pull", {"model": _path(model, "model"), "force": force}, settings, progress)
    return _from(PulledModel, raw, files=tuple(_from(PulledFile, one) for one in raw["files"]))


@dataclass(frozen=True)
class WarmDevice:
    """A device for which a model was compiled.

    Attributes:
        device: "openvino:CPU".
        ready: whether it can run the model.
        seconds: how long that took.
        reason: why not; "" when it is ready.
        verification: with the option "verification.enabled", what came of comparing it with another device; else "".
    """

    device: str
    ready: bool
    seconds: float
    reason: str
    verification: str
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


def warm(model: Path, progress: Watch | None = None, **settings: Any) -> tuple[WarmDevice, ...]:
    """Compiles a model for every device of `device=`, and keeps the result: later starts find it in the cache of
    compiled models, if they have the same settings and `cache=True`."""
    raw = _run("warm", {"model": _path(model, "model")}, settings, progress)
    return tuple(_from(WarmDevice, one) for one in raw["devices"])


@dataclass(frozen=True)
class OutputComparison:
    """How far an output of one device is from another's.

    Attributes:
        name: of the output.
        type: "f32", "i64".
        agrees: whether it is within the bounds of the device's precision.
        why: the bound that does not hold; "" when it agrees.
        absolute: the largest difference.
        relative: that, divided by the largest number of the other device's output.
        cosine: the least between the items along the first dimension.
        nan: how many numbers are NaN.
        nan_against: the same of the other device.
        different: how many integers or booleans are not equal.
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
    """Whether a device computes what another one does.

    Attributes:
        agrees: whether every output does.
        verdict: one line.
        device: what was tested, "openvino:NPU".
        against: what it was compared with, in f32.
        outputs: of the model.
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
    """Compares what the first device of `device=` computes with what another one does, on the same inputs. That they
    disagree is no error.

    Args:
        model: one that embeds text, an ONNX file or an OpenVINO IR.
        against: the device to compare with; "": the first other CPU that takes the model.
        input: "NAME=FILE.npy", one or several, instead of samples that are made up.
        shape: "NAME=1x128", one or several: shapes of random inputs.
        seed: of those.
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
    """A compiled model that is kept.

    Attributes:
        file: its name in the cache's folder.
        model: what it was compiled from.
        device, runtime_version, precision: what it was compiled for.
        bytes: how large it is.
        last_used: in UTC, as text.
        damage: what is wrong with it; "" when nothing is.
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
    """What is in the cache.

    Attributes:
        folder: where it is.
        entries: compiled models.
        bytes: of all of them.
    """

    folder: str
    entries: tuple[CacheEntry, ...]
    bytes: int
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class CacheVerification:
    """What was found by reading all of the cache.

    Attributes:
        checked: how many entries were read.
        damaged: those that were changed.
    """

    checked: int
    damaged: tuple[CacheEntry, ...]
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


class Cache:
    """The cache of compiled models.

    Args:
        folder: where it is; the system's cache folder for Latebind if not given.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._settings: dict[str, Any] = {}
        if folder is not None:
            self._settings["cache_folder"] = _path(folder, "folder")

    def list(self) -> CacheListing:
        """What is in it."""
        raw = _run("cache_list", {}, self._settings)
        return _from(CacheListing, raw, entries=tuple(_from(CacheEntry, one) for one in raw["entries"]))

    def verify(self) -> CacheVerification:
        """Reads all of it, and compares it with what was recorded."""
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
