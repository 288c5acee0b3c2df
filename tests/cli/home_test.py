"""Homes: what is left in one where nothing was (our own files, and nothing that a vendor stores to send it), and one
that is another user's."""

import ctypes
import json
import os
import socket
import subprocess

import pytest
from hub_server import Hub, Model
from support import PROGRAM, TINY, good, provider, run

# What the cache may consist of.
OURS = {".cache", ".cache/latebind", ".cache/latebind/compiled", ".cache/latebind/providers.json"}


def left_by(home, *arguments, **variables):
    """Runs the program there and in nothing but it, and gives what is left that is not ours."""
    work = home.parent / "work"
    work.mkdir(exist_ok=True)
    home.mkdir(exist_ok=True)
    # Not with `CI`, where ONNX Runtime keeps quiet by itself.
    keep = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    done = subprocess.run([str(PROGRAM), *map(str, arguments)], input="a text\n", cwd=work, encoding="utf-8",
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=280,
                          env=keep | {"HOME": str(home), "TMPDIR": str(work)} | variables)
    assert done.returncode == 0, done.stderr
    found = {str(path.relative_to(home)) for path in home.rglob("*")}
    left = {path for path in found if path not in OURS and not path.startswith(".cache/latebind/compiled/")}
    return left | {str(path.relative_to(work)) for path in work.rglob("*")}


def test_a_run_on_either_vendor_leaves_nothing_but_our_cache(tmp_path):
    for device in ("openvino:CPU", "onnxruntime:CPU"):
        home = tmp_path / device.replace(":", "-") / "home"
        home.parent.mkdir()
        assert left_by(home, "embed", "--model", TINY, "--device", device, "-") == set()
        assert (home / ".cache" / "latebind" / "compiled").is_dir(), "it was this home"


def test_neither_do_questions_and_plugins_in_child_processes(tmp_path):
    plugins = {"LATEBIND_ONNXRUNTIME_PROVIDERS": f"{provider('onnxruntime-qnn')}:{provider('onnxruntime-ep-openvino')}"}
    home = tmp_path / "home"
    assert left_by(home, "devices", "--virtual", **plugins) == set()
    assert left_by(home, "doctor", **plugins) == set()
    assert (home / ".cache" / "latebind" / "providers.json").exists(), "they were tried"


def test_neither_does_a_compiler_for_what_is_not_here(tmp_path):
    plugins = {"LATEBIND_ONNXRUNTIME_PROVIDERS": provider("onnxruntime-qnn")}
    left = left_by(tmp_path / "home", "compile", TINY, "--target", "npu:v73", "--shapes", "1x8", "-o",
                   tmp_path / "tiny.lbundle", **plugins)
    assert left == set()



@pytest.fixture
def foreign(tmp_path):
    """The environment of a user whose HOME is somebody else's, as in many containers, and what keeps root from looking."""
    home = tmp_path / "foreign"
    (home / ".config" / "latebind").mkdir(parents=True)
    (home / ".config" / "latebind" / "config.toml").write_text("threads = 3\n")
    home.chmod(0)
    options = {"env": {"HOME": str(home), "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": "", "HF_HOME": "",
                       "HF_HUB_CACHE": "", "HF_TOKEN": "", "HF_TOKEN_PATH": ""}}
    if os.geteuid() == 0:
        os.chown(home, 65534, 65534)
        options["preexec_fn"] = lose_the_right_to_everything
    yield options
    home.chmod(0o700)


def lose_the_right_to_everything():
    """Root without the capabilities that make rights mean nothing to it."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        assert libc.prctl(24, capability, 0, 0, 0) == 0  # PR_CAPBSET_DROP


LEFT_OUT = "latebind: the user's settings are left out: cannot read '"


def test_another_users_home_ends_no_command(foreign, tmp_path):
    named = tmp_path / "config.toml"
    named.write_text("requests = 2\n")
    for command in (["config", "--json", "--config", named], ["devices", "--json"], ["doctor"],
                    ["embed", "--model", TINY, "-"]):
        done = good(*command, **foreign, input="a\n")
        said = done.stderr.splitlines()
        assert said[0].startswith(LEFT_OUT) and "Permission denied" in said[0] and "HOME" in said[0], (command, said)
        assert done.stderr.count(LEFT_OUT) == 1, (command, said)
    report = json.loads(good("config", "--json", "--config", named, **foreign).stdout)
    found = {one["key"]: one["value"] for one in report["settings"]}
    assert found["requests"] == "2" and found["threads"] == "0"


def test_a_log_of_objects_has_that_as_one_too(foreign):
    # The port is taken, so that the command ends by itself.
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run("serve", TINY, "--port", str(taken.getsockname()[1]), "--log-format", "json", **foreign)
    said = [json.loads(line)["message"] for line in done.stderr.splitlines()]
    assert done.returncode == 1 and said[0].startswith(LEFT_OUT.removeprefix("latebind: ")), done
    assert "Address already in use" in said[-1]
    # What says nothing of a log keeps its words, in the order in which they were said.
    said = run("serve", **foreign).stderr.splitlines()
    assert said[0].startswith(LEFT_OUT) and "no model is given" in said[1]


def test_a_file_in_another_users_home_that_is_named_is_an_error(foreign):
    file = f"{foreign['env']['HOME']}/.config/latebind/config.toml"
    done = run("config", "--config", file, **foreign)
    assert done.returncode == 2 and not done.stdout
    assert f"config: cannot read '{file}': Permission denied" in done.stderr.splitlines()[-1]


def test_what_needs_a_cache_says_that_it_may_not_be_looked_at(foreign):
    for command in (["cache", "list"], ["cache", "clear"], ["cache", "verify"], ["warm", "--model", TINY]):
        done = run(*command, **foreign)
        assert done.returncode == 1 and not done.stdout, (command, done)
        assert "Permission denied" in done.stderr.splitlines()[-1], (command, done.stderr)


def test_the_hub_is_asked_without_the_token_of_another_user(foreign, tmp_path):
    hub = Hub()
    hub.models["org/tiny"] = Model({str(file.relative_to(TINY)): file.read_bytes()
                                    for file in TINY.rglob("*") if file.is_file()}, revisions=("main",))
    try:
        foreign["env"] |= {"HF_ENDPOINT": hub.url} | {
            name: "" for name in os.environ if name.lower().endswith("_proxy")}
        done = run("pull", "org/tiny", **foreign)
        assert done.returncode == 1 and "the hub is asked without a token" in done.stderr
        assert "set HF_HUB_CACHE to another folder" in done.stderr.splitlines()[-1]
        foreign["env"]["HF_HUB_CACHE"] = str(tmp_path / "models")
        assert "the hub is asked without a token" in good("pull", "org/tiny", **foreign).stderr
        foreign["env"]["HF_TOKEN_PATH"] = f"{foreign['env']['HOME']}/token"
        assert "HF_TOKEN_PATH: cannot read" in run("pull", "org/tiny", **foreign).stderr
    finally:
        hub.close()
