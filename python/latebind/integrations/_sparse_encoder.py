"""A drop-in replacement for sentence-transformers' SparseEncoder; see sentence_transformers.py."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any, ClassVar, cast

from .._arguments import flag, positive
from .._sparse_encoder import SparseEncoder as Weigher
from .._sparse_vectors import SparseVectors
from ..errors import CallerError, CallerTypeError, LibraryError
from ._common import Late, SparseModel, not_installed
from ._shaped import at_revision, refuse_settings
from ._shaped_encoder import ShapedEncoder
from ._sparse_rows import dense, rows_of, sparse_similarity_of, tensor_of


class SparseEncoder(ShapedEncoder):
    """A SparseEncoder whose vectors Latebind computes. Thread-safe. Pickling keeps the arguments.

    Args:
        model_name_or_path: see latebind.SparseEncoder; or an open instance, which may be shared.
        device: see latebind.SparseEncoder; None is "auto".
        prompts: prompts by name, which add to or replace the model's.
        default_prompt_name: the prompt that encode() uses by default; None is the model's default.
        similarity_fn_name: "cosine", "dot", "euclidean" or "manhattan"; None is the model's choice, or "dot".
        max_active_dims: the number of weights to keep per text, at most the model's; None is the model's.
        revision: of a model on the hub.
        **settings: any other keyword of latebind.SparseEncoder, such as `precision="bf16"`.

    Raises:
        CallerError: an argument of sentence-transformers is not supported; the message has the reason.
        the other errors of latebind.SparseEncoder
    """

    _engine = "sparse_encoder"
    _usual_similarity = "dot"
    _absent: ClassVar[dict[str, str]] = {
        "tokenizer": "Latebind's own tokenizer answers; decode() gives tokens",
        "splade_pooling_chunk_size": "pooling is part of Latebind's computation",
        "set_pooling_include_prompt": "every token is pooled",
        "intersection": "use SciPy's a.multiply(b) with the matrices that encode() returns",
    }

    def __init__(
        self,
        model_name_or_path: SparseModel,
        *,
        device: str | list[str] | tuple[str, ...] | None = None,
        prompts: dict[str, str] | None = None,
        default_prompt_name: str | None = None,
        similarity_fn_name: Any = None,
        max_active_dims: int | None = None,
        revision: str | None = None,
        **settings: Any,
    ) -> None:
        refuse_settings(settings)
        if device is not None:
            settings["device"] = device
        self._late = Late(Weigher, at_revision(model_name_or_path, revision), settings)
        self._set_names(prompts, default_prompt_name, similarity_fn_name)
        most = self.sparse_encoder._checked_most(max_active_dims)
        #: The number of weights kept per text; None keeps all.
        self.max_active_dims: int | None = most or self.sparse_encoder.max_active_dims

    # -- Vectors -------------------------------------------------------------------------------------------------------

    def encode(
        self,
        inputs: Any = None,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        convert_to_tensor: bool | None = None,
        convert_to_sparse_tensor: bool = True,
        save_to_cpu: bool = False,
        device: Any = None,
        max_active_dims: int | None = None,
        pool: Any = None,
        chunk_size: int | None = None,
        *,
        sentences: Any = None,
        **others: Any,
    ) -> Any:
        """Computes the sparse vectors of texts.

        Args:
            inputs: any input of latebind.SparseEncoder.encode(). Older releases call it `sentences`.
            prompt_name, prompt: what to put before each text: a key of `prompts`, or a text.
            batch_size: ignored, because batches are formed by tokens (`batch_tokens` of the constructor).
            show_progress_bar: shows a progress bar if tqdm is installed.
            convert_to_tensor: True returns a tensor, False a list of tensors; both require torch. None returns a tensor
                if torch is loaded, otherwise a SciPy matrix if SciPy is installed, otherwise latebind.SparseVectors.
            convert_to_sparse_tensor: False returns vectors with all zeros, as a tensor, or as an array if torch is not
                loaded.
            save_to_cpu: ignored, because vectors are in main memory.
            device: None, or the device that the model was opened with.
            pool, chunk_size: None.
            max_active_dims: the number of weights to keep per text, at most the model's.
            task: "query" or "document", which selects a router's route.

        Returns:
            a sparse COO tensor [n, d], without n for a str; or a csr_matrix or SparseVectors of shape (n, d), where n
                is 1 for a str.

        Raises:
            CallerError: an argument is not supported; the message names it.
            LibraryError: tensors were requested, and torch is not installed.
            the other errors of latebind.SparseEncoder.encode()
        """
        if (inputs is None) == (sentences is None):
            raise CallerTypeError("give the texts as inputs, or as sentences")
        role = self._role_of(others.pop("task", None))
        if others:
            raise CallerError(f"encode() has no argument {', '.join(map(repr, others))}")
        self._refuse(batch_size, device, pool, chunk_size)
        flag(save_to_cpu, "save_to_cpu")
        texts = inputs if sentences is None else sentences
        stays_sparse = flag(convert_to_sparse_tensor, "convert_to_sparse_tensor")
        as_tensor = None if convert_to_tensor is None else flag(convert_to_tensor, "convert_to_tensor")
        if as_tensor is not None:
            _import_torch()
        vectors = self.sparse_encoder.encode(
            texts,
            prompt=self._prompt(prompt_name, prompt),
            role=role,
            max_active_dims=self.max_active_dims if max_active_dims is None else max_active_dims,
            show_progress=flag(show_progress_bar, "show_progress_bar"),
        )
        return _converted(vectors, isinstance(texts, str), as_tensor, stays_sparse)

    @staticmethod
    def sparsity(embeddings: Any) -> dict[str, float]:
        """Computes the average number of weights ("active_dims") and the share of zeros ("sparsity_ratio").

        Args:
            embeddings: results of encode(), arrays, lists, or tensors.
        """
        rows = rows_of(embeddings)
        count, width = rows.shape
        if not count or not width:
            return {"active_dims": 0.0, "sparsity_ratio": 1.0}
        active = len(rows.values) / count
        return {"active_dims": active, "sparsity_ratio": 1.0 - active / width}

    def decode(self, embeddings: Any, top_k: int | None = None) -> Any:
        """Returns the tokens of vectors with their weights, largest first; of equal weights, the lower index first.

        Args:
            embeddings: results of encode(), arrays, lists, or tensors.
            top_k: how many tokens to return per vector; all by default.

        Returns:
            [[(token, weight)]] per vector; [(token, weight)] for a one-dimensional input. The token is None if the
                tokenizer has none.

        Raises:
            CallerError: the vectors do not belong to this model's vocabulary.
        """
        most = positive(top_k, "top_k")
        rows = rows_of(embeddings)
        model = self.sparse_encoder
        if rows.width != model.vocabulary_size:
            raise CallerError(f"the vectors have {rows.width} numbers, and the model's have {model.vocabulary_size}")
        vectors = SparseVectors(rows.begins, rows.indices, rows.values, model._vocabulary)
        found = [[(token, weight) for _, token, weight in vectors._best(index, most)] for index in range(len(vectors))]
        return found[0] if rows.is_single else found

    # -- What it is ----------------------------------------------------------------------------------------------------

    @property
    def sparse_encoder(self) -> Weigher:
        """The underlying model."""
        return cast(Weigher, self._late.opened)

    def get_embedding_dimension(self) -> int:
        """Returns the length of a vector, including zeros."""
        return self.sparse_encoder.vocabulary_size

    # -- Inside --------------------------------------------------------------------------------------------------------

    def _similarity_of(self, embeddings1: Any, embeddings2: Any, is_pairwise: bool) -> Any:
        return sparse_similarity_of(self.similarity_fn_name, embeddings1, embeddings2, is_pairwise)


def _import_torch() -> None:
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise not_installed(error, "torch, for convert_to_tensor,", "torch") from None


def _converted(vectors: SparseVectors, is_single: bool, as_tensor: bool | None, stays_sparse: bool) -> Any:
    if as_tensor is None and sys.modules.get("torch") is None:
        if not stays_sparse:
            numbers = dense(vectors)
            return numbers[0] if is_single else numbers
        with suppress(LibraryError):
            return vectors.to_scipy()
        return vectors
    made = tensor_of(vectors) if stays_sparse else tensor_of(vectors).to_dense()
    if is_single:
        return made[0]
    return list(made) if as_tensor is False else made
