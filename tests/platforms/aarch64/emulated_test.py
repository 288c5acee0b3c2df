"""The program for Linux aarch64, in emulation: the vectors of the reference, and bundles that another machine made.

The vendors' runtimes are those that scripts/setup platforms puts below build/runtime/aarch64; LATEBIND_TEST_HOST_PROGRAM
is this machine's own program, by default that of the release build.
"""

import json
import os
import shlex
import subprocess
from pathlib import Path

import numpy
import pytest

SOURCE = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
PROGRAM = Path(os.environ["LATEBIND_TEST_BINARY_DIR"]) / "bin" / "latebind"
HOST_PROGRAM = os.environ.get("LATEBIND_TEST_HOST_PROGRAM", SOURCE / "build" / "release" / "bin" / "latebind")
EMULATOR = shlex.split(os.environ["LATEBIND_TEST_EMULATOR"])
RUNTIME = SOURCE / "build" / "runtime"
MODEL = RUNTIME / "model" / "all-MiniLM-L6-v2"
GOLDEN = SOURCE / "tests" / "data" / "golden"
# Texts of at most so many characters: emulation is about a hundred times slower than the machine itself.
LONGEST = 60
# Of those, how many each set of kernels computes; RandomEncodersAreWhatTheirOperatorsMean looks at more, of another kind.
OF_EACH_SET = 12


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """What both programs run in: nobody's settings, a cache of this file's own."""
    unset = [name for name in os.environ if name.startswith(("LATEBIND_", "XDG_", "QEMU_"))]
    clean = {name: value for name, value in os.environ.items() if name not in unset}
    return clean | {"HOME": str(tmp_path_factory.mktemp("home"))}


@pytest.fixture(scope="module")
def here(environment):
    """Runs the program of this machine."""
    vendors = {"LATEBIND_OPENVINO_LIBRARY": str(RUNTIME / "venv"), "LATEBIND_ONNXRUNTIME_LIBRARY": str(RUNTIME / "venv")}
    return lambda *arguments, **options: run([HOST_PROGRAM], arguments, environment | vendors, **options)


@pytest.fixture(scope="module")
def there(environment):
    """Runs the program of the other."""
    (openvino,) = (RUNTIME / "aarch64").glob("openvino-*/openvino/libs")
    (onnxruntime,) = (RUNTIME / "aarch64").glob("onnxruntime-*/onnxruntime/capi")
    vendors = {"LATEBIND_OPENVINO_LIBRARY": str(openvino), "LATEBIND_ONNXRUNTIME_LIBRARY": str(onnxruntime)}
    return lambda *arguments, **options: run([*EMULATOR, PROGRAM], arguments, environment | vendors, **options)


def run(program, arguments, environment, texts=None):
    given = "".join(json.dumps({"text": text}) + "\n" for text in texts or [])
    done = subprocess.run([str(word) for word in (*program, *arguments)], input=given, capture_output=True,
                          encoding="utf-8", env=environment, timeout=800)
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done


@pytest.fixture(scope="module")
def golden():
    """(texts, vectors): the shorter ones of the reference."""
    lines = (GOLDEN / "minilm.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    short = [i for i, text in enumerate(texts) if len(text) <= LONGEST]
    assert len(short) >= 40
    return [texts[i] for i in short], numpy.load(GOLDEN / "minilm.npy")[short]


def embed(program, model, texts, *arguments, precision="f32"):
    """(vectors, what was said) of texts."""
    done = program("-v", "embed", "--model", model, "--precision", precision, "--input-format", "jsonl", *arguments, "-",
                   texts=texts)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [record["index"] for record in records] == list(range(len(texts)))
    return numpy.array([record["embedding"] for record in records]), done.stderr


def least_cosine(a, b):
    a, b = a.astype(float), b.astype(float)
    return ((a * b).sum(1) / numpy.linalg.norm(a, axis=1) / numpy.linalg.norm(b, axis=1)).min()


def test_the_program_is_for_the_other_machine():
    header = subprocess.run(["readelf", "-h", PROGRAM], capture_output=True, text=True, check=True).stdout
    assert "AArch64" in header


def test_both_vendors_list_their_cpu(there):
    devices = json.loads(there("devices", "--json").stdout)["devices"]
    assert {device["id"] for device in devices} >= {"openvino:CPU", "onnxruntime:CPU"}


def test_doctor_sees_the_other_machine(there):
    assert "linux-aarch64" in there("doctor").stdout


@pytest.mark.parametrize("backend", ["openvino", "onnxruntime"])
def test_the_shorter_golden_texts_have_their_vectors(there, golden, backend):
    texts, expected = golden
    vectors, said = embed(there, MODEL, texts, "--device", backend)
    assert least_cosine(vectors, expected) > 0.99999
    assert f"{backend}:CPU" in said


@pytest.mark.parametrize(("isa", "precision", "least"), [
    ("portable", "f32", 0.99999), ("neon_dotprod", "int8", 0.995), ("neon_bf16", "int8", 0.995),
    ("neon_i8mm", "int8", 0.995), ("neon_bf16", "bf16", 0.9999), ("neon_i8mm", "bf16", 0.9999),
    ("neon_fp16", "f16", 0.9999)])
def test_native_computes_the_shorter_golden_texts(environment, golden, isa, precision, least):
    texts, expected = (whole[:OF_EACH_SET] for whole in golden)
    newest = [word if not word.startswith("neoverse") else "max,pauth-impdef=on" for word in EMULATOR]
    assert newest != EMULATOR
    program = lambda *arguments, **options: run([*newest, PROGRAM], arguments,
                                                environment | {"LATEBIND_NATIVE_ISA": isa}, **options)
    vectors, said = embed(program, MODEL, texts, "--device", "native", precision=precision)
    assert least_cosine(vectors, expected) > least
    assert "native:CPU" in said


def test_a_bundle_made_on_another_machine_gives_the_same_vectors(here, there, golden, tmp_path):
    texts, expected = golden
    bundle = tmp_path / "minilm.lbundle"
    here("compile", MODEL, "--target", "cpu", "-o", bundle)
    variants = {variant["name"] for component in json.loads(here("inspect", bundle, "--json").stdout)["components"]
                for variant in component["variants"]}
    assert variants == {"portable", "cpu-openvino-f32"}
    made_here, _ = embed(here, bundle, texts)
    made_there, said = embed(there, bundle, texts)
    assert least_cosine(made_there, made_here) > 0.99999
    assert least_cosine(made_there, expected) > 0.99999
    # Its blob is for an x86_64 processor: passed over with a reason, and the portable model is compiled.
    assert "cpu-openvino-f32" in said
