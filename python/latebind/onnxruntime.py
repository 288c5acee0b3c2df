"""Latebind as an execution provider of an unmodified ONNX Runtime: `register()` returns its devices."""

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
    """Returns the provider's file, which hosts in other languages pass to RegisterExecutionProviderLibrary.

    Raises:
        LibraryError: this wheel has no provider; wheels for Linux have one.
    """
    file = library_file().parent / _FILE
    if not file.is_file():
        raise LibraryError(f"there is no {file}: only the wheels for Linux have {_FILE} ({sys.platform} here)")
    return file


def register(name: str = "latebind") -> list[Any]:
    """Registers Latebind as a provider in this process's ONNX Runtime and returns its devices.

    Args:
        name: the library's name in ONNX Runtime. If it ends in ".virtual", devices that are not in this machine are
            listed too, for compiling. A repeated call with the same name only returns the devices.

    Returns:
        the provider's `onnxruntime.OrtEpDevice`s, for `SessionOptions.add_provider_for_devices`. ONNX Runtime owns
            them; `onnxruntime.unregister_execution_provider_library(name)` removes them.

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
    except Exception as error:  # noqa: BLE001 - any error of the host carries the reason
        raise LibraryError(f"Latebind's provider could not be registered as {name!r}: {error}") from None
    _names.add(name)
    return devices()
