"""Compiled models in Python's onnxruntime: which bundle is whose, where it is looked for, and its two forms."""

import os
import shutil
import subprocess
import zipfile

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import helper
from provider_scene import attestations, layers, load, on_the_cpu, rows, session_options

WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"
MODEL_FILE = "ep.context_file_path"
FEEDS = rows(3)


def compiler_of(model, devices, options=None, entries=None, embedded=False):
    source = str(model) if isinstance(model, os.PathLike) else model.SerializeToString()
    made = session_options(devices, options, entries)
    return ort.ModelCompiler(made, source, embed_compiled_data_into_model=embedded)


def compiled(model, devices, place, **more):
    compiler_of(model, devices, **more).compile_to_file(str(place))
    return place


def expect(session, model):
    np.testing.assert_allclose(session.run(None, FEEDS)[0], on_the_cpu(model, FEEDS)[0], rtol=1e-5, atol=1e-5)


def context_of(file):
    (node,) = onnx.load(file).graph.node
    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}


def bundles(folder):
    return sorted(folder.glob("*.lbundle"))


@pytest.fixture
def beside(devices, tmp_path):
    """A compiled model with its bundle, alone in a folder."""
    (tmp_path / "model").mkdir()
    place = compiled(layers(), devices, tmp_path / "model" / "x_ctx.onnx")
    (bundle,) = bundles(tmp_path / "model")
    return place, bundle


# --- Whose bundle it is ---


def test_models_of_one_name_have_a_bundle_each(devices, tmp_path):
    sigmoid, tanh = layers(activation="Sigmoid"), layers(activation="Tanh")
    first = compiled(sigmoid, devices, tmp_path / "x.onnx")
    second = compiled(tanh, devices, tmp_path / "x.ctx")
    assert len(bundles(tmp_path)) == 2
    expect(load(str(first), devices), sigmoid)
    expect(load(str(second), devices), tanh)


