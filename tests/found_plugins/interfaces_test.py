"""Plug-ins behind the other interfaces: Python over the C interface, compiled models and bundles, and the provider in ONNX
Runtime. The plug-ins are twins of native and OpenVINO."""

import json
import subprocess
import sys

import pytest
from scene import BINARY, PLUGINS, SOURCE, TINY, User

# OpenVINO's library, which the twin of that backend opens.
(OPENVINO,) = (SOURCE / "build" / "runtime" / "oracle").glob("lib/python3*/site-packages/openvino/libs/libopenvino_c.so*")


@pytest.fixture
def user(tmp_path):
    made = User(tmp_path)
    made.environment |= {
        "LATEBIND_OPENVINO_LIBRARY": str(OPENVINO),
        "LATEBIND_LIBRARY": str(BINARY / "lib" / "liblatebind.so"),
        "PYTHONPATH": str(SOURCE / "python"),
    }
    return made


def python(user, code, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], env=user.environment, capture_output=True, encoding="utf-8",
        timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout[done.stdout.index("{"):])


def onnx_file(folder):
    from onnx import TensorProto, helper

    floats = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "g", [floats("x")], [floats("y")])
    place = folder / "sum.onnx"
    place.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString())
    return place


ADDED_IN_PYTHON = """
import json, sys
import latebind
added = latebind.add_backend(sys.argv[1])
print(json.dumps({"added": [added.name, added.devices]}))
"""

# A runtime that was made before a plug-in was added does not have it.
USED_IN_PYTHON = """
import json, sys
import latebind
model = sys.argv[1]
listed = {one.name: one for one in latebind.backends()}
vectors = {}
for device in ("twin:CPU", "native:CPU"):
    with latebind.Embedder(model, device=device) as embedder:
        vectors[device] = embedder.encode(["one", "two words"]).tolist()
        answering = embedder.attestation.device if device == "twin:CPU" else answering
removed = latebind.remove_backend("twin")
print(json.dumps({
    "state": listed["twin"].state, "answering": answering,
    "same": vectors["twin:CPU"] == vectors["native:CPU"], "removed": removed,
    "left": [one.name for one in latebind.backends() if not one.built_in]}))
"""


def test_python_and_the_c_interface_have_them(user):
    assert python(user, ADDED_IN_PYTHON, PLUGINS / "native_twin.so") == {"added": ["twin", ["twin:CPU"]]}
    report = python(user, USED_IN_PYTHON, TINY)
    assert report == {
        "state": "ready", "answering": "twin:CPU", "same": True,
        "removed": [str(user.folder / "twin.json")], "left": []}


def test_a_setting_of_a_plug_in_is_a_keyword_of_python(user):
    user.install("moody.so", "moody")
    code = """
import json, latebind
states = {}
for speed in ("fast", "fats"):
    (one,) = [each for each in latebind.backends(**{"plugin.moody.speed": speed}) if each.name == "moody"]
    states[speed] = [one.state, one.reason]
print(json.dumps(states))
"""
    states = python(user, code)
    assert states["fast"] == ["ready", ""]
    assert states["fats"][0] == "refused" and "did you mean fast?" in states["fats"][1]


def test_its_compiled_models_are_cached_and_bundled(user, tmp_path):
    user.install("openvino_twin.so", "vino")
    for _ in range(2):
        user.good("embed", TINY, "-", "--device", "vino:CPU", "--strict", input="one\n")
        (kept,) = user.json("cache", "list")["entries"]
        assert kept["device"] == "vino:CPU"
    model = onnx_file(tmp_path)
    report = user.json("run", model, "--device", "vino:CPU", "--strict")
    assert (report["backend"], report["fallback"]) == ("vino", False), report
    bundle = tmp_path / "sum.lbundle"
    user.good("compile", model, "-o", bundle, "--target", "vino:CPU")
    assert "cpu-vino-f32" in json.dumps(user.json("inspect", bundle))
    assert user.json("run", bundle, "--device", "vino:CPU", "--strict", "--cache=false")["backend"] == "vino"


FORKED = """
import json, os, sys
from pathlib import Path
import latebind

def kept():
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(place.read_text().rpartition(")")[2].split()[1]) == os.getpid():
                found.append(b"hold-backend" in (place.parent / "cmdline").read_bytes())
        except OSError:
            continue
    return found

def opened():
    return latebind.Embedder(sys.argv[1], device="twin:CPU", strict=True, **{"backends.isolate": "twin"})

def in_child():
    try:
        embedder.encode(["one"])
        return 1
    except latebind.ForkedError:
        pass
    with opened() as own:
        return 0 if own.encode(["one"]).tolist() == before and kept() == [True] else 2

with opened() as embedder:
    before = embedder.encode(["one"]).tolist()
    child = os.fork()
    if child == 0:
        os._exit(in_child())
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(json.dumps({"child": ended, "same": before == embedder.encode(["one"]).tolist(), "kept": kept()}))
"""


