"""latebind compile --format pte and inspect of a .pte: what is written is what ExecuTorch's own Python code reads, and programs
that it made are converted without touching the rest."""

import io
import json
import random
import subprocess
import time
import zipfile

import onnx
import pytest
from onnx import TensorProto, helper
from pte_reader import Program, stock, write
from support import BOTH_GONE, MODEL, OPENVINO_GONE, PROGRAM, TINY, bad, cosines, good, provider, run, vectors, with_small_files

NO_PROVIDERS = {"LATEBIND_ONNXRUNTIME_PROVIDERS": "none"}
LONG, FLOAT = 4, 6
STATIC, BOUNDED = 0, 1


def compiled(place, model, *arguments, env=None):
    good("compile", model, "--format", "pte", "-o", place, "--quiet", *arguments, env=(env or NO_PROVIDERS))
    return Program(place)


def payload_of(program):
    (delegate,) = program.method.delegates
    assert delegate.id == b"LatebindBackend"
    return program.segment(delegate.processed.index)


def onnx_model(file, nodes, inputs, outputs):
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info(n, t, s) for n, t, s in inputs],
        [helper.make_tensor_value_info(n, t, s) for n, t, s in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, file)
    return file


@pytest.fixture
def doubling(tmp_path):
    """y = x + x, of any number of rows, with its transpose beside it."""
    return onnx_model(
        tmp_path / "m.onnx",
        [helper.make_node("Add", ["x", "x"], ["y"]), helper.make_node("Transpose", ["y"], ["z"], perm=[1, 0])],
        [("x", TensorProto.FLOAT, ["rows", 3])],
        [("y", TensorProto.FLOAT, ["rows", 3]), ("z", TensorProto.FLOAT, [3, "rows"])])


@pytest.fixture
def product(tmp_path):
    return onnx_model(
        tmp_path / "product.onnx", [helper.make_node("MatMul", ["a", "b"], ["y"])],
        [("a", TensorProto.FLOAT, ["n", "i"]), ("b", TensorProto.FLOAT, ["j", "m"])], [("y", TensorProto.FLOAT, ["n", "m"])])


@pytest.fixture
def fixed(tmp_path):
    return onnx_model(tmp_path / "fixed.onnx", [helper.make_node("Add", ["x", "x"], ["y"])],
                      [("x", TensorProto.FLOAT, [2, 3])], [("y", TensorProto.FLOAT, [2, 3])])


# --- What is written ---


