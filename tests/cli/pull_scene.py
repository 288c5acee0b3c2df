"""A hub on this machine, and a cache that a test fills from it."""

import concurrent.futures
import contextlib
import os
import random
import subprocess
import sys

import pytest
from hub_server import COMMIT, Hub, Model, sha256
from support import PROGRAM, TINY, bad, run

NAME = "org/tiny"
NEEDED = {"1_Pooling/config.json", "config.json", "model.safetensors", "modules.json", "sentence_bert_config.json",
          "tokenizer.json"}
# A hub has more than we want.
OTHER = {"pytorch_model.bin": b"pickle", "tf_model.h5": b"hdf", "onnx/model.onnx": b"onnx",
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


def python(place, code, **env):
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | place.env | env, capture_output=True,
                          encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
