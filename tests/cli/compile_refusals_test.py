"""latebind compile: what it refuses, what a compiler does not take, and where it does not write."""

import json
import random
import shutil

import numpy
import onnx
import pytest
from onnx import TensorProto, helper
from compile_scene import FAKE_OPENVINO, NO_PROVIDERS, QNN, TEXTS, compiled, cpu_bundle, embedded, said, variants_of  # noqa: F401 (fixtures)
from support import BOTH_GONE, OPENVINO_GONE, TINY, VENDORS_FIRST, bad, good, run, vectors, with_small_files


# --- What goes wrong ---


def test_targets_that_nobody_knows(tmp_path):
    line = bad(2, "compile", TINY, "--target", "npu:v37", "-o", tmp_path / "b", env=QNN)
    assert "npu:v73" in line and not (tmp_path / "b").exists()
    assert "did you mean" in bad(2, "compile", TINY, "--target", "cpuu", "-o", tmp_path / "b", env=NO_PROVIDERS)
    # What could not be asked may know it.
    assert "not tried: openvino" in bad(1, "compile", TINY, "--target", "cpuu", "-o", tmp_path / "b", env=OPENVINO_GONE)


def test_a_missing_compiler_says_what_is_missing(tmp_path):
    line = bad(1, "compile", TINY, "--target", "npu:v73", "-o", tmp_path / "b", env=NO_PROVIDERS)
    assert "libQnnHtp.so" in line and "onnxruntime-qnn" in line
    assert list(tmp_path.iterdir()) == []


def test_intels_npus_want_intels_compiler(tmp_path):
    line = bad(1, "compile", TINY, "--target", "npu:4000", "-o", tmp_path / "b", env=NO_PROVIDERS)
    assert "libopenvino_intel_npu_compiler" in line and "driver" in line
    assert list(tmp_path.iterdir()) == []


def test_a_failed_target_fails_the_command_unless_told_to_go_on(tmp_path):
    targets = ["--target", "npu:v73,cpu", "-o", tmp_path / "b"]
    assert run("compile", TINY, *targets, env=NO_PROVIDERS).returncode == 1
    assert not (tmp_path / "b").exists()
    done = good("compile", TINY, *targets, "--keep-going", "--json", env=NO_PROVIDERS)
    report = json.loads(done.stdout)
    assert [v["name"] for v in report["variants"] if v["compiled"]] == ["cpu-openvino-f32"]
    assert len(report["refused"]) == 1 and "npu:v73" in report["refused"][0]
    assert set(variants_of(tmp_path / "b")) == {"portable", "cpu-openvino-f32"}


# --- What a compiler did not take ---


@pytest.fixture
def finding(tmp_path):
    """y = s * count(s), with an operator that no NPU of Qualcomm's takes: the places of what is not 0."""
    return onnx_model(
        tmp_path / "finding.onnx",
        [helper.make_node("Add", ["x", "x"], ["s"], name="double"), helper.make_node("NonZero", ["s"], ["z"], name="find"),
         helper.make_node("Cast", ["z"], ["c"], name="cast", to=TensorProto.FLOAT),
         helper.make_node("ReduceSum", ["c"], ["r"], name="sum", keepdims=0), helper.make_node("Mul", ["s", "r"], ["y"], name="scale")],
        [("x", [2, 3])], [("y", [2, 3])])


def onnx_model(file, nodes, inputs, outputs):
    infos = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in some] for some in (inputs, outputs)]
    model = helper.make_model(helper.make_graph(nodes, "g", *infos), opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, file)
    return file


def test_what_would_have_to_change_in_the_model_is_said_and_kept(tmp_path, finding):
    place = tmp_path / "b"
    done = good("compile", finding, "--target", "cpu,npu:v73", "--strict", "--keep-going", "--json", "-o", place, env=QNN)
    report = json.loads(done.stdout)
    (npu,) = [one for one in report["variants"] if one["target"] == "npu:v73"]
    assert not npu["compiled"] and "leaves" in npu["reason"]
    nodes = {(node["operator"], node["name"]): node["shape"] for node in npu["left_to_cpu"]["first"]}
    assert nodes["NonZero", "find"].startswith("i64 [2,") and npu["left_to_cpu"]["count"] == len(nodes)
    assert "what the model has that onnxruntime:QNN.v73 does not take" in done.stderr and "NonZero 'find'" in done.stderr

    (refused,) = variants_of(place)["portable"]["latebind"]["refused"]
    assert refused["variant"] == npu["name"] and refused["target"] == "npu:v73" and refused["precision"] == "f16"
    assert refused["device"] == "QNN.v73" and refused["nodes"] == npu["left_to_cpu"] and refused["reason"] == npu["reason"]
    text = good("inspect", place).stdout
    assert f"{npu['name']} by onnxruntime:QNN.v73" in text and "NonZero 'find', i64 [2," in text
    # The same bytes each time, and a variant that is compiled after all takes the reason's place.
    again = compiled(tmp_path / "again", "--target", "cpu,npu:v73", "--strict", "--keep-going", model=finding, env=QNN)
    assert again.read_bytes() == place.read_bytes()
    compiled(place, "--add", "--target", "npu:v73", model=place, env=QNN)
    variants = variants_of(place)
    assert "refused" not in variants["portable"]["latebind"] and "NonZero" in str(variants[npu["name"]]["latebind"]["left_to_cpu"])
    assert "nodes that are left to the CPU" in good("inspect", place).stdout


