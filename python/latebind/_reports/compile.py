"""Compiling a model for devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .._jobs import Watch
from .common import Path, path_text, report_from, run, texts_of

__all__ = ["Compilation", "Variant", "compile"]


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
        "model": path_text(model, "model"),
        "output": path_text(output, "output"),
        "target": texts_of(target, "target"),
        "shapes": texts_of(shapes, "shapes"),
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
    raw = run("compile", arguments, settings, progress)
    variants = tuple(report_from(Variant, one) for one in raw["variants"])
    return report_from(Compilation, raw, variants=variants, refused=tuple(raw.get("refused", ())))
