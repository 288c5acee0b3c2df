"""The networks that Latebind makes use nothing that OpenVINO computes otherwise than ONNX defines: each, exported as ONNX, is taken
whole with the built-in table, and computed as by ONNX Runtime. The exceptions compute tables from weights alone (disentangled attention) or choose experts
with TopK: the table sends these files to the next device."""

import os
import subprocess
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from latebind import LatebindError, Model

NETWORKS = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"]) / "tests" / "data" / "networks"
PROGRAM = Path(os.environ["LATEBIND_TEST_BINARY_DIR"]) / "bin" / "latebind"
NOT_TAKEN = {
    "deberta": "MatMul",
    "deberta-v2": "LayerNormalization",
    "deberta-v2-conv": "LayerNormalization",
    "nomic_moe": "TopK",
}


@pytest.mark.parametrize("form", ["pooled", "hidden"])
@pytest.mark.parametrize("network", sorted(folder.name for folder in NETWORKS.iterdir() if folder.is_dir()))
def test_is_taken_whole_and_comes_out_right(network, form, tmp_path):
    file = tmp_path / "model.onnx"
    options = ["--hidden-states"] if form == "hidden" else []
    subprocess.run([PROGRAM, "export", "--model", NETWORKS / network, "-o", file, *options], check=True, capture_output=True)
    feeds = {"input_ids": np.array([[1, 2, 3, 4, 5], [3, 2, 1, 0, 0]]), "attention_mask": np.array([[1] * 5, [1, 1, 1, 0, 0]])}
    device = "openvino:CPU"
    if network in NOT_TAKEN:
        with pytest.raises(LatebindError, match=NOT_TAKEN[network]):
            Model(file, device=device, strict=True, threads=1, cache=False)
        device = "onnxruntime:CPU"
    model = Model(file, device=device, strict=True, threads=1, cache=False)
    assert model.attestation.device == device and not model.attestation.fallback
    made = model.run(feeds)
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    for one, other in zip(made.values(), session.run(None, feeds)):
        # What stands at places that the mask leaves out means nothing.
        kept = feeds["attention_mask"].astype(bool) if form == "hidden" else slice(None)
        np.testing.assert_allclose(one[kept], other[kept], atol=2e-5 * max(1.0, float(np.abs(other[kept]).max())))
