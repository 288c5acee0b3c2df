"""Models by name: what exists is a path, and ORG/NAME is loaded from the hub once."""

from __future__ import annotations

import os
import re
from ctypes import c_void_p

from ._jobs import run_job
from .errors import LatebindError

_NAME = re.compile(r"[\w.-]+/[\w.-]+(@[\w./-]+)?", re.ASCII)


def folder_of(model: str, runtime: c_void_p, onnx_file: str | None = None) -> str:
    """The folder of a model, loaded with `onnx_file` instead of weights where it is given. What is neither there nor
    looks like a name is left as it is: opening it says so.
    """
    if os.path.exists(model) or not _NAME.fullmatch(model) or model.startswith("."):
        return model
    options = {"embedding.onnx_file": onnx_file} if onnx_file else {}
    try:
        return str(run_job("pull", {"model": model}, options, runtime, None)["folder"])
    except LatebindError as error:
        error.message += f"; nor is there a folder '{model}' here"
        raise
