"""The base of models that compute vectors or scores of texts: TextModel."""

from __future__ import annotations

import os
from collections.abc import Callable
from ctypes import addressof, byref, c_char_p, memmove, sizeof
from dataclasses import dataclass
from typing import Any

from . import _abi
from ._attestation import Attestation, attestation_of
from ._call import LONG_SECONDS, Cancellation, Deadline, Handle, Owner, call_options, interruptible
from ._library import c_text, check, library, runtime, sized, text_of
from ._locks import Lock
from ._model_name import folder_of
from ._opened import Opened, open_by
from ._out import Rows
from ._progress import progress_bar
from ._results import results
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


@dataclass(frozen=True)
class OutputInfo:
    """An output of a model.

    Attributes:
        name: "dense", "sparse", "multi_vector", "token_vectors" or "score".
        form: the form of its results: "dense", "sparse", "ragged" or "scores".
        dimension: numbers in a vector, entries of the vocabulary, or scores of a pair.
        dimension_max: the most numbers that a call can ask for; more than `dimension` if the model's files keep only
            part of each vector.
    """

    name: str
    form: str
    dimension: int
    dimension_max: int


_FORMS = {
    _abi.LB_FORM_DENSE: "dense",
    _abi.LB_FORM_SPARSE: "sparse",
    _abi.LB_FORM_RAGGED: "ragged",
    _abi.LB_FORM_SCORES: "scores",
}


class EncodeOptions(_abi.lb_encode_options):
    """Options of a call, and the objects that they refer to."""

    kept: Any = None


class _RowsOptions(EncodeOptions):
    """Options with a request that writes the rows of the first output to memory. Every call makes one, so it is one
    object."""

    name: Any
    rows: int | None
    capacity: int
    _fields_ = list(_abi.lb_output_request._fields_)  # noqa: RUF012 - ctypes reads it once


_OPTIONS_SIZE = sizeof(EncodeOptions)
_REQUEST_OFFSET = _RowsOptions.name.offset
_ONE_REQUEST = bytes(EncodeOptions(_OPTIONS_SIZE, None, 1)) + bytes(sizeof(_abi.lb_output_request))


