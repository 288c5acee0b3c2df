"""CrossEncoder: the reference's scores from every kind of pairs, ranks, and an error for everything else."""

import asyncio
import concurrent.futures
import copy
import gc
import json
import pickle
import threading
import time

import latebind
import numpy
import pandas
import polars
import pyarrow
import pytest
from support import CROSS_ENCODERS, RECORDED, SOURCE, TINY, close_while_used, good, recorded_query, use_after_fork

PAIRS = [tuple(pair) for pair in RECORDED["pairs"]]
QUERY, DOCUMENTS, SCORES = recorded_query("bert")
# Some seconds of work of a model as small as these.
MANY = [("the cat sat on the mat.", f"a dog and {number} cats") for number in range(400_000)]


def expected(model, what="scores"):
    """float32[n], or float32[n, labels]."""
    found = numpy.array(RECORDED[what][model], numpy.float32)
    return found[:, 0] if found.shape[1] == 1 else found


@pytest.fixture(scope="module")
def model():
    with latebind.CrossEncoder(CROSS_ENCODERS / "bert", device="native") as opened:
        yield opened


@pytest.fixture(scope="module")
def classifier():
    with latebind.CrossEncoder(CROSS_ENCODERS / "roberta", device="native") as opened:
        yield opened


# -- Scores ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(RECORDED["scores"]))
def test_the_scores_of_every_model_are_the_reference_s(name):
    with latebind.CrossEncoder(CROSS_ENCODERS / name, device="native", strict=True) as opened:
        found = opened.predict(PAIRS)
        assert found.dtype == numpy.float32
        assert found.shape == ((len(PAIRS), 3) if name == "roberta" else (len(PAIRS),))
        numpy.testing.assert_allclose(found, expected(name), atol=1e-5)
        numpy.testing.assert_allclose(opened.predict(PAIRS, raw=True), expected(name, "logits"), atol=1e-5)
        assert (opened.attestation.backend, opened.max_tokens) == ("native", 20)


@pytest.mark.parametrize("device", ["openvino", "onnxruntime"])
def test_vendors_devices_give_the_same(device):
    with latebind.CrossEncoder(CROSS_ENCODERS / "bert", device=device, strict=True) as opened:
        numpy.testing.assert_allclose(opened.predict(PAIRS), expected("bert"), atol=1e-4)
        assert opened.attestation.backend == device


