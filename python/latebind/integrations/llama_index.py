"""Latebind in LlamaIndex: LatebindEmbedding and LatebindRerank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from .._arguments import flag, positive
from .._cross_encoder import CrossEncoder
from .._embedder import Embedder
from ..errors import CallerError, CallerTypeError
from ._common import Encoder, Model, RankingModel, Reranker, not_installed

if TYPE_CHECKING:
    from typing_extensions import Self

try:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.bridge.pydantic import BaseModel, Field, PrivateAttr, ValidationError
    from llama_index.core.callbacks import CBEventType, EventPayload
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
except ImportError as error:
    raise not_installed(error, "LlamaIndex", "llama-index") from None

__all__ = ["LatebindEmbedding", "LatebindRerank"]

# LlamaIndex's maximum, because Latebind forms batches by tokens from everything that it is given.
_BATCH_TEXTS = 2048


class _Chosen(BaseModel):
    """Refuses to change the arguments that the model was opened with, since a change would have no effect."""

    _chosen: ClassVar[frozenset[str]]

    def __setattr__(self, name: str, value: Any) -> None:
        self._refuse_chosen({name})
        super().__setattr__(name, value)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        self._refuse_chosen(set(update or ()))
        copied: Self = super().model_copy(update=update, deep=deep)
        return copied

    def _refuse_chosen(self, names: set[str]) -> None:
        for name in sorted(names & self._chosen):
            raise CallerError(f"{name} is chosen when the model is opened: {type(self).__name__}(…, {name}=…)")

    def _fill(self, fields: dict[str, Any]) -> None:
        """Calls BaseModel's constructor, and converts its errors to CallerError."""
        try:
            super().__init__(**fields)
        except ValidationError as error:
            wrong = error.errors()[0]
            raise CallerError(f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}") from None
        except TypeError as error:
            raise CallerTypeError(str(error)) from None


