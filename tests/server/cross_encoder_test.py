"""latebind serve with a cross-encoder beside an embedder: reranking, and what other paths say to such a model."""

import json
import math
import random

import pytest
from daemon import SOURCE, TINY, Daemon

FOLDER = SOURCE / "tests" / "data" / "cross_encoders"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
PAIRS = [(i, query, text) for i, (query, text) in enumerate(EXPECTED["pairs"]) if query and text]
QUERY = PAIRS[0][1]
DOCUMENTS = [(i, text) for i, query, text in PAIRS if query == QUERY]
TEXTS = [text for _, text in DOCUMENTS]
NAME = "ranker"


def logits():
    return [EXPECTED["logits"]["electra"][i][0] for i, _ in DOCUMENTS]


def relevances():
    return [1 / (1 + math.exp(-x)) for x in logits()]


@pytest.fixture(scope="module")
def daemon():
    models = (f"{NAME}={FOLDER / 'electra'}", f"labels={FOLDER / 'roberta'}", f"tiny={TINY}")
    with Daemon("--device", "native:CPU", models=models) as running:
        yield running


def post(daemon, path, **body):
    return daemon.ask("POST", path, body)


def best_first(scores):
    return sorted(range(len(scores)), key=lambda i: -scores[i])


def test_as_text_embeddings_inference(daemon):
    assert len(TEXTS) > 3
    found = post(daemon, "/rerank", query=QUERY, texts=TEXTS).json()
    assert [one["index"] for one in found] == best_first(relevances())
    assert all(set(one) == {"index", "score"} for one in found)
    for one in found:
        assert one["score"] == pytest.approx(relevances()[one["index"]], abs=1e-5)
    found = post(daemon, "/rerank", query=QUERY, texts=TEXTS, raw_scores=True, return_text=True).json()
    for one in found:
        assert one["score"] == pytest.approx(logits()[one["index"]], abs=1e-5)
        assert one["text"] == TEXTS[one["index"]]


@pytest.mark.parametrize("path", ["/score", "/v1/score"])
def test_as_vllm(daemon, path):
    for model in ({}, {"model": NAME}):
        found = post(daemon, path, text_1=QUERY, text_2=TEXTS, **model).json()
        assert found["model"] == NAME and [one["index"] for one in found["data"]] == list(range(len(TEXTS)))
        assert [one["score"] for one in found["data"]] == pytest.approx(relevances(), abs=1e-5)
    pairs = post(daemon, path, text_1=[QUERY] * len(TEXTS), text_2=TEXTS).json()
    assert [one["score"] for one in pairs["data"]] == pytest.approx(relevances(), abs=1e-5)
    several = post(daemon, path, model="labels", text_1=[QUERY] * 2, text_2=TEXTS[:2])
    assert several.status == 400 and "error" in several.json()


@pytest.mark.parametrize("path", ["/v1/rerank", "/v2/rerank", "/v3/rerank", "/rerank", "/api/v1/rerank/"])
def test_as_jina_and_cohere(daemon, path):
    documents = [text if i % 2 else {"text": text} for i, text in enumerate(TEXTS)]
    found = post(daemon, path, model=NAME, query=QUERY, documents=documents).json()
    assert found["model"] == NAME and found["usage"]["total_tokens"] > len(TEXTS)
    assert [one["index"] for one in found["results"]] == best_first(relevances())
    for one in found["results"]:
        assert one["relevance_score"] == pytest.approx(relevances()[one["index"]], abs=1e-5)
        assert "document" not in one
    best = post(daemon, path, query=QUERY, documents=TEXTS, top_n=2, return_documents=True).json()["results"]
    assert [one["document"]["text"] for one in best] == [TEXTS[i] for i in best_first(relevances())[:2]]


def test_many_documents_are_one_request(daemon):
    texts = random.Random(3).choices(TEXTS, k=1000)
    by_text = dict(zip(TEXTS, relevances()))
    found = post(daemon, "/rerank", query=QUERY, texts=texts).json()
    assert sorted(one["index"] for one in found) == list(range(1000))
    for one in found:
        assert one["score"] == pytest.approx(by_text[texts[one["index"]]], abs=1e-5)
    status = daemon.status()
    (model,) = (model for model in status["models"] if model["name"] == NAME)
    assert model["kind"] == "cross-encoder" and model["labels"] == ["LABEL_0"]
    assert max(batch["texts"] for batch in model["batches"]) > 1


