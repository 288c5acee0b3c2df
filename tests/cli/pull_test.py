"""Models by name: latebind pull and --model ORG/NAME, against a hub of our own on this machine."""

import concurrent.futures
import contextlib
import json
import os
import random
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hub_server import COMMIT, TOKEN, Fault, Hub, Model, git_name, sha256, wait_until
from pytorch_weights import as_pytorch
from support import PROGRAM, SOURCE, TINY, bad, good, run, vectors

NAME = "org/tiny"
NEEDED = {"1_Pooling/config.json", "config.json", "model.safetensors", "modules.json", "sentence_bert_config.json",
          "tokenizer.json"}
# A hub has more than we want.
OTHER = {"README.md": b"# Tiny\n", "pytorch_model.bin": b"pickle", "tf_model.h5": b"hdf", "onnx/model.onnx": b"onnx",
         ".gitattributes": b"*", "vocab.txt": b"a\n"}


def tiny_files():
    return {str(file.relative_to(TINY)): file.read_bytes() for file in TINY.rglob("*") if file.is_file()}


def big_files(size=3_000_000):
    return tiny_files() | {"model.safetensors": random.Random(1).randbytes(size)}


@contextlib.contextmanager
def open_hub():
    server = Hub()
    server.models[NAME] = Model(tiny_files() | OTHER, revisions=("main", "v1.0", "refs/pr/1"))
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def hub():
    with open_hub() as server:
        yield server


