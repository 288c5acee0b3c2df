"""SparseEncoder: the reference's weights of every kind of texts, in every form they are given in, and an error for everything
else."""

import asyncio
import concurrent.futures
import copy
import gc
import os
import pickle

import latebind
import numpy
import pandas
import polars
import pyarrow
import pytest
from support import (
    CROSS_ENCODERS,
    SPARSE,
    SPARSE_ENCODERS,
    TINY,
    CsrMatrix,
    assert_sparse,
    close_while_used,
    good,
    use_after_fork,
    with_scipy,
)

TEXTS = SPARSE["texts"]
EXPECTED = SPARSE["vectors"]["bert"]
# Some seconds of work of a model as small as these.
MANY = [f"a dog and {number} cats" for number in range(300_000)]


@pytest.fixture(scope="module")
def model():
    with latebind.SparseEncoder(SPARSE_ENCODERS / "bert", device="native") as opened:
        yield opened


@pytest.fixture(scope="module")
def vectors(model):
    return model.encode(TEXTS)


def same(one, other):
    return all(
        getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in ("indptr", "indices", "values")
    )


# -- Weights -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(SPARSE["vectors"]))
def test_the_weights_of_every_model_are_the_reference_s(name):
    with latebind.SparseEncoder(SPARSE_ENCODERS / name, device="native", strict=True) as opened:
        found = opened.encode(TEXTS)
        assert_sparse(found, SPARSE["vectors"][name])
        # The numbers of a sparse autoencoder are not those of words.
        width, active = {"latents": (96, 7), "distilbert": (45, 5)}.get(name, (45, None))
        assert found.shape == (len(TEXTS), width)
        assert (found.indptr.dtype, found.indices.dtype, found.values.dtype) == ("int64", "int32", "float32")
        assert (opened.attestation.backend, opened.max_tokens, opened.vocabulary_size) == ("native", 20, width)
        assert opened.max_active_dims == active


@pytest.mark.parametrize("device", ["openvino", "onnxruntime"])
@pytest.mark.parametrize("name", sorted(SPARSE["vectors"]))
def test_vendors_devices_give_the_same(name, device):
    with latebind.SparseEncoder(SPARSE_ENCODERS / name, device=device, strict=True) as opened:
        assert_sparse(opened.encode(TEXTS), SPARSE["vectors"][name])
        assert opened.attestation.backend == device


def test_prompts_come_before_the_texts(model):
    assert (model.prompts, model.query_prompt) == ({"document": "", "query": "the cat "}, "the cat ")
    for found in (
        model.encode(TEXTS, prompt_name="query"),
        model.encode(TEXTS, prompt="the cat "),
        model.encode_query(TEXTS),
        model.encode(["the cat " + text for text in TEXTS]),
    ):
        assert_sparse(found, SPARSE["query"])
    assert_sparse(model.encode_document(TEXTS), EXPECTED)
    assert_sparse(model.encode_query(TEXTS, prompt=""), EXPECTED)
    with pytest.raises(latebind.CallerError, match="no prompt 'nope'; it has: document, query"):
        model.encode(TEXTS, prompt_name="nope")


@pytest.mark.parametrize(
    "kind",
    [
        tuple,
        iter,
        lambda texts: numpy.array(texts, object),
        numpy.array,
        pandas.Series,
        polars.Series,
        pyarrow.array,
        lambda texts: pyarrow.chunked_array([texts[:2], [], texts[2:]]),
    ],
)
def test_every_kind_of_texts_gives_the_same(model, kind):
    assert_sparse(model.encode(kind(TEXTS)), EXPECTED)


def test_a_str_has_one_vector_and_no_texts_have_none(model):
    assert_sparse(model.encode(TEXTS[1]), EXPECTED[1:2])
    for empty in ([], (), iter([]), numpy.empty(0, object), pyarrow.array([], pyarrow.string())):
        found = model.encode(empty)
        assert (len(found), found.shape, found.to_dicts(), found.decode()) == (0, (0, 45), [], [])
        assert (found.indptr.tolist(), found.indices.dtype, found.values.dtype) == ([0], "int32", "float32")


def test_thousands_are_encoded_in_parts_and_in_order(model, monkeypatch):
    from latebind import _texts

    assert_sparse(model.encode(TEXTS * 300), EXPECTED * 300)
    monkeypatch.setattr(_texts, "PART_BYTES", 20)
    assert_sparse(model.encode(TEXTS * 300), EXPECTED * 300)
    assert_sparse(model.encode(TEXTS * 300, max_active_dims=100), EXPECTED * 300)


def test_a_progress_bar_counts_texts(model, capsys):
    model.encode(TEXTS * 800, show_progress=True)
    shown = capsys.readouterr().err
    assert "Encoding" in shown and "5600/5600" in shown.replace("5.60k/5.60k", "5600/5600")


