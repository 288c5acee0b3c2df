"""The base of the sentence-transformers replacements that compute vectors: prompts for queries and documents,
similarities."""

from __future__ import annotations

from typing import Any, ClassVar, cast

from .._prompts import config_of
from .._text_encoder import TextEncoder
from ._named_similarity import NamedSimilarity
from ._shaped import Shaped
from ._vectors import SIMILARITIES, similarity_of


class ShapedEncoder(NamedSimilarity, Shaped):
    """Subclasses implement encode(inputs, prompt_name, prompt, …)."""

    _usual_similarity: ClassVar[str]
    _similarities = SIMILARITIES

    def encode_query(
        self, inputs: Any = None, prompt_name: str | None = None, prompt: str | None = None, *rest: Any, **others: Any
    ) -> Any:
        """Calls encode() for queries, by default with the prompt "query"."""
        if prompt_name is None and prompt is None:
            prompt = self._prompt_for("query")
        return self.encode(inputs, prompt_name, prompt, *rest, **{"task": "query", **others})

    def encode_document(
        self, inputs: Any = None, prompt_name: str | None = None, prompt: str | None = None, *rest: Any, **others: Any
    ) -> Any:
        """Calls encode() for documents, by default with the prompt "document", "passage" or "corpus"."""
        if prompt_name is None and prompt is None:
            prompt = self._prompt_for("document")
        return self.encode(inputs, prompt_name, prompt, *rest, **{"task": "document", **others})

    def encode(self, inputs: Any = None, *rest: Any, **others: Any) -> Any:
        """Computes the vectors of texts."""
        raise NotImplementedError

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Computes the similarity of every vector of the first with every vector of the second.

        Args:
            embeddings1, embeddings2: n and m vectors of d numbers: results of encode(), arrays, lists, or tensors.

        Returns:
            float32[n, m]; a tensor if one was given.
        """
        return self._similarity_of(embeddings1, embeddings2, False)

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Computes the similarity of the first with the first, the second with the second, and so on: float32[n]."""
        return self._similarity_of(embeddings1, embeddings2, True)

    def get_embedding_dimension(self) -> int:
        """Returns the number of dimensions of a vector."""
        raise NotImplementedError

    def get_sentence_embedding_dimension(self) -> int:
        """Returns the number of dimensions of a vector."""
        return self.get_embedding_dimension()

    def get_max_seq_length(self) -> int:
        """Returns the number of tokens to which texts are truncated."""
        return self.max_seq_length

    # -- Inside --------------------------------------------------------------------------------------------------------

    @staticmethod
    def _role_of(task: Any) -> str | None:
        """Returns the role for the argument `task`. Other tasks only exist for routers with other routes."""
        return task if task in ("query", "document") else None

    def _similarity_of(self, embeddings1: Any, embeddings2: Any, is_pairwise: bool) -> Any:
        return similarity_of(self._similarity, embeddings1, embeddings2, is_pairwise)

    def _set_names(self, prompts: Any, default_prompt_name: Any, similarity_fn_name: Any) -> None:
        """Combines the constructor's arguments with the model's configuration."""
        model = cast(TextEncoder[Any], self._model())
        config = config_of(model.folder)
        if default_prompt_name is None:
            default_prompt_name = config.get("default_prompt_name")
        # "query" and "document" always exist.
        self._set_prompts({"query": "", "document": "", **model.prompts}, prompts, default_prompt_name)
        # An empty prompt counts as given.
        self._given_prompts = {*model.prompts, *(prompts or {})}
        if similarity_fn_name is None:
            own = config.get("similarity_fn_name")
            similarity_fn_name = own if own in SIMILARITIES else self._usual_similarity
        self.similarity_fn_name = similarity_fn_name

    def _prompt_for(self, kind: str) -> str:
        """Returns what to put before queries or documents."""
        names = ("query",) if kind == "query" else ("document", "passage", "corpus")
        prompts = self.prompts
        return next(
            (prompts[name] for name in names if prompts.get(name) or name in self._given_prompts & set(prompts)), ""
        )