def test_a_forked_child_has_a_process_of_its_own_for_an_isolated_plug_in(user):
    user.install("native_twin.so", "twin")
    assert python(user, FORKED, TINY) == {"child": 0, "same": True, "kept": [True]}


UNLOADED = """
import _ctypes, ctypes, json, os, sys
from pathlib import Path
children = Path(f"/proc/self/task/{os.getpid()}/children")
seen = []
for _ in range(3):
    library = ctypes.CDLL(sys.argv[1])
    runtime = ctypes.c_void_p()
    assert library.lb_runtime_create(None, ctypes.byref(runtime)) == 0
    devices = ctypes.c_void_p()
    assert library.lb_device_list_create(runtime, 0, ctypes.byref(devices)) == 0
    library.lb_device_list_destroy(devices)
    seen.append(len(children.read_text().split()))
    library.lb_runtime_destroy(runtime)
    _ctypes.dlclose(library._handle)
    seen.append(len(children.read_text().split()))
print(json.dumps({"seen": seen, "twin": "native_twin.so" in Path("/proc/self/maps").read_text()}))
"""


@pytest.mark.parametrize("isolate", ["none", "twin"])
def test_a_host_that_unloads_latebind_lives_on(user, isolate):
    """A plug-in's library stays, as Latebind's own does; its process ends with the runtime."""
    user.install("native_twin.so", "twin")
    user.environment["LATEBIND_ISOLATE"] = isolate
    kept = [0, 0] if isolate == "none" else [1, 0]
    assert python(user, UNLOADED, BINARY / "lib" / "liblatebind.so") == {"seen": kept * 3, "twin": isolate == "none"}


SIDE_BY_SIDE = """
import json, sys
import latebind
model, isolate, *folders = sys.argv[1:]
options = lambda folder: {"backends.path": folder + ",none", "backends.isolate": isolate}
embedders = [latebind.Embedder(model, device="twin:CPU", **options(folder)) for folder in folders]
vectors = [embedder.encode(["one", "two words"]).tolist() for embedder in embedders]
print(json.dumps({
    "devices": [embedder.attestation.device for embedder in embedders], "same": vectors[0] == vectors[1],
    "libraries": [embedder.attestation.library_file for embedder in embedders]}))
"""


@pytest.mark.parametrize("isolate", ["none", "twin"])
def test_two_versions_of_one_plug_in_run_side_by_side(user, tmp_path, isolate):
    folders, libraries = [], []
    for version in ("3.1", "3.2"):
        library = tmp_path / version / "twin.so"
        library.parent.mkdir()
        # What follows the end of a library is not loaded.
        library.write_bytes((PLUGINS / "native_twin.so").read_bytes() + version.encode())
        folders.append(tmp_path / version / "manifests")
        libraries.append(str(library))
        user.install(library, "twin", folder=folders[-1])
    assert python(user, SIDE_BY_SIDE, TINY, isolate, *folders) == {
        "devices": ["twin:CPU", "twin:CPU"], "same": True, "libraries": libraries}


IN_ONNXRUNTIME = """
import ctypes, json, sys
import numpy as np
import onnxruntime as ort
library, model = sys.argv[1:]
ort.register_execution_provider_library("latebind", library)
devices = [device for device in ort.get_ep_devices() if device.ep_name == "Latebind"]
options = ort.SessionOptions()
options.add_provider_for_devices(devices, {"device": "vino:CPU"})
session = ort.InferenceSession(model, options, enable_fallback=False)
(y,) = session.run(None, {"x": np.array([1.5, -2], np.float32)})
function = ctypes.CDLL(library).LatebindAttestations
function.restype = ctypes.c_size_t
text = ctypes.create_string_buffer(1 << 16)
function(text, ctypes.c_size_t(len(text)))
print(json.dumps({"y": y.tolist(), "devices": [one["device"] for one in json.loads(text.value)]}))
"""


def test_onnx_runtime_has_them_through_the_provider(user, tmp_path):
    provider = BINARY / "lib" / "libonnxruntime_providers_latebind.so"
    user.install("openvino_twin.so", "vino")
    assert python(user, IN_ONNXRUNTIME, provider, onnx_file(tmp_path)) == {"y": [3.0, -4.0], "devices": ["vino:CPU"]}
