"""latebind serve with a sparse encoder beside an embedder: its weights, and what other paths say to such a model."""

import json

import pytest
from daemon import SOURCE, TINY, Daemon

FOLDER = SOURCE / "tests" / "data" / "sparse_encoders"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
TEXTS = EXPECTED["texts"]


@pytest.fixture(scope="module")
def daemon():
    models = (f"sparse={FOLDER / 'bert'}", f"tiny={TINY}")
    with Daemon("--device", "native:CPU", models=models) as running:
        yield running


def post(daemon, path, **body):
    return daemon.ask("POST", path, body)


def assert_same(found, expected):
    assert len(found) == len(expected) > 0
    for entries, wanted in zip(found, expected, strict=True):
        assert [entry["index"] for entry in entries] == wanted["indices"]
        assert [entry["value"] for entry in entries] == pytest.approx(wanted["values"], abs=1e-5)


def test_as_text_embeddings_inference(daemon):
    answer = post(daemon, "/embed_sparse", inputs=TEXTS)
    assert_same(answer.json(), EXPECTED["vectors"]["bert"])
    assert int(answer.headers["x-compute-tokens"]) > 0
    assert_same(post(daemon, "/embed_sparse", inputs=TEXTS, prompt_name="query").json(), EXPECTED["query"])
    assert_same(post(daemon, "/embed_sparse", inputs=TEXTS[1]).json(), EXPECTED["vectors"]["bert"][1:2])
    assert_same(post(daemon, "/embed_sparse", inputs=TEXTS * 200).json(), EXPECTED["vectors"]["bert"] * 200)


def test_token_ids(daemon):
    tokens = [token["id"] for token in post(daemon, "/tokenize", inputs=TEXTS[1]).json()[0]]
    assert_same(post(daemon, "/embed_sparse", inputs=[tokens]).json(), EXPECTED["vectors"]["bert"][1:2])


def test_the_first_model_that_can_answers(daemon):
    assert len(post(daemon, "/embed", inputs="a text").json()[0]) == 32
    assert daemon.get("/info").json()["model_type"] == {"embedding": {"pooling": "splade"}}
    (model,) = (model for model in daemon.status()["models"] if model["name"] == "sparse")
    assert model["kind"] == "sparse-encoder" and model["vocabulary_size"] == 45


def test_bad_requests(daemon):
    assert post(daemon, "/embed_sparse", inputs=[]).status == 400
    assert post(daemon, "/embed_sparse").status == 422
    assert post(daemon, "/embed_sparse", inputs=[1, "a"]).status == 422
    assert post(daemon, "/embed_sparse", inputs=["a"] * 2049).status == 422
    assert post(daemon, "/embed_sparse", inputs="b " * 300, truncate=False).status == 413
    assert post(daemon, "/embed_sparse", inputs="a", prompt_name="none").status == 422


def test_other_protocols_refuse_it_by_name(daemon):
    answer = daemon.embed("a text", model="sparse")
    assert answer.status == 400 and "does not make vectors of texts" in answer.json()["error"]["message"]
    assert post(daemon, "/api/embed", model="sparse", input="a").status == 400
    infer = {"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "data": ["a"]}]}
    answer = post(daemon, "/v2/models/sparse/infer", **infer)
    assert answer.status == 400 and "is a sparse encoder" in json.dumps(answer.json())
    assert daemon.get("/v2/models/sparse").status == 400
    answer = post(daemon, "/v1/rerank", model="sparse", query="a", documents=["b"])
    assert answer.status == 400 and "use a cross-encoder" in answer.json()["message"]
    for path in ("/", "/metrics", "/api/tags", "/v2/repository/index", "/latebind/status"):
        assert daemon.get(path).status in (200, 404, 405), path


def test_without_one_it_is_refused(tmp_path):
    with Daemon("--device", "native:CPU", models=(f"tiny={TINY}",)) as running:
        for path in ("/embed_sparse", "/predict"):
            assert post(running, path, inputs="a").status == 400
