"""latebind compile: one file for every device, and what becomes of it on machines that have some of them or none."""

import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy
import onnx
import pytest
from compile_scene import NO_PROVIDERS, QNN, TEXTS, compiled, cpu_bundle, embedded, lengths_bundle, npu_bundle, said, variants_of  # noqa: F401 (fixtures)
from support import BOTH_GONE, GOLDEN, MODEL, ONNXRUNTIME_GONE, OPENVINO_GONE, PROGRAM, SOURCE, TINY, VENDORS_FIRST, bad, cosines, good, run, vectors


# Instructions that are too few for f16, whatever the processor has.
WITHOUT_F16 = {"LATEBIND_NATIVE_ISA": "avx2" if platform.machine() in ("x86_64", "AMD64") else "portable"}


# --- What is in it ---


def test_one_file_has_the_portable_model_and_the_blobs(cpu_bundle):
    variants = variants_of(cpu_bundle)
    assert set(variants) == {"portable", "cpu-openvino-f32"}
    report = json.loads(good("inspect", cpu_bundle, "--json", "--verify").stdout)
    assert not report["verification"]["damages"], report


def test_the_same_input_gives_the_same_bytes(cpu_bundle, tmp_path):
    again = compiled(tmp_path / "again.lbundle", "--target", "cpu")
    assert again.read_bytes() == cpu_bundle.read_bytes()


def test_a_folder_is_the_same_unpacked(cpu_bundle, tmp_path):
    folder = compiled(tmp_path / "folder", "--target", "cpu", "--format", "folder")
    good("unpack", cpu_bundle, "-o", tmp_path / "unpacked")

    def files(place):
        return {str(f.relative_to(place)): f.read_bytes() for f in place.rglob("*") if f.is_file()}

    assert files(folder) == files(tmp_path / "unpacked")
    assert numpy.array_equal(embedded(folder), embedded(cpu_bundle))


def test_a_folder_is_replaced_only_when_all_of_it_is_a_bundle(tmp_path):
    app = tmp_path / "app"
    (app / "src").mkdir(parents=True)
    (app / "manifest.json").write_text('{"name": "app", "icons": []}')
    (app / "src" / "main.js").write_text("a year's work")
    line = ("compile", TINY, "--target", "cpu", "--format", "folder", "-o")
    assert "manifest.json" in bad(2, *line, app, env=NO_PROVIDERS)
    assert (app / "src" / "main.js").read_text() == "a year's work"

    folder = compiled(tmp_path / "folder", "--target", "cpu", "--format", "folder")
    compiled(folder, "--target", "cpu", "--format", "folder", "--name", "again")
    assert json.loads((folder / "manifest.json").read_text())["package_name"] == "again"
    (folder / "model" / "notes.txt").write_text("mine")
    assert "it contains 'model/notes.txt', which is not a file of the bundle" in bad(2, *line, folder, env=NO_PROVIDERS)
    assert json.loads((folder / "manifest.json").read_text())["package_name"] == "again"
    assert "not empty" in bad(1, "unpack", folder, "-o", app)


def test_a_model_and_a_bundle_by_a_relative_path(tmp_path):
    """Also with its transformer in a folder of its own, as sentence-transformers may have it."""
    shutil.copytree(TINY, tmp_path / "model")
    apart = shutil.copytree(TINY, tmp_path / "apart")
    (apart / "0_T").mkdir()
    for name in ("config.json", "model.safetensors", "sentence_bert_config.json"):
        (apart / name).rename(apart / "0_T" / name)
    modules = json.loads((apart / "modules.json").read_text())
    modules[0]["path"] = "0_T"
    (apart / "modules.json").write_text(json.dumps(modules))
    reference = embedded(TINY, *VENDORS_FIRST)
    for name in "model", "./apart", "model/../apart/":
        good("compile", name, "-o", "one.lbundle", "--quiet", "--target", "cpu", env=NO_PROVIDERS, cwd=tmp_path)
        done = good("embed", "--model", "one.lbundle", "--quiet", "-", input=TEXTS, cwd=tmp_path)
        assert (vectors(done.stdout) == reference).all(), name