def test_fewer_tokens_cut_texts(model):
    before = model.stats
    found = model.encode(["a dog and a cat"] * 3 + ["a dog"], max_tokens=4)
    done = model.stats
    assert (done.texts - before.texts, done.truncated_texts - before.truncated_texts) == (4, 3)
    assert done.tokens - before.tokens == 16
    assert_sparse(found, [EXPECTED[TEXTS.index("a dog")]] * 4)
    with pytest.raises(latebind.CallerError, match="21 tokens"):
        model.encode(TEXTS, max_tokens=21)


def test_alone_gives_the_same_bits(model):
    assert same(model.encode(TEXTS, alone=True), model.encode(TEXTS, alone=True))


# -- The largest weights -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 3, 30, 45, 10_000])
def test_only_the_largest_weights_are_kept(model, most):
    expected = []
    for each in EXPECTED:
        pairs = sorted(zip(each["indices"], each["values"], strict=True), key=lambda pair: (-pair[1], pair[0]))
        kept = sorted(pairs[:most])
        expected.append({"indices": [index for index, _ in kept], "values": [value for _, value in kept]})
    assert_sparse(model.encode(TEXTS, max_active_dims=most), expected)


def test_of_equal_weights_the_lower_index_is_kept():
    from latebind._sparse_vectors import largest_of

    begins = numpy.array([0, 0, 4, 5, 9])
    indices = numpy.array([2, 3, 5, 7, 0, 1, 4, 6, 9], numpy.int32)
    values = numpy.array([1, 2, 2, 2, 9, 3, 3, 3, 3], numpy.float32)
    fewer, left, weights = largest_of(begins, indices, values, 2)
    assert (fewer.tolist(), left.tolist(), weights.tolist()) == ([0, 0, 2, 3, 5], [3, 5, 0, 1, 4], [2, 2, 9, 3, 3])
    assert largest_of(begins, indices, values, 4)[1] is indices


def test_a_model_that_keeps_fewer_gives_no_more():
    with latebind.SparseEncoder(SPARSE_ENCODERS / "distilbert", device="native") as opened:
        assert_sparse(opened.encode(TEXTS, max_active_dims=5), SPARSE["vectors"]["distilbert"])
        assert numpy.diff(opened.encode(TEXTS, max_active_dims=2).indptr).tolist() == [2] * len(TEXTS)
        with pytest.raises(latebind.CallerError, match="max_active_dims is 6, and the model keeps 5"):
            opened.encode(TEXTS, max_active_dims=6)


# -- The forms that they have ------------------------------------------------------------------------------------------


def test_one_text_has_its_indices_and_values(vectors):
    for index in (1, numpy.int64(1), 1 - len(TEXTS)):
        assert_sparse([vectors[index]], EXPECTED[1:2])
    assert len(list(vectors)) == len(TEXTS)
    for wrong in (len(TEXTS), -len(TEXTS) - 1):
        with pytest.raises(IndexError, match=f"there is no text {wrong}; there are {len(TEXTS)}"):
            vectors[wrong]
    with pytest.raises(TypeError):
        vectors["a"]


def test_they_are_dicts_of_indices(vectors):
    found = vectors.to_dicts()
    assert [list(each) for each in found] == [each["indices"] for each in EXPECTED]
    assert list(found[1].values()) == pytest.approx(EXPECTED[1]["values"], abs=1e-5)
    assert all(type(key) is int and type(value) is float for key, value in found[0].items())


def test_they_are_tokens_best_first(model, vectors):
    best = vectors.tokens(1, 3)
    assert list(best) == ["over", "!", "not"]
    assert list(best.values()) == pytest.approx(sorted(EXPECTED[1]["values"], reverse=True)[:3], abs=1e-5)
    assert len(vectors.tokens(1)) == len(EXPECTED[1]["indices"])
    assert vectors.decode(1)[1] == {"over": best["over"]} and vectors.decode()[1] == vectors.tokens(1)
    with pytest.raises(latebind.CallerError, match="top_k is 0"):
        vectors.decode(0)
    # Of equal weights, and where the network has entries that the tokenizer has not.
    made = latebind.SparseVectors(
        numpy.array([0, 3]), numpy.array([7, 9, 44444], numpy.int32), numpy.ones(3, numpy.float32), vectors._vocabulary
    )
    assert list(made.tokens(0))[-1] == "[44444]" and len(made.tokens(0)) == 3


def test_they_outlive_the_model_and_can_be_pickled():
    with latebind.SparseEncoder(SPARSE_ENCODERS / "bert", device="native") as opened:
        found = opened.encode(TEXTS)
    again = pickle.loads(pickle.dumps(found))
    assert same(found, again) and again.shape == found.shape
    assert found.tokens(1, 2) == again.tokens(1, 2) == copy.deepcopy(again).tokens(1, 2)
    assert repr(again) == f"<SparseVectors (7, 45), {len(found.values)} weights>"
    found.values[:] = 1  # the caller's


