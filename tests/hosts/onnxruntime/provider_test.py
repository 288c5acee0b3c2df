"""Latebind's provider in Python's onnxruntime: sessions, parts, compiled models, and what is refused."""

import io
import json
import os
import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper
from provider_scene import LIBRARY, attestations, floats, layers, load, model_of, on_the_cpu, rows, session_options
from tokenizers import Tokenizer


def test_a_device_for_each_piece_of_hardware(devices):
    assert len(devices) == 1
    assert devices[0].device.type == ort.OrtHardwareDeviceType.CPU
    assert devices[0].ep_metadata["latebind.device"] == "openvino:CPU"


def test_a_whole_model_runs_as_on_the_cpu(devices):
    session = load(layers(), devices)
    (answer,) = attestations()
    assert (answer["device"], answer["precision"], answer["fallback"]) == ("openvino:CPU", "f32", False)
    for count in (1, 7, 3):
        got = session.run(None, rows(count))
        np.testing.assert_allclose(got[0], on_the_cpu(layers(), rows(count))[0], rtol=1e-5, atol=1e-5)
    del session
    assert attestations() == []


def test_control_flow_and_what_is_around_it_are_divided(devices):
    branch = lambda op: helper.make_graph([helper.make_node(op, ["b"], [op])], op, [], [floats(op, None, None)])
    nodes = [
        helper.make_node("Abs", ["x"], ["a0"]),
        helper.make_node("Sqrt", ["a0"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("If", ["which"], ["i"], then_branch=branch("Neg"), else_branch=branch("Exp")),
        helper.make_node("Abs", ["i"], ["j"]),
        helper.make_node("Sqrt", ["j"], ["k"]),
        helper.make_node("Add", ["k", "a"], ["y"]),
    ]
    which = helper.make_tensor_value_info("which", TensorProto.BOOL, [])
    model = model_of(nodes, [floats("x", "n", 16), which], [floats("y", None, None)])
    session = load(model, devices)
    assert len(attestations()) == 2
    for value in (True, False):
        feeds = rows(3) | {"which": np.array(value)}
        np.testing.assert_allclose(session.run(None, feeds)[0], on_the_cpu(model, feeds)[0], rtol=1e-5, atol=1e-5)


FORKED = """
import ctypes, json, os, sys
import numpy as np
import onnxruntime as ort

library, model = sys.argv[1:]
ort.register_execution_provider_library("latebind", library)
devices = [device for device in ort.get_ep_devices() if device.ep_name == "Latebind"]

def load():
    options = ort.SessionOptions()
    options.add_provider_for_devices(devices, {"device": "openvino:CPU"})
    return ort.InferenceSession(model, options, enable_fallback=False)

def attestations():
    function = ctypes.CDLL(library).LatebindAttestations
    function.restype = ctypes.c_size_t
    text = ctypes.create_string_buffer(1 << 16)
    function(text, ctypes.c_size_t(len(text)))
    return json.loads(text.value)

def run(session):
    return session.run(None, {"x": np.ones((2, 16), np.float32)})[0].sum()

def child(work):
    sys.stdout.flush()
    made = os.fork()
    if not made:
        import signal
        signal.alarm(60)
        try:
            print(work(), flush=True)
        except Exception as error:
            print(str(error).replace("\\n", " "), flush=True)
        os._exit(0)
    os.waitpid(made, 0)

session = load()
expected = run(session)
child(lambda: "beside the parent's: " + str(run(load()) == expected))

def listed():
    inherited = attestations()
    own = load()
    return f"listed: {len(inherited)}, and with its own {len(attestations())}"

child(listed)
del session
child(lambda: "after it: " + str(run(load()) == expected))
kept, closed = load(), load()
del closed
child(lambda: run(load()) == expected)
print("in the parent:", run(kept) == expected, flush=True)
os._exit(0)
"""


def test_a_child_made_by_fork_has_sessions_of_its_own_or_is_told_why_not(tmp_path):
    file = tmp_path / "model.onnx"
    file.write_bytes(layers().SerializeToString())
    done = subprocess.run(
        [sys.executable, "-c", FORKED, LIBRARY, file], capture_output=True, text=True, timeout=200, check=False
    )
    beside, listed, after, refused, parent = done.stdout.splitlines()
    assert (beside, after) == ("beside the parent's: True", "after it: True"), done.stdout
    assert listed == "listed: 0, and with its own 1"
    assert "had closed a model of OpenVINO and kept another" in refused and "'spawn' or 'forkserver'" in refused
    assert parent == "in the parent: True"


def test_output_shapes_that_only_a_run_can_tell(devices):
    nodes = [helper.make_node("NonZero", ["x"], ["y"])]
    model = model_of(nodes, [floats("x", "n", 16)], [helper.make_tensor_value_info("y", TensorProto.INT64, [2, "k"])])
    session = load(model, devices)
    for count in (1, 4):
        feeds = {"x": np.maximum(rows(count)["x"], 0)}
        np.testing.assert_array_equal(session.run(None, feeds)[0], on_the_cpu(model, feeds)[0])


@pytest.mark.parametrize("embedded", [True, False])
def test_a_compiled_model_loads_and_runs(devices, tmp_path, embedded):
    onnx.save(layers(), tmp_path / "model.onnx")
    compiled = tmp_path / "compiled.onnx"
    ort.ModelCompiler(
        session_options(devices), str(tmp_path / "model.onnx"), embed_compiled_data_into_model=embedded
    ).compile_to_file(str(compiled))
    (node,) = onnx.load(compiled).graph.node
    attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    assert node.op_type == "EPContext" and attributes["source"] == b"Latebind" and attributes["main_context"] == 1
    assert attributes["embed_mode"] == int(embedded)
    assert len(list(tmp_path.glob("compiled_latebind_*.lbundle"))) == (0 if embedded else 1)
    session = load(str(compiled), devices)
    np.testing.assert_allclose(session.run(None, rows(3))[0], on_the_cpu(layers(), rows(3))[0], rtol=1e-5, atol=1e-5)
    # Moved elsewhere with everything beside it.
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for file in tmp_path.glob("compiled*"):
        file.rename(moved / file.name)
    assert load(str(moved / "compiled.onnx"), devices)


def damaged(text, seed):
    random = np.random.default_rng(seed)
    data = bytearray(text)
    for at in random.integers(0, len(data), 1 + seed % 8):
        data[at] ^= int(random.integers(1, 256))
    return bytes(data[: len(data) - int(random.integers(0, len(data))) * (seed % 2)])


def test_damaged_contexts_are_errors_or_right(devices, tmp_path):
    onnx.save(layers(), tmp_path / "model.onnx")
    compiled = tmp_path / "compiled.onnx"
    ort.ModelCompiler(
        session_options(devices), str(tmp_path / "model.onnx"), embed_compiled_data_into_model=True
    ).compile_to_file(str(compiled))
    model = onnx.load(compiled)
    (payload,) = [a for a in model.graph.node[0].attribute if a.name == "ep_cache_context"]
    whole = payload.s
    expected = on_the_cpu(layers(), rows(3))[0]
    for seed in range(40):
        payload.s = damaged(whole, seed) if seed < 36 else [b"", b"PK", b"\0" * 99, whole[:-1]][seed - 36]
        try:
            session = load(model, devices)
        except Exception as error:
            assert "Latebind" in str(error), error
        else:
            np.testing.assert_allclose(session.run(None, rows(3))[0], expected, rtol=1e-5, atol=1e-5)


def with_damaged_blob(payload):
    """The bundle with one byte of each compiled variant changed."""
    data = bytearray(payload)
    for entry in zipfile.ZipFile(io.BytesIO(payload)).infolist():
        if entry.filename.endswith(".blob"):
            name, extra = struct.unpack_from("<HH", data, entry.header_offset + 26)
            data[entry.header_offset + 30 + name + extra + entry.file_size // 2] ^= 1
    assert bytes(data) != payload
    return bytes(data)


def test_a_damaged_blob_is_named_by_the_log_and_the_attestation(devices, tmp_path, capfd):
    onnx.save(layers(), tmp_path / "model.onnx")
    compiled = tmp_path / "compiled.onnx"
    ort.ModelCompiler(
        session_options(devices), str(tmp_path / "model.onnx"), embed_compiled_data_into_model=True
    ).compile_to_file(str(compiled))
    model = onnx.load(compiled)
    (payload,) = [a for a in model.graph.node[0].attribute if a.name == "ep_cache_context"]
    payload.s = with_damaged_blob(payload.s)
    options = session_options(devices)
    options.log_severity_level = 2
    capfd.readouterr()
    session = ort.InferenceSession(model.SerializeToString(), options, enable_fallback=False)
    np.testing.assert_allclose(session.run(None, rows(3))[0], on_the_cpu(layers(), rows(3))[0], rtol=1e-5, atol=1e-5)
    text = capfd.readouterr().err
    assert "variant 'cpu-openvino-f32' cannot be read" in text, text
    (answer,) = attestations()
    assert not answer["fallback"] and answer["steps"][-1]["taken"]
    assert "variant 'cpu-openvino-f32' cannot be read" in answer["steps"][-1]["reason"]


@pytest.mark.parametrize("compiling", [True, False])
def test_words_for_targets_that_mean_nothing_are_refused(devices, tmp_path, compiling):
    for targets, message in (
        ("foo", "targets: unknown target 'foo'.*openvino:CPU"),
        ("openvino:CPU,openvino:CPP", "unknown target 'openvino:CPP' .did you mean openvino:CPU"),
        ("native:CPU", "there is nothing to compile for native:CPU"),
    ):
        options = session_options(devices, {"targets": targets})
        if compiling:
            options.add_session_config_entry("ep.context_enable", "1")
            options.add_session_config_entry("ep.context_file_path", str(tmp_path / "compiled.onnx"))
        with pytest.raises(Exception, match=message):
            ort.InferenceSession(layers().SerializeToString(), options, enable_fallback=False)
    assert list(tmp_path.iterdir()) == []


def test_options_that_no_device_takes_are_refused(devices):
    for option, value in (("NO_SUCH_THING", "1"), ("INFERENCE_NUM_THREADS", "many"), ("NUM_STREAMS", "-7")):
        with pytest.raises(Exception, match=f"refuses the property {option}={value}"):
            load(layers(), devices, {f"property.{option}": value})
    if "avx512_fp16" in Path("/proc/cpuinfo").read_text():
        assert load(layers(), devices, {"precision": "f16"})
    else:
        with pytest.raises(Exception, match="cannot compute in f16"):
            load(layers(), devices, {"precision": "f16"})
    # What one node is refused for is not the options' fault.
    assert load(layers(), devices, {"property.ENABLE_CPU_PINNING": "NO"})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../other/c.lbundle", "must be the name of a file in the model's own folder"),
        ("/etc/passwd", "must be the name of a file in the model's own folder"),
        ("missing.lbundle", "there is no .*missing.lbundle, which the model names"),
        ("link.lbundle", "'link.lbundle' is a link to .*/other/c.lbundle, outside of the model's folder .*/model; put"),
        ("model.onnx", "ep_cache_context 'model.onnx' is not a bundle"),
        ("plain.onnx", "ep_cache_context 'plain.onnx' is not a bundle"),
        (".", "ep_cache_context '.' is not a bundle"),
        ("inside.lbundle", None),
    ],
)
def test_a_context_file_must_be_in_the_models_folder(devices, tmp_path, name, message):
    onnx.save(layers(), tmp_path / "model.onnx")
    compiler = ort.ModelCompiler(
        session_options(devices), str(tmp_path / "model.onnx"), embed_compiled_data_into_model=False
    )
    compiler.compile_to_file(str(tmp_path / "compiled.onnx"))
    (tmp_path / "other").mkdir()
    folder = tmp_path / "model"
    folder.mkdir()
    # A good one, wherever it is.
    (compiled,) = tmp_path.glob("compiled_latebind_*.lbundle")
    good = compiled.read_bytes()
    onnx.save(layers(), folder / "plain.onnx")
    (tmp_path / "other" / "c.lbundle").write_bytes(good)
    (folder / "inside.lbundle").write_bytes(good)
    (folder / "link.lbundle").symlink_to(tmp_path / "other" / "c.lbundle")
    context = {"ep_cache_context": name, "embed_mode": 0, "main_context": 1, "source": "Latebind"}
    node = helper.make_node("EPContext", ["x"], ["y"], domain="com.microsoft", **context)
    model = model_of([node], [floats("x", "n", 16)], [floats("y", "n", 4)])
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    onnx.save(model, folder / "model.onnx")
    if message is None:
        session = load(str(folder / "model.onnx"), devices)
        np.testing.assert_allclose(session.run(None, rows(3))[0], on_the_cpu(layers(), rows(3))[0], rtol=1e-5, atol=1e-5)
        return
    with pytest.raises(Exception, match=message):
        load(str(folder / "model.onnx"), devices)


def test_a_run_may_have_a_deadline(devices):
    session = load(layers(), devices)
    options = ort.RunOptions()
    options.add_run_config_entry("latebind.timeout_ms", "60000")
    assert session.run(None, rows(3), options)
    options.add_run_config_entry("latebind.timeout_ms", "soon")
    with pytest.raises(Exception, match="milliseconds"):
        session.run(None, rows(3), options)


def test_a_run_ends_at_its_deadline(devices):
    width = 1024
    weights = np.random.default_rng(1).standard_normal((width, width)).astype(np.float32) / width
    nodes = [helper.make_node("MatMul", [f"x{i}", "w"], [f"x{i + 1}"]) for i in range(40)]
    session = load(model_of(nodes, [floats("x0", "n", width)], [floats("x40", "n", width)], [("w", weights)]), devices)
    feeds = {"x0": rows(1024, width)["x"]}
    session.run(None, feeds)
    options = ort.RunOptions()
    options.add_run_config_entry("latebind.timeout_ms", "5")
    with pytest.raises(Exception, match="DEADLINE_EXCEEDED"):
        session.run(None, feeds, options)
    assert np.isfinite(session.run(None, feeds)[0]).all()


def test_onnx_runtime_within_onnx_runtime_only_when_asked(devices):
    with pytest.raises(Exception, match="nested=1"):
        load(layers(), devices, {"device": "onnxruntime:CPU"})
    folder = str(Path(ort.__file__).parent / "capi")
    nested = {"device": "onnxruntime:CPU", "nested": "1", "onnxruntime.library": folder}
    session = load(layers(), devices, nested)
    assert [answer["device"] for answer in attestations()] == ["onnxruntime:CPU"]
    np.testing.assert_allclose(session.run(None, rows(3))[0], on_the_cpu(layers(), rows(3))[0], rtol=1e-5, atol=1e-5)


def test_some_of_onnx_own_node_tests(devices):
    script = Path(__file__).parent / "node_tests.py"
    done = subprocess.run(
        [sys.executable, str(script), LIBRARY, "--every", "12"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]


def test_weights_that_the_models_file_has_are_not_copied(devices, tmp_path):
    """More than what is copied in any case; one of them is changed by the host, which folds it."""
    width = 1536
    random = np.random.default_rng(1)
    weights = [(random.standard_normal((width, width)) / np.sqrt(width)).astype(np.float32) for _ in range(2)]
    constants = [("w0", weights[0]), ("w1", weights[1]), ("two", np.array(2, np.float32))]
    nodes = [
        helper.make_node("MatMul", ["x", "w0"], ["a"]),
        helper.make_node("Mul", ["w1", "two"], ["w2"]),
        helper.make_node("MatMul", ["a", "w2"], ["y"]),
    ]
    model = model_of(nodes, [floats("x", "n", width)], [floats("y", "n", width)], constants)
    file = tmp_path / "model.onnx"
    onnx.save(model, file)
    session = load(str(file), devices)
    (answer,) = attestations()
    assert answer["device"] == "openvino:CPU"
    expected = on_the_cpu(model, rows(3, width))[0]
    np.testing.assert_allclose(session.run(None, rows(3, width))[0], expected, rtol=1e-4, atol=1e-4)
    # The file may be written to while the session lives.
    file.write_bytes(b"\0" * file.stat().st_size)
    np.testing.assert_allclose(session.run(None, rows(3, width))[0], expected, rtol=1e-4, atol=1e-4)
    file.write_bytes(b"")
    np.testing.assert_allclose(session.run(None, rows(3, width))[0], expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("where", [[], ["--inline"]])
def test_many_weights_are_used_where_they_are(devices, where):
    script = Path(__file__).parent / "large_model.py"
    done = subprocess.run([sys.executable, script, LIBRARY, *where], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]


def test_the_default_model_gives_the_golden_vectors(devices, tmp_path):
    source = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
    folder = source / "build/runtime/model/all-MiniLM-L6-v2"
    program = Path(os.environ["LATEBIND_TEST_BINARY_DIR"]) / "bin/latebind"
    exported = tmp_path / "model.onnx"
    subprocess.run([program, "export", "--model", folder, "-o", exported], check=True, capture_output=True)
    session = load(str(exported), devices)
    assert len(attestations()) == 1
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    golden = np.load(source / "tests/data/golden/minilm.npy")
    lines = (source / "tests/data/golden/minilm.jsonl").read_text(encoding="utf-8").splitlines()
    for line, expected in list(zip(lines, golden, strict=True))[:64]:
        text = json.loads(line)
        ids = tokenizer.encode(text if isinstance(text, str) else text["text"]).ids
        feeds = {"input_ids": np.array([ids]), "attention_mask": np.ones((1, len(ids)), np.int64)}
        (vector,) = session.run(None, feeds)[0]
        assert vector @ expected / np.linalg.norm(vector) / np.linalg.norm(expected) >= 0.999999


VIRTUAL = """
import sys
import numpy as np
import onnx
import onnxruntime as ort
ort.set_default_logger_severity(4)
library, model, compiled = sys.argv[1:]

def ours():
    return [device for device in ort.get_ep_devices() if device.ep_name == "Latebind"]

ort.register_execution_provider_library("latebind", library)
assert not [device for device in ours() if device.device.metadata.get("is_virtual")]
ort.unregister_execution_provider_library("latebind")
ort.register_execution_provider_library("latebind.virtual", library)
all_devices = ours()
npu = [device for device in all_devices if device.ep_metadata["latebind.device"] == "onnxruntime:QNN.v73"]
assert len(npu) == 1 and npu[0].device.metadata["is_virtual"] == "1"
options = ort.SessionOptions()
options.add_provider_for_devices(npu, {"precision": "f16"})
try:
    ort.InferenceSession(model, options, enable_fallback=False)
    raise SystemExit("a virtual device took a session")
except Exception as error:
    assert "is a virtual device" in str(error), error
ort.ModelCompiler(options, model, embed_compiled_data_into_model=True).compile_to_file(compiled)
info = {entry.key: entry.value for entry in onnx.load(compiled, load_external_data=False).metadata_props}
(text,) = [value for key, value in info.items() if key.startswith("ep_compatibility_info")]
others = [device for device in all_devices if device.ep_metadata["latebind.device"].startswith("onnxruntime:QNN.") and device not in npu]
here = [device for device in all_devices if device.ep_metadata["latebind.device"] == "openvino:CPU"]
for devices, expected in ((npu, "OPTIMAL"), (others[:1], "RECOMPILATION"), (here, "RECOMPILATION")):
    verdict = ort.capi._pybind_state.get_model_compatibility_for_ep_devices(devices, text)
    assert expected in str(verdict), (devices, verdict, text)
options = ort.SessionOptions()
options.add_provider_for_devices(npu, {"precision": "f16", "emulate": "true"})
x = np.random.default_rng(3).standard_normal((1, 16)).astype(np.float32)
got = ort.InferenceSession(compiled, options, enable_fallback=False).run(None, {"x": x})[0]
expected = ort.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
cosine = (got * expected).sum() / np.linalg.norm(got) / np.linalg.norm(expected)
assert cosine >= 0.9995, cosine
"""


def test_a_virtual_npu_is_compiled_for_and_emulated(tmp_path):
    source = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
    (plugin,) = source.glob("build/runtime/providers/onnxruntime-qnn-*/onnxruntime_qnn")  # of scripts/setup test
    model = layers()
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 1
    onnx.save(model, tmp_path / "model.onnx")
    environment = os.environ | {
        "LATEBIND_ONNXRUNTIME_PROVIDERS": str(plugin),
        "LATEBIND_ONNXRUNTIME_LIBRARY": str(Path(ort.__file__).parent / "capi"),
        "LATEBIND_TRIAL_PROGRAM": str(Path(os.environ["LATEBIND_TEST_BINARY_DIR"]) / "bin/latebind"),
    }
    arguments = [LIBRARY, str(tmp_path / "model.onnx"), str(tmp_path / "compiled.onnx")]
    done = subprocess.run(
        [sys.executable, "-c", VIRTUAL, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


FOUND_BY_ITSELF = """
import json
import sys
import numpy as np
import onnxruntime as ort
ort.set_default_logger_severity(4)
library, model = sys.argv[1:]
ort.register_execution_provider_library("latebind.all.virtual", library)
ours = {device.ep_metadata["latebind.device"]: device for device in ort.get_ep_devices() if device.ep_name == "Latebind"}
options = ort.SessionOptions()
here = [device for device in ours.values() if not device.device.metadata.get("is_virtual")]
options.add_provider_for_devices(here[:1], {"nested": "1", "device": "onnxruntime:CPU"})
try:
    session = ort.InferenceSession(model, options, enable_fallback=False)
    session.run(None, {"x": np.ones((1, 16), np.float32)})
    nested = "runs"
except Exception as error:
    nested = str(error)
libraries = {line.split()[-1] for line in open("/proc/self/maps") if "/libonnxruntime.so" in line}
print(json.dumps([ours["onnxruntime:QNN.v73"].ep_metadata["latebind.compiler_installed"], nested, sorted(libraries)]))
"""


@pytest.fixture(scope="module")
def far_from_the_build(tmp_path_factory):
    """The provider and its program, where no ONNX Runtime is near."""
    folder = tmp_path_factory.mktemp("far")
    for name in ("lib", "bin", "home"):
        (folder / name).mkdir()
    shutil.copy(LIBRARY, folder / "lib")
    shutil.copy(Path(os.environ["LATEBIND_TEST_BINARY_DIR"]) / "bin/latebind", folder / "bin")
    onnx.save(layers(), folder / "model.onnx")
    return folder


def found_by_itself(folder, **variables):
    unset = ("LATEBIND_", "ORT_", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(unset)}
    source = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
    (plugin,) = source.glob("build/runtime/providers/onnxruntime-qnn-*/onnxruntime_qnn")  # of scripts/setup test
    openvino = Path(ort.__file__).parents[1] / "openvino/libs"
    environment |= {
        "HOME": str(folder / "home"),
        "LATEBIND_OPENVINO_LIBRARY": str(openvino),
        "LATEBIND_ONNXRUNTIME_PROVIDERS": str(plugin),
    }
    environment |= variables
    arguments = [str(folder / "lib" / Path(LIBRARY).name), str(folder / "model.onnx")]
    done = subprocess.run(
        [sys.executable, "-c", FOUND_BY_ITSELF, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_the_library_in_the_package_of_the_host_is_found(far_from_the_build):
    compiler, nested, libraries = found_by_itself(far_from_the_build)
    assert (compiler, nested) == ("1", "runs")
    (library,) = libraries
    assert Path(library).samefile(next((Path(ort.__file__).parent / "capi").glob("libonnxruntime.so.*")))


@pytest.mark.parametrize("variable", ["LATEBIND_ONNXRUNTIME_LIBRARY", "ORT_LIB_PATH", "ORT_DYLIB_PATH"])
def test_a_library_that_is_named_is_the_only_one(far_from_the_build, variable):
    compiler, nested, libraries = found_by_itself(far_from_the_build, **{variable: "/nonexistent/libonnxruntime.so"})
    assert (compiler, libraries) == ("0", [])
    assert variable in nested
