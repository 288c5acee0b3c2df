"""Which model answers: the one that is there now, known by all files that it is loaded from."""

import os
import pickle
import shutil
import threading

import latebind
import pyarrow.parquet as pq
import pytest
from latebind.bulk import DifferentRunError, EmbedBatches, _model, _model_files, _store, embed_files
from latebind.bulk._model_files import ModelFiles, digest_of
from pyarrow import fs
from support import TINY, in_forked_child
from tables import contents, table


def changed(source, target, at=-1):
    """A copy of a model with one bit of its weights changed."""
    if source != target:
        shutil.copytree(source, target)
    file = target / "model.safetensors"
    weights = bytearray(file.read_bytes())
    weights[at] ^= 64
    file.write_bytes(weights)
    return target


@pytest.fixture
def model(tmp_path):
    shutil.copytree(TINY, tmp_path / "model")
    return tmp_path / "model"


def vectors(batches, rows=5):
    return batches(table(rows))["vector"].to_pylist()


def test_the_same_name_in_another_folder_is_another_model(tmp_path, model, monkeypatch):
    (tmp_path / "there").mkdir()
    changed(model, tmp_path / "there" / "model", -200)
    monkeypatch.chdir(tmp_path)
    here = EmbedBatches("model", "body")
    before, digest = vectors(here), here.answers().model
    monkeypatch.chdir(tmp_path / "there")
    there = EmbedBatches("model", "body")
    assert there.answers().model != digest
    assert vectors(there) != before
    # What was made before stays what it is.
    assert (vectors(here), here.answers().model) == (before, digest)
    assert EmbedBatches(os.path.join("..", "model"), "body")._open() is here._open()


