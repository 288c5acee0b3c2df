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
    raise not_installed(error, "LangChain", "langchain") from None

__all__ = ["LatebindCrossEncoder", "LatebindEmbeddings", "LatebindReranker"]


class LatebindEmbeddings(Embeddings):
    """LangChain embeddings from a model that is opened at construction. Thread-safe. Pickling keeps the arguments.

    Args:
        model: see latebind.Embedder; or an open instance, which may be shared.
        normalize: scale vectors to length 1 even if the model does not.
        dimensions: keep only the first N numbers of each vector; for models trained for it.
        query_prompt, document_prompt: what to put before queries and documents. None is the model's prompt, if it has
            one; "" is no prompt.
        **settings: any other keyword of latebind.Embedder, such as `device="npu"`.

    Raises:
        the errors of latebind.Embedder; calls raise those of its encode()
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
        """The underlying model."""
        return self._encoder.embedder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Returns a vector per text. All texts are passed at once, and batches are formed by tokens."""
        vectors: list[list[float]] = self._encoder.documents(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = self._encoder.query(text).tolist()
        return vector

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Runs embed_documents(). Cancelling the task cancels the call."""
        vectors: list[list[float]] = (await self._encoder.adocuments(texts)).tolist()
        return vectors

    async def aembed_query(self, text: str) -> list[float]:
        vector: list[float] = (await self._encoder.aquery(text)).tolist()
        return vector

    def __repr__(self) -> str:
        return f"LatebindEmbeddings({self.embedder!r})"


class LatebindReranker(BaseDocumentCompressor):
    """A LangChain compressor that keeps the documents with the highest scores for a query, in that order.

    The model is opened at construction. Thread-safe. Pickling keeps the arguments.

    Args:
        model: see latebind.CrossEncoder; or an open instance, which may be shared. It must have one label.
        top_n: how many documents to keep; None keeps all.
        **settings: any other keyword of latebind.CrossEncoder, such as `device="npu"`.

    Raises:
        the errors of latebind.CrossEncoder; calls raise those of its rank()
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
        """The underlying model."""
        return self._reranker.cross_encoder

    def compress_documents(self, documents: Sequence[Document], query: str, callbacks: Any = None) -> list[Document]:
        """Returns copies of the best documents with their scores in metadata["relevance_score"]."""
        texts = [document.page_content for document in documents]
        return _scored(documents, self._reranker.order(query, texts, self.top_n))

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Any = None
    ) -> list[Document]:
        """Runs compress_documents(). Cancelling the task cancels the call."""
        texts = [document.page_content for document in documents]
        return _scored(documents, await self._reranker.aorder(query, texts, self.top_n))


def _scored(documents: Sequence[Document], order: list[tuple[int, float]]) -> list[Document]:
    return [
        documents[index].model_copy(update={"metadata": {**documents[index].metadata, "relevance_score": score}})
        for index, score in order
    ]


class LatebindCrossEncoder(BaseCrossEncoder):
    """A cross-encoder for the parts of LangChain that take one, such as its CrossEncoderReranker.

    The model is opened at construction. Thread-safe. Pickling keeps the arguments.

    Args:
        model: see latebind.CrossEncoder; or an open instance, which may be shared. It must have one label.
        **settings: any other keyword of latebind.CrossEncoder, such as `device="npu"`.

    Raises:
        the errors of latebind.CrossEncoder; calls raise those of its predict()
    """

    def __init__(self, model: RankingModel, **settings: Any) -> None:
        self._reranker = Reranker(model, settings)
        _ = self.cross_encoder

    @property
    def cross_encoder(self) -> CrossEncoder:
        """The underlying model."""
        return self._reranker.cross_encoder

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        """Returns a score per pair. All pairs are passed at once, and batches are formed by tokens."""
        scores: list[float] = self.cross_encoder.predict(list(text_pairs)).tolist()
        return scores

    def __repr__(self) -> str:
        return f"LatebindCrossEncoder({self.cross_encoder!r})"
