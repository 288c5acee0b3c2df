"""What models that give vectors for texts have in common, whether dense or sparse ones: TextEncoder."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from . import _abi
from ._arguments import flag, positive, role_number
from ._call import Cancellation, Deadline, awaited
from ._library import c_text, sized
from ._prompts import config_of, default_prompt_of, prompts_of
from ._text_model import TextModel
from .errors import CallerError

Encoded = TypeVar("Encoded")


class TextEncoder(TextModel, Generic[Encoded]):
    """A TextModel with prompts that are put before texts. What its vectors are is left to whoever derives of it."""

    def encode(self, texts: str | Iterable[str] | Any, *_: Any, **arguments: Any) -> Encoded:
        """The vectors of texts."""
        raise NotImplementedError

    def encode_query(self, texts: str | Iterable[str] | Any, **arguments: Any) -> Encoded:
        """encode() of queries: with `query_prompt`, unless another prompt is given, and in their way of a router."""
        return self.encode(texts, **{"role": "query", **arguments})

    def encode_document(self, texts: str | Iterable[str] | Any, **arguments: Any) -> Encoded:
        """encode() of documents: with `document_prompt`, unless another prompt is given, and in their way of a router."""
        return self.encode(texts, **{"role": "document", **arguments})

    async def aencode(self, texts: str | Iterable[str] | Any, **arguments: Any) -> Encoded:
        """encode() in a thread of the event loop's executor. Cancelling the task cancels the call."""
        arguments["deadline"] = Deadline(arguments.get("deadline"))  # from now on, also where no thread is free
        return await awaited(lambda cancellation: self._encode(cancellation, texts, **arguments))

    @property
    def prompts(self) -> dict[str, str]:
        """The model's prompts by their names, as in its config_sentence_transformers.json."""
        return dict(self._prompts)

    @property
    def default_prompt(self) -> str:
        """What encode() puts before each text where nothing else is given; "" for nothing."""
        return self._default_prompt

    @property
    def query_prompt(self) -> str:
        """The prompt "query" of the model; "" if it has none."""
        return self._prompts.get("query", "")

    @property
    def document_prompt(self) -> str:
        """The prompt "document", "passage" or "corpus" of the model: the first that it has; "" if it has none."""
        return next((self._prompts[name] for name in ("document", "passage", "corpus") if name in self._prompts), "")

    # -- Inside --------------------------------------------------------------------------------------------------------

    def _encode(self, cancellation: Cancellation | None, texts: Any, *_: Any, **arguments: Any) -> Encoded:
        raise NotImplementedError

    def _read(self) -> None:
        self._read_config(config_of(self._folder))

    def _read_config(self, config: dict[str, Any]) -> None:
        """What config_sentence_transformers.json says."""
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
    ) -> _abi.lb_embed_options | None:
        """For lb_…(…, options); None where nothing deviates."""
        is_alone = flag(alone, "alone")
        most = positive(max_tokens, "max_tokens")
        if prompt is not None and prompt_name is not None:
            raise CallerError(f"prompt_name is {prompt_name!r} and prompt is {prompt!r}; give one of them")
        has_prompt = prompt is not None or prompt_name is not None
        number = role_number(role)
        if not dimensions and not normalizes and not is_alone and not most and not has_prompt and not number:
            return None
        options = sized(_abi.lb_embed_options)
        options.role = number
        if prompt is not None:
            options.prompt = c_text(prompt, "prompt")
        if prompt_name is not None:
            options.prompt_name = c_text(prompt_name, "prompt_name")
            if prompt_name not in self._prompts:  # before a stream is begun
                known = ", ".join(self._prompts) or "none"
                raise CallerError(f"the model has no prompt {prompt_name!r}; it has: {known}")
        options.max_tokens = most
        options.dimensions = dimensions
        options.normalize = int(normalizes)
        options.alone = int(is_alone)
        return options
