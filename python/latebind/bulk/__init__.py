"""Embeds tables and files of any size, locally or on distributed engines. docs/bulk.md is the manual.

    from latebind.bulk import EmbedBatches, embed_files

    table = EmbedBatches("sentence-transformers/all-MiniLM-L6-v2", "body")(table)
    report = embed_files(["in.parquet"], "out", "sentence-transformers/all-MiniLM-L6-v2", "body")

`python -m latebind.bulk` runs embed_files() as a command. pyarrow is required, but imported only when one of these
names is first used, so that the command's help works without it. An engine is imported when it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .._extras import install_line
from ..errors import LibraryError

if TYPE_CHECKING:
    from ._batches import EmbedBatches, Embedded
    from ._daft import embed_daft
    from ._damage import RowError
    from ._files import embed_files
    from ._manifest import DifferentRunError
    from ._model import Answers
    from ._ray import embed_ray
    from ._report import Report
    from ._spark import embed_spark

__all__ = [
    "Answers",
    "DifferentRunError",
    "EmbedBatches",
    "Embedded",
    "Report",
    "RowError",
    "embed_daft",
    "embed_files",
    "embed_ray",
    "embed_spark",
]

# The module of each name.
_MODULES = {
    "Answers": "_model",
    "DifferentRunError": "_manifest",
    "EmbedBatches": "_batches",
    "Embedded": "_batches",
    "Report": "_report",
    "RowError": "_damage",
    "embed_daft": "_daft",
    "embed_files": "_files",
    "embed_ray": "_ray",
    "embed_spark": "_spark",
}


def __getattr__(name: str) -> Any:
    """Imports a name on first use.

    Raises:
        LibraryError: pyarrow is not installed.
    """
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import pyarrow as _  # noqa: F401
    except ImportError as error:
        raise LibraryError(f"latebind.bulk needs pyarrow; run: {install_line('bulk')}") from error
    found = globals()[name] = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
