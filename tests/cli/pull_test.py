"""Models by name: latebind pull and --model ORG/NAME, against a hub of our own on this machine."""

import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hub_server import COMMIT, TOKEN, Fault, Model, git_name, sha256
from pull_scene import NAME, NEEDED, OTHER, hub, is_complete, patient, patient_tests, place, tiny_files  # noqa: F401 (fixtures)
from pytorch_weights import as_pytorch, follow
from support import SOURCE, TINY, bad, good, run, vectors


# What comes, and where it goes.


def test_only_what_is_needed_comes_and_lies_as_other_tools_expect(hub, place):
    done = place.good("pull", NAME)
    assert done.stdout == f"{place.snapshot}\n"
    assert done.stderr == ""
    assert is_complete(place, hub)
    for name in OTHER:
        assert not hub.asked(name.replace(".", r"\.") + "$"), name
    weights = hub.models[NAME].files["model.safetensors"]
    assert os.readlink(place.snapshot / "model.safetensors") == f"../../blobs/{sha256(weights)}"
    config = hub.models[NAME].files["1_Pooling/config.json"]
    assert os.readlink(place.snapshot / "1_Pooling" / "config.json") == f"../../../blobs/{git_name(config)}"
    assert (place.model / "refs" / "main").read_text() == COMMIT
    assert not place.incomplete()
    assert (place.cache / ".locks" / "models--org--tiny" / f"{sha256(weights)}.lock").exists()


def test_json_tells_what_was_loaded(hub, place):
    told = json.loads(place.good("pull", NAME, "--json").stdout)
    sizes = {name: len(hub.models[NAME].files[name]) for name in NEEDED}
    assert told["model"] == NAME and told["revision"] == "main" and told["commit"] == COMMIT
    assert told["folder"] == str(place.snapshot) and told["from_cache"] is False
    assert told["loaded_bytes"] == sum(sizes.values())
    assert {file["name"]: file["bytes"] for file in told["files"]} == sizes
    assert all(file["loaded"] for file in told["files"])
    again = json.loads(place.good("pull", NAME, "--json").stdout)
    assert again["loaded_bytes"] == 0 and not any(file["loaded"] for file in again["files"])


def read_all(terminal):
    seen = ""
    try:
        while part := os.read(terminal, 65536):
            seen += part.decode()
    except OSError:  # nobody writes any more
        pass
    os.close(terminal)
    return seen


def test_progress_is_for_a_terminal(place):
    ours, theirs = os.openpty()
    done = run("pull", NAME, env=place.env | {"TERM": "xterm"}, stderr=theirs)
    os.close(theirs)
    assert done.returncode == 0
    seen = read_all(ours)
    assert "MB/s" in seen and seen.endswith("\r\x1b[K")


def test_what_is_said_does_not_stand_behind_the_bar(place, tmp_path):
    ours, theirs = os.openpty()
    done = run("compile", NAME, "--target", "cpu", "-o", tmp_path / "tiny.lbundle",
               env=place.env | {"TERM": "xterm"}, stderr=theirs)
    os.close(theirs)
    assert done.returncode == 0
    seen = read_all(ours)
    assert "MB/s" in seen and "latebind: " in seen
    before = [seen[:match.start()] for match in re.finditer("latebind: ", seen)]
    assert all(text == "" or text.endswith(("\r\x1b[K", "\r\n")) for text in before), seen


def test_what_is_there_is_not_loaded_again(hub, place):
    place.good("pull", NAME)
    hub.requests.clear()
    place.good("pull", NAME)
    assert hub.asked() == [f"hub GET /api/models/{NAME}/revision/main"]
    # Another revision of the same files.
    hub.models[NAME].commit = "f" * 40
    hub.requests.clear()
    place.good("pull", NAME)
    assert not hub.asked("cdn") and not hub.asked("hub GET .*resolve")
    assert (place.model / "refs" / "main").read_text() == "f" * 40


@pytest.mark.parametrize("revision", ["v1.0", "refs/pr/1"])
def test_a_revision_is_a_branch_or_a_tag(place, revision):
    assert place.good("pull", f"{NAME}@{revision}").stdout == f"{place.snapshot}\n"
    assert (place.model / "refs" / revision).read_text() == COMMIT


def test_a_commit_that_is_there_needs_no_network(hub, place):
    place.good("pull", f"{NAME}@{COMMIT}")
    assert not (place.model / "refs").exists()
    hub.requests.clear()
    assert json.loads(place.good("pull", f"{NAME}@{COMMIT}", "--json").stdout)["from_cache"] is True
    assert hub.asked() == []


