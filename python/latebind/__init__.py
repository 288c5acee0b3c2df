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
    from ._sparse_encoder import SparseEncoder
    from ._sparse_vectors import SparseVectors
    from ._text_model import EmbedStats, OutputInfo

# isort: off
if TYPE_CHECKING:
    # Written by scripts/generate_python_reports: begin
    from ._reports.backends import (
        AddedBackend,
        Backend,
        BackendList,
        add_backend,
        backends,
        remove_backend,
    )
    from ._reports.cache import (
        Cache,
        CacheEntry,
        CacheListing,
        CacheVerification,
    )
    from ._reports.compile import (
        Compilation,
        Variant,
        compile,
    )
    from ._reports.devices import (
        Device,
        DeviceList,
        devices,
    )
    from ._reports.doctor import (
        BackendDiagnosis,
        DeviceTrial,
        Diagnosis,
        doctor,
    )
    from ._reports.inspect import (
        Inspection,
        inspect,
    )
    from ._reports.pull import (
        PulledFile,
        PulledModel,
        pull,
    )
    from ._reports.verify import (
        OutputComparison,
        Verification,
        verify,
    )
    from ._reports.warm import (
        WarmDevice,
        warm,
    )
    # Written by scripts/generate_python_reports: end
# isort: on

__version__ = "0.1.0"

_MODULES = {
    "_attestation": ("Attestation", "PlacementStep"),
    "_cross_encoder": ("CrossEncoder",),
    "_embedder": ("Embedder",),
    "_encoder": ("Encoder",),
    "_jobs": ("Progress",),
    "_model": ("Model", "TensorInfo"),
    "_multi_vector_encoder": ("MultiVectorEncoder",),
    "_sparse_encoder": ("SparseEncoder",),
    "_sparse_vectors": ("SparseVectors",),
    "_text_model": ("EmbedStats", "OutputInfo"),
    # Written by scripts/generate_python_reports: begin
    "_reports.backends": (
        "AddedBackend",
        "Backend",
        "BackendList",
        "add_backend",
        "backends",
        "remove_backend",
    ),
    "_reports.cache": (
        "Cache",
        "CacheEntry",
        "CacheListing",
        "CacheVerification",
    ),
    "_reports.compile": (
        "Compilation",
        "Variant",
        "compile",
    ),
    "_reports.devices": (
        "Device",
        "DeviceList",
        "devices",
    ),
    "_reports.doctor": (
        "BackendDiagnosis",
        "DeviceTrial",
        "Diagnosis",
        "doctor",
    ),
    "_reports.inspect": (
        "Inspection",
        "inspect",
    ),
    "_reports.pull": (
        "PulledFile",
        "PulledModel",
        "pull",
    ),
    "_reports.verify": (
        "OutputComparison",
        "Verification",
        "verify",
    ),
    "_reports.warm": (
        "WarmDevice",
        "warm",
    ),
    # Written by scripts/generate_python_reports: end
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [  # noqa: RUF022
    "Attestation",
    "CallerError",
    "CallerTypeError",
    "ClosedError",
    "CrossEncoder",
    "EmbedStats",
    "Embedder",
    "Encoder",
    "ForkedError",
    "InternalError",
    "LatebindError",
    "LibraryError",
    "MachineError",
    "Model",
    "MultiVectorEncoder",
    "OutputInfo",
    "PlacementStep",
    "Progress",
    "SparseEncoder",
    "SparseVectors",
    "TensorInfo",
    "TransientError",
    "__version__",
    # Written by scripts/generate_python_reports: begin
    "AddedBackend",
    "Backend",
    "BackendDiagnosis",
    "BackendList",
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
    "add_backend",
    "backends",
    "compile",
    "devices",
    "doctor",
    "inspect",
    "pull",
    "remove_backend",
    "verify",
    "warm",
    # Written by scripts/generate_python_reports: end
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
