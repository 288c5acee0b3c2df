"""Latebind in LangChain: LatebindEmbeddings, LatebindReranker and LatebindCrossEncoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._arguments import positive
from .._cross_encoder import CrossEncoder
from .._embedder import Embedder
from ._common import Encoder, Model, RankingModel, Reranker, not_installed

try:
    from langchain_core.cross_encoders import BaseCrossEncoder
    from langchain_core.documents import BaseDocumentCompressor, Document
    from langchain_core.embeddings import Embeddings
    from pydantic import Field, PrivateAttr
except ImportError as error:
    raise not_installed(error, "LangChain", "latebind[langchain]") from None

__all__ = ["LatebindCrossEncoder", "LatebindEmbeddings", "LatebindReranker"]


class LatebindEmbeddings(Embeddings):
    """Embeddings of LangChain, by a model that is opened at once. Safe in many threads; pickled, it is its arguments.

    Args:
        model: as for latebind.Embedder; or one that is open, which can be shared.
        normalize: scale vectors to length 1, even if the model does not normalise.
        dimensions: keep only the first N numbers of each vector (for models trained for it).
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


class LatebindReranker(BaseDocumentCompressor):
    """A compressor of LangChain that keeps the documents with the highest scores for a query, in that order. Its model is
    opened at once. Safe in many threads; pickled, it is its arguments.

    Args:
        model: as for latebind.CrossEncoder; or one that is open, which can be shared. It has one label.
        top_n: how many documents are kept; None keeps all.
        **settings: all other keywords of latebind.CrossEncoder, such as `device="npu"`.

    Raises:
        as latebind.CrossEncoder; every call as its rank().
    """

    model: str = Field(frozen=True, description="The model's folder or name.")
    settings: dict[str, Any] = Field(frozen=True, description="Keywords of latebind.CrossEncoder.")
    top_n: int | None = Field(description="Number of documents to keep.")

    _reranker: Reranker = PrivateAttr()

    def __init__(self, model: RankingModel, *, top_n: int | None = 3, **settings: Any) -> None:
        reranker = Reranker(model, settings)
        fields: dict[str, Any] = {
            "model": reranker.model,
            "settings": reranker.settings,
            "top_n": positive(top_n, "top_n") or None,
        }
        super().__init__(**fields)
        self._reranker = reranker
        _ = self.cross_encoder

    @property
    def cross_encoder(self) -> CrossEncoder:
        """What answers."""
        return self._reranker.cross_encoder

    def compress_documents(self, documents: Sequence[Document], query: str, callbacks: Any = None) -> list[Document]:
        """The best documents, as copies with their score in metadata["relevance_score"]."""
        texts = [document.page_content for document in documents]
        return _scored(documents, self._reranker.order(query, texts, self.top_n))

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Any = None
    ) -> list[Document]:
        """compress_documents(). Cancelling the task ends the call."""
        texts = [document.page_content for document in documents]
        return _scored(documents, await self._reranker.aorder(query, texts, self.top_n))


def _scored(documents: Sequence[Document], order: list[tuple[int, float]]) -> list[Document]:
    return [
        documents[index].model_copy(update={"metadata": {**documents[index].metadata, "relevance_score": score}})
        for index, score in order
    ]


class LatebindCrossEncoder(BaseCrossEncoder):
    """A cross-encoder for the parts of LangChain that take one, such as its CrossEncoderReranker. It is opened at once.
    Safe in many threads; pickled, it is its arguments.

    Args:
        model: as for latebind.CrossEncoder; or one that is open, which can be shared. It has one label.
        **settings: all other keywords of latebind.CrossEncoder, such as `device="npu"`.

    Raises:
        as latebind.CrossEncoder; every call as its predict().
    """

    def __init__(self, model: RankingModel, **settings: Any) -> None:
        self._reranker = Reranker(model, settings)
        _ = self.cross_encoder

    @property
    def cross_encoder(self) -> CrossEncoder:
        """What answers."""
        return self._reranker.cross_encoder

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        """A score for each pair. All are given at once: they are batched by their tokens."""
        scores: list[float] = self.cross_encoder.predict(list(text_pairs)).tolist()
        return scores

    def __repr__(self) -> str:
        return f"LatebindCrossEncoder({self.cross_encoder!r})"
