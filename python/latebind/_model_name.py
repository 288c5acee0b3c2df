"""Models by name: the library tells names on the hub from paths, and loads each once."""

from __future__ import annotations

import os
from ctypes import c_void_p

from ._jobs import run_job


def folder_of(model: str, kind: str, runtime: c_void_p, onnx_file: str | None = None) -> str:
    """The folder of a model, loaded from the hub, with `onnx_file` instead of weights where it is given, if it is the
    name of one; `kind` completes short names. A path is left as it is: opening it says what is wrong with it.
    """
    if not model or os.path.exists(model):
        return model
    options = {"embedding.onnx_file": onnx_file} if onnx_file else {}
    return str(run_job("find", {"model": model, "kind": kind}, options, runtime, None)["folder"])
