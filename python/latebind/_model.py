"""Runs models of any kind: Model."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from ctypes import byref, c_void_p
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _abi
from ._attestation import Attestation, attestation_of
from ._call import LONG_SECONDS, Cancellation, Deadline, Handle, Owner, call_options, interruptible
from ._library import c_text, check, library, runtime, sized, text_of
from ._memory import memory_at
from ._opened import Opened, open_by
from ._settings import settings_of
from .errors import CallerError, CallerTypeError

# By the numbers of the C interface. NumPy has no bf16, so its bits are uint16 unless ml_dtypes is installed.
_TYPES = {
    _abi.LB_BOOL: "bool",
    _abi.LB_I8: "int8",
    _abi.LB_U8: "uint8",
    _abi.LB_I16: "int16",
    _abi.LB_U16: "uint16",
    _abi.LB_I32: "int32",
    _abi.LB_U32: "uint32",
    _abi.LB_I64: "int64",
    _abi.LB_U64: "uint64",
    _abi.LB_F16: "float16",
    _abi.LB_BF16: "bfloat16",
    _abi.LB_F32: "float32",
    _abi.LB_F64: "float64",
}


@dataclass(frozen=True)
class TensorInfo:
    """An input or output of a model.

    Attributes:
        name: the model's name for it.
        dtype: NumPy's name of its type: "float32", "int64"; "bfloat16" comes from ml_dtypes.
        shape: None for a dimension that is unknown before a run.
        upper: the limit of a dimension of unknown size; None if there is none.
    """

    name: str
    dtype: str
    shape: tuple[int | None, ...]
    upper: tuple[int | None, ...]


def _info(ask: Callable[..., int], model: Owner, index: int) -> TensorInfo:
    info = sized(_abi.lb_tensor_info)
    check(ask(model, index, byref(info)))

    def known(sizes: Any) -> tuple[int | None, ...]:
        return tuple(None if size == _abi.LB_DYNAMIC else int(size) for size in sizes[: info.rank])

    return TensorInfo(text_of(info.name), _TYPES[info.type], known(info.shape), known(info.upper))


def _bfloat16() -> Any:
    try:
        from ml_dtypes import bfloat16  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return np.uint16
    return bfloat16


class _Output:
    """An lb_output, destroyed when no array refers to its memory."""

    def __init__(self) -> None:
        self.pointer = c_void_p()
        check(library().lb_output_create(None, 0, byref(self.pointer)))

    def __del__(self) -> None:
        if self.pointer:
            library().lb_output_destroy(self.pointer)

    def array(self) -> npt.NDArray[Any]:
        """Returns its tensor without copying."""
        tensor = _abi.lb_tensor()
        check(library().lb_output_get(self.pointer, byref(tensor)))
        is_bfloat = tensor.type == _abi.LB_BF16
        kind = np.uint16 if is_bfloat else np.dtype(_TYPES[tensor.type])
        shape = tuple(int(size) for size in tensor.shape[: tensor.rank])
        found = memory_at(tensor.data, kind, shape, self, is_read_only=False)
        return found.view(_bfloat16()) if is_bfloat else found


class Model(Opened):
    """A model, ready to run: ONNX, an OpenVINO IR (.xml with its .bin beside it), or a bundle.

    It is thread-safe. Pickling keeps the arguments, and unpickling opens the model again. In a forked child, every call
    on an object that the parent opened raises ForkedError.

    Args:
        file: the model.
        device, precision, strict, **settings: see Embedder.

    Raises:
        CallerError: this is not a model, or a setting is unknown.
        MachineError: no device can run the model, or a library is missing.
    """

    def __init__(
        self,
        file: str | os.PathLike[str],
        device: str | list[str] | tuple[str, ...] = "auto",
        precision: str | list[str] | tuple[str, ...] = "f32",
        strict: bool = False,
        **settings: Any,
    ) -> None:
        place = c_text(file, "file")
        of_runtime, of_model = settings_of({"device": device, "precision": precision, "strict": strict, **settings})
        self._last_seconds: float | None = None
        functions = library()
        of_process = runtime(of_runtime)

        opened = open_by(functions.lb_model_load_file, functions.lb_model_destroy, of_process, place, of_model)
        super().__init__((place.decode(), device, precision, strict, settings), Handle(opened, "Model"))
        inputs, outputs = functions.lb_model_input_count(opened), functions.lb_model_output_count(opened)
        self._inputs = tuple(_info(functions.lb_model_input, opened, index) for index in range(inputs))
        self._outputs = tuple(_info(functions.lb_model_output, opened, index) for index in range(outputs))

    @property
    def inputs(self) -> tuple[TensorInfo, ...]:
        """The inputs, in the model's order."""
        return self._inputs

    @property
    def outputs(self) -> tuple[TensorInfo, ...]:
        """The outputs, in the model's order."""
        return self._outputs

    @property
    def attestation(self) -> Attestation:
        """What would answer now."""
        return attestation_of(library().lb_model_attestation, self._handle.use())

    def run(self, inputs: Mapping[str, Any], *, deadline: float | None = None) -> dict[str, npt.NDArray[Any]]:
        """Runs the model once.

        Args:
            inputs: an array for the name of each input: a NumPy array, or anything that NumPy can read (the buffer
                protocol, DLPack), of exactly its type. Contiguous memory is passed without copying.
            deadline: seconds from now after which the call fails with TransientError (DEADLINE_EXCEEDED).

        Returns:
            an array for the name of each output. The library owns its memory, which the array keeps alive.

        Raises:
            CallerTypeError: an input has the wrong type; the message names it.
            CallerError: an input is missing or unknown, or the model does not accept its shape.
            TransientError: the deadline has passed, or the device failed.
        """
        model = self._handle.use()
        until = Deadline(deadline)
        arrays = self._arrays(inputs)
        tensors = (_abi.lb_tensor * max(len(arrays), 1))()
        for tensor, array, info in zip(tensors, arrays, self._inputs, strict=False):
            tensor.data = array.ctypes.data
            tensor.type = next(number for number, name in _TYPES.items() if name == info.dtype)
            tensor.rank = array.ndim
            tensor.shape[: array.ndim] = array.shape
        outputs = [_Output() for _ in self._outputs]
        pointers = (c_void_p * max(len(outputs), 1))(*(output.pointer for output in outputs))

        def call(cancellation: Cancellation | None) -> None:
            limits = call_options(until, cancellation)
            check(library().lb_model_run(model, tensors, len(arrays), pointers, len(outputs), limits and byref(limits)))

        begin = perf_counter()
        interruptible(call, None, self._last_seconds is None or self._last_seconds > LONG_SECONDS)
        self._last_seconds = perf_counter() - begin
        return {info.name: output.array() for info, output in zip(self._outputs, outputs, strict=True)}

    def _arrays(self, inputs: Mapping[str, Any]) -> list[npt.NDArray[Any]]:
        if not isinstance(inputs, Mapping):
            raise CallerTypeError(f"inputs is {type(inputs).__name__}; give a dict of arrays by the inputs' names")
        names = [info.name for info in self._inputs]
        for name in inputs:
            if name not in names:
                raise CallerError(f"the model has no input {name!r}; it has: {', '.join(names)}")
        return [self._array(info, inputs) for info in self._inputs]

    @staticmethod
    def _array(info: TensorInfo, inputs: Mapping[str, Any]) -> npt.NDArray[Any]:
        if info.name not in inputs:
            raise CallerError(f"the input {info.name!r} is missing: {info.dtype}{list(info.shape)}")
        given = inputs[info.name]
        try:
            if not hasattr(given, "__array__") and hasattr(given, "__dlpack__"):
                array = np.from_dlpack(given)
            else:
                array = np.asarray(given)
        except (TypeError, ValueError, BufferError, RuntimeError) as error:
            raise CallerTypeError(f"the input {info.name!r} cannot be read as an array: {error}") from None
        is_same = array.dtype.name == info.dtype and array.dtype.isnative
        if not is_same and not (info.dtype == "bfloat16" and array.dtype == np.uint16):
            raise CallerTypeError(f"the input {info.name!r} has the type {array.dtype}; {info.dtype} is needed")
        if array.ndim > _abi.LB_RANK_MAX:
            raise CallerError(f"the input {info.name!r} has {array.ndim} dimensions; {_abi.LB_RANK_MAX} is the limit")
        # ascontiguousarray() would turn a scalar into one dimension.
        return array if array.flags.c_contiguous else array.copy(order="C")

    def __repr__(self) -> str:
        state = ", closed" if self.closed else ""
        return f"<Model {self._arguments[0]!r}, {len(self._inputs)} inputs, {len(self._outputs)} outputs{state}>"
