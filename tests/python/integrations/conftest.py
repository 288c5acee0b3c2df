"""Objects that the tests of all frameworks share, beside those of tests/python/conftest.py. Nothing here may reach the network: see `network`."""

import json
import shutil
import socket

import pytest
from frameworks import GOLDEN, RERANKER, TINY


@pytest.fixture(scope="session", autouse=True)
def network():
    """Fails what looks for another machine."""
    tried = []
    connect = socket.socket.connect

    def refuse(self, address):
        if self.family != socket.AF_UNIX:
            tried.append(address)
            raise OSError(f"a test tried to reach {address}")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        yield
    assert tried == []


@pytest.fixture(scope="session")
def golden():
    """float32[64, 384]: the vectors of TEXTS."""
    import numpy

    return numpy.load(GOLDEN / "minilm.npy")


@pytest.fixture(scope="session")
def prompted(tmp_path_factory):
    """The folder of a small model with prompts."""
    folder = tmp_path_factory.mktemp("models") / "prompted"
    shutil.copytree(TINY, folder)
    prompts = {"query": "Frage: ", "passage": "Absatz: "}
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def reranker():
    """A cross-encoder with one label, on the backend that computes what the reference did to the last digits."""
    import latebind

    with latebind.CrossEncoder(RERANKER, device="native") as opened:
        yield opened