KINDS = {
    "list of tuples": list,
    "tuple of lists": lambda pairs: tuple(map(list, pairs)),
    "iterator": iter,
    "zip": lambda pairs: zip(*zip(*pairs, strict=True), strict=True),
    "NumPy object": lambda pairs: numpy.array(pairs, object),
    "NumPy <U": lambda pairs: numpy.array(pairs),
    "NumPy StringDType": lambda pairs: numpy.array(pairs, numpy.dtypes.StringDType()),
    "list of arrays": lambda pairs: [numpy.array(pair, object) for pair in pairs],
    "pandas table": lambda pairs: pandas.DataFrame(pairs, columns=["query", "document"]),
    "pandas column": lambda pairs: pandas.Series(pairs),
    "polars table": lambda pairs: polars.DataFrame(pairs, schema=["query", "document"], orient="row"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_pairs_gives_the_same(model, kind):
    numpy.testing.assert_allclose(model.predict(KINDS[kind](PAIRS)), expected("bert"), atol=1e-5)


@pytest.mark.parametrize("kind", [tuple, list, lambda pair: numpy.array(pair, object), numpy.array])
def test_a_single_pair_has_a_single_score(model, classifier, kind):
    one = model.predict(kind(PAIRS[1]))
    assert isinstance(one, numpy.float32) and one == pytest.approx(expected("bert")[1], abs=1e-5)
    found = classifier.predict(kind(PAIRS[1]))
    assert found.shape == (3,)
    numpy.testing.assert_allclose(found, expected("roberta")[1], atol=1e-5)


def test_no_pairs_have_no_scores(model, classifier):
    for empty in ([], (), iter([]), numpy.empty((0, 2), object)):
        assert model.predict(empty).shape == (0,)
    assert classifier.predict([]).shape == (0, 3)
    assert model.rank("a", []) == model.rank("a", iter([]), top_k=3, return_documents=True) == []


def test_thousands_are_scored_in_parts_and_in_order(model, monkeypatch):
    from latebind import _texts

    pairs = PAIRS * 200
    numpy.testing.assert_allclose(model.predict(pairs), numpy.tile(expected("bert"), 200), atol=1e-5)
    monkeypatch.setattr(_texts, "PART_BYTES", 20)
    numpy.testing.assert_allclose(model.predict(pairs), numpy.tile(expected("bert"), 200), atol=1e-5)
    ranked = model.rank(QUERY, DOCUMENTS * 500)
    assert sorted(each["corpus_id"] for each in ranked) == list(range(len(DOCUMENTS) * 500))
    for each in ranked[:: len(ranked) // 20]:
        assert each["score"] == pytest.approx(SCORES[each["corpus_id"] % len(SCORES)], abs=1e-5)


def test_a_progress_bar_counts_pairs(model, capsys):
    model.predict(PAIRS * 150, show_progress=True)
    shown = capsys.readouterr().err
    assert "Scoring" in shown and "5400/5400" in shown.replace("5.40k/5.40k", "5400/5400")


def test_fewer_tokens_cut_pairs(model):
    before = model.stats
    short = model.predict([("a", "a dog and a cat")] * 3, max_tokens=6)
    done = model.stats
    assert (done.texts - before.texts, done.truncated_texts - before.truncated_texts) == (3, 3)
    assert done.tokens - before.tokens == 18
    whole = model.predict(("a", "a dog and a cat"))
    assert (short == short[0]).all() and short[0] != whole
    with pytest.raises(latebind.CallerError, match="21 tokens"):
        model.predict(PAIRS, max_tokens=21)


def test_alone_gives_the_same_bits(model):
    found = model.predict(PAIRS, alone=True)
    numpy.testing.assert_allclose(found, expected("bert"), atol=1e-5)
    assert found.tobytes() == model.predict(PAIRS, alone=True).tobytes()


# -- Ranks -------------------------------------------------------------------------------------------------------------


def test_documents_are_ranked_as_the_reference_ranks_them(model):
    order = sorted(range(len(SCORES)), key=lambda index: -SCORES[index])
    found = model.rank(QUERY, DOCUMENTS)
    assert [each["corpus_id"] for each in found] == order
    assert all(set(each) == {"corpus_id", "score"} and type(each["score"]) is float for each in found)
    assert [each["score"] for each in found] == pytest.approx([SCORES[index] for index in order], abs=1e-5)
    best = model.rank(QUERY, DOCUMENTS, 2, True)
    assert [(each["corpus_id"], each["text"]) for each in best] == [(index, DOCUMENTS[index]) for index in order[:2]]
    assert len(model.rank(QUERY, DOCUMENTS, top_k=10_000)) == len(DOCUMENTS)
    raw = model.rank(QUERY, DOCUMENTS, raw=True)
    assert [each["corpus_id"] for each in raw] == order and raw[0]["score"] != found[0]["score"]


def test_of_equal_scores_the_earlier_document_comes_first(model):
    assert [each["corpus_id"] for each in model.rank("a dog", ["cats"] * 50)] == list(range(50))
    assert model.rank("a dog", ["cats"])[0]["score"] == pytest.approx(float(model.predict(("a dog", "cats"))), abs=1e-6)


@pytest.mark.parametrize(
    "kind",
    [
        tuple,
        iter,
        lambda texts: numpy.array(texts, object),
        pandas.Series,
        polars.Series,
        pyarrow.array,
        lambda texts: pyarrow.chunked_array([texts[:2], [], texts[2:]]),
    ],
)
def test_every_kind_of_documents_gives_the_same(model, kind):
    order = sorted(range(len(SCORES)), key=lambda index: -SCORES[index])
    found = model.rank(QUERY, kind(DOCUMENTS), return_documents=True)
    assert [(each["corpus_id"], each["text"]) for each in found] == [(index, DOCUMENTS[index]) for index in order]


def test_several_labels_are_no_rank(classifier):
    assert classifier.labels == ("contradiction", "entailment", "neutral")
    with pytest.raises(latebind.CallerError, match=r"3 labels \(contradiction, entailment, neutral\).*predict"):
        classifier.rank("a", ["b"])


# -- What is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pairs", "kind", "text"),
    [
        (None, latebind.CallerTypeError, "pairs is NoneType"),
        ("ab", latebind.CallerTypeError, "pairs is str"),
        (b"ab", latebind.CallerTypeError, "pairs is bytes"),
        ({"a": "b"}, latebind.CallerTypeError, "pairs is dict"),
        (numpy.array("a"), latebind.CallerTypeError, "an array without dimensions"),
        (["a", "b", "c"], latebind.CallerError, "pairs has the length 3; a pair must have two texts"),
        (["a"], latebind.CallerError, "pairs has the length 1"),
        ([None, "b"], latebind.CallerTypeError, r"pairs\[0\] is NoneType, not str; fill or drop"),
        (("a", float("nan")), latebind.CallerTypeError, r"pairs\[1\] is nan"),
        ([("a", "b"), "c"], latebind.CallerTypeError, r"pairs\[1\] is str, not a pair"),
        ([("a", "b"), ("a",)], latebind.CallerError, r"pairs\[1\] has the length 1"),
        ([("a", "b"), ("a", b"b")], latebind.CallerTypeError, r"pairs\[1\]\[1\] is bytes, not str; decode"),
        ([("a", "b")] * 70_000 + [("a", None)], latebind.CallerTypeError, r"pairs\[70000\]\[1\] is NoneType"),
        ([("a", "b"), ("\ud800", "b")], latebind.CallerError, r"pairs\[1\]\[0\] contains a lone surrogate"),
        (numpy.zeros((2, 2)), latebind.CallerTypeError, r"pairs\[0\]\[0\] is float"),
        (pyarrow.array(["a", "b"]), latebind.CallerTypeError, "pairs is StringArray of pyarrow"),
        (pyarrow.table({"a": ["x"], "b": ["y"]}), latebind.CallerTypeError, "pairs is Table"),
    ],
)
def test_what_is_no_pair_is_named(model, pairs, kind, text):
    with pytest.raises(kind, match=text):
        model.predict(pairs)


@pytest.mark.parametrize(
    ("query", "documents", "text"),
    [
        (None, ["a"], "the query is NoneType"),
        (["a"], ["a"], "the query is list"),
        ("\ud800", ["a"], "the query contains a lone surrogate"),
        ("a", "b", "documents is a str; give a list"),
        ("a", None, "documents is NoneType"),
        ("a", {"b": 1}, "documents is dict"),
        ("a", ["b", None], "text 1 is NoneType"),
        ("a", [("b", "c")], "text 0 is tuple"),
        ("a", pyarrow.array(["a", None]), "text 1"),
    ],
)
def test_what_is_no_query_or_document_is_named(model, query, documents, text):
    with pytest.raises(latebind.CallerError, match=text):
        model.rank(query, documents)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"raw": 1}, "raw is int"),
        ({"alone": "yes"}, "alone is str"),
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"show_progress": 1}, "show_progress is int"),
        ({"deadline": "soon"}, "deadline is str"),
    ],
)
def test_wrong_options_are_named(model, arguments, text):
    with pytest.raises(latebind.CallerError, match=text):
        model.predict(PAIRS, **arguments)
    with pytest.raises(latebind.CallerError, match=text):
        model.rank(QUERY, DOCUMENTS, **arguments)


