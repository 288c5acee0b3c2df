"""Classes that are used as those of sentence-transformers are, without torch: SentenceTransformer, CrossEncoder, SparseEncoder,
MultiVectorEncoder.

    from latebind.integrations.sentence_transformers import CrossEncoder, SentenceTransformer

What people give it works, and what cannot is refused by its name, with the reason. `mteb` takes the first as one
of its encoders. docs/integrations.md says what differs.
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
    """A SentenceTransformer whose vectors Latebind computes. Safe in many threads; pickled, it is its arguments.

    Args:
        model_name_or_path: as for latebind.Embedder; or one that is open, which can be shared.
        device: as for latebind.Embedder; None is "auto".
        prompts: prompts by their names, besides those of the model, or instead of them.
        default_prompt_name: the prompt that encode() uses when none is given; None is what the model says.
        similarity_fn_name: "cosine", "dot", "euclidean" or "manhattan"; None is what the model says, else "cosine".
        truncate_dim: keep only the first N numbers of each vector.
        revision: of a model on the hub.
        **settings: all other keywords of latebind.Embedder, such as `precision="bf16"` or `max_tokens=128`.

    Raises:
        CallerError: an argument of sentence-transformers that has no meaning here, with the reason; and as
            latebind.Embedder.
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
        #: Vectors are cut to so many numbers.
        self.truncate_dim: int | None = positive(truncate_dim, "truncate_dim") or None

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
        """The vectors of texts.

        Args:
            inputs: all that latebind.Embedder.encode() takes. `sentences` is its name in older releases.
            prompt_name, prompt: what is put before each text: one of `prompts`, or a text.
            batch_size: not used: batches are formed by tokens (`batch_tokens` of the constructor).
            show_progress_bar: shows one, if tqdm is installed.
            output_value: "sentence_embedding".
            precision: "float32"; or "int8", "uint8", "binary", "ubinary", which are made of the vectors afterwards.
            convert_to_numpy: an array; otherwise a list of tensors, which needs torch.
            convert_to_tensor: a tensor, which needs torch.
            normalize_embeddings: vectors of length 1.
            truncate_dim: keep only the first N numbers of each vector.
            device: None, or the one that the model was opened with. pool, chunk_size: None.
            task: "query" or "document", which way a router takes.
            task_metadata, hf_split, hf_subset, prompt_type: how mteb calls; `inputs` then gives its batches.

        Returns:
            float32[n, d], or float32[d] for a str; int8 or uint8, and an eighth as many numbers for the binary ones.

        Raises:
            CallerError: an argument that cannot be met, by its name; and as latebind.Embedder.encode().
        """
        if (inputs is None) == (sentences is None):
            raise CallerTypeError("give the texts as inputs, or as sentences")
        texts = inputs if sentences is None else sentences
        if "task_metadata" in others:
            others.setdefault("task", getattr(others.get("prompt_type"), "value", None))
            texts, prompt = self._of_mteb(texts, others, prompt_name, prompt)
            prompt_name = None
            # mteb has torch loaded, and turns what similarity() makes of these into numbers as only tensors can be.
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
        )
        if dimensions:
            # As sentence-transformers does: what the model itself has normalised is not normalised again.
            vectors = np.ascontiguousarray(vectors[..., :dimensions])
            vectors = normalized(vectors) if normalizes else vectors
        return converted(quantized(vectors, precision), vectors.ndim == 1, convert_to_numpy, convert_to_tensor)

    def tokenize(self, texts: list[str], prompt: str | None = None, **_: Any) -> dict[str, npt.NDArray[np.int64]]:
        """{"input_ids", "attention_mask"}, int64[n, t]. Short texts are padded with 0, where the mask is 0 too. No prompt
        is put before them but one that is given."""
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
        """What answers."""
        return cast(Embedder, self._late.opened)

    def get_embedding_dimension(self) -> int:
        """Numbers of a vector."""
        dimension = self.embedder.dimension
        return dimension if self.truncate_dim is None else min(dimension, self.truncate_dim)

    @contextmanager
    def truncate_embeddings(self, truncate_dim: int | None) -> Iterator[None]:
        """In the `with` block vectors are cut to so many numbers; None does not cut them."""
        before = self.truncate_dim
        self.truncate_dim = positive(truncate_dim, "truncate_dim") or None
        try:
            yield
        finally:
            self.truncate_dim = before

    truncate_sentence_embeddings = truncate_embeddings

    @property
    def mteb_model_meta(self) -> Any:
        """mteb's ModelMeta of it.

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
        """The texts of mteb's batches and their prompt, as it looks for one: the task's with the kind of text, the
        task's, and the same of the kind of task; then those for queries and for documents.
        """
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