def test_models_from_bytes_have_a_bundle_each(devices, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    models = [layers(activation=name) for name in ("Sigmoid", "Tanh")]
    both = [compiler_of(model, devices).compile_to_bytes() for model in models]
    assert len(bundles(tmp_path)) == 2
    for model, made in zip(models, both, strict=True):
        expect(load(made, devices), model)
    # The same again has the same name.
    compiler_of(models[0], devices).compile_to_bytes()
    assert len(bundles(tmp_path)) == 2


def test_another_models_bundle_is_refused_and_not_written_over(devices, beside, tmp_path):
    place, bundle = beside
    compiled(layers(activation="Tanh"), devices, tmp_path / "y_ctx.onnx")
    (other,) = bundles(tmp_path)
    shutil.copy(other, bundle)
    with pytest.raises(Exception, match=f"{bundle} is another model's bundle"):
        load(str(place), devices)
    place.unlink()
    with pytest.raises(Exception, match=f"cannot write {bundle}: another file has that name and is not replaced"):
        compiled(layers(), devices, place)
    assert bundle.read_bytes() == other.read_bytes()
    assert bundles(bundle.parent) == [bundle] and not list(bundle.parent.glob(".*"))


# --- Where it is looked for ---


@pytest.mark.parametrize("from_bytes", [False, True])
def test_the_weights_folder_does_not_hide_the_models(devices, beside, tmp_path, from_bytes):
    place, bundle = beside
    (tmp_path / "weights").mkdir()
    source = place.read_bytes() if from_bytes else str(place)
    entries = {WEIGHTS_FOLDER: tmp_path / "weights", MODEL_FILE: place}
    expect(load(source, devices, entries=entries), layers())
    # Without the other key it lies with the weights.
    del entries[MODEL_FILE]
    with pytest.raises(Exception, match=f"there is no {tmp_path}/weights/{bundle.name}.*set ep.context_file_path"):
        load(source, devices, entries=entries)
    shutil.copy(bundle, tmp_path / "weights")
    expect(load(source, devices, entries=entries), layers())


def test_a_models_own_folder_comes_first(devices, beside, tmp_path):
    place, bundle = beside
    (tmp_path / "elsewhere").mkdir()
    entries = {MODEL_FILE: tmp_path / "elsewhere" / "x_ctx.onnx"}
    expect(load(str(place), devices, entries=entries), layers())
    # What lies in the first folder and is another bundle does not hide the right one.
    compiled(layers(activation="Tanh"), devices, tmp_path / "y_ctx.onnx")
    bundle.rename(tmp_path / "elsewhere" / bundle.name)
    shutil.copy(bundles(tmp_path)[0], bundle)
    expect(load(str(place), devices, entries=entries), layers())


def in_the_hubs_cache(folder, *files):
    """As huggingface_hub stores a snapshot: each file is a link to a blob that is named after its content."""
    blobs, snapshot = folder / "models--a--b" / "blobs", folder / "models--a--b" / "snapshots" / "0a1b" / "onnx"
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    for number, file in enumerate(files):
        file.rename(blobs / f"{number}f")
        (snapshot / file.name).symlink_to(f"../../../blobs/{number}f")
    return snapshot


def test_a_model_in_the_hubs_cache(devices, beside, tmp_path):
    place, bundle = beside
    snapshot = in_the_hubs_cache(tmp_path, place, bundle)
    expect(load(str(snapshot / place.name), devices), layers())
    entries = {MODEL_FILE: snapshot / place.name}
    expect(load((snapshot / place.name).read_bytes(), devices, entries=entries), layers())
    # A link out of both folders is none of the cache's.
    (snapshot / bundle.name).unlink()
    (tmp_path / "models--a--b" / "blobs" / "1f").rename(tmp_path / "secret")
    (snapshot / bundle.name).symlink_to(tmp_path / "secret")
    refused = f"is a link to {tmp_path}/secret, outside of the model's folder {snapshot} and of {tmp_path}/models--a--b/blobs"
    with pytest.raises(Exception, match=refused):
        load(str(snapshot / place.name), devices)


# --- Compiled again ---


def test_a_compiled_model_is_embedded_and_taken_apart_again(devices, beside, tmp_path):
    place, bundle = beside
    embedded = compiled(place, devices, tmp_path / "embedded.onnx", embedded=True)
    assert context_of(embedded)["ep_cache_context"] == bundle.read_bytes()
    (tmp_path / "again").mkdir()
    again = compiled(embedded, devices, tmp_path / "again" / "y.onnx")
    (other,) = bundles(tmp_path / "again")
    assert other.read_bytes() == bundle.read_bytes() and other.name.startswith("y_latebind_")
    for file in (embedded, again):
        expect(load(str(file), devices), layers())
        assert not attestations()
        info = {entry.key: entry.value for entry in onnx.load(file).metadata_props}
        assert "openvino:CPU@" in info["ep_compatibility_info.Latebind"]
    # By the session's own settings, too.
    entries = {"ep.context_enable": "1", MODEL_FILE: tmp_path / "by_entries.onnx", "ep.context_embed_mode": "1"}
    expect(load(str(again), devices, entries=entries), layers())
    assert context_of(tmp_path / "by_entries.onnx")["ep_cache_context"] == bundle.read_bytes()


def test_what_a_compiled_model_is_for_is_not_changed(devices, beside, tmp_path):
    place, bundle = beside
    with pytest.raises(Exception, match="the model is already compiled, and provider option targets cannot add"):
        compiled(place, devices, tmp_path / "again.onnx", options={"targets": "openvino:CPU"}, embedded=True)
    assert not (tmp_path / "again.onnx").exists()
    assert context_of(place)["notes"].startswith(b"latebind bundle ") and bundle.exists()


def program(*arguments):
    line = [os.path.join(os.environ["LATEBIND_TEST_BINARY_DIR"], "bin/latebind"), *map(str, arguments)]
    libraries = {
        "LATEBIND_ONNXRUNTIME_PROVIDERS": "none",
        "LATEBIND_ONNXRUNTIME_LIBRARY": os.path.join(os.path.dirname(ort.__file__), "capi"),
    }
    done = subprocess.run(line, check=False, capture_output=True, text=True, env=os.environ | libraries)
    assert done.returncode == 0, done.stderr


def test_a_bundle_may_get_more_and_not_less(devices, beside, tmp_path):
    place, bundle = beside
    program("compile", bundle, "--add", "--target", "onnxruntime:CPU", "-o", bundle)
    assert b"cpu-onnxruntime-f32" in bundle.read_bytes()
    expect(load(str(place), devices), layers())
    # Compiled again, it is used as it is.
    more = bundle.read_bytes()
    place.unlink()
    compiled(layers(), devices, place)
    assert bundles(bundle.parent) == [bundle] and bundle.read_bytes() == more
    with zipfile.ZipFile(bundle) as archive:
        (tmp_path / "model.onnx").write_bytes(archive.read("model/portable/model.onnx"))
    bundle.unlink()
    program("compile", tmp_path / "model.onnx", "-o", bundle)
    with pytest.raises(Exception, match="is compiled for nothing, but the model was compiled with one for cpu-openvino-f32"):
        load(str(place), devices)
