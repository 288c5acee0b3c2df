"""Scores pairs of texts, such as a query and a document: CrossEncoder."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ._arguments import flag, positive
from ._call import Cancellation, Deadline, Owner, awaited
from ._library import c_text, library, owned_text, sized
from ._out import Rows, Vectors
from ._pairs import Candidates, Pairs, pairs_of
from ._text_model import EncodeOptions, TextModel
from ._texts import Source, Texts
from .errors import CallerError


class CrossEncoder(TextModel):
    """A model that scores two texts together: a reranker, or a classifier of pairs.

    It is thread-safe, and concurrent calls share batches. Pickling keeps the arguments, and unpickling opens the model
    again. In a forked child, every call on an object that the parent opened raises ForkedError.

    Args:
        model: a folder of sentence-transformers' CrossEncoder, a bundle, or a name on the hub ("ORG/NAME",
            "ORG/NAME@REVISION"), which is downloaded once into the hub's cache.
        device, precision, strict, **settings: see Embedder.

    Raises:
        CallerError: this is not such a model, or a setting is unknown.
        MachineError: no device can run the model, or a library is missing.
    """

    _what = "CrossEncoder"
    _inputs = "pair"
    _doing = "Scoring"
    _outputs = ("score",)
    _kind = "cross-encoder"

    def predict(
        self,
        pairs: Iterable[Any],
        *,
        raw: bool = False,
        instruct: str | None = None,
        prompt_name: str | None = None,
        max_tokens: int | None = None,
        show_progress: bool = False,
        deadline: float | None = None,
        alone: bool = False,
    ) -> Any:
        """Scores pairs of texts, as sentence-transformers' CrossEncoder.predict() does.

        Args:
            pairs: a list, tuple or iterator of pairs, each a tuple or list of two str; an array or table with two
                columns; or a single pair.
            raw: return the network's numbers (logits) unchanged. By default they pass through the model's activation: a
                sigmoid, or none.
            instruct: the instruction, for a model that takes one; "" for no instruction. None: the model's default.
            prompt_name: the name of one of the model's prompts, as the instruction.
            max_tokens: truncates each pair to this many tokens, including special tokens, the longer text first; the
                model's limit by default.
            show_progress: shows a progress bar if tqdm is installed.
            deadline: seconds from now after which the call fails with TransientError (DEADLINE_EXCEEDED).
            alone: do not share batches with other calls, so that the same call on the same device gives identical bits
                regardless of other calls.

        Returns:
            float32[n] in the order of the pairs for a model with one label, otherwise float32[n, labels]. For a single
                pair, float32 or float32[labels].

        Raises:
            CallerTypeError: an element is not a pair, or not a text (None, nan, bytes); the message has its place,
                "pairs[3][1]".
            CallerError: a pair does not have two texts, a text has a lone surrogate, or the model has no prompt of this
                name.
            TransientError: the deadline has passed, or the device failed and no other could answer.
            ClosedError, ForkedError: the model was closed, or opened by a parent process.
        """
        return self._predict(
            None,
            pairs,
            raw=raw,
            instruct=instruct,
            prompt_name=prompt_name,
            max_tokens=max_tokens,
            show_progress=show_progress,
            deadline=deadline,
            alone=alone,
        )

    async def apredict(self, pairs: Iterable[Any], **arguments: Any) -> Any:
        """Runs predict() in the event loop's executor. Cancelling the task cancels the call."""
        arguments["deadline"] = Deadline(arguments.get("deadline"))  # starts now, even if no thread is free
        return await awaited(lambda cancellation: self._predict(cancellation, pairs, **arguments))

    def rank(
        self,
        query: str,
        documents: Iterable[str] | Any,
        top_k: int | None = None,
        return_documents: bool = False,
        *,
        raw: bool = False,
        instruct: str | None = None,
        prompt_name: str | None = None,
        max_tokens: int | None = None,
        show_progress: bool = False,
        deadline: float | None = None,
        alone: bool = False,
    ) -> list[dict[str, Any]]:
        """Ranks documents by their scores for a query, as sentence-transformers' CrossEncoder.rank() does.

        Args:
            query: a str.
            documents: any input of Embedder.encode() except a str. Arrow arrays are read in place.
            top_k: how many documents to return; all by default.
            return_documents: adds the texts to the result.
            raw, instruct, prompt_name, max_tokens, show_progress, deadline, alone: see predict().

        Returns:
            [{"corpus_id": position, "score": float}], highest score first, equal scores in the order of the documents;
                with "text" if requested.

        Raises:
            CallerError: the model has several labels.
            the other errors of predict()
        """
        return self._rank(
            None,
            query,
            documents,
            top_k,
            return_documents,
            raw=raw,
            instruct=instruct,
            prompt_name=prompt_name,
            max_tokens=max_tokens,
            show_progress=show_progress,
            deadline=deadline,
            alone=alone,
        )

    async def arank(
        self,
        query: str,
        documents: Iterable[str] | Any,
        top_k: int | None = None,
        return_documents: bool = False,
        **arguments: Any,
    ) -> list[dict[str, Any]]:
        """Runs rank() in the event loop's executor. Cancelling the task cancels the call."""
        arguments["deadline"] = Deadline(arguments.get("deadline"))
        return await awaited(
            lambda cancellation: self._rank(cancellation, query, documents, top_k, return_documents, **arguments)
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """The model's name for each score of a pair. Most models that rank have one."""
        return self._labels

    # -- Inside --------------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        opened = self._handle.use()
        self._labels = tuple(owned_text(library().lb_encoder_label, opened, index) for index in range(self._dimension))

    def _gives(self) -> str:
        return f"{len(self._labels)} label{'s' if len(self._labels) != 1 else ''}"

    def _predict(self, cancellation: Cancellation | None, pairs: Any, **arguments: Any) -> Any:
        opened = self._handle.use()
        given, is_single = pairs_of(pairs)
        scores = self._score(cancellation, Pairs(given, is_single), opened, **arguments)
        found = scores[:, 0] if len(self._labels) == 1 else scores
        return found[0] if is_single else found

    def _rank(
        self,
        cancellation: Cancellation | None,
        query: Any,
        documents: Any,
        top_k: int | None = None,
        return_documents: bool = False,
        **arguments: Any,
    ) -> list[dict[str, Any]]:
        opened = self._handle.use()
        self._refuse_several_labels()
        most = positive(top_k, "top_k")
        with_texts = flag(return_documents, "return_documents")
        source = Candidates(query, documents)
        scores = self._score(cancellation, source, opened, **arguments)[:, 0]
        order = np.argsort(-scores, kind="stable")[: most or None].tolist()
        found: list[dict[str, Any]] = [{"corpus_id": index, "score": float(scores[index])} for index in order]
        if with_texts:
            for each in found:
                each["text"] = source.text(each["corpus_id"])
        return found

    def _refuse_several_labels(self) -> None:
        if len(self._labels) != 1:
            raise CallerError(
                f"{self.model} has {len(self._labels)} labels ({', '.join(self._labels)}), and documents are ranked by "
                "one score; use predict()"
            )

    def _score(
        self,
        cancellation: Cancellation | None,
        source: Source,
        opened: Owner,
        *,
        raw: Any = False,
        instruct: Any = None,
        prompt_name: Any = None,
        max_tokens: Any = None,
        show_progress: Any = False,
        deadline: float | Deadline | None = None,
        alone: Any = False,
    ) -> Vectors:
        """Returns float32[n, labels]."""
        until = deadline if isinstance(deadline, Deadline) else Deadline(deadline)
        options = sized(EncodeOptions)
        options.max_tokens = positive(max_tokens, "max_tokens")
        options.raw_scores = int(flag(raw, "raw"))
        options.alone = int(flag(alone, "alone"))
        if instruct is not None and prompt_name is not None:
            raise CallerError(f"prompt_name is {prompt_name!r} and instruct is {instruct!r}; give one of them")
        if instruct is not None:
            options.prompt = c_text(instruct, "instruct")
        if prompt_name is not None:
            options.prompt_name = c_text(prompt_name, "prompt_name")
        rows = Rows(len(self._labels), source.count, None)

        def score(first: int, part: Texts) -> None:
            self._encode_into(cancellation, part, options, until, opened, rows, first)

        self._in_parts(source, flag(show_progress, "show_progress"), score)
        return rows.result(source.count)
