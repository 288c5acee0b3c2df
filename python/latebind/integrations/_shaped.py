"""The base of the sentence-transformers replacements: unsupported arguments with reasons, prompts, tensors."""

from __future__ import annotations

import os
from typing import Any, ClassVar, cast

from .._arguments import flag, optional_text, positive
from .._text_model import TextModel
from ..errors import CallerError, CallerTypeError
from ._common import Late, not_installed

_ONCE = "devices and precision are chosen once, as {kind}(…, device=…, precision=…)"
_NO_MODULES = "it contains no PyTorch modules"
_NO_MODULE = f"{_NO_MODULES}; what is looked for in one is here: model.max_seq_length, model.{{engine}}.folder"
_NO_TRAINING = "Latebind does not support training"
_NO_POOL = "one process uses the whole device; latebind.bulk distributes texts over machines"
_UNCHANGED = "the model is not changed: its folder is model.{engine}.folder"

# Members of sentence-transformers' classes that are missing here, and why.
_ABSENT = {
    **dict.fromkeys(("to", "cpu", "cuda", "half", "float", "bfloat16"), _ONCE),
    **dict.fromkeys(("modules", "children", "parameters", "state_dict", "forward", "transformers_model"), _NO_MODULES),
    **dict.fromkeys(("_first_module", "_last_module"), _NO_MODULE),
    **dict.fromkeys(("fit", "train", "old_fit", "evaluate", "model_card_data"), _NO_TRAINING),
    **dict.fromkeys(("start_multi_process_pool", "stop_multi_process_pool", "encode_multi_process"), _NO_POOL),
    **dict.fromkeys(("save", "save_pretrained", "push_to_hub", "save_to_hub"), _UNCHANGED),
}

# Arguments of the constructors that are not supported, and why.
_OF_PYTORCH = "it is for the PyTorch model; pass settings of docs/configuration.md as keywords"
_NO_CACHE = "models are in the hub's cache (HF_HUB_CACHE); compiled models are in the folder that 'cache.folder' names"
_REFUSED = {
    "modules": _NO_MODULES,
    "cache_folder": _NO_CACHE,
    "cache_dir": _NO_CACHE,
    "local_files_only": "set HF_HUB_OFFLINE=1",
    "token": "set HF_TOKEN",
    "use_auth_token": "set HF_TOKEN",
    "model_kwargs": f"{_OF_PYTORCH}, and precision is one of them",
    "automodel_args": f"{_OF_PYTORCH}, and precision is one of them",
    "processor_kwargs": _OF_PYTORCH,
    "tokenizer_kwargs": _OF_PYTORCH,
    "tokenizer_args": _OF_PYTORCH,
    "config_kwargs": _OF_PYTORCH,
    "config_args": _OF_PYTORCH,
    "classifier_dropout": _NO_TRAINING,
    "keep_in_fp32_modules": f"{_OF_PYTORCH}, and precision is one of them",
    "model_card_data": _NO_TRAINING,
    "backend": 'choose the runtime with device="openvino" or device="onnxruntime"',
}
# Values of these arguments that request nothing.
_NOTHING: tuple[Any, ...] = (None, False, {}, [], "torch")


class _AbsentError(CallerError, AttributeError):  # type: ignore[misc]  # the `name` of both is a str
    """A member of sentence-transformers' classes that is missing here."""


def refuse_settings(settings: dict[str, Any]) -> None:
    """Removes arguments of sentence-transformers from a model's settings, and refuses those that have an effect."""
    for name, reason in _REFUSED.items():
        value = settings.pop(name, None)
        if not any(type(value) is type(nothing) and value == nothing for nothing in _NOTHING):
            raise CallerError(f"{name}: {reason}")
    # Ignored, because known models need no remote code and others are refused.
    flag(settings.pop("trust_remote_code", None) or False, "trust_remote_code")


def at_revision(model: Any, revision: str | None) -> Any:
    """Returns a name on the hub with its revision. A folder is returned unchanged."""
    if revision is None or isinstance(model, TextModel) or os.path.exists(model):
        return model
    return f"{os.fspath(model)}@{optional_text(revision, 'revision')}"


