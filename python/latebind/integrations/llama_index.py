"""Latebind in LlamaIndex: LatebindEmbedding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._embedder import Embedder
from ..errors import CallerError, CallerTypeError
from ._common import Encoder, Model, not_installed

if TYPE_CHECKING:
    from typing_extensions import Self

try:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.bridge.pydantic import Field, PrivateAttr, ValidationError
except ImportError as error:
    raise not_installed(error, "LlamaIndex", "latebind[llama-index]") from None

__all__ = ["LatebindEmbedding"]

# As many as LlamaIndex allows: Latebind makes batches of its own, by tokens, of all that it is given.
_BATCH_TEXTS = 2048


# What the model was opened for: another value would change nothing.
_CHOSEN = {"model_name", "settings", "normalize", "dimensions", "query_prompt", "document_prompt"}


class LatebindEmbedding(BaseEmbedding):
    """An embedding of LlamaIndex, by a model that is opened at once.

    Safe in many threads. What to_dict() and pickle keep opens the model again where it lands.

    Args:
        model: as for latebind.Embedder; or one that is open, which can be shared.
        normalize: vectors of length 1, also if the model does not normalise.
        dimensions: only the first numbers of a vector: for models trained for this.
        query_prompt, document_prompt: what is put before queries and texts. None is the model's own, if it has one; ""
            is nothing.
        embed_batch_size: texts that LlamaIndex hands over at a time, at most 2048.
        num_workers, callback_manager, embeddings_cache, rate_limiter: LlamaIndex's own.
        model_name, settings: `model` and the keywords below, under the names that to_dict() has.
        **keywords: all other keywords of latebind.Embedder, such as `device="npu"`.

    Raises:
        as latebind.Embedder; every call as its encode().
    """

    settings: dict[str, Any] = Field(default_factory=dict, description="Keywords of latebind.Embedder.")
    normalize: bool = Field(default=False, description="Whether vectors get the length 1.")
    dimensions: int | None = Field(default=None, description="How many numbers of a vector are kept.")
    query_prompt: str | None = Field(default=None, description="What is put before queries.")
    document_prompt: str | None = Field(default=None, description="What is put before texts.")

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
            model if model is not None else model_name,  # type: ignore[arg-type]  # refused if it is None
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
        try:
            super().__init__(**fields)
        except ValidationError as error:
            wrong = error.errors()[0]
            raise CallerError(f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}") from None
        except TypeError as error:
            raise CallerTypeError(str(error)) from None
        self._encoder = encoder
        _ = self.embedder

    def __setattr__(self, name: str, value: Any) -> None:
        _refuse_chosen({name})
        super().__setattr__(name, value)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        _refuse_chosen(set(update or ()))
        copied: Self = super().model_copy(update=update, deep=deep)
        return copied

    @classmethod
    def class_name(cls) -> str:
        return "LatebindEmbedding"

    @property
    def embedder(self) -> Embedder:
        """What answers."""
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


def _refuse_chosen(names: set[str]) -> None:
    for name in sorted(names & _CHOSEN):
        raise CallerError(f"{name} is chosen when the embedding is made: LatebindEmbedding(…, {name}=…)")
