"""latebind pull beside others: the official package and other processes in one cache, and folders that take nothing."""

import json
import os
import resource
import subprocess
from pathlib import Path

import pytest
from hub_server import COMMIT, Fault, Model, sha256
from pull_scene import NAME, NEEDED, big_files, hub, is_complete, place, python  # noqa: F401 (fixtures)
from support import PROGRAM


# The official package.


def test_the_official_package_finds_what_we_loaded(hub, place):
    place.good("pull", NAME)
    hub.requests.clear()
    found = python(place, "from huggingface_hub import snapshot_download, hf_hub_download\n"
                   f"print(snapshot_download('{NAME}', local_files_only=True))\n"
                   f"print(hf_hub_download('{NAME}', 'model.safetensors'))\n"
                   f"print(hf_hub_download('{NAME}', '1_Pooling/config.json', revision='{COMMIT}'))",
                   HF_HUB_OFFLINE="1").splitlines()
    assert found == [str(place.snapshot), str(place.snapshot / "model.safetensors"),
                     str(place.snapshot / "1_Pooling" / "config.json")]
    assert hub.asked() == []


def test_we_find_what_the_official_package_loaded(hub, place):
    folder = python(place, f"from huggingface_hub import snapshot_download; print(snapshot_download('{NAME}'))")
    assert folder == str(place.snapshot)
    assert hub.asked("cdn GET")
    hub.requests.clear()
    told = json.loads(place.good("pull", NAME, "--json", HF_HUB_OFFLINE="1").stdout)
    assert told["folder"] == folder and told["from_cache"] is True
    assert {file["name"] for file in told["files"]} == NEEDED
    assert hub.asked() == []


def test_each_goes_on_where_the_other_stopped(hub, place):
    python(place, f"from huggingface_hub import hf_hub_download; hf_hub_download('{NAME}', 'model.safetensors')")
    hub.requests.clear()
    place.good("pull", NAME)
    assert is_complete(place, hub)
    assert not hub.asked("model.safetensors") and not hub.asked("cdn")
    hub.requests.clear()
    folder = python(place, f"from huggingface_hub import snapshot_download; print(snapshot_download('{NAME}'))")
    assert folder == str(place.snapshot)
    assert not hub.asked("GET .*/resolve/.*/tokenizer.json")
    assert (place.snapshot / ".gitattributes").exists()


def test_an_interrupted_snapshot_of_another_tool_is_not_taken_for_complete(hub, place):
    python(place, f"from huggingface_hub import snapshot_download; print(snapshot_download('{NAME}'))")
    (place.snapshot / "sentence_bert_config.json").unlink()
    line = place.bad("pull", NAME, HF_HUB_OFFLINE="1")
    assert "sentence_bert_config.json" in line and "latebind pull org/tiny" in line
    place.good("pull", NAME)
    assert NEEDED <= place.files()


# Several at once, and folders that take nothing.


def test_two_processes_load_each_file_once(hub, place):
    hub.models[NAME] = Model(big_files())
    hub.misbehave("GET /[0-9a-f]{64}", Fault("drip", 1_000_000))
    first = place.start("pull", NAME, "--json")
    hub.wait_for(hub.dripping)
    second = place.start("pull", NAME, "--json")
    assert "waiting for it" in second.stderr.readline()
    hub.go_on.set()
    for process in (first, second):
        out, error = process.communicate(timeout=60)
        assert process.returncode == 0, error
        assert json.loads(out)["folder"] == str(place.snapshot)
    assert is_complete(place, hub)
    assert len(hub.asked("cdn GET")) == 1


def test_many_processes_agree(hub, place):
    processes = [place.start("pull", NAME) for _ in range(8)]
    for process in processes:
        out, error = process.communicate(timeout=120)
        assert process.returncode == 0 and out == f"{place.snapshot}\n", error
    assert is_complete(place, hub)
    assert not place.incomplete()


def test_a_full_disk_keeps_what_came(hub, place):
    weights = big_files()["model.safetensors"]
    hub.models[NAME] = Model(big_files())

    def limit():
        # Python ignores the signal of it, and the child does so, too: the write fails.
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, 1_500_000))

    process = place.start("pull", NAME, preexec_fn=limit, restore_signals=False)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "cannot write" in error and "kept for the next attempt" in error and len(error.splitlines()) == 1
    assert place.blob(weights).with_suffix(".incomplete").stat().st_size == 1_500_000
    told = json.loads(place.good("pull", NAME, "--json").stdout)
    assert told["loaded_bytes"] == len(weights) - 1_500_000
    assert is_complete(place, hub)


def test_a_disk_that_is_really_full(hub, place):
    """In a mount namespace of its own, which only root may make."""
    hub.models[NAME] = Model(big_files())
    place.cache.mkdir(parents=True)
    script = f'mount -t tmpfs -o size=1m none "{place.cache}" && "$@"; code=$?; ls "{place.model}/blobs"; exit $code'
    command = ["unshare", "--mount", "sh", "-c", script, "sh"]
    if subprocess.run([*command, "true"], capture_output=True).returncode != 0:
        pytest.skip("this user may not mount; the test before limits the size of a file instead")
    done = subprocess.run([*command, PROGRAM, "pull", NAME], env=os.environ | place.env, capture_output=True,
                          encoding="utf-8", timeout=60)
    assert done.returncode == 1
    assert "No space left" in done.stderr and "kept for the next attempt" in done.stderr
    assert sha256(hub.models[NAME].files["model.safetensors"]) + ".incomplete" in done.stdout


def test_a_folder_that_takes_nothing(place, tmp_path):
    (tmp_path / "file").touch()
    line = place.bad("pull", NAME, HF_HUB_CACHE=str(tmp_path / "file" / "hub"))
    assert "cannot make the folder" in line and "HF_HUB_CACHE" in line


def test_the_cache_is_where_the_variables_say(hub, place, tmp_path):
    for number, (name, below) in enumerate([("HF_HUB_CACHE", ""), ("HF_HOME", "hub"),
                                            ("XDG_CACHE_HOME", "huggingface/hub"),
                                            ("HOME", ".cache/huggingface/hub")]):
        env = {"HF_HOME": "", "XDG_CACHE_HOME": ""} | {name: str(tmp_path / str(number))}
        folder = Path(place.good("pull", NAME, **env).stdout.strip())
        assert folder == tmp_path / str(number) / below / "models--org--tiny" / "snapshots" / COMMIT
