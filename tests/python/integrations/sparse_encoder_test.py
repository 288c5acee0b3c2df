"""SparseEncoder of latebind.integrations.sentence_transformers without torch: the arguments that people use, and those that
are refused."""

import pickle
import sys

import latebind
import numpy
import pytest
from frameworks import CLASSIFIER, SPARSE, SPARSE_ENCODERS, TINY, assert_sparse, good, with_scipy
from latebind.integrations.sentence_transformers import SparseEncoder

TEXTS = SPARSE["texts"]
BERT, FEW = SPARSE_ENCODERS / "bert", SPARSE_ENCODERS / "distilbert"
EXPECTED = SPARSE["vectors"]["bert"]


def written_out(expected):
    """float32[n, 45]"""
    found = numpy.zeros((len(expected), 45), numpy.float32)
    for row, each in zip(found, expected, strict=True):
        row[each["indices"]] = each["values"]
    return found


DENSE, QUERIES = written_out(EXPECTED), written_out(SPARSE["query"])


@pytest.fixture(scope="module")
def model():
    return SparseEncoder(BERT, device="native")


# -- Vectors -----------------------------------------------------------------------------------------------------------


def test_without_scipy_they_are_those_of_the_package(model):
    for found in (model.encode(TEXTS), model.encode(sentences=TEXTS), model.encode_document(TEXTS, batch_size=8)):
        assert isinstance(found, latebind.SparseVectors)
        assert_sparse(found, EXPECTED)
    assert_sparse(model.encode_query(TEXTS, show_progress_bar=False, save_to_cpu=True), SPARSE["query"])
    assert_sparse(model.encode(TEXTS, "query"), SPARSE["query"])
    assert model.encode("a").shape == (1, 45) and model.encode([]).shape == (0, 45)


def test_where_there_is_scipy_they_are_its_matrices(model, monkeypatch):
    with_scipy(monkeypatch)
    found = model.encode(TEXTS)
    assert type(found).__name__ == "CsrMatrix" and found.shape == (len(TEXTS), 45)
    assert numpy.concatenate([each["indices"] for each in EXPECTED]).tolist() == found.indices.tolist()
    numpy.testing.assert_allclose(model.similarity(found, found), DENSE @ DENSE.T, atol=1e-4)
    assert model.decode(found, 1)[1][0][0] == "over"


def test_they_are_written_out_with_zeros(model):
    found = model.encode(TEXTS, convert_to_sparse_tensor=False)
    assert (found.dtype, found.shape) == (numpy.float32, (len(TEXTS), 45))
    numpy.testing.assert_allclose(found, DENSE, atol=1e-5)
    numpy.testing.assert_allclose(model.encode(TEXTS[1], convert_to_sparse_tensor=False), DENSE[1], atol=1e-5)


def test_only_the_largest_weights_are_kept(model):
    few = SparseEncoder(model.sparse_encoder, max_active_dims=4)
    assert few.max_active_dims == 4 and model.max_active_dims is None
    assert numpy.diff(few.encode(TEXTS).indptr).max() == 4
    assert numpy.diff(few.encode(TEXTS, max_active_dims=2).indptr).max() == 2
    own = SparseEncoder(FEW, device="native")
    assert own.max_active_dims == 5
    assert_sparse(own.encode(TEXTS), SPARSE["vectors"]["distilbert"])
    for use in (lambda: own.encode(TEXTS, max_active_dims=6), lambda: SparseEncoder(FEW, max_active_dims=6)):
        with pytest.raises(latebind.CallerError, match="max_active_dims is 6, and the model keeps 5"):
            use()


def test_prompts_come_before_the_texts(model):
    prompted = SparseEncoder(model.sparse_encoder, prompts={"other": "the cat "}, default_prompt_name="other")
    assert prompted.prompts == {"query": "the cat ", "document": "", "other": "the cat "}
    assert_sparse(prompted.encode(TEXTS), SPARSE["query"])
    assert_sparse(prompted.encode(TEXTS, prompt=""), EXPECTED)
    assert_sparse(prompted.encode_document(TEXTS), EXPECTED)
    with pytest.raises(latebind.CallerError, match="no prompt 'nope'; known: query, document"):
        model.encode(TEXTS, prompt_name="nope")


# -- What is done with them --------------------------------------------------------------------------------------------

