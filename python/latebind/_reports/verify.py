"""Comparing a device with another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .._jobs import Watch
from .common import Path, path_text, report_from, run, texts_of

__all__ = ["OutputComparison", "Verification", "verify"]


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
        "model": path_text(model, "model"),
        "against": against,
        "input": texts_of(input, "input"),
        "shape": texts_of(shape, "shape"),
        "seed": seed,
    }
    raw = run("verify", arguments, settings, progress)
    return report_from(
        Verification,
        raw,
        device=raw["tested"]["device"],
        against=raw["against"]["device"],
        outputs=tuple(report_from(OutputComparison, one) for one in raw["outputs"]),
    )
