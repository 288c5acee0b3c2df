"""Describes what answers: backend, device, versions, and why a preferred device does not."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import POINTER, byref, c_size_t, cast
from dataclasses import dataclass

from . import _abi
from ._call import Owner
from ._library import check, library, sized, text_of


@dataclass(frozen=True)
class PlacementStep:
    """A device or backend that was considered.

    Attributes:
        device: "openvino:CPU", or "openvino" if the backend is unavailable.
        taken: whether this device answers.
        reason: why it was not taken; "" if it was.
        details: the causes, one per line; "" if there are none.
    """

    device: str
    taken: bool
    reason: str
    details: str = ""


@dataclass(frozen=True)
class Attestation:
    """A snapshot of what answered, or would answer now.

    Attributes:
        backend: "openvino".
        device: as settings and the command line spell it: "openvino:CPU".
        device_full_name: the vendor's name for it.
        runtime_version: the version of the vendor's library.
        library_file: the file of the vendor's library.
        precision: "f32", "bf16" or "f16", as reported by the vendor.
        threads: the number of threads; 0 if the vendor does not report it.
        requests: how many runs can be in progress at once.
        fallback: True if a preferred device could not be used.
        reason: why, in one line; "" without a fallback.
        static_lengths: the lengths it was compiled for, ascending; None if it accepts any length.
        static_rows: the rows of a static model; 0 for other models.
        hung_runs: abandoned runs on its devices that have not returned yet.
        emulated: True if the device is absent and its vendor's emulation answers.
        nodes: the nodes of the model; 0 if the vendor does not report where they run.
        host_nodes: those of them that the device leaves to the host's CPU.
        verification: with the setting "verification.enabled", the result of comparing the device with another one, in
            one line; otherwise "".
        steps: every device and backend that was considered, in order; the one that answers is the last.
    """

    backend: str
    device: str
    device_full_name: str
    runtime_version: str
    library_file: str
    precision: str
    threads: int
    requests: int
    fallback: bool
    reason: str
    static_lengths: tuple[int, ...] | None
    static_rows: int
    hung_runs: int
    emulated: bool
    nodes: int
    host_nodes: int
    verification: str
    steps: tuple[PlacementStep, ...]


def _read(pointer: Owner) -> Attestation:
    functions = library()
    active = sized(_abi.lb_active)
    check(functions.lb_attestation_get(pointer, byref(active)))
    lengths = None
    if active.static_lengths:
        numbers = cast(active.static_lengths, POINTER(c_size_t))
        lengths = tuple(numbers[index] for index in range(active.static_length_count))
    steps = []
    for index in range(functions.lb_attestation_step_count(pointer)):
        step = sized(_abi.lb_placement_step)
        check(functions.lb_attestation_step(pointer, index, byref(step)))
        steps.append(PlacementStep(text_of(step.device), bool(step.taken), text_of(step.reason), text_of(step.details)))
    return Attestation(
        backend=text_of(active.backend),
        # A router without a network has neither.
        device=":".join(filter(None, (text_of(active.backend), text_of(active.device)))),
        device_full_name=text_of(active.device_full_name),
        runtime_version=text_of(active.runtime_version),
        library_file=text_of(active.library_file),
        precision=text_of(active.precision),
        threads=active.threads,
        requests=active.requests,
        fallback=bool(active.fallback),
        reason=text_of(active.reason),
        static_lengths=lengths,
        static_rows=active.static_rows,
        hung_runs=active.hung_runs,
        emulated=bool(active.emulated),
        nodes=active.nodes,
        host_nodes=active.host_nodes,
        verification=text_of(active.verification),
        steps=tuple(steps),
    )


def attestation_of(ask: Callable[..., int], of: Owner) -> Attestation:
    """Returns the attestation of an object; `ask` is a function such as lb_model_attestation."""
    attestation = Owner(library().lb_attestation_destroy)
    try:
        check(ask(of, attestation.out))
        return _read(attestation)
    finally:
        attestation.close()
