"""Latebind's provider compiles the default model for several targets at once, and what it wrote runs on each."""

import io
import json
import os
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from provider_scene import LIBRARY, attestations, session_options
from tokenizers import Tokenizer

SOURCE = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
BINARY = Path(os.environ["LATEBIND_TEST_BINARY_DIR"])
MODEL = SOURCE / "build/runtime/model/all-MiniLM-L6-v2"
LENGTH = 128
NPUS = ["onnxruntime:QNN.v73", "onnxruntime:QNN.v75", "onnxruntime:QNN.v79"]


@pytest.fixture(scope="module", autouse=True)
def compilers():
    """Qualcomm's compiler, and the ONNX Runtime in which its processes use it."""
    (plugin,) = SOURCE.glob("build/runtime/providers/onnxruntime-qnn-*/onnxruntime_qnn")  # of scripts/setup test
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LATEBIND_ONNXRUNTIME_PROVIDERS", str(plugin))
        patch.setenv("LATEBIND_ONNXRUNTIME_LIBRARY", str(Path(ort.__file__).parent / "capi"))
        patch.setenv("LATEBIND_TRIAL_PROGRAM", str(BINARY / "bin/latebind"))
        yield


@pytest.fixture(scope="module")
def devices(compilers):
    ort.register_execution_provider_library("latebind.virtual", LIBRARY)
    yield {device.ep_metadata["latebind.device"]: device for device in ort.get_ep_devices() if device.ep_name == "Latebind"}
    ort.unregister_execution_provider_library("latebind.virtual")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The default model for one text of 128 tokens: compilers of NPUs want shapes."""
    file = tmp_path_factory.mktemp("model") / "model.onnx"
    subprocess.run([BINARY / "bin/latebind", "export", "--model", MODEL, "-o", file], check=True, capture_output=True)
    whole = onnx.load(file)
    for port in [*whole.graph.input, *whole.graph.output]:
        for dim, size in zip(port.type.tensor_type.shape.dim, (1, LENGTH), strict=False):
            if not dim.HasField("dim_value"):
                dim.dim_value = size
    onnx.save(whole, file)
    return file


@pytest.fixture(scope="module")
def feeds():
    tokenizer = Tokenizer.from_file(str(MODEL / "tokenizer.json"))
    tokenizer.no_padding()
    ids = tokenizer.encode("The provider compiles a model for devices that are not in this machine.").ids
    padding = [0] * (LENGTH - len(ids))
    mask = [1] * len(ids) + padding
    return {"input_ids": np.array([ids + padding]), "attention_mask": np.array([mask])}


@pytest.fixture(scope="module")
def expected(model, feeds):
    (vector,) = ort.InferenceSession(str(model), providers=["CPUExecutionProvider"]).run(None, feeds)[0]
    return vector


def cosine(a, b):
    return float((a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b))


def bundle_of(compiled):
    (node,) = onnx.load(compiled).graph.node
    attributes = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
    payload = attributes["ep_cache_context"]
    return payload if attributes["embed_mode"] else (compiled.parent / payload.decode()).read_bytes()


def variants(bundle):
    manifest = json.loads(zipfile.ZipFile(io.BytesIO(bundle)).read("manifest.json"))
    found = manifest["components"]["model"]["variants"].values()
    return {info["target"]: info for info in (variant["executor_info"]["latebind"] for variant in found)}


def check_that_it_runs_everywhere(compiled, devices, feeds, expected):
    bundle = bundle_of(compiled)
    assert set(variants(bundle)) >= {"portable", *(f"npu:{name.rpartition('.')[2]}" for name in NPUS)}, variants(bundle)
    # On the processor its own blob, with nothing compiled: a runtime that has no cache and takes no time to compile.
    session = ort.InferenceSession(str(compiled), session_options([devices["openvino:CPU"]]), enable_fallback=False)
    (answer,) = attestations()
    assert (answer["device"], answer["fallback"]) == ("openvino:CPU", False)
    assert cosine(session.run(None, feeds)[0][0], expected) >= 0.99999
    del session
    emulated = session_options([devices[NPUS[0]]], {"emulate": "true"})
    session = ort.InferenceSession(str(compiled), emulated, enable_fallback=False)
    (answer,) = attestations()
    assert (answer["device"], answer["emulated"]) == (NPUS[0], True)
    assert cosine(session.run(None, feeds)[0][0], expected) >= 0.9995


def test_targets_by_the_option_embedded(devices, model, feeds, expected, tmp_path):
    compiled = tmp_path / "compiled.onnx"
    options = session_options([devices["openvino:CPU"]], {"targets": ",".join(["openvino:CPU", *NPUS])})
    ort.ModelCompiler(options, str(model), embed_compiled_data_into_model=True).compile_to_file(str(compiled))
    properties = {entry.key: entry.value for entry in onnx.load(compiled).metadata_props}
    for device in ["openvino:CPU", *NPUS]:
        # As a machine with that NPU calls it.
        assert f"{device.replace('QNN', 'NPU')}@" in properties["ep_compatibility_info.Latebind"]
    check_that_it_runs_everywhere(compiled, devices, feeds, expected)


def test_targets_are_the_devices_of_the_session_and_the_bundle_lies_beside(devices, model, feeds, expected, tmp_path):
    compiled = tmp_path / "model_ctx.onnx"
    entries = {"ep.context_enable": "1", "ep.context_file_path": str(compiled), "ep.context_embed_mode": "0"}
    options = session_options([devices[name] for name in ["openvino:CPU", *NPUS]], entries=entries)
    session = ort.InferenceSession(str(model), options, enable_fallback=False)
    assert cosine(session.run(None, feeds)[0][0], expected) >= 0.99999
    del session
    assert len(list(tmp_path.glob("model_ctx_latebind_*.lbundle"))) == 1
    check_that_it_runs_everywhere(compiled, devices, feeds, expected)


def test_a_target_that_is_not_there_is_an_error_and_nothing_is_written(devices, model, tmp_path):
    compiled = tmp_path / "compiled.onnx"
    options = session_options([devices["openvino:CPU"]], {"targets": "openvino:CPU,openvino:NPU.4000"})
    with pytest.raises(Exception, match="openvino_intel_npu_compiler"):
        ort.ModelCompiler(options, str(model), embed_compiled_data_into_model=False).compile_to_file(str(compiled))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("key", ["ep.share_ep_contexts", "ep.stop_share_ep_contexts"])
def test_contexts_that_sessions_share_are_refused_by_name(devices, model, tmp_path, key):
    entries = {"ep.context_enable": "1", "ep.context_file_path": str(tmp_path / "compiled.onnx"), key: "1"}
    with pytest.raises(Exception, match=f"{key}=1 would put the compiled models of several sessions into one file"):
        ort.InferenceSession(
            str(model), session_options([devices["openvino:CPU"]], entries=entries), enable_fallback=False
        )
    assert list(tmp_path.iterdir()) == []
