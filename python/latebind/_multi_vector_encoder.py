"""Encodes texts as one vector per token, and compares them: MultiVectorEncoder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ctypes import POINTER, byref, c_float
from typing import Any

import numpy as np

from . import _abi
from ._arguments import flag
from ._call import Cancellation, Deadline, call_options, interruptible
from ._library import check, library
from ._out import Vectors
from ._results import ragged_rows
from ._text_encoder import TextEncoder, prompt_of
from ._texts import Texts, whole_source_of
from .errors import CallerError, CallerTypeError

# In multiplications. Longer calls are made interruptible.
_LONG_PRODUCTS = 1 << 28


class MultiVectorEncoder(TextEncoder[Any]):
    """A multi-vector encoder (late interaction, ColBERT): a model that gives a vector for each token of a text.

    It is thread-safe, and concurrent calls share batches. Pickling keeps the arguments, and unpickling opens the model
    again. In a forked child, every call on an object that the parent opened raises ForkedError.

    Args:
        model: a folder of sentence-transformers' MultiVectorEncoder (also of PyLate or Stanford), a bundle, or a name
            on the hub ("ORG/NAME", "ORG/NAME@REVISION"), which is downloaded once into the hub's cache.
        device, precision, strict, **settings: see Embedder.

    Raises:
        CallerError: this is not such a model, or a setting is unknown.
        MachineError: no device can run the model, or a library is missing.
    """

    _what = "MultiVectorEncoder"
    _inputs = "text"
    _doing = "Encoding"
    _outputs = ("multi_vector",)
    _kind = "multi-vector encoder"

    def encode(
        self,
        texts: str | Iterable[str] | Any,
        *,
        role: str | None = None,
        normalize: bool = False,
        max_tokens: int | None = None,
        show_progress: bool = False,
        prompt_name: str | None = None,
        prompt: str | None = None,
        deadline: float | None = None,
        alone: bool = False,
    ) -> Any:
        """Computes the vectors of the texts' tokens.

        Args:
            texts: see Embedder.encode(). An iterator is read to its end first.
            role: "query" or "document"; None means documents. Each role has its own marker, length and mask.
            normalize: scale vectors to length 1 even if the model does not.
            max_tokens: truncates each text to this many tokens, including special tokens; the model's limit by default.
            show_progress: shows a progress bar if tqdm is installed.
            prompt_name, prompt: replaces the role's marker.
            deadline: seconds from now after which the call fails with TransientError (DEADLINE_EXCEEDED).
            alone: do not share batches with other calls, so that the same call on the same device gives identical bits
                regardless of other calls.

        Returns:
            a list of float32[t, d] in the order of the texts, with t vectors each; float32[t, d] for a str.

        Raises:
            CallerTypeError: an element is not a text (None, nan, bytes, a null); the message has its index.
            CallerError: a text has a lone surrogate, whose index is named; the prompt or the role is unknown.
            TransientError: the deadline has passed, or the device failed and no other could answer.
            ClosedError, ForkedError: the model was closed, or opened by a parent process.
        """
        return self._encode(
            None,
            texts,
            role=role,
            normalize=normalize,
            max_tokens=max_tokens,
            show_progress=show_progress,
            prompt_name=prompt_name,
            prompt=prompt,
            deadline=deadline,
            alone=alone,
        )

    def scores(self, queries: Any, documents: Any, *, deadline: float | None = None) -> Vectors:
        """Scores documents for queries by MaxSim: the sum, or the mean if the model says so, of each query vector's
        largest product with a vector of the document.

        Args:
            queries, documents: results of encode_query() and encode_document(), or lists of such arrays; a single array
                [t, d] counts as a list of one.
            deadline: see encode().

        Returns:
            float32[n, m]. A document without vectors scores -1e9; a query without vectors scores 0.

        Raises:
            CallerTypeError, CallerError: other inputs, or vectors of another length.
        """
        first, second = self._rows(queries, "queries"), self._rows(documents, "documents")
        found = np.empty((first.rows.count, second.rows.count), np.float32)
        until = Deadline(deadline)
        encoder = self._handle.use()

        def call(cancellation: Cancellation | None) -> None:
            limits = call_options(until, cancellation)
            check(
                library().lb_encoder_compare(
                    encoder,
                    byref(first.rows),
                    byref(second.rows),
                    limits and byref(limits),
                    found.ctypes.data_as(POINTER(c_float)),
                    found.size,
                )
            )

        products = len(first.vectors) * len(second.vectors) * self._dimension
        interruptible(call, None, products > _LONG_PRODUCTS)
        return found

    @property
    def dimension(self) -> int:
        """The number of dimensions of a vector."""
        return self._dimension

    @property
    def max_query_tokens(self) -> int:
        """The number of tokens to which queries are truncated. Documents are truncated to `max_tokens`."""
        return self._max_query_tokens

    # -- Inside --------------------------------------------------------------------------------------------------------

    def _gives(self) -> str:
        return f"{self._dimension} dimensions a token"

    def _encode(
        self,
        cancellation: Cancellation | None,
        texts: Any,
        *,
        role: Any = None,
        normalize: Any = False,
        max_tokens: Any = None,
        show_progress: Any = False,
        prompt_name: Any = None,
        prompt: Any = None,
        deadline: float | Deadline | None = None,
        alone: Any = False,
    ) -> Any:
        opened = self._handle.use()
        until = deadline if isinstance(deadline, Deadline) else Deadline(deadline)
        options = self._options(
            normalizes=flag(normalize, "normalize"),
            alone=alone,
            prompt_name=prompt_name,
            prompt=prompt,
            max_tokens=max_tokens,
            role=role,
        )
        source = whole_source_of([texts] if isinstance(texts, str) else texts)
        found: list[Vectors] = []

        def encode(_: int, part: Texts) -> None:
            found.extend(ragged_rows(self._encode_as(cancellation, part, options, until, opened)))

        self._in_parts(source, flag(show_progress, "show_progress"), encode)
        return found[0] if isinstance(texts, str) else found

    @property
    def query_prompt(self) -> str:
        """What is put before queries, including their marker."""
        return self._before("query")

    @property
    def document_prompt(self) -> str:
        """What is put before documents, including their marker."""
        return self._before("document")

    def _before(self, role: str) -> str:
        found = self._tokens("", None, None, None, role)
        try:
            _, _, tokens = next(found)
            return prompt_of(tokens).tobytes().decode()
        finally:
            found.close()

    def _rows(self, given: Any, what: str) -> _Rows:
        arrays = given if isinstance(given, (list, tuple)) else [given]
        return _Rows(arrays, self._dimension, what)


class _Rows:
    """The vectors of several texts, one after the other, as the library takes them."""

    def __init__(self, arrays: Sequence[Any], dimension: int, what: str) -> None:
        found = []
        for index, given in enumerate(arrays):
            try:
                array = np.asarray(given, np.float32)
            except (TypeError, ValueError):
                raise CallerTypeError(f"{what}[{index}] is {type(given).__name__}, not an array of vectors") from None
            if array.ndim != 2 or array.shape[1] != dimension:
                raise CallerError(
                    f"{what}[{index}] has the shape {array.shape}; vectors of this model are (tokens, {dimension})"
                )
            found.append(array)
        self.vectors = np.concatenate(found) if found else np.empty((0, dimension), np.float32)
        self.vectors = np.ascontiguousarray(self.vectors)
        self._begins = np.zeros(len(found) + 1, np.uintp)
        np.cumsum([len(array) for array in found], out=self._begins[1:])
        self.rows = _abi.lb_ragged_rows(
            len(found),
            dimension,
            self._begins.ctypes.data,
            self.vectors.ctypes.data,
        )
