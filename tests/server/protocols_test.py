"""latebind serve with the real model: the golden vectors through each protocol, and tokens as the reference has them."""

import base64
import http.client
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy
import pytest

SOURCE = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
PROGRAM = Path(os.environ["LATEBIND_TEST_BINARY_DIR"]) / "bin" / "latebind"
RUNTIME = SOURCE / "build" / "runtime"
MODEL = RUNTIME / "model" / "all-MiniLM-L6-v2"
GOLDEN = SOURCE / "tests" / "data" / "golden"
TEXTS = [json.loads(line)["text"] for line in (GOLDEN / "minilm.jsonl").read_text().splitlines()]
LONG = " ".join(f"word{i} and more," for i in range(200))


class Server:
    def __init__(self, address):
        self.address = address

    def ask(self, method, path, body=None, raw=None):
        """(status, headers, the body as JSON)"""
        connection = http.client.HTTPConnection(self.address, timeout=60)
        try:
            sent = raw if raw is not None else None if body is None else json.dumps(body)
            connection.request(method, path, sent, {"Content-Type": "application/json"} if sent is not None else {})
            response = connection.getresponse()
            text = response.read()
            return response.status, response.headers, json.loads(text) if text else None
        finally:
            connection.close()

    def post(self, path, body):
        status, _, answer = self.ask("POST", path, body)
        assert status == 200, answer
        return answer


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serve")
    ready = folder / "ready"
    settings = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), "XDG_CONFIG_HOME": str(folder / "config")}
    process = subprocess.Popen(
        [str(PROGRAM), "serve", "--model", str(MODEL), "--listen", "127.0.0.1:0", "--ready-file", str(ready),
         "--token-vectors"],
        env=os.environ | settings, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 120
        while not (ready.exists() and ready.read_text().endswith("\n")):
            assert process.poll() is None, process.stderr.read().decode()
            assert time.monotonic() < deadline, "not ready in time"
            time.sleep(0.05)
        yield Server(ready.read_text().splitlines()[0].removeprefix("http://"))
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=60)
        sys.stderr.write(errors.decode()[-2000:])
    assert process.returncode == 0


@pytest.fixture(scope="module")
def golden():
    return numpy.load(GOLDEN / "minilm.npy")


@pytest.fixture(scope="module")
def tokenizer():
    import tokenizers

    made = tokenizers.Tokenizer.from_file(str(MODEL / "tokenizer.json"))
    made.no_padding()
    made.no_truncation()
    return made


def cosines(a, b):
    a, b = numpy.array(a, numpy.float64), numpy.array(b, numpy.float64)
    assert a.shape == b.shape
    return (a * b).sum(1) / numpy.linalg.norm(a, axis=1) / numpy.linalg.norm(b, axis=1)


def same(a, b):
    assert cosines(a, b).min() > 0.99999


def in_parts(texts):
    return [texts[i:i + 500] for i in range(0, len(texts), 500)]


def test_the_golden_vectors_by_openai(server, golden):
    found = []
    for part in in_parts(TEXTS):
        answer = server.post("/v1/embeddings", {"model": MODEL.name, "input": part})
        found += [one["embedding"] for one in answer["data"]]
    same(found, golden)
    coded = server.post("/v1/embeddings", {"model": MODEL.name, "input": TEXTS[:20], "encoding_format": "base64"})
    same([numpy.frombuffer(base64.b64decode(one["embedding"]), "<f4") for one in coded["data"]], golden[:20])


def test_the_golden_vectors_by_tei(server, golden):
    found = []
    for part in in_parts(TEXTS):
        found += server.post("/embed", {"inputs": part})
    same(found, golden)
    same(server.post("/", {"inputs": TEXTS[1]}), golden[1:2])


def test_vectors_of_tokens_pool_to_the_golden_vectors(server, golden, tokenizer):
    some = TEXTS[:40]
    found = server.post("/embed_all", {"inputs": some})
    assert [len(vectors) for vectors in found] == [min(len(tokenizer.encode(text).ids), 256) for text in some]
    same([numpy.mean(vectors, axis=0) for vectors in found], golden[:40])
    # More in one answer than is held for it.
    status, _, answer = server.ask("POST", "/embed_all", {"inputs": [LONG] * 200})
    assert status == 413 and "tokens together" in answer["error"]


def test_both_outputs_of_one_pass(server, golden):
    answer = server.post("/latebind/encode", {"inputs": TEXTS[:40], "outputs": ["token_vectors", "dense"]})
    same([one["dense"] for one in answer["results"]], golden[:40])
    assert [one["token_vectors"] for one in answer["results"]] == server.post("/embed_all", {"inputs": TEXTS[:40]})
    # One copy of the weights gives both.
    (model,) = server.ask("GET", "/latebind/status")[2]["models"]
    assert model["outputs"] == ["dense", "token_vectors"] and model["token_vectors"]


