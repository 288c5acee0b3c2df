"""Resolves model names: the library distinguishes names on the hub from paths, and downloads each once."""

from __future__ import annotations

import os
from ctypes import c_void_p

from ._jobs import run_job


def folder_of(model: str, kind: str, runtime: c_void_p, onnx_file: str | None = None) -> str:
    """Returns the folder of a model, downloading a name on the hub. With `onnx_file`, downloads that file instead of
    the weights. `kind` completes short names. A path is returned unchanged, and opening it reports any error."""
    if not model or os.path.exists(model):
        return model
    options = {"embedding.onnx_file": onnx_file} if onnx_file else {}
    return str(run_job("find", {"model": model, "kind": kind}, options, runtime, None)["folder"])
