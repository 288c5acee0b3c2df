"""The template of a plug-in (examples/backend-plugin/), as a stranger copies, builds, tests, installs and packages it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
BINARY = Path(os.environ["LATEBIND_TEST_BINARY_DIR"])
KIT = os.environ["LATEBIND_TEST_KIT"]
TEMPLATE = SOURCE / "examples" / "backend-plugin"
TINY = SOURCE / "tests" / "data" / "tiny-bert" / "f32"
# Where Latebind's .deb would have put the header.
NOT_OF_SYSTEM = "-DCMAKE_IGNORE_PATH=/usr/include;/usr/local/include"
PACKAGING = SOURCE / "build" / "runtime" / "packaging" / "bin" / "python"


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, encoding="utf-8", timeout=120,
                          check=False, **options)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done


def clean(home, **variables):
    """The environment of a user without vendors' libraries and with an empty home."""
    return os.environ | {
        "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"), "VIRTUAL_ENV": "", "CONDA_PREFIX": "",
        "LATEBIND_OPENVINO_LIBRARY": "/nonexistent/libopenvino_c.so",
        "LATEBIND_ONNXRUNTIME_LIBRARY": "/nonexistent/libonnxruntime.so"} | variables


def latebind(*arguments, **options):
    return run(BINARY / "bin" / "latebind", *arguments, **options)


