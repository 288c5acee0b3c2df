"""Encodes texts or pairs of texts as all outputs of a model: Encoder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from ctypes import addressof
from functools import partial
from typing import Any

import numpy as np

from . import _abi
from ._arguments import flag, positive, role_number
from ._call import Cancellation, Deadline, Owner
from ._library import c_text, sized
from ._out import Vectors
from ._pairs import Pairs, pairs_of
from ._results import dense_rows, ragged_rows, score_rows, sparse_rows
from ._sparse_vectors import SparseVectors, Vocabulary, joined
from ._text_encoder import TextEncoder
from ._text_model import EncodeOptions, OutputInfo
from ._texts import Source, Texts, whole_source_of
from .errors import CallerError, CallerTypeError


class Encoder(TextEncoder[dict[str, Any]]):
    """A model with any number of outputs. One pass of its network gives all outputs that a call requests.

    It is thread-safe, and concurrent calls share batches. Pickling keeps the arguments, and unpickling opens the model
    again. In a forked child, every call on an object that the parent opened raises ForkedError.

    Args:
        model: a folder of sentence-transformers (also of PyLate or Stanford), a bundle, or a name on the hub
            ("ORG/NAME", "ORG/NAME@REVISION"), which is downloaded once into the hub's cache.
        device, precision, strict, **settings: see Embedder.
        outputs: the names of the outputs that calls can request, such as ["dense", "token_vectors"]; None: the model's
            own output. Each output costs time in every run.
        role: "query" or "document": load only this route of a router.

    Raises:
        CallerError: this is not such a model, it does not have such an output, or a setting is unknown.
        MachineError: no device can run the model, or a library is missing.
    """

    _what = "Encoder"
    _inputs = "text"
    _doing = "Encoding"
    _kind = "embedder"

    def __init__(
        self,
        model: str | os.PathLike[str],
        device: str | list[str] | tuple[str, ...] = "auto",
        precision: str | list[str] | tuple[str, ...] = "f32",
        strict: bool = False,
        *,
        outputs: Sequence[str] | None = None,
        role: str | None = None,
        **settings: Any,
    ) -> None:
        self._outputs = _names_of(outputs)
        self._role = role_number(role)
        self._own = {"outputs": list(self._outputs) or None, "role": role}
        super().__init__(model, device, precision, strict, **settings)

    def encode(
        self,
        texts: str | Iterable[str] | Any,
        outputs: Sequence[str] | None = None,
        *,
        normalize: bool = False,
        dimensions: int | None = None,
        max_tokens: int | None = None,
        raw: bool = False,
        show_progress: bool = False,
        prompt_name: str | None = None,
        prompt: str | None = None,
        role: str | None = None,
        task: str | None = None,
        deadline: float | None = None,
        alone: bool = False,
    ) -> dict[str, Any]:
        """Computes the requested outputs of texts in one pass.

        Args:
            texts: see Embedder.encode(); for a model whose `input` is "pair", see CrossEncoder.predict(). An iterator is
                read to its end first.
            outputs: the names of the outputs; None: all that the encoder was opened with.
            normalize: scale dense and token vectors to length 1 even if the model does not.
            dimensions: keep only the first N numbers of each dense vector, normalised again if the vector was; for
                models trained for it.
            max_tokens: truncates each text to this many tokens, including special tokens; the model's limit by default.
            raw: return the network's numbers (logits) instead of scores.
            show_progress: shows a progress bar if tqdm is installed.
            prompt_name, prompt, role, task, deadline, alone: see Embedder.encode().

        Returns:
            the results by the name of the output, in the order of the texts: float32[n, d] for "dense"; SparseVectors
                for "sparse"; a list of float32[t, d], with t vectors each, for "multi_vector" and "token_vectors";
                float32[n] (float32[n, labels] for several labels) for "score". For a single text or pair, the results
                lack the first dimension; SparseVectors have one row.

        Raises:
            CallerTypeError: an element is not a text (None, nan, bytes, a null); the message has its index.
            CallerError: the encoder was not opened with an output; `normalize` or `dimensions` do not fit an output;
                a text has a lone surrogate; the prompt is unknown.
            TransientError: the deadline has passed, or the device failed and no other could answer.
            ClosedError, ForkedError: the encoder was closed, or opened by a parent process.
        """
        return self._encode(
            None,
            texts,
            outputs,
            normalize=normalize,
            dimensions=dimensions,
            max_tokens=max_tokens,
            raw=raw,
            show_progress=show_progress,
            prompt_name=prompt_name,
            prompt=prompt,
            role=role,
            task=task,
            deadline=deadline,
            alone=alone,
        )

    @property
    def outputs(self) -> tuple[OutputInfo, ...]:
        """The outputs that calls can request."""
        return tuple(self._of_outputs)

    @property
    def input(self) -> str:
        """What it encodes: "text" or "pair"."""
        return self._input

    @property
    def max_query_tokens(self) -> int:
        """The number of tokens to which queries are truncated. Other texts are truncated to `max_tokens`."""
        return self._max_query_tokens

    @property
    def settings(self) -> dict[str, Any]:
        """The keywords that it was opened with: type(it)(model, **settings) opens an equal one."""
        return {**super().settings, **self._own}

    # -- Inside --------------------------------------------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self.settings), (self.model,)

    def _read(self) -> None:
        super()._read()
        self._vocabulary: Vocabulary | None = None
        sparse = next((output for output in self._of_outputs if output.form == "sparse"), None)
        if sparse is not None:
            self._vocabulary = Vocabulary(self._folder, sparse.dimension, self._open_tokenizer())

    def _gives(self) -> str:
        return ", ".join(output.name for output in self._of_outputs)

    def _requested(self, names: Any) -> list[OutputInfo]:
        known = {output.name: output for output in self._of_outputs}
        found = []
        for name in _names_of(names):
            if name not in known:
                raise CallerError(f"the encoder was not opened with the output {name!r}; it has: {', '.join(known)}")
            found.append(known[name])
        return found or self._of_outputs

    def _encode(
        self,
        cancellation: Cancellation | None,
        texts: Any,
        outputs: Any = None,
        *,
        normalize: Any = False,
        dimensions: Any = None,
        max_tokens: Any = None,
        raw: Any = False,
        show_progress: Any = False,
        prompt_name: Any = None,
        prompt: Any = None,
        role: Any = None,
        task: Any = None,
        deadline: float | Deadline | None = None,
        alone: Any = False,
    ) -> dict[str, Any]:
        opened = self._handle.use()
        until = deadline if isinstance(deadline, Deadline) else Deadline(deadline)
        wanted = self._requested(outputs)
        options = self._options(
            positive(dimensions, "dimensions"),
            flag(normalize, "normalize"),
            alone,
            prompt_name,
            prompt,
            max_tokens,
            role,
            task,
        ) or sized(EncodeOptions)
        options.raw_scores = int(flag(raw, "raw"))
        names = [output.name.encode() for output in wanted]
        requests = (_abi.lb_output_request * len(wanted))(*(_abi.lb_output_request(name) for name in names))
        options.kept = names, requests
        options.outputs = addressof(requests)
        options.output_count = len(wanted)
        source, is_single = self._source_of(texts)
        parts: dict[str, list[Any]] = {output.name: [] for output in wanted}

        def encode(_: int, part: Texts) -> None:
            made = self._encode_as(cancellation, part, options, until, opened)
            for output in wanted:
                parts[output.name].append(_READERS[output.form](made, output.name))

        self._in_parts(source, flag(show_progress, "show_progress"), encode)
        return {output.name: self._joined(output, parts[output.name], is_single, options) for output in wanted}

    def _source_of(self, texts: Any) -> tuple[Source, bool]:
        if self._input == "pair":
            pairs, is_single = pairs_of(texts)
            return Pairs(pairs, is_single), is_single
        is_single = isinstance(texts, str)
        return whole_source_of([texts] if is_single else texts), is_single

    def _joined(self, output: OutputInfo, parts: list[Any], is_single: bool, options: EncodeOptions) -> Any:
        """Returns the results of all parts."""
        if output.form == "sparse":
            assert self._vocabulary is not None
            return SparseVectors(*joined(parts), self._vocabulary)
        if output.form == "ragged":
            listed = [vectors for part in parts for vectors in part]
            return listed[0] if is_single else listed
        dimension = (options.dimensions if output.form == "dense" else 0) or output.dimension
        if not parts:
            parts = [np.empty((0, dimension), np.float32)]
        rows: Vectors = parts[0] if len(parts) == 1 else np.concatenate(parts)
        found: Any = rows[:, 0] if output.form == "scores" and dimension == 1 else rows
        return found[0] if is_single else found


def _names_of(outputs: Any) -> tuple[str, ...]:
    """Returns the names of outputs; none for None.

    Raises:
        CallerTypeError, CallerError: these are not names.
    """
    if outputs is None:
        return ()
    if isinstance(outputs, str) or not isinstance(outputs, Iterable):
        raise CallerTypeError(f"outputs is {type(outputs).__name__}; give a list of names")
    names = tuple(c_text(name, "outputs").decode() for name in outputs)
    if not names:
        raise CallerError("outputs is empty; give at least one name, or None")
    return names


_READERS: dict[str, Callable[[Owner, str], Any]] = {
    "dense": dense_rows,
    "sparse": sparse_rows,
    "ragged": ragged_rows,
    "scores": score_rows,
}
