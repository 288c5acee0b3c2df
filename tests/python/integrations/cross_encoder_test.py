"""CrossEncoder of latebind.integrations.sentence_transformers without torch: the arguments that people use, and those that
are refused."""

import json
import pickle

import latebind
import numpy
import pytest
from frameworks import CLASSIFIER, RECORDED, RERANKER, TINY, good, recorded_query
from latebind.integrations.sentence_transformers import CrossEncoder

PAIRS = [tuple(pair) for pair in RECORDED["pairs"]]
QUERY, DOCUMENTS, SCORES = recorded_query("bert")
ORDER = sorted(range(len(SCORES)), key=lambda index: -SCORES[index])


@pytest.fixture(scope="module")
def model(reranker):
    return CrossEncoder(reranker)


@pytest.fixture(scope="module")
def classifier():
    return CrossEncoder(CLASSIFIER, device="native")


def recorded(name, what="scores"):
    found = numpy.array(RECORDED[what][name], numpy.float32)
    return found[:, 0] if found.shape[1] == 1 else found


def sigmoid(numbers):
    return 1 / (1 + numpy.exp(-numbers))


# -- Scores ------------------------------------------------------------------------------------------------------------


def test_the_scores_are_the_reference_s(model, classifier):
    for one, name in ((model, "bert"), (classifier, "roberta")):
        found = one.predict(PAIRS, batch_size=8, show_progress_bar=False, convert_to_numpy=True, num_workers=0)
        assert (found.dtype, found.shape) == (numpy.float32, recorded(name).shape)
        for each in (found, one.predict(sentences=PAIRS), one.predict(list(map(list, PAIRS)))):
            numpy.testing.assert_allclose(each, recorded(name), atol=1e-5)
    one = model.predict(PAIRS[0])
    assert isinstance(one, numpy.float32) and one == pytest.approx(recorded("bert")[0], abs=1e-5)
    assert classifier.predict(list(PAIRS[0])).shape == (3,)
    assert model.predict([]).shape == (0,)


def test_documents_are_ranked_as_the_reference_ranks_them(model):
    found = model.rank(QUERY, DOCUMENTS, top_k=2, return_documents=True, batch_size=8)
    assert [(each["corpus_id"], each["text"]) for each in found] == [(row, DOCUMENTS[row]) for row in ORDER[:2]]
    assert [each["score"] for each in found] == pytest.approx([SCORES[row] for row in ORDER[:2]], abs=1e-5)
    assert model.rank(QUERY, DOCUMENTS, convert_to_tensor=True, apply_softmax=True, num_workers=2)[:1] == [
        {"corpus_id": ORDER[0], "score": found[0]["score"]}
    ]
    assert model.rank(QUERY, []) == []


def test_functions_make_scores_of_the_network_s_numbers(model, classifier):
    raw = recorded("bert", "logits")
    for found, expected in (
        (model.predict(PAIRS, activation_fn=lambda numbers: numbers), raw),
        (model.predict(PAIRS, activation_fct=lambda numbers: 2 * numbers), 2 * raw),
        (model.predict(PAIRS, activation_fn=lambda numbers: numbers[:, 0].tolist()), raw),
        (CrossEncoder(model.cross_encoder, activation_fn=numpy.tanh).predict(PAIRS), numpy.tanh(raw)),
        (classifier.predict(PAIRS, activation_fn=sigmoid), sigmoid(recorded("roberta", "logits"))),
        (classifier.predict(PAIRS, activation_fn=lambda numbers: numbers[:, 1:2]), recorded("roberta", "logits")[:, 1]),
    ):
        assert found.dtype == numpy.float32
        numpy.testing.assert_allclose(found, expected, atol=1e-5)
    one = model.predict(PAIRS[0], activation_fn=lambda numbers: numbers)
    assert isinstance(one, numpy.float32) and one == pytest.approx(raw[0], abs=1e-5)
    assert model.predict([], activation_fn=lambda numbers: 1 / 0).shape == (0,)
    # Whatever a function does to the order.
    found = model.rank(QUERY, DOCUMENTS, 2, True, activation_fn=lambda numbers: -numbers)
    assert [(each["corpus_id"], each["text"]) for each in found] == [(row, DOCUMENTS[row]) for row in ORDER[:-3:-1]]
    found = model.rank(QUERY, DOCUMENTS, activation_fn=numpy.zeros_like)
    assert [each["corpus_id"] for each in found] == list(range(len(DOCUMENTS)))
    model.activation_fn = numpy.negative
    try:
        numpy.testing.assert_allclose(model.predict(PAIRS), -raw, atol=1e-5)
    finally:
        model.activation_fn = None


