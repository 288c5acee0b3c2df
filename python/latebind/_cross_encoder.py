"""Scores texts together, such as documents for a query: CrossEncoder."""

from __future__ import annotations

from collections.abc import Iterable
from ctypes import byref
from typing import Any

import numpy as np

from . import _abi
from ._arguments import flag, positive
from ._call import Cancellation, Deadline, Owner, awaited
from ._library import library, owned_text, sized
from ._out import Rows, Vectors
from ._pairs import Candidates, Pairs, pairs_of
from ._text_model import TextModel
from ._texts import Source, Texts
from .errors import CallerError


class CrossEncoder(TextModel):
    """A model that gives scores for two texts together, ready to score: a reranker, or a classifier of pairs.

    Safe in many threads, whose pairs share batches. Pickled, it is its arguments, and opens again where it lands. A
    process made by fork() cannot use one that its parent has opened: every call raises ForkedError there.

    Args:
        model: a folder that sentence-transformers' CrossEncoder loads, a bundle, or a name on the hub ("ORG/NAME",
            "ORG/NAME@REVISION"), which is loaded once and kept in the hub's cache.
        device, precision, strict, **settings: as for Embedder.

    Raises:
        CallerError: no model, one that gives vectors, or an unknown setting. MachineError: no device can run it, or a
            library is missing.
    """

    _what = "CrossEncoder"
    _inputs = "pair"
    _doing = "Scoring"
    _functions = "lb_cross_encoder"
    _kind = "cross-encoder"

    def predict(
        self,
        pairs: Iterable[Any],
        *,
        raw: bool = False,
        max_tokens: int | None = None,
        show_progress: bool = False,
        deadline: float | None = None,
        alone: bool = False,
    ) -> Any:
        """The scores of pairs of texts, as the predict() of sentence-transformers' CrossEncoder.

        Args:
            pairs: a list, tuple or iterator of pairs: tuples or lists of two str; an array or table of two columns; or
                a single pair.
            raw: the network's numbers (logits) as they are. Otherwise they are what the model makes scores of them by:
                Sigmoid, or nothing.
            max_tokens: a pair is cut to so many, special tokens included, the longer text first; by default to the
                model's limit.
            show_progress: shows a bar, if tqdm is installed.
            deadline: seconds from now after which the call fails with TransientError (DEADLINE_EXCEEDED).
            alone: in batches that no pair of another call shares, so that the same call on the same device gives the
                same bits whatever others do.

        Returns:
            float32[n] in the order of the pairs, of a model with one label; of others float32[n, labels]. For a single
            pair a float32, or float32[labels].

        Raises:
            CallerTypeError: something is no pair, or no text (None, nan, bytes); the message has its place,
                "pairs[3][1]". CallerError: a pair of one text or three; a lone surrogate.
            TransientError: the deadline has passed, or the device failed and no other could answer.
            ClosedError, ForkedError: the model cannot be used any more, or here.
        """
        return self._predict(
            None, pairs, raw=raw, max_tokens=max_tokens, show_progress=show_progress, deadline=deadline, alone=alone
        )

    async def apredict(self, pairs: Iterable[Any], **arguments: Any) -> Any:
        """predict() in a thread of the event loop's executor. Cancelling the task cancels the call."""
        arguments["deadline"] = Deadline(arguments.get("deadline"))  # from now on, also where no thread is free
        return await awaited(lambda cancellation: self._predict(cancellation, pairs, **arguments))

    def rank(
        self,
        query: str,
        documents: Iterable[str] | Any,
        top_k: int | None = None,
        return_documents: bool = False,
        *,
        raw: bool = False,
        max_tokens: int | None = None,
        show_progress: bool = False,
        deadline: float | None = None,
        alone: bool = False,
    ) -> list[dict[str, Any]]:
        """Documents by their scores for a query, as the rank() of sentence-transformers' CrossEncoder.

        Args:
            query: a str.
            documents: all that Embedder.encode() takes, but a str. Arrow arrays are read in place.
            top_k: how many are wanted; all, if it is not given.
            return_documents: with their texts.
            raw, max_tokens, show_progress, deadline, alone: as for predict().

        Returns:
            [{"corpus_id": position, "score": float}], highest score first, of equal ones the earlier document; with
            "text" where that was asked for.

        Raises:
            CallerError: the model has several labels; and as predict().
        """
        return self._rank(
            None,
            query,
            documents,
            top_k,
            return_documents,
            raw=raw,
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
        """rank() in a thread of the event loop's executor. Cancelling the task cancels the call."""
        arguments["deadline"] = Deadline(arguments.get("deadline"))
        return await awaited(
            lambda cancellation: self._rank(cancellation, query, documents, top_k, return_documents, **arguments)
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """What each score of a pair is for, as the model names it: one, of most models that rank."""
        return self._labels

    # -- Inside --------------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        opened = self._handle.use()
        count = int(self._function("label_count")(opened))
        self._labels = tuple(owned_text(self._function("label"), opened, index) for index in range(count))

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
        max_tokens: Any = None,
        show_progress: Any = False,
        deadline: float | Deadline | None = None,
        alone: Any = False,
    ) -> Vectors:
        """float32[n, labels]"""
        until = deadline if isinstance(deadline, Deadline) else Deadline(deadline)
        options = sized(_abi.lb_score_options)
        options.max_tokens = positive(max_tokens, "max_tokens")
        options.raw = int(flag(raw, "raw"))
        options.alone = int(flag(alone, "alone"))
        rows = Rows(len(self._labels), source.count, None)

        def score(first: int, part: Texts) -> None:
            self._compute(
                cancellation,
                part,
                until,
                lambda limits, stats: library().lb_cross_encoder_score(
                    opened,
                    part.pointer,
                    part.count,
                    byref(options),
                    limits,
                    rows.address(first),
                    rows.left(first),
                    stats,
                ),
            )

        self._in_parts(source, flag(show_progress, "show_progress"), score)
        return rows.result(source.count)
