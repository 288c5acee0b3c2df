"""Latebind in Haystack: LatebindTextEmbedder, LatebindDocumentEmbedder and LatebindRanker."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .._arguments import flag, optional_text, positive
from .._cross_encoder import CrossEncoder
from .._embedder import Embedder
from .._library import c_text
from .._out import Vectors
from ..errors import CallerTypeError
from ._common import Encoder, Model, RankingModel, Reranker, not_installed

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ImportError as error:
    raise not_installed(error, "Haystack", "haystack") from None

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["LatebindDocumentEmbedder", "LatebindRanker", "LatebindTextEmbedder"]


class _Component:
    """The base of all components."""

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Recreates the component that to_dict() stored."""
        made: Self = default_from_dict(cls, data)
        return made


class _Embedder(_Component):
    """The base of both embedders."""

    _encoder: Encoder

    @property
    def embedder(self) -> Embedder:
        """The underlying model, opened if necessary."""
        return self._encoder.embedder

    def warm_up(self) -> None:
        """Opens the model if necessary."""
        _ = self.embedder


class _Contents:
    """Builds the texts of documents: the values of those `meta_fields` that a document has, then its content, joined by
    `separator`."""

    def __init__(self, meta_fields: list[str] | None, separator: str) -> None:
        if isinstance(meta_fields, str):
            raise CallerTypeError("meta_fields_to_embed is a str; give a list of them")
        self.meta_fields = [c_text(field, "meta_fields_to_embed").decode() for field in meta_fields or []]
        self.separator = c_text(separator, "embedding_separator").decode()

    def of(self, documents: list[Document]) -> list[str]:
        texts = []
        for document in documents:
            values = (document.meta.get(field) for field in self.meta_fields)
            parts = [str(value) for value in values if value is not None]
            texts.append(self.separator.join([*parts, document.content or ""]))
        return texts

    def config(self) -> dict[str, Any]:
        return {"meta_fields_to_embed": self.meta_fields, "embedding_separator": self.separator}


def _checked(documents: Any, other: str) -> list[Document]:
    """Returns a checked list of documents. `other` names the remaining inputs, for messages."""
    if not isinstance(documents, list):
        raise CallerTypeError(f"documents is {type(documents).__name__}; give a list of Document, and {other}")
    for index, document in enumerate(documents):
        if not isinstance(document, Document):
            raise CallerTypeError(f"document {index} is {type(document).__name__}, not Document")
    return documents


@component
class LatebindTextEmbedder(_Embedder):
    """A Haystack component that embeds a query. warm_up() or the first run() opens its model.

    Args:
        model: see latebind.Embedder; or an open instance, which several components may share.
        prefix: what to put before the text; None is the model's prompt for queries, if it has one.
        suffix: what to put after the text.
        normalize: scale vectors to length 1 even if the model does not.
        dimensions: keep only the first N numbers of each vector; for models trained for it.
        **settings: any other keyword of latebind.Embedder, such as `device="npu"`.

    Raises:
        CallerError: a setting is unknown, or an argument is invalid. Later, the errors of latebind.Embedder.
    """

    def __init__(
        self,
        model: Model,
        *,
        prefix: str | None = None,
        suffix: str = "",
        normalize: bool = False,
        dimensions: int | None = None,
        **settings: Any,
    ) -> None:
        prompt = optional_text(prefix, "prefix")
        self._encoder = Encoder(model, settings, normalize=normalize, dimensions=dimensions, query_prompt=prompt)
        self._suffix = c_text(suffix, "suffix").decode()

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        """Returns {"embedding": the vector of the text}.

        Raises:
            CallerTypeError: the text is not a str.
        """
        return {"embedding": self._encoder.query(self._whole(text)).tolist()}

    @component.output_types(embedding=list[float])
    async def run_async(self, text: str) -> dict[str, Any]:
        """Runs run() without blocking the event loop."""
        return {"embedding": (await self._encoder.aquery(self._whole(text))).tolist()}

    def to_dict(self) -> dict[str, Any]:
        """Returns the component's arguments in Haystack's form."""
        saved: dict[str, Any] = default_to_dict(
            self,
            **self._encoder.config(),
            prefix=self._encoder.query_prompt,
            suffix=self._suffix,
        )
        return saved

    def _whole(self, text: Any) -> str:
        if not isinstance(text, str):
            raise CallerTypeError(
                f"text is {type(text).__name__}; give a str, and give documents to a LatebindDocumentEmbedder"
            )
        return text + self._suffix


