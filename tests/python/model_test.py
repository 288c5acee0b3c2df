"""Model and the jobs, with real runtimes: tensors go in and out as they are, and what is wrong is named."""

import concurrent.futures
import hashlib
import pickle
import time

import latebind
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from support import MODEL, TINY

ELEMENTS = {
    "float32": TensorProto.FLOAT,
    "float16": TensorProto.FLOAT16,
    "float64": TensorProto.DOUBLE,
    "int64": TensorProto.INT64,
    "int32": TensorProto.INT32,
    "int8": TensorProto.INT8,
    "uint8": TensorProto.UINT8,
}


def saved(folder, nodes, inputs, outputs):
    graph = helper.make_graph(nodes, "graph", inputs, outputs)
    file = folder / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)
    return file


def value(name, kind, shape):
    return helper.make_tensor_value_info(name, ELEMENTS[kind], shape)


@pytest.fixture(scope="module")
def adder(tmp_path_factory):
    """sum = x + y, of n rows of 3."""
    return saved(
        tmp_path_factory.mktemp("adder"),
        [helper.make_node("Add", ["x", "y"], ["sum"]), helper.make_node("Sub", ["x", "y"], ["difference"])],
        [value("x", "float32", ["n", 3]), value("y", "float32", ["n", 3])],
        [value("sum", "float32", ["n", 3]), value("difference", "float32", ["n", 3])],
    )


@pytest.fixture(scope="module", params=["openvino", "onnxruntime"])
def model(adder, request):
    with latebind.Model(adder, device=f"{request.param}:CPU", strict=True) as opened:
        yield opened


X = np.arange(6, dtype=np.float32).reshape(2, 3)
Y = np.full((2, 3), 10, np.float32)


def test_runs_and_says_who_answered(model):
    found = model.run({"y": Y, "x": X})
    assert list(found) == ["sum", "difference"]
    np.testing.assert_array_equal(found["sum"], X + Y)
    np.testing.assert_array_equal(found["difference"], X - Y)
    assert model.attestation.device == f"{model.attestation.backend}:CPU" and not model.attestation.fallback


def test_says_what_it_takes(model):
    assert [(one.name, one.dtype, one.shape) for one in model.inputs] == [
        ("x", "float32", (None, 3)),
        ("y", "float32", (None, 3)),
    ]
    assert [one.name for one in model.outputs] == ["sum", "difference"]


@pytest.mark.parametrize("rows", [1, 2, 7, 100])
def test_takes_any_number_of_rows(model, rows):
    x = np.random.default_rng(rows).random((rows, 3), np.float32)
    np.testing.assert_array_equal(model.run({"x": x, "y": x})["sum"], x + x)


def test_takes_what_is_not_contiguous_and_what_is_no_array(model):
    wide = np.arange(12, dtype=np.float32).reshape(2, 6)
    np.testing.assert_array_equal(model.run({"x": wide[:, ::2], "y": Y})["sum"], wide[:, ::2] + Y)
    np.testing.assert_array_equal(model.run({"x": X.T.copy().T, "y": X[::-1]})["sum"], X + X[::-1])
    read_only = X.copy()
    read_only.flags.writeable = False
    np.testing.assert_array_equal(model.run({"x": read_only, "y": memoryview(Y)})["sum"], X + Y)


def test_outputs_outlive_their_model(adder):
    with latebind.Model(adder, device="cpu") as opened:
        found = opened.run({"x": X, "y": Y})["sum"]
    np.testing.assert_array_equal(found, X + Y)
    found[0] = 0
    assert found.flags.owndata is False and found[0].sum() == 0


