"""latebind serve with routers: the reference's vectors of queries and of documents, and which device a query had."""

import json

import pytest
from daemon import SOURCE, TINY, Daemon

FOLDER = SOURCE / "tests" / "data" / "routers"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
TEXTS, VECTORS = EXPECTED["texts"], EXPECTED["vectors"]


@pytest.fixture(scope="module")
def daemon():
    models = (f"networks={FOLDER / 'networks'}", f"sparse={FOLDER / 'sparse'}")
    with Daemon("--device", "native:CPU", models=models) as running:
        yield running


def post(daemon, path, **body):
    return daemon.ask("POST", path, body)


def assert_same(answer, expected):
    found = answer.json()
    assert len(found) == len(expected) > 0
    for entries, wanted in zip(found, expected, strict=True):
        if isinstance(wanted, list):
            assert entries == pytest.approx(wanted, abs=1e-5)
        else:
            assert [entry["index"] for entry in entries] == wanted["indices"]
            assert [entry["value"] for entry in entries] == pytest.approx(wanted["values"], abs=1e-5)


def assert_same_vectors(found, expected):
    assert len(found) == len(expected) > 0
    for one, wanted in zip(found, expected, strict=True):
        assert one == pytest.approx(wanted, abs=1e-5)


def test_each_role_has_its_way(daemon):
    for role in ("query", "document"):
        assert_same(post(daemon, "/embed_sparse", inputs=TEXTS, role=role), VECTORS["sparse"][role])
        assert_same(post(daemon, "/embed", inputs=TEXTS, role=role, normalize=False), VECTORS["networks"][role])
    assert_same(post(daemon, "/embed_sparse", inputs=TEXTS), VECTORS["sparse"][""])


def test_each_protocol_takes_the_role(daemon):
    def length_1(vector):
        length = sum(number * number for number in vector) ** 0.5
        return [number / length for number in vector]

    for role in ("query", "document"):
        wanted = VECTORS["networks"][role]
        data = post(daemon, "/v1/embeddings", model="networks", input=TEXTS, role=role).json()["data"]
        assert_same_vectors([one["embedding"] for one in data], [length_1(vector) for vector in wanted])
        answer = post(daemon, "/api/embed", model="networks", input=TEXTS, role=role).json()
        assert_same_vectors(answer["embeddings"], [length_1(vector) for vector in wanted])
        answer = post(daemon, "/api/embeddings", model="networks", prompt=TEXTS[0], role=role).json()
        assert_same_vectors([answer["embedding"]], wanted[:1])
        first, *others = [length_1(vector) for vector in wanted]
        sentences = {"source_sentence": TEXTS[0], "sentences": TEXTS[1:]}
        for said in ({"parameters": {"role": role}}, {"role": role}, {"role": role, "parameters": {"role": role}}):
            similar = post(daemon, "/similarity", model="networks", inputs=sentences, **said).json()
            assert similar == pytest.approx([sum(map(float.__mul__, first, other)) for other in others], abs=1e-5)
    answer = post(daemon, "/similarity", inputs=sentences, role="query", parameters={"role": "document"})
    assert answer.status == 422 and "differs from the one in 'parameters'" in answer.json()["error"]
    assert post(daemon, "/similarity", inputs=sentences, role="question").status == 422
    for path, texts in (("/v1/embeddings", "input"), ("/api/embed", "input"), ("/api/embeddings", "prompt")):
        answer = post(daemon, path, model="networks", role="question", **{texts: "a"})
        assert answer.status == 400 and "must be query or document" in json.dumps(answer.json())


def test_a_query_of_a_table_had_no_device(daemon):
    for texts in (TEXTS, ""):
        query = post(daemon, "/embed_sparse", inputs=texts, role="query", prompt_name="")
        assert query.status == 200 and query.headers["x-latebind-device"] == "none"
        assert query.headers["x-compute-type"] == "none"
    document = post(daemon, "/embed_sparse", inputs=TEXTS, role="document")
    assert document.headers["x-latebind-device"] == "native:CPU"
    (model,) = (model for model in daemon.status()["models"] if model["name"] == "sparse")
    assert model["device"] == "native:CPU" and model["queries"] == {"device": "none", "max_tokens": 12}


def test_tokens_are_those_of_the_role(daemon):
    with Daemon("--device", "native:CPU", models=(f"sparse={FOLDER / 'sparse'}",)) as one:
        ids = {role: [token["id"] for token in post(one, "/tokenize", inputs="a dog", role=role, prompt_name="").json()[0]]
               for role in ("query", "document")}
        assert ids["document"][1:-1] == ids["query"]
        answer = post(one, "/embed_sparse", inputs=[ids["query"]], role="query")
        assert [entry["index"] for entry in answer.json()[0]] == sorted(
            set(ids["query"]) & {i for vector in VECTORS["sparse"]["query"] for i in vector["indices"]})
        assert post(one, "/embed_sparse", inputs=[[45]], role="query").status in (400, 422)


def test_who_does_not_say_the_role_is_asked(daemon):
    answer = post(daemon, "/embed", inputs="a")
    assert answer.status in (400, 422) and "give the role of the texts" in json.dumps(answer.json())
    answer = post(daemon, "/embed", inputs="a", role="question")
    assert answer.status == 422 and "must be query or document" in json.dumps(answer.json())
    assert daemon.embed("a", model="networks").status == 400
    infer = {"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "data": ["a dog"]}]}
    assert post(daemon, "/v2/models/networks/infer", **infer).status == 400
    answer = post(daemon, "/v2/models/networks/infer", **infer, parameters={"role": "query", "normalize": False})
    assert answer.json()["outputs"][0]["data"] == pytest.approx(VECTORS["networks"]["query"][TEXTS.index("a dog")], abs=1e-5)


def test_a_role_is_also_a_prompt_of_any_model(tmp_path):
    import shutil

    model = shutil.copytree(TINY, tmp_path / "model")
    (model / "config_sentence_transformers.json").write_text('{"prompts": {"query": "the cat "}}')
    with Daemon("--device", "native:CPU", models=(f"tiny={model}",)) as one:
        prompted = post(one, "/embed", inputs="sat", role="query").json()
        assert prompted == post(one, "/embed", inputs="the cat sat").json()
        assert post(one, "/embed", inputs="sat", role="document").json() == post(one, "/embed", inputs="sat").json()
