"""Latebind in LangChain: LatebindEmbeddings."""

from __future__ import annotations

from typing import Any

from .._embedder import Embedder
from ._common import Encoder, Model, not_installed

try:
    from langchain_core.embeddings import Embeddings
except ImportError as error:
    raise not_installed(error, "LangChain", "latebind[langchain]") from None

__all__ = ["LatebindEmbeddings"]


class LatebindEmbeddings(Embeddings):
    """Embeddings of LangChain, by a model that is opened at once. Safe in many threads; pickled, it is its arguments.

    Args:
        model: as for latebind.Embedder; or one that is open, which can be shared.
        normalize: vectors of length 1, also if the model does not normalise.
        dimensions: only the first numbers of a vector: for models trained for this.
        query_prompt, document_prompt: what is put before queries and documents. None is the model's own, if it has one;
            "" is nothing.
        **settings: all other keywords of latebind.Embedder, such as `device="npu"`.

    Raises:
        as latebind.Embedder; every call as its encode().
    """

    def __init__(
        self,
        model: Model,
        *,
        normalize: bool = False,
        dimensions: int | None = None,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        **settings: Any,
    ) -> None:
        self._encoder = Encoder(
            model,
            settings,
            normalize=normalize,
            dimensions=dimensions,
            query_prompt=query_prompt,
            document_prompt=document_prompt,
        )
        _ = self.embedder

    @property
    def embedder(self) -> Embedder:
        """What answers."""
        return self._encoder.embedder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """A vector for each text. All are given at once: they are batched by their tokens."""
        vectors: list[list[float]] = self._encoder.documents(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = self._encoder.query(text).tolist()
        return vector

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """embed_documents(). Cancelling the task ends the call."""
        vectors: list[list[float]] = (await self._encoder.adocuments(texts)).tolist()
        return vectors

    async def aembed_query(self, text: str) -> list[float]:
        vector: list[float] = (await self._encoder.aquery(text)).tolist()
        return vector

    def __repr__(self) -> str:
        return f"LatebindEmbeddings({self.embedder!r})"
