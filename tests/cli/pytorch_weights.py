"""Weights as PyTorch saves them, without torch: a stand-in of the two packages that the program's advice is typed with."""

import json
import os
import pickle
import re
import struct
import subprocess

# Tensors are (dtype, shape, bytes).
TORCH = """
import pickle

class Tensor(tuple):
    def clone(self):
        return self

    def contiguous(self):
        return self

def load(file, map_location, weights_only):
    assert (map_location, weights_only) == ("cpu", True)
    with open(file, "rb") as opened:
        return {name: Tensor(tensor) for name, tensor in pickle.load(opened).items()}
"""
SAFETENSORS = """
import json
import struct

def save_file(tensors, file, metadata):
    head, body = {"__metadata__": metadata}, b""
    for name, (dtype, shape, data) in tensors.items():
        head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(head).encode()
    with open(file, "wb") as opened:
        opened.write(struct.pack("<Q", len(text)) + text + body)
"""


def as_pytorch(safetensors, pieces=1):
    """{file name: bytes} of the same weights: pytorch_model.bin, or its pieces and their list."""
    (length,) = struct.unpack("<Q", safetensors[:8])
    head, body = json.loads(safetensors[8 : 8 + length]), safetensors[8 + length :]
    head.pop("__metadata__", None)
    tensors = {
        name: (tensor["dtype"], tensor["shape"], body[slice(*tensor["data_offsets"])]) for name, tensor in head.items()
    }
    if pieces == 1:
        return {"pytorch_model.bin": pickle.dumps(tensors)}
    files = {"pytorch_model.bin.index.json": b"{}"}
    for number in range(pieces):
        part = dict(list(tensors.items())[number::pieces])
        files[f"pytorch_model-0000{number + 1}-of-0000{pieces}.bin"] = pickle.dumps(part)
    return files


def follow(said, folder, packages):
    """Types in the folder what the program has said; the stand-ins lie in `packages`."""
    command = re.search(r'type there: (python3 -c "[^"]*")', said)[1]
    (packages / "safetensors").mkdir(parents=True)
    (packages / "torch.py").write_text(TORCH)
    (packages / "safetensors" / "__init__.py").write_text("")
    (packages / "safetensors" / "torch.py").write_text(SAFETENSORS)
    subprocess.run(command, shell=True, check=True, cwd=folder, env=os.environ | {"PYTHONPATH": str(packages)}, timeout=60)
