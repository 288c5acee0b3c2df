"""Latebind in Chroma: LatebindEmbeddingFunction, which Chroma finds by name once this module is imported."""

from __future__ import annotations

from typing import Any, cast

from .._embedder import Embedder
from ..errors import CallerError, CallerTypeError
from ._common import Encoder, Model, not_installed

try:
    from chromadb.api.types import Documents, EmbeddingFunction, Embeddings, Space
    from chromadb.utils.embedding_functions import register_embedding_function
except ImportError as error:
    raise not_installed(error, "Chroma", "chroma") from None

__all__ = ["LatebindEmbeddingFunction"]


@register_embedding_function
class LatebindEmbeddingFunction(EmbeddingFunction[Documents]):
    """An embedding function for Chroma, which opens its model when the first text arrives.

    Chroma stores the arguments with a collection and recreates the function from them in processes that have imported
    this module. It may create several instances, so each opens its model only when needed.

    Args:
        model: see latebind.Embedder; or an open instance, which may be shared.
        normalize: scale vectors to length 1 even if the model does not.
        dimensions: keep only the first N numbers of each vector; for models trained for it.
        query_prompt, document_prompt: what to put before queries and documents. None is the model's prompt, if it has
            one; "" is no prompt.
        **settings: any other keyword of latebind.Embedder, such as `device="npu"`.

    Raises:
        CallerError: a setting is unknown, or an argument is invalid. Calls raise the errors of latebind.Embedder and
            its encode().
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
        """The underlying model, opened if necessary."""
        return self._encoder.embedder

    def __call__(self, input: Documents) -> Embeddings:
        """Returns float32[d] for each document."""
        return cast(Embeddings, list(self._encoder.documents(input)))

    def embed_query(self, input: Documents) -> Embeddings:
        """Returns float32[d] for each query."""
        return cast(Embeddings, list(self._encoder.queries(input)))

    @staticmethod
    def name() -> str:
        return "latebind"

    def default_space(self) -> Space:
        return "cosine"

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments for build_from_config()."""
        return {
            **self._encoder.config(),
            "query_prompt": self._encoder.query_prompt,
            "document_prompt": self._encoder.document_prompt,
        }

    @staticmethod
    def build_from_config(config: dict[str, Any]) -> LatebindEmbeddingFunction:
        """Recreates the function that get_config() described.

        Raises:
            CallerError: this is not such a configuration.
        """
        LatebindEmbeddingFunction.validate_config(config)
        return LatebindEmbeddingFunction(**config)

    @staticmethod
    def validate_config(config: dict[str, Any]) -> None:
        if not isinstance(config, dict):
            raise CallerTypeError(f"the configuration is {type(config).__name__}; give a dict")
        if "model" not in config:
            raise CallerError("the configuration does not name a model")
