"""latebind pull where files in the cache are damaged."""

import json

import pytest
from hub_server import COMMIT
from pull_scene import NAME, NEEDED, hub, is_complete, place, python  # noqa: F401 (fixtures)
from support import bad, good


# What is damaged in the cache.


def cut(content):
    return content[:len(content) // 2]


def flipped(content):
    return content[:-1] + bytes([content[-1] ^ 1])


def damage(place, name, how):
    """Writes through the link, into the content."""
    file = place.snapshot / name
    file.write_bytes(how(file.read_bytes()))


def loaded(place, *arguments, **env):
    done = place.good("pull", NAME, "--json", *arguments, **env)
    return sorted(file["name"] for file in json.loads(done.stdout)["files"] if file["loaded"]), done.stderr


@pytest.mark.parametrize("how", [cut, flipped])
@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_what_is_damaged_is_loaded_again(hub, place, name, how):
    place.good("pull", NAME)
    damage(place, name, how)
    hub.requests.clear()
    names, told = loaded(place)
    assert names == [name]
    assert f"{name} of '{NAME}' is damaged in the cache" in told and told.count("\n") == 1
    assert is_complete(place, hub)
    assert len(hub.asked("GET .*/resolve/|cdn")) == (2 if name == "model.safetensors" else 1)
    assert not place.incomplete()
    assert loaded(place) == ([], "")


@pytest.mark.parametrize("command, name", [("embed", "model.safetensors"), ("tokens", "tokenizer.json"),
                                           ("export", "model.safetensors"), ("compile", "model.safetensors")])
def test_the_error_of_a_damaged_model_names_what_repairs_it(place, tmp_path, command, name):
    def arguments(model):
        model = [model, "--target", "cpu"] if command == "compile" else ["--model", model]
        return [command, *model, *(["-o", "out"] if command in ("compile", "export") else ["/dev/null"])]

    place.good("pull", NAME)
    damage(place, name, cut)
    for model in NAME, place.snapshot:
        line = bad(1, *arguments(model), env=place.env, cwd=tmp_path)
        assert f"{name} is damaged in the hub's cache" in line and "`latebind pull org/tiny` downloads it again" in line
    place.good("pull", NAME)
    good(*arguments(NAME), env=place.env, cwd=tmp_path)
    # Of another cache, and of another commit than that of the branch.
    (place.model / "refs" / "main").write_text("f" * 40)
    damage(place, name, cut)
    line = bad(1, *arguments(place.snapshot), env=place.env | {"HF_HUB_CACHE": str(tmp_path)}, cwd=tmp_path)
    assert f"`latebind pull org/tiny@{COMMIT}` with HF_HUB_CACHE='{place.cache}' downloads it again" in line


def test_a_model_that_is_wrong_but_not_damaged_stays_as_it_is(hub, place):
    hub.models[NAME].files["model.safetensors"] = b"no weights"
    line = place.bad("embed", "--model", NAME, "/dev/null")
    assert "model.safetensors" in line and "damaged in the hub's cache" not in line and "latebind pull" not in line
    place.good("pull", NAME)


def test_a_small_file_that_is_damaged_is_repaired_without_being_asked_for(hub, place):
    place.good("pull", NAME)
    damage(place, "config.json", cut)
    assert "config.json of 'org/tiny' is damaged in the cache" in place.good("embed", "--model", NAME, "/dev/null").stderr
    assert is_complete(place, hub)


def test_copies_are_compared_with_what_the_hub_says(hub, place):
    env = {"HF_HUB_DISABLE_SYMLINKS": "1"}
    place.good("pull", NAME, **env)
    damage(place, "model.safetensors", flipped)
    damage(place, "1_Pooling/config.json", cut)
    assert "latebind pull org/tiny` compares the files" in place.bad("embed", "--model", NAME, "/dev/null", **env)
    hub.requests.clear()
    assert loaded(place, **env)[0] == []  # the contents are there, of which they are copies
    assert is_complete(place, hub) and not hub.asked("GET .*/resolve/|cdn")
    for file in (place.model / "blobs").iterdir():
        file.write_bytes(b"damaged, too")
    damage(place, "model.safetensors", flipped)
    assert loaded(place, **env)[0] == ["model.safetensors"]
    assert is_complete(place, hub)


def test_a_hub_that_tells_nothing_of_files_is_asked_for_each(hub, place):
    hub.tells_blobs = False
    env = {"HF_HUB_DISABLE_SYMLINKS": "1"}
    place.good("pull", NAME, **env)
    damage(place, "model.safetensors", flipped)
    place.good("pull", NAME, **env)
    assert is_complete(place, hub)


def test_a_commit_that_is_damaged_is_repaired(hub, place):
    name = f"{NAME}@{COMMIT}"
    place.good("pull", name)
    damage(place, "model.safetensors", flipped)
    place.good("pull", name)
    assert is_complete(place, hub)
    hub.requests.clear()
    place.good("pull", name)
    assert hub.asked() == []


def test_force_loads_everything_again(hub, place):
    place.good("pull", NAME)
    inodes = {name: (place.snapshot / name).stat().st_ino for name in NEEDED}
    assert loaded(place, "--force") == (sorted(NEEDED), "")
    assert is_complete(place, hub)
    assert all((place.snapshot / name).stat().st_ino != inode for name, inode in inodes.items())
    assert loaded(place, "--force")[0] == sorted(NEEDED)
    assert "HF_HUB_OFFLINE is set" in place.bad("pull", NAME, "--force", HF_HUB_OFFLINE="1")
    assert "cannot reach" in place.run("pull", NAME, "--force", HF_ENDPOINT="http://hub.invalid").stderr


def test_without_the_network_damage_is_an_error(hub, place):
    place.good("pull", NAME)
    damage(place, "model.safetensors", flipped)
    line = place.bad("pull", NAME, HF_HUB_OFFLINE="1")
    assert "model.safetensors is damaged in the cache" in line and "HF_HUB_OFFLINE" in line
    line = place.bad("pull", NAME, HF_ENDPOINT="http://hub.invalid")
    assert "model.safetensors is damaged in the cache" in line and "cannot reach" in line
    place.good("pull", NAME)
    assert is_complete(place, hub)


def test_a_content_that_repositories_share_is_not_written_through(hub, place):
    place.good("pull", NAME)
    blob = place.blob(hub.models[NAME].files["model.safetensors"])
    shared = place.cache / "blobs" / "ab" / ("ab" * 32)
    shared.parent.mkdir(parents=True)
    shared.write_bytes(flipped(blob.read_bytes()))
    blob.unlink()
    blob.symlink_to(f"../../blobs/ab/{shared.name}")
    before = shared.read_bytes()
    assert loaded(place)[0] == ["model.safetensors"]
    assert is_complete(place, hub) and shared.read_bytes() == before


def test_another_tools_list_tells_of_copies_without_a_hub(hub, place):
    env = {"HF_HUB_DISABLE_SYMLINKS": "1"}
    python(place, f"from huggingface_hub import snapshot_download; print(snapshot_download('{NAME}'))", **env)
    assert not (place.snapshot / "model.safetensors").is_symlink()
    place.good("pull", NAME, HF_HUB_OFFLINE="1")
    damage(place, "model.safetensors", flipped)
    assert "model.safetensors is damaged" in place.bad("pull", NAME, HF_HUB_OFFLINE="1")