def test_wrong_options_of_ranks_are_named(model):
    for arguments, text in (({"top_k": 0}, "top_k is 0"), ({"return_documents": 1}, "return_documents is int")):
        with pytest.raises(latebind.CallerError, match=text):
            model.rank(QUERY, DOCUMENTS, **arguments)


def test_an_error_in_a_later_part_says_where_it_is(model):
    bad = pyarrow.Array.from_buffers(
        pyarrow.string(), 2, pyarrow.array(["a", "b"]).buffers()[:2] + [pyarrow.py_buffer(b"a\xff")]
    )
    with pytest.raises(latebind.CallerError, match=r"pairs\[1\]"):
        model.rank("a", bad)
    source = [f"document {number}" for number in range(5000)]
    column = pyarrow.chunked_array([pyarrow.array(source), bad])
    with pytest.raises(latebind.CallerError, match=r"in the pairs from 4096 on: .*pairs\[905\]"):
        model.rank("a", column, show_progress=True)


def test_models_of_the_other_kind_are_refused():
    with pytest.raises(latebind.CallerError, match="latebind embed"):
        latebind.CrossEncoder(TINY)
    with pytest.raises(latebind.CallerError, match="is a cross-encoder.* opens it as CrossEncoder"):
        latebind.Embedder(CROSS_ENCODERS / "bert")
    with pytest.raises(latebind.CallerError, match="/nonexistent/model"):
        latebind.CrossEncoder("/nonexistent/model")
    with pytest.raises(latebind.CallerError, match=r"did you mean max_tokens\?"):
        latebind.CrossEncoder(CROSS_ENCODERS / "bert", max_tokns=3)
    with pytest.raises(latebind.CallerTypeError, match="model is NoneType"):
        latebind.CrossEncoder(None)


