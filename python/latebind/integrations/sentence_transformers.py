"""Drop-in replacements for sentence-transformers' SentenceTransformer, CrossEncoder, SparseEncoder and
MultiVectorEncoder.

    from latebind.integrations.sentence_transformers import CrossEncoder, SentenceTransformer

They do not need torch. Arguments that are not supported are refused by name, with the reason. `mteb` accepts
SentenceTransformer as an encoder. docs/integrations.md lists the differences.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from .._arguments import flag, positive
from .._embedder import Embedder
from ..errors import CallerError, CallerTypeError
from ._common import Late, Model, not_installed
from ._cross_encoder import CrossEncoder
from ._multi_vector_encoder import MultiVectorEncoder
from ._shaped import at_revision, converted, refuse_settings
from ._shaped_encoder import ShapedEncoder
from ._sparse_encoder import SparseEncoder
from ._vectors import PRECISIONS, normalized, quantized

__all__ = ["CrossEncoder", "MultiVectorEncoder", "SentenceTransformer", "SparseEncoder"]


class SentenceTransformer(ShapedEncoder):
    """A SentenceTransformer whose vectors Latebind computes. Thread-safe. Pickling keeps the arguments.

    Args:
        model_name_or_path: see latebind.Embedder; or an open instance, which may be shared.
        device: see latebind.Embedder; None is "auto".
        prompts: prompts by name, which add to or replace the model's.
        default_prompt_name: the prompt that encode() uses by default; None is the model's default.
        similarity_fn_name: "cosine", "dot", "euclidean" or "manhattan"; None is the model's choice, or "cosine".
        truncate_dim: keep only the first N numbers of each vector; None is the model's choice.
        revision: of a model on the hub.
        **settings: any other keyword of latebind.Embedder, such as `precision="bf16"` or `max_tokens=128`.

    Raises:
        CallerError: an argument of sentence-transformers is not supported; the message has the reason.
        the other errors of latebind.Embedder
    """

    _engine = "embedder"
    _usual_similarity = "cosine"
    _absent: ClassVar[dict[str, str]] = {
        "tokenizer": "Latebind's own tokenizer answers: tokenize(), and count_tokens() of model.embedder"
    }

    def __init__(
        self,
        model_name_or_path: Model,
        *,
        device: str | list[str] | tuple[str, ...] | None = None,
        prompts: dict[str, str] | None = None,
        default_prompt_name: str | None = None,
        similarity_fn_name: Any = None,
        truncate_dim: int | None = None,
        revision: str | None = None,
        **settings: Any,
    ) -> None:
        refuse_settings(settings)
        if device is not None:
            settings["device"] = device
        self._late = Late(Embedder, at_revision(model_name_or_path, revision), settings)
        self._set_names(prompts, default_prompt_name, similarity_fn_name)
        self._truncate_dim = positive(truncate_dim, "truncate_dim") or None
        self._keeps_own = self._truncate_dim is None

    # -- Vectors -------------------------------------------------------------------------------------------------------

    def encode(
        self,
        inputs: str | Iterable[str] | Any = None,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        output_value: str | None = "sentence_embedding",
        precision: str = "float32",
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: Any = None,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
        pool: Any = None,
        chunk_size: int | None = None,
        *,
        sentences: Any = None,
        **others: Any,
    ) -> Any:
        """Computes the vectors of texts.

        Args:
            inputs: any input of latebind.Embedder.encode(). Older releases call it `sentences`.
            prompt_name, prompt: what to put before each text: a key of `prompts`, or a text.
            batch_size: ignored, because batches are formed by tokens (`batch_tokens` of the constructor).
            show_progress_bar: shows a progress bar if tqdm is installed.
            output_value: "sentence_embedding".
            precision: "float32"; or "int8", "uint8", "binary", "ubinary", which quantise the vectors.
            convert_to_numpy: returns an array; otherwise a list of tensors, which requires torch.
            convert_to_tensor: returns a tensor, which requires torch.
            normalize_embeddings: scale vectors to length 1.
            truncate_dim: keep only the first N numbers of each vector; None is the attribute truncate_dim.
            device: None, or the device that the model was opened with.
            pool, chunk_size: None.
            task: "query" or "document", which selects a router's route.
            task_metadata, hf_split, hf_subset, prompt_type: arguments of mteb; `inputs` then yields its batches.

        Returns:
            float32[n, d], or float32[d] for a str; int8 or uint8 if quantised, with an eighth of the numbers for binary
                ones.

        Raises:
            CallerError: an argument is not supported; the message names it.
            the other errors of latebind.Embedder.encode()
        """
        if (inputs is None) == (sentences is None):
            raise CallerTypeError("give the texts as inputs, or as sentences")
        texts = inputs if sentences is None else sentences
        if "task_metadata" in others:
            others.setdefault("task", getattr(others.get("prompt_type"), "value", None))
            texts, prompt = self._of_mteb(texts, others, prompt_name, prompt)
            prompt_name = None
            # mteb has torch loaded, and converts the result of similarity() in a way that only tensors support.
            convert_to_tensor = convert_to_tensor or "torch" in sys.modules
        role = self._role_of(others.pop("task", None))
        if others:
            raise CallerError(f"encode() has no argument {', '.join(map(repr, others))}")
        if output_value != "sentence_embedding":
            raise CallerError(f"output_value is {output_value!r}; only vectors of whole texts leave the model")
        self._refuse(batch_size, device, pool, chunk_size)
        if precision not in PRECISIONS:
            raise CallerError(f"precision is {precision!r}; known: {', '.join(PRECISIONS)}")
        normalizes = flag(normalize_embeddings, "normalize_embeddings")
        dimensions = positive(truncate_dim, "truncate_dim") or self.truncate_dim
        vectors = self.embedder.encode(
            texts,
            prompt=self._prompt(prompt_name, prompt),
            role=role,
            show_progress=flag(show_progress_bar, "show_progress_bar"),
            normalize=normalizes and not dimensions,
            dimensions=self.embedder.dimension_max,
        )
        if dimensions:
            # As in sentence-transformers, vectors that the model normalised are not normalised again.
            vectors = np.ascontiguousarray(vectors[..., :dimensions])
            vectors = normalized(vectors) if normalizes else vectors
        return converted(quantized(vectors, precision), vectors.ndim == 1, convert_to_numpy, convert_to_tensor)

    def tokenize(self, texts: list[str], prompt: str | None = None, **_: Any) -> dict[str, npt.NDArray[np.int64]]:
        """Returns {"input_ids", "attention_mask"}, int64[n, t], padded with 0 in both.

        Only an explicitly given prompt is put before the texts.
        """
        ids = self.embedder.tokenize([texts] if isinstance(texts, str) else texts, prompt=prompt or "")
        shape = (len(ids), max(map(len, ids), default=0))
        found = {name: np.zeros(shape, np.int64) for name in ("input_ids", "attention_mask")}
        for row, each in enumerate(ids):
            found["input_ids"][row, : len(each)] = each
            found["attention_mask"][row, : len(each)] = 1
        return found

    preprocess = tokenize

    # -- What it is ----------------------------------------------------------------------------------------------------

    @property
    def embedder(self) -> Embedder:
        """The underlying model."""
        return cast(Embedder, self._late.opened)

    def get_embedding_dimension(self) -> int:
        """Returns the number of dimensions of a vector."""
        dimension = self.embedder.dimension_max
        return dimension if self.truncate_dim is None else min(dimension, self.truncate_dim)

    @property
    def truncate_dim(self) -> int | None:
        """The number of leading values of a vector to keep; None keeps all. By default the model's own."""
        if not self._keeps_own:
            return self._truncate_dim
        embedder = self.embedder
        return embedder.dimension if embedder.dimension < embedder.dimension_max else None

    @truncate_dim.setter
    def truncate_dim(self, value: int | None) -> None:
        self._truncate_dim = positive(value, "truncate_dim") or None
        self._keeps_own = False

    @contextmanager
    def truncate_embeddings(self, truncate_dim: int | None) -> Iterator[None]:
        """Truncates vectors to this many numbers within the `with` block. None keeps all."""
        before = self._truncate_dim, self._keeps_own
        self.truncate_dim = truncate_dim
        try:
            yield
        finally:
            self._truncate_dim, self._keeps_own = before

    truncate_sentence_embeddings = truncate_embeddings

    @property
    def mteb_model_meta(self) -> Any:
        """mteb's ModelMeta of this model.

        Raises:
            LibraryError: mteb is not installed.
        """
        try:
            from mteb.models import ModelMeta
            from mteb.models.model_meta import ScoringFunction
        except ImportError as error:
            raise not_installed(error, "mteb", "mteb") from None
        name, _, revision = self._late.model.partition("@")
        if os.path.exists(self._late.model):
            name, revision = f"local/{os.path.basename(os.path.abspath(self._late.model))}", ""
        known = {"cosine": ScoringFunction.COSINE, "dot": ScoringFunction.DOT_PRODUCT}
        return ModelMeta.create_empty(
            {
                "name": name,
                "revision": revision or None,
                "max_tokens": self.max_seq_length,
                "embed_dim": self.get_embedding_dimension(),
                "similarity_fn_name": known.get(self._similarity),
            }
        )

    # -- Inside --------------------------------------------------------------------------------------------------------

    def _of_mteb(
        self, batches: Any, others: dict[str, Any], prompt_name: str | None, prompt: str | None
    ) -> tuple[list[str], str | None]:
        """Returns the texts of mteb's batches and their prompt, looked up as mteb does: for the task with the kind of
        text, for the task, then both for the task's type, and finally for queries or documents."""
        task = others.pop("task_metadata")
        kind = getattr(others.pop("prompt_type", None), "value", None)
        others.pop("hf_split", None)
        others.pop("hf_subset", None)
        try:
            texts = [text for batch in batches for text in batch["text"]]
        except (KeyError, TypeError) as error:
            raise CallerError(f"the batches of {task.name} have no texts ({error}): only texts are embedded") from None
        if prompt is not None or prompt_name is not None:
            return texts, self._prompt(prompt_name, prompt)
        for name in (task.name, task.type):
            for known in (f"{name}-{kind}", name):
                if known in self.prompts:
                    return texts, self.prompts[known]
        return texts, self._prompt_for(kind) if kind else None