def test_softmax_is_over_labels(model, classifier):
    found = classifier.predict(PAIRS, apply_softmax=True)
    powers = numpy.exp(recorded("roberta"))
    numpy.testing.assert_allclose(found, powers / powers.sum(axis=1, keepdims=True), atol=1e-5)
    numpy.testing.assert_allclose(classifier.predict(PAIRS[0], apply_softmax=True), found[0], atol=1e-5)
    numpy.testing.assert_allclose(model.predict(PAIRS, apply_softmax=True), recorded("bert"), atol=1e-5)
    assert classifier.predict([], apply_softmax=True).shape == (0, 3)


def test_prompts_come_before_the_first_text(model):
    prompted = CrossEncoder(
        model.cross_encoder, prompts={"query": "cats: ", "other": "o: "}, default_prompt_name="other"
    )
    for found, first in (
        (prompted.predict([("a", "b")]), "o: a"),
        (prompted.predict([("a", "b")], "query"), "cats: a"),
        (prompted.predict([("a", "b")], prompt="x "), "x a"),
        (prompted.predict([("a", "b")], prompt=""), "a"),
        ([prompted.rank("a", ["b"], prompt_name="query")[0]["score"]], "cats: a"),
        ([prompted.rank("a", ["b"])[0]["score"]], "o: a"),
    ):
        numpy.testing.assert_allclose(found, model.cross_encoder.predict([(first, "b")]), atol=1e-6)
    with pytest.raises(latebind.CallerError, match="no prompt 'nope'; known: query, other"):
        prompted.predict(PAIRS, prompt_name="nope")
    with pytest.raises(latebind.CallerError, match="no prompt 'nope'; known: none"):
        CrossEncoder(model.cross_encoder, default_prompt_name="nope")


# -- What it is --------------------------------------------------------------------------------------------------------


def test_what_it_says_of_itself(model, classifier):
    assert (model.num_labels, classifier.num_labels, model.eval()) == (1, 3, model)
    assert model.max_length == model.max_seq_length == 20
    assert (model.device, classifier.device) == ("native", "native")
    assert repr(model).startswith("CrossEncoder(<CrossEncoder ")
    assert CrossEncoder(model.cross_encoder, num_labels=1).num_labels == 1


def test_the_longest_pair_is_set_when_it_is_opened_or_later():
    model = CrossEncoder(str(RERANKER), device="native", max_length=12, revision="main", token=None, backend="torch")
    assert model.max_seq_length == 12
    model.max_seq_length = 8
    assert model.cross_encoder.max_tokens == 8
    model.max_length = 10
    assert model.cross_encoder.max_tokens == 10
    for wrong in (0, "8", 10**9):
        with pytest.raises(latebind.CallerError):
            model.max_seq_length = wrong
    assert model.max_seq_length == 10


def test_a_pickled_one_is_its_arguments():
    first = CrossEncoder(RERANKER, device="native", prompts={"query": "q: "}, activation_fn=numpy.negative)
    second = pickle.loads(pickle.dumps(first))
    assert (second.device, second.prompts, second.activation_fn) == ("native", {"query": "q: "}, numpy.negative)
    numpy.testing.assert_allclose(second.predict(PAIRS), -recorded("bert", "logits"), atol=1e-5)
    first.cross_encoder.close()
    second.cross_encoder.close()


def test_it_imports_neither_torch_nor_the_package_that_it_is_like():
    code = "import sys\nfrom latebind.integrations.sentence_transformers import CrossEncoder\n"
    assert good(code + "print({'torch', 'sentence_transformers', 'transformers'} & set(sys.modules))") == "set()\n"


# -- What is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"cache_dir": "/tmp"}, "cache_dir: models are in the hub's cache"),
        ({"automodel_args": {"torch_dtype": "float16"}}, "automodel_args: .*precision"),
        ({"tokenizer_args": {"padding_side": "left"}}, "tokenizer_args: "),
        ({"classifier_dropout": 0.1}, "classifier_dropout: Latebind does not support training"),
        ({"keep_in_fp32_modules": ["classifier"]}, "keep_in_fp32_modules: "),
        ({"backend": "onnx"}, 'backend: .*device="onnxruntime"'),
        ({"num_labels": 3}, "num_labels is 3, but the model has 1"),
        ({"max_length": 0}, "max_length is 0"),
        ({"activation_fn": "torch.nn.Identity"}, "activation_fn is str; give a function"),
        ({"prompts": ["q"]}, "prompts is list"),
        ({"device": "cuda"}, "cuda"),
        ({"batch_tokns": 3}, r"did you mean batch_tokens\?"),
    ],
)
def test_arguments_of_the_constructor_that_cannot_be_met_are_refused_by_name(arguments, text):
    with pytest.raises(latebind.CallerError, match=text):
        CrossEncoder(RERANKER, **arguments)