def test_a_target_that_fails_leaves_its_reason_with_the_vendors_words(tmp_path):
    vendor = tmp_path / "vendor"
    vendor.mkdir()
    shutil.copy2(FAKE_OPENVINO, vendor / "libopenvino_c.so")
    (vendor / "libopenvino_intel_npu_compiler.so").touch()
    (vendor / "script").write_text("device CPU\nregistered NPU\nencoder 32\non NPU fail ov_core_compile_model * -1 no tiling for this\n")
    environment = NO_PROVIDERS | {"LATEBIND_OPENVINO_LIBRARY": str(vendor / "libopenvino_c.so"),
                                  "LATEBIND_FAKE_SCRIPT": str(vendor / "script")}
    good("compile", TINY, "--target", "cpu,npu:4000", "--keep-going", "--shapes", "1x16", "-o", tmp_path / "b", env=environment)
    (refused,) = variants_of(tmp_path / "b")["portable"]["latebind"]["refused"]
    assert refused["target"] == "npu:4000" and refused["shapes"] == [[1, 16], [1, 16]] and "no tiling for this" in refused["reason"]


# --- Shapes of several inputs ---


def test_shapes_of_several_inputs(tmp_path):
    model = onnx_model(tmp_path / "m.onnx", [helper.make_node("MatMul", ["a", "b"], ["y"])],
                       [("a", ["n", 3]), ("b", ["i", "m"])], [("y", ["n", "m"])])
    place = compiled(tmp_path / "b", "--target", "cpu", "--shapes", "2x3+3x4,3x3", model=model)
    variants = variants_of(place)
    assert variants["cpu-openvino-f32-2x3+3x4"]["latebind"]["shapes"] == [[2, 3], [3, 4]]
    assert variants["cpu-openvino-f32-3x3"]["latebind"]["shapes"] == [[3, 3], [3, 3]], "one shape is for all inputs"
    for shapes, words in (("2x3+3x4+1", "the model has 2 inputs"), ("2x4", "'a' has the shape [?,3], which [2,4] does not fit"),
                          ("2x3+4", "'b' has the shape [?,?], which [4] does not fit"), ("2x3+", "--shapes"), ("+", "--shapes")):
        line = bad(2, "compile", model, "--target", "cpu", "--shapes", shapes, "-o", tmp_path / "c", env=NO_PROVIDERS)
        assert words in line, line
    for shapes, words in (("1x8+1x16", "have the same shape"), ("8", "texts x tokens"), ("1x4096", "tokens"), ("1x8+1x8+1x8+1x8", "have the same shape")):
        line = bad(2, "compile", TINY, "--target", "cpu", "--shapes", shapes, "-o", tmp_path / "c", env=NO_PROVIDERS)
        assert words in line, line
    assert not (tmp_path / "c").exists()


def test_wrong_command_lines(tmp_path):
    for shapes in "1xx", "scalar", "0x8", "1x16777217":
        assert "--shapes" in bad(2, "compile", TINY, "--target", "cpu", "--shapes", shapes, "-o", tmp_path / "b")
    assert run("compile", TINY, "--format", "blob", "-o", tmp_path / "b").returncode == 2
    assert run("compile", TINY, "--target", "cpu").returncode == 2
    assert "give its name" in bad(2, "compile", TINY, "--target", "cpu", "-o", "-", cwd=tmp_path)
    assert "-o is empty" in bad(2, "compile", TINY, "--target", "cpu", "-o", "")
    assert "--target is empty" in bad(2, "compile", TINY, "--target", "", "-o", tmp_path / "b")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_can_not_be_written_to_is_told_before_anything_is_compiled(tmp_path):
    (tmp_path / "folder").mkdir()
    for output, formats in (tmp_path / "no" / "b", ["bundle", "folder", "blob"]), (tmp_path / "folder", ["bundle", "blob"]):
        for output_format in formats:
            done = run("compile", TINY, "--target", "cpu", "-o", output, "--format", output_format, env=NO_PROVIDERS)
            assert done.returncode == 1 and "compiling" not in done.stderr and str(output) in done.stderr, done.stderr
    assert [file.name for file in tmp_path.rglob("*")] == ["folder"]