def test_an_engine_may_bring_the_folder_to_where_its_workers_are(tmp_path, model, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sent = pickle.dumps(EmbedBatches("model", "body"))
    (tmp_path / "worker").mkdir()
    model.rename(tmp_path / "worker" / "model")
    monkeypatch.chdir(tmp_path / "worker")
    assert pickle.loads(sent)(table(2)).num_rows == 2


def test_a_model_that_was_saved_again_is_opened_again(model):
    before = EmbedBatches(model, "body")
    found, digest = vectors(before), before.answers().model
    weights, times = model / "model.safetensors", os.stat(model / "model.safetensors")
    changed(model, model, -200)
    os.utime(weights, ns=(times.st_atime_ns, times.st_mtime_ns))
    after = EmbedBatches(model, "body")
    assert after.answers().model not in (digest, None)
    assert vectors(after) != found
    # One object is one model: its vectors would not fit together.
    for use in (before.answers, lambda: before(table(1))):
        with pytest.raises(
            latebind.CallerError, match=r"has changed since .* first used \('model\.safetensors' was changed"
        ):
            use()
    assert len([each for each in _model._models if each[0] == str(model)]) == 1


def test_a_link_that_leads_elsewhere_now(tmp_path, model):
    link = tmp_path / "link"
    link.symlink_to(model)
    first = EmbedBatches(link, "body").answers().model
    link.unlink()
    link.symlink_to(changed(model, tmp_path / "second"))
    assert EmbedBatches(link, "body").answers().model != first


def test_a_link_that_leads_elsewhere_while_the_model_is_opened(tmp_path, model, monkeypatch):
    other = changed(model, tmp_path / "second", -200)
    link = tmp_path / "link"
    link.symlink_to(model)

    class Late(latebind.Embedder):
        def __init__(self, place, **settings):
            link.unlink()
            link.symlink_to(other)
            super().__init__(place, **settings)

    monkeypatch.setattr(_model, "Embedder", Late)
    opened = _model.open_model(str(link), {})
    assert os.path.realpath(link) == str(other)
    assert opened.digest == digest_of(str(model))
    encode = lambda place: latebind.Embedder(place).encode(["the cat"]).tolist()
    assert opened.embedder.encode(["the cat"]).tolist() == encode(model) != encode(other)


def test_the_same_bytes_are_the_same_model(model):
    embed = EmbedBatches(model, "body")
    opened = embed._open()
    copy = (model / "config.json").read_bytes()
    (model / "config.json").unlink()
    (model / "config.json").write_bytes(copy)
    assert embed._open() is opened


def test_a_model_that_changes_while_it_is_opened(model, monkeypatch):
    class Changing(latebind.Embedder):
        def __init__(self, *arguments, **settings):
            super().__init__(*arguments, **settings)
            changed(model, model)

    monkeypatch.setattr(_model, "Embedder", Changing)
    with pytest.raises(latebind.MachineError, match="changed while it was opened"):
        EmbedBatches(model, "body").answers()


def test_what_it_digests_is_what_is_loaded(tmp_path, model):
    """Also behind links to files and folders; the digest does not depend on where files are."""
    plain = digest_of(str(model))
    parts = tmp_path / "parts"
    pooling = next(each for each in model.iterdir() if each.is_dir())
    parts.mkdir()
    shutil.move(pooling, parts / "pooling")
    shutil.move(model / "config.json", parts / "config")
    pooling.symlink_to(parts / "pooling")
    (model / "config.json").symlink_to(parts / "config")
    assert digest_of(str(model)) == plain
    file = parts / "pooling" / "config.json"
    file.write_text(file.read_text() + "\n")
    assert digest_of(str(model)) != plain


def test_a_part_behind_a_link_that_was_changed_between_two_runs(tmp_path, model):
    pooling = next(each for each in model.iterdir() if each.is_dir())
    shutil.move(pooling, tmp_path / "pooling")
    pooling.symlink_to(tmp_path / "pooling")
    pq.write_table(table(4), tmp_path / "in.parquet")
    embed_files(tmp_path / "in.parquet", tmp_path / "out", model, "body", shard_rows=2)
    whole = contents(tmp_path / "out")
    (tmp_path / "out" / "vectors" / "part-000001.parquet").unlink()
    file = tmp_path / "pooling" / "config.json"
    mean, cls = '"pooling_mode_mean_tokens": true', '"pooling_mode_cls_token": false'
    text = file.read_text()
    assert mean in text and cls in text
    file.write_text(text.replace(mean, mean.replace("true", "false")).replace(cls, cls.replace("false", "true")))
    with pytest.raises(DifferentRunError, match=r"the model is another one"):
        embed_files(tmp_path / "in.parquet", tmp_path / "out", model, "body", shard_rows=2)
    file.write_text(text)
    embed_files(tmp_path / "in.parquet", tmp_path / "out", model, "body", shard_rows=2)
    assert contents(tmp_path / "out") == whole


def test_an_output_in_the_model_is_refused(tmp_path, model, monkeypatch):
    pq.write_table(table(4), tmp_path / "in.parquet")
    monkeypatch.chdir(model)
    with pytest.raises(latebind.CallerError, match="the output out is in the folder of the model"):
        embed_files(tmp_path / "in.parquet", "out", ".", "body")
    assert not (model / "out").exists()


def test_links_in_a_circle_and_to_nowhere(tmp_path, model, monkeypatch):
    plain = digest_of(str(model))
    (model / "self").symlink_to(model)
    (model / "nowhere").symlink_to(tmp_path / "nowhere")
    (model / "loop").symlink_to(model / "loop")
    assert digest_of(str(model)) == plain
    # Folders that lead to each other in many ways are not followed for ever.
    for number in range(40):
        (tmp_path / f"{number}").mkdir()
        for name in "ab":
            (tmp_path / f"{number}" / name).symlink_to(tmp_path / f"{number + 1}")
    (model / "deep").symlink_to(tmp_path / "0")
    monkeypatch.setattr(_model_files, "_ENTRIES_MAX", 1000)
    with pytest.raises(latebind.CallerError, match="more than 1000 files; give a folder that contains only the model"):
        ModelFiles(str(model))


def test_hidden_files_count_where_a_module_is_in_them(model):
    plain = digest_of(str(model))
    (model / ".cache").mkdir()
    (model / ".cache" / "note").write_text("of the hub's loader")
    assert digest_of(str(model)) == plain
    pooling = next(each for each in model.iterdir() if each.is_dir() and each.name != ".cache")
    pooling.rename(model / ".pooling")
    modules = model / "modules.json"
    modules.write_text(modules.read_text().replace(f'"{pooling.name}"', '".pooling"'))
    before = digest_of(str(model))
    file = model / ".pooling" / "config.json"
    file.write_text(file.read_text() + "\n")
    assert digest_of(str(model)) != before
    (model / ".onnx").mkdir()
    (model / ".onnx" / "model.onnx").write_text("")
    assert digest_of(str(model), ".onnx/model.onnx") != digest_of(str(model))


def test_a_process_forked_while_a_model_is_opened_opens_its_own(model, monkeypatch):
    began, may_go_on = threading.Event(), threading.Event()
    in_parent = os.getpid()

    class Slow(_model.OpenModel):
        def __init__(self, place, settings, files, changed):
            if os.getpid() == in_parent:
                began.set()
                may_go_on.wait()
            self.lock, self.digest, self.files = None, "", files

    monkeypatch.setattr(_model, "OpenModel", Slow)
    thread = threading.Thread(target=_model.open_model, args=(str(model), {}))
    thread.start()
    began.wait()
    try:
        assert in_forked_child(lambda: type(_model.open_model(str(model), {})).__name__) == "Slow"
    finally:
        may_go_on.set()
        thread.join()


def test_a_child_does_not_hold_an_output_after_its_parent(tmp_path):
    store = _store.Store(fs.LocalFileSystem(), str(tmp_path))
    may_end, ended = os.pipe()
    with store.lock():
        held = set(_store._held)
        copies = [os.dup(file) for file in held]  # as a child has them before it has closed its own
        child = os.fork()
        if not child:
            os.close(ended)
            os.read(may_end, 1)
            # Where its parent was killed instead, nothing else would let it go.
            os._exit(any(os.path.exists(f"/proc/self/fd/{file}") for file in held))
        with pytest.raises(latebind.TransientError, match="another run"), store.lock():
            pass
    with store.lock():
        pass
    for file in (ended, *copies):
        os.close(file)
    assert os.waitpid(child, 0)[1] == 0


def test_a_child_that_leaves_the_block_does_not_let_its_parents_lock_go(tmp_path):
    store = _store.Store(fs.LocalFileSystem(), str(tmp_path))
    parent = os.getpid()
    try:
        with store.lock():
            child = os.fork()
            if child:
                assert os.waitpid(child, 0)[1] == 0
                with pytest.raises(latebind.TransientError, match="another run"), store.lock():
                    pass
    finally:
        if os.getpid() != parent:
            os._exit(0)


def test_a_child_has_none_of_its_parents_models(model):
    opened = EmbedBatches(model, "body")._open()
    assert in_forked_child(lambda: len(_model._models)) == 0
    assert opened in _model._models.values()