def test_the_first_model_that_can_answers(daemon):
    assert len(post(daemon, "/embed", inputs="a text").json()[0]) == 32
    assert post(daemon, "/rerank", query="a", texts=["b"]).status == 200


def message(answer):
    body = answer.json()
    return body.get("message") or body.get("error", {})


def test_bad_requests(daemon):
    for path, member in (("/rerank", "texts"), ("/v1/rerank", "documents")):
        assert post(daemon, path, query="a", **{member: []}).status == 400
        assert post(daemon, path, query="a").status in (400, 422)
        assert post(daemon, path, query="a", **{member: [1]}).status in (400, 422)
        assert post(daemon, path, query="a", **{member: "b"}).status in (400, 422)
        assert post(daemon, path, **{member: ["b"]}).status in (400, 422)
        assert post(daemon, path, query="a", **{member: ["b"] * 2049}).status in (400, 422)
    answer = post(daemon, "/v1/rerank", model="labels", query="a", documents=["b"])
    assert answer.status == 400 and "does not give scores for two texts" in message(answer)
    answer = post(daemon, "/v1/rerank", model="tiny", query="a", documents=["b"])
    assert answer.status == 400 and "use a cross-encoder" in message(answer)
    assert post(daemon, "/v1/rerank", model="none", query="a", documents=["b"]).status == 404
    assert post(daemon, "/v1/rerank", query="a", documents=["b"], top_n=0).status == 400
    assert post(daemon, "/rerank", query="a", texts=["b " * 300], truncate=False).status == 413
    refused = post(daemon, "/v1/rerank", query="a", documents=["c", "b " * 300], truncate=False)
    assert refused.status == 413 and "documents[1]: the text has 304 tokens; at most " in refused.json()["message"]
    cut = post(daemon, "/v1/rerank", query="a", documents=["c", "b " * 300])
    assert cut.json()["usage"]["truncated_texts"] == 1 and cut.headers["x-latebind-truncated-texts"] == "1"


def test_documents_have_no_limit_of_their_own(daemon):
    plain = post(daemon, "/v2/rerank", query=QUERY, documents=TEXTS).json()
    assert post(daemon, "/v2/rerank", query=QUERY, documents=TEXTS, max_tokens_per_doc=4096).json() == plain
    answer = post(daemon, "/v2/rerank", query=QUERY, documents=TEXTS, max_tokens_per_doc=2)
    assert answer.status == 400 and "'max_tokens_per_doc' is 2, but documents are cut only together with" in message(answer)
    for wrong in (0, "x", 1.5):
        assert post(daemon, "/v2/rerank", query=QUERY, documents=TEXTS, max_tokens_per_doc=wrong).status == 400


def test_other_protocols_refuse_it_by_name(daemon):
    answer = daemon.embed("a text", model=NAME)
    assert answer.status == 400 and "does not make vectors of texts" in answer.json()["error"]["message"]
    assert post(daemon, "/api/embed", model=NAME, input="a").status == 400
    assert NAME in [model["id"] for model in daemon.get("/v1/models").json()["data"]]
    kind = daemon.get("/info").json()["model_type"]
    assert kind == {"reranker": {"id2label": {"0": "LABEL_0"}, "label2id": {"LABEL_0": 0}}}
    assert post(daemon, "/tokenize", inputs="a text").status == 200
    for path in ("/", "/metrics", "/api/tags", "/v2/repository/index", "/latebind/status"):
        assert daemon.get(path).status in (200, 404, 405), path


def infer(daemon, model, parameters=None, **inputs):
    tensors = [{"name": n, "datatype": "BYTES", "shape": [len(data)], "data": data} for n, data in inputs.items()]
    return post(daemon, f"/v2/models/{model}/infer", inputs=tensors, parameters=parameters or {})


def scores_of(answer):
    (output,) = answer.json()["outputs"]
    assert output["name"] == "score" and output["datatype"] == "FP32"
    return output["shape"], output["data"]


