"""What the tests of the program share: where things are, and how to run it as a user would."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

SOURCE = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
PROGRAM = Path(os.environ["LATEBIND_TEST_BINARY_DIR"]) / "bin" / "latebind"
# The real model, which scripts/setup puts there, and a tiny one of the same family for whatever needs many texts.
MODEL = SOURCE / "build" / "runtime" / "model" / "all-MiniLM-L6-v2"
TINY = SOURCE / "tests" / "data" / "tiny-bert" / "f32"
GOLDEN = SOURCE / "tests" / "data" / "golden"
# transformers gives this network of tests/data/networks Qwen2's tokenizer whatever its folder has, so the tokenizer that
# all folders share is refused. graph_check_by_vendors computes its graph.
OF_ANOTHER_TOKENIZER = {"qwen2"}

# Nobody's own cache is touched; what one file of tests compiles goes with it.
CACHE = tempfile.TemporaryDirectory(prefix="latebind-test-cache-")
os.environ["XDG_CACHE_HOME"] = CACHE.name

# Where no vendor library is: each of these settings is the whole search.
OPENVINO_GONE = {"LATEBIND_OPENVINO_LIBRARY": "/nonexistent/libopenvino_c.so"}
ONNXRUNTIME_GONE = {"LATEBIND_ONNXRUNTIME_LIBRARY": "/nonexistent/libonnxruntime.so"}
BOTH_GONE = OPENVINO_GONE | ONNXRUNTIME_GONE

# Which CPU `auto` takes first depends on the processor; this does not.
VENDORS_FIRST = ("--device", "openvino,onnxruntime,cpu")


def provider(package):
    """The library of a plugin provider that scripts/setup puts below build/runtime."""
    (library,) = (SOURCE / "build" / "runtime" / "providers").glob(f"{package}-*/*/libonnxruntime_providers_*.so")
    return str(library)


def run(*arguments, env=None, binary=False, program=PROGRAM, **options):
    """Runs the program; its output as text, or as bytes."""
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 280}
    if not binary:
        settings["encoding"] = "utf-8"
    if "input" not in options:
        settings["stdin"] = subprocess.DEVNULL
    return subprocess.run(
        [str(program), *map(str, arguments)], env=os.environ | (env or {}), **(settings | options))


def with_small_files():
    """For preexec_fn: files end at 20,000 bytes, as on a full disk."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


def good(*arguments, **options):
    """As run(), for what must succeed."""
    done = run(*arguments, **options)
    assert done.returncode == 0, done.stderr
    return done


def needs_native_int8(model):
    """Skips the test where `native` says that the processor has no int8."""
    tried = run("embed", model, "--device", "native:CPU", "--precision", "int8", "-q", "--text", "a")
    if tried.returncode != 0:
        assert "but int8 was requested" in tried.stderr, tried.stderr
        pytest.skip("native computes in int8 on processors with VNNI only")


def bad(code, *arguments, **options):
    """The one line on stderr of a run that must fail with `code` and print nothing else."""
    done = run(*arguments, **options)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    assert not done.stdout, done.stdout
    lines = done.stderr.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("latebind: "), lines
    return lines[0]


def run_measured(*arguments, **options):
    """(exit code, peak resident memory in MiB) of a run whose output nobody wants."""
    process = subprocess.Popen(
        [str(PROGRAM), *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options
    )
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, error
    return usage.ru_maxrss / 1024


def vectors(jsonl):
    """The vectors of `embed`'s JSON lines, in the order of their indices, which must be 0, 1, 2 …"""
    import numpy

    records = [json.loads(line) for line in jsonl.splitlines()]
    assert [record["index"] for record in records] == list(range(len(records)))
    return numpy.array([record["embedding"] for record in records], numpy.float32)


def cosines(a, b):
    import numpy

    a, b = a.astype(numpy.float64), b.astype(numpy.float64)
    return (a * b).sum(1) / numpy.linalg.norm(a, axis=1) / numpy.linalg.norm(b, axis=1)


def empty_prefix(folder):
    """A copy of the program where it finds nothing, and the environment to run it in."""
    (folder / "bin").mkdir()
    program = folder / "bin" / "latebind"
    shutil.copy2(PROGRAM, program)
    unset = ("VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH", "INTEL_OPENVINO_DIR", "OPENVINO_LIB_PATH",
             "LATEBIND_OPENVINO_LIBRARY", "LATEBIND_ONNXRUNTIME_LIBRARY", "PYTHONPATH")
    return program, {"HOME": str(folder), **{name: "" for name in unset}}


def copy_model(folder, model=None):
    """A model folder that a test may damage. The weights are hard-linked: replace them, never write to them."""
    target = folder / "model"
    shutil.copytree(model or TINY, target)
    return target
