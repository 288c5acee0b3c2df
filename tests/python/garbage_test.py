"""Garbage in every argument of everything public: it works, or an error of ours names what is wrong; nothing else comes.

Every argument gets every value below, one at a time, while the others are good.
"""

import asyncio
import pathlib

import latebind
import numpy
import onnx
import pytest
from latebind import _settings
from onnx import TensorProto, helper
from support import CROSS_ENCODERS, SPARSE_ENCODERS, TINY


class Path:
    """Says that it is a path, and is what it likes."""

    def __init__(self, path):
        self._path = path

    def __fspath__(self):
        return self._path


def nested(depth):
    found = []
    for _ in range(depth):
        found = [found]
    return found


GARBAGE = {
    "None": None,
    "0": 0,
    "-1": -1,
    "an int of 100 bits": 1 << 100,
    "an int that no float can hold": 10**400,
    "1.5": 1.5,
    "nan": float("nan"),
    "inf": float("inf"),
    "complex": 1j,
    "True": True,
    "bytes": b"x",
    "a lone surrogate": "\ud800",
    "NUL": "a\0b",
    "nothing": "",
    "a word": "nonsense",
    "commas": ",,",
    "two lines": "a\nb",
    "100,000 characters": "x" * 100_000,
    "a device file": "/dev/null",
    "a path that is none": pathlib.Path("/dev/null/file"),
    "a path of an int": Path(3),
    "a path of bytes that are not UTF-8": Path(b"\xff"),
    "a list of nothing": [],
    "a list of None": [None],
    "lists in lists": nested(100_000),
    "a dict": {1: 2},
    "a set": {"a"},
    "a class": object,
    "an object": object(),
    "an array": numpy.zeros(3),
    "an array without dimensions": numpy.array(3),
    "a number of NumPy": numpy.float32(1),
}


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """Where files of garbage names come to be, and the caches of the system's default."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def adder(tmp_path_factory):
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3]) for name in ("x", "y", "sum")]
    graph = helper.make_graph([helper.make_node("Add", ["x", "y"], ["sum"])], "graph", values[:2], values[2:])
    file = tmp_path_factory.mktemp("adder") / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)
    return file


def try_all(use, arguments):
    """Calls use(argument=garbage) for all of both."""
    for argument in arguments:
        for what, value in GARBAGE.items():
            try:
                use(**{argument: value})
            except latebind.InternalError as error:
                raise AssertionError(f"{argument} is {what}: {error!r}") from error
            except latebind.LatebindError as error:
                assert str(error).splitlines() == [str(error)], f"{argument} is {what}: {error!r}"
            except Exception as error:
                raise AssertionError(f"{argument} is {what}: {error!r}") from error


OF_A_CALL = ("texts", "normalize", "dimensions", "prompt_name", "deadline")


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("encode", (*OF_A_CALL, "batch_tokens", "show_progress", "out")),
        ("encode_query", OF_A_CALL),
        ("encode_document", OF_A_CALL),
        ("encode_stream", (*OF_A_CALL, "window_texts")),
        ("aencode", (*OF_A_CALL, "out")),
        ("tokenize", ("texts", "max_tokens")),
        ("count_tokens", ("texts", "max_tokens")),
    ],
)
def test_of_embedding(tiny, method, arguments):
    async def awaited(given):
        return await tiny.aencode(**given)

    def use(**given):
        given = {"texts": "a text"} | given
        if method == "aencode":
            asyncio.run(awaited(given))
            return
        found = getattr(tiny, method)(**given)
        if method == "encode_stream":
            list(found)

    try_all(use, arguments)
    assert tiny.encode("a text").shape == (tiny.dimension,)


def test_of_scoring():
    with latebind.CrossEncoder(CROSS_ENCODERS / "bert", device="native") as model:
        of_both = ("raw", "max_tokens", "show_progress", "deadline", "alone")
        try_all(lambda **given: model.predict(**({"pairs": ("a", "b")} | given)), ("pairs", *of_both))
        try_all(
            lambda **given: model.rank(**({"query": "a", "documents": ["b"]} | given)),
            ("query", "documents", "top_k", "return_documents", *of_both),
        )
        try_all(lambda text: model.predict([text, "b"]), ["text"])
        try_all(lambda pair: model.predict([("a", "b"), pair]), ["pair"])
        try_all(lambda text: model.predict([("a", text)]), ["text"])
        assert model.predict(("a", "b")).shape == ()


def test_of_sparse_vectors():
    with latebind.SparseEncoder(SPARSE_ENCODERS / "bert", device="native") as model:
        arguments = ("max_active_dims", "max_tokens", "show_progress", "prompt_name", "prompt", "deadline", "alone")
        try_all(lambda **given: model.encode(**({"texts": "a"} | given)), ("texts", *arguments))
        vectors = model.encode(["a", "b"])
        try_all(vectors.decode, ["top_k"])
        assert len(vectors) == 2


@pytest.mark.usefixtures("own_folder")
def test_of_opening_an_embedder():
    def use(**given):
        latebind.Embedder(**({"model": TINY} | given)).close()

    assert len(_settings.keywords()) > 20
    try_all(use, ["model", "property", *_settings.keywords()])
    try_all(lambda **given: latebind.CrossEncoder(**given).close(), ["model"])
    try_all(lambda **given: latebind.SparseEncoder(**given).close(), ["model"])


def test_of_a_model(adder):
    def use(**given):
        latebind.Model(**({"file": adder} | given)).close()

    try_all(use, ("file", "device", "precision", "strict", "property", "input_shapes"))
    x = numpy.ones((2, 3), numpy.float32)
    with latebind.Model(adder, device="cpu") as model:
        try_all(model.run, ["inputs"])
        try_all(lambda **given: model.run({"y": x} | given), ["x", "z"])
        try_all(lambda **given: model.run({"x": x, "y": x}, **given), ["deadline"])
        assert model.run({"x": x, "y": x})["sum"].sum() == 12


def never(step):
    """A progress: classes are called as well, and what they raise is theirs."""


def test_of_jobs(adder, own_folder, monkeypatch):
    monkeypatch.setitem(GARBAGE, "a class", never)
    bundle = own_folder / "bundle.lbundle"
    latebind.compile(adder, bundle, "openvino:CPU", shapes="dynamic")

    def on_cpu(function, **good):
        return lambda **given: function(**(good | given))

    compiling = on_cpu(
        latebind.compile, model=adder, output=own_folder / "out.lbundle", target="openvino:CPU", shapes="dynamic"
    )
    words = ("format", "name", "package_version", "source", "revision", "license")
    try_all(
        compiling, ("model", "output", "target", "shapes", "jobs", "keep_going", "add", "strict", "progress", *words)
    )
    try_all(on_cpu(latebind.inspect, bundle=bundle), ("bundle", "verify", "explain", "installed", "progress", "device"))
    pulling = on_cpu(latebind.pull, model="no/model", hub_url="http://127.0.0.1:9", hub_cache=own_folder / "hub")
    try_all(pulling, ("model", "progress", "force", "hub_url", "hub_cache"))
    warming = on_cpu(latebind.warm, model=TINY, device="openvino:CPU", cache=True, cache_folder=own_folder / "cache")
    try_all(warming, ("model", "progress", "device", "cache", "cache_folder"))


@pytest.mark.usefixtures("own_folder")
def test_of_devices_and_the_cache(monkeypatch):
    monkeypatch.setitem(GARBAGE, "a class", never)
    try_all(latebind.devices, ("virtual", "device", "openvino_library", "emulate"))
    try_all(latebind.doctor, ("progress", "openvino_library"))
    try_all(lambda **given: latebind.Cache(**given).list(), ["folder"])
    try_all(lambda **given: latebind.Cache(**given).verify(), ["folder"])
    try_all(lambda **given: latebind.Cache(**given).clear(), ["folder"])
