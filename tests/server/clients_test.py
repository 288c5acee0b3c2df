"""The clients that people have, against the running daemon. Run by the Python of build/runtime/clients."""

import base64
import json
import struct
import subprocess

import huggingface_hub
import langchain_openai
import numpy
import ollama
import openai
import pytest
import tiktoken
from daemon import GOLDEN, MODEL, PROGRAM, TINY, Daemon

NAME = MODEL.name
KEY = "a-key"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    keys = tmp_path_factory.mktemp("keys") / "keys"
    keys.write_text(KEY + "\n")
    with Daemon("--api-key-file", keys, models=[MODEL]) as running:
        yield running


@pytest.fixture(scope="module")
def texts():
    return [json.loads(line)["text"] for line in (GOLDEN / "minilm.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def golden():
    return numpy.load(GOLDEN / "minilm.npy")


@pytest.fixture
def client(daemon):
    with openai.OpenAI(base_url=daemon.url + "/v1", api_key=KEY, max_retries=0) as client:
        yield client


def agrees(vectors, golden):
    a, b = numpy.asarray(vectors, numpy.float64), golden.astype(numpy.float64)
    assert a.shape == b.shape
    cosines = (a * b).sum(1) / numpy.linalg.norm(a, axis=1) / numpy.linalg.norm(b, axis=1)
    assert cosines.min() > 0.99999
    return True


def test_openai_gets_the_golden_vectors(client, texts, golden):
    default = client.embeddings.create(model=NAME, input=texts)  # base64, which the client asks for by itself
    floats = client.embeddings.create(model=NAME, input=texts, encoding_format="float")
    assert agrees([one.embedding for one in default.data], golden)
    assert numpy.allclose([one.embedding for one in floats.data], [one.embedding for one in default.data], atol=1e-7)
    assert [one.index for one in default.data] == list(range(len(texts)))
    assert default.model == NAME and default.usage.prompt_tokens == default.usage.total_tokens > len(texts)


def test_openai_s_base64_is_little_endian_floats(client, texts, golden):
    raw = client.embeddings.with_raw_response.create(model=NAME, input=texts[1], encoding_format="base64").http_response
    bytes_ = base64.b64decode(raw.json()["data"][0]["embedding"], validate=True)
    assert agrees([struct.unpack(f"<{len(bytes_) // 4}f", bytes_)], golden[1:2])


def test_openai_may_send_token_ids(client, texts, golden):
    lines = subprocess.run([PROGRAM, "tokens", "--model", MODEL], input=texts[3] + "\n", stdout=subprocess.PIPE,
                           encoding="utf-8", check=True).stdout.splitlines()
    ids = [int(token) for token in lines[0].split()]
    one = client.embeddings.create(model=NAME, input=ids)
    several = client.embeddings.create(model=NAME, input=[ids, ids])
    assert agrees([item.embedding for item in one.data], golden[3:4])
    assert agrees([item.embedding for item in several.data], golden[[3, 3]])
    assert one.usage.total_tokens == len(ids)


def test_openai_lists_models(client):
    assert [model.id for model in client.models.list()] == [NAME]
    assert client.models.retrieve(NAME).owned_by == "latebind"


def test_openai_knows_the_errors(daemon, client):
    with pytest.raises(openai.NotFoundError) as unknown:
        client.embeddings.create(model="text-embedding-3-small", input="a")
    assert unknown.value.code == "model_not_found" and unknown.value.param == "model"
    with pytest.raises(openai.BadRequestError) as dimensions:
        client.embeddings.create(model=NAME, input="a", dimensions=64)
    assert dimensions.value.param == "dimensions" and "384" in dimensions.value.message
    with pytest.raises(openai.BadRequestError):
        client.embeddings.create(model=NAME, input=[])
    with pytest.raises(openai.AuthenticationError) as wrong:
        openai.OpenAI(base_url=daemon.url + "/v1", api_key="wrong", max_retries=0).models.list()
    assert wrong.value.code == "invalid_api_key"
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model=NAME, messages=[{"role": "user", "content": "hi"}])


def test_openai_s_asynchronous_client(daemon, texts, golden):
    import asyncio

    async def ask():
        async with openai.AsyncOpenAI(base_url=daemon.url + "/v1", api_key=KEY, max_retries=0) as client:
            answers = await asyncio.gather(*(client.embeddings.create(model=NAME, input=text) for text in texts))
        return [answer.data[0].embedding for answer in answers]

    assert agrees(asyncio.run(ask()), golden)


def test_langchain_gets_the_golden_vectors(daemon, texts, golden):
    embeddings = langchain_openai.OpenAIEmbeddings(model=NAME, base_url=daemon.url + "/v1", api_key=KEY,
                                                   check_embedding_ctx_length=False)
    assert agrees(embeddings.embed_documents(texts), golden)
    assert agrees([embeddings.embed_query(texts[1])], golden[1:2])


def test_langchain_s_own_check_of_lengths_sends_the_ids_of_another_tokenizer(daemon, texts, golden, monkeypatch):
    """Its default. The vectors are not those of the texts, which is why documents say to switch it off."""
    letters = tiktoken.Encoding("letters", pat_str=".", special_tokens={},
                                mergeable_ranks={bytes([i]): i for i in range(256)})
    monkeypatch.setattr(tiktoken, "get_encoding", lambda _: letters)  # the real one is downloaded
    monkeypatch.setattr(tiktoken, "encoding_for_model", lambda _: letters)
    embeddings = langchain_openai.OpenAIEmbeddings(model=NAME, base_url=daemon.url + "/v1", api_key=KEY)
    (vector,) = embeddings.embed_documents(["The cat sits outside"])
    right = langchain_openai.OpenAIEmbeddings(model=NAME, base_url=daemon.url + "/v1", api_key=KEY,
                                              check_embedding_ctx_length=False).embed_query("The cat sits outside")
    assert len(vector) == 384 and numpy.dot(vector, right) < 0.9


def test_hugging_face_s_client_gets_the_golden_vectors(daemon, texts, golden):
    client = huggingface_hub.InferenceClient(model=daemon.url, token=KEY)
    assert agrees(numpy.concatenate([numpy.atleast_2d(client.feature_extraction(text)) for text in texts]), golden)
    # It posts every task to the address itself.
    found = client.sentence_similarity(texts[0], other_sentences=texts[1:4])
    assert numpy.allclose(found, numpy.array(golden)[1:4] @ numpy.array(golden)[0], atol=1e-3)


def test_ollama_s_client_gets_the_golden_vectors(daemon, texts, golden):
    client = ollama.Client(host=daemon.url, headers={"Authorization": f"Bearer {KEY}"})
    assert agrees(client.embed(model=NAME, input=texts)["embeddings"], golden)


def test_curl_gets_the_golden_vectors(daemon, texts, golden):
    done = subprocess.run(["curl", "-sS", "--fail", "--max-time", "60", daemon.url + "/v1/embeddings", "-H", f"x-api-key: {KEY}",
                           "--compressed", "--data-binary", "@-"],
                          input=json.dumps({"model": NAME, "input": texts}), stdout=subprocess.PIPE, encoding="utf-8", check=True)
    assert agrees([one["embedding"] for one in json.loads(done.stdout)["data"]], golden)


def test_curl_sends_a_large_body_after_it_is_told_to_go_on(daemon):
    done = subprocess.run(["curl", "-sS", "-v", "--max-time", "60", daemon.url + "/v1/embeddings", "-H", f"x-api-key: {KEY}",
                           "-H", "Expect: 100-continue", "-H", "Transfer-Encoding: chunked", "--data-binary", "@-"],
                          input=json.dumps({"model": NAME, "input": ["word " * 2000] * 10}),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", check=True)
    assert "HTTP/1.1 100 Continue" in done.stderr and "HTTP/1.1 200 OK" in done.stderr
    assert len(json.loads(done.stdout)["data"]) == 10


def test_a_client_may_leave_out_what_it_has_no_key_for():
    with Daemon(models=[TINY]) as daemon:
        assert openai.OpenAI(base_url=daemon.url + "/v1", api_key="anything").embeddings.create(
            model="f32", input="a").data[0].index == 0