def test_as_kserve(daemon):
    about = daemon.get(f"/v2/models/{NAME}").json()
    assert [one["name"] for one in about["inputs"]] == ["text", "text_pair"]
    assert about["outputs"] == [{"name": "score", "datatype": "FP32", "shape": [-1, 1]}]
    queries = [QUERY] * len(TEXTS)
    wanted = [EXPECTED["scores"]["electra"][i][0] for i, _ in DOCUMENTS]
    shape, found = scores_of(infer(daemon, NAME, text=queries, text_pair=TEXTS))
    assert shape == [len(TEXTS), 1] and found == pytest.approx(wanted, abs=1e-5)
    _, found = scores_of(infer(daemon, NAME, {"raw_scores": True}, text_pair=TEXTS, text=queries))
    assert found == pytest.approx(logits(), abs=1e-5)
    pairs = [(i, query, text) for i, query, text in PAIRS][:5]
    shape, found = scores_of(
        infer(daemon, "labels", text=[one[1] for one in pairs], text_pair=[one[2] for one in pairs])
    )
    assert shape == [5, 3]
    assert found == pytest.approx([x for i, _, _ in pairs for x in EXPECTED["scores"]["roberta"][i]], abs=1e-5)
    shape, found = scores_of(infer(daemon, "labels", text=["a text"]))
    assert shape == [1, 3]


def test_bad_requests_of_kserve(daemon):
    for inputs, words in (
        ({"text": ["a"], "text_pair": ["a", "b"]}, "text has 1 texts, and text_pair has 2"),
        ({"text_pair": ["a"]}, "the input text is missing"),
        ({"query": ["a"]}, "the model has the inputs text and text_pair"),
        ({"text": []}, "with at least one text"),
    ):
        answer = infer(daemon, NAME, **inputs)
        assert answer.status == 400 and words in answer.json()["error"], inputs
    for parameters in ({"normalize": False}, {"dimensions": 2}, {"task": "x"}, {"prompt_name": "x"}, {"role": "query"}):
        answer = infer(daemon, NAME, parameters, text=["a"], text_pair=["b"])
        (name,) = parameters
        assert answer.status == 400 and f"'{name}' is for embedders, and {NAME} is not one" in answer.json()["error"]
    for parameters in ({"instruct": "x"}, {"raw_scores": True}):
        answer = infer(daemon, "tiny", parameters, text=["a"])
        assert answer.status == 400 and "is for cross-encoders, and tiny is not one" in answer.json()["error"]
    answer = infer(daemon, NAME, text=["a"] * 2049, text_pair=["b"] * 2049)
    assert answer.status == 400 and "2049 text in one request" in answer.json()["error"]


@pytest.fixture(scope="module")
def classifier():
    """A model of three labels, the first that is served."""
    with Daemon("--device", "native:CPU", models=(f"labels={FOLDER / 'roberta'}",)) as running:
        yield running


LABELS = ["contradiction", "entailment", "neutral"]


def shares(numbers):
    powers = [math.exp(x - max(numbers)) for x in numbers]
    return [power / sum(powers) for power in powers]


def assert_labels(found, numbers):
    assert [one["label"] for one in found] == [LABELS[i] for i in best_first(numbers)]
    for one in found:
        assert one["score"] == pytest.approx(numbers[LABELS.index(one["label"])], abs=1e-5)


def test_labels_of_pairs(classifier):
    pairs = [(i, query, text) for i, query, text in PAIRS][:20]
    logits = [EXPECTED["logits"]["roberta"][i] for i, _, _ in pairs]
    several = [[query, text] for _, query, text in pairs]
    for found, numbers in zip(post(classifier, "/predict", inputs=several).json(), logits, strict=True):
        assert_labels(found, shares(numbers))
    answer = post(classifier, "/predict", inputs=several, role="query")
    assert answer.status == 422 and "classified texts have none" in answer.json()["error"]
    for found, numbers in zip(post(classifier, "/predict", inputs=several, raw_scores=True).json(), logits, strict=True):
        assert_labels(found, numbers)
    assert_labels(post(classifier, "/predict", inputs=several[0]).json(), shares(logits[0]))
    kind = classifier.get("/info").json()["model_type"]["classifier"]
    assert kind["id2label"] == {str(i): label for i, label in enumerate(LABELS)}


