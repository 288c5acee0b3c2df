"""The daemon's HTTP, as a stranger meets it: over raw sockets, with good requests and bad ones."""

import json

import pytest
from daemon import TINY, Daemon, read_answers, read_to_end, run_serve, wait_for
from raw_requests import HOST, ask, get, post, texts


@pytest.fixture(scope="module")
def daemon():
    with Daemon("--max-body", "64KiB", "--max-texts", "8", "--cors-origin", "https://page.example") as running:
        yield running
        assert running.end() == 0, running.log()


# Good requests.


def test_a_connection_serves_many_requests_and_answers_them_in_order(daemon):
    paths = ["/v1/models", "/v1/models/f32", "/openapi.json", "/nothing"] * 50
    answers = ask(daemon, b"".join(map(get, paths)), len(paths))
    assert [answer.status for answer in answers] == [200, 200, 200, 404] * 50
    assert [len(answer.body) for answer in answers[:4]] == [len(answer.body) for answer in answers[-4:]]
    assert "connection" not in answers[0].headers


def test_slow_and_quick_requests_of_one_connection_keep_their_order(daemon):
    answers = ask(daemon, post(texts("a " * 100)) + get("/v1/models") + post(texts("b")) + get("/nothing"), 4)
    assert [answer.status for answer in answers] == [200, 200, 200, 404]
    assert answers[0].json()["usage"]["total_tokens"] > answers[2].json()["usage"]["total_tokens"]


def test_a_body_may_come_in_chunks(daemon):
    body = texts("hello", "world")
    chunks = b"".join(b"%x;name=\"value\"\r\n%s\r\n" % (len(body[i:i + 7]), body[i:i + 7]) for i in range(0, len(body), 7))
    (whole,) = ask(daemon, post(body))
    (chunked,) = ask(daemon, post(chunks + b"0\r\nTrailer: x\r\n\r\n", b"Transfer-Encoding: chunked\r\n"))
    assert chunked.status == 200 and chunked.body == whole.body


def test_a_client_that_waits_is_told_to_go_on(daemon):
    body = texts("hello")
    with daemon.connect() as connection:
        connection.sendall(post(b"", b"Expect: 100-continue\r\nContent-Length: %d\r\n" % len(body)))
        assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        assert read_answers(connection, 1)[0].status == 200


