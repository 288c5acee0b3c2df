"""A drop-in replacement for sentence-transformers' MultiVectorEncoder; see sentence_transformers.py."""

from __future__ import annotations

import os
import sys
from typing import Any, ClassVar, cast

import numpy as np

from .._arguments import flag
from .._multi_vector_encoder import MultiVectorEncoder as Encoder
from .._prompts import config_of
from ..errors import CallerError, CallerTypeError
from ._common import Late, not_installed
from ._named_similarity import NamedSimilarity
from ._shaped import Shaped, at_revision, refuse_settings

_SIMILARITIES = ("maxsim", "meanmaxsim")
_ROLES = ("query", "document")


class MultiVectorEncoder(NamedSimilarity, Shaped):
    """A MultiVectorEncoder whose vectors Latebind computes. Thread-safe. Pickling keeps the arguments.

    Args:
        model_name_or_path: see latebind.MultiVectorEncoder; or an open instance, which may be shared.
        device: see latebind.MultiVectorEncoder; None is "auto".
        prompts: prompts by name, which add to or replace the model's.
        default_prompt_name: the prompt that encode() uses by default; None is the model's default.
        similarity_fn_name: "maxsim" or "meanmaxsim"; None is the model's choice, or "maxsim".
        revision: of a model on the hub.
        **settings: any other keyword of latebind.MultiVectorEncoder, such as `precision="bf16"`.

    Raises:
        CallerError: an argument of sentence-transformers is not supported; the message has the reason.
        the other errors of latebind.MultiVectorEncoder
    """

    _engine = "multi_vector_encoder"
    _similarities = _SIMILARITIES
    _absent: ClassVar[dict[str, str]] = {"tokenizer": "Latebind's own tokenizer answers"}

    def __init__(
        self,
        model_name_or_path: str | os.PathLike[str] | Encoder,
        *,
        device: str | list[str] | tuple[str, ...] | None = None,
        prompts: dict[str, str] | None = None,
        default_prompt_name: str | None = None,
        similarity_fn_name: Any = None,
        revision: str | None = None,
        **settings: Any,
    ) -> None:
        refuse_settings(settings)
        if device is not None:
            settings["device"] = device
        self._late = Late(Encoder, at_revision(model_name_or_path, revision), settings)
        model = self.multi_vector_encoder
        config = config_of(model.folder)
        own = config.get("similarity_fn_name")
        self._own_similarity = own if own in _SIMILARITIES else "maxsim"
        if default_prompt_name is None:
            default_prompt_name = config.get("default_prompt_name")
        self._set_prompts(model.prompts, prompts, default_prompt_name)
        self._chosen = set(prompts or {})
        self.similarity_fn_name = self._own_similarity if similarity_fn_name is None else similarity_fn_name

    # -- Vectors -------------------------------------------------------------------------------------------------------

    def encode_query(self, inputs: Any = None, *rest: Any, **others: Any) -> Any:
        """Calls encode() for queries."""
        return self.encode(inputs, *rest, **{"task": "query", **others})

    def encode_document(self, inputs: Any = None, *rest: Any, **others: Any) -> Any:
        """Calls encode() for documents."""
        return self.encode(inputs, *rest, **{"task": "document", **others})

    def encode(
        self,
        inputs: Any = None,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        output_value: str | None = "token_embeddings",
        convert_to_numpy: bool = False,
        device: Any = None,
        normalize_embeddings: bool = False,
        pool: Any = None,
        chunk_size: int | None = None,
        token_pooling: Any = None,
        task: str | None = None,
        **others: Any,
    ) -> Any:
        """Computes the vectors of the texts' tokens.

        Args:
            inputs: any input of latebind.MultiVectorEncoder.encode().
            prompt_name, prompt: replaces the marker of queries or documents.
            batch_size: ignored, because batches are formed by tokens (`batch_tokens` of the constructor).
            show_progress_bar: shows a progress bar if tqdm is installed.
            output_value: "token_embeddings".
            convert_to_numpy: True returns arrays; False returns tensors if torch is loaded, otherwise arrays.
            device: None, or the device that the model was opened with.
            pool, chunk_size, token_pooling: None.
            normalize_embeddings: scale vectors to length 1.
            task: "query" or "document"; None means documents.

        Returns:
            a list of float32[t, d]; float32[t, d] for a str.

        Raises:
            CallerError: an argument is not supported; the message names it.
            the other errors of latebind.MultiVectorEncoder.encode()
        """
        if inputs is None:
            raise CallerTypeError("give the texts as inputs")
        if others:
            raise CallerError(f"encode() has no argument {', '.join(map(repr, others))}")
        if output_value != "token_embeddings":
            raise CallerError(f"output_value is {output_value!r}; only the vectors of tokens leave the model")
        if token_pooling is not None:
            raise CallerError("token_pooling: token vectors are not pooled")
        if task is not None and task not in _ROLES:
            raise CallerError(f"task is {task!r}; known: {', '.join(_ROLES)}")
        self._refuse(batch_size, device, pool, chunk_size)
        given = prompt is not None or prompt_name is not None
        if not given and task in self._chosen:
            given, prompt_name = True, task
        vectors = self.multi_vector_encoder.encode(
            inputs,
            role=task,
            prompt=self._prompt(prompt_name, prompt) if given else None,
            normalize=flag(normalize_embeddings, "normalize_embeddings"),
            show_progress=flag(show_progress_bar, "show_progress_bar"),
        )
        torch = None if flag(convert_to_numpy, "convert_to_numpy") else sys.modules.get("torch")
        if torch is None:
            return vectors
        return torch.as_tensor(vectors) if isinstance(inputs, str) else [torch.as_tensor(one) for one in vectors]

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Scores every document for every query by `similarity_fn_name`.

        Args:
            embeddings1, embeddings2: results of encode_query() and encode_document(): lists of float32[t, d], arrays or
                tensors; a single one counts as a list of one.

        Returns:
            float32[n, m]; a tensor if tensors were given.
        """
        first, second = _listed(embeddings1), _listed(embeddings2)
        found = self.multi_vector_encoder.scores(first, second)
        if self.similarity_fn_name != self._own_similarity:
            counts = np.maximum([[len(one)] for one in first], 1).astype(np.float32).reshape(-1, 1)
            found = found / counts if self.similarity_fn_name == "meanmaxsim" else found * counts
        return _tensor(found) if _is_tensor(embeddings1) or _is_tensor(embeddings2) else found

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Scores the first with the first, the second with the second, and so on: float32[n]."""
        first, second = _listed(embeddings1), _listed(embeddings2)
        if len(first) != len(second):
            raise CallerError(f"there are {len(first)} and {len(second)} texts; pairs need the same number of both")
        found = [self.similarity([one], [other])[0, 0] for one, other in zip(first, second, strict=True)]
        return np.array(found, np.float32)

    # -- What it is ----------------------------------------------------------------------------------------------------

    @property
    def multi_vector_encoder(self) -> Encoder:
        """The underlying model."""
        return cast(Encoder, self._late.opened)

    def get_embedding_dimension(self) -> int:
        """Returns the number of dimensions of a vector."""
        return self.multi_vector_encoder.dimension


def _is_tensor(given: Any) -> bool:
    one = given[0] if isinstance(given, (list, tuple)) and given else given
    return hasattr(one, "detach")


def _listed(given: Any) -> list[Any]:
    """Returns the token vectors of each text as an array."""
    texts = list(given) if isinstance(given, (list, tuple)) or getattr(given, "ndim", 0) == 3 else [given]
    return [one.detach().cpu().numpy() if hasattr(one, "detach") else one for one in texts]


def _tensor(numbers: Any) -> Any:
    try:
        import torch
    except ImportError as error:
        raise not_installed(error, "torch, which is needed for the given tensors,", "torch") from None
    return torch.as_tensor(numbers)