def test_labels_of_single_texts(classifier):
    one = post(classifier, "/predict", inputs="a text").json()
    assert sum(label["score"] for label in one) == pytest.approx(1, abs=1e-6)
    assert post(classifier, "/predict", inputs=["a text"]).json() == one
    assert post(classifier, "/predict", inputs=[["a text"]]).json() == [one]
    many = post(classifier, "/predict", inputs=[["a text"], ["another"]] * 100).json()
    assert len(many) == 200 and {label["label"] for label in many[0]} == set(LABELS)


def test_one_label_has_a_sigmoids_score(daemon):
    ((found,),) = post(daemon, "/predict", inputs=[[QUERY, TEXTS[0]]]).json()
    assert found == {"score": pytest.approx(relevances()[0], abs=1e-5), "label": "LABEL_0"}


def test_bad_requests_for_labels(classifier, daemon):
    for inputs in (1, [1], ["a", "b", "c"], [["a", "b", "c"]], [["a"], "b"], [["a"], ["a", "b"]], [[]], [["a", 1]]):
        assert post(classifier, "/predict", inputs=inputs).status == 422, inputs
    assert post(classifier, "/predict", inputs=[]).status == 400
    assert post(classifier, "/predict").status == 422
    assert post(classifier, "/predict", inputs=[["a"]] * 2049).status == 422
    assert post(classifier, "/predict", inputs="b " * 300, truncate=False).status == 413


RERANKERS = SOURCE / "tests" / "data" / "rerankers"
JUDGED = json.loads((RERANKERS / "expected.json").read_text())


@pytest.fixture(scope="module")
def judge():
    late = SOURCE / "tests" / "data" / "multi_vector_encoders" / "bert"
    with Daemon("--device", "native:CPU", models=(f"judge={RERANKERS / 'qwen3'}", f"tiny={TINY}", f"late={late}")) as running:
        yield running


def judged(key, query):
    pairs = [(i, text) for i, (other, text) in enumerate(JUDGED["pairs"]) if other == query and text]
    return [text for _, text in pairs], [JUDGED["models"]["qwen3"][key][i] for i, _ in pairs]


def test_a_language_model_takes_an_instruction(judge):
    query = JUDGED["pairs"][0][0]
    for key, given in (
        ("logits", {}),
        ("instructed", {"instruct": JUDGED["instruction"]}),
        ("uninstructed", {"instruct": ""}),
    ):
        texts, wanted = judged(key, query)
        found = post(judge, "/rerank", query=query, texts=texts, raw_scores=True, **given).json()
        assert [one["index"] for one in found] == best_first(wanted)
        for one in found:
            assert one["score"] == pytest.approx(wanted[one["index"]], abs=1e-5)
        for path in ("/v1/rerank", "/v2/rerank"):
            found = post(judge, path, query=query, documents=texts, **given).json()["results"]
            assert [one["index"] for one in found] == best_first(wanted)
        found = post(judge, "/score", text_1=query, text_2=texts, **given).json()["data"]
        assert best_first([one["score"] for one in found]) == best_first(wanted)
        several = post(judge, "/score", text_1=[query] * len(texts), text_2=texts, **given).json()["data"]
        assert [one["score"] for one in several] == pytest.approx([one["score"] for one in found], abs=1e-6)
        pairs = [[query, text] for text in texts]
        labels = post(judge, "/predict", inputs=pairs, raw_scores=True, **given).json()
        assert [one["score"] for (one,) in labels] == pytest.approx(wanted, abs=1e-5)
        _, found = scores_of(infer(judge, "judge", {"raw_scores": True, **given}, text=[query] * len(texts), text_pair=texts))
        assert found == pytest.approx(wanted, abs=1e-5)


def test_a_single_text_has_no_place_in_a_chat_template(judge):
    words = b"the model takes two texts in a chat template; a single text has no place in it"
    for answer in (post(judge, "/predict", inputs="a text"), infer(judge, "judge", text=["a text"])):
        assert answer.status >= 400 and words in answer.body


def test_only_cross_encoders_take_an_instruction(judge):
    for path, body in (
        ("/v1/rerank", {"query": "q", "documents": ["d"]}),
        ("/score", {"text_1": "q", "text_2": ["d"]}),
    ):
        refused = post(judge, path, model="late", instruct="x", **body)
        assert refused.status >= 400 and b"'instruct' is for cross-encoders, and late is not one" in refused.body