SIMILARITIES = {
    "dot": lambda a, b: a @ b,
    "cosine": lambda a, b: a @ b / max(numpy.linalg.norm(a) * numpy.linalg.norm(b), 1e-12),
    "euclidean": lambda a, b: -numpy.linalg.norm(a - b),
    "manhattan": lambda a, b: -numpy.abs(a - b).sum(),
}


@pytest.mark.parametrize("name", SIMILARITIES)
def test_similarities_are_those_of_vectors_with_zeros(model, name):
    chosen = SparseEncoder(model.sparse_encoder, similarity_fn_name=name)
    documents, queries = model.encode(TEXTS), model.encode_query(TEXTS[:3])
    assert chosen.similarity_fn_name == name
    expected = numpy.array([[SIMILARITIES[name](query, each) for each in DENSE] for query in QUERIES[:3]])
    for first in (queries, QUERIES[:3], QUERIES[:3].tolist(), list(QUERIES[:3]), [queries]):
        found = chosen.similarity(first, documents)
        assert (found.dtype, found.shape) == (numpy.float32, (3, len(TEXTS)))
        numpy.testing.assert_allclose(found, expected, atol=1e-4)
    pairs = chosen.similarity_pairwise(queries, DENSE[:3])
    numpy.testing.assert_allclose(pairs, numpy.diagonal(expected), atol=1e-4)
    numpy.testing.assert_allclose(chosen.similarity(QUERIES[0], DENSE[1]), expected[:1, 1:2], atol=1e-4)
    zeros = numpy.zeros((1, 45))
    numpy.testing.assert_allclose(
        chosen.similarity(zeros, DENSE)[0], [SIMILARITIES[name](zeros[0], each) for each in DENSE], atol=1e-4
    )


def test_dot_is_what_a_model_says_nothing_of(model):
    assert model.similarity_fn_name == "dot"
    model.similarity_fn_name = "cosine"
    assert model.similarity_fn_name == "cosine"
    model.similarity_fn_name = "dot"
    with pytest.raises(latebind.CallerError, match="similarity_fn_name is 'maxsim'; known: cosine"):
        model.similarity_fn_name = "maxsim"


def test_what_cannot_be_compared_is_named(model):
    documents = model.encode(TEXTS)
    for use, text in (
        (lambda: model.similarity(documents, numpy.zeros((2, 44))), r"shapes \(7, 45\) and \(2, 44\)"),
        (lambda: model.similarity_pairwise(documents, DENSE[:2]), r"shapes \(7, 45\) and \(2, 45\)"),
        (lambda: model.similarity(documents, "a"), "these are not vectors"),
        (lambda: model.similarity(documents, numpy.zeros((1, 2, 3))), r"the shape \(1, 2, 3\)"),
        (lambda: model.similarity([documents, numpy.zeros(3)], documents), "have 45, 3 numbers"),
        (lambda: model.decode(numpy.zeros(44)), "have 44 numbers, and the model's have 45"),
        (lambda: model.decode(documents, 0), "top_k is 0"),
    ):
        with pytest.raises(latebind.CallerError, match=text):
            use()


def test_sparsity_counts_weights(model):
    count = sum(len(each["indices"]) for each in EXPECTED) / len(TEXTS)
    for given in (model.encode(TEXTS), DENSE):
        assert SparseEncoder.sparsity(given) == pytest.approx(
            {"active_dims": count, "sparsity_ratio": 1 - count / 45}, abs=1e-9
        )
    assert SparseEncoder.sparsity(DENSE[0])["active_dims"] == len(EXPECTED[0]["indices"])
    assert SparseEncoder.sparsity(model.encode([])) == {"active_dims": 0.0, "sparsity_ratio": 1.0}


def test_tokens_are_decoded_best_first(model):
    found = model.decode(model.encode(TEXTS), top_k=3)
    assert len(found) == len(TEXTS) and [token for token, _ in found[1]] == ["over", "!", "not"]
    assert [weight for _, weight in found[1]] == pytest.approx(sorted(EXPECTED[1]["values"])[:-4:-1], abs=1e-5)
    assert [token for token, _ in model.decode(DENSE[1], 3)] == ["over", "!", "not"]
    assert len(model.decode(DENSE[1])) == len(EXPECTED[1]["indices"])
    assert model.decode(numpy.zeros((2, 45))) == [[], []]


# -- What it is --------------------------------------------------------------------------------------------------------


