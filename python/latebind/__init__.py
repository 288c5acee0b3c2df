"""Runs AI models on the accelerators of this machine, through the vendors' libraries, which are opened at run time.

    from latebind import Embedder

    embedder = Embedder("sentence-transformers/all-MiniLM-L6-v2")
    vectors = embedder.encode(["a text", "another one"])  # float32[2, 384]

Importing this package opens no library and does not import NumPy: names are loaded when they are first used.
docs/python.md is the manual.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import (
    CallerError,
    CallerTypeError,
    ClosedError,
    ForkedError,
    InternalError,
    LatebindError,
    LibraryError,
    MachineError,
    TransientError,
)

if TYPE_CHECKING:
    from ._attestation import Attestation, PlacementStep
    from ._cross_encoder import CrossEncoder
    from ._embedder import Embedder
    from ._encoder import Encoder
    from ._jobs import Progress
    from ._model import Model, TensorInfo
    from ._multi_vector_encoder import MultiVectorEncoder
    from ._reports import (
        BackendDiagnosis,
        Cache,
        CacheEntry,
        CacheListing,
        CacheVerification,
        Compilation,
        Device,
        DeviceList,
        DeviceTrial,
        Diagnosis,
        Inspection,
        OutputComparison,
        PulledFile,
        PulledModel,
        Variant,
        Verification,
        WarmDevice,
        compile,
        devices,
        doctor,
        inspect,
        pull,
        verify,
        warm,
    )
    from ._sparse_encoder import SparseEncoder
    from ._sparse_vectors import SparseVectors
    from ._text_model import EmbedStats, OutputInfo

__version__ = "0.1.0"

_MODULES = {
    "_attestation": ("Attestation", "PlacementStep"),
    "_cross_encoder": ("CrossEncoder",),
    "_embedder": ("Embedder",),
    "_encoder": ("Encoder",),
    "_jobs": ("Progress",),
    "_model": ("Model", "TensorInfo"),
    "_multi_vector_encoder": ("MultiVectorEncoder",),
    "_reports": (
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
    ),
    "_sparse_encoder": ("SparseEncoder",),
    "_sparse_vectors": ("SparseVectors",),
    "_text_model": ("EmbedStats", "OutputInfo"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Attestation",
    "BackendDiagnosis",
    "Cache",
    "CacheEntry",
    "CacheListing",
    "CacheVerification",
    "CallerError",
    "CallerTypeError",
    "ClosedError",
    "Compilation",
    "CrossEncoder",
    "Device",
    "DeviceList",
    "DeviceTrial",
    "Diagnosis",
    "EmbedStats",
    "Embedder",
    "Encoder",
    "ForkedError",
    "Inspection",
    "InternalError",
    "LatebindError",
    "LibraryError",
    "MachineError",
    "Model",
    "MultiVectorEncoder",
    "OutputComparison",
    "OutputInfo",
    "PlacementStep",
    "Progress",
    "PulledFile",
    "PulledModel",
    "SparseEncoder",
    "SparseVectors",
    "TensorInfo",
    "TransientError",
    "Variant",
    "Verification",
    "WarmDevice",
    "__version__",
    "compile",
    "devices",
    "doctor",
    "inspect",
    "pull",
    "verify",
    "warm",
]


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'latebind' has no attribute {name!r}")
    found = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
