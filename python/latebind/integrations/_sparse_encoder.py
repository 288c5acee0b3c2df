"""A class that is used as SparseEncoder of sentence-transformers is: see sentence_transformers.py."""

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
    """A SparseEncoder whose vectors Latebind computes. Safe in many threads; pickled, it is its arguments.

    Args:
        model_name_or_path: as for latebind.SparseEncoder; or one that is open, which can be shared.
        device: as for latebind.SparseEncoder; None is "auto".
        prompts: prompts by their names, besides those of the model, or instead of them.
        default_prompt_name: the prompt that encode() uses when none is given; None is what the model says.
        similarity_fn_name: "cosine", "dot", "euclidean" or "manhattan"; None is what the model says, else "dot".
        max_active_dims: only so many weights of a text, and no more than the model keeps; None: what the model says.
        revision: of a model on the hub.
        **settings: all other keywords of latebind.SparseEncoder, such as `precision="bf16"`.

    Raises:
        CallerError: an argument of sentence-transformers that has no meaning here, with the reason; and as
            latebind.SparseEncoder.
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
        #: So many weights of a text are kept; None: all.
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
        """The sparse vectors of texts.

        Args:
            inputs: all that latebind.SparseEncoder.encode() takes. `sentences` is its name in older releases.
            prompt_name, prompt: what is put before each text: one of `prompts`, or a text.
            batch_size: not used: batches are formed by tokens (`batch_tokens` of the constructor).
            show_progress_bar: shows one, if tqdm is installed.
            convert_to_tensor: True: a tensor; False: a list of tensors; both need torch. None: a tensor where torch is
                loaded, otherwise a matrix of SciPy where that is installed, otherwise latebind.SparseVectors.
            convert_to_sparse_tensor: False: with all zeros, as a tensor, or as an array where torch is not loaded.
            save_to_cpu: not used: vectors are in the memory of the processor.
            device: None, or the one that the model was opened with. pool, chunk_size: None.
            max_active_dims: only so many weights of a text, and no more than the model keeps.
            task: "query" or "document", which way a router takes.

        Returns:
            a sparse tensor of coordinates [n, d], without n for a str; a csr_matrix or SparseVectors of the shape (n, d),
            where n is 1 for a str.

        Raises:
            CallerError: an argument that cannot be met, by its name; and as latebind.SparseEncoder.encode().
            LibraryError: tensors are asked for, and torch is not installed.
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
        """How many weights vectors have on average ("active_dims"), and the part of zeros ("sparsity_ratio").

        Args:
            embeddings: what encode() gives; or arrays, lists, or tensors.
        """
        rows = rows_of(embeddings)
        count, width = rows.shape
        if not count or not width:
            return {"active_dims": 0.0, "sparsity_ratio": 1.0}
        active = len(rows.values) / count
        return {"active_dims": active, "sparsity_ratio": 1.0 - active / width}

    def decode(self, embeddings: Any, top_k: int | None = None) -> Any:
        """The tokens of vectors with their weights, the largest first, of equal ones the lower index.

        Args:
            embeddings: what encode() gives; or arrays, lists, or tensors.
            top_k: how many of each are wanted; all, if it is not given.

        Returns:
            [[(token, weight)]], of each vector; [(token, weight)] of one that has one dimension. The token is None where
            the tokenizer has none.

        Raises:
            CallerError: the vectors are not of this model's vocabulary.
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
        """What answers."""
        return cast(Weigher, self._late.opened)

    def get_embedding_dimension(self) -> int:
        """Numbers of a vector, zeros included."""
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
