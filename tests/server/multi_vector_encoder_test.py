"""latebind serve with a multi-vector encoder: the vectors of its tokens, and documents ranked by MaxSim."""

import json

import pytest
from daemon import SOURCE, TINY, Daemon

FOLDER = SOURCE / "tests" / "data" / "multi_vector_encoders"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
TEXTS = EXPECTED["texts"]
SCORES = EXPECTED["scores"]["bert"]


@pytest.fixture(scope="module")
def daemon():
    # The first model could answer for tokens, too.
    models = (f"tiny={TINY}", f"late={FOLDER / 'bert'}")
    with Daemon("--device", "native:CPU", "--token-vectors", models=models) as running:
        yield running


def post(daemon, path, **body):
    return daemon.ask("POST", path, body)


def assert_same(found, expected):
    assert len(found) == len(expected) > 0
    for one, wanted in zip(found, expected, strict=True):
        assert len(one) == len(wanted)
        for vector, numbers in zip(one, wanted, strict=True):
            assert vector == pytest.approx(numbers, abs=1e-5)


def test_documents_unless_the_role_says_otherwise(daemon):
    answer = post(daemon, "/embed_all", inputs=TEXTS)
    assert_same(answer.json(), EXPECTED["documents"]["bert"])
    assert answer.headers["x-latebind-device"] == "native:CPU"
    assert_same(post(daemon, "/embed_all", inputs=TEXTS, role="document").json(), EXPECTED["documents"]["bert"])
    assert_same(post(daemon, "/embed_all", inputs=TEXTS, role="query").json(), EXPECTED["queries"]["bert"])
    assert_same(post(daemon, "/embed_all", inputs=TEXTS[1], role="query").json(), EXPECTED["queries"]["bert"][1:2])


def ranked(row):
    return sorted(range(len(row)), key=lambda i: (-row[i], i))


@pytest.mark.parametrize("query", range(len(TEXTS)))
def test_ranks_are_by_maxsim(daemon, query):
    row = SCORES[query]
    found = post(daemon, "/rerank", query=TEXTS[query], texts=TEXTS, return_text=True).json()
    assert [one["score"] for one in found] == pytest.approx(sorted(row, reverse=True), rel=1e-5)
    assert [one["text"] for one in found] == [TEXTS[one["index"]] for one in found]
    assert [row[one["index"]] for one in found] == pytest.approx([row[i] for i in ranked(row)], rel=1e-5)
    for path, body in (("/v1/rerank", {"documents": TEXTS}), ("/v2/rerank", {"documents": TEXTS, "top_n": 2})):
        results = post(daemon, path, model="late", query=TEXTS[query], **body).json()["results"]
        wanted = sorted(row, reverse=True)[: body.get("top_n")]
        assert [one["relevance_score"] for one in results] == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("path", ["/rerank", "/v1/rerank", "/v2/rerank"])
def test_a_ranking_has_no_role(daemon, path):
    answer = post(daemon, path, model="late", query=TEXTS[0], texts=TEXTS, documents=TEXTS, role="query")
    assert answer.status in (400, 422) and "documents of a ranking have fixed roles" in json.dumps(answer.json())


def test_many_documents_in_one_request(daemon):
    found = post(daemon, "/rerank", query=TEXTS[1], texts=TEXTS * 200).json()
    assert len(found) == 200 * len(TEXTS)
    assert found[0]["score"] == pytest.approx(max(SCORES[1]), rel=1e-5)


def test_status_and_info_name_it(daemon):
    (model,) = (model for model in daemon.status()["models"] if model["name"] == "late")
    assert model["kind"] == "multi-vector-encoder" and model["dimension"] == len(EXPECTED["documents"]["bert"][1][0])
    with Daemon("--device", "native:CPU", models=(f"late={FOLDER / 'bert'}",)) as one:
        assert one.get("/info").json()["model_type"] == {"embedding": {"pooling": "none"}}


def test_bad_requests_and_other_protocols(daemon):
    assert post(daemon, "/rerank", query="a", texts=[]).status == 400
    assert post(daemon, "/rerank", query="a", texts=["a"] * 2049).status == 422
    assert post(daemon, "/rerank", query="a", texts=["b " * 300], truncate=False).status == 413
    refused = post(daemon, "/rerank", query="b " * 300, texts=["a"], truncate=False)
    assert refused.status == 413 and "query: the text has " in refused.json()["error"]
    cut = post(daemon, "/rerank", query="b " * 300, texts=["a", "b " * 300])
    assert cut.headers["x-latebind-truncated-texts"] == "2"
    answer = daemon.embed("a text", model="late")
    assert answer.status == 400 and "does not make vectors of texts" in answer.json()["error"]["message"]
    assert "is a multi-vector encoder" in json.dumps(daemon.get("/v2/models/late").json())
    for path in ("/", "/metrics", "/api/tags", "/v2/repository/index", "/latebind/status"):
        assert daemon.get(path).status in (200, 404, 405), path
