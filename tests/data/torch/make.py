#!/usr/bin/env python3
"""Makes what is beside this file: files of torch.save() in each of its formats, and what is in their tensors.

Needs torch; the tests do not. Usage: make.py
"""
import collections
import json
import pathlib

import torch

HERE = pathlib.Path(__file__).resolve().parent
TYPES = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.float64: "F64", torch.int64: "I64",
         torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL",
         torch.complex64: "C64"}


def state():
    numbers = torch.arange(12, dtype=torch.float32) / 8
    tensors = collections.OrderedDict(
        whole=numbers.view(3, 4),
        turned=numbers.view(3, 4).T,
        row=numbers.view(3, 4)[1],
        column=numbers.view(3, 4)[:, 2],
        half=numbers[6:],
        scalar=torch.tensor(1.5),
        empty=torch.zeros(0, 4),
        parameter=torch.nn.Parameter(torch.tensor([0.25, -0.5])),
        expanded=torch.tensor([2.0]).expand(1, 1000, 1000),
        not_a_tensor=7,
    )
    for dtype, name in TYPES.items():
        tensors[f"type.{name}"] = torch.tensor([0, 1, 3]).to(dtype)
        tensors[f"turned.{name}"] = torch.tensor([[0, 1], [1, 0], [1, 1]]).to(dtype).T
    return tensors


def described(tensor):
    numbers = tensor.detach().to(torch.complex128).real.flatten().tolist()
    return {"type": TYPES[tensor.dtype], "shape": list(tensor.shape), "numbers": numbers}


def main():
    tensors = state()
    torch.save(tensors, HERE / "zip.bin")
    torch.save(tensors, HERE / "zip_protocol_5.bin", pickle_protocol=5)
    torch.save(tensors, HERE / "old.bin", _use_new_zipfile_serialization=False)
    torch.save(tensors, HERE / "old_protocol_4.bin", _use_new_zipfile_serialization=False, pickle_protocol=4)
    torch.manual_seed(20261130)
    network = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.LayerNorm(3))
    # With the versions of its modules, as an attribute of the dictionary.
    torch.save(network.state_dict(), HERE / "network.pt")
    torch.save(network, HERE / "program.pt")
    torch.jit.script(network).save(HERE / "script.pt")
    kept = {name: tensor for name, tensor in tensors.items() if isinstance(tensor, torch.Tensor) and name != "expanded"}
    expected = {"state": {name: described(tensor) for name, tensor in kept.items()},
                "network": {name: described(tensor) for name, tensor in network.state_dict().items()}}
    (HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