def test_the_golden_vectors_by_ollama(server, golden):
    found = []
    for part in in_parts(TEXTS):
        found += server.post("/api/embed", {"model": MODEL.name + ":latest", "input": part})["embeddings"]
    same(found, golden)
    same([server.post("/api/embeddings", {"model": MODEL.name, "prompt": TEXTS[1]})["embedding"]], golden[1:2])


def test_token_ids_have_the_vectors_of_their_texts(server, golden, tokenizer):
    ids = [encoding.ids[:256] for encoding in tokenizer.encode_batch(TEXTS[:50])]
    whole = [i for i, one in enumerate(ids) if len(one) < 256]
    same([server.post("/embed", {"inputs": ids[i]})[0] for i in whole[:5]], golden[whole[:5]])
    same(server.post("/embed", {"inputs": [ids[i] for i in whole]}), golden[whole])


def test_similarities_are_the_golden_cosines(server, golden):
    found = server.post("/similarity", {"inputs": {"source_sentence": TEXTS[1], "sentences": TEXTS[2:12]}})
    for path in ("/", "/invocations"):
        assert server.post(path, {"inputs": {"source_sentence": TEXTS[1], "sentences": TEXTS[2:12]}}) == found
        # A text, and not the member.
        assert len(server.post(path, {"inputs": ["source_sentence", '{"source_sentence": 1}']})) == 2
    assert numpy.abs(numpy.array(found) - golden[2:12] @ golden[1]).max() < 1e-4


def test_texts_are_cut_on_either_side_as_the_reference_does(server, tokenizer):
    limit = server.ask("GET", "/info")[2]["max_input_length"]
    for direction in ("left", "right"):
        tokenizer.enable_truncation(limit, direction=direction)
        ids = tokenizer.encode(LONG).ids
        assert len(ids) == limit
        same(server.post("/embed", {"inputs": LONG, "truncate": True, "truncation_direction": direction}),
             server.post("/embed", {"inputs": ids}))
    tokenizer.no_truncation()
    assert server.ask("POST", "/embed", {"inputs": LONG, "truncate": False})[0] == 413


def test_tokens_and_their_texts_are_the_references(server, tokenizer):
    texts = TEXTS[:200] + ["naïve café [SEP] don't", "unaffable 中文 ÅB"]
    encodings = tokenizer.encode_batch(texts)
    found = server.post("/tokenize", {"inputs": texts})
    assert [[token["id"] for token in tokens] for tokens in found] == [one.ids for one in encodings]
    for text, one, tokens in zip(texts, encodings, found, strict=True):
        for token, name, special, (begin, end) in zip(tokens, one.tokens, one.special_tokens_mask, one.offsets, strict=True):
            # Offsets are in bytes, as in text-embeddings-inference.
            size = len(text[:begin].encode())
            place = (name, None, None) if special else (text[begin:end], size, size + len(text[begin:end].encode()))
            assert (token["text"], token["start"], token["stop"]) == place
    assert [[int(token["special"]) for token in tokens] for tokens in found] == [
        one.special_tokens_mask for one in encodings]
    ids = [one.ids for one in encodings]
    for skip in (False, True):
        assert server.post("/decode", {"ids": ids, "skip_special_tokens": skip}) == [
            tokenizer.decode(one, skip_special_tokens=skip) for one in ids]


def test_headers_and_facts_are_true(server, tokenizer):
    status, headers, _ = server.ask("POST", "/embed", {"inputs": ["Grüße", "two words"]})
    assert status == 200
    assert headers["x-compute-type"] == headers["x-latebind-device"]
    assert headers["x-compute-type"].endswith(":CPU")
    assert headers["x-compute-characters"] == "14"
    assert int(headers["x-compute-tokens"]) == sum(len(e.ids) for e in tokenizer.encode_batch(["Grüße", "two words"]))
    for name in ("x-compute-time", "x-total-time", "x-tokenization-time", "x-queue-time", "x-inference-time"):
        assert 0 <= int(headers[name]) < 60_000
    info = server.ask("GET", "/info")[2]
    assert info["model_id"] == MODEL.name and info["model_type"] == {"embedding": {"pooling": "mean"}}
    assert server.ask("GET", "/api/tags")[2]["models"][0]["name"] == MODEL.name + ":latest"


def test_open_paths_and_refusals(server):
    assert server.ask("GET", "/health")[0] == 200
    assert server.ask("GET", "/ping")[0] == 200
    status, _, refused = server.ask("POST", "/embed", {"inputs": []})
    assert status == 400 and refused["error_type"] == "Empty"
    status, _, refused = server.ask("POST", "/embed", raw="{")
    assert status == 400 and refused["error_type"] == "Validation"
    status, _, refused = server.ask("POST", "/embed", {"inputs": "a", "normalize": False})
    assert status == 400 and "normalises" in refused["error"]
    status, _, refused = server.ask("POST", "/v1/embeddings", {"model": MODEL.name, "input": [[101, 30522, 102]]})
    assert status == 400 and "30522" in refused["error"]["message"]
    document = server.ask("GET", "/openapi.json")[2]
    assert {"/embed", "/similarity", "/tokenize", "/decode", "/info", "/api/embed", "/"} <= document["paths"].keys()