# -- What it is --------------------------------------------------------------------------------------------------------


def test_settings_and_what_it_says_of_itself():
    folder = str(CROSS_ENCODERS / "bert")
    with latebind.CrossEncoder(folder, device=["native"], max_tokens=12, threads=1) as opened:
        assert (opened.labels, opened.max_tokens, opened.model, opened.folder) == (("LABEL_0",), 12, folder, folder)
        assert opened.settings == {
            "device": ["native"],
            "precision": "f32",
            "strict": False,
            "max_tokens": 12,
            "threads": 1,
        }
        assert repr(opened) == f"<CrossEncoder {folder!r}, 1 label, native:CPU, f32>"
    assert repr(opened) == f"<CrossEncoder {folder!r}, closed>"


def test_a_bundle_scores_as_its_folder_does(tmp_path):
    latebind.compile(CROSS_ENCODERS / "bert", tmp_path / "bert.lbundle", "openvino:CPU")
    with latebind.CrossEncoder(tmp_path / "bert.lbundle", device="openvino:CPU", strict=True) as opened:
        numpy.testing.assert_allclose(opened.predict(PAIRS), expected("bert"), atol=1e-4)


def test_a_name_on_the_hub_is_looked_for_there():
    code = """
import latebind
try:
    latebind.CrossEncoder("some-one/some-model@v2")
except latebind.LatebindError as error:
    print(error)
"""
    printed = good(code, env={"HF_HUB_OFFLINE": "1", "HF_HOME": "/nonexistent"})
    assert "there is no folder 'some-one/some-model@v2', so it is read as a name on the hub" in printed


# -- Threads, tasks, processes, signals --------------------------------------------------------------------------------


def test_many_threads_get_their_own_scores(model):
    scores = expected("bert")

    def one(number):
        part = slice(number % 8, number % 8 + 9)
        return numpy.abs(model.predict(PAIRS[part]) - scores[part]).max()

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert max(pool.map(one, range(400))) < 1e-5


def test_awaiting_gives_the_same(model):
    async def both():
        return await asyncio.gather(
            model.apredict(PAIRS),
            model.apredict(PAIRS[0]),
            model.arank(QUERY, DOCUMENTS, 2, True),
            model.arank(QUERY, DOCUMENTS, raw=True),
        )

    scores, one, ranked, raw = asyncio.run(both())
    numpy.testing.assert_allclose(scores, expected("bert"), atol=1e-5)
    assert one == pytest.approx(scores[0], abs=1e-6)
    assert ranked == model.rank(QUERY, DOCUMENTS, 2, True) and raw == model.rank(QUERY, DOCUMENTS, raw=True)
    with pytest.raises(latebind.CallerTypeError, match=r"pairs\[0\] is int"):
        asyncio.run(model.apredict([3, 4]))
    with pytest.raises(TypeError, match="no_such"):
        asyncio.run(model.apredict(PAIRS, no_such=1))


