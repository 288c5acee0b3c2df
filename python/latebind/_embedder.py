"""Embeds texts: Embedder."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from ctypes import byref, c_size_t
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _abi
from ._arguments import flag, positive
from ._call import Cancellation, Deadline, Handle, Owner, call_options, on_main_thread
from ._library import check, library, sized
from ._out import Rows, Vectors
from ._progress import progress_bar
from ._results import dense_rows
from ._text_encoder import TextEncoder
from ._text_model import EncodeOptions
from ._texts import Source, Texts, chunks, one_text, source_of
from .errors import CallerError

Counts = npt.NDArray[np.uint32]

# The interval at which a pull of a stream on the main thread checks for Ctrl-C.
_SLICE_MS = 20


def _close_soon(stream: Handle) -> None:
    """Closes a stream without waiting for the batch in progress, because an interruption must not wait."""
    if sys.is_finalizing():
        # During shutdown, starting a thread would block forever.
        stream.close()
        return
    try:
        threading.Thread(target=stream.close, name="latebind", daemon=True).start()
    except RuntimeError:  # no more threads, or the interpreter is shutting down
        stream.close()


class Embedder(TextEncoder[Vectors]):
    """An embedding model, ready to embed texts.

    It is thread-safe. Pickling keeps the arguments, and unpickling opens the model again. In a forked child, every call
    on an object that the parent opened raises ForkedError.

    Args:
        model: a sentence-transformers folder, a bundle, or a name on the hub ("ORG/NAME", "ORG/NAME@REVISION"), which
            is downloaded once into the hub's cache.
        device: devices to try, in order: "auto", "npu", "npu,cpu", "openvino:CPU", or a list of these.
        precision: of the computation: "f32", "bf16", "f16", or several in order of preference.
        strict: fail instead of falling back to a later device.
        **settings: any other setting of docs/configuration.md, such as `threads=4`, `max_tokens=128`, `cache=True`.

    Raises:
        CallerError: this is not such a model, or a setting is unknown.
        MachineError: no device can run the model, or a library is missing.
    """

    _what = "Embedder"
    _inputs = "text"
    _doing = "Embedding"
    _outputs = ("dense",)
    _kind = "embedder"

    # -- Embedding -----------------------------------------------------------------------------------------------------

    def encode(
        self,
        texts: str | Iterable[str] | Any,
        *,
        batch_tokens: int | None = None,
        show_progress: bool = False,
        normalize: bool = False,
        dimensions: int | None = None,
        prompt_name: str | None = None,
        prompt: str | None = None,
        role: str | None = None,
        task: str | None = None,
        out: Any = None,
        deadline: float | None = None,
        alone: bool = False,
    ) -> Vectors:
        """Computes the vectors of texts.

        Args:
            texts: a str; a list or tuple of str; a NumPy array of str (object, <U, StringDType); an Arrow array of
                strings, which is read in place (string, large_string, string_view, or a dictionary of these, from any
                library with Arrow's C interface); or an iterator, which is read while vectors are computed.
            batch_tokens: the token budget of a batch. It is fixed when the embedder is opened, and another value is
                refused.
            show_progress: shows a progress bar if tqdm is installed.
            normalize: scale vectors to length 1 even if the model does not.
            dimensions: keep only the first N numbers of each vector, normalised again if the vector was; for models trained
                for it.
            prompt_name: the model's prompt to put before each text: a key of `prompts`.
            prompt: the text of a prompt instead; "" for none. If neither is given, `default_prompt` or the role's
                prompt is used.
            role: "query" or "document", for a model with a prompt or a route (of a router) for each. None: the model's
                default for other texts.
            task: the model's task for the texts, for a model with low-rank parts for several ("retrieval.query"). None:
                the task of the role.
            out: float32 memory for the vectors, contiguous and writable: an array, or an object with the buffer
                protocol or DLPack. It holds n · d numbers in any shape; for an iterator it may be larger. After an
                error its content is unspecified.
            deadline: seconds from now after which the call fails with TransientError (DEADLINE_EXCEEDED).
            alone: do not share batches with other calls, so that the same call on the same device gives identical bits
                regardless of other calls. Slower for many calls with few texts.

        Returns:
            float32[n, d] in the order of the texts; float32[d] for a str. With `out`, a view of its memory.

        Raises:
            CallerTypeError: an element is not a text (None, nan, bytes, a null); the message has its index.
            CallerError: a text has a lone surrogate, whose index is named; the prompt is unknown; `out` has another
                size.
            TransientError: the deadline has passed, or the device failed and no other could answer.
            ClosedError, ForkedError: the embedder was closed, or opened by a parent process.
        """
        return self._encode(
            None,
            texts,
            batch_tokens=batch_tokens,
            show_progress=show_progress,
            normalize=normalize,
            dimensions=dimensions,
            prompt_name=prompt_name,
            prompt=prompt,
            role=role,
            task=task,
            out=out,
            deadline=deadline,
            alone=alone,
        )

    def encode_stream(
        self,
        texts: Iterable[str],
        *,
        normalize: bool = False,
        dimensions: int | None = None,
        prompt_name: str | None = None,
        prompt: str | None = None,
        role: str | None = None,
        task: str | None = None,
        window_texts: int | None = None,
        deadline: float | None = None,
    ) -> Iterator[Vectors]:
        """Computes the vectors of an unbounded sequence of texts in bounded memory, reading texts as vectors are
        consumed.

        Args:
            texts: an iterator, or any input of encode().
            window_texts: the texts of a window; by default 2048 to 16384, depending on the batches.
            normalize, dimensions, prompt_name, prompt, role, task, deadline: see encode().

        Yields:
            float32[n, d]: windows of vectors, in the order of the texts. The caller owns each array.

        Raises:
            the errors of encode(); the first one ends the stream.
        """
        options = self._options(
            *self._shape(normalize, dimensions), prompt_name=prompt_name, prompt=prompt, role=role, task=task
        )
        until = Deadline(deadline)
        size = positive(window_texts, "window_texts")
        source = source_of([texts] if isinstance(texts, str) else texts)
        parts = source.parts() if isinstance(source, Source) else chunks(source)
        return self._windows(parts, options, size, until, self._handle.use(), None)

    # -- What it is ----------------------------------------------------------------------------------------------------

    @property
    def dimension(self) -> int:
        """The number of dimensions of a vector."""
        return self._dimension

    @property
    def dimension_max(self) -> int:
        """The most that `dimensions` of a call accepts. More than `dimension` if the model's files keep only the first
        numbers of each vector (`truncate_dim`)."""
        return self._of_outputs[0].dimension_max

    # -- Inside --------------------------------------------------------------------------------------------------------

    def _gives(self) -> str:
        return f"{self._dimension} dimensions"

    def _shape(self, normalize: Any, dimensions: Any) -> tuple[int, bool]:
        """Returns the first arguments of _options()."""
        wanted = positive(dimensions, "dimensions")
        if wanted > self.dimension_max:
            raise CallerError(f"dimensions is {wanted}; the model's vectors have {self.dimension_max}")
        return wanted, flag(normalize, "normalize")

    def _check_batch_tokens(self, given: Any) -> None:
        # The scheduler forms batches from the texts of all calls, so they share one budget.
        if not positive(given, "batch_tokens"):
            return
        settings = self._arguments[4]
        opened_with = settings.get("batch_tokens", settings.get("embedding.batch_tokens"))
        if str(given) != str(opened_with):
            raise CallerError(
                f"batch_tokens is {given}, and the embedder was opened with "
                f"{'its default' if opened_with is None else opened_with}: calls share batches, so it is set once, as "
                f"Embedder(…, batch_tokens={given})"
            )

    def _encode(
        self,
        cancellation: Cancellation | None,
        texts: Any,
        *,
        batch_tokens: int | None = None,
        show_progress: bool = False,
        normalize: bool = False,
        dimensions: int | None = None,
        prompt_name: str | None = None,
        prompt: str | None = None,
        role: str | None = None,
        task: str | None = None,
        out: Any = None,
        deadline: float | Deadline | None = None,
        alone: bool = False,
    ) -> Vectors:
        # Used for the whole call, which completes even if the embedder is closed meanwhile.
        embedder = self._handle.use()
        until = deadline if isinstance(deadline, Deadline) else Deadline(deadline)
        options = self._options(*self._shape(normalize, dimensions), alone, prompt_name, prompt, role=role, task=task)
        self._check_batch_tokens(batch_tokens)
        shows = flag(show_progress, "show_progress")
        dimension = (options.dimensions if options is not None else 0) or self._dimension

        if isinstance(texts, str):
            rows = Rows(dimension, 1, out)
            one = one_text(texts)
            self._encode_into(cancellation, one, options, until, embedder, rows, 0)
            row: Vectors = rows.result(1)[0]
            return row

        source = source_of(texts)
        if not isinstance(source, Source):
            rows = Rows(dimension, None, out)
            count = 0
            with progress_bar(None, shows, self._inputs, self._doing) as advance:
                for vectors in self._windows(chunks(source), options, 0, until, embedder, cancellation):
                    rows.append(count, vectors)
                    count += len(vectors)
                    advance(len(vectors))
            return rows.result(count)

        rows = Rows(dimension, source.count, out)
        self._in_parts(
            source,
            shows,
            lambda first, part: self._encode_into(cancellation, part, options, until, embedder, rows, first),
        )
        return rows.result(source.count)

    def _windows(
        self,
        parts: Iterator[tuple[int, Texts]],
        options: EncodeOptions | None,
        window_texts: int,
        until: Deadline,
        embedder: Owner,
        cancellation: Cancellation | None,
    ) -> Iterator[Vectors]:
        """Pushes texts while there is room, and otherwise yields windows."""
        functions = library()
        # The stream keeps what it needs, even if the embedder is closed. No frame refers to its owner, so closing it
        # destroys it.
        handle = Handle(Owner(functions.lb_stream_destroy), "stream")
        windows = sized(_abi.lb_stream_options)
        windows.window_texts = window_texts
        check(functions.lb_stream_open(embedder, options and byref(options), byref(windows), handle.use().out))
        taken = c_size_t()
        counted = sized(_abi.lb_encode_stats)
        try:
            for _, part in parts:
                pushed = 0
                while pushed < part.count:
                    code = functions.lb_stream_push(
                        handle.use(), part.pointer_to(pushed), part.count - pushed, byref(taken)
                    )
                    check(code)
                    pushed += taken.value
                    if pushed < part.count:
                        vectors = self._pull(handle, until, cancellation)
                        counted = self._count(handle, counted)
                        yield vectors
            check(functions.lb_stream_finish(handle.use()))
            while len(vectors := self._pull(handle, until, cancellation)):
                counted = self._count(handle, counted)
                yield vectors
        except (KeyboardInterrupt, GeneratorExit):
            _close_soon(handle)
            raise
        except BaseException:
            handle.close()
            raise
        else:
            handle.close()

    def _count(self, handle: Handle, before: _abi.lb_encode_stats) -> _abi.lb_encode_stats:
        """Adds what a stream has done since `before` to `stats`. Returns its totals."""
        now = sized(_abi.lb_encode_stats)
        check(library().lb_stream_stats(handle.use(), byref(now)))
        since = sized(_abi.lb_encode_stats)
        for name in ("texts", "tokens", "padded_tokens", "truncated_texts", "fallback_texts", "seconds"):
            setattr(since, name, getattr(now, name) - getattr(before, name))
        self._add(since)
        return now

    def _pull(self, handle: Handle, until: Deadline, cancellation: Cancellation | None) -> Vectors:
        """Returns a copy of the next window, because the stream reuses its memory. A window without rows ends the
        stream."""
        functions = library()
        window = sized(_abi.lb_window)
        in_slices = cancellation is None and on_main_thread()
        while True:
            call = call_options(until, cancellation)
            is_slice = in_slices and (call is None or call.timeout_ms > _SLICE_MS)
            if is_slice:
                call = call or sized(_abi.lb_call_options)
                call.timeout_ms = _SLICE_MS
            code = functions.lb_stream_pull(handle.use(), call and byref(call), byref(window))
            if code == _abi.LB_DEADLINE_EXCEEDED and is_slice:
                continue
            check(code)
            return dense_rows(window.results).copy()