@component
class LatebindDocumentEmbedder(_Embedder):
    """A Haystack component that embeds documents. warm_up() or the first run() opens its model.

    Args:
        model: see latebind.Embedder; or an open instance, which several components may share.
        prefix: what to put before each text; None is the model's prompt for documents, if it has one.
        suffix: what to put after each text.
        meta_fields_to_embed: fields of `meta` whose values, if a document has them, precede its content.
        embedding_separator: joins these values and the content.
        progress_bar: shows a progress bar if tqdm is installed.
        normalize, dimensions, **settings: see LatebindTextEmbedder.

    Raises:
        CallerError: a setting is unknown, or an argument is invalid. Later, the errors of latebind.Embedder.
    """

    def __init__(
        self,
        model: Model,
        *,
        prefix: str | None = None,
        suffix: str = "",
        meta_fields_to_embed: list[str] | None = None,
        embedding_separator: str = "\n",
        progress_bar: bool = False,
        normalize: bool = False,
        dimensions: int | None = None,
        **settings: Any,
    ) -> None:
        prompt = optional_text(prefix, "prefix")
        self._encoder = Encoder(model, settings, normalize=normalize, dimensions=dimensions, document_prompt=prompt)
        self._suffix = c_text(suffix, "suffix").decode()
        self._contents = _Contents(meta_fields_to_embed, embedding_separator)
        self._shows_progress = flag(progress_bar, "progress_bar")

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """Returns {"documents": copies of the documents, with their embeddings}.

        Raises:
            CallerTypeError: an element is not a Document.
        """
        vectors = self._encoder.documents(self._texts(documents), self._shows_progress)
        return {"documents": _with_embeddings(documents, vectors)}

    @component.output_types(documents=list[Document])
    async def run_async(self, documents: list[Document]) -> dict[str, Any]:
        """Runs run() without blocking the event loop, and without a progress bar."""
        vectors = await self._encoder.adocuments(self._texts(documents))
        return {"documents": _with_embeddings(documents, vectors)}

    def to_dict(self) -> dict[str, Any]:
        """Returns the component's arguments in Haystack's form."""
        saved: dict[str, Any] = default_to_dict(
            self,
            **self._encoder.config(),
            **self._contents.config(),
            prefix=self._encoder.document_prompt,
            suffix=self._suffix,
            progress_bar=self._shows_progress,
        )
        return saved

    def _texts(self, documents: Any) -> list[str]:
        checked = _checked(documents, "a query to a LatebindTextEmbedder")
        return [text + self._suffix for text in self._contents.of(checked)]


def _with_embeddings(documents: list[Document], vectors: Vectors) -> list[Document]:
    return [replace(document, embedding=row.tolist()) for document, row in zip(documents, vectors, strict=True)]


@component
class LatebindRanker(_Component):
    """A Haystack component that ranks documents by their scores for a query. warm_up() or the first run() opens its
    model.

    Args:
        model: see latebind.CrossEncoder; or an open instance, which several components may share. It must have one
            label.
        top_k: how many documents to keep.
        score_threshold: drops documents with lower scores.
        meta_fields_to_embed, embedding_separator: see LatebindDocumentEmbedder.
        **settings: any other keyword of latebind.CrossEncoder, such as `device="npu"`.

    Raises:
        CallerError: a setting is unknown, or an argument is invalid. Later, the errors of latebind.CrossEncoder.
    """

    def __init__(
        self,
        model: RankingModel,
        *,
        top_k: int | None = 10,
        score_threshold: float | None = None,
        meta_fields_to_embed: list[str] | None = None,
        embedding_separator: str = "\n",
        **settings: Any,
    ) -> None:
        self._reranker = Reranker(model, settings)
        self._top_k = positive(top_k, "top_k") or None
        self._threshold = _threshold(score_threshold)
        self._contents = _Contents(meta_fields_to_embed, embedding_separator)

    @property
    def cross_encoder(self) -> CrossEncoder:
        """The underlying model, opened if necessary."""
        return self._reranker.cross_encoder

    def warm_up(self) -> None:
        """Opens the model if necessary."""
        _ = self.cross_encoder

    @component.output_types(documents=list[Document])
    def run(
        self,
        query: str,
        documents: list[Document],
        top_k: int | None = None,
        score_threshold: float | None = None,
    ) -> dict[str, Any]:
        """Returns {"documents": copies of the best documents with their scores, highest first}.

        Of documents with the same id, the first one counts. `top_k` and `score_threshold` override those of the
        component.

        Raises:
            CallerTypeError: the query is not a str, or an element is not a Document.
        """
        texts, different, most = self._asked(documents, top_k)
        return self._ranked(different, self._reranker.order(query, texts, most), score_threshold)

    @component.output_types(documents=list[Document])
    async def run_async(
        self,
        query: str,
        documents: list[Document],
        top_k: int | None = None,
        score_threshold: float | None = None,
    ) -> dict[str, Any]:
        """Runs run() without blocking the event loop."""
        texts, different, most = self._asked(documents, top_k)
        return self._ranked(different, await self._reranker.aorder(query, texts, most), score_threshold)

    def to_dict(self) -> dict[str, Any]:
        """Returns the component's arguments in Haystack's form."""
        saved: dict[str, Any] = default_to_dict(
            self,
            **self._reranker.config(),
            **self._contents.config(),
            top_k=self._top_k,
            score_threshold=self._threshold,
        )
        return saved

    def _asked(self, documents: Any, top_k: Any) -> tuple[list[str], list[Document], int | None]:
        """Returns the texts of the distinct documents, the documents, and how many to keep."""
        checked = _checked(documents, "the query as a str")
        different = list({document.id: document for document in reversed(checked)}.values())[::-1]
        return self._contents.of(different), different, positive(top_k, "top_k") or self._top_k

    def _ranked(self, documents: list[Document], order: list[tuple[int, float]], threshold: Any) -> dict[str, Any]:
        least = self._threshold if threshold is None else _threshold(threshold)
        return {
            "documents": [
                replace(documents[index], score=score) for index, score in order if least is None or score >= least
            ]
        }


def _threshold(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise CallerTypeError(f"score_threshold is {type(value).__name__}; give a number")
    return float(value)
