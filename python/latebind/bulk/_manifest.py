"""The record of what an output was made from, manifest.json. A run can only continue an output with an equal manifest."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from ..errors import CallerError
from ._batches import EmbedBatches
from ._inputs import InputFile
from ._model import Answers
from ._store import Store

FORMAT = 1
# The kind of unfinished output: shards, or in the program's case one file.
KIND = "shards"
NAME = "manifest.json"
# The folders of an output.
VECTORS = "vectors"
SKIPPED = "skipped"
BEGUN = "begun"  # shards that a run has not finished


class DifferentRunError(CallerError):
    """The output was made from another input, or with another model, device or setting."""


def manifest_of(
    files: Sequence[InputFile], embed: EmbedBatches, id_column: str | None, shard_rows: int, answers: Answers
) -> dict[str, Any]:
    """Returns everything that determines the output."""
    return {
        "format": FORMAT,
        "kind": KIND,
        "inputs": [
            {"name": file.name, "bytes": file.bytes, "rows": file.rows, "sha256": file.sha256} for file in files
        ],
        "settings": {**embed.described(), "id_column": id_column, "shard_rows": shard_rows},
        "answers": vars(answers),
    }


def _bytes(manifest: dict[str, Any]) -> bytes:
    return (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode()


def agree(store: Store, wanted: dict[str, Any], any_device: bool) -> bool:
    """Writes the manifest if there is none, or if nothing was made with the existing one.

    Args:
        any_device: permits another device, as long as the model is the same.

    Returns:
        whether there was a manifest, which agrees.

    Raises:
        DifferentRunError: the output has a different manifest; the message has the differences.
    """
    content = store.read(NAME)
    if content is None:
        # If the manifest was lost, its remains would otherwise count as part of this output.
        if any(store.names(folder) for folder in ("", VECTORS, SKIPPED, BEGUN)):
            raise DifferentRunError(f"{store.root} has files and no {NAME}: give an empty or new folder")
        store.write(NAME, _bytes(wanted))
        return False
    try:
        found = json.loads(content)
        there = found["format"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise DifferentRunError(f"{NAME} in {store.root} is not a manifest of Latebind: give another folder") from None
    if there != FORMAT:
        raise DifferentRunError(f"{NAME} in {store.root} has the format {there}, but this release writes {FORMAT}")
    if found.get("kind") != KIND:
        raise DifferentRunError(
            f"{store.root} has an unfinished output of the program latebind: finish it with the same command, or remove it"
        )
    differences = list(
        dict.fromkeys(
            _told(path, was, now, wanted)
            for path, was, now in _differences(found, wanted, "")
            if not (any_device and path.startswith("answers.") and path not in ("answers.model", "answers.dimension"))
        )
    )
    if differences and not any(store.names(folder) for folder in (VECTORS, SKIPPED, BEGUN)):
        # Nothing was made with the old manifest, so a mistake can be corrected.
        store.write(NAME, _bytes(wanted))
        return False
    if differences:
        raise DifferentRunError(
            f"{store.root} is the output of another run: {'; '.join(differences[:8])}"
            f"{f'; and {len(differences) - 8} more' if len(differences) > 8 else ''}; give another folder"
        )
    return True


def _differences(there: Any, wanted: Any, path: str) -> list[tuple[str, str, str]]:
    """Returns (path, there, wanted) of all values that differ."""
    if isinstance(there, dict) and isinstance(wanted, dict):
        found = []
        for name in dict.fromkeys([*there, *wanted]):
            found += _differences(there.get(name), wanted.get(name), f"{path}.{name}" if path else name)
        return found
    if isinstance(there, list) and isinstance(wanted, list):
        found = []
        for at, (one, other) in enumerate(zip_longest(there, wanted)):
            found += _differences(one, other, f"{path}[{at}]")
        return found
    return [] if there == wanted else [(path, _shown(there), _shown(wanted))]


_ANSWERS = {"threads": "number of threads", "requests": "number of requests", "version": "release of latebind"}


def _told(path: str, was: str, now: str, wanted: dict[str, Any]) -> str:
    """A difference in the words of the arguments."""
    if path == "answers.model":
        return "the model is another one, or its files were changed"
    if file := re.fullmatch(r"inputs\[(\d+)\]\.(bytes|rows|sha256)", path):
        return f"{wanted['inputs'][int(file[1])]['name']} was changed"
    if path.startswith("inputs["):
        return f"the input was {was}, now {now}"
    if path.startswith("answers."):
        name = path.removeprefix("answers.")
        return f"the {_ANSWERS.get(name, name.replace('_', ' '))} was {was}, now {now}"
    return f"{path.removeprefix('settings.').removeprefix('embedder.')} was {was}, now {now}"


def _shown(value: Any) -> str:
    if value is None:
        return "not given"
    if isinstance(value, dict) and "name" in value:
        return str(value["name"])
    return "there" if isinstance(value, dict) else json.dumps(value, ensure_ascii=False)
