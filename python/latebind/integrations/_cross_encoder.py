"""A class that is used as CrossEncoder of sentence-transformers is: see sentence_transformers.py."""

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
# Arguments of older releases that do nothing in the newest either.
_WITHOUT_EFFECT = ("num_workers",)
_WITHOUT_EFFECT_ON_RANK = (*_WITHOUT_EFFECT, "convert_to_numpy", "convert_to_tensor", "apply_softmax")


class CrossEncoder(Shaped):
    """A CrossEncoder whose scores Latebind computes. Safe in many threads; pickled, it is its arguments.

    Args:
        model_name_or_path: as for latebind.CrossEncoder; or one that is open, which can be shared.
        device: as for latebind.CrossEncoder; None is "auto".
        prompts: prompts by their names, besides those of the model, or instead of them.
        default_prompt_name: the prompt that is put before the first text of a pair when none is given.
        revision: of a model on the hub.
        num_labels: None, or as many as the model has.
        max_length: pairs are cut to this many tokens, the longer text first.
        activation_fn: what makes scores of the network's numbers: is called with those of all pairs, of n pairs and l
            labels [n, l]; with a tensor where torch is loaded, otherwise with an array. None is what the model says.
        **settings: all other keywords of latebind.CrossEncoder, such as `precision="bf16"`.

    Raises:
        CallerError: an argument of sentence-transformers that has no meaning here, with the reason; and as
            latebind.CrossEncoder.
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
        #: What makes scores of the network's numbers; None is what the model says.
        self.activation_fn: Callable[[Any], Any] | None = activation_fn
        self._function(None)  # refuses what cannot be called
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
        """The scores of pairs of texts.

        Args:
            inputs: all that latebind.CrossEncoder.predict() takes. `sentences` is its name in older releases.
            prompt_name, prompt: what is put before the first text of each pair: one of `prompts`, or a text.
            batch_size: not used: batches are formed by tokens (`batch_tokens` of the constructor).
            show_progress_bar: shows one, if tqdm is installed.
            activation_fn: as for the constructor. `activation_fct` is its name in older releases.
            apply_softmax: scores of a pair that are positive and have the sum 1, where the model has several labels.
            convert_to_numpy: an array; otherwise a list of tensors, which needs torch.
            convert_to_tensor: a tensor, which needs torch.
            device: None, or the one that the model was opened with. pool, chunk_size: None.

        Returns:
            float32[n] of a model with one label, float32[n, l] of one with several; without n for a single pair.

        Raises:
            CallerError: an argument that cannot be met, by its name; and as latebind.CrossEncoder.predict().
        """
        if (inputs is None) == (sentences is None):
            raise CallerTypeError("give the pairs as inputs, or as sentences")
        function = self._function(_older(others, "predict", activation_fn, _WITHOUT_EFFECT))
        self._refuse(batch_size, device, pool, chunk_size)
        pairs, is_single = pairs_of(inputs if sentences is None else sentences)
        before = self._prompt(prompt_name, prompt)
        scores = self.cross_encoder.predict(
            [(_after(before, first), second) for first, second in pairs],
            raw=function is not None,
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
        """Documents by their scores for a query.

        Args:
            query, documents, top_k, return_documents: as for latebind.CrossEncoder.rank().
            prompt_name, prompt: what is put before the query.
            batch_size, show_progress_bar, activation_fn, device, pool, chunk_size: as for predict().

        Returns:
            [{"corpus_id", "score", "text"}], highest score first; "text" only where it was asked for.

        Raises:
            CallerError: an argument that cannot be met, by its name; and as latebind.CrossEncoder.rank().
        """
        function = self._function(_older(others, "rank", activation_fn, _WITHOUT_EFFECT_ON_RANK))
        self._refuse(batch_size, device, pool, chunk_size)
        most = positive(top_k, "top_k") or None
        ranked = self.cross_encoder.rank(
            _after(self._prompt(prompt_name, prompt), query),
            documents,
            most if function is None else None,
            return_documents,
            raw=function is not None,
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
        """What answers."""
        return cast(Scorer, self._late.opened)

    @property
    def num_labels(self) -> int:
        """Scores of a pair."""
        return len(self.cross_encoder.labels)

    max_length = Shaped.max_seq_length

    # -- Inside --------------------------------------------------------------------------------------------------------

    def _function(self, given: Any) -> Callable[[Any], Any] | None:
        function = self.activation_fn if given is None else given
        if function is not None and not callable(function):
            raise CallerTypeError(f"activation_fn is {type(function).__name__}; give a function")
        return function


def _older(others: dict[str, Any], method: str, activation_fn: Any, without_effect: tuple[str, ...]) -> Any:
    """The activation_fn by either name; refuses arguments that there are not."""
    for name in without_effect:
        others.pop(name, None)
    found = others.pop("activation_fct", None) if activation_fn is None else activation_fn
    if others:
        raise CallerError(f"{method}() has no argument {', '.join(map(repr, others))}")
    return found


def _after(prompt: str, text: Any) -> Any:
    return prompt + text if prompt and isinstance(text, str) else text


def _activated(function: Callable[[Any], Any], numbers: Vectors) -> Vectors:
    """What a function makes of float32[n, l]: float32[n] or float32[n, labels]."""
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