class LatebindEmbedding(_Chosen, BaseEmbedding):
    """A LlamaIndex embedding from a model that is opened at construction.

    Thread-safe. The results of to_dict() and pickle open the model again.

    Args:
        model: see latebind.Embedder; or an open instance, which may be shared.
        normalize: scale vectors to length 1 even if the model does not.
        dimensions: keep only the first N numbers of each vector; for models trained for it.
        query_prompt, document_prompt: what to put before queries and texts. None is the model's prompt, if it has one;
            "" is no prompt.
        embed_batch_size: how many texts LlamaIndex passes at once, at most 2048.
        num_workers, callback_manager, embeddings_cache, rate_limiter: see LlamaIndex.
        model_name, settings: `model` and `keywords`, under the names that to_dict() uses.
        **keywords: any other keyword of latebind.Embedder, such as `device="npu"`.

    Raises:
        the errors of latebind.Embedder; calls raise those of its encode()
    """

    _chosen = frozenset({"model_name", "settings", "normalize", "dimensions", "query_prompt", "document_prompt"})

    settings: dict[str, Any] = Field(default_factory=dict, description="Keywords of latebind.Embedder.")
    normalize: bool = Field(default=False, description="Whether to scale vectors to length 1.")
    dimensions: int | None = Field(default=None, description="Number of a vector's numbers to keep.")
    query_prompt: str | None = Field(default=None, description="Text to put before queries.")
    document_prompt: str | None = Field(default=None, description="Text to put before texts.")

    _encoder: Encoder = PrivateAttr()

    def __init__(
        self,
        model: Model | None = None,
        *,
        normalize: bool = False,
        dimensions: int | None = None,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        embed_batch_size: int = _BATCH_TEXTS,
        num_workers: int | None = None,
        callback_manager: Any = None,
        embeddings_cache: Any = None,
        rate_limiter: Any = None,
        model_name: str | None = None,
        settings: dict[str, Any] | None = None,
        **keywords: Any,
    ) -> None:
        if model is not None and model_name is not None:
            raise CallerError("model and model_name are the same; give one of them")
        encoder = Encoder(
            model if model is not None else model_name,  # type: ignore[arg-type]  # None is rejected
            {**(settings or {}), **keywords},
            normalize=normalize,
            dimensions=dimensions,
            query_prompt=query_prompt,
            document_prompt=document_prompt,
        )
        fields: dict[str, Any] = {
            "model_name": encoder.model,
            "settings": encoder.settings,
            "normalize": encoder.normalize,
            "dimensions": encoder.dimensions,
            "query_prompt": encoder.query_prompt,
            "document_prompt": encoder.document_prompt,
            "embed_batch_size": embed_batch_size,
            "num_workers": num_workers,
            "callback_manager": callback_manager,
            "embeddings_cache": embeddings_cache,
            "rate_limiter": rate_limiter,
        }
        self._fill(fields)
        self._encoder = encoder
        _ = self.embedder

    @classmethod
    def class_name(cls) -> str:
        return "LatebindEmbedding"

    @property
    def embedder(self) -> Embedder:
        """The underlying model."""
        return self._encoder.embedder

    def _get_query_embedding(self, query: str) -> list[float]:
        vector: list[float] = self._encoder.query(query).tolist()
        return vector

    async def _aget_query_embedding(self, query: str) -> list[float]:
        vector: list[float] = (await self._encoder.aquery(query)).tolist()
        return vector

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return (await self._aget_text_embeddings([text]))[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._encoder.documents(texts).tolist()
        return vectors

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = (await self._encoder.adocuments(texts)).tolist()
        return vectors


class LatebindRerank(_Chosen, BaseNodePostprocessor):
    """A LlamaIndex postprocessor that keeps the nodes with the highest scores for a query, in that order.

    The model is opened at construction. Thread-safe. The results of to_dict() and pickle open the model again.

    Args:
        model: see latebind.CrossEncoder; or an open instance, which may be shared. It must have one label.
        top_n: how many nodes to keep.
        keep_retrieval_score: keeps a node's previous score in its metadata as "retrieval_score".
        callback_manager: see LlamaIndex.
        settings: `keywords`, under the name that to_dict() uses.
        **keywords: any other keyword of latebind.CrossEncoder, such as `device="npu"`.

    Raises:
        the errors of latebind.CrossEncoder; calls raise those of its rank()
    """

    _chosen = frozenset({"model", "settings"})

    model: str = Field(description="The model's folder or name.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Keywords of latebind.CrossEncoder.")
    top_n: int = Field(description="Number of nodes to keep.")
    keep_retrieval_score: bool = Field(
        default=False, description="Whether to keep a node's previous score in its metadata."
    )

    _reranker: Reranker = PrivateAttr()

    def __init__(
        self,
        model: RankingModel,
        *,
        top_n: int = 2,
        keep_retrieval_score: bool = False,
        callback_manager: Any = None,
        settings: dict[str, Any] | None = None,
        **keywords: Any,
    ) -> None:
        reranker = Reranker(model, {**(settings or {}), **keywords})
        fields: dict[str, Any] = {
            "model": reranker.model,
            "settings": reranker.settings,
            "top_n": positive(top_n, "top_n") or None,
            "keep_retrieval_score": flag(keep_retrieval_score, "keep_retrieval_score"),
        }
        if callback_manager is not None:
            fields["callback_manager"] = callback_manager
        self._fill(fields)
        self._reranker = reranker
        _ = self.cross_encoder

    @classmethod
    def class_name(cls) -> str:
        return "LatebindRerank"

    @property
    def cross_encoder(self) -> CrossEncoder:
        """The underlying model."""
        return self._reranker.cross_encoder

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        query, texts = _asked(nodes, query_bundle)
        with self._event(nodes, query) as event:
            found = self._scored(nodes, self._reranker.order(query, texts, self.top_n))
            event.on_end(payload={EventPayload.NODES: found})
        return found

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        query, texts = _asked(nodes, query_bundle)
        with self._event(nodes, query) as event:
            found = self._scored(nodes, await self._reranker.aorder(query, texts, self.top_n))
            event.on_end(payload={EventPayload.NODES: found})
        return found

    def _event(self, nodes: list[NodeWithScore], query: str) -> Any:
        about: dict[Any, Any] = {
            EventPayload.NODES: nodes,
            EventPayload.MODEL_NAME: self.model,
            EventPayload.QUERY_STR: query,
            EventPayload.TOP_K: self.top_n,
        }
        return self.callback_manager.event(CBEventType.RERANKING, payload=about)

    def _scored(self, nodes: list[NodeWithScore], order: list[tuple[int, float]]) -> list[NodeWithScore]:
        """Returns the nodes in order, as copies if their metadata is extended."""
        found = []
        for index, score in order:
            node, before = nodes[index].node, nodes[index].score
            if self.keep_retrieval_score:
                node = node.model_copy(update={"metadata": {**node.metadata, "retrieval_score": before}})
            found.append(NodeWithScore(node=node, score=score))
        return found


def _asked(nodes: list[NodeWithScore], query: QueryBundle | None) -> tuple[str, list[str]]:
    """Returns the query and the texts to rank: the nodes' content with the metadata that embeddings include."""
    if query is None:
        raise CallerError("ranking nodes needs a query: give query_str or query_bundle")
    return query.query_str, [each.node.get_content(metadata_mode=MetadataMode.EMBED) for each in nodes]
