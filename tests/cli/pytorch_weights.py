"""Weights as torch.save() writes them, without torch: its ZIP, and the format of releases before 1.6."""

import collections
import contextlib
import io
import json
import pickle
import struct
import sys
import types
import zipfile

STORAGES = {"F32": "FloatStorage", "F16": "HalfStorage", "BF16": "BFloat16Storage", "F64": "DoubleStorage",
            "I64": "LongStorage", "I32": "IntStorage", "U8": "ByteStorage"}
SIZES = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "F16": 2, "BF16": 2, "U8": 1}


class Storage:
    """Elements that tensors share."""

    def __init__(self, dtype, data):
        self.dtype, self.data, self.elements = dtype, data, len(data) // SIZES[dtype]


class Tensor:
    """A view of a storage."""

    def __init__(self, storage, shape, strides=None, offset=0):
        self.storage, self.shape, self.offset = storage, tuple(shape), offset
        self.strides = strides or strides_of(shape)

    def __reduce__(self):
        make = sys.modules["torch._utils"]._rebuild_tensor_v2
        return make, (self.storage, self.offset, self.shape, tuple(self.strides), False, collections.OrderedDict())


def strides_of(shape):
    strides = []
    for size in reversed(shape):
        strides.insert(0, strides[0] * last if strides else 1)
        last = size
    return strides


@contextlib.contextmanager
def fake_torch():
    """Modules with the names that pickles of torch contain."""
    torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")

    def _rebuild_tensor_v2():
        pass

    _rebuild_tensor_v2.__module__, _rebuild_tensor_v2.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
    utils._rebuild_tensor_v2 = _rebuild_tensor_v2
    for name in STORAGES.values():
        setattr(torch, name, type(name, (), {"__module__": "torch"}))
    torch._utils = utils
    before = {name: sys.modules.get(name) for name in ("torch", "torch._utils")}
    sys.modules.update({"torch": torch, "torch._utils": utils})
    try:
        yield torch
    finally:
        for name, module in before.items():
            sys.modules.pop(name)
            if module:
                sys.modules[name] = module


def save(state, *, old=False, protocol=2):
    """The bytes of a file with this object; its tensors may share storages."""
    storages = []
    with fake_torch() as torch:

        class Pickler(pickle.Pickler):
            def persistent_id(self, value):
                if not isinstance(value, Storage):
                    return None
                if value not in storages:
                    storages.append(value)
                key = str(storages.index(value))
                parts = ("storage", getattr(torch, STORAGES[value.dtype]), key, "cpu", value.elements)
                return parts + (None,) if old else parts

        pickled = io.BytesIO()
        Pickler(pickled, protocol).dump(state)
    file = io.BytesIO()
    if old:
        system = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
        for value in (0x1950A86A20F9469CFC6C, 1001, system):
            pickle.dump(value, file, protocol)
        file.write(pickled.getvalue())
        pickle.dump([str(key) for key in range(len(storages))], file, protocol)
        for storage in storages:
            file.write(struct.pack("<q", storage.elements) + storage.data)
        return file.getvalue()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", pickled.getvalue())
        archive.writestr("archive/byteorder", "little")
        for key, storage in enumerate(storages):
            archive.writestr(f"archive/data/{key}", storage.data)
        archive.writestr("archive/version", "3\n")
    return file.getvalue()


def tensors_of(safetensors):
    """{name: Tensor} of a file of safetensors."""
    (length,) = struct.unpack("<Q", safetensors[:8])
    head, body = json.loads(safetensors[8 : 8 + length]), safetensors[8 + length :]
    head.pop("__metadata__", None)
    return {name: Tensor(Storage(tensor["dtype"], body[slice(*tensor["data_offsets"])]), tensor["shape"])
            for name, tensor in head.items()}


def as_pytorch(safetensors, pieces=1, **options):
    """{file name: bytes} of the same weights: pytorch_model.bin, or its pieces and their list."""
    tensors = collections.OrderedDict(tensors_of(safetensors))
    if pieces == 1:
        return {"pytorch_model.bin": save(tensors, **options)}
    weight_map, files = {}, {}
    for number in range(pieces):
        part = dict(list(tensors.items())[number::pieces])
        name = f"pytorch_model-0000{number + 1}-of-0000{pieces}.bin"
        files[name] = save(part, **options)
        weight_map |= dict.fromkeys(part, name)
    files["pytorch_model.bin.index.json"] = json.dumps({"metadata": {}, "weight_map": weight_map}).encode()
    return files
