"""The model of a process: opened once, however many batches and however many copies of EmbedBatches come along."""

from __future__ import annotations

import hashlib
import os
import threading
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from .. import __version__
from .._embedder import Embedder


@dataclass(frozen=True)
class Answers:
    """What computes vectors: those of two answers that are equal have the same bits for the same batches.

    Attributes:
        model: "sha256:…" of the model's files.
        device: "openvino:CPU".
        device_full_name: as its vendor calls it.
        processor: the vector instructions of a CPU, which decide how its vendor's library computes: two of one name may
            have different ones, as in virtual machines. "" for other devices, and on Windows.
        precision: "f32", "bf16" or "f16".
        runtime_version: of the vendor's library.
        threads: of the device; 0 when the vendor does not report it.
        requests: runs that go side by side, on which the batches depend.
        version: of Latebind.
        dimension: numbers of the model's vectors.
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
        """What differs, as "device: openvino:NPU, here openvino:CPU"; "" if nothing does."""
        theirs = vars(other)
        return "; ".join(
            f"{name}: {value}, here {theirs[name]}" for name, value in vars(self).items() if value != theirs[name]
        )


def digest_of(folder: str) -> str:
    """ "sha256:…" of a model: of its file, or of the names and bytes of all files in its folder."""
    path = Path(folder)
    if path.is_file():
        return f"sha256:{_sha256(path)}"
    # The hub's loader keeps notes of its own in hidden files.
    files = (file for file in path.rglob("*") if file.is_file())
    names = sorted(name for file in files if not (name := file.relative_to(path).as_posix()).startswith("."))
    listing = "".join(f"{_sha256(path / name)}  {name}\n" for name in names)
    return f"sha256:{hashlib.sha256(listing.encode()).hexdigest()}"


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


@cache
def _vector_instructions() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    words = next((line.partition(":")[2].split() for line in lines if line.startswith(("flags", "Features"))), [])
    # Not all that the kernel lists, which a newer one does more of.
    kinds = ("sse4", "avx", "amx", "fma", "f16c", "asimd", "sve", "bf16", "i8mm")
    return " ".join(sorted({word for word in words if word.startswith(kinds)}))


class OpenModel:
    """An embedder, and what is known of its model. `lock` is held while it embeds: what it did is read as a difference
    of counters, and one call keeps the whole device busy."""

    def __init__(self, model: str, settings: dict[str, Any]) -> None:
        self.embedder = Embedder(model, **settings)
        self.lock = threading.Lock()

    @cached_property
    def digest(self) -> str:
        return digest_of(self.embedder.folder)

    def answers(self) -> Answers:
        """What would answer now."""
        active = self.embedder.attestation
        return Answers(
            model=self.digest,
            device=f"{active.backend}:{active.device}",
            device_full_name=active.device_full_name,
            processor=_vector_instructions() if active.device == "CPU" else "",
            precision=active.precision,
            runtime_version=active.runtime_version,
            threads=active.threads,
            requests=active.requests,
            version=__version__,
            dimension=self.embedder.dimension,
        )


_models: dict[tuple[int, str], OpenModel] = {}
_lock = threading.Lock()


def open_model(model: str, settings: dict[str, Any]) -> OpenModel:
    """The model with these settings, which this process opens once. A process made by fork() opens its own."""
    key = (os.getpid(), repr((model, sorted(settings.items()))))
    with _lock:
        if key not in _models:
            _models[key] = OpenModel(model, settings)
        return _models[key]
