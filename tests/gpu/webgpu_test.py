"""The WebGPU provider on a GPU in software: found, taken by `auto`, right, and out of the way where it is not there.

Skipped, with the reason, where neither root nor user namespaces can show ONNX Runtime a display adapter.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

for folder in "cli", "server":
    sys.path.insert(0, str(Path(os.environ["LATEBIND_TEST_SOURCE_DIR"]) / "tests" / folder))

from daemon import Daemon, wait_for  # noqa: E402
from support import GOLDEN, MODEL, PROGRAM, SOURCE, cosines, provider, vectors  # noqa: E402

SOFTWARE_GPU = SOURCE / "tests" / "support" / "software_gpu"
DEVICE = "onnxruntime:WebGpu"
WITH_PROVIDER = {"LATEBIND_ONNXRUNTIME_PROVIDERS": provider("onnxruntime-ep-webgpu")}
WITHOUT_PROVIDER = {"LATEBIND_ONNXRUNTIME_PROVIDERS": "none"}
# A GPU in software takes seconds for a text.
FEW = 3


def on_gpu(*command, flags=(), env=None, timeout=600, **options):
    """A command on a machine with a GPU in software."""
    return subprocess.run(
        [SOFTWARE_GPU, *flags, *map(str, command)], env=os.environ | WITH_PROVIDER | (env or {}), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", timeout=timeout, **options)


@pytest.fixture(scope="module", autouse=True)
def namespaces():
    tried = on_gpu("true")
    if tried.returncode == 77 and not (os.environ.get("CI") and "no mount namespace" not in tried.stderr):
        pytest.skip(tried.stderr.strip())
    assert tried.returncode == 0, tried.stderr


def good(*arguments, **options):
    done = on_gpu(PROGRAM, *arguments, **options)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """Some of the golden texts, short ones, and their vectors."""
    lines = (GOLDEN / "minilm.jsonl").read_text(encoding="utf-8").splitlines()
    chosen = [number for number, line in enumerate(lines) if len(line) < 120][:FEW]
    file = tmp_path_factory.mktemp("golden") / "few.jsonl"
    file.write_text("".join(lines[number] + "\n" for number in chosen), encoding="utf-8")
    return file, numpy.load(GOLDEN / "minilm.npy")[chosen]


def test_auto_takes_it_and_gives_the_golden_vectors(few):
    file, golden = few
    done = good("embed", "--model", MODEL, "--precision", "f32", "--batch-tokens", "64", "--input-format", "jsonl", file)
    found = vectors(done.stdout)
    assert cosines(found, golden).min() > 0.99999
    assert numpy.abs(numpy.linalg.norm(found, axis=1) - 1).max() < 1e-6
    assert DEVICE in done.stderr and "nodes, the others on the CPU" in done.stderr


def test_strict_leaves_no_node_to_the_cpu():
    done = on_gpu(PROGRAM, "embed", "--model", MODEL, "--device", DEVICE, "--strict", SOURCE / "examples" / "sentences.txt")
    assert done.returncode == 1 and not done.stdout
    assert "leaves 2 of the" in done.stderr and "Cast" in done.stderr, done.stderr


def test_f16_is_refused_by_name_with_the_reason(tmp_path):
    done = on_gpu(PROGRAM, "embed", "--model", MODEL, "--device", DEVICE, "--precision", "f16", SOURCE / "examples" / "sentences.txt")
    assert done.returncode == 1 and not done.stdout
    assert "computes in f32, not in f16" in done.stderr and "shader-f16" in done.stderr, done.stderr
    # With both, the one that it has is taken.
    (tmp_path / "one.txt").write_text("a cat\n", encoding="utf-8")
    both = good("embed", "--model", MODEL, "--device", DEVICE, "--precision", "f16,f32", tmp_path / "one.txt")
    assert DEVICE in both.stderr and "f32" in both.stderr


def test_a_bundle_gives_the_golden_vectors(few, tmp_path):
    file, golden = few
    bundle = tmp_path / "minilm.lbundle"
    good("compile", MODEL, "--target", "openvino:CPU", "-o", bundle)
    done = good("embed", "--model", bundle, "--device", DEVICE, "--batch-tokens", "64", "--input-format", "jsonl", file)
    assert cosines(vectors(done.stdout), golden).min() > 0.99999
    assert DEVICE in done.stderr


def test_without_an_adapter_the_next_device_answers_and_says_why(few):
    file, golden = few
    done = subprocess.run(
        [PROGRAM, "embed", "--model", MODEL, "--device", f"{DEVICE},cpu", "--input-format", "jsonl", file],
        env=os.environ | WITH_PROVIDER, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=280)
    assert done.returncode == 0, done.stderr
    assert cosines(vectors(done.stdout), golden).min() > 0.99999
    assert "fallback" in done.stderr and "WebGpu" in done.stderr


def notes(*flags, env=None):
    """What `doctor` says of the adapter, for ONNX Runtime, and whether the GPU works."""
    done = on_gpu(PROGRAM, "doctor", "--json", flags=flags, env=env)
    (backend,) = [one for one in json.loads(done.stdout)["backends"] if one["name"] == "onnxruntime"]
    (note,) = backend["hardware"]
    works = {device["id"]: device["works"] for device in backend["devices"]}
    return note, works.get(DEVICE)


def test_without_a_vulkan_driver_that_is_said_first():
    done = on_gpu(PROGRAM, "embed", "--model", MODEL, "--device", f"{DEVICE},cpu", SOURCE / "examples" / "sentences.txt",
                  flags=("--no-driver",))
    assert done.returncode == 0, done.stderr
    assert f"because {DEVICE}: no Vulkan driver supports this GPU" in done.stderr, done.stderr
    assert "sudo apt install mesa-vulkan-drivers" in done.stderr


def test_a_gpu_that_is_unplugged_and_comes_back(tmp_path):
    unplugged = tmp_path / "unplugged"
    under = (SOFTWARE_GPU, "--vulkan", os.environ["UNPLUGGABLE_VULKAN"])
    with Daemon("--device", f"{DEVICE},cpu", env=WITH_PROVIDER | {"UNPLUGGED": str(unplugged)},
                under=under) as daemon:  # fmt: skip

        def device():
            answer = daemon.embed("a cat")
            assert answer.status == 200, answer
            return daemon.status()["models"][0]["device"]

        assert device() == DEVICE
        unplugged.touch()
        assert device().endswith(":CPU")  # the one that comes first depends on the processor
        unplugged.unlink()
        # It is probed after a second, then after two, four and so on.
        wait_for(lambda: device() == DEVICE)


def test_doctor_says_which_part_is_missing():
    whole, works = notes()
    assert works and whole["name"] == "Intel GPU (PCI 8086:46a6)"
    # Its node is not there; what works needs none.
    assert (whole["ready"], whole["status"], whole["remedy"]) == (True, "ready", "")
    no_provider, works = notes(env=WITHOUT_PROVIDER)
    assert works is None
    assert "WebGpuExecutionProvider" in no_provider["status"] and "onnxruntime-ep-webgpu" in no_provider["remedy"]
    assert "no driver" not in no_provider["status"]
    no_driver, works = notes("--no-driver")
    assert not works
    assert "no driver is loaded" in no_driver["status"] and "modprobe" in no_driver["remedy"]
    assert "WebGpuExecutionProvider" not in no_driver["status"]


# What does not hold of this provider, by name: it compiles nothing ahead, so that there are no blobs and nothing to
# cache; it has kernels for few types, and finds out in a run that an adapter, as this one, has no f16.
NOT_OF_IT = ("*Blob*", "*Cache*", "*.PassesEveryElementTypeThroughUnchanged/*",
             "*.ComputesInEveryElementTypeOrRefusesItByName/*", "*.RefusesStringsByName/*")


def test_conforms():
    done = on_gpu(os.environ["CONFORMANCE_TESTS"], f"--gtest_filter=*onnxruntime_WebGpu*-{':'.join(NOT_OF_IT)}",
                  env={"LATEBIND_CONFORMANCE_BACKENDS": "onnxruntime", "LATEBIND_CONFORMANCE_EDGE": "48",
                       "LATEBIND_TEST_ENCODERS_ONE_IN": "12", "LATEBIND_TRIAL_PROGRAM": str(PROGRAM)})
    assert done.returncode == 0, done.stdout[-8000:]
    assert int(re.search(r"^\[  PASSED  \] (\d+) tests", done.stdout, re.MULTILINE)[1]) >= 60
