"""The models of a process, each opened once for all batches and all copies of EmbedBatches."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .. import __version__
from .._embedder import Embedder
from .._library import runtime
from .._locks import Lock, in_child
from .._model_name import folder_of
from .._settings import settings_of
from ._model_files import ModelFiles


@dataclass(frozen=True)
class Answers:
    """What computes vectors. Equal answers give identical bits for the same batches.

    Attributes:
        model: "sha256:…" of the model's files.
        device: "openvino:CPU".
        device_full_name: the vendor's name for it.
        processor: the vector instructions of a CPU, which affect the vendor's computation: CPUs with the same name may
            differ, as in virtual machines. "" for other devices, and on Windows.
        precision: "f32", "bf16" or "f16".
        runtime_version: the version of the vendor's library.
        threads: the device's threads; 0 if the vendor does not report them.
        requests: concurrent runs, which affect the batches.
        version: the release of Latebind.
        dimension: the length of the model's vectors.
    """

    model: str
    device: str
    device_full_name: str
    processor: str
    precision: str
    runtime_version: str
    threads: int
    requests: int
    version: str
    dimension: int

    def difference(self, other: Answers) -> str:
        """Describes the differences, such as "device: openvino:NPU, here openvino:CPU"; "" if there are none."""
        theirs = vars(other)
        return "; ".join(
            f"{name}: {value}, here {theirs[name]}" for name, value in vars(self).items() if value != theirs[name]
        )


@cache
def _vector_instructions() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    words = next((line.partition(":")[2].split() for line in lines if line.startswith(("flags", "Features"))), [])
    # Only these, because newer kernels list further ones.
    kinds = ("sse4", "avx", "amx", "fma", "f16c", "asimd", "sve", "bf16", "i8mm")
    return " ".join(sorted({word for word in words if word.startswith(kinds)}))


class OpenModel:
    """An embedder and the identity of its model. Hold `lock` while it embeds: statistics are differences of counters,
    and one call keeps the whole device busy."""

    def __init__(self, place: str, settings: dict[str, Any], files: ModelFiles, changed: str = "") -> None:
        """Opens the model.

        Args:
            changed: a file that has changed since the model at this place was opened before.

        Raises:
            LatebindError: see Embedder.
            MachineError: the model changed while it was opened.
        """
        self.embedder = Embedder(place, **settings)
        self.files = files
        self.changed = changed
        self.digest = files.digest
        self.lock = Lock()

    def answers(self) -> Answers:
        """Returns what would answer now."""
        active = self.embedder.attestation
        return Answers(
            model=self.digest,
            device=active.device,
            device_full_name=active.device_full_name,
            processor=_vector_instructions() if active.device.endswith(":CPU") else "",
            precision=active.precision,
            runtime_version=active.runtime_version,
            threads=active.threads,
            requests=active.requests,
            version=__version__,
            dimension=self.embedder.dimension,
        )


# By the model's real path and its settings.
_models: dict[tuple[str, str], OpenModel] = {}
# The folders of models given by a name on the hub, by name and settings.
_places: dict[tuple[str, str], str] = {}
_lock = Lock()
# A forked child opens its own models.
in_child(_models.clear)


def open_model(model: str, settings: dict[str, Any]) -> OpenModel:
    """Returns the model with these settings, which this process opens once, and again after its files have changed.

    Raises:
        LatebindError: see Embedder.
    """
    of_runtime, of_model = settings_of(settings)
    onnx_file = of_model.get("embedding.onnx_file", "")
    with _lock:
        given = (model, repr((sorted(of_runtime.items()), sorted(of_model.items()))))
        place = model if os.path.exists(model) else _places.get(given, "")
        if not os.path.exists(place):
            place = _places[given] = folder_of(model, "embedder", runtime(of_runtime), onnx_file or None)
        key = (os.path.realpath(place), given[1])
        found = _models.get(key)
        changed = ""
        if found is not None:
            changed = found.files.changed()
            if not changed:
                return found
            del _models[key]
        # By its real path, because a link may have been changed since it was resolved.
        opened = _models[key] = OpenModel(key[0], settings, ModelFiles(key[0], onnx_file), changed)
        return opened
