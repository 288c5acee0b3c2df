"""What the provider leaves to the host, and what the host's CPU computes for it."""


import numpy as np
import pytest
from onnx import TensorProto, helper
from provider_scene import attestations, floats, layers, load, model_of, on_the_cpu, rows


def test_strings_and_double_precision_are_left_to_the_host(devices):
    for kind, numpy_type in ((TensorProto.STRING, object), (TensorProto.DOUBLE, np.float64)):
        value = helper.make_tensor_value_info
        model = model_of([helper.make_node("Identity", ["x"], ["y"])], [value("x", kind, [2])], [value("y", kind, [2])])
        session = load(model, devices)
        assert attestations() == []
        feeds = {"x": np.array(["a", "b"] if numpy_type is object else [1, 2], dtype=numpy_type)}
        assert list(session.run(None, feeds)[0]) == list(feeds["x"])


def integers(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.INT64, shape)


def test_arithmetic_with_a_callers_wide_integers_is_left_to_the_host(devices):
    nodes = [
        helper.make_node("Add", ["x", "x"], ["a"]),
        helper.make_node("Mul", ["a", "x"], ["b"]),
        helper.make_node("Sub", ["b", "x"], ["y"]),
    ]
    model = model_of(nodes, [integers("x", "n")], [integers("y", "n")])
    session = load(model, devices)
    assert attestations() == []
    feeds = {"x": np.array([2**31, 2**30, -(2**29)])}
    np.testing.assert_array_equal(session.run(None, feeds)[0], on_the_cpu(model, feeds)[0])


def test_constants_beyond_32_bits_are_left_to_the_host_and_limits_are_not(devices):
    def of(op, constants, shape):
        names = [name for name, _ in constants]
        nodes = [helper.make_node("Shape", ["x"], ["s"]), helper.make_node(op, ["s", *names], ["y"])]
        return model_of(nodes, [floats("x", "n", 16)], [integers("y", shape)], constants)

    wide = of("Max", [("w", np.array([2**40]))], 2)
    session = load(wide, devices)
    assert attestations() == []
    np.testing.assert_array_equal(session.run(None, rows(3))[0], [2**40, 2**40])
    limits = of("Slice", [("b", np.array([1])), ("e", np.array([2**63 - 1]))], 1)
    session = load(limits, devices)
    assert len(attestations()) == 1
    np.testing.assert_array_equal(session.run(None, rows(3))[0], [16])


def test_arithmetic_with_shapes_is_taken(devices):
    constants = [("first", np.array([0])), ("two", np.array([2])), ("eight", np.array([8]))]
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "first"], ["n"]),
        helper.make_node("Mul", ["n", "two"], ["m"]),
        helper.make_node("Concat", ["m", "eight"], ["t"], axis=0),
        helper.make_node("Reshape", ["x", "t"], ["y"]),
    ]
    session = load(model_of(nodes, [floats("x", "n", 16)], [floats("y", "m", 8)], constants), devices)
    # Without the product two crumbs would be left.
    assert len(attestations()) == 1
    for count in (1, 4):
        np.testing.assert_array_equal(session.run(None, rows(count))[0], rows(count)["x"].reshape(-1, 8))


def test_what_a_vendor_computes_wrongly_is_left_to_the_host(devices, tmp_path):
    def tile(constants, inputs):
        nodes = [helper.make_node("Tile", ["x", "r"], ["y"])]
        return model_of(nodes, [floats("x", 2, 16), *inputs], [floats("y", None, None)], constants)

    repeats = np.array([2, 1])
    session = load(tile([("r", repeats)], []), devices)
    assert len(attestations()) == 1
    del session
    model = tile([], [integers("r", 2)])
    session = load(model, devices)
    assert attestations() == []
    feeds = rows(2) | {"r": repeats}
    np.testing.assert_array_equal(session.run(None, feeds)[0], on_the_cpu(model, feeds)[0])