class Place:
    """A cache of the test's own and the environment that leads there."""

    def __init__(self, folder, hub):
        self.cache = folder / "hub"
        self.model = self.cache / "models--org--tiny"
        self.snapshot = self.model / "snapshots" / COMMIT
        self.env = {name: "" for name in os.environ if name.lower().endswith("_proxy") or name.startswith("HF_")}
        self.env |= {"HF_HOME": str(folder), "HF_ENDPOINT": hub.url, "HF_HUB_ETAG_TIMEOUT": "5",
                     "HF_HUB_DOWNLOAD_TIMEOUT": "5", "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_XET": "1"}

    def run(self, *arguments, **env):
        return run(*arguments, env=self.env | env)

    def good(self, *arguments, **env):
        done = self.run(*arguments, **env)
        assert done.returncode == 0, done.stderr
        return done

    def bad(self, *arguments, **env):
        return bad(1, *arguments, env=self.env | env)

    def files(self):
        return {str(file.relative_to(self.snapshot)) for file in self.snapshot.rglob("*") if file.is_file()}

    def incomplete(self):
        return list(self.model.glob("blobs/*.incomplete"))

    def blob(self, content):
        return self.model / "blobs" / sha256(content)

    def start(self, *arguments, **options):
        return subprocess.Popen([PROGRAM, *arguments], env=os.environ | self.env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", **options)


@pytest.fixture
def place(tmp_path, hub):
    return Place(tmp_path / "hf", hub)


def patient(body):
    """A test that waits nearly all of its time. All of them begin with the first test of this file, each with a hub and a
    place of its own, and wait while others are at work."""

    def test(patient_tests):
        patient_tests[body.__name__].result()

    test.__name__ = body.__name__
    test.body = body
    return test


@pytest.fixture(scope="module", autouse=True)
def patient_tests(request, tmp_path_factory):
    def run_body(body, folder):
        with open_hub() as hub:
            body(hub, Place(folder / "hf", hub))

    chosen = {item.function.body for item in request.session.items
              if item.module is request.module and hasattr(item.function, "body")}
    with concurrent.futures.ThreadPoolExecutor(max(1, len(chosen))) as threads:
        # The folders are made here: two threads that ask first would each make a place for them.
        yield {body.__name__: threads.submit(run_body, body, tmp_path_factory.mktemp(body.__name__)) for body in chosen}


def is_complete(place, hub):
    model = hub.models[NAME]
    return place.files() == NEEDED and all(
        (place.snapshot / name).read_bytes() == model.files[name] for name in NEEDED)


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
    assert "none of model.safetensors, pytorch_model.bin or onnx/model.onnx" in place.bad("pull", NAME)
    hub.models[NAME] = Model(tiny_files() | {"config.json": b'{"model_type": "gpt2"}'}, commit="f" * 40)
    assert "gpt2" in place.bad("pull", NAME)
    assert not hub.asked("cdn")


@pytest.mark.parametrize("pieces", [1, 2])
def test_weights_of_pytorch_come_where_there_are_no_others(hub, place, pieces):
    files = tiny_files()
    weights = as_pytorch(files.pop("model.safetensors"), pieces)
    hub.models[NAME] = Model(files | weights | {"onnx/model.onnx": b"graph"})
    place.good("pull", NAME)
    assert place.files() == NEEDED - {"model.safetensors"} | set(weights)
    (cached,) = json.loads(place.good("models", "--json").stdout)["cache"]["models"]
    assert (cached["model"], [one["usable"] for one in cached["revisions"]]) == (NAME, [True])
    texts = ["--input-format", "lines", str(TINY / "modules.json")]
    found = place.good("embed", "-q", "--model", NAME, *texts).stdout
    assert found == good("embed", "-q", "--model", TINY, *texts).stdout


def test_copies_stand_in_for_links(hub, place):
    place.good("pull", NAME, HF_HUB_DISABLE_SYMLINKS="1")
    assert is_complete(place, hub)
    assert not any(file.is_symlink() for file in place.snapshot.rglob("*"))


# The official package.


def python(place, code, **env):
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | place.env | env, capture_output=True,
                          encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_official_package_finds_what_we_loaded(hub, place):
    place.good("pull", NAME)
    hub.requests.clear()
    found = python(place, "from huggingface_hub import snapshot_download, hf_hub_download\n"
                   f"print(snapshot_download('{NAME}', local_files_only=True))\n"
                   f"print(hf_hub_download('{NAME}', 'model.safetensors'))\n"
                   f"print(hf_hub_download('{NAME}', '1_Pooling/config.json', revision='{COMMIT}'))",
                   HF_HUB_OFFLINE="1").splitlines()
    assert found == [str(place.snapshot), str(place.snapshot / "model.safetensors"),
                     str(place.snapshot / "1_Pooling" / "config.json")]
    assert hub.asked() == []


def test_we_find_what_the_official_package_loaded(hub, place):
    folder = python(place, f"from huggingface_hub import snapshot_download; print(snapshot_download('{NAME}'))")
    assert folder == str(place.snapshot)
    assert hub.asked("cdn GET")
    hub.requests.clear()
    told = json.loads(place.good("pull", NAME, "--json", HF_HUB_OFFLINE="1").stdout)
    assert told["folder"] == folder and told["from_cache"] is True
    assert {file["name"] for file in told["files"]} == NEEDED
    assert hub.asked() == []


def test_each_goes_on_where_the_other_stopped(hub, place):
    python(place, f"from huggingface_hub import hf_hub_download; hf_hub_download('{NAME}', 'model.safetensors')")
    hub.requests.clear()
    place.good("pull", NAME)
    assert is_complete(place, hub)
    assert not hub.asked("model.safetensors") and not hub.asked("cdn")
    hub.requests.clear()
    folder = python(place, f"from huggingface_hub import snapshot_download; print(snapshot_download('{NAME}'))")
    assert folder == str(place.snapshot)
    assert not hub.asked("GET .*/resolve/.*/tokenizer.json")
    assert (place.snapshot / "README.md").exists()


def test_an_interrupted_snapshot_of_another_tool_is_not_taken_for_complete(hub, place):
    python(place, f"from huggingface_hub import snapshot_download; print(snapshot_download('{NAME}'))")
    (place.snapshot / "sentence_bert_config.json").unlink()
    line = place.bad("pull", NAME, HF_HUB_OFFLINE="1")
    assert "sentence_bert_config.json" in line and "latebind pull org/tiny" in line
    place.good("pull", NAME)
    assert NEEDED <= place.files()


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


# What passes, and what does not.


@patient
def test_too_many_requests_wait_as_told(hub, place):
    hub.misbehave("GET /api/", Fault("status", 429, Retry_After="2"))
    start = time.monotonic()
    done = place.good("pull", NAME)
    assert time.monotonic() - start >= 2
    assert "429" in done.stderr and "again in 2" in done.stderr


def test_nobody_waits_for_an_hour(hub, place):
    hub.misbehave("GET /api/", Fault("status", 429, Retry_After="3600"))
    line = place.bad("pull", NAME)
    assert "429" in line and "3600 s" in line
    assert len(hub.asked()) == 1


@patient
def test_a_hub_out_of_order_is_asked_again_and_then_given_up(hub, place):
    hub.misbehave("GET /api/", Fault("status", 503))
    hub.misbehave("cdn|GET /[0-9a-f]{64}", Fault("status", 500))
    place.good("pull", NAME)
    hub.misbehave("GET /api/", *[Fault("status", 500)] * 9)
    hub.requests.clear()
    done = place.run("pull", f"{NAME}@v1.0")
    assert done.returncode == 1 and "has a failure" in done.stderr.splitlines()[-1]
    assert len(hub.asked()) == 5


def test_a_broken_body_is_gone_on_with(hub, place):
    hub.models[NAME] = Model(big_files())
    hub.misbehave("GET /[0-9a-f]{64}", Fault("cut", 1_000_000), Fault("cut", 500_000))
    place.good("pull", NAME)
    assert is_complete(place, hub)
    ranges = [headers.get("Range") for server, _, _, headers, _ in hub.requests if server == "cdn"]
    assert ranges == [None, "bytes=1000000-", "bytes=1500000-"]


def test_a_server_without_ranges_begins_anew(hub, place):
    hub.models[NAME] = Model(big_files())
    hub.ranges = False
    hub.misbehave("GET /[0-9a-f]{64}", Fault("cut", 1_000_000))
    place.good("pull", NAME)
    assert is_complete(place, hub)


@patient
def test_an_end_that_comes_too_early_for_ever_is_an_error(hub, place):
    hub.misbehave("GET .*/tokenizer.json", *[Fault("cut", 10)] + [Fault("cut", 0)] * 9)
    done = place.run("pull", NAME)
    assert done.returncode == 1
    assert "tokenizer.json" in done.stderr.splitlines()[-1]
    assert [file.stat().st_size for file in place.incomplete()] == [10]
    hub.faults.clear()
    place.good("pull", NAME)
    assert is_complete(place, hub)


def test_what_an_interrupt_leaves_is_gone_on_with(hub, place):
    hub.models[NAME] = Model(big_files())
    hub.misbehave("GET /[0-9a-f]{64}", Fault("drip", 2_000_000))
    process = place.start("pull", NAME)
    hub.wait_for(hub.dripping)
    wait_until(lambda: [file.stat().st_size for file in place.incomplete()] == [2_000_000])
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    assert not (place.snapshot / "model.safetensors").exists() and not (place.model / "refs").exists()
    told = json.loads(place.good("pull", NAME, "--json").stdout)
    assert told["loaded_bytes"] == 1_000_000
    assert is_complete(place, hub)


@pytest.mark.parametrize("what, pattern", [("model.safetensors", "GET /[0-9a-f]{64}"),
                                           ("tokenizer.json", "GET .*/tokenizer.json")])
def test_a_wrong_digest_never_gets_a_name(hub, place, what, pattern):
    hub.misbehave(pattern, Fault("corrupt"))
    line = place.bad("pull", NAME)
    assert what in line and "digest" in line
    assert not (place.snapshot / what).exists()
    content = hub.models[NAME].files[what]
    assert not (place.model / "blobs" / hub.models[NAME].etag(what)).exists()
    place.good("pull", NAME)
    assert (place.snapshot / what).read_bytes() == content


def test_a_damaged_beginning_is_thrown_away(hub, place):
    weights = hub.models[NAME].files["model.safetensors"]
    (place.model / "blobs").mkdir(parents=True)
    place.blob(weights).with_suffix(".incomplete").write_bytes(b"x" * 100)
    place.good("pull", NAME)
    assert is_complete(place, hub)
    ranges = [headers.get("Range") for server, _, _, headers, _ in hub.requests if server == "cdn"]
    assert ranges == ["bytes=100-", None]


def test_a_beginning_longer_than_the_file_is_thrown_away(hub, place):
    weights = hub.models[NAME].files["model.safetensors"]
    (place.model / "blobs").mkdir(parents=True)
    place.blob(weights).with_suffix(".incomplete").write_bytes(weights + b"x")
    place.good("pull", NAME)
    assert is_complete(place, hub)


def test_a_blob_that_a_crash_cut_off_is_loaded_again(hub, place):
    weights = hub.models[NAME].files["model.safetensors"]
    (place.model / "blobs").mkdir(parents=True)
    place.blob(weights).write_bytes(weights[:100])
    place.good("pull", NAME)
    assert is_complete(place, hub)


@patient
def test_a_hanging_hub_is_given_up(hub, place):
    hub.misbehave("GET /api/", *[Fault("hang")] * 9)
    start = time.monotonic()
    done = place.run("pull", NAME, HF_HUB_ETAG_TIMEOUT="1")
    assert done.returncode == 1 and "did not answer in time" in done.stderr.splitlines()[-1]
    assert time.monotonic() - start < 40


@patient
def test_a_hanging_body_is_gone_on_with(hub, place):
    hub.models[NAME] = Model(big_files())
    hub.misbehave("GET /[0-9a-f]{64}", Fault("drip", 1_000_000))
    place.good("pull", NAME, HF_HUB_DOWNLOAD_TIMEOUT="1")
    assert is_complete(place, hub)
    assert [headers.get("Range") for server, _, _, headers, _ in hub.requests if server == "cdn"][1] == "bytes=1000000-"


# What is damaged in the cache.


def cut(content):
    return content[:len(content) // 2]


def flipped(content):
    return content[:-1] + bytes([content[-1] ^ 1])


def damage(place, name, how):
    """Writes through the link, into the content."""
    file = place.snapshot / name
    file.write_bytes(how(file.read_bytes()))


def loaded(place, *arguments, **env):
    done = place.good("pull", NAME, "--json", *arguments, **env)
    return sorted(file["name"] for file in json.loads(done.stdout)["files"] if file["loaded"]), done.stderr


@pytest.mark.parametrize("how", [cut, flipped])
@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_what_is_damaged_is_loaded_again(hub, place, name, how):
    place.good("pull", NAME)
    damage(place, name, how)
    hub.requests.clear()
    names, told = loaded(place)
    assert names == [name]
    assert f"{name} of '{NAME}' is damaged in the cache" in told and told.count("\n") == 1
    assert is_complete(place, hub)
    assert len(hub.asked("GET .*/resolve/|cdn")) == (2 if name == "model.safetensors" else 1)
    assert not place.incomplete()
    assert loaded(place) == ([], "")


@pytest.mark.parametrize("command, name", [("embed", "model.safetensors"), ("tokens", "tokenizer.json"),
                                           ("export", "model.safetensors"), ("compile", "model.safetensors")])
def test_the_error_of_a_damaged_model_names_what_repairs_it(place, tmp_path, command, name):
    def arguments(model):
        model = [model, "--target", "cpu"] if command == "compile" else ["--model", model]
        return [command, *model, *(["-o", "out"] if command in ("compile", "export") else ["/dev/null"])]

    place.good("pull", NAME)
    damage(place, name, cut)
    for model in NAME, place.snapshot:
        line = bad(1, *arguments(model), env=place.env, cwd=tmp_path)
        assert f"{name} is damaged in the hub's cache" in line and "`latebind pull org/tiny` downloads it again" in line
    place.good("pull", NAME)
    good(*arguments(NAME), env=place.env, cwd=tmp_path)
    # Of another cache, and of another commit than that of the branch.
    (place.model / "refs" / "main").write_text("f" * 40)
    damage(place, name, cut)
    line = bad(1, *arguments(place.snapshot), env=place.env | {"HF_HUB_CACHE": str(tmp_path)}, cwd=tmp_path)
    assert f"`latebind pull org/tiny@{COMMIT}` with HF_HUB_CACHE='{place.cache}' downloads it again" in line


def test_a_model_that_is_wrong_but_not_damaged_stays_as_it_is(hub, place):
    hub.models[NAME].files["model.safetensors"] = b"no weights"
    line = place.bad("embed", "--model", NAME, "/dev/null")
    assert "model.safetensors" in line and "damaged in the hub's cache" not in line and "latebind pull" not in line
    place.good("pull", NAME)


def test_a_small_file_that_is_damaged_is_repaired_without_being_asked_for(hub, place):
    place.good("pull", NAME)
    damage(place, "config.json", cut)
    assert "config.json of 'org/tiny' is damaged in the cache" in place.good("embed", "--model", NAME, "/dev/null").stderr
    assert is_complete(place, hub)


def test_copies_are_compared_with_what_the_hub_says(hub, place):
    env = {"HF_HUB_DISABLE_SYMLINKS": "1"}
    place.good("pull", NAME, **env)
    damage(place, "model.safetensors", flipped)
    damage(place, "1_Pooling/config.json", cut)
    assert "latebind pull org/tiny` compares the files" in place.bad("embed", "--model", NAME, "/dev/null", **env)
    hub.requests.clear()
    assert loaded(place, **env)[0] == []  # the contents are there, of which they are copies
    assert is_complete(place, hub) and not hub.asked("GET .*/resolve/|cdn")
    for file in (place.model / "blobs").iterdir():
        file.write_bytes(b"damaged, too")
    damage(place, "model.safetensors", flipped)
    assert loaded(place, **env)[0] == ["model.safetensors"]
    assert is_complete(place, hub)


def test_a_hub_that_tells_nothing_of_files_is_asked_for_each(hub, place):
    hub.tells_blobs = False
    env = {"HF_HUB_DISABLE_SYMLINKS": "1"}
    place.good("pull", NAME, **env)
    damage(place, "model.safetensors", flipped)
    place.good("pull", NAME, **env)
    assert is_complete(place, hub)


def test_a_commit_that_is_damaged_is_repaired(hub, place):
    name = f"{NAME}@{COMMIT}"
    place.good("pull", name)
    damage(place, "model.safetensors", flipped)
    place.good("pull", name)
    assert is_complete(place, hub)
    hub.requests.clear()
    place.good("pull", name)
    assert hub.asked() == []


def test_force_loads_everything_again(hub, place):
    place.good("pull", NAME)
    inodes = {name: (place.snapshot / name).stat().st_ino for name in NEEDED}
    assert loaded(place, "--force") == (sorted(NEEDED), "")
    assert is_complete(place, hub)
    assert all((place.snapshot / name).stat().st_ino != inode for name, inode in inodes.items())
    assert loaded(place, "--force")[0] == sorted(NEEDED)
    assert "HF_HUB_OFFLINE is set" in place.bad("pull", NAME, "--force", HF_HUB_OFFLINE="1")
    assert "cannot reach" in place.run("pull", NAME, "--force", HF_ENDPOINT="http://hub.invalid").stderr


def test_without_the_network_damage_is_an_error(hub, place):
    place.good("pull", NAME)
    damage(place, "model.safetensors", flipped)
    line = place.bad("pull", NAME, HF_HUB_OFFLINE="1")
    assert "model.safetensors is damaged in the cache" in line and "HF_HUB_OFFLINE" in line
    line = place.bad("pull", NAME, HF_ENDPOINT="http://hub.invalid")
    assert "model.safetensors is damaged in the cache" in line and "cannot reach" in line
    place.good("pull", NAME)
    assert is_complete(place, hub)


def test_a_content_that_repositories_share_is_not_written_through(hub, place):
    place.good("pull", NAME)
    blob = place.blob(hub.models[NAME].files["model.safetensors"])
    shared = place.cache / "blobs" / "ab" / ("ab" * 32)
    shared.parent.mkdir(parents=True)
    shared.write_bytes(flipped(blob.read_bytes()))
    blob.unlink()
    blob.symlink_to(f"../../blobs/ab/{shared.name}")
    before = shared.read_bytes()
    assert loaded(place)[0] == ["model.safetensors"]
    assert is_complete(place, hub) and shared.read_bytes() == before


def test_another_tools_list_tells_of_copies_without_a_hub(hub, place):
    env = {"HF_HUB_DISABLE_SYMLINKS": "1"}
    python(place, f"from huggingface_hub import snapshot_download; print(snapshot_download('{NAME}'))", **env)
    assert not (place.snapshot / "model.safetensors").is_symlink()
    place.good("pull", NAME, HF_HUB_OFFLINE="1")
    damage(place, "model.safetensors", flipped)
    assert "model.safetensors is damaged" in place.bad("pull", NAME, HF_HUB_OFFLINE="1")


# A hub that is none.


@pytest.mark.parametrize("answer, words", [(b"<html>", "not JSON"), (b"[]", "expected an object"), (b"{}", "not a commit"),
                                           (b'{"sha": "../../x", "siblings": []}', "not a commit"),
                                           (b'{"sha": "%s"}' % COMMIT.encode(), "siblings"),
                                           (b"[" * 1000, "nested")])
def test_answers_that_make_no_sense(hub, place, answer, words):
    hub.misbehave("GET /api/", Fault("json", answer))
    assert words in place.bad("pull", NAME)


def test_names_in_answers_do_not_lead_out(hub, place):
    hub.misbehave("HEAD .*modules.json", Fault("etag", "../../../out"))
    assert "ETag" in place.bad("pull", NAME)
    hub.models[NAME] = Model(tiny_files() | {
        "modules.json": b'[{"type": "sentence_transformers.models.Transformer", "path": "../../out"}]',
        "../../out/config.json": b"{}"})
    assert "leads out of the model's folder" in place.bad("pull", NAME)
    assert not list(place.cache.parent.parent.rglob("out"))


# Without the network.


def test_offline_takes_what_is_there(hub, place):
    line = place.bad("pull", NAME, HF_HUB_OFFLINE="1")
    assert "HF_HUB_OFFLINE" in line and "never downloaded" in line
    place.good("pull", NAME)
    hub.requests.clear()
    for word in ("1", "true", "YES", "on"):
        assert place.good("pull", NAME, HF_HUB_OFFLINE=word).stdout == f"{place.snapshot}\n"
    place.good("embed", "-q", "--model", NAME, "/dev/null", HF_HUB_OFFLINE="1")
    assert hub.asked() == []
    (place.snapshot / "model.safetensors").unlink()
    assert "safetensors" in place.bad("pull", NAME, HF_HUB_OFFLINE="1")


def test_the_cache_stands_in_for_a_hub_that_is_away(hub, place):
    place.good("pull", NAME)
    for away in ("http://127.0.0.1:1", "http://hub.invalid"):
        done = place.good("pull", NAME, HF_ENDPOINT=away)
        assert done.stdout == f"{place.snapshot}\n"
        assert done.stderr.count("\n") == 1 and "from the cache" in done.stderr and COMMIT in done.stderr
    hub.misbehave("GET /api/", Fault("status", 500))
    assert "from the cache" in place.good("pull", NAME).stderr
    # What the hub refuses is refused.
    hub.misbehave("GET /api/", Fault("status", 403))
    place.bad("pull", NAME)


@patient
def test_a_name_that_nobody_knows(_, place):
    done = place.run("pull", NAME, HF_ENDPOINT="http://hub.invalid")
    assert done.returncode == 1
    assert "cannot reach http://hub.invalid:80: its name cannot be resolved" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("endpoint", ["hub.example", "ftp://hub.example", "http://a b", "https://x/?y"])
def test_endpoints_that_are_none(place, endpoint):
    assert "HF_ENDPOINT" in place.bad("pull", NAME, HF_ENDPOINT=endpoint)


def test_a_proxy_is_used(hub, place):
    place.good("pull", NAME, HF_ENDPOINT="http://hub.invalid", http_proxy=hub.url, no_proxy="127.0.0.1")
    assert is_complete(place, hub)
    raw = [path for server, _, _, _, path in hub.requests if server == "hub"]
    assert raw and all(path.startswith("http://hub.invalid/") for path in raw)


def test_certificates_are_checked(tmp_path):
    certificate = tmp_path / "both.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", certificate, "-out", tmp_path / "only.pem"],
                   check=True, capture_output=True)
    authority = (tmp_path / "only.pem").read_text()
    certificate.write_text(certificate.read_text() + authority)
    hub = Hub(certificate)
    try:
        hub.models[NAME] = Model(tiny_files(), large=())
        place = Place(tmp_path / "hf", hub)
        line = place.bad("pull", NAME)
        assert "certificate is not trusted" in line and "SSL_CERT_FILE" in line
        place.good("pull", NAME, SSL_CERT_FILE=str(tmp_path / "only.pem"))
        assert is_complete(place, hub)
        hub.misbehave("GET /api/", Fault("redirect", hub.cdn_url + "/x"))
        line = place.bad("pull", f"{NAME}@{'a' * 40}", SSL_CERT_FILE=str(tmp_path / "only.pem"))
        assert "from an encrypted connection" in line
    finally:
        hub.close()


