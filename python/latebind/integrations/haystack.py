"""Latebind in Haystack: LatebindTextEmbedder and LatebindDocumentEmbedder."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .._arguments import flag, optional_text
from .._embedder import Embedder
from .._library import c_text
from .._out import Vectors
from ..errors import CallerTypeError
from ._common import Encoder, Model, not_installed

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ImportError as error:
    raise not_installed(error, "Haystack", "latebind[haystack]") from None

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["LatebindDocumentEmbedder", "LatebindTextEmbedder"]


class _Embedder:
    """What both components do alike."""

    _encoder: Encoder

    @property
    def embedder(self) -> Embedder:
        """What answers, opened now if it was not before."""
        return self._encoder.embedder

    def warm_up(self) -> None:
        """Opens the model, if it is not open."""
        _ = self.embedder

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The component that to_dict() has kept."""
        made: Self = default_from_dict(cls, data)
        return made


@component
class LatebindTextEmbedder(_Embedder):
    """A component of Haystack that embeds a query. Its model is opened by warm_up(), or by the first run().

    Args:
        model: as for latebind.Embedder; or one that is open, which several components can share.
        prefix: what is put before the text; None is the model's own prompt for queries, if it has one.
        suffix: what is put after it.
        normalize: vectors of length 1, also if the model does not normalise.
        dimensions: only the first numbers of a vector: for models trained for this.
        **settings: all other keywords of latebind.Embedder, such as `device="npu"`.

    Raises:
        CallerError: an unknown setting, or a wrong argument; and later as latebind.Embedder.
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
        """{"embedding": the vector of the text}

        Raises:
            CallerTypeError: it is no str.
        """
        return {"embedding": self._encoder.query(self._whole(text)).tolist()}

    @component.output_types(embedding=list[float])
    async def run_async(self, text: str) -> dict[str, Any]:
        """run(), which leaves the event loop free."""
        return {"embedding": (await self._encoder.aquery(self._whole(text))).tolist()}

    def to_dict(self) -> dict[str, Any]:
        """The component as Haystack keeps it: its arguments."""
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
                f"text is {type(text).__name__}; give a str, and documents to a LatebindDocumentEmbedder"
            )
        return text + self._suffix


@component
class LatebindDocumentEmbedder(_Embedder):
    """A component of Haystack that gives documents their embeddings. Its model is opened by warm_up(), or by the first
    run().

    Args:
        model: as for latebind.Embedder; or one that is open, which several components can share.
        prefix: what is put before each text; None is the model's own prompt for documents, if it has one.
        suffix: what is put after each.
        meta_fields_to_embed: fields of `meta` whose values come before the content, those that a document has.
        embedding_separator: between these, and before the content.
        progress_bar: shows one, if tqdm is installed.
        normalize, dimensions, **settings: as for LatebindTextEmbedder.

    Raises:
        CallerError: an unknown setting, or a wrong argument; and later as latebind.Embedder.
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
        if isinstance(meta_fields_to_embed, str):
            raise CallerTypeError("meta_fields_to_embed is a str; give a list of them")
        self._meta_fields = [c_text(field, "meta_fields_to_embed").decode() for field in meta_fields_to_embed or []]
        self._separator = c_text(embedding_separator, "embedding_separator").decode()
        self._shows_progress = flag(progress_bar, "progress_bar")

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """{"documents": copies of the documents, with their embeddings}

        Raises:
            CallerTypeError: something is no Document.
        """
        vectors = self._encoder.documents(self._texts(documents), self._shows_progress)
        return {"documents": _with_embeddings(documents, vectors)}

    @component.output_types(documents=list[Document])
    async def run_async(self, documents: list[Document]) -> dict[str, Any]:
        """run(), which leaves the event loop free; without a progress bar."""
        vectors = await self._encoder.adocuments(self._texts(documents))
        return {"documents": _with_embeddings(documents, vectors)}

    def to_dict(self) -> dict[str, Any]:
        """The component as Haystack keeps it: its arguments."""
        saved: dict[str, Any] = default_to_dict(
            self,
            **self._encoder.config(),
            prefix=self._encoder.document_prompt,
            suffix=self._suffix,
            meta_fields_to_embed=self._meta_fields,
            embedding_separator=self._separator,
            progress_bar=self._shows_progress,
        )
        return saved

    def _texts(self, documents: Any) -> list[str]:
        if not isinstance(documents, list):
            raise CallerTypeError(
                f"documents is {type(documents).__name__}; give a list of Document, and a query to a LatebindTextEmbedder"
            )
        texts = []
        for index, document in enumerate(documents):
            if not isinstance(document, Document):
                raise CallerTypeError(f"document {index} is {type(document).__name__}, not Document")
            values = (document.meta.get(field) for field in self._meta_fields)
            parts = [str(value) for value in values if value is not None]
            texts.append(self._separator.join([*parts, document.content or ""]) + self._suffix)
        return texts


def _with_embeddings(documents: list[Document], vectors: Vectors) -> list[Document]:
    return [replace(document, embedding=row.tolist()) for document, row in zip(documents, vectors, strict=True)]