def converted(numbers: Any, is_single: bool, to_numpy: Any, to_tensor: Any) -> Any:
    """Converts numbers to an array, a tensor, or a list with a tensor per text."""
    if flag(to_numpy, "convert_to_numpy") and not flag(to_tensor, "convert_to_tensor"):
        return numbers
    try:
        import torch
    except ImportError as error:
        raise not_installed(error, "torch, for convert_to_tensor=True or convert_to_numpy=False,", "torch") from None
    tensor = torch.as_tensor(numbers)
    return tensor if to_tensor or is_single else list(tensor)


class Shaped:
    """The common behaviour of the replacements. A subclass names its underlying model (`_engine`) and what it lacks."""

    _engine: ClassVar[str]
    _absent: ClassVar[dict[str, str]]
    _late: Late[Any]

    #: The prompts by name.
    prompts: dict[str, str]
    #: The prompt that is used by default.
    default_prompt_name: str | None

    @property
    def device(self) -> Any:
        """The device setting that the model was opened with."""
        return self._model().settings["device"]

    @property
    def max_seq_length(self) -> int:
        """The number of tokens to which texts, or pairs together, are truncated. Setting it reopens the model."""
        return self._model().max_tokens

    @max_seq_length.setter
    def max_seq_length(self, value: int) -> None:
        self._late = self._late.cut_to(positive(value, "max_seq_length"))

    def eval(self) -> Any:
        """Does nothing, because the model cannot be trained."""
        return self

    def __getattr__(self, name: str) -> Any:
        if name in _ABSENT or name in self._absent:
            reason = self._absent.get(name) or _ABSENT[name]
            raise _AbsentError(f"{name}: {reason.format(kind=type(self).__name__, engine=self._engine)}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getitem__(self, number: Any) -> Any:
        reason = _NO_MODULE.format(engine=self._engine)
        tokens = ", model.tokenize()" if hasattr(type(self), "tokenize") else ""
        raise CallerTypeError(f"model[{number!r}]: {reason}{tokens}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model()!r})"

    # -- Inside --------------------------------------------------------------------------------------------------------

    def _model(self) -> TextModel:
        """Returns the underlying model."""
        return cast(TextModel, self._late.opened)

    def _set_prompts(self, own: dict[str, str], given: Any, default_name: Any) -> None:
        """`own` are the model's prompts."""
        if given is not None and not isinstance(given, dict):
            raise CallerTypeError(f"prompts is {type(given).__name__}; give a dict")
        self.prompts = {**own, **(given or {})}
        for name, prompt in self.prompts.items():
            optional_text(name, "the name of a prompt")
            optional_text(prompt, f"the prompt {name!r}")
        self.default_prompt_name = optional_text(default_name, "default_prompt_name")
        self._prompt(None, None)  # rejects an unknown name

    def _prompt(self, name: str | None, text: str | None) -> str:
        """Returns what to put before each text: the given text, otherwise the named prompt, otherwise the default."""
        if text is not None:
            return str(optional_text(text, "prompt"))
        name = optional_text(self.default_prompt_name if name is None else name, "prompt_name")
        if name is None:
            return ""
        if name not in self.prompts:
            raise CallerError(f"there is no prompt {name!r}; known: {', '.join(self.prompts) or 'none'}")
        return self.prompts[name]

    def _refuse(self, batch_size: Any, device: Any, pool: Any, chunk_size: Any) -> None:
        """Refuses arguments of a call that cannot be honoured."""
        if not positive(batch_size, "batch_size"):
            raise CallerTypeError("batch_size is None; give an int")
        if device is not None and str(device) != str(self.device):
            once = _ONCE.format(kind=type(self).__name__)
            raise CallerError(f"device is {device!r}, and the model was opened with {self.device!r}: {once}")
        for name, value in (("pool", pool), ("chunk_size", chunk_size)):
            if value is not None:
                raise CallerError(f"{name}: {_NO_POOL}")
