"""A model is asked for by every name that it has, by the clients that people have: first of all by the name that `latebind
serve` was given. Run by the Python of build/runtime/clients."""

import json
import os
import re

import cohere
import huggingface_hub
import langchain_openai
import numpy
import ollama
import openai
import pytest
import tritonclient.http as triton
from daemon import GOLDEN, MODEL, SOURCE, TINY, Daemon, run_serve, wait_for

ID = "sentence-transformers/all-MiniLM-L6-v2"
NAME = "all-MiniLM-L6-v2"
ALIAS = "text-embedding-3-small"
COMMIT = "c" * 40
RANKER = SOURCE / "tests" / "data" / "cross_encoders" / "electra"
TEXTS = [json.loads(line)["text"] for line in (GOLDEN / "minilm.jsonl").read_text().splitlines()][:20]
EXPECTED = numpy.load(GOLDEN / "minilm.npy")[:20]
NAMES = [ID, NAME, ALIAS, ID + ":latest", NAME + ":latest"]


def in_cache(cache, name, folder):
    """Puts a folder's files into a cache of the hub, as a name; the environment that has it without the network."""
    model = cache / ("models--" + name.replace("/", "--"))
    snapshot = model / "snapshots" / COMMIT
    for file in folder.rglob("*"):
        if file.is_file() and not file.name.startswith("."):
            place = snapshot / file.relative_to(folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            os.symlink(file, place)
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text(COMMIT)
    return {"HF_HUB_CACHE": str(cache), "HF_HUB_OFFLINE": "1"}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    env = in_cache(tmp_path_factory.mktemp("hub"), ID, MODEL)
    with Daemon(ID, f"ranker={RANKER}", "--alias", f"{ALIAS}={NAME}", models=(), env=env) as running:
        yield running


def agrees(vectors):
    found, expected = numpy.asarray(vectors, numpy.float64), EXPECTED[:len(vectors)].astype(numpy.float64)
    cosines = (found * expected).sum(1) / numpy.linalg.norm(found, axis=1) / numpy.linalg.norm(expected, axis=1)
    assert cosines.min() > 0.99999
    return True


@pytest.fixture
def openai_client(daemon):
    with openai.OpenAI(base_url=daemon.url + "/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.mark.parametrize("name", NAMES)
def test_openai(openai_client, name):
    assert agrees([one.embedding for one in openai_client.embeddings.create(model=name, input=TEXTS).data])
    assert openai_client.models.retrieve(name).id == NAME


@pytest.mark.parametrize("base", ["", "/v1", "/v1/", "/v3", "/api/v1", "//v1"])
def test_openai_at_every_address_that_people_give_it(daemon, base):
    with openai.OpenAI(base_url=daemon.url + base, api_key="none", max_retries=0) as client:
        assert agrees([one.embedding for one in client.embeddings.create(model=ID, input=TEXTS[:2]).data])
        assert [model.id for model in client.models.list()] == [NAME, "ranker"]


def test_openai_is_told_that_no_text_is_generated(openai_client):
    messages = [{"role": "user", "content": "hi"}]
    with pytest.raises(openai.NotFoundError, match="this server computes embeddings and does not generate text"):
        openai_client.chat.completions.create(model=ID, messages=messages)
    with pytest.raises(openai.NotFoundError, match="does not generate text"):
        openai_client.responses.create(model=ID, input="hi")


def test_langchain(daemon):
    """As its guide has it, with the tokenizer of the model itself taken from the same name."""
    embeddings = langchain_openai.OpenAIEmbeddings(model=ID, base_url=daemon.url + "/v1", api_key="none",
                                                   check_embedding_ctx_length=False)
    assert agrees(embeddings.embed_documents(TEXTS)) and agrees([embeddings.embed_query(TEXTS[0])])


@pytest.mark.parametrize("name", NAMES)
def test_ollama(daemon, name):
    client = ollama.Client(host=daemon.url)
    assert client.pull(name).status == "success"
    assert [step.status for step in client.pull(name, stream=True)][-1] == "success"
    assert agrees(client.embed(model=name, input=TEXTS).embeddings)
    assert "embedding" in client.show(name).capabilities


def test_ollama_lists_what_its_program_shows(daemon):
    """`ollama list` and `ollama ps` slice twelve digits of the digest, and read times and sizes."""
    client = ollama.Client(host=daemon.url)
    listed, running = client.list().models, client.ps().models
    assert [model.model for model in listed] == [model.model for model in running] == [NAME + ":latest", "ranker:latest"]
    for model in [*listed, *running]:
        assert re.fullmatch("[0-9a-f]{64}", model.digest) and len(model.digest[:12]) == 12
        assert int(model.size) > 10_000
    assert len({model.digest for model in listed}) == 2
    assert int(listed[0].size) > 90_000_000 and listed[0].modified_at.tzinfo is not None
    assert running[0].expires_at > listed[0].modified_at and running[0].size_vram == 0
    assert running[0].context_length == 256
    with pytest.raises(ollama.ResponseError, match="no model is served as 'llama3'; available: all-MiniLM-L6-v2, ranker"):
        client.pull("llama3")
    with pytest.raises(ollama.ResponseError, match="does not generate text"):
        client.generate(NAME, "hi")
    with pytest.raises(ollama.ResponseError, match="does not generate text"):
        client.chat(NAME, [{"role": "user", "content": "hi"}])


@pytest.mark.parametrize("name", NAMES)
def test_triton(daemon, name):
    with triton.InferenceServerClient(daemon.url.removeprefix("http://"), network_timeout=60) as client:
        assert client.is_model_ready(name) and client.is_model_ready(name, "1")
        assert client.get_model_metadata(name)["name"] == NAME
        text = triton.InferInput("text", [len(TEXTS)], "BYTES")
        text.set_data_from_numpy(numpy.array([text.encode() for text in TEXTS], dtype=object))
        assert agrees(client.infer(name, [text]).as_numpy("embedding"))
        assert agrees(client.infer(name, [text], model_version="1").as_numpy("embedding"))


@pytest.mark.parametrize("name", NAMES)
def test_cohere(daemon, name):
    client = cohere.ClientV2(api_key="none", base_url=daemon.url)
    found = client.embed(texts=TEXTS, model=name, input_type="search_document", embedding_types=["float", "ubinary"])
    assert agrees(found.embeddings.float_) and found.meta.billed_units.input_tokens > len(TEXTS)
    bits = numpy.packbits(numpy.array(found.embeddings.float_) > 0, axis=1)
    assert (numpy.array(found.embeddings.ubinary) == bits).all()
    older = cohere.Client(api_key="none", base_url=daemon.url)
    assert agrees(older.embed(texts=TEXTS, model=name, input_type="search_query").embeddings)


def test_cohere_ranks(daemon):
    client = cohere.ClientV2(api_key="none", base_url=daemon.url)
    ranked = client.rerank(model="ranker", query="a cat", documents=TEXTS[:4], top_n=2).results
    assert len(ranked) == 2 and ranked[0].relevance_score >= ranked[1].relevance_score
    with pytest.raises(cohere.NotFoundError, match="no model is served as 'rerank-v3.5'"):
        client.rerank(model="rerank-v3.5", query="a", documents=["b"])
    with pytest.raises(cohere.NotFoundError, match="does not generate text"):
        client.chat(model=ID, messages=[{"role": "user", "content": "hi"}])


def test_hugging_face(daemon):
    client = huggingface_hub.InferenceClient(model=daemon.url)
    assert agrees(numpy.concatenate([numpy.atleast_2d(client.feature_extraction(text)) for text in TEXTS[:2]]))
    info = daemon.get("/info").json()
    assert (info["model_id"], info["served_model_name"], info["model_sha"]) == (NAME, NAME, COMMIT)


def test_an_unknown_path_is_answered_in_its_neighbours_words_and_logged_as_asked(daemon):
    answer = daemon.ask("POST", "/v1/embedings/?key=secret", {})
    assert answer.status == 404 and answer.json()["error"]["type"] == "invalid_request_error"
    assert "'/v1/embedings/' here (/v1/embeddings is near)" in answer.json()["error"]["message"]
    assert daemon.ask("POST", "/api/nothing", {}).json().keys() == {"error"}
    assert daemon.ask("POST", "/v2/chat", {}).json().keys() == {"message"}
    assert daemon.get("/embed_batch").json()["error_type"] == "Validation"
    daemon.get("/no%20such%0Apath" + "x" * 500)
    for shown in ("POST /v1/embedings/ 404 ", "POST /api/nothing 404 ", r"GET '/no such\x0apathxxx"):
        wait_for(lambda shown=shown: shown in daemon.log())
    assert "secret" not in daemon.log() and "x" * 200 not in daemon.log()


def test_a_short_name_is_that_of_its_owner_too(tmp_path):
    with Daemon(models=[NAME], env=in_cache(tmp_path / "hub", ID, MODEL)) as daemon:
        for name in (NAME, ID):
            assert daemon.embed("a", model=name).json()["model"] == NAME
        assert daemon.get("/info").json()["model_sha"] == COMMIT


def test_two_models_of_one_name_are_refused_with_both(tmp_path):
    env = in_cache(tmp_path / "hub", "one/tiny", TINY) | in_cache(tmp_path / "hub", "two/tiny", TINY)
    code, said = run_serve("--model", "one/tiny", "--model", "two/tiny", "--listen", "127.0.0.1:0", env=env)
    assert code == 2 and "two models are called 'tiny': 'one/tiny' and 'two/tiny'" in said and "ready" not in said
    code, said = run_serve("--model", "one/tiny", "--model", f"x={TINY}", "--alias", "tiny=x", "--listen", "127.0.0.1:0", env=env)
    assert code == 2 and "two models are called 'tiny': 'one/tiny' and 'x=" in said and "ready" not in said
    code, said = run_serve("--model", "one/tiny", "--alias", "a=b", "--listen", "127.0.0.1:0", env=env)
    assert code == 2 and "no model is called 'b'; available: tiny" in said and "ready" not in said
    # What only the folders say: both are the same model of the hub.
    snapshot = tmp_path / "hub" / "models--one--tiny" / "snapshots" / COMMIT
    code, said = run_serve("--model", "one/tiny", "--model", snapshot, "--listen", "127.0.0.1:0", env=env)
    assert code == 2 and "two models are called 'tiny'" in said and str(snapshot) in said and "ready" not in said
    with Daemon("--alias", "first", models=["one/tiny", "second=two/tiny"], env=env) as daemon:
        assert [model["id"] for model in daemon.get("/v1/models").json()["data"]] == ["tiny", "second"]
        for name in ("tiny", "one/tiny", "first", "second"):
            assert daemon.embed("a", model=name).status == 200
        assert daemon.embed("a", model="two/tiny").status == 404, "a given name takes the place of all others"


def test_a_folder_whose_name_says_nothing_is_called_as_its_files_say(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    for entry in TINY.iterdir():
        os.symlink(entry, folder / entry.name)
    (folder / "README.md").write_text("---\nlicense: mit\n---\n\n# tiny-bert-v1\n")
    with Daemon(models=[folder], env={"LATEBIND_ALIAS": "another"}) as daemon:
        assert [model["id"] for model in daemon.get("/v1/models").json()["data"]] == ["tiny-bert-v1"]
        assert "is served as tiny-bert-v1, as its README.md calls it" in daemon.log()
        for name in ("tiny-bert-v1", "model", "another", str(folder)):
            assert daemon.embed("a", model=name).status == 200, name
