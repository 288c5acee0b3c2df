"""Programs of ExecuTorch by the official Python package of flatbuffers: the classes are generated from the SDK's schema, as
those of ExecuTorch's exporter are (importing that wants torch)."""

import importlib
import math
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from support import SOURCE

(SCHEMA,) = (SOURCE / "build" / "runtime").glob("executorch-*/executorch/schema")
_folder = tempfile.TemporaryDirectory(prefix="latebind-test-schema-")
subprocess.run(
    ["flatc", "--python", "--gen-object-api", "-o", _folder.name, "-I", SCHEMA, SCHEMA / "scalar_type.fbs",
     SCHEMA / "program.fbs"],
    check=True, timeout=60,
)
sys.path.insert(0, _folder.name)


def generated(name):
    """A class of the schema, such as ProgramT."""
    module = importlib.import_module(f"executorch_flatbuffer.{name.removesuffix('T')}")
    return getattr(module, name)


class Program:
    """A .pte: its tree, and its segments."""

    def __init__(self, file):
        self.bytes = Path(file).read_bytes()
        assert self.bytes[4:8] == b"ET12"
        magic, length, self.size, self.base, self.segment_size = struct.unpack_from("<4sIQQQ", self.bytes, 8)
        assert (magic, length) == (b"eh00", 32)
        assert len(self.bytes) == (self.base + self.segment_size if self.base else self.size)
        flat = generated("Program").GetRootAs(self.bytes[: self.size], 0)
        self.tree = generated("ProgramT").InitFromObj(flat)

    def segment(self, index):
        one = self.tree.segments[index]
        return self.bytes[self.base + one.offset : self.base + one.offset + one.size]

    @property
    def method(self):
        (plan,) = self.tree.executionPlan
        return plan

    def tensors(self, which):
        """[(type, sizes, dynamism, planned)] of the inputs or the outputs."""
        tensors = [self.method.values[i].val for i in getattr(self.method, which)]
        return [(t.scalarType, list(t.sizes), t.shapeDynamism, t.allocationInfo is not None) for t in tensors]


def write(file, tree, segments, alignment=128):
    """Packs a tree as ExecuTorch's exporter does: extended header, aligned segments."""
    import flatbuffers

    data = b""
    tree.segments = []
    for segment in segments:
        data += bytes(-len(data) % alignment)
        one = generated("DataSegmentT")()
        one.offset, one.size = len(data), len(segment)
        tree.segments.append(one)
        data += segment
    builder = flatbuffers.Builder()
    builder.Finish(tree.Pack(builder), file_identifier=b"ET12")
    flat = bytes(builder.Output())
    size = len(flat) + 32
    base = size + -size % alignment if segments else 0
    (root,) = struct.unpack_from("<I", flat)
    whole = struct.pack("<I4s4sIQQQ", root + 32, b"ET12", b"eh00", 32, size, base, len(data)) + flat[8:]
    Path(file).write_bytes(whole + bytes(base - size if segments else 0) + data)
    return Path(file)


def tensor(types_name, sizes, place=None):
    value, one = generated("EValueT")(), generated("TensorT")()
    one.scalarType = getattr(generated("ScalarType"), types_name)
    one.sizes, one.dimOrder = sizes, list(range(len(sizes)))
    if place is not None:
        one.allocationInfo = generated("AllocationDetailsT")()
        one.allocationInfo.memoryId, one.allocationInfo.memoryOffsetLow = 1, place
    value.valType, value.val = generated("KernelTypes").Tensor, one
    return value


def stock(file, blob, inline=False, backend="OpenvinoBackend", methods=("forward",), inputs=(("FLOAT", [2, 3]),),
          output=("FLOAT", [2, 3])):
    """What `to_backend` makes for ExecuTorch's own OpenVINO backend of a model that was compiled into `blob`."""
    program = generated("ProgramT")()
    program.version, program.executionPlan = 0, []
    for name in methods:
        plan = generated("ExecutionPlanT")()
        plan.name = name
        plan.containerMetaType = generated("ContainerMetadataT")()
        plan.containerMetaType.encodedInpStr = "T2#1#0($,D0())"
        plan.containerMetaType.encodedOutStr = "T1#1($)"
        plan.values = [*(tensor(*one) for one in inputs), tensor(*output, 0)]
        places, result = list(range(len(inputs))), [len(inputs)]
        plan.inputs, plan.outputs, plan.nonConstBufferSizes = places, result, [0, 8 * math.prod(output[1])]
        call, instruction, chain = generated("DelegateCallT")(), generated("InstructionT")(), generated("ChainT")()
        call.delegateIndex, call.args = 0, places + result
        instruction.instrArgsType = generated("InstructionArguments").DelegateCall
        instruction.instrArgs = call
        chain.inputs, chain.outputs, chain.instructions = places, result, [instruction]
        plan.chains, plan.operators = [chain], []
        delegate, spec = generated("BackendDelegateT")(), generated("CompileSpecT")()
        delegate.id = backend
        delegate.processed = generated("BackendDelegateDataReferenceT")()
        where = generated("DataLocation")
        delegate.processed.location, delegate.processed.index = (where.INLINE, 0) if inline else (where.SEGMENT, 0)
        spec.key, spec.value = "device", list(b"CPU")
        delegate.compileSpecs = [spec]
        plan.delegates = [delegate]
        program.executionPlan.append(plan)
    program.constantSegment = generated("SubsegmentOffsetsT")()
    program.constantSegment.segmentIndex, program.constantSegment.offsets = 0, [0]
    program.constantBuffer, program.backendDelegateData = [], []
    if inline:
        data = generated("BackendDelegateInlineDataT")()
        data.data = list(blob)
        program.backendDelegateData.append(data)
    return write(file, program, [] if inline else [blob])