def test_a_model_by_name_is_the_model_by_folder(hub, place):
    by_name = place.good("embed", "-q", "--model", NAME, "--input-format", "lines", str(TINY / "modules.json"))
    by_folder = place.good("embed", "-q", "--model", TINY, "--input-format", "lines", str(TINY / "modules.json"))
    assert (vectors(by_name.stdout) == vectors(by_folder.stdout)).all()


def test_export_takes_names_too(place, tmp_path):
    place.good("export", "--model", f"{NAME}@v1.0", "-o", tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").stat().st_size > 10_000


def test_compile_does_not_write_into_a_model_in_the_cache(hub, place):
    place.good("pull", NAME)
    for output in place.snapshot / "model.safetensors", place.blob((TINY / "model.safetensors").read_bytes()):
        line = bad(2, "compile", NAME, "--target", "cpu", "-o", output, env=place.env)
        assert "overwrite the model's own folder" in line
    assert (place.snapshot / "model.safetensors").read_bytes() == (TINY / "model.safetensors").read_bytes()


def test_a_folder_that_exists_wins_over_a_name(hub, place, tmp_path):
    (tmp_path / "org").mkdir()
    (tmp_path / "org" / "tiny").symlink_to(TINY)
    good("export", "--model", NAME, "-o", "model.onnx", env=place.env, cwd=tmp_path)
    assert hub.asked() == []


def test_a_link_that_leads_nowhere_is_no_name(hub, place, tmp_path):
    (tmp_path / "org").mkdir()
    (tmp_path / "org" / "tiny").symlink_to("gone")
    for model in NAME, tmp_path / "org" / "tiny":
        line = bad(1, "export", "--model", model, "-o", "model.onnx", env=place.env, cwd=tmp_path)
        assert "is a symbolic link to 'gone', which does not exist" in line, line
    assert hub.asked() == []


@pytest.mark.parametrize("path", ["./none", "/no/such", "no/such/folder", "no/--", "none/", "../none", "none.onnx",
                                  "no/none.onnx", "none.lbundle"])
def test_what_is_no_name_stays_a_path(hub, place, tmp_path, path):
    line = bad(1, "export", "--model", path, "-o", "model.onnx", env=place.env, cwd=tmp_path)
    assert "there is no such folder" in line or "No such file" in line, line
    assert hub.asked() == []


@pytest.mark.parametrize("name", ["", "tiny.onnx", "org/", "a/b/c", "../x", "org/ti ny", "-org/x", "org/x.git", "org/x@", "a/b@..",
                                  "org/x@../../main", "org/x@a b"])
def test_names_that_can_not_be_are_refused(hub, place, name):
    line = bad(2, "pull", "--", name, env=place.env)
    assert "is not the name of a model" in line or "is not a revision" in line, line
    assert hub.asked() == []


def test_a_short_name_is_one_of_sentence_transformers(hub, place, tmp_path):
    hub.models["sentence-transformers/tiny-v1"] = Model(tiny_files())
    folder = place.cache / "models--sentence-transformers--tiny-v1" / "snapshots" / COMMIT
    assert place.good("pull", "tiny-v1").stdout == f"{folder}\n"
    embedded = good("embed", "-q", "--model", "tiny-v1", "--input-format", "lines", str(TINY / "modules.json"), env=place.env, cwd=tmp_path)
    by_folder = place.good("embed", "-q", "--model", TINY, "--input-format", "lines", str(TINY / "modules.json"))
    assert (vectors(embedded.stdout) == vectors(by_folder.stdout)).all()
    # A folder wins.
    (tmp_path / "tiny-v1").symlink_to(TINY)
    hub.requests.clear()
    good("export", "--model", "tiny-v1", "-o", "model.onnx", env=place.env, cwd=tmp_path)
    assert hub.asked() == []


def test_the_examples_of_the_help_name_models_that_are_found(hub, place, tmp_path):
    hub.models["sentence-transformers/all-MiniLM-L6-v2"] = Model(tiny_files())
    (tmp_path / "notes.txt").write_text("a line\n")
    helps = {command: re.sub(r" \\\n +", " ", good(command, "--help").stdout) for command in ("search", "embed")}
    examples = {command: re.search(rf"^  (latebind {command} .* notes\.txt)( >.*)?$", text, re.MULTILINE)
                for command, text in helps.items()}
    examples["gpu"] = re.search(r"^    (latebind embed .* texts\.txt)$", (SOURCE / "docs" / "gpu.md").read_text(), re.MULTILINE)
    for example in examples.values():
        words = shlex.split(example[1].replace("texts.txt", "notes.txt").replace("onnxruntime:CUDA", "auto"))
        good(*words[1:], env=place.env, cwd=tmp_path)


def test_a_short_name_of_a_cross_encoder_has_its_own_owner(hub, place, tmp_path):
    (tmp_path / "lines.txt").write_text("a\nb\n")
    line = bad(1, "rerank", "--model", "none", "--query", "a", "lines.txt", env=place.env, cwd=tmp_path)
    assert "the name cross-encoder/none on the hub" in line
    line = bad(1, "search", "--model", TINY, "--rerank", "none", "--query", "a", "lines.txt", env=place.env, cwd=tmp_path)
    assert "the name cross-encoder/none on the hub" in line
    line = bad(1, "embed", "--model", "none", "--outputs", "sparse", "lines.txt", env=place.env, cwd=tmp_path)
    assert "the name sparse-encoder/none on the hub" in line
    assert set(hub.asked()) == {f"hub GET /api/models/{owner}/none/revision/main"
                                for owner in ("cross-encoder", "sparse-encoder")}


def test_some_models_have_no_owner(hub, place):
    hub.models["bert-base-uncased"] = Model(tiny_files())
    folder = place.cache / "models--bert-base-uncased" / "snapshots" / COMMIT
    assert place.good("pull", "bert-base-uncased").stdout == f"{folder}\n"
    assert [one["model"] for one in json.loads(place.good("models", "--json").stdout)["cache"]["models"]] == [
        "bert-base-uncased"]


@pytest.mark.parametrize("model, name", [("wm/nonexist", "a name"), ("nonexist", "the name sentence-transformers/nonexist")])
def test_a_mistyped_folder_is_said_to_be_none_soon(place, tmp_path, model, name):
    (tmp_path / "wm").mkdir()
    start = time.monotonic()
    line = bad(1, "embed", "--model", model, "/dev/null", env=place.env | {"HF_ENDPOINT": "http://hub.invalid"}, cwd=tmp_path)
    assert time.monotonic() - start < 4
    assert f"there is no folder '{model}', so it is read as {name} on the hub: " in line and "cannot reach" in line


@patient
def test_a_hub_that_is_silent_leaves_no_doubt_unsaid(hub, place):
    hub.misbehave("GET /api/", *[Fault("hang")] * 9)
    done = place.run("embed", "--model", "wm/nonexist", "/dev/null", HF_HUB_ETAG_TIMEOUT="3")
    lines = done.stderr.splitlines()
    assert done.returncode == 1 and len(lines) == 2
    assert all("there is no folder 'wm/nonexist', so it is read as a name on the hub" in line for line in lines)
    assert "again in" in lines[0] and "did not answer in time" in lines[1]


def test_onnx_comes_where_there_are_no_weights_for_us(hub, place):
    files = tiny_files()
    del files["model.safetensors"]
    files |= {"onnx/model.onnx": b"graph", "onnx/model.onnx_data": b"tensors", "onnx/model_quantized.onnx": b"no"}
    hub.models[NAME] = Model(files)
    place.good("pull", NAME)
    assert place.files() == NEEDED - {"model.safetensors"} | {"onnx/model.onnx", "onnx/model.onnx_data"}


def test_a_model_that_can_not_be_used_is_refused_before_its_weights_come(hub, place):
    files = tiny_files()
    del files["model.safetensors"]
    hub.models[NAME] = Model(files)
    assert "neither model.safetensors nor onnx/model.onnx" in place.bad("pull", NAME)
    hub.models[NAME] = Model(tiny_files() | {"config.json": b'{"model_type": "gpt2"}'}, commit="f" * 40)
    assert "gpt2" in place.bad("pull", NAME)
    assert not hub.asked("cdn")


@pytest.mark.parametrize("name", [NAME, f"{NAME}@v1.0"])
def test_weights_of_pytorch_are_converted_as_the_error_says(hub, place, tmp_path, name):
    files = tiny_files()
    files |= as_pytorch(files.pop("model.safetensors"))
    hub.models[NAME] = Model(files, revisions=("main", "v1.0"))
    said = place.bad("pull", name)
    assert "has its weights in pytorch_model.bin, which is not supported" in said
    assert not hub.asked("cdn")
    download = re.search("`hf (download [^`]*)`, then, in DIR,", said)[1].replace("DIR", str(tmp_path / "there"))
    assert ("--revision v1.0" in download) == ("@" in name)
    official = Path(sys.executable).parent / "hf"
    subprocess.run([official, *download.split()], env=os.environ | place.env, check=True, timeout=120, stdout=subprocess.DEVNULL)
    # In the cache it does not count as a model that can be used, either.
    subprocess.run([official, "download", NAME], env=os.environ | place.env, check=True, timeout=120, stdout=subprocess.DEVNULL)
    (cached,) = json.loads(place.good("models", "--json").stdout)["cache"]["models"]
    assert (cached["model"], [one["usable"] for one in cached["revisions"]]) == (NAME, [False])
    follow(said, tmp_path / "there", tmp_path / "packages")
    texts = ["--input-format", "lines", str(TINY / "modules.json")]
    found = good("embed", "-q", "--model", tmp_path / "there", *texts).stdout
    assert found == good("embed", "-q", "--model", TINY, *texts).stdout


def test_copies_stand_in_for_links(hub, place):
    place.good("pull", NAME, HF_HUB_DISABLE_SYMLINKS="1")
    assert is_complete(place, hub)
    assert not any(file.is_symlink() for file in place.snapshot.rglob("*"))


# Secrets and redirects.


def test_the_token_is_for_the_hub_alone_and_never_shown(hub, place):
    hub.guards[NAME] = "RepoNotFound"
    done = place.good("-v", "pull", NAME, HF_TOKEN=TOKEN)
    assert TOKEN not in done.stdout + done.stderr
    assert "signature" not in done.stderr and "/api/models/" in done.stderr
    for server, _, path, headers, _ in hub.requests:
        assert headers.get("Authorization") == (f"Bearer {TOKEN}" if server == "hub" else None), path
        assert headers["User-Agent"].startswith("latebind/")


def test_the_token_comes_from_a_file_too(hub, place, tmp_path):
    hub.guards[NAME] = "RepoNotFound"
    place.cache.parent.mkdir(parents=True)
    (place.cache.parent / "token").write_text(TOKEN + "\n")
    place.good("pull", NAME)
    (tmp_path / "other").write_text(f"  {TOKEN}\n")
    (place.cache.parent / "token").write_text("wrong")
    place.good("pull", f"{NAME}@v1.0", HF_TOKEN_PATH=str(tmp_path / "other"))
    assert "does not accept the token" in place.bad("pull", f"{NAME}@refs/pr/1")


def test_a_token_that_is_none_is_not_shown(place):
    line = place.bad("pull", NAME, HF_TOKEN="hf_one two")
    assert "HF_TOKEN" in line and "hf_one" not in line


def test_redirects_have_an_end(hub, place):
    hub.misbehave("GET /api/", *[Fault("redirect", None)] * 20)
    assert "redirected more than 10 times" in place.bad("pull", NAME)
    assert len(hub.asked()) == 11


def test_a_redirect_to_another_kind_of_address_is_refused(hub, place):
    hub.misbehave("GET /api/", Fault("redirect", "file:///etc/passwd"))
    assert "file:///etc/passwd, which is not an HTTP address" in place.bad("pull", NAME)


# Refusals.


def test_a_model_that_is_not_there(hub, place):
    line = place.bad("pull", "org/none")
    assert "401" in line and "no such model, or it is private" in line and "HF_TOKEN" in line
    line = place.bad("embed", "--model", "org/none", "/dev/null")
    assert "no folder 'org/none', so it is read as a name on the hub" in line and "no such model" in line
    hub.misbehave("GET /api/", Fault("status", 404, X_Error_Code="RepoNotFound"))
    assert "404" in place.bad("pull", NAME)
    assert not place.cache.exists()


def test_a_revision_that_is_not_there(place):
    assert "no such revision" in place.bad("pull", f"{NAME}@v2")


def test_a_file_that_is_gone(hub, place):
    hub.misbehave("HEAD .*tokenizer.json", Fault("status", 404, X_Error_Code="EntryNotFound"))
    line = place.bad("pull", NAME)
    assert "tokenizer.json" in line and "no such file" in line


def test_terms_that_have_to_be_accepted(hub, place):
    hub.guards[NAME] = "GatedRepo"
    line = place.bad("pull", NAME)
    assert f"accepting its terms at {hub.url}/{NAME}" in line and "HF_TOKEN" in line
    hub.guards[NAME] = "NotYours"
    line = place.bad("pull", NAME, HF_TOKEN=TOKEN)
    assert "403" in line and "accepting its terms" in line and TOKEN not in line
