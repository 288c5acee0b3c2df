"""The wheel that users install: what is in it, what it needs, and that it works in an environment where nothing else is.

Vendors' packages and NumPy are linked into that environment rather than installed, since no network is needed then.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from elftools.elf.elffile import ELFFile
from onnx import TensorProto, helper
from support import GOLDEN, MODEL, SOURCE, cosines

VENDORS = Path(os.environ["LATEBIND_TEST_VENDORS"])
LIMIT = 300
# What every Linux has.
SYSTEM = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "libdl.so.2", "libpthread.so.0"}
TAG = re.compile(r"latebind-[\d.]+-py3-none-manylinux_(\d+)_(\d+)_x86_64\.whl")


def run(*command, env=None, **options):
    done = subprocess.run(
        [str(part) for part in command],
        env=env,
        encoding="utf-8",
        capture_output=True,
        timeout=LIMIT,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """The folder into which scripts/package has put its files."""
    folder = tmp_path_factory.mktemp("packages")
    run(SOURCE / "scripts" / "package", "wheel", env=os.environ | {"LATEBIND_PACKAGES": str(folder)})
    return folder


@pytest.fixture(scope="module")
def wheel(packages):
    [found] = packages.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def content(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("content")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def linked(files):
    return [file for file in files if file.read_bytes()[:4] == b"\x7fELF"]


def binaries(content):
    return linked([file for file in content.rglob("*") if file.is_file()])


def test_it_has_the_package_the_library_the_program_and_the_licences(content):
    names = {str(file.relative_to(content)) for file in content.rglob("*") if file.is_file()}
    assert {
        "latebind/__init__.py",
        "latebind/py.typed",
        "latebind/lib/liblatebind.so",
        "latebind/lib/libonnxruntime_providers_latebind.so",
        "latebind/bin/latebind",
        "latebind/LICENSE",
        "latebind/NOTICES",
    } <= names
    sources = {str(file.relative_to(SOURCE / "python")) for file in (SOURCE / "python" / "latebind").rglob("*.py")}
    assert sources <= names
    notices = (content / "latebind" / "NOTICES").read_text()
    for library in ("libssl-dev", "libutf8proc-dev", "libpcre2-dev", "libsimdjson-dev"):
        assert f"======== {library} ========" in notices
    assert not [name for name in names if "tests/" in name or name.endswith((".cpp", ".h", ".pyc"))]


def test_it_needs_what_every_linux_has_and_no_newer_c_library_than_its_name_says(wheel, content):
    major, minor = map(int, TAG.fullmatch(wheel.name).groups())
    files = binaries(content)
    assert len(files) >= 2
    for file in files:
        with file.open("rb") as stream:
            elf = ELFFile(stream)
            needed = {tag.needed for tag in elf.get_section_by_name(".dynamic").iter_tags("DT_NEEDED")}
            allowed = SYSTEM | ({"libexecutorch.so"} if "executorch" in file.name else set())
            assert needed <= allowed, f"{file.name} needs {needed - allowed}"
            assert not list(elf.get_section_by_name(".dynamic").iter_tags("DT_RUNPATH"))
            versions = [
                version.name
                for _, each in elf.get_section_by_name(".gnu.version_r").iter_versions()
                for version in each
                if version.name.startswith("GLIBC_2")
            ]
        newest = max(tuple(map(int, name[6:].split("."))) for name in versions)
        assert newest[:2] <= (major, minor), f"{file.name} needs glibc {newest}"


def test_its_libraries_show_only_what_is_theirs(content):
    for file in binaries(content):
        with file.open("rb") as stream:
            symbols = [
                symbol.name
                for symbol in ELFFile(stream).get_section_by_name(".dynsym").iter_symbols()
                if symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["bind"] != "STB_LOCAL" and symbol.name
            ]
        if file.name == "liblatebind.so":
            assert symbols and all(name.startswith("lb_") for name in symbols)
        elif file.name == "liblatebind_executorch.so":
            assert symbols == []
        elif file.name == "libonnxruntime_providers_latebind.so":
            assert set(symbols) == {"CreateEpFactories", "ReleaseEpFactory", "LatebindAttestations"}


def site_of(environment):
    [site] = environment.glob("lib/python3*/site-packages")
    return site


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """An empty environment with the wheel, NumPy and OpenVINO."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", folder)
    run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel)
    numpy = Path(np.__file__).parent
    for source in (numpy, numpy.with_name("numpy.libs"), site_of(VENDORS) / "openvino"):
        (site_of(folder) / source.name).symlink_to(source)
    return folder


def test_extras_are_added_to_a_wheel_that_no_registry_has(environment):
    pip = [environment / "bin" / "python", "-m", "pip", "install", "--no-index", "--dry-run", "latebind[bulk]"]
    done = subprocess.run(pip, encoding="utf-8", capture_output=True, timeout=LIMIT, check=False)
    # What is not found without a registry is what the package and its extra want, not the package itself.
    assert "Requirement already satisfied: latebind[bulk]" in done.stdout
    assert "(from latebind[bulk])" in done.stderr, done.stderr


