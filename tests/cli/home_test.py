"""What is left in a home where nothing was: our own files, and nothing that a vendor stores to send it."""

import os
import subprocess

from support import PROGRAM, TINY, provider

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