def test_scipy_takes_them(vectors, monkeypatch):
    with_scipy(monkeypatch)
    found = vectors.to_scipy()
    assert isinstance(found, CsrMatrix) and found.shape == (len(TEXTS), 45)
    assert found.data is vectors.values and found.indices is vectors.indices
    assert found.indptr.tolist() == vectors.indptr.tolist()


def test_without_scipy_it_is_said(vectors, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "scipy.sparse", None)
    with pytest.raises(latebind.LibraryError, match='scipy cannot be imported .*pip install "scipy"'):
        vectors.to_scipy()


def test_scipy_is_not_imported_before():
    code = """
import sys, latebind
print(latebind.SparseEncoder(sys.argv[1], device="native").encode(["a"]).shape, "scipy" in sys.modules)
"""
    assert good(code, SPARSE_ENCODERS / "bert") == "(1, 45) False\n"


# -- What is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "kind", "text"),
    [
        (None, latebind.CallerTypeError, "texts is NoneType"),
        (b"a", latebind.CallerTypeError, "texts is bytes"),
        ({"a": "b"}, latebind.CallerTypeError, "texts is dict"),
        (["a", None], latebind.CallerTypeError, "text 1 is NoneType, not str; fill or drop"),
        (iter(["a", 3]), latebind.CallerTypeError, "text 1 is int"),
        (["a"] * 70_000 + [b"a"], latebind.CallerTypeError, "text 70000 is bytes"),
        (["a", "\ud800"], latebind.CallerError, "text 1 contains a lone surrogate"),
        ("\ud800", latebind.CallerError, "text 0 contains a lone surrogate"),
        (pyarrow.array(["a", None]), latebind.CallerTypeError, "text 1"),
    ],
)
def test_what_is_no_text_is_named(model, texts, kind, text):
    with pytest.raises(kind, match=text):
        model.encode(texts)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"alone": "yes"}, "alone is str"),
        ({"max_active_dims": 0}, "max_active_dims is 0"),
        ({"max_active_dims": "5"}, "max_active_dims is str"),
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"show_progress": 1}, "show_progress is int"),
        ({"deadline": "soon"}, "deadline is str"),
        ({"prompt": 3}, "prompt is int"),
        ({"prompt": "a", "prompt_name": "query"}, "give one of them"),
    ],
)
def test_wrong_options_are_named(model, arguments, text):
    with pytest.raises(latebind.CallerError, match=text):
        model.encode(TEXTS, **arguments)


def test_tokens_are_those_that_it_computes(model):
    before = model.stats.tokens
    model.encode(TEXTS)
    assert model.count_tokens(TEXTS).sum() == model.stats.tokens - before
    ids, places = model.tokenize(TEXTS[1], offsets=True)
    assert ids.tolist() == model.tokenize(TEXTS)[1].tolist() and places.shape == (len(ids), 2)


def test_models_of_other_kinds_are_refused():
    with pytest.raises(latebind.CallerError, match="gives vectors for texts"):
        latebind.SparseEncoder(TINY)
    with pytest.raises(latebind.CallerError, match="cross-encoder"):
        latebind.SparseEncoder(CROSS_ENCODERS / "bert")
    for other in (latebind.Embedder, latebind.CrossEncoder):
        with pytest.raises(latebind.CallerError, match="opens it as SparseEncoder"):
            other(SPARSE_ENCODERS / "bert")
    with pytest.raises(latebind.CallerError, match="/nonexistent/model"):
        latebind.SparseEncoder("/nonexistent/model")
    with pytest.raises(latebind.CallerError, match=r"did you mean max_tokens\?"):
        latebind.SparseEncoder(SPARSE_ENCODERS / "bert", max_tokns=3)
    with pytest.raises(latebind.CallerTypeError, match="model is NoneType"):
        latebind.SparseEncoder(None)


# -- What it is --------------------------------------------------------------------------------------------------------


def test_settings_and_what_it_says_of_itself():
    folder = str(SPARSE_ENCODERS / "bert")
    with latebind.SparseEncoder(folder, device=["native"], max_tokens=12) as opened:
        assert (opened.max_tokens, opened.model, opened.folder) == (12, folder, folder)
        assert opened.settings == {"device": ["native"], "precision": "f32", "strict": False, "max_tokens": 12}
        assert repr(opened) == f"<SparseEncoder {folder!r}, 45 entries, native:CPU, f32>"
        again = pickle.loads(pickle.dumps(opened))
        assert (again.settings, again.max_tokens) == (opened.settings, 12)
        assert same(again.encode(TEXTS, alone=True), opened.encode(TEXTS, alone=True))
        again.close()
    assert repr(opened) == f"<SparseEncoder {folder!r}, closed>"
    with pytest.raises(latebind.ClosedError, match="this SparseEncoder was closed"):
        opened.encode(TEXTS)