def test_an_embedder_takes_ids_and_mask_and_gives_vectors(tmp_path):
    program = compiled(tmp_path / "tiny.pte", TINY)
    assert program.method.name == b"forward"
    assert program.method.containerMetaType.encodedInpStr == b"names\ninput_ids\nattention_mask\n"
    (ids, mask) = program.tensors("inputs")
    assert ids == mask and ids[0] == LONG and ids[1][0] == 1 and ids[2] == BOUNDED and not ids[3]
    ((kind, sizes, dynamism, planned),) = program.tensors("outputs")
    assert (kind, sizes[0], dynamism, planned) == (FLOAT, 1, BOUNDED, True)
    assert list(program.method.nonConstBufferSizes) == [0, -(-sizes[1] * 4 // 64) * 64]
    (call,) = program.method.chains[0].instructions
    assert list(call.instrArgs.args) == [0, 1, 2]


def test_the_payload_is_the_bundle_that_the_command_makes(tmp_path, fixed):
    program = compiled(tmp_path / "p.pte", fixed, "--target", "cpu")
    good("compile", fixed, "--target", "cpu", "-o", tmp_path / "b", "--quiet", env=NO_PROVIDERS)
    assert payload_of(program) == (tmp_path / "b").read_bytes()
    assert program.base % 4096 == 0
    with zipfile.ZipFile(io.BytesIO(payload_of(program))) as archive:
        assert archive.testzip() is None


def test_an_embedders_payload_is_that_bundle_too(tmp_path):
    """With the weights once, as they were, and the small files: every device makes what it needs of them."""
    program = compiled(tmp_path / "tiny.pte", TINY)
    good("compile", TINY, "-o", tmp_path / "b", "--quiet", env=NO_PROVIDERS)
    assert payload_of(program) == (tmp_path / "b").read_bytes()
    with zipfile.ZipFile(tmp_path / "b") as archive:
        portable = archive.read("model/portable/model.onnx")
        assert len(portable) < 20_000
        assert TensorProto.EXTERNAL in {t.data_location for t in onnx.load_from_string(portable).graph.initializer}
        (weights,) = [name for name in archive.namelist() if name.endswith("/model.safetensors")]
        assert archive.read(weights) == (TINY / "model.safetensors").read_bytes()
    texts = "One text.\nAnother one, a little longer.\n"
    for env in NO_PROVIDERS, NO_PROVIDERS | OPENVINO_GONE, NO_PROVIDERS | BOTH_GONE:
        ours = vectors(good("embed", "--model", tmp_path / "b", "--quiet", "-", input=texts, env=env).stdout)
        theirs = vectors(good("embed", "--model", TINY, "--quiet", "-", input=texts, env=env).stdout)
        assert cosines(ours, theirs).min() > 0.999999


def test_the_same_input_gives_the_same_bytes(tmp_path):
    assert compiled(tmp_path / "a", TINY).bytes == compiled(tmp_path / "b", TINY).bytes


def test_a_bundle_goes_into_a_program_as_it_is(tmp_path):
    good("compile", TINY, "--target", "cpu", "-o", tmp_path / "b", "--quiet", env=NO_PROVIDERS)
    assert payload_of(compiled(tmp_path / "p.pte", tmp_path / "b")) == (tmp_path / "b").read_bytes()


def test_no_vendor_is_needed_for_a_model_folder(tmp_path):
    program = compiled(tmp_path / "tiny.pte", TINY, env=BOTH_GONE | NO_PROVIDERS)
    assert program.bytes == compiled(tmp_path / "other.pte", TINY).bytes


def test_the_default_model_takes_a_second_or_two(tmp_path):
    start = time.monotonic()
    program = compiled(tmp_path / "minilm.pte", MODEL)
    assert time.monotonic() - start < 20
    assert program.tensors("inputs")[0] == (LONG, [1, 256], BOUNDED, False)
    assert program.tensors("outputs") == [(FLOAT, [1, 384], BOUNDED, True)]


def test_outputs_follow_from_the_largest_inputs(tmp_path, doubling):
    program = compiled(tmp_path / "m.pte", doubling, "--max-shape", "x=5x3")
    assert program.tensors("inputs") == [(FLOAT, [5, 3], BOUNDED, False)]
    assert program.tensors("outputs") == [(FLOAT, [5, 3], BOUNDED, True), (FLOAT, [3, 5], BOUNDED, True)]
    assert program.method.containerMetaType.encodedOutStr == b"names\ny\nz\n"


def test_static_shapes_need_no_bound(tmp_path, fixed):
    program = compiled(tmp_path / "m.pte", fixed, "--plan-inputs")
    assert program.tensors("inputs") == [(FLOAT, [2, 3], STATIC, True)]
    assert program.tensors("outputs") == [(FLOAT, [2, 3], STATIC, True)]


def test_an_ir_goes_in_as_well(tmp_path, fixed):
    import openvino

    openvino.save_model(openvino.Core().read_model(fixed), tmp_path / "m.xml", compress_to_fp16=False)
    program = compiled(tmp_path / "m.pte", tmp_path / "m.xml")
    assert program.tensors("inputs") == [(FLOAT, [2, 3], STATIC, False)]


def test_what_has_no_bound_is_named(tmp_path, doubling):
    line = bad(1, "compile", doubling, "--format", "pte", "-o", tmp_path / "p")
    assert "input 'x'" in line and "--max-shape x=8x3" in line
    positions = onnx_model(tmp_path / "n.onnx", [helper.make_node("NonZero", ["x"], ["where"])],
                           [("x", TensorProto.FLOAT, [2, 3])], [("where", TensorProto.INT64, [2, "n"])])
    # OpenVINO bounds it by itself, ONNX Runtime does not.
    assert compiled(tmp_path / "p", positions).tensors("outputs") == [(LONG, [2, 6], BOUNDED, True)]
    env = OPENVINO_GONE | NO_PROVIDERS
    line = bad(1, "compile", positions, "--format", "pte", "-o", tmp_path / "q", env=env)
    assert "output 'where'" in line and "--max-shape where=2x8" in line
    program = compiled(tmp_path / "q", positions, "--max-shape", "where=2x5", env=env)
    assert program.tensors("outputs") == [(LONG, [2, 5], BOUNDED, True)]


def test_inputs_that_nothing_uses_are_refused(tmp_path):
    model = tmp_path / "unused.onnx"
    onnx_model(model, [helper.make_node("Relu", ["a"], ["c"])], [("a", TensorProto.FLOAT, [2]), ("u", TensorProto.FLOAT, [2])],
               [("c", TensorProto.FLOAT, [2])])
    assert "'u'" in bad(1, "compile", model, "--format", "pte", "-o", tmp_path / "unused.pte")
    assert not (tmp_path / "unused.pte").exists()


def test_bounds_of_an_embedder_are_those_of_all_its_inputs(tmp_path):
    program = compiled(tmp_path / "p", TINY, "--max-shape", "input_ids=4x16")
    assert [t[1] for t in program.tensors("inputs")] == [[4, 16], [4, 16]]
    assert program.tensors("outputs")[0][1][0] == 4
    assert "tokens" in bad(1, "compile", TINY, "--format", "pte", "-o", tmp_path / "q", "--max-shape", "input_ids=1x100000")


def test_the_delegate_is_told_what_was_asked_for(tmp_path):
    def specs(*arguments):
        (delegate,) = compiled(tmp_path / "p", TINY, *arguments).method.delegates
        return {spec.key.decode(): bytes(spec.value).decode() for spec in delegate.compileSpecs}

    assert specs() == {}
    assert specs("--compile-spec", "device=npu,cpu", "--precision", "bf16") == {"device": "npu,cpu", "precision": "bf16"}
    assert specs("--compile-spec", "precision=f32,bf16", "--precision", "bf16") == {"precision": "f32,bf16"}
    line = bad(2, "compile", TINY, "--format", "pte", "-o", tmp_path / "q", "--compile-spec", "precision=f32",
               "--precision", "bf16")
    assert "precision=f32 contradicts --precision, which is bf16" in line
    assert not (tmp_path / "q").exists()


def test_npus_are_asked_for_what_they_compute_in(tmp_path):
    """An NPU that has f16 alone would be passed over as long as the program asks for f32 only."""
    env = {"LATEBIND_ONNXRUNTIME_PROVIDERS": provider("onnxruntime-qnn")}

    def precision(file, model, *arguments):
        (delegate,) = compiled(tmp_path / file, model, *arguments, env=env).method.delegates
        return [bytes(spec.value).decode() for spec in delegate.compileSpecs if spec.key == b"precision"]

    assert precision("p", TINY, "--target", "cpu,npu:v73", "--shapes", "1x16") == ["f32,f16"]
    good("compile", TINY, "--target", "npu:v73", "--shapes", "1x16", "-o", tmp_path / "b", "--quiet", env=env)
    assert precision("q", tmp_path / "b") == ["f32,f16"]
    assert precision("r", TINY, "--target", "cpu") == []


# --- What is refused ---


def test_largest_shapes_that_contradict_something_are_refused(tmp_path, doubling, product):
    def refused(model, *arguments, code=1):
        line = bad(code, "compile", model, "--format", "pte", "-o", tmp_path / "p", "--quiet", *arguments, env=NO_PROVIDERS)
        assert not (tmp_path / "p").exists()
        return line

    largest = ["--max-shape", "a=4x5", "--max-shape", "b=5x7"]
    assert "a=4x5 b=6x7" in refused(product, *largest[:2], "--max-shape", "b=6x7")
    assert "'y' has the shape [4,7]" in refused(product, *largest, "--max-shape", "y=4x6")
    assert compiled(tmp_path / "roomy", product, *largest, "--max-shape", "y=9x9").method.outputs
    # What is compiled for shapes that the program can never have.
    one = ["--max-shape", "x=4x3"]
    line = refused(doubling, *one, "--target", "openvino:CPU", "--shapes", "4x3,8x3")
    assert "--shapes 8x3" in line and "'x' has room for [4,3]" in line, line
    compiled(tmp_path / "fits", doubling, *one, "--target", "openvino:CPU", "--shapes", "4x3,2x3")


def test_shapes_that_the_delegate_is_told_are_those_of_the_program(tmp_path, doubling, product):
    def refused(model, *arguments):
        return bad(1, "compile", model, "--format", "pte", "-o", tmp_path / "p", "--quiet", *arguments, env=NO_PROVIDERS)

    told = ["--compile-spec", "input_shapes=4x3"]
    program = compiled(tmp_path / "told", doubling, *told)
    assert program.tensors("inputs") == [(FLOAT, [4, 3], STATIC, False)]
    assert [one[1:3] for one in program.tensors("outputs")] == [([4, 3], STATIC), ([3, 4], STATIC)]
    compiled(tmp_path / "same", doubling, *told, "--max-shape", "x=4x3")
    line = refused(doubling, *told, "--max-shape", "x=8x3")
    assert "'x' has the shape [4,3] by --compile-spec input_shapes" in line and "leave one of them out" in line, line
    assert "which [4,5] does not fit" in refused(doubling, "--compile-spec", "input_shapes=4x5")
    assert "has 2 shapes, but the model has 1 inputs" in refused(doubling, "--compile-spec", "input_shapes=4x3,4x3")
    assert "--compile-spec input_shapes" in refused(product, "--compile-spec", "input_shapes=4x5,6x7")
    assert "--shapes 8x3" in refused(doubling, *told, "--target", "openvino:CPU", "--shapes", "8x3")
    assert "must have the same shape" in refused(TINY, "--compile-spec", "input_shapes=1x8,1x16")
    assert "tokens" in refused(TINY, "--compile-spec", "input_shapes=1x4096,1x4096")
    assert not (tmp_path / "p").exists()


def test_explain_follows_what_the_program_tells_its_delegate(tmp_path, doubling):
    program = tmp_path / "p.pte"
    compiled(program, doubling, "--target", "openvino:CPU,onnxruntime:CPU", "--shapes", "4x3,2x3", "--max-shape", "x=4x3",
             "--compile-spec", "device=onnxruntime:CPU")
    report = json.loads(good("inspect", program, "--explain", "--json", env=NO_PROVIDERS).stdout)
    assert report["followed"]["device"] == "onnxruntime:CPU"
    assert {one["device"] for one in report["decisions"]} == {"onnxruntime:CPU"}
    assert "set by the program: device = onnxruntime:CPU" in good("inspect", program, "--explain", env=NO_PROVIDERS).stdout
    report = json.loads(good("inspect", program, "--explain", "--json", "--device", "openvino:CPU", env=NO_PROVIDERS).stdout)
    assert "device" not in report["followed"] and {one["device"] for one in report["decisions"]} == {"openvino:CPU"}

    shapes = tmp_path / "s.pte"
    compiled(shapes, doubling, "--target", "openvino:CPU", "--shapes", "4x3", "--compile-spec", "input_shapes=4x3",
             "--compile-spec", "device=openvino:CPU", "--compile-spec", "precision=bf16,f32")
    report = json.loads(good("inspect", shapes, "--explain", "--json", env=NO_PROVIDERS).stdout)
    assert {one["variant"]: one["loads"] for one in report["decisions"]} == {"cpu-openvino-f32-4x3": True, "portable": False}


def test_wrong_command_lines(tmp_path, doubling):
    out = ["-o", tmp_path / "p"]
    pte = ["--format", "pte", *out]
    assert "is only valid with --format pte" in bad(2, "compile", TINY, "--target", "cpu", *out, "--max-shape", "x=1")
    assert "is only valid with --format pte" in bad(2, "compile", TINY, "--target", "cpu", *out, "--program-model", "x")
    assert "--target is required" in bad(2, "compile", TINY, *out, "--format", "blob")
    assert "KEY=VALUE" in bad(2, "compile", TINY, *pte, "--compile-spec", "device")
    assert "did you mean device" in bad(2, "compile", TINY, *pte, "--compile-spec", "devise=cpu")
    assert "given twice" in bad(2, "compile", TINY, *pte, "--compile-spec", "device=a", "--compile-spec", "device=b")
    assert "did you mean" in bad(2, "compile", TINY, *pte, "--compile-spec", "device=cpuu")
    assert "--compile-spec: precision: unknown precision" in bad(2, "compile", TINY, *pte, "--compile-spec", "precision=f64")
    assert "from 0 to 1024" in bad(2, "compile", TINY, *pte, "--compile-spec", "threads=many")
    assert "true or false" in bad(2, "compile", TINY, *pte, "--compile-spec", "strict=perhaps")
    assert "does not take cache.folder from a program" in bad(
        2, "compile", TINY, *pte, "--compile-spec", "cache.folder=/tmp")
    assert "--program-model requires" in bad(2, "compile", TINY, *pte, "--program-model", TINY)
    assert "known: x, y, z" in bad(1, "compile", doubling, *pte, "--max-shape", "w=1")
    assert "does not fit" in bad(1, "compile", doubling, *pte, "--max-shape", "x=5x4")
    for text in "x", "x=", "=2", "x=-1", "x=8X2", "x=8x", "x=0x3", "x=5x0", "x=2147483648x3", "x=1099511627776x3":
        line = bad(2, "compile", doubling, *pte, "--max-shape", text)
        assert f"'{text}' must be NAME=DIMxDIM" in line and "from 1 to 2147483647" in line, line
    assert "given twice" in bad(2, "compile", doubling, *pte, "--max-shape", "x=1x3", "--max-shape", "x=2x3")
    assert not (tmp_path / "p").exists()


def test_nothing_is_left_when_the_disk_is_full(tmp_path):
    place = tmp_path / "p.pte"
    place.write_bytes(b"old")
    done = run("compile", TINY, "--format", "pte", "-o", place, "--quiet", env=NO_PROVIDERS, preexec_fn=with_small_files)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr
    assert place.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [place]


def test_whoever_is_killed_leaves_the_old_file_or_the_new_one(tmp_path):
    start = time.monotonic()
    new = compiled(tmp_path / "new.pte", MODEL).bytes
    whole = time.monotonic() - start
    place = tmp_path / "p.pte"
    rng = random.Random(7)
    seen = set()
    for _ in range(8):
        place.write_bytes(b"old")
        process = subprocess.Popen([PROGRAM, "compile", MODEL, "--format", "pte", "-o", place, "--quiet"])
        try:
            process.wait(timeout=rng.uniform(0, whole * 1.2))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        content = place.read_bytes()
        assert content in (b"old", new)
        seen.add(len(content))
    assert 3 in seen


# --- inspect ---


def test_inspect_shows_program_delegate_and_bundle(tmp_path):
    compiled(tmp_path / "tiny.pte", TINY, "--target", "cpu", "--compile-spec", "device=cpu")
    text = good("inspect", tmp_path / "tiny.pte").stdout
    for part in ("method forward", "input_ids  i64 [1,", "at most", "LatebindBackend: bundle", "device = 'cpu'",
                 "component model", "cpu-openvino-f32", "portable"):
        assert part in text, text
    report = json.loads(good("inspect", tmp_path / "tiny.pte", "--json", "--verify").stdout)
    assert report["form"] == "pte"
    (method,) = report["methods"]
    assert [i["name"] for i in method["inputs"]] == ["input_ids", "attention_mask"]
    assert method["outputs"][0]["type"] == "f32" and method["outputs"][0]["planned"]
    (delegate,) = method["delegates"]
    assert delegate["payload"] == "bundle" and delegate["offset"] % 4096 == 0
    assert {v["name"] for v in report["bundle"]["components"][0]["variants"]} == {"portable", "cpu-openvino-f32"}
    assert report["verification"]["damages"] == [] and report["decisions"] is None
    explained = json.loads(good("inspect", tmp_path / "tiny.pte", "--json", "--explain", env=NO_PROVIDERS).stdout)
    assert any(d["loads"] for d in explained["decisions"])


def test_inspect_finds_damage_in_the_payload(tmp_path):
    place = tmp_path / "tiny.pte"
    program = compiled(place, TINY)
    told = good("inspect", place, "--verify").stdout
    assert "files of the bundle" in told and "no checksum is recorded for the program around the bundle" in told
    content = bytearray(program.bytes)
    content[program.base + program.segment_size // 2] ^= 1
    place.write_bytes(content)
    good("inspect", place)
    done = run("inspect", place, "--verify")
    assert done.returncode == 1 and "damaged: " in done.stdout


def test_damaged_programs_are_refused_in_one_line(tmp_path, fixed):
    whole = compiled(tmp_path / "good.pte", fixed).bytes
    place = tmp_path / "bad.pte"
    for size in (9, 40, 100, 500, len(whole) - 1):
        place.write_bytes(whole[:size])
        assert "damaged" in bad(1, "inspect", place)
        assert "damaged" in bad(1, "compile", place, "--format", "pte", "-o", tmp_path / "x")
    rng = random.Random(11)
    for _ in range(60):
        content = bytearray(whole)
        for _ in range(3):
            content[rng.randrange(8, 1000)] = rng.randrange(256)
        place.write_bytes(content)
        done = run("inspect", place, "--json")
        assert done.returncode in (0, 1), done
        if done.returncode == 1:
            assert len(done.stderr.splitlines()) == 1
        else:
            json.loads(done.stdout)
    assert not (tmp_path / "x").exists()


# --- Programs that ExecuTorch made for its own backend ---


@pytest.fixture(scope="module")
def blob(tmp_path_factory):
    """What ExecuTorch's OpenVINO backend puts into a program."""
    import openvino

    file = onnx_model(tmp_path_factory.mktemp("blob") / "m.onnx", [helper.make_node("Add", ["x", "x"], ["y"])],
                      [("x", TensorProto.FLOAT, [2, 3])], [("y", TensorProto.FLOAT, [2, 3])])
    return openvino.Core().compile_model(file, "CPU").export_model().getvalue()


@pytest.mark.parametrize("inline", [False, True])
def test_a_stock_program_without_a_model_changes_in_its_id_alone(tmp_path, blob, inline):
    old = stock(tmp_path / "old.pte", blob, inline)
    good("compile", old, "--format", "pte", "-o", tmp_path / "new.pte")
    expected = old.read_bytes().replace(b"OpenvinoBackend", b"LatebindBackend")
    assert (tmp_path / "new.pte").read_bytes() == expected != old.read_bytes()
    report = json.loads(good("inspect", tmp_path / "new.pte", "--json").stdout)
    (delegate,) = report["methods"][0]["delegates"]
    assert (delegate["id"], delegate["payload"], delegate["inline"]) == ("LatebindBackend", "openvino-blob", inline)
    assert delegate["compile_specs"] == [{"key": "device", "value": "CPU"}]
    assert "device = 'CPU'" in good("inspect", tmp_path / "new.pte").stdout
    assert "bundle" not in report
    # Over itself.
    good("compile", old, "--format", "pte", "-o", old)
    assert old.read_bytes() == expected


@pytest.mark.parametrize("inline", [False, True])
def test_a_stock_program_gets_a_bundle_and_keeps_the_rest(tmp_path, blob, fixed, inline):
    old = stock(tmp_path / "old.pte", blob, inline, methods=("forward", "again"))
    good("compile", old, "--format", "pte", "--program-model", fixed, "--target", "cpu", "-o", tmp_path / "new.pte", "--quiet",
         env=NO_PROVIDERS)
    good("compile", fixed, "--target", "cpu", "-o", tmp_path / "b", "--quiet", env=NO_PROVIDERS)
    was, now = Program(old), Program(tmp_path / "new.pte")
    if inline:
        assert bytes(now.tree.backendDelegateData[0].data) == (tmp_path / "b").read_bytes()
        now.tree.backendDelegateData[0].data = was.tree.backendDelegateData[0].data
    else:
        assert now.segment(0) == (tmp_path / "b").read_bytes()
        now.tree.segments[0].size = was.tree.segments[0].size
    for plan in now.tree.executionPlan:
        assert plan.delegates[0].id == b"LatebindBackend"
        plan.delegates[0].id = b"OpenvinoBackend"
    a = write(tmp_path / "a", was.tree, []).read_bytes()
    assert a == write(tmp_path / "a", now.tree, []).read_bytes()
    assert "component model" in good("inspect", tmp_path / "new.pte").stdout


def test_conversions_that_can_not_be_done_say_why(tmp_path, blob, fixed, doubling):
    old = stock(tmp_path / "old.pte", blob)
    new = ["--format", "pte", "-o", tmp_path / "new.pte"]
    assert "called with 2 tensors" in bad(1, "compile", old, "--program-model", doubling, *new, env=NO_PROVIDERS)
    for call, words in (
            ({"inputs": (("LONG", [2, 3]),)}, "i64 [2,3] as input 0, which in the model of --program-model is 'x', f32 [2,3]"),
            ({"inputs": (("FLOAT", [2, 4]),)}, "f32 [2,4] as input 0"),
            ({"output": ("FLOAT", [6])}, "f32 [6] as output 0, which in the model of --program-model is 'y'")):
        other = stock(tmp_path / "others.pte", blob, **call)
        assert words in bad(1, "compile", other, "--program-model", fixed, *new, env=NO_PROVIDERS)
    assert "--format pte converts it" in bad(2, "compile", old, "--target", "cpu", "-o", tmp_path / "new.pte")
    assert "with --program-model" in bad(2, "compile", old, "--target", "cpu", *new)
    assert "the program keeps its own" in bad(2, "compile", old, *new, "--compile-spec", "device=cpu")
    for option, value in ("--shapes", "1x8"), ("--precision", "bf16"), ("--name", "N"), ("--source", "S"):
        line = bad(2, "compile", old, *new, option, value)
        assert f"{option} is about a bundle: name the model of the program with --program-model" in line
    line = bad(1, "compile", old, *new, "--program-model", tmp_path / "nosuch.onnx")
    assert "--program-model" in line and "there is no such file or folder" in line
    was = fixed.read_bytes()
    line = bad(2, "compile", old, "--format", "pte", "--program-model", fixed, "-o", fixed)
    assert "overwrite --program-model itself" in line and fixed.read_bytes() == was
    other = stock(tmp_path / "other.pte", blob, backend="XnnpackBackend")
    line = bad(1, "compile", other, *new)
    assert "'OpenvinoBackend'" in line and "'XnnpackBackend'" in line
    assert not (tmp_path / "new.pte").exists()