def test_cancelling_a_task_cancels_the_call(model):
    async def cancel():
        before = model.stats.texts
        task = asyncio.ensure_future(model.apredict(MANY))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return model.stats.texts - before

    assert asyncio.run(cancel()) < len(MANY)


def test_a_deadline_ends_a_call(model):
    for use in (
        lambda seconds: model.predict(MANY, deadline=seconds),
        lambda seconds: model.rank("a", [second for _, second in MANY], deadline=seconds),
    ):
        with pytest.raises(latebind.TransientError) as found:
            use(0.3)
        assert found.value.name == "DEADLINE_EXCEEDED"
        with pytest.raises(latebind.TransientError, match="deadline"):
            use(0)
    assert model.predict(PAIRS, deadline=60).shape == (len(PAIRS),)


def test_ctrl_c_ends_a_long_call():
    code = """
import os, signal, sys, threading, time
import latebind
model = latebind.CrossEncoder(sys.argv[1], device="native")
pairs = [("the cat sat on the mat.", f"a dog and {number} cats") for number in range(400_000)]
model.predict(pairs[:1000])
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    model.predict(pairs)
    print("it ended by itself")
except KeyboardInterrupt:
    print("ended", model.stats.texts < len(pairs))
print(model.predict(pairs[:3]).shape)
"""
    assert good(code, CROSS_ENCODERS / "bert") == "ended True\n(3,)\n"


def test_closed_it_says_so_everywhere():
    opened = latebind.CrossEncoder(CROSS_ENCODERS / "bert", device="native")
    again = pickle.loads(pickle.dumps(opened))
    opened.close()
    opened.close()
    for use in (
        lambda: opened.predict(PAIRS),
        lambda: opened.predict([]),
        lambda: opened.rank("a", []),
        lambda: opened.attestation,
        lambda: asyncio.run(opened.apredict(PAIRS)),
        lambda: asyncio.run(opened.arank("a", ["b"])),
    ):
        with pytest.raises(latebind.ClosedError, match="this CrossEncoder was closed"):
            use()
    other = copy.copy(again)
    with again, other:
        for each in (again, other):
            numpy.testing.assert_allclose(each.predict(PAIRS), expected("bert"), atol=1e-5)
            assert each.attestation.backend == "native"


def test_closing_while_others_score_is_safe():
    def use(opened):
        assert len(opened.predict(PAIRS)) == len(PAIRS)
        assert len(opened.rank(QUERY, DOCUMENTS)) == len(DOCUMENTS)

    for _ in range(5):
        close_while_used(latebind.CrossEncoder(CROSS_ENCODERS / "bert", device="native"), use)


def test_what_has_begun_runs_to_its_end_when_it_is_closed():
    opened = latebind.CrossEncoder(CROSS_ENCODERS / "bert", device="native")
    found = []
    thread = threading.Thread(target=lambda: found.append(opened.predict(PAIRS * 5000)))
    thread.start()
    time.sleep(0.1)
    opened.close()
    thread.join()
    numpy.testing.assert_allclose(found[0][-len(PAIRS) :], expected("bert"), atol=1e-5)


def test_after_fork_the_parent_s_is_refused_and_the_parent_goes_on(model):
    model.predict(PAIRS)
    uses = (lambda: model.predict(PAIRS), lambda: model.rank("a", ["b"]), lambda: model.attestation)
    assert all(text.startswith("this CrossEncoder was opened by process ") for text in use_after_fork(model, uses))
    assert model.predict(PAIRS).shape == (len(PAIRS),)