def test_without_libcurl_folders_still_work_and_names_say_what_to_install(hub, place, tmp_path):
    folder = tmp_path / "libraries"
    folder.mkdir()
    for name in ("libcurl.so.4", "libcurl-gnutls.so.4"):
        (folder / name).write_text("no library")
    line = place.bad("pull", NAME, LD_LIBRARY_PATH=str(folder))
    assert "libcurl" in line and "apt-get install libcurl4" in line
    place.good("export", "--model", TINY, "-o", tmp_path / "model.onnx", LD_LIBRARY_PATH=str(folder))
    place.good("pull", NAME)
    assert "from the cache" in place.good("pull", NAME, LD_LIBRARY_PATH=str(folder)).stderr


# Several at once, and folders that take nothing.


def test_two_processes_load_each_file_once(hub, place):
    hub.models[NAME] = Model(big_files())
    hub.misbehave("GET /[0-9a-f]{64}", Fault("drip", 1_000_000))
    first = place.start("pull", NAME, "--json")
    hub.wait_for(hub.dripping)
    second = place.start("pull", NAME, "--json")
    assert "waiting for it" in second.stderr.readline()
    hub.go_on.set()
    for process in (first, second):
        out, error = process.communicate(timeout=60)
        assert process.returncode == 0, error
        assert json.loads(out)["folder"] == str(place.snapshot)
    assert is_complete(place, hub)
    assert len(hub.asked("cdn GET")) == 1