def _into(rows: Rows, first: int, options: EncodeOptions | None) -> _RowsOptions:
    """Returns `options` with a request that writes to `rows`, from row `first` on. Refers to the memory of both."""
    whole = _RowsOptions.from_buffer_copy(_ONE_REQUEST)
    if options is not None:
        memmove(byref(whole), byref(options), _OPTIONS_SIZE)
        whole.output_count = 1
    whole.outputs = addressof(whole) + _REQUEST_OFFSET
    whole.rows = rows.address(first)
    whole.capacity = rows.left(first)
    return whole


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
    # The outputs that it is opened with; empty for the model's own.
    _outputs: tuple[str, ...] = ()
    # The number of the only role that it is opened for.
    _role: int = _abi.LB_ROLE_UNSPECIFIED
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
        self._totals = 0, 0, 0, 0, 0, 0.0  # the fields of EmbedStats, which takes long to make
        self._totals_lock = Lock()
        of_process = runtime(of_runtime)
        self._folder = folder_of(name, self._kind, of_process, of_model.get("embedding.onnx_file"))
        opened = open_by(
            self._open_function(),
            library().lb_encoder_destroy,
            of_process,
            c_text(self._folder, "model"),
            of_model,
        )
        super().__init__((name, device, precision, strict, settings), Handle(opened, self._what))
        self._describe()
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
        return attestation_of(library().lb_encoder_attestation, self._handle.use())

    @property
    def stats(self) -> EmbedStats:
        """What it has done since it was opened."""
        return EmbedStats(*self._totals)

    def __repr__(self) -> str:
        if self.closed:
            return f"<{self._what} {self.model!r}, closed>"
        try:
            active = self.attestation
        except LatebindError:
            return f"<{self._what} {self.model!r}>"
        return f"<{self._what} {self.model!r}, {self._gives()}, {active.device}, {active.precision}>"

    # -- Inside --------------------------------------------------------------------------------------------------------

    def _open_function(self) -> Callable[..., int]:
        """Returns lb_encoder_open() with this model's outputs and role."""
        options = sized(_abi.lb_encoder_options)
        names = (c_char_p * max(len(self._outputs), 1))(*(c_text(name, "outputs") for name in self._outputs))
        if self._outputs:
            options.outputs = names
            options.output_count = len(self._outputs)
        options.role = self._role
        function = library().lb_encoder_open
        return lambda runtime, file, settings, call, out: function(runtime, file, settings, byref(options), call, out)

    def _describe(self) -> None:
        info = sized(_abi.lb_encoder_info)
        opened = self._handle.use()
        check(library().lb_encoder_describe(opened, byref(info)))
        self._max_tokens = int(info.max_tokens)
        self._max_query_tokens = int(info.max_query_tokens)
        self._input = text_of(info.input)
        functions = library()
        self._function: Callable[..., int] = (
            functions.lb_encoder_encode_pairs if self._input == "pair" else functions.lb_encoder_encode
        )
        self._of_outputs: list[OutputInfo] = []
        for index in range(info.output_count):
            output = sized(_abi.lb_output_info)
            check(library().lb_encoder_output(opened, index, byref(output)))
            self._of_outputs.append(
                OutputInfo(text_of(output.name), _FORMS[output.form], int(output.dimension), int(output.dimension_max))
            )

    @property
    def _dimension(self) -> int:
        """The length of a row of the first output."""
        return self._of_outputs[0].dimension

    def _read(self) -> None:
        """Reads constant properties once the model is open."""

    def _gives(self) -> str:
        """Describes the result for a text, such as "384 dimensions"."""
        raise NotImplementedError

    def _add(self, stats: _abi.lb_encode_stats) -> None:
        with self._totals_lock:
            texts, tokens, padded_tokens, truncated_texts, fallback_texts, seconds = self._totals
            self._totals = (
                texts + stats.texts,
                tokens + stats.tokens,
                padded_tokens + stats.padded_tokens,
                truncated_texts + stats.truncated_texts,
                fallback_texts + stats.fallback_texts,
                seconds + stats.seconds,
            )

    def _call(
        self,
        cancellation: Cancellation | None,
        texts: Texts,
        until: Deadline,
        function: Callable[[Any, Any], int],
    ) -> None:
        """Makes one call of the library, function(limits, stats). `function` must keep everything that it writes to
        alive, because a second interruption returns before the call does."""
        stats = sized(_abi.lb_encode_stats)

        def call(cancellation: Cancellation | None) -> None:
            limits = call_options(until, cancellation)
            check(function(limits and byref(limits), byref(stats)))

        interruptible(call, cancellation, self._rate.is_long(texts))
        self._rate.add(texts, stats.seconds)
        self._add(stats)

    def _open_tokenizer(self) -> Owner:
        """Returns the model's tokenizer, which the caller closes."""
        tokenizer = Owner(library().lb_tokenizer_destroy)
        check(library().lb_encoder_tokenizer(self._handle.use(), tokenizer.out))
        return tokenizer

    def _encode_into(
        self,
        cancellation: Cancellation | None,
        texts: Texts,
        options: EncodeOptions | None,
        until: Deadline,
        encoder: Owner,
        rows: Rows,
        first: int,
    ) -> None:
        """Writes the rows of `texts`, starting at row `first`, into the memory of `rows`."""
        function = self._function
        # An interrupted call may still use what this refers to, so its frame keeps all of that alive.
        self._call(
            cancellation,
            texts,
            until,
            lambda limits, stats: function(
                encoder, texts.pointer, texts.count, byref(_into(rows, first, options)), limits, None, stats
            ),
        )

    def _encode_as(
        self,
        cancellation: Cancellation | None,
        texts: Texts,
        options: EncodeOptions | None,
        until: Deadline,
        encoder: Owner,
    ) -> Owner:
        """Returns the results of `texts`."""
        made = results()
        function = self._function
        self._call(
            cancellation,
            texts,
            until,
            lambda limits, stats: function(
                encoder, texts.pointer, texts.count, options and byref(options), limits, made.out, stats
            ),
        )
        return made

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
