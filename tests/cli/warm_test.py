"""latebind warm: what is told as ready is found by the next start."""

import json
import os

import pytest
from support import BOTH_GONE, TINY, VENDORS_FIRST, bad, good, run, with_small_files


def comes_from_the_cache(folder, *arguments):
    done = good("-v", "embed", "--model", TINY, "--cache-folder", folder, *arguments, input="a man\n")
    return "taken from the cache" in done.stderr


@pytest.mark.parametrize("device", ["openvino:CPU", "onnxruntime:CPU"])
def test_the_next_start_finds_what_was_warmed(tmp_path, device):
    assert not comes_from_the_cache(tmp_path / "cold", "--device", device)
    folder = tmp_path / "warm"
    text = good("warm", "--model", TINY, "--device", device, "--cache-folder", folder).stdout
    assert text.startswith("ready in ") and device in text
    assert comes_from_the_cache(folder, "--device", device)


def test_every_device_of_the_placement_is_warmed(tmp_path):
    report = json.loads(good("warm", "--model", TINY, *VENDORS_FIRST, "--json", "--cache-folder", tmp_path).stdout)
    assert [(one["device"], one["ready"]) for one in report["devices"]] == [
        ("openvino:CPU", True), ("onnxruntime:CPU", True), ("native:CPU", True)]


@pytest.mark.parametrize("more", [["--precision", "bf16"], ["--shapes", "static"], []])
def test_the_first_device_is_the_one_that_embeds(tmp_path, more):
    """What strict takes, in the precision and with the shapes that are asked for."""
    done = run("warm", "--model", TINY, "--strict", "--json", "--cache-folder", tmp_path, *more)
    if done.returncode != 0:  # a processor without bf16: embed refuses it as well
        assert "bf16" in more and "bf16" in done.stderr, done.stderr
        assert run("embed", "--model", TINY, "--strict", "--cache-folder", tmp_path, *more, input="a man\n").returncode == 1
        return
    report = json.loads(done.stdout)
    (warmed,) = [one["device"] for one in report["devices"]]
    done = good("-v", "embed", "--model", TINY, "--strict", "--cache-folder", tmp_path, *more, input="a man\n")
    assert f" on {warmed} " in done.stderr
    assert warmed == "native:CPU" or "taken from the cache" in done.stderr


def test_every_static_length_is_warmed(tmp_path):
    shapes = ("--device", "openvino:CPU", "--shapes", "static", "--static-lengths", "4,8")
    good("warm", "--model", TINY, "--cache-folder", tmp_path, *shapes)
    # 4 and 8, and the model's own limit.
    entries = json.loads(good("cache", "list", "--json", "--cache-folder", tmp_path).stdout)["entries"]
    assert len(entries) == 3
    assert comes_from_the_cache(tmp_path, *shapes)


def test_what_can_not_be_kept_is_not_called_ready(tmp_path):
    folder = tmp_path / "file"
    folder.write_text("no folder")
    done = run("warm", "--model", TINY, "--device", "openvino:CPU", "--cache-folder", folder)
    assert done.returncode == 1
    assert "not ready: openvino:CPU: it was compiled but not kept" in done.stdout


def test_why_something_was_not_kept_is_said(tmp_path):
    done = run("warm", "--model", TINY, "--device", "openvino:CPU,onnxruntime:CPU", "--cache-folder", tmp_path / "cache",
               preexec_fn=with_small_files)
    assert done.returncode == 1 and "not kept: " in done.stderr and "ulimit -f" in done.stderr, done.stderr
    by_openvino, by_onnxruntime = done.stdout.splitlines()
    assert "OpenVINO" in by_openvino and "OpenVINO" not in by_onnxruntime, done.stdout


def test_without_a_cache_or_a_device_it_says_so(tmp_path):
    assert "the cache is off" in bad(2, "warm", "--model", TINY, "--no-cache")
    assert "install" in bad(1, "warm", "--model", TINY, "--device", "openvino", "--cache-folder", tmp_path, env=BOTH_GONE)
    assert not os.listdir(tmp_path)
