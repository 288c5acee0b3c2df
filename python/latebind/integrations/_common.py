"""The common part of all integrations: models that are opened on first use, vectors of queries and documents, and
ranking."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from .._arguments import flag, optional_text, positive
from .._cross_encoder import CrossEncoder
from .._embedder import Embedder
from .._extras import install_line
from .._library import c_text
from .._locks import Lock
from .._out import Vectors
from .._settings import settings_of
from .._sparse_encoder import SparseEncoder
from ..errors import CallerError, CallerTypeError, LibraryError

Model = str | os.PathLike[str] | Embedder
RankingModel = str | os.PathLike[str] | CrossEncoder
SparseModel = str | os.PathLike[str] | SparseEncoder
Kind = TypeVar("Kind", Embedder, CrossEncoder, SparseEncoder)


class NotInstalledError(LibraryError, ImportError):  # type: ignore[misc]  # the `name` of both is a str
    """The Python package that an integration is for cannot be imported."""


def not_installed(error: ImportError, what: str, extra: str) -> NotInstalledError:
    """Returns the error to raise if `what`, which an extra or the package of that name provides, cannot be imported."""
    return NotInstalledError(f"{what} cannot be imported ({error}); run: {install_line(extra)}")


def _plain(value: Any) -> Any:
    """Converts a setting to a JSON value."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return value


class Late(Generic[Kind]):
    """A model that is opened on first use, or already open. Thread-safe. Pickling keeps the arguments.

    Args:
        kind: the class of the model.
        model: see that class; or an open instance, which may be shared.
        settings: its keywords; None for an open instance.

    Raises:
        CallerError: a setting is unknown, or an argument is invalid. Errors of the model itself are raised on first
            use.
    """

    def __init__(self, kind: type[Kind], model: str | os.PathLike[str] | Kind, settings: dict[str, Any]) -> None:
        self._kind: type[Kind] = kind
        self._lock = Lock()
        self._opened: Kind | None = None
        if isinstance(model, kind):
            if settings:
                raise CallerError(
                    f"{', '.join(settings)}: the {kind.__name__} is open and has its settings; give them where it is "
                    "opened"
                )
            self._opened = model
            self.model, settings = model.model, model.settings
        else:
            self.model = c_text(model, "model").decode()  # type: ignore[arg-type]  # c_text() rejects other types
            settings_of(settings)  # rejects unknown settings
        self.settings: dict[str, Any] = {key: _plain(value) for key, value in settings.items() if value is not None}

    @property
    def opened(self) -> Kind:
        """Returns the model, opening it if necessary.

        Raises:
            the errors of its class
        """
        with self._lock:
            if self._opened is None:
                self._opened = self._kind(self.model, **self.settings)
            return self._opened

    def cut_to(self, max_tokens: int) -> Late[Kind]:
        """Returns an open copy with another limit of tokens."""
        settings = {**self.settings, "max_tokens": max_tokens}
        settings.pop("embedding.max_tokens", None)
        found = Late(self._kind, self.model, settings)
        _ = found.opened
        return found

    def config(self) -> dict[str, Any]:
        """Returns the constructor's keywords as JSON values."""
        return {"model": self.model, **self.settings}

    def __reduce__(self) -> tuple[Any, ...]:
        return Late, (self._kind, self.model, self.settings)