@pytest.mark.parametrize(
    ("inputs", "error", "text"),
    [
        ({"x": X}, latebind.CallerError, "'y' is missing: float32"),
        ({"x": X, "y": Y, "z": Y}, latebind.CallerError, "no input 'z'; it has: x, y"),
        ({"x": X.astype(np.float64), "y": Y}, latebind.CallerTypeError, "'x' has the type float64; float32 is needed"),
        ({"x": X.astype(">f4"), "y": Y}, latebind.CallerTypeError, "'x' has the type >f4"),
        ({"x": X[0], "y": Y}, latebind.CallerError, "x"),
        ({"x": X[:, :2], "y": Y}, latebind.CallerError, "x"),
        ({"x": np.zeros((1,) * 9, np.float32), "y": Y}, latebind.CallerError, "9 dimensions; 8 is the limit"),
        ({"x": [[1.0], [2.0, 3.0]], "y": Y}, latebind.CallerTypeError, "'x' cannot be read as an array"),
        ({"x": None, "y": Y}, latebind.CallerTypeError, "'x' has the type object"),
        ({"x": "text", "y": Y}, latebind.CallerTypeError, "'x' has the type"),
        ([X, Y], latebind.CallerTypeError, "inputs is list"),
        (None, latebind.CallerTypeError, "inputs is NoneType"),
        ({}, latebind.CallerError, "'x' is missing"),
    ],
)
def test_what_it_cannot_take_is_named(model, inputs, error, text):
    with pytest.raises(error, match=text):
        model.run(inputs)
    assert model.run({"x": X, "y": Y})["sum"][0, 0] == 10


@pytest.mark.parametrize("deadline", [0, -1.0, float("nan"), "soon", True])
def test_deadlines_that_are_none(model, deadline):
    with pytest.raises(latebind.LatebindError, match="deadline"):
        model.run({"x": X, "y": Y}, deadline=deadline)
    assert model.run({"x": X, "y": Y}, deadline=60)["sum"].shape == (2, 3)


@pytest.mark.parametrize("kind", ELEMENTS)
def test_every_type_goes_in_and_comes_out(tmp_path, kind):
    file = saved(
        tmp_path,
        [helper.make_node("Reshape", ["x", "shape"], ["y"])],
        [value("x", kind, [2, 2]), value("shape", "int64", [1])],
        [value("y", kind, [4])],
    )
    given = np.array([[1, 2], [3, 4]], kind)
    with latebind.Model(file, device="onnxruntime:CPU") as opened:
        found = opened.run({"x": given, "shape": np.array([4])})["y"]
    assert found.dtype == given.dtype
    np.testing.assert_array_equal(found, given.ravel())


def test_a_scalar_and_an_empty_tensor(tmp_path, model):
    file = saved(
        tmp_path, [helper.make_node("Neg", ["x"], ["y"])], [value("x", "float32", [])], [value("y", "float32", [])]
    )
    with latebind.Model(file, device="onnxruntime:CPU") as opened:
        found = opened.run({"x": np.float32(3)})["y"]
        assert found.shape == () and found == -3
    none = np.zeros((0, 3), np.float32)
    try:
        assert model.run({"x": none, "y": none})["sum"].shape == (0, 3)
    except latebind.LatebindError as error:
        assert str(error)


def test_threads_and_pickles(model):
    def work(number):
        x = np.full((number % 5 + 1, 3), number, np.float32)
        return np.array_equal(model.run({"x": x, "y": x})["sum"], x + x)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(200)))
    with pickle.loads(pickle.dumps(model)) as other:
        np.testing.assert_array_equal(other.run({"x": X, "y": Y})["sum"], X + Y)


def test_a_closed_one_says_so(adder):
    opened = latebind.Model(adder, device="cpu")
    opened.close()
    opened.close()
    assert opened.closed and "closed" in repr(opened)
    with pytest.raises(latebind.ClosedError):
        opened.run({"x": X, "y": Y})
    with pytest.raises(latebind.ClosedError):
        opened.attestation  # noqa: B018 - the access is what fails


# -- Jobs --------------------------------------------------------------------------------------------------------------


def test_devices_and_findings():
    found = latebind.devices()
    assert {"openvino:CPU", "onnxruntime:CPU"} <= {one.id for one in found}
    assert "<table" in found._repr_html_() and "openvino:CPU" in found._repr_html_()
    findings = latebind.doctor()
    assert "<table" in findings._repr_html_()