def test_many_that_are_not_closed_are_given_back():
    from latebind._library import library

    destroyed = []
    destroy = library().lb_encoder_destroy
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library(), "lb_encoder_destroy", lambda pointer: (destroyed.append(1), destroy(pointer)))
        for _ in range(3):
            latebind.CrossEncoder(CROSS_ENCODERS / "bert", device="native").predict(PAIRS[0])
        gc.collect()
    assert len(destroyed) == 3


def test_debug_allocators_find_nothing():
    code = """
import asyncio, gc, sys
import latebind, numpy, pyarrow

texts = ["", "a", "thirteen bytes"] * 40
pairs = list(zip(texts, reversed(texts)))
with latebind.CrossEncoder(sys.argv[1], device="native") as model:
    for given in (("a", ""), pairs, iter(pairs), numpy.array(pairs), [], [("", "")]):
        model.predict(given)
    for given in (texts, iter(texts), numpy.array(texts, object), pyarrow.array(texts), []):
        model.rank("", given, return_documents=True)
    asyncio.run(model.apredict(pairs))
    for bad in (None, [None], [("a",)], [("\\ud800", "a")], 3):
        try:
            model.predict(bad)
            print("it was taken:", bad)
        except latebind.CallerError:
            pass
gc.collect()
"""
    assert good(code, CROSS_ENCODERS / "bert", env={"PYTHONMALLOC": "debug", "PYTHONDEVMODE": "1"}) == ""


RERANKERS = SOURCE / "tests" / "data" / "rerankers"
JUDGED = json.loads((RERANKERS / "expected.json").read_text())


@pytest.mark.parametrize("name", sorted(JUDGED["models"]))
def test_language_models_score_as_the_reference_s_with_and_without_an_instruction(name):
    cases = (
        ("scores", {}),
        ("logits", {"raw": True}),
        ("instructed", {"raw": True, "instruct": JUDGED["instruction"]}),
        ("uninstructed", {"raw": True, "instruct": ""}),
    )
    with latebind.CrossEncoder(RERANKERS / name, device="native:CPU") as model:
        for key, options in cases:
            wanted = JUDGED["models"][name][key]
            by_query = {}
            for (query, text), number in zip(JUDGED["pairs"], wanted, strict=True):
                by_query.setdefault(query, []).append((text, number))
            for query, documents in by_query.items():
                # The reference computes pairs without a token of the document: their numbers are equal.
                lost = [text for text, number in documents if any(a != text and b == number for a, b in documents)]
                kept = [(text, number) for text, number in documents if text not in lost]
                if kept:
                    found = model.predict([(query, text) for text, _ in kept], **options)
                    numpy.testing.assert_allclose(found, [number for _, number in kept], atol=1e-5)
                for text in lost:
                    with pytest.raises(latebind.CallerError, match="leave none of the second text"):
                        model.predict((query, text), **options)


def test_an_instruction_by_its_name_and_in_a_rank():
    query = JUDGED["pairs"][0][0]
    wanted = {text: score for (other, text), score in zip(JUDGED["pairs"], JUDGED["models"]["qwen3"]["instructed"], strict=True) if other == query}  # fmt: skip
    with latebind.CrossEncoder(RERANKERS / "qwen3", device="native:CPU") as model:
        ranked = model.rank(query, list(wanted), return_documents=True, raw=True, instruct=JUDGED["instruction"])
        for each in ranked:
            assert each["score"] == pytest.approx(wanted[each["text"]], abs=1e-5)
        pair = JUDGED["pairs"][0]
        assert model.predict(pair, prompt_name="web") == model.predict(pair)
        assert model.predict(pair, prompt_name="other") == model.predict(pair, instruct="the words")
        assert model.predict(pair, prompt_name="other") != model.predict(pair)
        with pytest.raises(latebind.CallerError, match="no prompt 'nope'; it has: other, web"):
            model.predict(pair, prompt_name="nope")
        with pytest.raises(latebind.CallerError, match="prompt_name is 'web' and instruct is 'x'; give one of them"):
            model.predict(pair, prompt_name="web", instruct="x")
