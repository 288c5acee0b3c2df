"""Latebind as an execution provider of ONNX Runtime, in an unmodified ONNX Runtime: `register()` gives its devices."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

from ._library import library_file
from .errors import LibraryError

_FILE = "libonnxruntime_providers_latebind.so"
_EP = "Latebind"
_names: set[str] = set()


def library_path() -> Path:
    """The provider's file, for hosts in other languages: RegisterExecutionProviderLibrary takes it.

    Raises:
        LibraryError: this wheel has none; those for Linux have.
    """
    file = library_file().parent / _FILE
    if not file.is_file():
        raise LibraryError(f"there is no {file}: only the wheels for Linux have {_FILE} ({sys.platform} here)")
    return file


def register(name: str = "latebind") -> list[Any]:
    """Makes Latebind a provider of this process's ONNX Runtime, and gives its devices.

    Args:
        name: What ONNX Runtime knows the library by. With one that ends in ".virtual" devices that are not in this
            machine are listed too, for compiling. Again with the same name it only gives the devices.

    Returns:
        The `onnxruntime.OrtEpDevice`s of the provider, for `SessionOptions.add_provider_for_devices`. They belong to ONNX
        Runtime; `onnxruntime.unregister_execution_provider_library(name)` ends them.

    Raises:
        LibraryError: ONNX Runtime is not installed or is older than 1.24, or this wheel has no provider.
    """
    if importlib.util.find_spec("onnxruntime") is None:
        raise LibraryError("ONNX Runtime is not installed in this Python; run: pip install onnxruntime")
    host: Any = importlib.import_module("onnxruntime")
    if not hasattr(host, "register_execution_provider_library"):
        raise LibraryError(f"Latebind needs ONNX Runtime 1.24 or newer; this is {host.__version__}")
    file = library_path()

    def devices() -> list[Any]:
        return [device for device in host.get_ep_devices() if device.ep_name == _EP]

    if name in _names and devices():
        return devices()
    try:
        host.register_execution_provider_library(name, str(file))
    except Exception as error:  # noqa: BLE001 - whatever the host raises, it says why
        raise LibraryError(f"Latebind's provider could not be registered as {name!r}: {error}") from None
    _names.add(name)
    return devices()