def clean(tmp_path):
    return {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


def test_in_an_empty_environment_it_embeds_as_the_reference_does(environment, tmp_path):
    code = """
import json, sys, numpy, latebind
model, texts, out, device = sys.argv[1:]
assert not any(name in open("/proc/self/maps").read() for name in ("openvino", "onnxruntime", "liblatebind"))
embedder = latebind.Embedder(model, precision="f32", device=device)
numpy.save(out, embedder.encode([json.loads(line)["text"] for line in open(texts, encoding="utf-8")]))
print(embedder.attestation.backend, latebind.__file__)
"""
    out = tmp_path / "out.npy"
    texts = GOLDEN / "minilm.jsonl"
    for backend in ("openvino", "native"):
        line = (code, MODEL, texts, out, f"{backend}:CPU")
        printed = run(environment / "bin" / "python", "-c", *line, env=clean(tmp_path), cwd=tmp_path)
        assert printed.startswith(f"{backend} ") and str(environment) in printed
        assert cosines(np.load(out), np.load(GOLDEN / "minilm.npy")).min() >= 0.99999


def test_its_provider_runs_a_model_in_onnx_runtime(environment, tmp_path):
    code = """
import sys, numpy, onnxruntime
from latebind import onnxruntime as provider
devices = provider.register()
assert [device.ep_metadata["latebind.device"] for device in devices] == ["openvino:CPU"], devices
options = onnxruntime.SessionOptions()
options.add_provider_for_devices(devices, {"precision": "f32"})
session = onnxruntime.InferenceSession(sys.argv[1], options, enable_fallback=False)
print(session.get_providers()[0], session.run(None, {"x": numpy.full((2, 4), 3, numpy.float32)})[0].sum())
"""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4]) for name in "xy")
    nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Mul", ["a", "a"], ["y"])]
    graph = helper.make_graph(nodes, "graph", [x], [y])
    model = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), model)
    (site_of(environment) / "onnxruntime").symlink_to(site_of(VENDORS) / "onnxruntime")
    printed = run(environment / "bin" / "python", "-c", code, model, env=clean(tmp_path), cwd=tmp_path)
    assert printed.split() == ["Latebind", "72.0"]


def test_the_command_is_the_program(environment, tmp_path):
    [release] = re.findall(r"^project\(\w+ VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text(), re.MULTILINE)
    assert release in run(environment / "bin" / "latebind", "--version", env=clean(tmp_path))
    assert release in run(environment / "bin" / "python", "-m", "latebind", "--version", env=clean(tmp_path))
    assert "openvino:CPU" in run(environment / "bin" / "latebind", "devices", env=clean(tmp_path))


def test_the_wheel_of_a_plug_in_registers_itself(environment, tmp_path):
    """The template of examples/backend-plugin/, in the environment where Latebind is, which is not activated."""
    code = """
import json, sys, latebind
found = [one for one in latebind.backends() if one.name == "adder"]
assert not any("libadder" in line for line in open("/proc/self/maps")), "it was opened by being listed"
print(json.dumps([[one.state, one.reason, one.devices, one.source, one.file] for one in found]))
"""

    def listed():
        return json.loads(run(environment / "bin" / "python", "-c", code, env=clean(tmp_path), cwd=tmp_path))

    packaging = SOURCE / "build" / "runtime" / "packaging" / "bin" / "python"
    project = tmp_path / "project"
    shutil.copytree(SOURCE / "examples" / "backend-plugin", project)
    shutil.copytree(SOURCE / "include", project / "include")
    run(packaging, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, project)
    [made] = tmp_path.glob("latebind_backend_adder-*.whl")
    pip = [environment / "bin" / "python", "-m", "pip"]
    assert listed() == []
    run(*pip, "install", "--quiet", "--no-index", made)
    try:
        [(state, reason, devices, source, file)] = listed()
        assert (state, reason, devices, source) == ("ready", "", ["adder:CPU"], "beside the Python package")
        assert file == str(site_of(environment) / "latebind_backend_adder" / "latebind_backend.json")
        assert "adder:CPU" in run(environment / "bin" / "latebind", "devices", env=clean(tmp_path))
    finally:
        run(*pip, "uninstall", "--quiet", "--yes", "latebind-backend-adder")
    assert listed() == []


def test_the_sources_have_all_that_a_build_needs(packages):
    [archive] = packages.glob("latebind-*.tar.gz")
    names = run("tar", "-tzf", archive).splitlines()
    inside = {name.split("/", 1)[1] for name in names if "/" in name}
    for name in (
        "CMakeLists.txt",
        "pyproject.toml",
        "api/c_call.cpp",
        "python/latebind/__init__.py",
        "python/CMakeLists.txt",
    ):
        assert name in inside
    assert not [name for name in inside if name.startswith(("build/", "tests/", ".git"))]