def test_models_that_are_none_of_these_are_refused(tiny, reranker):
    with pytest.raises(latebind.CallerError, match="latebind embed"):
        CrossEncoder(TINY)
    with pytest.raises(latebind.CallerTypeError, match="model is Embedder"):
        CrossEncoder(tiny)
    with pytest.raises(latebind.CallerError, match="max_tokens: the CrossEncoder is open and has its settings"):
        CrossEncoder(reranker, max_length=5)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"device": "cuda:0"}, "device is 'cuda:0', and the model was opened with 'native': .*CrossEncoder"),
        ({"pool": {}}, "pool: one process"),
        ({"chunk_size": 5}, "chunk_size: one process"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"batch_size": None}, "batch_size is None"),
        ({"show_progress_bar": "yes"}, "show_progress_bar is str"),
        ({"activation_fn": 3}, "activation_fn is int"),
        ({"activation_fn": lambda numbers: numbers[:3]}, r"activation_fn makes \(3, 1\) of numbers of the shape"),
        ({"activation_fn": lambda numbers: "no"}, "activation_fn does not return numbers"),
        ({"prompt": 3}, "prompt is int"),
        ({"processing_kwargs": {}}, "no argument 'processing_kwargs'"),
    ],
)
def test_arguments_of_calls_that_cannot_be_met_are_refused_by_name(model, arguments, text):
    with pytest.raises(latebind.CallerError, match=text):
        model.predict(PAIRS, **arguments)
    with pytest.raises(latebind.CallerError, match=text):
        model.rank(QUERY, DOCUMENTS, **arguments)


def test_wrong_calls_are_refused(model, classifier):
    for arguments, text in (
        ({"inputs": PAIRS, "sentences": PAIRS}, "as inputs, or as sentences"),
        ({"inputs": PAIRS, "convert_to_numpy": "yes"}, "convert_to_numpy is str"),
        ({"inputs": PAIRS, "apply_softmax": 1}, "apply_softmax is int"),
        ({"inputs": [("a", None)]}, r"pairs\[0\]\[1\] is NoneType"),
    ):
        with pytest.raises(latebind.CallerTypeError, match=text):
            model.predict(**arguments)
    with pytest.raises(latebind.CallerError, match="3 labels"):
        classifier.rank(QUERY, DOCUMENTS)
    with pytest.raises(latebind.CallerError, match="top_k is 0"):
        model.rank(QUERY, DOCUMENTS, top_k=0)
    with pytest.raises(latebind.CallerError, match="gives 2 scores a pair"):
        model.rank(QUERY, DOCUMENTS, activation_fn=lambda numbers: numpy.hstack([numbers, numbers]))
    for arguments in ({"convert_to_tensor": True}, {"convert_to_numpy": False}):
        with pytest.raises(latebind.LibraryError, match='torch, for convert_to_tensor=True .*pip install "torch"'):
            model.predict(PAIRS, **arguments)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("fit", "does not support training"),
        ("save_pretrained", "its folder is model.cross_encoder.folder"),
        ("half", r"chosen once, as CrossEncoder\("),
        ("start_multi_process_pool", "one process"),
        ("config", "names of labels are model.cross_encoder.labels"),
        ("tokenizer", "Latebind's own"),
    ],
)
def test_methods_that_are_not_there_say_why(model, name, text):
    with pytest.raises(latebind.CallerError, match=f"^{name}: .*{text}"):
        getattr(model, name)
    assert not hasattr(model, name)
    with pytest.raises(AttributeError, match="no attribute 'no_such'"):
        _ = model.no_such


def test_a_language_model_s_own_instruction_is_used_unless_another_is_given():
    folder = TINY.parents[1] / "rerankers"
    recorded = json.loads((folder / "expected.json").read_text())
    wanted = recorded["models"]["qwen3"]
    pairs = recorded["pairs"][:5]
    model = CrossEncoder(str(folder / "qwen3"), device="native", activation_fn=lambda numbers: numbers)
    assert model.prompts == {"web": "a list of the best", "other": "the words"}
    numpy.testing.assert_allclose(model.predict(pairs), wanted["logits"][:5], atol=1e-5)
    numpy.testing.assert_allclose(model.predict(pairs, prompt_name="web"), wanted["logits"][:5], atol=1e-5)
    instructed = model.predict(pairs, prompt=recorded["instruction"])
    numpy.testing.assert_allclose(instructed, wanted["instructed"][:5], atol=1e-5)
    numpy.testing.assert_allclose(model.predict(pairs, prompt=""), wanted["uninstructed"][:5], atol=1e-5)
