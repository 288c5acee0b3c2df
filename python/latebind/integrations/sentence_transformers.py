"""A class that is used as that of sentence-transformers is, without torch: SentenceTransformer.

    from latebind.integrations.sentence_transformers import SentenceTransformer

What people give it works, and what cannot is refused by its name, with the reason. `mteb` takes it as one of its
encoders. docs/integrations.md says what differs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arguments import flag, optional_text, positive
from .._embedder import Embedder
from .._prompts import config_of
from ..errors import CallerError, CallerTypeError
from ._common import Encoder, Model, not_installed
from ._vectors import PRECISIONS, SIMILARITIES, normalized, quantized, similarity_of

__all__ = ["SentenceTransformer"]

_ONCE = "devices and precision are chosen once, as SentenceTransformer(…, device=…, precision=…)"
_NO_MODULES = "there are no modules of PyTorch in it"
_NO_TRAINING = "Latebind does not train"
_NO_POOL = "one process uses all that the device has; latebind.bulk spreads texts over machines"
_UNCHANGED = "the model is not changed: its folder is model.embedder.folder"

# What sentence-transformers has and this class has not, and why.
_ABSENT = {
    **dict.fromkeys(("to", "cpu", "cuda", "half", "float", "bfloat16"), _ONCE),
    **dict.fromkeys(("modules", "children", "parameters", "state_dict", "forward", "transformers_model"), _NO_MODULES),
    **dict.fromkeys(("fit", "train", "old_fit", "evaluate", "model_card_data"), _NO_TRAINING),
    **dict.fromkeys(("start_multi_process_pool", "stop_multi_process_pool", "encode_multi_process"), _NO_POOL),
    **dict.fromkeys(("save", "save_pretrained", "push_to_hub", "save_to_hub"), _UNCHANGED),
    "tokenizer": "Latebind's own tokenizer answers: tokenize(), and count_tokens() of model.embedder",
}

# Arguments of the constructor that have no meaning here, and why.
_OF_PYTORCH = "it is for the model in PyTorch; settings of docs/configuration.md are keywords of their own"
_REFUSED = {
    "modules": _NO_MODULES,
    "cache_folder": "models lie in the hub's cache (HF_HUB_CACHE); compiled ones go where 'cache.folder' says",
    "trust_remote_code": "no code of a model is ever run",
    "local_files_only": "set HF_HUB_OFFLINE=1",
    "token": "set HF_TOKEN",
    "use_auth_token": "set HF_TOKEN",
    "model_kwargs": f"{_OF_PYTORCH}, and precision is one of them",
    "processor_kwargs": _OF_PYTORCH,
    "tokenizer_kwargs": _OF_PYTORCH,
    "config_kwargs": _OF_PYTORCH,
    "model_card_data": _NO_TRAINING,
    "backend": 'which runtime computes is chosen as device="openvino" or device="onnxruntime"',
}
# Values of these that ask for nothing.
_NOTHING: tuple[Any, ...] = (None, False, {}, "torch")


class _AbsentError(CallerError, AttributeError):  # type: ignore[misc]  # the `name` of both is a str
    """Something of sentence-transformers that this class has not."""


class SentenceTransformer:
    """A SentenceTransformer whose vectors Latebind computes. Safe in many threads; pickled, it is its arguments.

    Args:
        model_name_or_path: as for latebind.Embedder; or one that is open, which can be shared.
        device: as for latebind.Embedder; None is "auto".
        prompts: prompts by their names, besides those of the model, or instead of them.
        default_prompt_name: the prompt that encode() uses when none is given; None is what the model says.
        similarity_fn_name: "cosine", "dot", "euclidean" or "manhattan"; None is what the model says, else "cosine".
        truncate_dim: only the first numbers of a vector.
        revision: of a model on the hub.
        **settings: all other keywords of latebind.Embedder, such as `precision="bf16"` or `max_tokens=128`.

    Raises:
        CallerError: an argument of sentence-transformers that has no meaning here, with the reason; and as
            latebind.Embedder.
    """

    def __init__(
        self,
        model_name_or_path: Model,
        *,
        device: str | list[str] | tuple[str, ...] | None = None,
        prompts: dict[str, str] | None = None,
        default_prompt_name: str | None = None,
        similarity_fn_name: Any = None,
        truncate_dim: int | None = None,
        revision: str | None = None,
        **settings: Any,
    ) -> None:
        for name, reason in _REFUSED.items():
            value = settings.pop(name, None)
            if not any(type(value) is type(nothing) and value == nothing for nothing in _NOTHING):
                raise CallerError(f"{name}: {reason}")
        if device is not None:
            settings["device"] = device
        self._encoder = Encoder(_at_revision(model_name_or_path, revision), settings)
        _ = self.embedder
        if prompts is not None and not isinstance(prompts, dict):
            raise CallerTypeError(f"prompts is {type(prompts).__name__}; give a dict")
        #: Prompts by their names. "query" and "document" are always there.
        self.prompts: dict[str, str] = {"query": "", "document": "", **self.embedder.prompts, **(prompts or {})}
        for name, prompt in self.prompts.items():
            optional_text(name, "the name of a prompt")
            optional_text(prompt, f"the prompt {name!r}")
        # An empty one is meant, too, where it was given.
        self._given_prompts = {*self.embedder.prompts, *(prompts or {})}
        #: The prompt that encode() uses when none is given.
        self.default_prompt_name: str | None = optional_text(default_prompt_name, "default_prompt_name")
        if default_prompt_name is None:
            self.default_prompt_name = config_of(self.embedder.folder).get("default_prompt_name")
        self._prompt(None, None)  # refuses a name that there is not
        #: Vectors are cut to so many numbers.
        self.truncate_dim: int | None = positive(truncate_dim, "truncate_dim") or None
        if similarity_fn_name is None:
            own = config_of(self.embedder.folder).get("similarity_fn_name")
            similarity_fn_name = own if own in SIMILARITIES else "cosine"
        self.similarity_fn_name = similarity_fn_name

    # -- Vectors -------------------------------------------------------------------------------------------------------

    def encode(
        self,
        inputs: str | Iterable[str] | Any = None,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        output_value: str | None = "sentence_embedding",
        precision: str = "float32",
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: Any = None,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
        pool: Any = None,
        chunk_size: int | None = None,
        *,
        sentences: Any = None,
        **others: Any,
    ) -> Any:
        """The vectors of texts.

        Args:
            inputs: all that latebind.Embedder.encode() takes. `sentences` is its name in older releases.
            prompt_name, prompt: what is put before each text: one of `prompts`, or a text.
            batch_size: not used: batches are formed by tokens (`batch_tokens` of the constructor).
            show_progress_bar: shows one, if tqdm is installed.
            output_value: "sentence_embedding".
            precision: "float32"; or "int8", "uint8", "binary", "ubinary", which are made of the vectors afterwards.
            convert_to_numpy: an array; otherwise a list of tensors, which needs torch.
            convert_to_tensor: a tensor, which needs torch.
            normalize_embeddings: vectors of length 1.
            truncate_dim: only the first numbers of a vector.
            device: None, or the one that the model was opened with. pool, chunk_size: None.
            task_metadata, hf_split, hf_subset, prompt_type: how mteb calls; `inputs` then gives its batches.

        Returns:
            float32[n, d], or float32[d] for a str; int8 or uint8, and an eighth as many numbers for the binary ones.

        Raises:
            CallerError: an argument that cannot be met, by its name; and as latebind.Embedder.encode().
        """
        if (inputs is None) == (sentences is None):
            raise CallerTypeError("give the texts as inputs, or as sentences")
        texts = inputs if sentences is None else sentences
        if "task_metadata" in others:
            texts, prompt = self._of_mteb(texts, others, prompt_name, prompt)
            prompt_name = None
            # mteb has torch loaded, and turns what similarity() makes of these into numbers as only tensors can be.
            convert_to_tensor = convert_to_tensor or "torch" in sys.modules
        others.pop("task", None)  # how encode_query() and encode_document() of sentence-transformers call
        if others:
            raise CallerError(f"encode() has no argument {', '.join(map(repr, others))}")
        self._refuse(output_value, device, pool, chunk_size)
        if not positive(batch_size, "batch_size"):
            raise CallerTypeError("batch_size is None; give an int")
        if precision not in PRECISIONS:
            raise CallerError(f"precision is {precision!r}; known: {', '.join(PRECISIONS)}")
        normalizes = flag(normalize_embeddings, "normalize_embeddings")
        dimensions = positive(truncate_dim, "truncate_dim") or self.truncate_dim
        vectors = self.embedder.encode(
            texts,
            prompt=self._prompt(prompt_name, prompt),
            show_progress=flag(show_progress_bar, "show_progress_bar"),
            normalize=normalizes and not dimensions,
        )
        if dimensions:
            # As sentence-transformers does: what the model itself has normalised is not normalised again.
            vectors = np.ascontiguousarray(vectors[..., :dimensions])
            vectors = normalized(vectors) if normalizes else vectors
        return _converted(quantized(vectors, precision), convert_to_numpy, convert_to_tensor)

    def encode_query(
        self, inputs: Any = None, prompt_name: str | None = None, prompt: str | None = None, *rest: Any, **others: Any
    ) -> Any:
        """encode() with the prompt "query", unless another one is given."""
        if prompt_name is None and prompt is None:
            prompt = self._prompt_for("query")
        return self.encode(inputs, prompt_name, prompt, *rest, **others)

    def encode_document(
        self, inputs: Any = None, prompt_name: str | None = None, prompt: str | None = None, *rest: Any, **others: Any
    ) -> Any:
        """encode() with the prompt "document", "passage" or "corpus", unless another one is given."""
        if prompt_name is None and prompt is None:
            prompt = self._prompt_for("document")
        return self.encode(inputs, prompt_name, prompt, *rest, **others)

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """How alike vectors are: each of the first with each of the second.

        Args:
            embeddings1, embeddings2: n and m vectors of d numbers: arrays, lists, or tensors on the CPU.

        Returns:
            float32[n, m]; a tensor where one was given.
        """
        return similarity_of(self._similarity, embeddings1, embeddings2, False)

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """The same of the first with the first, the second with the second…: float32[n]."""
        return similarity_of(self._similarity, embeddings1, embeddings2, True)

    def tokenize(self, texts: list[str], prompt: str | None = None, **_: Any) -> dict[str, npt.NDArray[np.int64]]:
        """{"input_ids", "attention_mask"}, int64[n, t]. Short texts are padded with 0, where the mask is 0 too. No prompt
        is put before them but one that is given."""
        ids = self.embedder.tokenize([texts] if isinstance(texts, str) else texts, prompt=prompt or "")
        shape = (len(ids), max(map(len, ids), default=0))
        found = {name: np.zeros(shape, np.int64) for name in ("input_ids", "attention_mask")}
        for row, each in enumerate(ids):
            found["input_ids"][row, : len(each)] = each
            found["attention_mask"][row, : len(each)] = 1
        return found

    preprocess = tokenize

    # -- What it is ----------------------------------------------------------------------------------------------------

    @property
    def embedder(self) -> Embedder:
        """What answers."""
        return self._encoder.embedder

    @property
    def device(self) -> Any:
        """What it was opened with."""
        return self.embedder.settings["device"]

    def get_embedding_dimension(self) -> int:
        """Numbers of a vector."""
        dimension = self.embedder.dimension
        return dimension if self.truncate_dim is None else min(dimension, self.truncate_dim)

    def get_sentence_embedding_dimension(self) -> int:
        """Numbers of a vector."""
        return self.get_embedding_dimension()

    @property
    def max_seq_length(self) -> int:
        """Texts are cut to this many tokens. Setting it opens the model again."""
        return self.embedder.max_tokens

    @max_seq_length.setter
    def max_seq_length(self, value: int) -> None:
        settings = {**self._encoder.settings, "max_tokens": positive(value, "max_seq_length")}
        settings.pop("embedding.max_tokens", None)
        encoder = Encoder(self._encoder.model, settings)
        _ = encoder.embedder
        self._encoder = encoder

    def get_max_seq_length(self) -> int:
        """Texts are cut to this many tokens."""
        return self.max_seq_length

    @property
    def similarity_fn_name(self) -> str:
        """What similarity() computes: "cosine", "dot", "euclidean" or "manhattan"."""
        return self._similarity

    @similarity_fn_name.setter
    def similarity_fn_name(self, value: Any) -> None:
        name: str = getattr(value, "value", value)  # an enum of sentence-transformers
        if name not in SIMILARITIES:
            raise CallerError(f"similarity_fn_name is {name!r}; known: {', '.join(SIMILARITIES)}")
        self._similarity: str = name

    @contextmanager
    def truncate_embeddings(self, truncate_dim: int | None) -> Iterator[None]:
        """In the `with` block vectors are cut to so many numbers; None does not cut them."""
        before = self.truncate_dim
        self.truncate_dim = positive(truncate_dim, "truncate_dim") or None
        try:
            yield
        finally:
            self.truncate_dim = before

    truncate_sentence_embeddings = truncate_embeddings

    def eval(self) -> SentenceTransformer:
        """Does nothing: it never trains."""
        return self

    @property
    def mteb_model_meta(self) -> Any:
        """mteb's ModelMeta of it.

        Raises:
            LibraryError: mteb is not installed.
        """
        try:
            from mteb.models import ModelMeta
            from mteb.models.model_meta import ScoringFunction
        except ImportError as error:
            raise not_installed(error, "mteb", "mteb") from None
        name, _, revision = self._encoder.model.partition("@")
        if os.path.exists(self._encoder.model):
            name, revision = f"local/{os.path.basename(os.path.abspath(self._encoder.model))}", ""
        known = {"cosine": ScoringFunction.COSINE, "dot": ScoringFunction.DOT_PRODUCT}
        return ModelMeta.create_empty(
            {
                "name": name,
                "revision": revision or None,
                "max_tokens": self.max_seq_length,
                "embed_dim": self.get_embedding_dimension(),
                "similarity_fn_name": known.get(self._similarity),
            }
        )

    def __getattr__(self, name: str) -> Any:
        if name in _ABSENT:
            raise _AbsentError(f"{name}: {_ABSENT[name]}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"SentenceTransformer({self.embedder!r})"

    # -- Inside --------------------------------------------------------------------------------------------------------

    def _prompt(self, name: str | None, text: str | None) -> str:
        """What is put before each text. A text comes before a name, and a name before the default."""
        if text is not None:
            return str(optional_text(text, "prompt"))
        name = optional_text(self.default_prompt_name if name is None else name, "prompt_name")
        if name is None:
            return ""
        if name not in self.prompts:
            raise CallerError(f"there is no prompt {name!r}; known: {', '.join(self.prompts)}")
        return self.prompts[name]

    def _prompt_for(self, kind: str) -> str:
        """What is put before queries, or before documents."""
        names = ("query",) if kind == "query" else ("document", "passage", "corpus")
        prompts = self.prompts
        return next(
            (prompts[name] for name in names if prompts.get(name) or name in self._given_prompts & set(prompts)), ""
        )

    def _refuse(self, output_value: Any, device: Any, pool: Any, chunk_size: Any) -> None:
        if output_value != "sentence_embedding":
            raise CallerError(f"output_value is {output_value!r}; only vectors of whole texts leave the model")
        if device is not None and str(device) != str(self.device):
            raise CallerError(f"device is {device!r}, and the model was opened with {self.device!r}: {_ONCE}")
        for name, value in (("pool", pool), ("chunk_size", chunk_size)):
            if value is not None:
                raise CallerError(f"{name}: {_NO_POOL}")

    def _of_mteb(
        self, batches: Any, others: dict[str, Any], prompt_name: str | None, prompt: str | None
    ) -> tuple[list[str], str | None]:
        """The texts of mteb's batches and their prompt, as it looks for one: the task's with the kind of text, the
        task's, and the same of the kind of task; then those for queries and for documents.
        """
        task = others.pop("task_metadata")
        kind = getattr(others.pop("prompt_type", None), "value", None)
        others.pop("hf_split", None)
        others.pop("hf_subset", None)
        try:
            texts = [text for batch in batches for text in batch["text"]]
        except (KeyError, TypeError) as error:
            raise CallerError(f"the batches of {task.name} have no texts ({error}): only texts are embedded") from None
        if prompt is not None or prompt_name is not None:
            return texts, self._prompt(prompt_name, prompt)
        for name in (task.name, task.type):
            for known in (f"{name}-{kind}", name):
                if known in self.prompts:
                    return texts, self.prompts[known]
        return texts, self._prompt_for(kind) if kind else None


def _at_revision(model: Model, revision: str | None) -> Model:
    """A name on the hub with its revision, which a folder has not."""
    if revision is None or isinstance(model, Embedder) or os.path.exists(model):
        return model
    return f"{os.fspath(model)}@{optional_text(revision, 'revision')}"


def _converted(vectors: Any, to_numpy: Any, to_tensor: Any) -> Any:
    if flag(to_numpy, "convert_to_numpy") and not flag(to_tensor, "convert_to_tensor"):
        return vectors
    try:
        import torch
    except ImportError as error:
        raise not_installed(error, "torch, for convert_to_tensor=True or convert_to_numpy=False,", "torch") from None
    tensor = torch.from_numpy(vectors)
    return tensor if to_tensor or vectors.ndim == 1 else list(tensor)
