"""examples/executorch: built as a user builds it, it gives through ExecuTorch the vectors that `latebind embed` gives."""

import os
import re
import subprocess
from pathlib import Path

import numpy
import openvino
import pytest
from pte_reader import stock
from support import MODEL, PROGRAM, SOURCE, TINY, cosines, good, provider, vectors

CMAKE = SOURCE / "build" / "runtime" / "cmake" / "bin" / "cmake"
SDK = Path(os.environ["LATEBIND_TEST_EXECUTORCH"])
TEXTS = "The cat slept on the windowsill.\nRain is expected in the north.\n\nWhy?\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("build")
    subprocess.run(
        [CMAKE, "-S", SOURCE / "examples" / "executorch", "-B", folder, f"-DCMAKE_PREFIX_PATH={SDK}/share/cmake",
         f"-DCMAKE_LIBRARY_PATH={PROGRAM.parent.parent / 'lib'}", "-DCMAKE_BUILD_TYPE=Release",
         f"-DCMAKE_CXX_COMPILER={os.environ['LATEBIND_TEST_COMPILER']}", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"],
        check=True, timeout=120)
    subprocess.run([CMAKE, "--build", folder], check=True, timeout=300)
    return folder / "embed"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    place = tmp_path_factory.mktemp("program") / "minilm.pte"
    good("compile", MODEL, "--format", "pte", "--target", "openvino:CPU", "-o", place, "--quiet")
    return place


def embed(built, program, ids, **env):
    return subprocess.run([built, program], input=ids, encoding="utf-8", capture_output=True, timeout=120,
                          env=os.environ | env)


def test_sentences_get_the_vectors_of_the_command(built, program):
    ids = good("tokens", "--model", MODEL, input=TEXTS).stdout
    done = embed(built, program, ids)
    assert done.returncode == 0, done.stderr
    ours = numpy.array([[float(x) for x in line.split()] for line in done.stdout.splitlines()], numpy.float32)
    expected = vectors(good("embed", "--model", MODEL, "--quiet", "-", input=TEXTS).stdout)
    assert ours.shape == expected.shape == (4, 384)
    assert cosines(ours, expected).min() > 0.999999


@pytest.fixture(scope="module")
def stock_program(tmp_path_factory):
    """The model as ExecuTorch's own OpenVINO backend has it: a blob for texts of 16 tokens."""
    folder = tmp_path_factory.mktemp("stock")
    good("export", "--model", MODEL, "-o", folder / "model.onnx")
    core = openvino.Core()
    model = core.read_model(folder / "model.onnx")
    model.reshape({name: [1, 16] for name in ("input_ids", "attention_mask")})
    blob = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"}).export_model().getvalue()
    return stock(folder / "stock.pte", blob, inputs=[("LONG", [1, 16])] * 2, output=("FLOAT", [1, 384]))


@pytest.mark.parametrize("more", [[], ["--program-model", MODEL, "--target", "openvino:CPU"], ["--program-model", MODEL]])
def test_a_converted_program_of_the_stock_backend_gives_the_same_vectors(built, stock_program, tmp_path, more):
    text = "The cat slept on the windowsill while rain was falling in the old north again.\n"
    ids = good("tokens", "--model", MODEL, "--max-tokens", "16", input=text).stdout
    assert len(ids.split()) == 16
    assert embed(built, stock_program, ids).returncode == 1, "nothing here registers the stock backend"
    good("compile", stock_program, "--format", "pte", *more, "-o", tmp_path / "new.pte", "--quiet")
    done = embed(built, tmp_path / "new.pte", ids)
    assert done.returncode == 0, done.stderr
    # The portable model alone is computed by whoever is first here.
    assert re.search(r"on (openvino|native):CPU\n", done.stderr), done.stderr
    ours = numpy.array([[float(x) for x in done.stdout.split()]], numpy.float32)
    expected = vectors(
        good("embed", "--model", MODEL, "--max-tokens", "16", "--quiet", "-", input=text).stdout)
    assert cosines(ours, expected).min() > 0.999999


def test_one_program_runs_on_an_npu_in_emulation_and_on_the_cpu(built, tmp_path):
    """Texts of any length, though what is in the program for the NPU was compiled for two lengths."""
    env = {"LATEBIND_ONNXRUNTIME_PROVIDERS": provider("onnxruntime-qnn"), "LATEBIND_TRIAL_PROGRAM": str(PROGRAM)}
    compile_it = ["compile", TINY, "--format", "pte", "--target", "cpu,npu:v73", "--shapes", "1x8,1x16", "--quiet"]
    good(*compile_it, "-o", tmp_path / "any.pte", env=env)
    good(*compile_it, "--compile-spec", "device=onnxruntime:QNN.v73", "--compile-spec", "emulate=true", "-o", tmp_path / "npu.pte", env=env)
    ids = good("tokens", "--model", TINY, input=TEXTS).stdout
    expected = vectors(good("embed", "--model", TINY, "--quiet", "-", input=TEXTS).stdout)
    for program, device, least in ("any.pte", "on openvino:CPU\n", 0.999999), ("npu.pte", "on onnxruntime:QNN.v73\n", 0.999):
        done = embed(built, tmp_path / program, ids, **env)
        assert done.returncode == 0, done.stderr
        assert device in done.stderr
        rows = [line for line in done.stdout.splitlines() if re.match(r"-?\d", line)]
        ours = numpy.array([[float(x) for x in row.split()] for row in rows], numpy.float32)
        assert cosines(ours, expected).min() > least


def test_more_tokens_than_the_program_takes_are_an_error(built, program):
    done = embed(built, program, "101 " * 257)
    assert done.returncode == 1 and "cannot embed 257 tokens" in done.stderr


def test_without_a_vendor_it_gives_the_same_vectors(built, program):
    gone = {"LATEBIND_OPENVINO_LIBRARY": "/nonexistent/a.so", "LATEBIND_ONNXRUNTIME_LIBRARY": "/nonexistent/b.so"}
    ids = good("tokens", "--model", MODEL, input=TEXTS).stdout
    done = embed(built, program, ids, **gone)
    assert done.returncode == 0 and "native:CPU in f32" in done.stderr, done.stderr
    ours = numpy.array([[float(x) for x in line.split()] for line in done.stdout.splitlines()], numpy.float32)
    assert cosines(ours, vectors(good("embed", "--model", MODEL, "--quiet", "-", input=TEXTS).stdout)).min() > 0.999999


def test_without_a_vendor_the_log_says_what_to_do_for_other_models(built, stock_program, tmp_path):
    good("compile", stock_program, "--format", "pte", "-o", tmp_path / "blob.pte", "--quiet")
    done = embed(built, tmp_path / "blob.pte", "101 102", LATEBIND_OPENVINO_LIBRARY="/nonexistent/a.so",
                 LATEBIND_ONNXRUNTIME_LIBRARY="/nonexistent/b.so")
    assert done.returncode == 1
    assert "cannot load" in done.stderr and "pip install" in done.stderr