def test_an_onnx_file_with_its_data_elsewhere_is_refused_before_anything_is_compiled(tmp_path, onnx_file):
    import onnx

    model = onnx.load(onnx_file)
    onnx.save(model, tmp_path / "apart.onnx", save_as_external_data=True, location="apart.weights", size_threshold=0)
    done = run("compile", tmp_path / "apart.onnx", "--target", "cpu", "-o", tmp_path / "b", env=NO_PROVIDERS)
    assert done.returncode == 1 and "in other files" in done.stderr and "compiling" not in done.stderr
    good("compile", tmp_path / "apart.onnx", "--target", "cpu", "--format", "blob", "-o", tmp_path / "b", env=NO_PROVIDERS)


def test_an_export_that_the_system_cuts_off_is_no_bundle(tmp_path):
    done = run("compile", TINY, "--target", "cpu", "-o", tmp_path / "b", env=NO_PROVIDERS, preexec_fn=with_small_files)
    assert done.returncode == 1 and "is incomplete" in done.stderr and "TMPDIR" in done.stderr, done.stderr
    assert not list(tmp_path.iterdir())


def test_a_missing_model_is_a_missing_file_or_folder(tmp_path):
    for name in "nowhere", "nosuch.onnx", "nosuch.xml", "nosuch.pte":
        for arguments in (["--target", "cpu"], ["--format", "pte"]):
            line = bad(1, "compile", tmp_path / name, *arguments, "-o", tmp_path / "b")
            assert f"{name}': there is no such file or folder" in line and "latebind compile" not in line, line
    assert "'nosuch.onnx': there is no such file or folder" in bad(
        1, "compile", "nosuch.onnx", "--target", "cpu", "-o", "b", cwd=tmp_path)
    # This has the form of a name on the hub.
    assert "'models/nosuch.onnx': there is no such file or folder" in bad(
        1, "compile", "models/nosuch.onnx", "--target", "cpu", "-o", "b", cwd=tmp_path)


# --- Where it does not write ---


def refuses_to_write(model, place, *arguments):
    """The command is refused before anything is done, and every file beside it is what it was."""
    def files():
        return {f: (f.read_bytes(), f.stat().st_ino) for f in sorted(place.parent.rglob("*")) if f.is_file()}

    before = files()
    line = bad(2, "compile", model, "-o", place, *arguments, env=NO_PROVIDERS)
    assert "would overwrite" in line and str(place) in line, line
    assert files() == before


@pytest.fixture
def onnx_file(tmp_path):
    good("export", "--model", TINY, "-o", tmp_path / "tiny.onnx")
    return tmp_path / "tiny.onnx"


@pytest.mark.parametrize("arguments", [["--target", "cpu"], ["--format", "pte"], ["--target", "cpu", "--keep-going"],
                                       ["--target", "cpu", "--format", "blob"]])
def test_a_model_is_not_written_over(tmp_path, onnx_file, arguments):
    refuses_to_write(onnx_file, onnx_file, *arguments)
    (tmp_path / "folder").mkdir()
    refuses_to_write(onnx_file, tmp_path / "folder" / ".." / "tiny.onnx", *arguments)
    (tmp_path / "link.onnx").symlink_to("tiny.onnx")
    refuses_to_write(onnx_file, tmp_path / "link.onnx", *arguments)
    refuses_to_write(tmp_path / "link.onnx", onnx_file, *arguments)


def test_the_weights_of_an_ir_or_of_an_onnx_file_are_not_written_over(tmp_path, onnx_file):
    import onnx
    import openvino

    openvino.save_model(openvino.Core().read_model(onnx_file), tmp_path / "ir.xml")
    refuses_to_write(tmp_path / "ir.xml", tmp_path / "ir.bin", "--target", "cpu")
    model = onnx.load(onnx_file)
    onnx.save(model, tmp_path / "apart.onnx", save_as_external_data=True, location="apart.weights", size_threshold=0)
    refuses_to_write(tmp_path / "apart.onnx", tmp_path / "apart.weights", "--target", "cpu")
    (tmp_path / "other").write_bytes(b"old")
    compiled(tmp_path / "other", "--target", "cpu", model=tmp_path / "ir.xml")