def test_a_blob_alone(tmp_path, cpu_bundle):
    blob = compiled(tmp_path / "model.blob", "--target", "cpu", "--format", "blob")
    good("unpack", cpu_bundle, "-o", tmp_path / "unpacked")
    assert blob.read_bytes() == (tmp_path / "unpacked/model/cpu-openvino-f32/model.blob").read_bytes()
    assert "one target" in bad(2, "compile", TINY, "-o", tmp_path / "b", "--target", "openvino:CPU,onnxruntime:CPU",
                               "--format", "blob", env=NO_PROVIDERS)


def test_metadata_tells_where_the_model_comes_from(tmp_path):
    model = tmp_path / "models--org--tiny" / "snapshots" / ("0" * 40)
    shutil.copytree(TINY, model)
    (model / "README.md").write_text("---\nlanguage: en\nlicense: apache-2.0\n---\n# Tiny\n")
    bundle = compiled(tmp_path / "tiny.lbundle", "--target", "cpu", model=model)
    report = json.loads(good("inspect", bundle, "--json").stdout)
    assert report["package_name"] == "tiny"
    assert report["additional_metadata"] == {"source": "org/tiny", "revision": "0" * 40, "license": "apache-2.0"}
    given = compiled(tmp_path / "b", "--target", "cpu", "--name", "N", "--source", "S", "--license", "mit", model=model)
    report = json.loads(good("inspect", given, "--json").stdout)
    assert report["package_name"] == "N" and report["additional_metadata"]["source"] == "S"
    assert report["additional_metadata"]["license"] == "mit"


def test_a_name_that_is_not_utf8_is_refused_before_anything_is_compiled(tmp_path):
    wild = Path(os.fsdecode(os.fsencode(tmp_path) + b"/mod\xffel"))
    shutil.copytree(TINY, wild)
    for model, name in ([TINY, [b"--name", b"a\xff"]], [TINY, [b"--source", b"\xff"]], [wild, []]):
        line = [os.fsencode(model), b"--target", b"cpu", b"-o", os.fsencode(tmp_path / "b"), *name]
        done = subprocess.run([os.fsencode(PROGRAM), b"compile", *line], capture_output=True, env=os.environ | NO_PROVIDERS)
        assert done.returncode == 2 and b"is not UTF-8" in done.stderr, done.stderr
        assert b"json" not in done.stderr and b"compiling" not in done.stderr, done.stderr
    compiled(tmp_path / "named", "--target", "cpu", "--name", "named", model=wild)


# --- Using it ---


def test_a_bundle_embeds_as_its_folder_does(cpu_bundle):
    for more in ["--device", "onnxruntime:CPU"], ["--shapes", "static"], ["--no-cache"]:
        arguments = more if "--device" in more else [*VENDORS_FIRST, *more]
        assert numpy.array_equal(embedded(cpu_bundle, *arguments), embedded(TINY, *arguments)), arguments


def test_the_matching_blob_is_used_and_nothing_is_compiled(cpu_bundle):
    assert "variant 'cpu-openvino-f32' is used" in said("embed", "--model", cpu_bundle, "-", input=TEXTS)


def test_another_precision_compiles_the_portable_model(cpu_bundle):
    done = run("-v", "embed", "--model", cpu_bundle, "--precision", "bf16", "-", input=TEXTS)
    assert "is used" not in done.stderr and "bf16" in done.stderr
    # A processor without bf16 has tried it with the portable model, too.
    assert done.returncode == 0 or "not compute in bf16" in done.stderr, done.stderr


def test_without_the_vendor_of_the_blob_the_portable_model_answers(cpu_bundle):
    log = said("embed", "--model", cpu_bundle, "-", input=TEXTS, env=OPENVINO_GONE)
    assert "onnxruntime:CPU" in log and "is used" not in log


