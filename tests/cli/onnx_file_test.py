"""--onnx-file: one of the ready ONNX files of a folder instead of its weights."""

import json
import shutil
import time
from pathlib import Path

import numpy
import onnx
import pytest
from hub_server import Hub, Model
from support import SOURCE, TINY, bad, cosines, good, vectors

MODULES = SOURCE / "tests" / "data" / "modules"
EXPECTED = json.loads((MODULES / "expected.json").read_text())
TEXTS = "".join(json.dumps({"text": text}) + "\n" for text in EXPECTED["texts"])


def embed(model, *arguments, **options):
    return vectors(good("embed", "--model", model, "--input-format", "jsonl", *arguments, input=TEXTS, **options).stdout)


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """An ONNX file of another network than the tiny model's: its vectors have 20 numbers."""
    folder = shutil.copytree(TINY, tmp_path_factory.mktemp("ready") / "model")
    shutil.rmtree(folder / "1_Pooling")
    shutil.copytree(MODULES / "behind", folder, dirs_exist_ok=True)
    good("export", "--model", folder, "--output", folder.parent / "ready.onnx")
    return folder.parent / "ready.onnx"


@pytest.fixture
def model(tmp_path, ready):
    folder = shutil.copytree(TINY, tmp_path / "model")
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").write_bytes(b"not looked at")
    shutil.copy(ready, folder / "onnx" / "model_other.onnx")
    return folder


def agrees(found):
    wanted = numpy.array(EXPECTED["vectors"]["behind"])
    assert found.shape == wanted.shape
    assert cosines(found, wanted).min() > 0.999999


@pytest.mark.parametrize("device", ["openvino:CPU", "onnxruntime:CPU"])
def test_the_file_is_used_instead_of_the_weights(model, tmp_path, device):
    file = ["--onnx-file", "onnx/model_other.onnx"]
    assert embed(model).shape[1] == 32
    agrees(embed(model, *file, "--device", device, "--strict"))
    bundle = tmp_path / "model.lbundle"
    good("compile", model, "-q", *file, "-o", bundle)
    agrees(embed(bundle, "--device", device, "--strict"))
    (model / "model.safetensors").unlink()
    agrees(embed(model, "--device", device, env={"LATEBIND_ONNX_FILE": file[1]}))


def test_the_cache_keeps_files_apart(model, tmp_path):
    cache = ["--device", "openvino:CPU", "--cache-folder", tmp_path / "cache"]
    time.sleep(3)  # nothing is kept of a model that may still be written to
    for _ in range(2):
        assert embed(model, *cache).shape[1] == 32
        agrees(embed(model, *cache, "--onnx-file", "onnx/model_other.onnx"))
    good("warm", "--model", model, *cache, "--onnx-file", "onnx/model_other.onnx")
    listed = good("cache", "list", "--json", "--cache-folder", tmp_path / "cache").stdout
    assert "model_other.onnx" in listed


def test_data_beside_the_file_is_found(model):
    file = model / "onnx" / "model_other.onnx"
    onnx.save(onnx.load(file), file, save_as_external_data=True, location="model_other.onnx_data", size_threshold=0)
    assert (model / "onnx" / "model_other.onnx_data").is_file()
    agrees(embed(model, "--onnx-file", "onnx/model_other.onnx", "--device", "onnxruntime,openvino"))
    (model / "onnx" / "model_other.onnx_data").unlink()
    assert "model_other.onnx_data" in bad(1, "embed", "--model", model, "--onnx-file", "onnx/model_other.onnx", input="a\n")


@pytest.fixture(params=["blobs of the model", "blobs that models share"])
def snapshot(request, model, tmp_path):
    """The hub's cache with an ONNX file whose data is in another: contents are behind links."""
    file = model / "onnx" / "model.onnx"
    onnx.save(onnx.load(model / "onnx" / "model_other.onnx"), file, save_as_external_data=True,
              location="model.onnx_data", size_threshold=256)
    for name in ("model.safetensors", "onnx/model_other.onnx"):
        (model / name).unlink()
    hub = Hub()
    try:
        hub.models["org/tiny"] = Model(
            {one.relative_to(model).as_posix(): one.read_bytes() for one in model.rglob("*") if one.is_file()},
            large=("model.onnx", ".onnx_data"))
        env = {"HF_HOME": str(tmp_path / "hf"), "HF_ENDPOINT": hub.url, "HF_HUB_CACHE": "", "HF_HUB_OFFLINE": ""}
        place = Path(good("pull", "org/tiny", env=env).stdout.strip())
    finally:
        hub.close()
    shutil.rmtree(model)
    if request.param == "blobs that models share":
        cache = tmp_path / "hf" / "hub"
        for number, name in enumerate(("onnx/model.onnx", "onnx/model.onnx_data")):
            blob = (place / name).parent / (place / name).readlink()
            shared = cache / "blobs" / f"{number:02x}" / (f"{number:02x}" * 32)
            shared.parent.mkdir(parents=True)
            blob.rename(shared)
            blob.resolve().symlink_to(f"../../blobs/{number:02x}/{shared.name}")
    assert (place / "onnx" / "model.onnx_data").is_symlink() and (place / "onnx" / "model.onnx_data").is_file()
    return place


