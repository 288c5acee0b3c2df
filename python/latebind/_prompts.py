"""Reads a model's prompts from config_sentence_transformers.json, because the C interface does not provide them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

_FILE = "config_sentence_transformers.json"
# The configuration only has an effect beside this file.
_LIST = "modules.json"
# The limits of the daemon, which reads the same file.
_PROMPTS_MAX = 256
_BYTES_MAX = 16 << 10
_FILE_BYTES_MAX = 8 << 20


def _of_bundle(file: Path) -> bytes | None:
    import zipfile
    import zlib

    try:
        with zipfile.ZipFile(file) as bundle:
            for member in bundle.infolist():
                folder, slash, name = member.filename.rpartition("/")
                is_listed = f"{folder}{slash}{_LIST}" in bundle.NameToInfo
                if name == _FILE and is_listed and member.file_size <= _FILE_BYTES_MAX:
                    return bundle.read(member)
    except (OSError, EOFError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error):
        pass  # opening the model reports the error
    return None


def _text_of(place: Path) -> bytes | None:
    if place.is_file():
        return _of_bundle(place)
    found = place / _FILE
    if not found.is_file() and (place / "manifest.json").is_file():
        found = next(iter(sorted(place.rglob(_FILE))), found)
    if not (found.parent / _LIST).is_file():
        return None
    if not found.is_file() or found.stat().st_size > _FILE_BYTES_MAX:
        return None
    return found.read_bytes()


def config_of(model: str | os.PathLike[str]) -> dict[str, Any]:
    """Returns the whole file; empty if it is missing or unreadable."""
    try:
        text = _text_of(Path(model))
        config: Any = json.loads(text) if text else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return config if isinstance(config, dict) else {}


def prompts_of(config: dict[str, Any]) -> dict[str, str]:
    """Returns the prompts by name, without those that are not texts."""
    prompts = config.get("prompts")
    if not isinstance(prompts, dict):
        return {}
    found: dict[str, str] = {}
    for name, prompt in prompts.items():
        if len(found) == _PROMPTS_MAX:
            break
        if isinstance(prompt, str) and len(prompt.encode("utf-8", "replace")) <= _BYTES_MAX:
            found[name] = prompt
    return found


def default_prompt_of(config: dict[str, Any], prompts: dict[str, str]) -> str:
    """Returns the prompt that the library puts before every text by default."""
    name = config.get("default_prompt_name")
    return prompts.get(name, "") if isinstance(name, str) else ""