def test_what_it_says_of_itself(model):
    assert model.get_embedding_dimension() == model.get_sentence_embedding_dimension() == 45
    assert model.max_seq_length == model.get_max_seq_length() == 20
    assert (model.device, model.eval()) == ("native", model)
    assert repr(model).startswith("SparseEncoder(<SparseEncoder ")
    other = SparseEncoder(str(BERT), device="native", max_tokens=12, revision="main", token=None, backend="torch")
    assert other.max_seq_length == 12
    other.max_seq_length = 8
    assert other.sparse_encoder.max_tokens == 8


def test_a_pickled_one_is_its_arguments():
    first = SparseEncoder(BERT, device="native", prompts={"query": "the cat "}, max_active_dims=3)
    second = pickle.loads(pickle.dumps(first))
    assert (second.device, second.prompts, second.max_active_dims) == ("native", first.prompts, 3)
    assert second.encode(TEXTS).to_dicts() == first.encode(TEXTS).to_dicts()
    first.sparse_encoder.close()
    second.sparse_encoder.close()


def test_it_imports_neither_torch_nor_the_package_that_it_is_like():
    code = "import sys\nfrom latebind.integrations.sentence_transformers import SparseEncoder\n"
    assert good(code + "print({'torch', 'sentence_transformers', 'scipy'} & set(sys.modules))") == "set()\n"


# -- What is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"cache_folder": "/tmp"}, "cache_folder: models are in the hub's cache"),
        ({"model_kwargs": {"torch_dtype": "float16"}}, "model_kwargs: .*precision"),
        ({"modules": [1]}, "modules: it contains no PyTorch modules"),
        ({"backend": "onnx"}, 'backend: .*device="onnxruntime"'),
        ({"similarity_fn_name": "maxsim"}, "similarity_fn_name is 'maxsim'"),
        ({"max_active_dims": 0}, "max_active_dims is 0"),
        ({"prompts": ["q"]}, "prompts is list"),
        ({"device": "cuda"}, "cuda"),
        ({"batch_tokns": 3}, r"did you mean batch_tokens\?"),
    ],
)
def test_arguments_of_the_constructor_that_cannot_be_met_are_refused_by_name(arguments, text):
    with pytest.raises(latebind.CallerError, match=text):
        SparseEncoder(BERT, **arguments)


def test_models_that_are_none_of_these_are_refused(model, tiny):
    for other in (TINY, CLASSIFIER):
        with pytest.raises(latebind.CallerError):
            SparseEncoder(other)
    with pytest.raises(latebind.CallerTypeError, match="model is Embedder"):
        SparseEncoder(tiny)
    with pytest.raises(latebind.CallerError, match="max_tokens: the SparseEncoder is open and has its settings"):
        SparseEncoder(model.sparse_encoder, max_tokens=5)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"device": "cuda:0"}, "device is 'cuda:0', and the model was opened with 'native': .*SparseEncoder"),
        ({"pool": {}}, "pool: one process"),
        ({"chunk_size": 5}, "chunk_size: one process"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"show_progress_bar": "yes"}, "show_progress_bar is str"),
        ({"save_to_cpu": "yes"}, "save_to_cpu is str"),
        ({"convert_to_tensor": "yes"}, "convert_to_tensor is str"),
        ({"convert_to_sparse_tensor": 1}, "convert_to_sparse_tensor is int"),
        ({"prompt": 3}, "prompt is int"),
        ({"processing_kwargs": {}}, "no argument 'processing_kwargs'"),
        ({"sentences": TEXTS}, "as inputs, or as sentences"),
    ],
)
def test_arguments_of_calls_that_cannot_be_met_are_refused_by_name(model, arguments, text):
    with pytest.raises(latebind.CallerError, match=text):
        model.encode(TEXTS, **arguments)


def test_tensors_need_torch(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for wanted in (True, False):
        with pytest.raises(latebind.LibraryError, match='torch, for convert_to_tensor, .*pip install "torch"'):
            model.encode(TEXTS, convert_to_tensor=wanted)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("fit", "does not support training"),
        ("save_pretrained", "its folder is model.sparse_encoder.folder"),
        ("half", r"chosen once, as SparseEncoder\("),
        ("intersection", r"a.multiply\(b\)"),
        ("splade_pooling_chunk_size", "pooling is part of Latebind's computation"),
        ("tokenizer", "Latebind's own"),
    ],
)
def test_methods_that_are_not_there_say_why(model, name, text):
    with pytest.raises(latebind.CallerError, match=f"^{name}: .*{text}"):
        getattr(model, name)
    assert not hasattr(model, name)