@pytest.mark.parametrize("device", ["openvino:CPU", "onnxruntime:CPU", "auto"])
def test_data_behind_the_links_of_the_hubs_cache_is_found(snapshot, device):
    agrees(embed(snapshot, "--device", device, "--strict"))


@pytest.mark.parametrize("device", ["openvino:CPU", "onnxruntime:CPU"])
def test_data_behind_links_is_neither_written_nor_changed(snapshot, device, tmp_path):
    data = (snapshot / "onnx" / "model.onnx_data").resolve()
    before = data.stat()
    done = good("-v", "embed", "--model", snapshot, "--device", device, "--strict", "--input-format", "jsonl", input=TEXTS,
                cwd=tmp_path)
    agrees(vectors(done.stdout))
    assert "external data is" not in done.stderr
    after = data.stat()
    assert (after.st_nlink, after.st_ctime_ns) == (before.st_nlink, before.st_ctime_ns)


def test_data_behind_links_is_compiled_and_kept(snapshot, tmp_path):
    time.sleep(3)  # nothing is kept of a model that may still be written to
    good("warm", "--model", snapshot, "--device", "openvino:CPU", "--cache-folder", tmp_path / "cache")
    assert "model.onnx" in good("cache", "list", "--json", "--cache-folder", tmp_path / "cache").stdout
    agrees(embed(snapshot, "--device", "openvino:CPU", "--cache-folder", tmp_path / "cache"))
    line = bad(1, "compile", snapshot / "onnx" / "model.onnx", "--target", "cpu", "-o", tmp_path / "b")
    assert "its data is in other files, which bundles do not support yet" in line


def test_what_the_configuration_says_of_the_network_does_not_matter(model):
    config = model / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"model_type": "unheard_of"}))
    agrees(embed(model, "--onnx-file", "onnx/model_other.onnx"))
    config.write_text(json.dumps(json.loads((TINY / "config.json").read_text()) | {"hidden_act": "unheard_of"}))
    agrees(embed(model, "--onnx-file", "onnx/model_other.onnx"))
    assert good("tokens", "--model", model, "--onnx-file", "onnx/model_other.onnx", input="the cat\n").stdout


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("../model_other.onnx", "leads out of the model's folder"),
        ("/etc/passwd", "leads out of the model's folder"),
        ("onnx\\model_other.onnx", "leads out of the model's folder"),
        ("onnx/model_none.onnx", "is not a file of the model's folder"),
        ("onnx", "is not a file of the model's folder"),
        ("config.json", "is not an ONNX file"),
        ("onnx/model.onnx", "is not an ONNX file"),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_there_is(model, file, said):
    line = bad(1, "embed", "--model", model, "--onnx-file", file, input="text\n")
    assert "embedding.onnx_file" in line and said in line
    assert "has the ONNX files onnx/model.onnx, onnx/model_other.onnx" in line


def test_folders_without_any_say_so_and_bundles_have_one_model(tmp_path):
    line = bad(1, "embed", "--model", TINY, "--onnx-file", "onnx/model.onnx", input="text\n")
    assert "has no ONNX file" in line
    good("compile", TINY, "-q", "-o", tmp_path / "b")
    assert "is a bundle" in bad(1, "embed", "--model", tmp_path / "b", "--onnx-file", "model.onnx", input="text\n")
    line = bad(1, "embed", "--model", MODULES / "static", "--onnx-file", "model.onnx", input="text\n")
    assert "has no ONNX file" in line


def test_a_model_on_the_hub_comes_with_that_file_and_without_weights(model, tmp_path):
    (model / "onnx" / "model_other.onnx_data").write_bytes(b"tensors")
    hub = Hub()
    try:
        hub.models["org/tiny"] = Model(
            {file.relative_to(model).as_posix(): file.read_bytes() for file in model.rglob("*") if file.is_file()}
        )
        env = {"HF_HOME": str(tmp_path / "hf"), "HF_ENDPOINT": hub.url, "HF_HUB_CACHE": "", "HF_HUB_OFFLINE": ""}
        file = ["--onnx-file", "onnx/model_other.onnx"]
        snapshot = Path(good("pull", "org/tiny", *file, env=env).stdout.strip())
        assert {name.name for name in (snapshot / "onnx").iterdir()} == {"model_other.onnx", "model_other.onnx_data"}
        assert not (snapshot / "model.safetensors").exists()
        agrees(embed("org/tiny", *file, env=env))
        # The weights come when they are wanted.
        assert embed("org/tiny", env=env).shape[1] == 32
        for wrong in "onnx/none.onnx", "../x.onnx":
            line = bad(1, "pull", "org/tiny", "--onnx-file", wrong, env=env)
            assert "is not a file of the model; 'org/tiny' has the ONNX files onnx/model.onnx, onnx/model_other.onnx" in line
    finally:
        hub.close()