def test_nothing_is_written_into_the_models_folder(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(TINY, folder)
    for name in "model.safetensors", "config.json", "new.lbundle":
        refuses_to_write(folder, folder / name, "--target", "cpu")
    refuses_to_write(folder, folder / "new", "--target", "cpu", "--format", "folder")
    refuses_to_write(folder, folder, "--target", "cpu", "--format", "folder")
    line = bad(2, "compile", ".", "-o", "model.safetensors", "--format", "pte", cwd=folder)
    assert "overwrite MODEL's own folder" in line
    assert (folder / "model.safetensors").read_bytes() == (TINY / "model.safetensors").read_bytes()
    compiled(tmp_path / "model.lbundle", "--target", "cpu", model=folder)


def test_what_a_folders_links_lead_to_is_not_written_over(tmp_path):
    """As in the hub's cache."""
    folder = tmp_path / "snapshot"
    shutil.copytree(TINY, folder)
    (tmp_path / "blobs").mkdir()
    (folder / "model.safetensors").rename(tmp_path / "blobs" / "1")
    (folder / "model.safetensors").symlink_to("../blobs/1")
    refuses_to_write(folder, folder / "model.safetensors", "--target", "cpu")
    refuses_to_write(folder, tmp_path / "blobs" / "1", "--target", "cpu")


def test_a_bundle_is_written_over_by_itself_with_more_alone(tmp_path):
    place = compiled(tmp_path / "bundle", "--target", "cpu")
    refuses_to_write(place, place, "--format", "pte")
    refuses_to_write(place, place, "--format", "pte", "--add")
    compiled(place, "--add", "--target", "onnxruntime:CPU", model=place)
    assert set(variants_of(place)) == {"portable", "cpu-openvino-f32", "cpu-onnxruntime-f32"}


def test_a_bundle_is_not_compiled_again(cpu_bundle, tmp_path):
    assert "already a bundle" in bad(1, "compile", cpu_bundle, "--target", "cpu", "-o", tmp_path / "b")


def test_nothing_is_left_when_the_disk_is_full(cpu_bundle, tmp_path):
    place = tmp_path / "b"
    place.write_bytes(b"old")
    done = run("compile", TINY, "--target", "onnxruntime:CPU", "-o", place, "--quiet", env=NO_PROVIDERS, preexec_fn=with_small_files)
    assert done.returncode == 1 and str(place) in done.stderr or "compile" in done.stderr
    assert place.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [place]


def test_what_could_not_be_written_has_no_report():
    done = run("compile", TINY, "--target", "cpu", "-o", "/dev/full", "--json", env=NO_PROVIDERS)
    assert done.returncode == 1 and "cannot write" in done.stderr and done.stdout == ""


def test_a_flipped_bit_is_never_a_wrong_answer(cpu_bundle, tmp_path):
    """Of whatever file of the bundle: it is refused, or the vectors are right."""
    right = embedded(TINY, *VENDORS_FIRST)
    content = bytearray(cpu_bundle.read_bytes())
    rng = random.Random(20261121)
    place = tmp_path / "damaged.lbundle"
    refused = 0
    for _ in range(60):
        byte, bit = rng.randrange(len(content)), 1 << rng.randrange(8)
        content[byte] ^= bit
        place.write_bytes(content)
        content[byte] ^= bit
        done = run("embed", "--model", place, "--quiet", "-", input=TEXTS)
        assert done.returncode in (0, 1), done
        if done.returncode == 0:
            assert numpy.array_equal(vectors(done.stdout), right), byte
        else:
            refused += 1
            assert len(done.stderr.splitlines()) == 1, done.stderr
    assert refused > 0


def test_without_a_compiler_it_says_what_to_install(tmp_path):
    gone = BOTH_GONE | NO_PROVIDERS
    said = bad(1, "compile", TINY, "--target", "cpu", "-o", tmp_path / "none.lbundle", env=gone)
    assert "unknown target 'cpu'" in said and "pip install" in said and "native" not in said
    done = run("compile", TINY, "--target", "native:CPU", "-o", tmp_path / "none.lbundle", env=gone)
    assert done.returncode == 1 and "native:CPU does not compile" in done.stderr
    assert not (tmp_path / "none.lbundle").exists()
