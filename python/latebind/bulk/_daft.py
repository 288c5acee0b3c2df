"""Runs EmbedBatches in Daft, as a function of a column."""

from __future__ import annotations

import os
from typing import Any

import pyarrow as pa

from .._extras import install_line
from ..errors import CallerError, LibraryError
from ._batches import EmbedBatches, refuse_names


def embed_daft(
    df: Any,
    model: str | os.PathLike[str],
    text_column: str,
    *,
    vector_column: str = "vector",
    concurrency: int = 1,
    batch_size: int = 4096,
    **arguments: Any,
) -> Any:
    """Returns a Daft DataFrame with a column of vectors, FixedSizeList[Float32; d].

    Also opens the model in this process to find the length of its vectors, unless `dimensions` is given.

    Args:
        df: a daft.DataFrame.
        model, text_column, vector_column, **arguments: see EmbedBatches. With on_error="skip", a row without a usable
            text has a null vector, without the reason.
        concurrency: how many models are open concurrently.
        batch_size: rows per batch.

    Raises:
        LibraryError: Daft is not installed.
        CallerError, CallerTypeError: see EmbedBatches.
    """
    try:
        import daft
    except ImportError as error:
        raise LibraryError(f"Daft is not installed; run: {install_line('daft')}") from error
    embed = EmbedBatches(model, "text", vector_column="vector", **arguments)
    names = df.column_names
    if text_column not in names:
        raise CallerError(f"there is no column '{text_column}'; the columns are: {', '.join(names)}")
    refuse_names(names, [vector_column])
    dimension = embed.encoding["dimensions"] or embed.answers().dimension

    vector = daft.DataType.fixed_size_list(daft.DataType.float32(), dimension)

    class Embed:
        def __init__(self, embed: EmbedBatches) -> None:
            self._embed = embed

        @daft.method.batch(return_dtype=vector, batch_size=batch_size)  # type: ignore[untyped-decorator, unused-ignore]
        def vectors(self, texts: daft.Series) -> Any:
            table = pa.table({"text": texts.to_arrow()})
            return self._embed(table).column("vector").combine_chunks()

    # Runs in this process. Further copies of the model are what `concurrency` is for.
    made = daft.cls(Embed, max_concurrency=concurrency, use_process=False)
    return df.with_column(vector_column, made(embed).vectors(df[text_column]))