def state_of_adder(environment):
    listed = json.loads(latebind("backends", "--json", env=environment).stdout)["backends"]
    return [(one["state"], one["version"], one["devices"], one["file"]) for one in listed if one["name"] == "adder"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Where Latebind's header is: a folder as `cmake --install` leaves it, with nothing else of the package."""
    folder = tmp_path_factory.mktemp("installed")
    (folder / "include" / "latebind").mkdir(parents=True)
    shutil.copy(SOURCE / "include" / "latebind" / "latebind_backend.h", folder / "include" / "latebind")
    return folder


@pytest.fixture(scope="module")
def project(tmp_path_factory, installed):
    """A copy of the template, built."""
    folder = tmp_path_factory.mktemp("project") / "copy"
    shutil.copytree(TEMPLATE, folder)
    run("cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={installed}",
        f"-DCMAKE_C_COMPILER={os.environ['LATEBIND_TEST_C_COMPILER']}", "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror",
        env=os.environ | {"PATH": f"{KIT}:{os.environ['PATH']}" if KIT else os.environ["PATH"]})
    run("cmake", "--build", folder / "build")
    return folder


@pytest.mark.skipif(not KIT, reason="the kit is not built")
def test_its_own_tests_are_the_kit(project):
    said = run("ctest", "--test-dir", project / "build", "--verbose", "--no-tests=error").stdout
    assert "adder.conformance" in said and " 0 failed" in said


def test_without_the_header_it_says_what_to_set(tmp_path):
    done = subprocess.run(["cmake", "-G", "Ninja", "-S", str(TEMPLATE), "-B", str(tmp_path), NOT_OF_SYSTEM],
                          capture_output=True, encoding="utf-8", timeout=120, check=False)
    assert done.returncode != 0 and "latebind/latebind_backend.h is not found: set CMAKE_PREFIX_PATH" in done.stderr


def test_a_copy_of_the_header_is_enough(tmp_path, installed):
    shutil.copytree(TEMPLATE, tmp_path / "copy")
    shutil.copytree(installed / "include", tmp_path / "copy" / "include")
    run("cmake", "-G", "Ninja", "-S", tmp_path / "copy", "-B", tmp_path / "build", NOT_OF_SYSTEM)


def test_it_is_added_from_its_build_folder(project, tmp_path):
    environment = clean(tmp_path)
    said = latebind("backends", "add", project / "build" / "adder.json", env=environment).stdout
    assert "added adder 1.0.0" in said and "devices: adder:CPU" in said
    assert "adder:CPU: works" in latebind("doctor", env=environment).stdout


def test_a_model_that_it_does_not_take_goes_on_to_the_next_device(project, tmp_path):
    environment = clean(tmp_path, LATEBIND_BACKENDS=f"{project / 'build' / 'adder.json'}:none")
    done = latebind("embed", TINY, "-", "--device", "adder,native", input="one\n", env=environment)
    assert json.loads(done.stdout)["embedding"]
    assert "native:CPU, because adder:CPU: an input is not f32: 'input_ids'" in done.stderr


@pytest.fixture(scope="module")
def layers(tmp_path_factory, installed):
    """The library of layers.c, compiled as it says itself."""
    library = tmp_path_factory.mktemp("layers") / "liblayers.so"
    run(os.environ["LATEBIND_TEST_C_COMPILER"], "-std=c11", "-O3", "-Wall", "-Wextra", "-Werror", "-fPIC",
        "-fvisibility=hidden", "-shared", "-I", installed / "include", TEMPLATE / "layers.c", TEMPLATE / "operators.c", "-o", library, "-lm")
    return library


def test_layers_run_an_embedding_model(layers, tmp_path):
    environment = clean(tmp_path)
    assert "devices: layers:CPU" in latebind("backends", "add", layers, env=environment).stdout
    vectors = {}
    for device in ("layers:CPU", "native:CPU"):
        said = latebind("embed", TINY, "-", "--device", device, "--precision", "f32", "--strict",
                        input="one\ntwo words, and a third\n", env=environment).stdout
        vectors[device] = [number for line in said.splitlines() for number in json.loads(line)["embedding"]]
    assert len(vectors["layers:CPU"]) == 64
    assert vectors["layers:CPU"] == pytest.approx(vectors["native:CPU"], abs=1e-5)


@pytest.mark.skipif(not KIT, reason="the kit is not built")
def test_layers_pass_the_kit(layers):
    report = json.loads(run(f"{KIT}/latebind-conformance", layers, "--report", "json").stdout)
    [device] = [each for each in report["devices"] if any(one["name"] == "operator.add" for one in each["checks"])]
    passed = {one["name"] for one in device["checks"] if one["verdict"] == "passed"}
    assert report["failed"] == 0
    assert {f"operator.{name}" for name in (
        "lookup", "position_lookup", "row_lookup", "add", "linear", "layer_norm", "activation", "attention", "pool",
        "normalize")} <= passed


def test_it_is_installed_where_latebind_looks(project, tmp_path):
    prefix = tmp_path / "prefix"
    run("cmake", "--install", project / "build", "--prefix", prefix)
    folder = prefix / "lib" / "latebind" / "backends"
    # The search looks beside the program.
    (prefix / "bin").mkdir()
    shutil.copy(BINARY / "bin" / "latebind", prefix / "bin")
    listed = json.loads(run(prefix / "bin" / "latebind", "backends", "--json", env=clean(tmp_path)).stdout)
    found = [(one["state"], one["file"]) for one in listed["backends"] if one["name"] == "adder"]
    assert found == [("ready", str(folder / "adder.json"))]


def test_its_wheel_registers_itself(project, installed, tmp_path):
    run(PACKAGING, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, project,
        env=os.environ | {"CMAKE_PREFIX_PATH": str(installed)})
    [wheel] = tmp_path.glob("*.whl")
    assert wheel.name.startswith("latebind_backend_adder-1.0.0-py3-none-linux_")
    venv = tmp_path / "venv"
    run(sys.executable, "-m", "venv", venv)
    pip = [venv / "bin" / "python", "-m", "pip"]
    environment = clean(tmp_path, VIRTUAL_ENV=str(venv))
    assert state_of_adder(environment) == []
    run(*pip, "install", "--quiet", "--no-index", wheel)
    [(state, version, devices, file)] = state_of_adder(environment)
    assert (state, version, devices) == ("ready", "1.0.0", ["adder:CPU"])
    assert Path(file).parts[-3:] == ("site-packages", "latebind_backend_adder", "latebind_backend.json")
    run(*pip, "uninstall", "--quiet", "--yes", "latebind-backend-adder")
    assert state_of_adder(environment) == []