@pytest.mark.parametrize(("op", "kind"), [("Celu", TensorProto.FLOAT), ("Hardmax", TensorProto.FLOAT), ("Abs", TensorProto.INT16)])
def test_operators_and_types_that_no_published_network_has_are_left_to_the_host(devices, op, kind):
    x, y = (helper.make_tensor_value_info(name, kind, [3]) for name in "xy")
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"])], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    feeds = {"x": np.array([-3, 0, 5], helper.tensor_dtype_to_np_dtype(kind))}
    session = load(model, devices)
    assert attestations() == []
    np.testing.assert_array_equal(session.run(None, feeds)[0], on_the_cpu(model, feeds)[0])


def test_a_table_of_ones_own(devices, tmp_path):
    version = devices[0].ep_metadata["latebind.runtime_version"].split("-")[0]
    table = tmp_path / "errors.tsv"
    table.write_text(f"# mine\nMatMul\trank:0=2 const:1\topenvino {version}\n")
    session = load(layers(), devices, {"openvino.known_errors": str(table)})
    assert attestations() == []  # two of three nodes are too few
    del session
    # Another version's lines hold for versions that no line names, and not for others.
    for text, count in (("openvino 1.0", 0), (f"openvino 1.0\nSin\t\topenvino {version}", 1), ("onnxruntime 1.0", 1)):
        table.write_text(f"MatMul\t\t{text}\n")
        session = load(layers(), devices, {"openvino.known_errors": str(table)})
        assert len(attestations()) == count, text
        del session
    for text in ("MatMul", "MatMul\tsize:1=2\topenvino 1", "MatMul\trank:x=2\topenvino 1", "\t\topenvino 1"):
        table.write_text("# mine\n" + text + "\n")
        with pytest.raises(Exception, match="errors.tsv, line 2"):
            load(layers(), devices, {"openvino.known_errors": str(table)})
    with pytest.raises(Exception, match="openvino.known_errors: .*missing.tsv"):
        load(layers(), devices, {"openvino.known_errors": str(tmp_path / "missing.tsv")})


def test_numbers_that_no_device_computes_as_onnx_defines_are_computed_by_the_hosts_cpu(devices):
    session = load(layers(), devices)  # OpenVINO's Relu drops a NaN
    ordinary, with_nan = rows(3), rows(3)
    with_nan["x"][1, 2] = np.nan
    for feeds in (ordinary, with_nan, ordinary, with_nan):
        np.testing.assert_allclose(session.run(None, feeds)[0], on_the_cpu(layers(), feeds)[0], rtol=1e-5, atol=1e-5)
    assert np.isnan(session.run(None, with_nan)[0][1]).all()
    assert sorted(one["device"] for one in attestations()) == ["onnxruntime:CPU", "openvino:CPU"]


def test_a_run_that_fails_on_every_device_is_computed_by_the_hosts_cpu(devices):
    # OpenVINO cannot split three rows into two parts, which ONNX defines.
    nodes = [
        helper.make_node("Sqrt", ["x"], ["a"]),
        helper.make_node("Neg", ["a"], ["b"]),
        helper.make_node("Split", ["b"], ["y", "z"], num_outputs=2),
    ]
    graph = helper.make_graph(nodes, "g", [floats("x", "n", 16)], [floats("y", None, 16), floats("z", None, 16)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    session = load(model, devices)
    for count in (4, 3, 4, 5):
        feeds = {"x": np.abs(rows(count)["x"])}
        for got, expected in zip(session.run(None, feeds), on_the_cpu(model, feeds), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


def test_an_output_of_unknown_rank_is_no_scalar_where_the_hosts_cpu_computes_the_run(devices):
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Neg", ["a"], ["b"]),
        helper.make_node("Neg", ["b"], ["y"]),
        helper.make_node("HannWindow", ["size"], ["window"]),
    ]
    ports = [floats("x", 3), helper.make_tensor_value_info("size", TensorProto.INT64, [])]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("y", "window")]
    model = model_of(nodes, ports, outputs)
    session = load(model, devices)
    assert attestations() != []
    for number in (1, np.nan, 2):
        feeds = {"x": np.array([-1, number, 3], np.float32), "size": np.array(5)}
        for got, expected in zip(session.run(None, feeds), on_the_cpu(model, feeds)):
            assert got.shape == expected.shape
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
