"""Bundles that tests of latebind compile share, and what is read from them."""

import json

import pytest
from support import MODEL, PROGRAM, TINY, good, provider, vectors

FAKE_OPENVINO = PROGRAM.parent.parent / "lib" / "liblb_fake_openvino.so"
QNN = {"LATEBIND_ONNXRUNTIME_PROVIDERS": provider("onnxruntime-qnn")}
NO_PROVIDERS = {"LATEBIND_ONNXRUNTIME_PROVIDERS": "none"}
TEXTS = "The cat slept on the windowsill.\nRain is expected in the north.\n\nWhy?\n"


def compiled(place, *arguments, model=TINY, env=None):
    good("compile", model, "-o", place, "--quiet", *arguments, env=(env or NO_PROVIDERS))
    return place


@pytest.fixture(scope="module")
def cpu_bundle(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("bundle") / "tiny.lbundle", "--target", "cpu")


@pytest.fixture(scope="module")
def npu_bundle(tmp_path_factory):
    """The real model for two of Qualcomm's NPUs and the CPU."""
    place = tmp_path_factory.mktemp("bundle") / "minilm.lbundle"
    return compiled(place, "--target", "cpu,npu:v73,npu:v79", "--shapes", "1x32", model=MODEL, env=QNN)


@pytest.fixture(scope="module")
def lengths_bundle(tmp_path_factory):
    """The real model for one of Qualcomm's NPUs in four lengths."""
    place = tmp_path_factory.mktemp("bundle") / "lengths.lbundle"
    return compiled(place, "--target", "npu:v73", "--shapes", "1x32,1x64,1x128,1x256", model=MODEL, env=QNN)


def embedded(model, *arguments, texts=TEXTS, env=None):
    return vectors(good("embed", "--model", model, "--quiet", *arguments, "-", input=texts, env=env).stdout)


def variants_of(bundle):
    report = json.loads(good("inspect", bundle, "--json").stdout)
    (component,) = report["components"]
    return {variant["name"]: variant for variant in component["variants"]}


def said(*arguments, **options):
    return good("-v", *arguments, **options).stderr
