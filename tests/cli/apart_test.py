"""No command writes over what it reads, nor where nobody means it to."""

import hashlib

import numpy
from support import TINY, bad, copy_model, good


def sums(folder):
    return {str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest()
            for f in sorted(folder.rglob("*")) if f.is_file()}


def test_export_keeps_the_model_that_it_reads(tmp_path):
    model = copy_model(tmp_path)
    before = sums(model)
    (tmp_path / "link.onnx").symlink_to(model / "model.safetensors")
    for output in model / "model.safetensors", tmp_path / "link.onnx":
        assert "which is an input" in bad(2, "export", "--model", model, "-o", output)
    assert sums(model) == before
    good("export", "--model", model, "-o", tmp_path / "beside.onnx")


def test_embed_keeps_its_texts_and_its_model(tmp_path):
    model = copy_model(tmp_path)
    texts = tmp_path / "texts.txt"
    texts.write_text("one\ntwo\n")
    (tmp_path / "hard").hardlink_to(texts)
    before = sums(tmp_path)
    for output in texts, tmp_path / "hard", model / "model.safetensors":
        assert "which is an input" in bad(2, "embed", "--model", model, texts, "--output-format", "f32", "-o", output)
    assert sums(tmp_path) == before
    good("embed", "--model", model, texts, "-o", "/dev/null")


def test_a_new_file_may_stand_beside_the_model(tmp_path):
    model = copy_model(tmp_path)
    good("export", "--model", model, "-o", model / "new.onnx")
    assert (model / "new.onnx").stat().st_size > 0


def test_run_keeps_its_inputs_and_its_model(tmp_path):
    model = tmp_path / "model.onnx"
    good("export", "--model", TINY, "-o", model)
    ids = tmp_path / "sentence_embedding.npy"  # as the output is called
    numpy.save(ids, numpy.array([[2, 3]], numpy.int64))
    before = sums(tmp_path)
    line = ("run", "--model", model, "--repeat", 1, "--shape", "attention_mask=1x2")
    assert "which is an input" in bad(2, *line, "--input", f"input_ids={ids}", "--output-dir", tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "sentence_embedding.npy").symlink_to(model)
    assert "which is an input" in bad(2, *line, "--shape", "input_ids=1x2", "--output-dir", tmp_path / "out")
    assert sums(tmp_path) == before | {"out/sentence_embedding.npy": before["model.onnx"]}
    good(*line, "--input", f"input_ids={ids}", "--output-dir", tmp_path / "elsewhere")


def test_unpack_leaves_the_bundles_folder_as_it_is(tmp_path):
    bundle = tmp_path / "bundle"
    good("compile", TINY, "--target", "cpu", "--format", "folder", "-q", "-o", bundle)
    before = sums(bundle)
    assert "which is an input" in bad(2, "unpack", bundle, "-o", bundle / "below")
    assert sums(bundle) == before


def test_a_dash_is_no_file_and_no_folder(tmp_path):
    bundle = tmp_path / "b.lbundle"
    good("compile", TINY, "--target", "cpu", "-q", "-o", bundle)
    assert "-o -" in bad(2, "export", "--model", TINY, "-o", "-", cwd=tmp_path)
    assert "-o -" in bad(2, "unpack", bundle, "-o", "-", cwd=tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["b.lbundle"]


def test_the_current_folder_is_not_replaced(tmp_path):
    bundle = tmp_path / "b.lbundle"
    good("compile", TINY, "--target", "cpu", "-q", "-o", bundle)
    here = tmp_path / "here"
    here.mkdir()
    number = here.stat().st_ino
    for place in ".", here, "../here/":
        assert "current folder" in bad(2, "unpack", bundle, "-o", place, cwd=here)
        assert "current folder" in bad(2, "compile", TINY, "--target", "cpu", "--format", "folder", "-o", place, cwd=here)
    assert here.stat().st_ino == number and not any(here.iterdir())
