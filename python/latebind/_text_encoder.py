"""The base of models that compute dense or sparse vectors of texts: TextEncoder."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from ctypes import byref, c_void_p
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from . import _abi
from ._arguments import flag, positive, role_number
from ._call import Cancellation, Deadline, Owner, awaited
from ._library import c_text, check, library, sized
from ._memory import memory_at
from ._prompts import config_of, default_prompt_of, prompts_of
from ._text_model import EncodeOptions, TextModel
from ._texts import Source, Texts, chunks, source_of
from .errors import CallerError

Encoded = TypeVar("Encoded")
Ids = npt.NDArray[np.int32]


class TextEncoder(TextModel, Generic[Encoded]):
    """A TextModel with prompts. Subclasses define its vectors."""

    def encode(self, texts: str | Iterable[str] | Any, *_: Any, **arguments: Any) -> Encoded:
        """Computes the vectors of texts."""
        raise NotImplementedError

    def encode_query(self, texts: str | Iterable[str] | Any, **arguments: Any) -> Encoded:
        """Calls encode() for queries: with `query_prompt` unless another prompt is given, and through a router's query
        route."""
        return self.encode(texts, **{"role": "query", **arguments})

    def encode_document(self, texts: str | Iterable[str] | Any, **arguments: Any) -> Encoded:
        """Calls encode() for documents: with `document_prompt` unless another prompt is given, and through a router's
        document route."""
        return self.encode(texts, **{"role": "document", **arguments})

    async def aencode(self, texts: str | Iterable[str] | Any, **arguments: Any) -> Encoded:
        """Runs encode() in the event loop's executor. Cancelling the task cancels the call."""
        arguments["deadline"] = Deadline(arguments.get("deadline"))  # starts now, even if no thread is free
        return await awaited(lambda cancellation: self._encode(cancellation, texts, **arguments))

    def tokenize(
        self,
        texts: str | Iterable[str] | Any,
        *,
        max_tokens: int | None = None,
        offsets: bool = False,
        prompt_name: str | None = None,
        prompt: str | None = None,
        role: str | None = None,
    ) -> Any:
        """Returns the token ids of texts, including special tokens, truncated to `max_tokens` (the model's limit by
        default).

        Args:
            texts, prompt_name, prompt, role: see encode(), which uses the same ids.
            offsets: also return where each token begins and ends in the prompt and the text, in characters: (prompt +
                text)[begin:end]; 0 and 0 for special tokens. Slower.

        Returns:
            a list of int32[t], one array per text; int32[t] for a str. With offsets, (int32[t], int64[t, 2]) instead of
                each array.

        Raises:
            CallerError, CallerTypeError: see encode(); or offsets were requested and the tokenizer cannot provide them.
        """
        found: list[Any] = []
        for part, index, tokens in self._tokens(texts, max_tokens, prompt_name, prompt, role, offsets):
            ids = _ids_of(tokens, index).copy()
            if not offsets:
                found.append(ids)
            else:
                text = np.concatenate((prompt_of(tokens), part.memory(index)))
                found.append((ids, _offsets_of(tokens, index, len(ids), text)))
        return found[0] if isinstance(texts, str) else found

    def count_tokens(
        self,
        texts: str | Iterable[str] | Any,
        *,
        max_tokens: int | None = None,
        prompt_name: str | None = None,
        prompt: str | None = None,
        role: str | None = None,
    ) -> Any:
        """Counts the tokens of texts after truncation, including special tokens and the prompt.

        Returns:
            int64[n]; an int for a str.
        """
        lists = self._tokens(texts, max_tokens, prompt_name, prompt, role)
        found = np.array([len(_ids_of(list_, index)) for _, index, list_ in lists], np.int64)
        return int(found[0]) if isinstance(texts, str) else found

    @property
    def prompts(self) -> dict[str, str]:
        """The model's prompts by name, from its config_sentence_transformers.json."""
        return dict(self._prompts)

    @property
    def default_prompt(self) -> str:
        """The prompt that encode() puts before each text by default; "" for none."""
        return self._default_prompt

    @property
    def query_prompt(self) -> str:
        """The model's prompt "query"; "" if it has none."""
        return self._prompts.get("query", "")

    @property
    def document_prompt(self) -> str:
        """The first of the model's prompts "document", "passage" and "corpus"; "" if it has none."""
        return next((self._prompts[name] for name in ("document", "passage", "corpus") if name in self._prompts), "")

    # -- Inside --------------------------------------------------------------------------------------------------------

    def _encode(self, cancellation: Cancellation | None, texts: Any, *_: Any, **arguments: Any) -> Encoded:
        raise NotImplementedError

    def _read(self) -> None:
        self._read_config(config_of(self._folder))

    def _read_config(self, config: dict[str, Any]) -> None:
        """Reads config_sentence_transformers.json."""
        self._prompts = prompts_of(config)
        self._default_prompt = default_prompt_of(config, self._prompts)

    def _options(
        self,
        dimensions: int = 0,
        normalizes: bool = False,
        alone: Any = False,
        prompt_name: Any = None,
        prompt: Any = None,
        max_tokens: Any = None,
        role: Any = None,
        task: Any = None,
    ) -> EncodeOptions | None:
        """Returns the options of lb_…(…, options), or None if all are defaults."""
        is_alone = flag(alone, "alone")
        most = positive(max_tokens, "max_tokens")
        if prompt is not None and prompt_name is not None:
            raise CallerError(f"prompt_name is {prompt_name!r} and prompt is {prompt!r}; give one of them")
        has_prompt = prompt is not None or prompt_name is not None
        number = role_number(role)
        has_choice = has_prompt or number or task is not None
        if not dimensions and not normalizes and not is_alone and not most and not has_choice:
            return None
        options = sized(EncodeOptions)
        options.role = number
        if prompt is not None:
            options.prompt = c_text(prompt, "prompt")
        if prompt_name is not None:
            options.prompt_name = c_text(prompt_name, "prompt_name")
            if prompt_name not in self._prompts:  # checked before a stream begins
                known = ", ".join(self._prompts) or "none"
                raise CallerError(f"the model has no prompt {prompt_name!r}; it has: {known}")
        if task is not None:
            options.task = c_text(task, "task")
        options.max_tokens = most
        options.dimensions = dimensions
        options.normalize = int(normalizes)
        options.alone = int(is_alone)
        return options

    def _tokens(
        self,
        texts: Any,
        max_tokens: int | None,
        prompt_name: str | None,
        prompt: str | None,
        role: str | None,
        offsets: bool = False,
    ) -> Generator[tuple[Texts, int, Owner], None, None]:
        """Yields for each text: the group of texts that it belongs to, its position there, and the group's tokens,
        which are valid until the next iteration."""
        options = self._options(max_tokens=max_tokens, prompt_name=prompt_name, prompt=prompt, role=role)
        source = source_of([texts] if isinstance(texts, str) else texts)
        # In small groups, because a call cannot be cancelled and Ctrl-C is noticed between two calls.
        parts = source.parts(1024) if isinstance(source, Source) else chunks(source)
        functions = library()
        tokenizer = self._open_tokenizer()
        encode = functions.lb_tokenizer_encode_with_offsets if offsets else functions.lb_tokenizer_encode_with
        try:
            for _, part in parts:
                tokens = Owner(functions.lb_token_list_destroy)
                try:
                    check(encode(tokenizer, part.pointer, part.count, options and byref(options), tokens.out))
                    for index in range(part.count):
                        yield part, index, tokens
                finally:
                    tokens.close()
        finally:
            tokenizer.close()


def _ids_of(tokens: Owner, index: int) -> Ids:
    """Returns the ids of one text of a list, in the list's memory."""
    ids = _abi.lb_token_ids()
    check(library().lb_token_list_get(tokens, index, byref(ids), None))
    return memory_at(ids.ids, np.int32, ids.count)


def prompt_of(tokens: Owner) -> npt.NDArray[np.uint8]:
    """Returns the bytes of the prompt before each text of a list, in the list's memory."""
    prompt = _abi.lb_text()
    check(library().lb_token_list_prompt(tokens, byref(prompt)))
    return memory_at(c_void_p.from_buffer(prompt).value, np.uint8, prompt.size)


def _offsets_of(tokens: Owner, index: int, count: int, text: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Returns the offsets of one text, in characters. `text` has its bytes."""
    first = c_void_p()
    check(library().lb_token_list_offsets(tokens, index, byref(first)))
    characters = np.zeros(len(text) + 1, np.int64)  # for each byte: how many characters begin before it
    np.cumsum((text & 0xC0) != 0x80, out=characters[1:])
    found: npt.NDArray[np.int64] = characters[memory_at(first.value, np.uintp, (count, 2))]
    return found