def test_many_processes_agree(hub, place):
    processes = [place.start("pull", NAME) for _ in range(8)]
    for process in processes:
        out, error = process.communicate(timeout=120)
        assert process.returncode == 0 and out == f"{place.snapshot}\n", error
    assert is_complete(place, hub)
    assert not place.incomplete()


def test_a_full_disk_keeps_what_came(hub, place):
    weights = big_files()["model.safetensors"]
    hub.models[NAME] = Model(big_files())

    def limit():
        # Python ignores the signal of it, and the child does so, too: the write fails.
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, 1_500_000))

    process = place.start("pull", NAME, preexec_fn=limit, restore_signals=False)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "cannot write" in error and "kept for the next attempt" in error and len(error.splitlines()) == 1
    assert place.blob(weights).with_suffix(".incomplete").stat().st_size == 1_500_000
    told = json.loads(place.good("pull", NAME, "--json").stdout)
    assert told["loaded_bytes"] == len(weights) - 1_500_000
    assert is_complete(place, hub)


def test_a_disk_that_is_really_full(hub, place):
    """In a mount namespace of its own, which only root may make."""
    hub.models[NAME] = Model(big_files())
    place.cache.mkdir(parents=True)
    script = f'mount -t tmpfs -o size=1m none "{place.cache}" && "$@"; code=$?; ls "{place.model}/blobs"; exit $code'
    command = ["unshare", "--mount", "sh", "-c", script, "sh"]
    if subprocess.run([*command, "true"], capture_output=True).returncode != 0:
        pytest.skip("this user may not mount; the test before limits the size of a file instead")
    done = subprocess.run([*command, PROGRAM, "pull", NAME], env=os.environ | place.env, capture_output=True,
                          encoding="utf-8", timeout=60)
    assert done.returncode == 1
    assert "No space left" in done.stderr and "kept for the next attempt" in done.stderr
    assert sha256(hub.models[NAME].files["model.safetensors"]) + ".incomplete" in done.stdout


def test_a_folder_that_takes_nothing(place, tmp_path):
    (tmp_path / "file").touch()
    line = place.bad("pull", NAME, HF_HUB_CACHE=str(tmp_path / "file" / "hub"))
    assert "cannot make the folder" in line and "HF_HUB_CACHE" in line


def test_the_cache_is_where_the_variables_say(hub, place, tmp_path):
    for number, (name, below) in enumerate([("HF_HUB_CACHE", ""), ("HF_HOME", "hub"),
                                            ("XDG_CACHE_HOME", "huggingface/hub"),
                                            ("HOME", ".cache/huggingface/hub")]):
        env = {"HF_HOME": "", "XDG_CACHE_HOME": ""} | {name: str(tmp_path / str(number))}
        folder = Path(place.good("pull", NAME, **env).stdout.strip())
        assert folder == tmp_path / str(number) / below / "models--org--tiny" / "snapshots" / COMMIT
