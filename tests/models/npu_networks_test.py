"""Every architecture through Qualcomm's compiler, whole, and in its emulation: near what native computes.

The networks are those of tests/data/networks. Run by scripts/test --models.
"""

import os
import sys
from pathlib import Path

import pytest

SOURCE = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "cli"))

from support import OF_ANOTHER_TOKENIZER, cosines, good, vectors  # noqa: E402

NETWORKS = SOURCE / "tests" / "data" / "networks"
TEXTS = "the cat sits outside\na man is playing guitar and the cat is out\nthe\n"
PROVIDERS = {"LATEBIND_ONNXRUNTIME_PROVIDERS": ":".join(
    map(str, (SOURCE / "build" / "runtime" / "providers").glob("onnxruntime-qnn-*/*/libonnxruntime_providers_qnn.so")))}


@pytest.mark.parametrize("network", sorted(folder.name for folder in NETWORKS.iterdir() if folder.is_dir()))
def test_goes_whole_through_the_compiler(network, tmp_path):
    bundle = tmp_path / "bundle.lbundle"
    good("compile", NETWORKS / network, "--target", "npu:v73", "--shapes", "1x16", "--precision", "f16",
         "--strict", "-o", bundle, env=PROVIDERS)
    if network in OF_ANOTHER_TOKENIZER:
        return
    done = good("embed", "--model", bundle, "--device", "onnxruntime:QNN.v73", "--emulate", "--precision", "f16",
                "--strict", "-", input=TEXTS, env=PROVIDERS)
    reference = good("embed", "--model", NETWORKS / network, "--device", "native:CPU", "--precision", "f32", "-",
                     input=TEXTS)
    assert cosines(vectors(done.stdout), vectors(reference.stdout)).min() >= 0.999
