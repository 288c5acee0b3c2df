"""Daft: EmbedBatches as a function of a column."""

from __future__ import annotations

import os
from typing import Any

import pyarrow as pa

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
    """A DataFrame of Daft with a column of vectors, FixedSizeList[Float32; d].

    Opens the model here as well, to ask how long its vectors are, unless `dimensions` says so.

    Args:
        df: a daft.DataFrame.
        model, text_column, vector_column, **arguments: as of EmbedBatches. With on_error="skip" the vector of a row
            without a usable text is null, and the reason is not told.
        concurrency: models that are open side by side.
        batch_size: rows of a batch.

    Raises:
        LibraryError: Daft is not installed. CallerError, CallerTypeError: as of EmbedBatches.
    """
    try:
        import daft
    except ImportError as error:
        raise LibraryError("Daft is not installed; run: pip install 'latebind[daft]'") from error
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

    # In this process: a copy of the model for each process is what `concurrency` is for.
    made = daft.cls(Embed, max_concurrency=concurrency, use_process=False)
    return df.with_column(vector_column, made(embed).vectors(df[text_column]))
