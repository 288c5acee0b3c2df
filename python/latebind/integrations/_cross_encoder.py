"""A drop-in replacement for sentence-transformers' CrossEncoder; see sentence_transformers.py."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, cast

import numpy as np

from .._arguments import flag, positive
from .._cross_encoder import CrossEncoder as Scorer
from .._out import Vectors
from .._pairs import pairs_of
from .._prompts import config_of, prompts_of
from ..errors import CallerError, CallerTypeError
from ._common import Late, RankingModel
from ._shaped import Shaped, at_revision, converted, refuse_settings

_NO_CONFIG = "names of labels are model.cross_encoder.labels, and the files are in model.cross_encoder.folder"
# Arguments of older releases that have no effect in the newest one either.
_WITHOUT_EFFECT = ("num_workers",)
_WITHOUT_EFFECT_ON_RANK = (*_WITHOUT_EFFECT, "convert_to_numpy", "convert_to_tensor", "apply_softmax")


class CrossEncoder(Shaped):
    """A CrossEncoder whose scores Latebind computes. Thread-safe. Pickling keeps the arguments.

    Args:
        model_name_or_path: see latebind.CrossEncoder; or an open instance, which may be shared.
        device: see latebind.CrossEncoder; None is "auto".
        prompts: prompts by name, which add to or replace the model's.
        default_prompt_name: the prompt to put before the first text of a pair by default.
        revision: of a model on the hub.
        num_labels: None, or the model's number of labels.
        max_length: truncates each pair to this many tokens, the longer text first.
        activation_fn: converts the network's numbers to scores. It is called once with the numbers of all n pairs, [n,
            l] for l labels: a tensor if torch is loaded, otherwise an array. None is the model's activation.
        **settings: any other keyword of latebind.CrossEncoder, such as `precision="bf16"`.

    Raises:
        CallerError: an argument of sentence-transformers is not supported; the message has the reason.
        the other errors of latebind.CrossEncoder
    """

    _engine = "cross_encoder"
    _absent: ClassVar[dict[str, str]] = {
        "config": _NO_CONFIG,
        "model": _NO_CONFIG,
        "tokenizer": "Latebind's own tokenizer answers",
    }

    def __init__(
        self,
        model_name_or_path: RankingModel,
        *,
        device: str | list[str] | tuple[str, ...] | None = None,
        prompts: dict[str, str] | None = None,
        default_prompt_name: str | None = None,
        revision: str | None = None,
        num_labels: int | None = None,
        max_length: int | None = None,
        activation_fn: Callable[[Any], Any] | None = None,
        **settings: Any,
    ) -> None:
        refuse_settings(settings)
        if device is not None:
            settings["device"] = device
        if max_length is not None:
            settings["max_tokens"] = positive(max_length, "max_length")
        self._late = Late(Scorer, at_revision(model_name_or_path, revision), settings)
        self._set_prompts(prompts_of(config_of(self.cross_encoder.folder)), prompts, default_prompt_name)
        #: Converts the network's numbers to scores. None is the model's activation.
        self.activation_fn: Callable[[Any], Any] | None = activation_fn
        self._function(None)  # rejects what is not callable
        if num_labels is not None and positive(num_labels, "num_labels") != self.num_labels:
            raise CallerError(
                f"num_labels is {num_labels}, but the model has {self.num_labels}: a new head would need training, "
                "which Latebind does not support"
            )

    # -- Scores --------------------------------------------------------------------------------------------------------

    def predict(
        self,
        inputs: Iterable[Any] | None = None,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        activation_fn: Callable[[Any], Any] | None = None,
        apply_softmax: bool | None = False,
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: Any = None,
        pool: Any = None,
        chunk_size: int | None = None,
        *,
        sentences: Any = None,
        **others: Any,
    ) -> Any:
        """Scores pairs of texts.

        Args:
            inputs: any input of latebind.CrossEncoder.predict(). Older releases call it `sentences`.
            prompt_name, prompt: the model's instruction, or the prefix of the first text of each pair: a key of
                `prompts`, or a text.
            batch_size: ignored, because batches are formed by tokens (`batch_tokens` of the constructor).
            show_progress_bar: shows a progress bar if tqdm is installed.
            activation_fn: see the constructor. Older releases call it `activation_fct`.
            apply_softmax: converts the scores of a pair to probabilities if the model has several labels.
            convert_to_numpy: returns an array; otherwise a list of tensors, which requires torch.
            convert_to_tensor: returns a tensor, which requires torch.
            device: None, or the device that the model was opened with.
            pool, chunk_size: None.

        Returns:
            float32[n] for a model with one label, float32[n, l] for several; without n for a single pair.

        Raises:
            CallerError: an argument is not supported; the message names it.
            the other errors of latebind.CrossEncoder.predict()
        """
        if (inputs is None) == (sentences is None):
            raise CallerTypeError("give the pairs as inputs, or as sentences")
        function = self._function(_older(others, "predict", activation_fn, _WITHOUT_EFFECT))
        self._refuse(batch_size, device, pool, chunk_size)
        pairs, is_single = pairs_of(inputs if sentences is None else sentences)
        scores = self.cross_encoder.predict(
            pairs,
            raw=function is not None,
            instruct=self._instruction(prompt_name, prompt),
            show_progress=flag(show_progress_bar, "show_progress_bar"),
        )
        if function is not None and len(pairs):
            scores = _activated(function, scores.reshape(len(pairs), self.num_labels))
        if flag(apply_softmax, "apply_softmax") and scores.ndim > 1 and len(pairs):
            powers = np.exp(scores - scores.max(axis=1, keepdims=True))
            scores = powers / powers.sum(axis=1, keepdims=True)
        return converted(scores[0] if is_single else scores, is_single, convert_to_numpy, convert_to_tensor)

    def rank(
        self,
        query: str,
        documents: Iterable[str] | Any,
        top_k: int | None = None,
        return_documents: bool = False,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        activation_fn: Callable[[Any], Any] | None = None,
        device: Any = None,
        pool: Any = None,
        chunk_size: int | None = None,
        **others: Any,
    ) -> list[dict[str, Any]]:
        """Ranks documents by their scores for a query.

        Args:
            query, documents, top_k, return_documents: see latebind.CrossEncoder.rank().
            prompt_name, prompt: see predict().
            batch_size, show_progress_bar, activation_fn, device, pool, chunk_size: see predict().

        Returns:
            [{"corpus_id", "score", "text"}], highest score first; "text" only if requested.

        Raises:
            CallerError: an argument is not supported; the message names it.
            the other errors of latebind.CrossEncoder.rank()
        """
        function = self._function(_older(others, "rank", activation_fn, _WITHOUT_EFFECT_ON_RANK))
        self._refuse(batch_size, device, pool, chunk_size)
        most = positive(top_k, "top_k") or None
        ranked = self.cross_encoder.rank(
            query,
            documents,
            most if function is None else None,
            return_documents,
            raw=function is not None,
            instruct=self._instruction(prompt_name, prompt),
            show_progress=flag(show_progress_bar, "show_progress_bar"),
        )
        if function is None or not ranked:
            return ranked
        scores = _activated(function, np.array([[each["score"]] for each in ranked], np.float32))
        if scores.ndim > 1:
            raise CallerError(f"activation_fn gives {scores.shape[1]} scores a pair; ranking needs one score")
        found = [{**each, "score": score} for each, score in zip(ranked, scores.tolist(), strict=True)]
        return sorted(found, key=lambda each: (-each["score"], each["corpus_id"]))[:most]

    # -- What it is ----------------------------------------------------------------------------------------------------

    @property
    def cross_encoder(self) -> Scorer:
        """The underlying model."""
        return cast(Scorer, self._late.opened)

    @property
    def num_labels(self) -> int:
        """The number of scores per pair."""
        return len(self.cross_encoder.labels)

    max_length = Shaped.max_seq_length

    # -- Inside --------------------------------------------------------------------------------------------------------

    def _instruction(self, name: str | None, text: str | None) -> str | None:
        """Returns the prompt of a call; None for the model's default."""
        is_chosen = name is not None or text is not None or self.default_prompt_name is not None
        return self._prompt(name, text) if is_chosen else None

    def _function(self, given: Any) -> Callable[[Any], Any] | None:
        function = self.activation_fn if given is None else given
        if function is not None and not callable(function):
            raise CallerTypeError(f"activation_fn is {type(function).__name__}; give a function")
        return function


def _older(others: dict[str, Any], method: str, activation_fn: Any, without_effect: tuple[str, ...]) -> Any:
    """Returns activation_fn under either name, and rejects unknown arguments."""
    for name in without_effect:
        others.pop(name, None)
    found = others.pop("activation_fct", None) if activation_fn is None else activation_fn
    if others:
        raise CallerError(f"{method}() has no argument {', '.join(map(repr, others))}")
    return found


def _activated(function: Callable[[Any], Any], numbers: Vectors) -> Vectors:
    """Applies a function to float32[n, l]. Returns float32[n] or float32[n, labels]."""
    given: Any = numbers
    if "torch" in sys.modules:
        import torch

        given = torch.from_numpy(np.array(numbers))
    made = function(given)
    try:
        scores = np.asarray(made.detach().float().cpu() if hasattr(made, "detach") else made, np.float32)
    except (TypeError, ValueError) as error:
        raise CallerTypeError(f"activation_fn does not return numbers: {error}") from None
    if scores.ndim not in (1, 2) or len(scores) != len(numbers):
        raise CallerError(f"activation_fn makes {scores.shape} of numbers of the shape {numbers.shape}")
    return scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores
