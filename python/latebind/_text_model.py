"""The base of models that compute vectors or scores of texts: TextModel."""

from __future__ import annotations

import os
from collections.abc import Callable
from ctypes import byref
from dataclasses import dataclass
from typing import Any, cast

from . import _abi
from ._attestation import Attestation, attestation_of
from ._call import LONG_SECONDS, Cancellation, Deadline, Handle, call_options, interruptible
from ._library import c_text, check, library, runtime, sized
from ._locks import Lock
from ._model_name import folder_of
from ._opened import Opened, open_by
from ._progress import progress_bar
from ._settings import settings_of
from ._texts import PART_TEXTS, Source, Texts
from .errors import LatebindError

# Texts per step of a progress bar.
_STEP_TEXTS = 4096


@dataclass(frozen=True)
class EmbedStats:
    """What a model has done since it was opened.

    Attributes:
        texts: the number of texts; of pairs for a cross-encoder.
        tokens: tokens without padding.
        padded_tokens: computed tokens, including padding.
        truncated_texts: texts that were truncated.
        fallback_texts: texts computed by a device other than the preferred one.
        seconds: the sum over all calls, including concurrent ones.
    """

    texts: int = 0
    tokens: int = 0
    padded_tokens: int = 0
    truncated_texts: int = 0
    fallback_texts: int = 0
    seconds: float = 0.0


class _Rate:
    """Predicts how long calls take from previous ones. A data race only makes the prediction less accurate."""

    def __init__(self) -> None:
        self._seconds: float | None = None

    @staticmethod
    def _work(texts: Texts) -> int:
        # Bytes are roughly proportional to tokens, and every text has a few special tokens.
        return texts.bytes + 16 * texts.count

    def is_long(self, texts: Texts) -> bool:
        """Whether a call may take long enough to be made interruptible. True for the first call, whose duration is
        unknown."""
        return self._seconds is None or self._seconds * self._work(texts) > LONG_SECONDS

    def add(self, texts: Texts, seconds: float) -> None:
        found = seconds / max(self._work(texts), 1)
        self._seconds = found if self._seconds is None else (self._seconds + found) / 2


class TextModel(Opened):
    """A model opened from a folder, a bundle or a name on the hub, with its arguments and statistics."""

    # The model's name in messages, what its inputs are called, and the label of the progress bar.
    _what: str
    _inputs: str
    _doing: str
    # The prefix of its functions in the library: "lb_embedder".
    _functions: str
    # Its kind for the job "find".
    _kind: str

    def __init__(
        self,
        model: str | os.PathLike[str],
        device: str | list[str] | tuple[str, ...] = "auto",
        precision: str | list[str] | tuple[str, ...] = "f32",
        strict: bool = False,
        **settings: Any,
    ) -> None:
        name = c_text(model, "model").decode()
        of_runtime, of_model = settings_of({"device": device, "precision": precision, "strict": strict, **settings})
        self._rate = _Rate()
        self._totals = EmbedStats()
        self._totals_lock = Lock()
        of_process = runtime(of_runtime)
        self._folder = folder_of(name, self._kind, of_process, of_model.get("embedding.onnx_file"))
        opened = open_by(
            self._function("open"), self._function("destroy"), of_process, c_text(self._folder, "model"), of_model
        )
        super().__init__((name, device, precision, strict, settings), Handle(opened, self._what))
        self._read_limits()
        self._read()

    @property
    def max_tokens(self) -> int:
        """The number of tokens to which texts are truncated; for a pair, that of both texts together."""
        return self._max_tokens

    @property
    def folder(self) -> str:
        """The folder with the model's files: the one that was opened, or where a name on the hub was downloaded to."""
        return self._folder

    @property
    def model(self) -> str:
        """The model as it was given: a folder, a bundle, or a name on the hub."""
        return self._arguments[0]

    @property
    def settings(self) -> dict[str, Any]:
        """The keywords that it was opened with: type(it)(model, **settings) opens an equal one."""
        _, device, precision, strict, settings = self._arguments
        return {"device": device, "precision": precision, "strict": strict, **settings}

    @property
    def attestation(self) -> Attestation:
        """What would answer now."""
        return attestation_of(self._function("attestation"), self._handle.use())

    @property
    def stats(self) -> EmbedStats:
        """What it has done since it was opened."""
        return self._totals

    def __repr__(self) -> str:
        if self.closed:
            return f"<{self._what} {self.model!r}, closed>"
        try:
            active = self.attestation
        except LatebindError:
            return f"<{self._what} {self.model!r}>"
        return f"<{self._what} {self.model!r}, {self._gives()}, {active.device}, {active.precision}>"

    # -- Inside --------------------------------------------------------------------------------------------------------

    @classmethod
    def _function(cls, name: str) -> Callable[..., Any]:
        return cast(Callable[..., Any], getattr(library(), f"{cls._functions}_{name}"))

    def _read_limits(self) -> None:
        self._max_tokens = int(self._function("max_tokens")(self._handle.use()))

    def _read(self) -> None:
        """Reads constant properties once the model is open."""

    def _gives(self) -> str:
        """Describes the result for a text, such as "384 dimensions"."""
        raise NotImplementedError

    def _add(self, stats: _abi.lb_embed_stats) -> None:
        with self._totals_lock:
            sum_ = self._totals
            self._totals = EmbedStats(
                sum_.texts + stats.texts,
                sum_.tokens + stats.tokens,
                sum_.padded_tokens + stats.padded_tokens,
                sum_.truncated_texts + stats.truncated_texts,
                sum_.fallback_texts + stats.fallback_texts,
                sum_.seconds + stats.seconds,
            )

    def _compute(
        self,
        cancellation: Cancellation | None,
        texts: Texts,
        until: Deadline,
        function: Callable[[Any, Any], int],
    ) -> None:
        """Makes one call of the library, function(limits, stats). `function` must keep everything that it writes to
        alive, because a second interruption returns before the call does."""
        stats = sized(_abi.lb_embed_stats)

        def call(cancellation: Cancellation | None) -> None:
            limits = call_options(until, cancellation)
            check(function(limits and byref(limits), byref(stats)))

        interruptible(call, cancellation, self._rate.is_long(texts))
        self._rate.add(texts, stats.seconds)
        self._add(stats)

    def _in_parts(self, source: Source, shows_progress: bool, compute: Callable[[int, Texts], None]) -> None:
        """Calls compute(index of the first text, texts) for each part."""
        with progress_bar(source.count, shows_progress, self._inputs, self._doing) as advance:
            for first, part in source.parts(_STEP_TEXTS if shows_progress else PART_TEXTS):
                try:
                    compute(first, part)
                except LatebindError as error:
                    if first:
                        error.message = f"in the {self._inputs}s from {first} on: {error.message}"
                    raise
                advance(part.count)
