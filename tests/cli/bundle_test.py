"""latebind inspect and unpack: bundles that we write are what Python and stock ONNX Runtime read, and packages that others
write are what we read."""

import hashlib
import json
import os
import struct
import subprocess
import sys
import zipfile

import pytest
from support import PROGRAM, SOURCE, TINY, bad, good, run

MAKER = PROGRAM.parent / "lb_make_bundle"


def make(form, model, out):
    subprocess.run([MAKER, form, model, out], check=True, timeout=60)
    return out


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    file = tmp_path_factory.mktemp("model") / "model.onnx"
    good("export", "--model", TINY, "-o", file)
    return file


@pytest.fixture
def bundle(tmp_path, model):
    return make("bundle", model, tmp_path / "toy.lbundle")


def files_below(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def as_zip(folder, file, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name in sorted(files_below(folder)):
            archive.write(folder / name, name)
    return file


def inspected(place, *more):
    return json.loads(good("inspect", place, "--json", *more).stdout)


def in_onnxruntime(folder):
    """What stock ONNX Runtime makes of a folder, by a process of its own."""
    script = SOURCE / "tests" / "cli" / "ort_package.py"
    done = subprocess.run([sys.executable, script, folder], stdout=subprocess.PIPE, encoding="utf-8", timeout=120)
    assert done.returncode == 0
    return json.loads(done.stdout)


def test_python_reads_what_we_write(bundle, tmp_path, model):
    with zipfile.ZipFile(bundle) as archive:
        assert archive.testzip() is None
        assert archive.namelist()[0] == "manifest.json"
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {info.external_attr >> 16 for info in archive.infolist()} == {0o100644}
        for info in archive.infolist():
            # Where its data begins: behind the local header, its name and its extra field.
            header = bundle.read_bytes()[info.header_offset:info.header_offset + 30]
            name, extra = struct.unpack("<HH", header[26:30])
            assert (info.header_offset + 30 + name + extra) % 4096 == 0, info.filename
        archive.extractall(tmp_path / "by-python")
    folder = make("folder", model, tmp_path / "folder")
    assert files_below(tmp_path / "by-python") == files_below(folder)
    assert make("bundle", model, tmp_path / "again").read_bytes() == bundle.read_bytes()


def test_assets_are_named_as_the_format_says(bundle, tmp_path):
    good("unpack", bundle, "-o", tmp_path / "out")
    (asset,) = inspected(bundle)["shared_assets"]
    files = files_below(tmp_path / "out" / asset["folder"])
    lines = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items()))
    assert asset["uri"] == "sha256:" + hashlib.sha256(lines.encode()).hexdigest()
    assert asset["files"] == len(files) == 2


def test_stock_onnxruntime_opens_it_unpacked(bundle, tmp_path):
    done = good("unpack", bundle, "-o", tmp_path / "out")
    assert done.stdout == "" and "wrote" in done.stderr
    assert in_onnxruntime(tmp_path / "out") == {
        "schema": 1, "components": ["model"], "variants": ["npu-v73-1x32", "portable"], "selected": "portable",
        "folder": str(tmp_path / "out" / "model" / "portable"), "inputs": 2}


def test_inspect_tells_what_is_in_it(bundle):
    text = good("inspect", bundle).stdout
    for words in ["toy 1.0: one ZIP of 5 files", "made by a test", "npu-v73-1x32", "npu:v73", "QNN.v73", "1x32", "dynamic"]:
        assert words in text, text
    assert "are intact" not in text
    assert "5 files, 0.1 MiB, are as written" in good("inspect", bundle, "--verify").stdout
    found = inspected(bundle, "--verify")
    assert found["form"] == "zip" and found["additional_metadata"] == {"licence": "Apache-2.0"}
    blob, portable = found["components"][0]["variants"]
    assert blob["latebind"]["shapes"] == [[1, 32]] and portable["latebind"]["shapes"] == "dynamic"
    assert portable["consumers"] == ["ort"] and portable["latebind"]["target"] == "portable"
    assert found["verification"] == {"files": 5, "bytes": found["bytes"], "unsummed": [], "crc_only": [],
                                     "damages": []}
    assert inspected(bundle)["verification"] is None


