"""Encodes texts as sparse vectors: SparseEncoder."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ._arguments import flag, positive
from ._call import Cancellation, Deadline
from ._results import sparse_rows
from ._sparse_vectors import Rows, SparseVectors, Vocabulary, joined, largest_of
from ._text_encoder import TextEncoder
from ._texts import Texts, whole_source_of
from .errors import CallerError


class SparseEncoder(TextEncoder[SparseVectors]):
    """A sparse encoder (SPLADE): a model that weights the entries of its vocabulary for a text.

    It is thread-safe, and concurrent calls share batches. Pickling keeps the arguments, and unpickling opens the model
    again. In a forked child, every call on an object that the parent opened raises ForkedError.

    Args:
        model: a folder of sentence-transformers' SparseEncoder, a bundle, or a name on the hub ("ORG/NAME",
            "ORG/NAME@REVISION"), which is downloaded once into the hub's cache.
        device, precision, strict, **settings: see Embedder.

    Raises:
        CallerError: this is not such a model, or a setting is unknown.
        MachineError: no device can run the model, or a library is missing.
    """

    _what = "SparseEncoder"
    _inputs = "text"
    _doing = "Encoding"
    _outputs = ("sparse",)
    _kind = "sparse encoder"

    def encode(
        self,
        texts: str | Iterable[str] | Any,
        *,
        max_active_dims: int | None = None,
        max_tokens: int | None = None,
        show_progress: bool = False,
        prompt_name: str | None = None,
        prompt: str | None = None,
        role: str | None = None,
        deadline: float | None = None,
        alone: bool = False,
    ) -> SparseVectors:
        """Computes the sparse vectors of texts.

        Args:
            texts: see Embedder.encode(). An iterator is read to its end first.
            max_active_dims: keep only this many weights per text, the largest; of equal weights, those with lower
                indices.
            max_tokens: truncates each text to this many tokens, including special tokens; the model's limit by default.
            show_progress: shows a progress bar if tqdm is installed.
            prompt_name, prompt, role: see Embedder.encode().
            deadline: seconds from now after which the call fails with TransientError (DEADLINE_EXCEEDED).
            alone: do not share batches with other calls, so that the same call on the same device gives identical bits
                regardless of other calls.

        Returns:
            the vectors in the order of the texts; a single one for a str.

        Raises:
            CallerTypeError: an element is not a text (None, nan, bytes, a null); the message has its index.
            CallerError: a text has a lone surrogate, whose index is named; the prompt is unknown; or max_active_dims
                exceeds what the model keeps.
            TransientError: the deadline has passed, or the device failed and no other could answer.
            ClosedError, ForkedError: the model was closed, or opened by a parent process.
        """
        return self._encode(
            None,
            texts,
            max_active_dims=max_active_dims,
            max_tokens=max_tokens,
            show_progress=show_progress,
            prompt_name=prompt_name,
            prompt=prompt,
            role=role,
            deadline=deadline,
            alone=alone,
        )

    @property
    def vocabulary_size(self) -> int:
        """The length of a vector, including zeros. Indices are smaller."""
        return self._vocabulary.size

    @property
    def max_active_dims(self) -> int | None:
        """The number of weights that the model keeps per text; None if it keeps all that are not zero."""
        return self._max_active_dims

    # -- Inside --------------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        super()._read()
        self._vocabulary = Vocabulary(self._folder, self._dimension, self._open_tokenizer())

    def _read_config(self, config: dict[str, Any]) -> None:
        super()._read_config(config)
        self._max_active_dims: int | None = config.get("max_active_dims")

    def _gives(self) -> str:
        return f"{self.vocabulary_size} entries"

    def _encode(
        self,
        cancellation: Cancellation | None,
        texts: Any,
        *,
        max_active_dims: Any = None,
        max_tokens: Any = None,
        show_progress: Any = False,
        prompt_name: Any = None,
        prompt: Any = None,
        role: Any = None,
        deadline: float | Deadline | None = None,
        alone: Any = False,
    ) -> SparseVectors:
        opened = self._handle.use()
        until = deadline if isinstance(deadline, Deadline) else Deadline(deadline)
        options = self._options(alone=alone, prompt_name=prompt_name, prompt=prompt, max_tokens=max_tokens, role=role)
        most = self._checked_most(max_active_dims)
        source = whole_source_of([texts] if isinstance(texts, str) else texts)
        found: list[Rows] = []

        def encode(_: int, part: Texts) -> None:
            made = self._encode_as(cancellation, part, options, until, opened)
            found.append(largest_of(*sparse_rows(made), most))

        self._in_parts(source, flag(show_progress, "show_progress"), encode)
        return SparseVectors(*joined(found), self._vocabulary)

    def _checked_most(self, given: Any) -> int:
        most = positive(given, "max_active_dims")
        if self._max_active_dims is not None and most > self._max_active_dims:
            raise CallerError(
                f"max_active_dims is {most}, and the model keeps {self._max_active_dims} weights of a text; a larger "
                "number in its config_sentence_transformers.json is needed"
            )
        return most