def test_a_blob_of_another_version_is_passed_over(cpu_bundle, tmp_path):
    folder = tmp_path / "folder"
    good("unpack", cpu_bundle, "-o", folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    info = manifest["components"]["model"]["variants"]["cpu-openvino-f32"]["executor_info"]["latebind"]
    info["runtime_version"] = "2019.1.0"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    done = good("-v", "embed", "--model", folder, "-", input=TEXTS)
    assert "does not do" in done.stderr and "2019.1.0" in done.stderr
    assert numpy.array_equal(vectors(done.stdout), embedded(TINY, *VENDORS_FIRST))


def test_search_run_and_export_take_a_bundle(cpu_bundle, tmp_path):
    lines = tmp_path / "lines.txt"
    lines.write_text(TEXTS)
    assert good("search", "--model", cpu_bundle, "--query", "rain", lines).stdout
    good("export", "--model", cpu_bundle, "-o", tmp_path / "a.onnx")
    good("export", "--model", TINY, "-o", tmp_path / "b.onnx")
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
    bundle = compiled(tmp_path / "onnx.lbundle", "--target", "cpu", model=tmp_path / "b.onnx")
    log = said("run", "--model", bundle, "--output-dir", tmp_path / "out")
    assert "variant 'cpu-openvino-f32' is used" in log
    assert good("run", "--model", bundle, env=OPENVINO_GONE).stdout


def test_a_model_folder_with_a_ready_onnx_file(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(TINY, folder)
    good("export", "--model", TINY, "-o", tmp_path / "model.onnx")
    (folder / "model.safetensors").unlink()
    (folder / "onnx").mkdir()
    shutil.copy(tmp_path / "model.onnx", folder / "onnx")
    bundle = compiled(tmp_path / "onnx.lbundle", "--target", "cpu", model=folder)
    assert numpy.array_equal(embedded(bundle), embedded(folder))
    assert numpy.array_equal(embedded(bundle, env=OPENVINO_GONE), embedded(folder, env=OPENVINO_GONE))


def test_stock_onnxruntime_opens_it_and_takes_the_portable_variant(cpu_bundle, tmp_path):
    good("unpack", cpu_bundle, "-o", tmp_path / "package")
    script = SOURCE / "tests" / "cli" / "ort_package.py"
    done = subprocess.run([sys.executable, script, tmp_path / "package"], stdout=subprocess.PIPE, encoding="utf-8",
                          timeout=120, check=True)
    report = json.loads(done.stdout)
    assert report["selected"] == "portable" and report["inputs"] == 2


def test_explain_says_what_becomes_of_each_variant(cpu_bundle):
    report = json.loads(good("inspect", cpu_bundle, "--explain", "--json", env=NO_PROVIDERS).stdout)
    decisions = {(d["device"], d["variant"]): d for d in report["decisions"]}
    assert decisions["openvino:CPU", "cpu-openvino-f32"]["loads"]
    assert "portable" in decisions["openvino:CPU", "portable"]["reason"]
    assert "openvino" in decisions["onnxruntime:CPU", "cpu-openvino-f32"]["reason"]
    # As a model with blobs is placed.
    done = good("-v", "embed", "--model", cpu_bundle, "--no-cache", env=NO_PROVIDERS, input="a man\n")
    assert f" on {report['decisions'][0]['device']} " in done.stderr
    text = good("inspect", cpu_bundle, "--explain", "--device", "openvino:CPU", "--precision", "bf16").stdout
    assert "computes in f32, but the request is for bf16" in text


# --- More for a bundle that is there ---


def test_added_at_last_or_compiled_at_once_is_the_same(tmp_path):
    more = ["--shapes", "1x16", "--package-version", "7"]
    at_once = compiled(tmp_path / "at_once", "--target", "cpu,npu:v73", *more, env=QNN)
    place = compiled(tmp_path / "bundle", "--target", "cpu", *more)
    compiled(place, "--add", "--target", "npu:v73", "--shapes", "1x16", model=place, env=QNN)
    assert place.read_bytes() == at_once.read_bytes()
    # What is there already is compiled again, not kept twice.
    again = compiled(tmp_path / "again", "--add", "--target", "cpu", model=place)
    assert again.read_bytes() == at_once.read_bytes()


def test_a_bundle_of_any_model_takes_more(tmp_path):
    good("export", "--model", TINY, "-o", tmp_path / "tiny.onnx")
    place = compiled(tmp_path / "bundle", "--target", "cpu", model=tmp_path / "tiny.onnx")
    compiled(place, "--add", "--target", "onnxruntime:CPU", "--format", "bundle", model=place)
    assert set(variants_of(place)) == {"portable", "cpu-openvino-f32", "cpu-onnxruntime-f32"}


def lock_of(place):
    return place.parent / f".latebind-{hashlib.sha256(place.name.encode()).hexdigest()[:16]}.lock"


def begin_to_add(place, target, format):
    line = [PROGRAM, "compile", place, "--add", "-o", place, "--target", target, "--format", format]
    return subprocess.Popen(line, stderr=subprocess.PIPE, text=True, env=os.environ | NO_PROVIDERS)


@pytest.mark.parametrize("format", ["bundle", "folder"])
def test_two_that_add_at_once_lose_nothing(tmp_path, format):
    place = compiled(tmp_path / "bundle", "--format", format)
    both = [begin_to_add(place, target, format) for target in ("openvino:CPU", "onnxruntime:CPU")]
    for process in both:
        _, error = process.communicate(timeout=100)
        assert process.returncode == 0, error
    assert set(variants_of(place)) == {"portable", "cpu-openvino-f32", "cpu-onnxruntime-f32"}
    assert list(tmp_path.iterdir()) == [place]


def test_who_adds_waits_for_whoever_writes_and_reads_what_is_there_then(tmp_path):
    place = compiled(tmp_path / "bundle")
    more = compiled(tmp_path / "more", "--add", "--target", "openvino:CPU", model=place)
    with lock_of(place).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        process = begin_to_add(place, "onnxruntime:CPU", "bundle")
        assert f"waiting for another process that writes {place}" in process.stderr.readline()
        more.replace(place)
    _, error = process.communicate(timeout=100)
    assert process.returncode == 0, error
    assert set(variants_of(place)) == {"portable", "cpu-openvino-f32", "cpu-onnxruntime-f32"}
    assert list(tmp_path.iterdir()) == [place]


def test_nothing_is_added_to_a_damaged_bundle_or_to_what_is_none(cpu_bundle, tmp_path):
    content = bytearray(cpu_bundle.read_bytes())
    content[len(content) // 2] ^= 1
    place = tmp_path / "damaged"
    place.write_bytes(content)
    line = bad(1, "compile", place, "--add", "--target", "onnxruntime:CPU", "-o", tmp_path / "b", "--quiet")
    assert "changed" in line or "CRC" in line or "damaged" in line, line
    assert "is not a bundle" in bad(1, "compile", TINY, "--add", "--target", "cpu", "-o", tmp_path / "b")
    assert "--format blob" in bad(
        2, "compile", cpu_bundle, "--add", "--target", "cpu", "--format", "blob", "-o", tmp_path / "b")
    assert not (tmp_path / "b").exists()


# --- NPUs that are not here ---


def test_the_whole_model_goes_to_the_npu_as_one_context(npu_bundle, tmp_path):

    good("unpack", npu_bundle, "-o", tmp_path / "package")
    variants = variants_of(npu_bundle)
    assert set(variants) == {"portable", "cpu-openvino-f32", "npu-v73-f16-1x32", "npu-v79-f16-1x32"}
    for architecture in "v73", "v79":
        model = onnx.load(tmp_path / "package/model" / f"npu-{architecture}-f16-1x32" / "model.onnx")
        assert [node.op_type for node in model.graph.node] == ["EPContext"]


def test_the_npus_blobs_are_the_same_each_time(npu_bundle, tmp_path):
    again = compiled(tmp_path / "again", "--target", "npu:v73", "--shapes", "1x32", model=MODEL, env=QNN)
    good("unpack", npu_bundle, "-o", tmp_path / "one")
    good("unpack", again, "-o", tmp_path / "two")
    file = "model/npu-v73-f16-1x32/model.onnx"
    assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_it_does_not_matter_where_the_model_lies(tmp_path):
    shutil.copytree(TINY, tmp_path / "else" / "where" / TINY.name)
    arguments = ["--target", "npu:v73,cpu", "--shapes", "1x16"]
    here = compiled(tmp_path / "one", *arguments, env=QNN)
    there = compiled(tmp_path / "two", *arguments, model=tmp_path / "else" / "where" / TINY.name, env=QNN)
    assert here.read_bytes() == there.read_bytes()


def test_the_npus_numbers_are_right_in_the_vendors_emulation(npu_bundle):
    texts = [json.loads(line)["text"] for line in (GOLDEN / "minilm.jsonl").read_text().splitlines()]
    wanted = numpy.load(GOLDEN / "minilm.npy")
    short = [i for i, text in enumerate(texts) if len(text) < 60 and "\n" not in text and "\r" not in text][:6]
    lines = "".join(texts[i] + "\n" for i in short)
    done = good("-v", "embed", "--model", npu_bundle, "--device", "onnxruntime:QNN.v73", "--emulate", "--precision",
                "f16", "-", input=lines, env=QNN)
    assert "variant 'npu-v73-f16-1x32' is used" in done.stderr
    assert "onnxruntime:QNN.v73" in done.stderr and "emulated" in done.stderr
    for row, index in zip(vectors(done.stdout), short):
        assert float(row @ wanted[index]) >= 0.999, texts[index]


def test_lengths_and_npus_share_what_their_blobs_have_in_common(lengths_bundle, npu_bundle, tmp_path):
    def stored(bundle):
        sizes = {asset["uri"]: asset["bytes"] for asset in json.loads(good("inspect", bundle, "--json").stdout)["shared_assets"]}
        blobs = {name: one for name, one in variants_of(bundle).items() if name.startswith("npu-")}
        return {name: one["bytes"] + sizes.get(one["latebind"]["model"].split("/")[0], 0) for name, one in blobs.items()}

    for bundle, count in (lengths_bundle, 4), (npu_bundle, 2):
        sizes = sorted(stored(bundle).values())
        assert len(sizes) == count and sizes[-1] > 40e6 and sum(sizes) <= 1.1 * sizes[-1], sizes
    good("unpack", lengths_bundle, "-o", tmp_path / "out")
    whole = {file.parent.name for file in (tmp_path / "out" / "model").glob("npu-*/model.onnx") if file.stat().st_size > 40e6}
    assert whole == {f"npu-v73-f16-1x{length}" for length in (32, 64, 128, 256)}
    # Stock ONNX Runtime opens the ZIP as others unpack it, too.
    with zipfile.ZipFile(npu_bundle) as archive:
        archive.extractall(tmp_path / "others")
    script = [sys.executable, SOURCE / "tests" / "cli" / "ort_package.py", tmp_path / "others"]
    opened = json.loads(subprocess.run(script, stdout=subprocess.PIPE, check=True, timeout=120).stdout)
    assert opened["selected"] == "portable" and "npu-v79-f16-1x32" in opened["variants"]


def test_every_length_is_right_from_what_is_shared(lengths_bundle):
    words = "the river carries small stones slowly towards a wide and quiet sea".split()
    for length in 32, 64, 128, 256:
        text = " ".join(words[i % len(words)] for i in range(length - 4)) + "\n"
        done = good("-v", "embed", "--model", lengths_bundle, "--device", "onnxruntime:QNN.v73", "--emulate", "--precision",
                    "f16", "-", input=text, env=QNN)
        assert f"variant 'npu-v73-f16-1x{length}' is used" in done.stderr
        reference = good("embed", "--model", MODEL, "--device", "native:CPU", "--precision", "f32", "-", input=text)
        assert cosines(vectors(done.stdout), vectors(reference.stdout)).min() >= 0.9995, length


def test_a_damaged_blob_that_is_shared_is_found(npu_bundle, tmp_path):
    variants = variants_of(npu_bundle)
    from_ = variants["npu-v79-f16-1x32"]["latebind"]["difference"]["from"]
    content = bytearray(npu_bundle.read_bytes())
    # In the middle of the blob that is stored whole.
    name = f"shared_assets/{from_.replace(':', '-', 1)}".encode()
    at = content.index(name) + 20_000_000
    content[at] ^= 1
    (tmp_path / "flipped").write_bytes(content)
    assert "CRC" in good("-v", "embed", "--model", tmp_path / "flipped", "--device", "onnxruntime:QNN.v79,cpu", "--emulate",
                         "--precision", "f16,f32", "-", input="a text\n", env=QNN).stderr
    assert "damaged" in run("inspect", tmp_path / "flipped", "--verify").stdout
    (tmp_path / "cut").write_bytes(npu_bundle.read_bytes()[:-20_000_000])
    bad(1, "inspect", tmp_path / "cut", "--verify")


def test_what_is_compiled_for_an_npu_is_cached(tmp_path):
    cache = {"XDG_CACHE_HOME": str(tmp_path)}
    arguments = ["-v", "embed", "--model", TINY, "--device", "onnxruntime:QNN.v73", "--emulate", "--precision", "f16",
                 "--static-lengths", "16", "-"]
    first = good(*arguments, input="a text\n", env=QNN | cache)
    assert list(tmp_path.rglob("*.blob"))
    second = good(*arguments, input="a text\n", env=QNN | cache)
    assert second.stdout == first.stdout


def test_a_machine_without_that_npu_takes_what_fits(npu_bundle):
    log = said("embed", "--model", npu_bundle, "-", input=TEXTS, env=NO_PROVIDERS)
    assert "variant 'cpu-openvino-f32' is used" in log


def test_a_virtual_device_does_not_run_unless_it_is_emulated(npu_bundle):
    line = bad(1, "embed", "--model", npu_bundle, "--device", "onnxruntime:QNN.v73", "--precision", "f16", "-",
               input=TEXTS, env=QNN)
    assert "--emulate" in line


# --- With no vendor at all ---


@pytest.fixture(scope="module")
def plain_bundle(tmp_path_factory):
    """The portable model alone, made where no compiler is."""
    return compiled(tmp_path_factory.mktemp("bundle") / "tiny.lbundle", env=BOTH_GONE | NO_PROVIDERS)


def test_a_bundle_needs_no_vendor(plain_bundle, tmp_path):
    assert set(variants_of(plain_bundle)) == {"portable"}
    env = BOTH_GONE | NO_PROVIDERS
    only = ("--device", "native", "--strict")
    assert numpy.array_equal(embedded(plain_bundle, *only, env=env), embedded(TINY, *only))
    ids = [[2, 9, 11, 3]]
    numpy.save(tmp_path / "ids.npy", numpy.array(ids))
    numpy.save(tmp_path / "mask.npy", numpy.ones((1, 4), numpy.int64))

    def outputs(name, *arguments, env=None):
        folder = tmp_path / name
        report = json.loads(good("run", "--model", plain_bundle, "--input", f"input_ids={tmp_path / 'ids.npy'}", "--input",
                                 f"attention_mask={tmp_path / 'mask.npy'}", "--output-dir", folder, "--json",
                                 *arguments, env=env).stdout)
        return report, numpy.load(folder / "sentence_embedding.npy")

    report, ours = outputs("native", *only, env=env)
    assert report["device"] == "native:CPU" and not report["fallback"], report
    for device in "openvino:CPU", "onnxruntime:CPU":
        report, theirs = outputs(device[:4], "--device", device)
        assert report["device"] == device and ours.shape == theirs.shape == (1, 32)
        assert numpy.abs(ours - theirs).max() < 1e-5


def test_explain_tells_what_native_takes(plain_bundle, cpu_bundle, tmp_path):
    def decisions(bundle, *arguments, env=None):
        report = json.loads(good("inspect", bundle, "--explain", "--json", *arguments, env=env).stdout)
        return [(one["device"], one["variant"], one["loads"]) for one in report["decisions"]]

    assert decisions(plain_bundle, "--device", "native", env=BOTH_GONE) == [("native:CPU", "portable", True)]
    assert decisions(cpu_bundle, "--device", "native") == [
        ("native:CPU", "cpu-openvino-f32", False), ("native:CPU", "portable", True)]
    # Where there are blobs, their devices come first.
    first = [device for device, _, _ in decisions(cpu_bundle, "--device", "cpu", env=ONNXRUNTIME_GONE)]
    assert first.index("openvino:CPU") < first.index("native:CPU")
    assert decisions(plain_bundle, "--device", "native", "--precision", "f16", env=WITHOUT_F16) == [
        ("native:CPU", "portable", False)]
    said = good("inspect", plain_bundle, "--explain", "--device", "native", "--precision", "f16", env=WITHOUT_F16).stdout
    assert "f16 was requested" in said, said
    # What is no graph for it.
    export = tmp_path / "tiny.onnx"
    good("export", "--model", TINY, "-o", export)
    other = compiled(tmp_path / "other.lbundle", model=export)
    assert decisions(other, "--device", "native") == [("native:CPU", "portable", False)]
    said = bad(1, "run", "--model", other, "--device", "native")
    assert "native:CPU: it runs embedding models with their config.json and weights, and nothing else" in said, said


def test_a_blob_is_what_needs_a_target(plain_bundle, tmp_path):
    assert "--target is required" in bad(2, "compile", TINY, "--format", "blob", "-o", tmp_path / "b")
    assert "--target is required" in bad(2, "compile", plain_bundle, "--add", "-o", tmp_path / "b")
    assert not (tmp_path / "b").exists()
