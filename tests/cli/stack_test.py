"""Programs are started with little room for their calls, by a service's limits or a shell's `ulimit -s`."""

import resource

import pytest
from support import MODEL, good

# Less than a page's worth for each thread of a vendor's, and less than loading a model takes on the first thread.
LITTLE = 48 << 10


def with_little_room():
    resource.setrlimit(resource.RLIMIT_STACK, (LITTLE, LITTLE))


@pytest.mark.parametrize("device", ["native:CPU", "openvino:CPU", "onnxruntime:CPU"])
def test_a_small_stack_is_room_enough(device):
    arguments = ("embed", "--model", MODEL, "--device", device, "--strict", "--precision", "f32", "-q")
    texts = "a man\nthe cat\n" * 20
    wanted = good(*arguments, input=texts).stdout
    assert good(*arguments, input=texts, preexec_fn=with_little_room).stdout == wanted
