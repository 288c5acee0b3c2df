"""Embeds tables and files of any size, here or on the engines that people scale with. docs/bulk.md has all of it.

    from latebind.bulk import EmbedBatches, embed_files

    table = EmbedBatches("sentence-transformers/all-MiniLM-L6-v2", "body")(table)
    report = embed_files(["in.parquet"], "out", "sentence-transformers/all-MiniLM-L6-v2", "body")

`python -m latebind.bulk` is embed_files() as a command. Needs pyarrow; an engine is imported when it is used.
"""

from __future__ import annotations

from ..errors import LibraryError

try:
    import pyarrow as _  # noqa: F401
except ImportError as error:
    raise LibraryError("latebind.bulk needs pyarrow; type: pip install latebind[bulk]") from error

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