def test_a_changed_file_is_found(bundle, tmp_path):
    data = bytearray(bundle.read_bytes())
    data[data.index(b"not compiled")] ^= 1
    bundle.write_bytes(data)
    done = run("inspect", bundle, "--verify")
    assert done.returncode == 1 and "damaged: " in done.stdout and "context.onnx" in done.stdout and not done.stderr
    assert run("inspect", bundle).returncode == 0, "it reads no payload"
    assert "context.onnx" in bad(1, "unpack", bundle, "-o", tmp_path / "out")
    assert os.listdir(tmp_path) == [bundle.name]


def test_a_package_that_others_made_is_read(tmp_path):
    """As ONNX Runtime's documents describe one: an external component, an external slot, a shared asset."""
    root = tmp_path / "package"
    data = b'{"a": 1}'
    line = f"{hashlib.sha256(data).hexdigest()}  tokenizer.json\n"
    digest = hashlib.sha256(line.encode()).hexdigest()
    for name, content in {
        "manifest.json": {"schema_version": "1.0", "package_name": "phi", "components": {"decoder": "decoder"}},
        "decoder/component.json": {"component_name": "decoder", "variants": {
            "cpu": {"ep": "CPUExecutionProvider", "device": "cpu", "executor_info": {"ort": "ort_info.json"}}}},
        "decoder/cpu/ort_info.json": {"model_file": "model.onnx", "tokenizer": f"sha256:{digest}/tokenizer.json"},
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(json.dumps(content))
    (root / "decoder/cpu/model.onnx").write_bytes(b"model")
    (root / f"shared_assets/sha256-{digest}").mkdir(parents=True)
    (root / f"shared_assets/sha256-{digest}/tokenizer.json").write_bytes(data)
    for place in [root, as_zip(root, tmp_path / "package.zip")]:
        found = inspected(place, "--verify")
        (variant,) = found["components"][0]["variants"]
        assert (variant["name"], variant["folder"], variant["latebind"]) == ("cpu", "decoder/cpu", None)
        assert variant["consumers"] == ["ort"]
        assert [asset["uri"] for asset in found["shared_assets"]] == ["sha256:" + digest]
        assert not found["verification"]["damages"]
    assert found["verification"]["unsummed"] == [], "a ZIP has sums of everything"
    good("unpack", tmp_path / "package.zip", "-o", tmp_path / "out")
    assert files_below(tmp_path / "out") == files_below(root)
    assert "compressed" in bad(1, "inspect", as_zip(root, tmp_path / "deflated.zip", zipfile.ZIP_DEFLATED))


def test_what_is_no_bundle_is_answered(tmp_path, bundle):
    assert "missing" in bad(1, "inspect", tmp_path / "missing")
    assert "manifest.json" in bad(1, "inspect", tmp_path)
    said = bad(1, "run", TINY)
    assert "manifest.json" in said and "`latebind embed`" in said and "`latebind compile`" in said
    (tmp_path / "text").write_text("hello")
    assert "neither a folder nor a ZIP" in bad(1, "inspect", tmp_path / "text")
    # What is a bundle, and a damaged one, is called that by every command.
    whole = bundle.read_bytes()
    (tmp_path / "damaged").write_bytes(whole[: len(whole) // 2])
    said = bad(1, "embed", "--model", tmp_path / "damaged", input="text\n")
    assert said == bad(1, "inspect", tmp_path / "damaged") and "no bundle" not in said
    assert "MODEL" in bad(2, "inspect")
    assert "--output" in bad(2, "unpack", bundle)


def test_unpack_replaces_nothing(tmp_path, bundle):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis").write_text("years of work")
    assert "not empty" in bad(1, "unpack", bundle, "-o", tmp_path / "out")
    assert files_below(tmp_path / "out") == {"thesis": b"years of work"}
    assert "not exist" in bad(1, "unpack", bundle, "-o", tmp_path / "none" / "out")
    (tmp_path / "empty").mkdir()
    good("unpack", bundle, "-o", tmp_path / "empty")
    assert (tmp_path / "empty" / "manifest.json").exists()
