"""latebind models: a list that is true."""

import fcntl
import json
import os
import shutil
import subprocess

import pytest
from support import SOURCE, TINY, bad, good, run


def test_the_reference_in_the_documents_is_what_the_program_says():
    written = (SOURCE / "docs" / "models.md").read_text(encoding="utf-8")
    assert good("models", "--reference").stdout == written, (
        "run: build/release/bin/latebind models --reference > docs/models.md")


def test_the_page_of_published_models_is_what_its_data_says():
    ran = subprocess.run(
        [str(SOURCE / "scripts" / "generate_published_models"), "--check"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


def test_json_and_text_name_the_same():
    found = json.loads(good("models", "--networks", "--json").stdout)
    text = good("models", "--networks").stdout
    for one in found["architectures"]:
        assert list(one) == ["model_type", "name", "checked", "refused", "cross_encoder", "sparse_encoder"]
        assert f"  {one['model_type']} " in text and f" {one['name']}: " in text
    for part, types in found["tokenizer"].items():
        assert f"  {part} " in text and ", ".join(types) in text


def test_what_is_said_to_be_checked_is_checked():
    """Random weights: there is such a network among the tests' data, whose vectors the tests compare."""
    networks = {folder.name for folder in (SOURCE / "tests" / "data" / "networks").iterdir() if folder.is_dir()}
    for one in json.loads(good("models", "--networks", "--json").stdout)["architectures"]:
        if "random weights" in one["checked"] and one["model_type"] != "bert":
            assert one["model_type"] in networks, one


def test_a_refusal_names_the_same_kinds(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    for file in TINY.iterdir():
        if file.is_file():
            (folder / file.name).write_bytes(file.read_bytes())
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_bytes((TINY / "1_Pooling" / "config.json").read_bytes())
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "modernbort"}))
    line = bad(1, "embed", "--model", folder, input="a")
    assert "modernbort" in line
    for one in json.loads(good("models", "--networks", "--json").stdout)["architectures"]:
        assert one["model_type"] in line


def test_recommended_models_are_of_kinds_that_this_build_opens(tmp_path):
    found = json.loads(good("models", "--json", env={"HF_HUB_CACHE": str(tmp_path / "none")}).stdout)
    networks = {one["model_type"]: one for one in json.loads(good("models", "--networks", "--json").stdout)["architectures"]}
    assert len(found["recommended"]) >= 12
    for one in found["recommended"]:
        assert list(one) == ["model", "kind", "network", "good_for", "megabytes", "dimension", "languages", "licence", "cached"]
        assert one["network"] == "static" or one["network"] in networks, one
        assert one["kind"] != "cross-encoder" or networks[one["network"]]["cross_encoder"], one
        assert (one["dimension"] == 0) == (one["kind"] == "cross-encoder") and one["megabytes"] > 0 and not one["cached"]
    assert found["cache"] == {"folder": str(tmp_path / "none"), "bytes": 0, "models": []}


MINILM = "sentence-transformers/all-MiniLM-L6-v2"
FIRST, SECOND = "1" * 40, "2" * 40


class Cache:
    """A cache of the hub, as its tools fill it."""

    def __init__(self, folder):
        self.folder = folder
        self.env = {"HF_HUB_CACHE": str(folder)}

    def place(self, model):
        return self.folder / f"models--{model.replace('/', '--')}"

    def put(self, model, commit, files, ref=None, store=None):
        """`files`: content by name; blobs are named by it. `store`: a folder for all blobs instead of the model's own."""
        place = self.place(model)
        for name, content in files.items():
            blob = (store or place / "blobs") / content
            blob.parent.mkdir(parents=True, exist_ok=True)
            blob.write_text(content)
            link = place / "snapshots" / commit / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(os.path.relpath(blob, link.parent))
        if ref:
            (place / "refs").mkdir(exist_ok=True)
            (place / "refs" / ref).write_text(commit)
        return place

    def models(self):
        cache = json.loads(good("models", "--json", env=self.env).stdout)["cache"]
        return {one["model"]: one for one in cache["models"]}

    def remove(self, name):
        return json.loads(good("models", "rm", name, "--yes", "--json", env=self.env).stdout)

    def refusal(self, code, *arguments):
        return bad(code, "models", "rm", *arguments, env=self.env)


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "hub")


WHOLE = {"config.json": "config", "model.safetensors": "weights"}


def test_models_in_the_cache_are_listed(cache):
    cache.put(MINILM, FIRST, WHOLE, "main")
    broken = cache.put("org/broken", FIRST, WHOLE)
    (broken / "blobs" / "weights").unlink()
    cache.put("alone", FIRST, WHOLE)
    found = cache.models()
    assert list(found) == ["alone", "org/broken", MINILM]
    assert found[MINILM]["revisions"] == [{"commit": FIRST, "refs": ["main"], "usable": True}]
    assert found[MINILM]["bytes"] == len("configweights")
    assert not found["org/broken"]["revisions"][0]["usable"]
    report = json.loads(good("models", "--json", env=cache.env).stdout)
    assert [one["model"] for one in report["recommended"] if one["cached"]] == [MINILM]
    for name, usable in (("pytorch_model.bin", True), ("training_args.bin", False), ("model.gguf", True)):
        cache.put(f"org/{name}", FIRST, {"config.json": "config", name: "weights"})
        assert cache.models()[f"org/{name}"]["revisions"][0]["usable"] is usable
    text = good("models", env=cache.env).stdout
    assert f"  {MINILM}  (in the cache)\n" in text and "  org/broken  0 MB, incomplete\n" in text