def test_a_bundle_encodes_as_its_folder_does(tmp_path):
    latebind.compile(SPARSE_ENCODERS / "distilbert", tmp_path / "few.lbundle", "openvino:CPU")
    with latebind.SparseEncoder(tmp_path / "few.lbundle", device="openvino:CPU", strict=True) as opened:
        found = opened.encode(TEXTS)
        assert_sparse(found, SPARSE["vectors"]["distilbert"])
        assert opened.max_active_dims == 5
    assert pickle.loads(pickle.dumps(found)).tokens(1) == found.tokens(1)


# -- Threads, tasks, processes, signals --------------------------------------------------------------------------------


def test_many_threads_get_their_own_weights(model):
    def one(number):
        part = slice(number % 4, number % 4 + 3)
        assert_sparse(model.encode(TEXTS[part]), EXPECTED[part])

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(one, range(200)))


def test_awaiting_gives_the_same(model):
    async def both():
        return await asyncio.gather(model.aencode(TEXTS), model.aencode(TEXTS[0], max_active_dims=2, prompt=""))

    many, one = asyncio.run(both())
    assert_sparse(many, EXPECTED)
    assert len(one) == 1 and len(one.values) == 2
    with pytest.raises(latebind.CallerTypeError, match="text 0 is int"):
        asyncio.run(model.aencode([3]))
    with pytest.raises(TypeError, match="no_such"):
        asyncio.run(model.aencode(TEXTS, no_such=1))


def test_cancelling_a_task_cancels_the_call(model):
    async def cancel():
        before = model.stats.texts
        task = asyncio.ensure_future(model.aencode(MANY))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return model.stats.texts - before

    assert asyncio.run(cancel()) < len(MANY)


def test_a_deadline_ends_a_call(model):
    with pytest.raises(latebind.TransientError) as found:
        model.encode(MANY, deadline=0.3)
    assert found.value.name == "DEADLINE_EXCEEDED"
    assert len(model.encode(TEXTS, deadline=60)) == len(TEXTS)


def test_ctrl_c_ends_a_long_call():
    code = """
import os, signal, sys, threading
import latebind
model = latebind.SparseEncoder(sys.argv[1], device="native")
texts = [f"a dog and {number} cats" for number in range(300_000)]
model.encode(texts[:1000])
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    model.encode(texts)
    print("it ended by itself")
except KeyboardInterrupt:
    print("ended", model.stats.texts < len(texts))
print(model.encode(texts[:3]).shape)
"""
    assert good(code, SPARSE_ENCODERS / "bert") == "ended True\n(3, 45)\n"


def test_closing_while_it_is_used_ends_no_call():
    close_while_used(
        latebind.SparseEncoder(SPARSE_ENCODERS / "bert", device="native"),
        lambda opened: assert_sparse(opened.encode(TEXTS), EXPECTED),
    )


def test_after_fork_the_parent_s_is_refused_and_the_parent_goes_on(model, vectors):
    best = vectors.tokens(1, 2)
    uses = (lambda: model.encode(TEXTS), lambda: model.attestation)
    assert all(text.startswith("this SparseEncoder was opened by process ") for text in use_after_fork(model, uses))
    assert_sparse(model.encode(TEXTS), EXPECTED)
    child = os.fork()
    if not child:
        os._exit(0 if vectors.tokens(1, 2) == best else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_lists_of_the_library_are_given_back(model, monkeypatch):
    from latebind._library import library

    destroyed = []
    destroy = library().lb_results_destroy
    monkeypatch.setattr(library(), "lb_results_destroy", lambda pointer: (destroyed.append(1), destroy(pointer)))
    found = model.encode(TEXTS)
    gc.collect()
    assert len(destroyed) == 1
    assert_sparse(found, EXPECTED)


def test_debug_allocators_find_nothing():
    code = """
import asyncio, gc, sys
import latebind, numpy, pyarrow

texts = ["", "a", "thirteen bytes"] * 40
with latebind.SparseEncoder(sys.argv[1], device="native") as model:
    for given in ("a", texts, iter(texts), numpy.array(texts, object), pyarrow.array(texts), [], [""]):
        found = model.encode(given, max_active_dims=7)
        found.to_dicts(), found.decode(3)
    asyncio.run(model.aencode(texts))
    for bad in (None, [None], ["\\ud800"], 3):
        try:
            model.encode(bad)
            print("it was taken:", bad)
        except latebind.CallerError:
            pass
gc.collect()
"""
    assert good(code, SPARSE_ENCODERS / "bert", env={"PYTHONMALLOC": "debug", "PYTHONDEVMODE": "1"}) == ""
