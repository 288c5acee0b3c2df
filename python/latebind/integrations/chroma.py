"""Latebind in Chroma: LatebindEmbeddingFunction, which Chroma finds by its name once this module is imported."""

from __future__ import annotations

from typing import Any, cast

from .._embedder import Embedder
from ..errors import CallerError, CallerTypeError
from ._common import Encoder, Model, not_installed

try:
    from chromadb.api.types import Documents, EmbeddingFunction, Embeddings, Space
    from chromadb.utils.embedding_functions import register_embedding_function
except ImportError as error:
    raise not_installed(error, "Chroma", "latebind[chroma]") from None

__all__ = ["LatebindEmbeddingFunction"]


@register_embedding_function
class LatebindEmbeddingFunction(EmbeddingFunction[Documents]):
    """An embedding function of Chroma. Its model is opened when the first text comes.

    Chroma keeps its arguments with a collection, and makes it again from these where this module has been imported. It
    makes several at times: that is why none opens its model before it has to.

    Args:
        model: as for latebind.Embedder; or one that is open, which can be shared.
        normalize: scale vectors to length 1, even if the model does not normalise.
        dimensions: keep only the first N numbers of each vector (for models trained for it).
        query_prompt, document_prompt: what is put before queries and documents. None is the model's own, if it has one;
            "" is nothing.
        **settings: all other keywords of latebind.Embedder, such as `device="npu"`.

    Raises:
        CallerError: an unknown setting, or a wrong argument; and every call as latebind.Embedder and its encode().
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

    @property
    def embedder(self) -> Embedder:
        """What answers, opened now if it was not before."""
        return self._encoder.embedder

    def __call__(self, input: Documents) -> Embeddings:
        """float32[d] for each document."""
        return cast(Embeddings, list(self._encoder.documents(input)))

    def embed_query(self, input: Documents) -> Embeddings:
        """float32[d] for each query."""
        return cast(Embeddings, list(self._encoder.queries(input)))

    @staticmethod
    def name() -> str:
        return "latebind"

    def default_space(self) -> Space:
        return "cosine"

    def get_config(self) -> dict[str, Any]:
        """The arguments, for build_from_config()."""
        return {
            **self._encoder.config(),
            "query_prompt": self._encoder.query_prompt,
            "document_prompt": self._encoder.document_prompt,
        }

    @staticmethod
    def build_from_config(config: dict[str, Any]) -> LatebindEmbeddingFunction:
        """What get_config() has described.

        Raises:
            CallerError: it has not.
        """
        LatebindEmbeddingFunction.validate_config(config)
        return LatebindEmbeddingFunction(**config)

    @staticmethod
    def validate_config(config: dict[str, Any]) -> None:
        if not isinstance(config, dict):
            raise CallerTypeError(f"the configuration is {type(config).__name__}; give a dict")
        if "model" not in config:
            raise CallerError("the configuration does not name a model")