class Encoder(Late[Embedder]):
    """A model for queries and documents. Pickling keeps the arguments.

    Args:
        model, settings: see latebind.Embedder.
        normalize: scale vectors to length 1.
        dimensions: keep only the first N numbers of each vector.
        query_prompt, document_prompt: what to put before each text; None is the model's prompt, if it has one.

    Raises:
        the errors of Late
    """

    def __init__(
        self,
        model: Model,
        settings: dict[str, Any],
        *,
        normalize: bool = False,
        dimensions: int | None = None,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
    ) -> None:
        super().__init__(Embedder, model, settings)
        self.normalize = flag(normalize, "normalize")
        self.dimensions = positive(dimensions, "dimensions") or None
        self.query_prompt = optional_text(query_prompt, "query_prompt")
        self.document_prompt = optional_text(document_prompt, "document_prompt")

    @property
    def embedder(self) -> Embedder:
        """Returns the model, opening it if necessary."""
        return self.opened

    def query(self, text: str) -> Vectors:
        """Returns float32[d]."""
        embedder, arguments = self._of_query(text)
        return embedder.encode(text, **arguments)

    async def aquery(self, text: str) -> Vectors:
        embedder, arguments = self._of_query(text)
        return await embedder.aencode(text, **arguments)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Returns float32[n, d]."""
        embedder, arguments = self._of_query("")
        return embedder.encode(_texts(texts), **arguments)

    def documents(self, texts: Sequence[str], show_progress: bool = False) -> Vectors:
        """Returns float32[n, d]."""
        embedder, arguments = self._of_documents()
        return embedder.encode(_texts(texts), show_progress=show_progress, **arguments)

    async def adocuments(self, texts: Sequence[str]) -> Vectors:
        embedder, arguments = self._of_documents()
        return await embedder.aencode(_texts(texts), **arguments)

    def _of_query(self, text: Any) -> tuple[Embedder, dict[str, Any]]:
        if not isinstance(text, str):
            raise CallerTypeError(f"the query is {type(text).__name__}; give a str")
        embedder = self.embedder
        own = self.query_prompt
        return embedder, self._arguments(embedder.query_prompt if own is None else own, "query")

    def _of_documents(self) -> tuple[Embedder, dict[str, Any]]:
        embedder = self.embedder
        own = self.document_prompt
        return embedder, self._arguments(embedder.document_prompt if own is None else own, "document")

    def _arguments(self, prompt: str, role: str) -> dict[str, Any]:
        return {"normalize": self.normalize, "dimensions": self.dimensions, "prompt": prompt, "role": role}

    def config(self) -> dict[str, Any]:
        """Returns the keywords without the prompts."""
        return {**super().config(), "normalize": self.normalize, "dimensions": self.dimensions}

    def __reduce__(self) -> tuple[Any, ...]:
        made = partial(
            Encoder,
            normalize=self.normalize,
            dimensions=self.dimensions,
            query_prompt=self.query_prompt,
            document_prompt=self.document_prompt,
        )
        return made, (self.model, self.settings)


class Reranker(Late[CrossEncoder]):
    """A model that ranks documents by their scores for a query. Pickling keeps the arguments.

    Args:
        model, settings: see latebind.CrossEncoder.

    Raises:
        the errors of Late
    """

    def __init__(self, model: RankingModel, settings: dict[str, Any]) -> None:
        super().__init__(CrossEncoder, model, settings)

    @property
    def cross_encoder(self) -> CrossEncoder:
        """Returns the model, opening it if necessary.

        Raises:
            CallerError: the model has several labels.
            the other errors of latebind.CrossEncoder
        """
        opened = self.opened
        opened._refuse_several_labels()
        return opened

    def order(self, query: str, texts: Sequence[str], top: int | None) -> list[tuple[int, float]]:
        """Returns (position, score) of the `top` best texts, highest score first; of all if `top` is None."""
        return _order(self.cross_encoder.rank(query, texts, top))

    async def aorder(self, query: str, texts: Sequence[str], top: int | None) -> list[tuple[int, float]]:
        return _order(await self.cross_encoder.arank(query, texts, top))

    def __reduce__(self) -> tuple[Any, ...]:
        return Reranker, (self.model, self.settings)


def _order(ranked: list[dict[str, Any]]) -> list[tuple[int, float]]:
    return [(each["corpus_id"], each["score"]) for each in ranked]


def _texts(texts: Any) -> Any:
    """Refuses a str, which would count as one text and give one vector."""
    if isinstance(texts, str):
        raise CallerTypeError("texts is a str; give a list of them")
    return texts