def test_nothing_is_removed_without_yes(cache):
    place = cache.put(MINILM, FIRST, WHOLE, "main")
    line = cache.refusal(2, MINILM)
    assert "nothing is removed without --yes; with it, the command removes" in line and MINILM in line
    assert (place / "snapshots" / FIRST / "config.json").exists()
    assert cache.remove("all-MiniLM-L6-v2")["bytes"] == len("configweights") + 40
    assert not place.exists() and cache.models() == {}


def test_what_is_not_there_or_not_clear_is_an_error(cache):
    assert "it is empty" in cache.refusal(1, "x", "--yes")
    cache.put("a/model", FIRST, WHOLE)
    cache.put("b/model", FIRST, WHOLE)
    assert "'model' may be a/model or b/model" in cache.refusal(1, "model", "--yes")
    said = cache.refusal(1, "a/modle", "--yes")
    assert "the cache has no model 'a/modle' (did you mean a/model?); it has a/model, b/model" in said
    assert "the cache has no model 'x'; it has a/model" in cache.refusal(1, "x", "--yes")
    assert "no revision 'v9' of a/model" in cache.refusal(1, "a/model@v9", "--yes")
    assert "no model '../a'" in cache.refusal(1, "../a", "--yes")
    assert set(cache.models()) == {"a/model", "b/model"}


def test_a_revision_goes_without_what_another_one_uses(cache):
    place = cache.put(MINILM, FIRST, WHOLE, "main")
    cache.put(MINILM, SECOND, {"config.json": "newer", "model.safetensors": "weights"}, "v2")
    assert cache.remove(f"{MINILM}@main")["kept"] == 1
    assert sorted(path.name for path in (place / "blobs").iterdir()) == ["newer", "weights"]
    assert (place / "snapshots" / SECOND / "model.safetensors").read_text() == "weights"
    assert not (place / "refs" / "main").exists() and not (place / "snapshots" / FIRST).exists()
    # Of the only one nothing is left.
    cache.remove(f"{MINILM}@{SECOND}")
    assert not place.exists()


@pytest.mark.parametrize("shared", [True, False])
def test_contents_that_other_models_use_stay(cache, shared):
    """Shared: in a folder of the cache for all models. Else the other model's links lead into this one."""
    store = cache.folder / "store" if shared else None
    place = cache.put("a/model", FIRST, WHOLE, store=store)
    other = cache.put("b/model", FIRST, {"config.json": "others", "model.safetensors": "weights"}, store=store or place / "blobs")
    removed = cache.remove("a/model")
    # Where its own folder has the other model's contents, both stay.
    assert removed["kept"] == (1 if shared else 2)
    assert (other / "snapshots" / FIRST / "model.safetensors").read_text() == "weights"
    assert (other / "snapshots" / FIRST / "config.json").read_text() == "others"
    assert not ((store or place / "blobs") / "config").exists()
    cache.remove("b/model")
    assert not store or not list(store.iterdir())


def test_nothing_outside_the_cache_is_touched(cache, tmp_path):
    outside = tmp_path / "outside"
    (outside / "folder").mkdir(parents=True)
    (outside / "weights").write_text("mine")
    (outside / "folder" / "file").write_text("mine")
    place = cache.put(MINILM, FIRST, {"config.json": "config"})
    (place / "snapshots" / FIRST / "model.safetensors").symlink_to(outside / "weights")
    (place / "snapshots" / FIRST / "more").symlink_to(outside / "folder")
    (place / "snapshots" / SECOND).symlink_to(outside / "folder")
    cache.remove(MINILM)
    assert not place.exists()
    assert (outside / "weights").read_text() == (outside / "folder" / "file").read_text() == "mine"
    # A link is no model.
    place.symlink_to(outside / "folder")
    assert "no model" in cache.refusal(1, MINILM, "--yes")
    assert (outside / "folder" / "file").exists()


def test_a_model_that_is_being_loaded_stays(cache):
    place = cache.put(MINILM, FIRST, WHOLE)
    locks = cache.folder / ".locks" / place.name
    locks.mkdir(parents=True)
    with open(locks / "weights.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "is being loaded by another process" in cache.refusal(1, MINILM, "--yes")
        assert (place / "snapshots" / FIRST / "model.safetensors").exists()
    cache.remove(MINILM)
    assert not place.exists() and not locks.exists()


def test_an_unreadable_cache_is_an_error(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    done = run("models", env={"HF_HUB_CACHE": str(file)})
    assert done.returncode == 1 and str(file) in done.stderr


def test_inspect_takes_a_name_as_the_other_commands(tmp_path):
    place = tmp_path / "models--ours--tiny"
    shutil.copytree(TINY, place / "snapshots" / FIRST)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(FIRST)
    env = {"HF_HUB_CACHE": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    by_name = good("inspect", "ours/tiny", "--json", env=env).stdout
    assert by_name == good("inspect", place / "snapshots" / FIRST, "--json", env=env).stdout
    assert by_name == good("inspect", "-m", "ours/tiny", "--json", env=env).stdout
    assert "there is no folder 'ours/tony'" in bad(1, "inspect", "ours/tony", env=env)