def test_a_bundle_is_made_inspected_and_run(tmp_path, adder):
    steps = []
    made = latebind.compile(adder, tmp_path / "model.lbundle", "openvino:CPU", shapes="dynamic", progress=steps.append)
    assert made.variants and not made.refused and steps
    assert (tmp_path / "model.lbundle").is_file()
    seen = latebind.inspect(tmp_path / "model.lbundle", verify=True)
    assert seen.form == "zip" and seen.intact is True
    x = np.ones((4, 3), np.float32)
    with latebind.Model(tmp_path / "model.lbundle", device="cpu") as opened:
        np.testing.assert_array_equal(opened.run({"x": x, "y": x})["sum"], x + x)
    with pytest.raises(latebind.LatebindError, match="target"):
        latebind.compile(adder, tmp_path / "other.lbundle", "openvino:NO-SUCH-DEVICE")
    assert not (tmp_path / "other.lbundle").exists()
    (tmp_path / "model.lbundle").write_bytes(b"PK" + bytes(100))
    with pytest.raises(latebind.LatebindError):
        latebind.inspect(tmp_path / "model.lbundle")


def test_devices_are_compared(adder):
    found = latebind.verify(adder, device="openvino:CPU", against="onnxruntime:CPU")
    assert found.agrees and (found.device, found.against) == ("openvino:CPU", "onnxruntime:CPU")
    assert [one.name for one in found.outputs] == ["sum", "difference"] and found.outputs[0].cosine > 0.999999
    with latebind.Model(adder, device="openvino:CPU", verify=True) as opened:
        assert opened.attestation.verification.startswith("agrees with onnxruntime:CPU: ")
    with pytest.raises(latebind.MachineError, match="onnxruntime:NPU"):
        latebind.verify(adder, device="openvino:CPU", against="onnxruntime:NPU")


def test_errors_have_the_places_that_were_searched_apart(adder):
    with pytest.raises(latebind.MachineError) as raised:
        latebind.Model(adder, device="openvino:CPU", openvino_library="/nonexistent/libopenvino_c.so")
    assert "install it (" in str(raised.value) and "\n" not in str(raised.value)
    assert "/nonexistent/libopenvino_c.so" in raised.value.details
    assert pickle.loads(pickle.dumps(raised.value)).details == raised.value.details


def test_the_cache_is_filled_listed_and_cleared(tmp_path):
    cache = latebind.Cache(tmp_path / "cache")
    assert cache.list().entries == ()
    warmed = latebind.warm(TINY, device="openvino:CPU", cache=True, cache_folder=tmp_path / "cache")
    assert [one.ready for one in warmed] == [True]
    listing = cache.list()
    assert len(listing.entries) == 1 and listing.bytes > 0
    assert cache.verify().damaged == ()
    assert cache.clear() > 0 and cache.list().entries == ()


def test_what_a_hub_does_not_have_is_an_error(tmp_path):
    with pytest.raises(latebind.LatebindError):
        latebind.pull("no-such-org/no-such-model", hub_url="http://127.0.0.1:9", hub_cache=tmp_path)


def test_the_error_of_a_damaged_model_of_the_hubs_cache_names_what_repairs_it(tmp_path):
    snapshot = tmp_path / "models--org--tiny" / "snapshots" / ("c" * 40)
    for file in TINY.rglob("*"):
        if not file.is_file():
            continue
        content = file.read_bytes()
        blob = tmp_path / "models--org--tiny" / "blobs" / hashlib.sha256(content).hexdigest()
        blob.parent.mkdir(parents=True, exist_ok=True)
        damaged = file.name == "model.safetensors"
        blob.write_bytes(content[: len(content) // 2] if damaged else content)
        link = snapshot / file.relative_to(TINY)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(blob)
    said = r"is damaged in the hub's cache .*; `latebind pull org/tiny@c{40}` with HF_HUB_CACHE=.* downloads it again"
    with pytest.raises(latebind.LatebindError, match=said):
        latebind.Embedder(snapshot, device="openvino:CPU")


def test_a_progress_that_fails_ends_the_job(tmp_path):
    def fail(step):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        latebind.compile(MODEL, tmp_path / "model.lbundle", "openvino:CPU", progress=fail)
    # Nothing waits for the job, which holds the place until it has noticed.
    until = time.monotonic() + 60
    while (left := list(tmp_path.iterdir())) and time.monotonic() < until:
        time.sleep(0.01)
    assert left == []