def test_head_is_get_without_its_body(daemon):
    (head,) = ask(daemon, b"HEAD /v1/models HTTP/1.1\r\n" + HOST + b"\r\n", no_body=True)
    assert head.status == 200
    assert int(head.headers["content-length"]) == len(daemon.get("/v1/models").body)
    with daemon.connect() as connection:
        connection.sendall(b"HEAD /v1/models HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
        assert read_to_end(connection).endswith(b"\r\n\r\n")


def test_unknown_paths_and_methods_are_told_so(daemon):
    unknown = daemon.get("/nothing")
    assert unknown.status == 404 and unknown.json()["error_type"] == "not_found"
    assert daemon.get("/v1/nothing").json()["error"]["type"] == "invalid_request_error"
    other = daemon.ask("DELETE", "/v1/models")
    assert other.status == 405 and other.headers["allow"] == "GET, HEAD, OPTIONS"
    assert daemon.get("/v1/embeddings").headers["allow"] == "POST, OPTIONS"
    assert daemon.ask("BREW", "/").status == 405


def test_http_1_0_ends_the_connection_unless_it_is_asked_not_to(daemon):
    assert b"Connection: close\r\n" in daemon.exchange(b"GET /v1/models HTTP/1.0\r\n\r\n")
    with daemon.connect() as connection:
        connection.sendall(b"GET /v1/models HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" * 2)
        answers = read_answers(connection, 2)
    assert [answer.headers["connection"] for answer in answers] == ["keep-alive"] * 2


def test_targets_may_be_absolute_and_encoded(daemon):
    for target in ("http://elsewhere/v1/models", "HTTP://x/v1/models?a=b", "/v1/%6dodels", "/v1/models/%663%32"):
        assert ask(daemon, get(target))[0].status == 200, target
    assert ask(daemon, b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n")[0].status == 204


def test_a_model_may_have_a_slash_in_its_name(tmp_path):
    with Daemon(models=[f"org/tiny={TINY}", TINY]) as daemon:
        assert [one["id"] for one in daemon.get("/v1/models").json()["data"]] == ["org/tiny", "f32"]
        assert daemon.get("/v1/models/org%2Ftiny").json()["id"] == "org/tiny"
        first = daemon.embed(["a"], model="org/tiny").json()
        second = daemon.embed(["a"], model="f32").json()
        assert first["data"] == second["data"] and (first["model"], second["model"]) == ("org/tiny", "f32")
        unknown = daemon.embed(["a"], model="gpt")
        assert unknown.status == 404 and unknown.json()["error"]["code"] == "model_not_found"
        assert "org/tiny, f32" in unknown.json()["error"]["message"]


def test_pages_of_allowed_origins_may_ask(daemon):
    origin = {"Origin": "https://page.example"}
    allowed = daemon.ask("OPTIONS", "/v1/embeddings", headers=origin | {"Access-Control-Request-Method": "POST"})
    assert allowed.status == 204 and allowed.body == b""
    assert allowed.headers["access-control-allow-origin"] == "https://page.example"
    assert "POST" in allowed.headers["access-control-allow-methods"]
    assert "authorization" in allowed.headers["access-control-allow-headers"]
    answer = daemon.get("/v1/models", headers=origin)
    assert answer.headers["access-control-allow-origin"] == "https://page.example" and answer.headers["vary"] == "Origin"
    # OpenAI's client sends headers of its own.
    own = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,x-stainless-os"}
    allowed = daemon.ask("OPTIONS", "/v1/embeddings", headers=origin | own)
    assert "x-stainless-os" in allowed.headers["access-control-allow-headers"]
    odd = daemon.ask("OPTIONS", "/v1/embeddings", headers=origin | own | {"Access-Control-Request-Headers": 'a"b<c'})
    assert odd.status == 204 and "<" not in odd.headers["access-control-allow-headers"]
    other = daemon.get("/v1/models", headers={"Origin": "https://page.example.evil"})
    assert other.status == 200 and "access-control-allow-origin" not in other.headers


def test_what_is_refused_before_its_body_is_refused_as_its_own_request(daemon):
    headers = {"Origin": "https://page.example", "x-request-id": "mine-7"}
    answer = daemon.ask("POST", "/v1/embeddings", b" " * 70_000, headers)
    assert answer.status == 413 and answer.json()["error"]["type"] == "invalid_request_error"
    assert answer.headers["x-request-id"] == "mine-7"
    assert answer.headers["access-control-allow-origin"] == "https://page.example"
    assert daemon.ask("POST", "/embed", b" " * 70_000).json()["error_type"] == "Validation"
    with Daemon("--max-body", "64KiB") as own:
        own.ask("POST", "/v1/embeddings", b" " * 70_000, headers)
        # The log has a thread of its own.
        wait_for(lambda: any("POST /v1/embeddings 413" in line and "id=mine-7" in line for line in own.log().splitlines()))


def test_health_is_told_whatever_the_request_says_of_its_time(daemon):
    for path in ("/ping", "/health", "/v2/health/live", "/metrics"):
        assert daemon.get(path, headers={"x-request-timeout-ms": "soon"}).status == 200


def test_what_could_never_be_held_is_not_asked_for_again():
    with Daemon("--max-held", "1MiB", "--max-texts", "100000") as daemon:
        assert daemon.status()["limits"]["body_bytes"] == 1 << 20
        refused = daemon.embed("a" * (1 << 20))
        assert refused.status == 413 and "more than 1048576 bytes" in refused.json()["error"]["message"]


def test_a_small_request_for_a_large_answer_counts_as_one():
    with Daemon("--max-held", "1MiB", "--max-texts", "100000") as daemon:
        dimension = len(daemon.embed(["a"]).json()["data"][0]["embedding"])
        count = (1 << 20) // (16 * dimension) + 1
        refused = daemon.embed([[7]] * count)
        assert refused.status == 413 and "--max-held" in refused.json()["error"]["message"]
        assert daemon.embed([[7]] * (count // 4)).status == 200
        status = daemon.status()
        assert status["limits"]["held_bytes"] == 1 << 20
        wait_for(lambda: daemon.status()["memory"]["held_bytes"] < 1 << 16)
        assert "latebind_held_bytes_limit 1048576" in daemon.get("/metrics").body.decode()


def test_a_large_body_is_read_only_of_those_with_a_key(tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("secret\n")
    with Daemon("--api-key-file", keys) as daemon:
        head = b"Content-Length: 30000000\r\n"
        with daemon.connect() as connection:
            connection.sendall(post(b"", head))
            [answer] = read_answers(connection, 1)
            assert answer.status == 401 and answer.headers["connection"] == "close"
        with daemon.connect() as connection:
            connection.sendall(post(b"", head + b"Authorization: Bearer secret\r\nExpect: 100-continue\r\n"))
            assert connection.recv(100).startswith(b"HTTP/1.1 100 ")


def test_answers_say_who_computed_them_and_carry_the_request_s_id(daemon):
    answer = daemon.embed(["a"], model="f32", headers={"x-request-id": "mine-1"})
    assert answer.headers["x-request-id"] == "mine-1"
    assert answer.headers["x-latebind-device"].endswith(":CPU")
    assert answer.headers["x-latebind-precision"] == "f32" and answer.headers["x-latebind-fallback"] == "false"
    for bad in ("a b", "x" * 200, "ä", ""):
        given = daemon.get("/v1/models", headers={"x-request-id": bad.encode()}).headers["x-request-id"]
        assert given != bad and len(given) == 16


# Bad input: a status, words, and the end of the connection.

BIG = b"x" * 70_000
REFUSED = {
    "two lengths": (post(b"hello", b"Content-Length: 5\r\nContent-Length: 5\r\n"), 400),
    "two lengths that differ": (post(b"hello", b"Content-Length: 5\r\nContent-Length: 6\r\n"), 400),
    "a list of lengths": (post(b"hello", b"Content-Length: 5, 5\r\n"), 400),
    "a length that is none": (post(b"hello", b"Content-Length: +5\r\n"), 400),
    "a huge length": (post(b"hello", b"Content-Length: 99999999999999999999\r\n"), 400),
    "length and chunks": (post(b"0\r\n\r\n", b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 400),
    "chunks and length": (post(b"0\r\n\r\n", b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), 400),
    "xchunked": (post(b"0\r\n\r\n", b"Transfer-Encoding: xchunked\r\n"), 501),
    "gzip, chunked": (post(b"0\r\n\r\n", b"Transfer-Encoding: gzip, chunked\r\n"), 501),
    "chunked twice": (post(b"0\r\n\r\n", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400),
    "chunks of 1.0": (b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "an overflowing chunk": (post(b"10000000000000001\r\nx", b"Transfer-Encoding: chunked\r\n"), 400),
    "a huge chunk": (post(b"7fffffffffffffff\r\nx", b"Transfer-Encoding: chunked\r\n"), 413),
    "a damaged chunk": (post(b"xyz\r\n", b"Transfer-Encoding: chunked\r\n"), 400),
    "a huge chunk extension": (post(b"1;" + BIG, b"Transfer-Encoding: chunked\r\n"), 400),
    "huge trailers": (post(b"0\r\nA: " + BIG, b"Transfer-Encoding: chunked\r\n"), 400),
    "bare line feeds": (b"GET / HTTP/1.1\nHost: x\n\n", 400),
    "a folded header": (get("/", headers=b"A: b\r\n c\r\n"), 400),
    "a NUL": (get("/", headers=b"A: b\0c\r\n"), 400),
    "a space before the colon": (get("/", headers=b"A : b\r\n"), 400),
    "a huge header": (get("/", headers=b"A: " + BIG + b"\r\n"), 431),
    "many headers": (get("/", headers=b"A: b\r\n" * 1000), 431),
    "a long request line": (get("/" + "x" * 70_000), 414),
    "a large body": (post(BIG), 413),
    "a large body that is waited for": (post(b"", b"Expect: 100-continue\r\nContent-Length: 70000\r\n"), 413),
    "a large body in chunks": (post(b"8000\r\n%s\r\n" % (b"x" * 0x8000) * 3, b"Transfer-Encoding: chunked\r\n"), 413),
    "a compressed body": (post(b"\x1f\x8b", b"Content-Encoding: gzip\r\nContent-Length: 2\r\n"), 415),
    "an unknown expectation": (post(b"x", b"Expect: more\r\nContent-Length: 1\r\n"), 417),
    "TLS": (bytes.fromhex("16030100c8010000c40303") + b"\r\n\r\n", 400),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    "no host": (b"GET / HTTP/1.1\r\n\r\n", 400),
    "two hosts": (get("/", headers=HOST), 400),
    "bad percent signs": (get("/%zz"), 400),
    "a path that is not UTF-8": (get("/%ff"), 400),
    "CONNECT": (b"CONNECT x:443 HTTP/1.1\r\n" + HOST + b"\r\n", 400),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_request_is_refused_and_ends_the_connection(daemon, what):
    data, status = REFUSED[what]
    head, _, body = daemon.exchange(data).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status), head
    assert b"\r\nConnection: close" in head and b"\r\nx-request-id: " in head
    error = json.loads(body)["error"]
    # In the form of the protocol that was asked, where the head was whole.
    assert error["message"] if isinstance(error, dict) else error


DAMAGED = {
    "nothing": b"",
    "no JSON": b"hello",
    "half of it": texts("a")[:-3],
    "two of it": texts("a") * 2,
    "not UTF-8": b'{"model":"f32","input":"\xff"}',
    "a lone surrogate": b'{"model":"f32","input":"\\ud800"}',
    "a byte order mark": b"\xef\xbb\xbf" + texts("a"),
    "a control character": b'{"model":"f32","input":"\x01"}',
    "NaN": b'{"model":"f32","input":NaN}',
    "too deep": b'{"model":"f32","input":' + b"[" * 1000 + b"]" * 1000 + b"}",
    "much too deep": b"[" * 60_000,
    "an array": b"[]",
    "a number": b'{"model":"f32","input":1.5}',
    "no input": b'{"model":"f32"}',
    "no model": b'{"input":"a"}',
    "an empty array": b'{"model":"f32","input":[]}',
    "mixed": b'{"model":"f32","input":["a",1]}',
    "a negative id": b'{"model":"f32","input":[-1]}',
    "an unknown id": b'{"model":"f32","input":[2000000000]}',
    "a huge number": b'{"model":"f32","input":[1e999]}',
    "too many texts": texts(*"abcdefghi"),
    "an unknown format": b'{"model":"f32","input":"a","encoding_format":"hex"}',
    "dimensions of none": b'{"model":"f32","input":"a","dimensions":0}',
}


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_body_is_told_so_and_the_connection_goes_on(daemon, what):
    refused, next_one = ask(daemon, post(DAMAGED[what]) + get("/v1/models"), 2)
    assert refused.status == 400, refused
    error = refused.json()["error"]
    assert set(error) == {"message", "type", "param", "code"} and error["message"]
    assert next_one.status == 200


def test_an_answer_says_how_many_texts_were_cut(daemon):
    most = daemon.status()["models"][0]["max_tokens"]
    long = "a " * most
    name = "x-latebind-truncated-texts"
    cut = daemon.embed([long, "b", long], model="f32")
    assert cut.headers[name] == "2" and cut.json()["usage"]["truncated_texts"] == 2
    whole = daemon.embed(["b"], model="f32")
    assert name not in whole.headers and "truncated_texts" not in whole.json()["usage"]
    for path, body in (("/embed", {"inputs": long}), ("/api/embed", {"model": "f32", "input": long}),
                       ("/similarity", {"inputs": {"source_sentence": "b", "sentences": [long]}})):
        assert daemon.ask("POST", path, json.dumps(body)).headers[name] == "1", path
    tensor = {"name": "text", "datatype": "BYTES", "shape": [1], "data": [long]}
    infer = daemon.ask("POST", "/v2/models/f32/infer", json.dumps({"inputs": [tensor]}))
    assert infer.headers[name] == "1" and infer.json()["parameters"] == {"truncated_texts": 1}
    refused = daemon.ask("POST", "/embed", json.dumps({"inputs": ["b", long], "truncate": False}))
    assert refused.status == 413 and name not in refused.headers
    assert f"inputs[1]: the text has {most + 2} tokens; at most {most} are taken" in refused.json()["error"]


def test_of_a_member_that_is_there_twice_the_first_counts(daemon):
    body = b'{"model":"f32","input":"a","input":["a","b"]}'
    assert len(ask(daemon, post(body))[0].json()["data"]) == 1


def test_a_client_that_leaves_in_the_middle_of_its_request_is_forgotten(daemon):
    for part in (b"GET /v1", post(b"hello", b"Content-Length: 500\r\n"), post(b"5\r\nhe", b"Transfer-Encoding: chunked\r\n")):
        assert daemon.exchange(part, end=True) == b""
    wait_for(lambda: daemon.status()["connections"] == 1)


def test_a_port_in_use_is_told_and_leaves_nothing_behind(daemon, tmp_path):
    port = daemon.address[1]
    path = tmp_path / "s.sock"
    code, said = run_serve("--model", TINY, "--listen", f"unix:{path},127.0.0.1:{port}")
    assert code == 1 and f"127.0.0.1:{port}" in said and "in use" in said and "--port" in said, said
    assert not path.exists()
