"""The daemon's HTTP, as a stranger meets it: over raw sockets, with good requests and bad ones."""

import contextlib
import fcntl
import http.client
import json
import os
import signal
import socket
import ssl
import stat
import struct
import subprocess
import termios
import threading
import time
from pathlib import Path

import pytest
from daemon import LIMIT, MODEL, PROGRAM, SOURCE, TINY, Daemon, fake_openvino, read_answers, read_to_end, run_serve, wait_for

HOST = b"Host: x\r\n"


@pytest.fixture(scope="module")
def daemon():
    with Daemon("--max-body", "64KiB", "--max-texts", "8", "--cors-origin", "https://page.example") as running:
        yield running
        assert running.end() == 0, running.log()


def get(path, version="1.1", headers=b""):
    return f"GET {path} HTTP/{version}\r\n".encode() + HOST + headers + b"\r\n"


def post(body, headers=b"", path="/v1/embeddings"):
    length = b"" if b"ength" in headers or b"ncoding" in headers else b"Content-Length: %d\r\n" % len(body)
    return f"POST {path} HTTP/1.1\r\n".encode() + HOST + headers + length + b"\r\n" + body


def as_json(path, **body):
    return post(json.dumps(body).encode(), path=path)


def texts(*given):
    return json.dumps({"model": "f32", "input": list(given)}).encode()


def ask(daemon, data, count=1, **options):
    with daemon.connect() as connection:
        connection.sendall(data)
        return read_answers(connection, count, **options)


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


# Limits and time.


def slow_machine(tmp_path, script="hang", dimension=32):
    return fake_openvino(tmp_path, f"device CPU\nencoder {dimension}\n{script}\n")


class Busy:
    """A daemon whose device hangs from now on, with one request in it."""

    def __init__(self, tmp_path, *arguments, model=TINY, dimension=32, first=None):
        env, self.script = slow_machine(tmp_path, "", dimension)
        self.working = self.script.read_text()
        self.daemon = Daemon("--device", "openvino:CPU", "--no-cache", "--requests", "1", *arguments, models=(model,), env=env)
        self.script.write_text(self.working + "hang\n")
        self.first = self.daemon.connect()
        self.first.sendall(first or post(texts("a")))
        wait_for(lambda: self.daemon.status()["models"][0]["queue"]["running_batches"] == 1)

    def __enter__(self):
        return self

    def go_on(self):
        self.script.write_text(self.working)

    def __exit__(self, *_):
        self.first.close()
        self.daemon.__exit__(*_)


def waiting_texts(daemon):
    return daemon.status()["models"][0]["queue"]["texts"]


def test_a_client_may_end_its_direction_and_wait_for_its_answer(tmp_path):
    path = tmp_path / "s.sock"
    with Busy(tmp_path, "--listen", f"unix:{path}") as busy:
        over_tcp, over_unix = busy.daemon.connect(), socket.socket(socket.AF_UNIX)
        over_unix.settimeout(LIMIT)
        over_unix.connect(str(path))
        for one in (over_tcp, over_unix):
            one.sendall(post(texts("b")))
            one.shutdown(socket.SHUT_WR)
            assert one.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"  # asks whether it is there
        wait_for(lambda: waiting_texts(busy.daemon) == 2)
        busy.go_on()
        for one in (over_tcp, over_unix):
            assert read_to_end(one).startswith(b"HTTP/1.1 200 ")
            one.close()
        assert busy.daemon.exchange(post(texts("b")), end=True).count(b"HTTP/1.1 200 ") == 1
        assert busy.daemon.exchange(post(texts("b")) + get("/v1/models"), end=True).count(b"HTTP/1.1 200 ") == 2
        assert " 499 " not in busy.daemon.log()


def test_a_client_that_has_left_is_noticed_on_a_unix_socket(tmp_path):
    path = tmp_path / "s.sock"
    with Busy(tmp_path, "--listen", f"unix:{path}") as busy:
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(str(path))
            one.sendall(post(texts("b")))
            wait_for(lambda: waiting_texts(busy.daemon) == 1)
        wait_for(lambda: waiting_texts(busy.daemon) == 0)
        busy.go_on()
        assert read_answers(busy.first, 1)[0].status == 200


def test_texts_of_a_client_that_has_left_leave_the_queue(tmp_path):
    with Busy(tmp_path) as busy:
        second = busy.daemon.connect()
        second.sendall(post(texts("b", "c", "d")))
        wait_for(lambda: waiting_texts(busy.daemon) == 3)
        second.close()
        wait_for(lambda: waiting_texts(busy.daemon) == 0)
        busy.go_on()
        assert read_answers(busy.first, 1)[0].status == 200
        wait_for(lambda: "POST /v1/embeddings 499 " in busy.daemon.log())
        assert " client_gone " in busy.daemon.log()
        metrics = busy.daemon.get("/metrics").body.decode()
        assert 'te_request_failure{err="client_gone"} 1' in metrics and 'err="internal"' not in metrics
        assert 'status="499"' in metrics and 'status="500"' not in metrics
        requests = busy.daemon.status()["requests"]
        assert requests["failed"] == 0 and requests["refused"] == 0


def test_a_request_has_as_much_time_as_it_asks_for(tmp_path):
    with Busy(tmp_path, "--request-timeout-ms", "30000") as busy:
        began = time.monotonic()
        late = busy.daemon.embed(["b"], model="f32", headers={"x-request-timeout-ms": "100"})
        assert late.status == 504 and late.json()["error"]["code"] == "timeout"
        assert 0.1 <= time.monotonic() - began < 10
        wait_for(lambda: waiting_texts(busy.daemon) == 0)
        for bad in ("0", "-1", "1.5", "x", "99999999999999999999"):
            refused = busy.daemon.embed(["b"], model="f32", headers={"x-request-timeout-ms": bad})
            assert refused.status == 400 and refused.json()["error"]["param"] == "x-request-timeout-ms", bad
        busy.go_on()
        assert read_answers(busy.first, 1)[0].status == 200


def test_a_request_has_no_more_time_than_the_daemon_gives(tmp_path):
    with Busy(tmp_path, "--request-timeout-ms", "200") as busy:
        assert read_answers(busy.first, 1)[0].status == 504
        assert busy.daemon.embed(["b"], model="f32", headers={"x-request-timeout-ms": "60000"}).status == 504
        busy.go_on()


def times_woken(daemon):
    """How often its threads have waited for something so far."""
    tasks = Path(f"/proc/{daemon.process.pid}/task")
    return sum(int(line.split()[1]) for task in tasks.iterdir() for line in (task / "status").read_text().splitlines()
               if line.startswith("voluntary_ctxt_switches"))


def test_a_daemon_with_nothing_to_do_sleeps():
    with Daemon() as daemon, daemon.connect() as connection:
        connection.sendall(post(texts("a")))
        assert read_answers(connection, 1)[0].status == 200
        # So that a time has passed for which it had to wake.
        assert daemon.embed(["a"], headers={"x-request-timeout-ms": "20"}).status in (200, 504)

        def sleeps():
            before = times_woken(daemon)
            time.sleep(1)
            return times_woken(daemon) - before < 10

        # Not at once: what came before the first request may still be ending.
        assert sleeps() or sleeps() or sleeps()
        connection.sendall(post(texts("a")))
        assert read_answers(connection, 1)[0].status == 200


def test_overload_is_told_at_once(tmp_path):
    with Busy(tmp_path, "--max-queue-tokens", "8") as busy:
        second = busy.daemon.connect()
        second.sendall(post(texts("b", "c", "d")))
        times = []
        with busy.daemon.connect() as connection:
            wait_for(lambda: waiting_texts(busy.daemon) == 3)
            for _ in range(20):
                began = time.perf_counter()
                connection.sendall(post(texts("e")))
                (refused,) = read_answers(connection, 1)
                times.append(time.perf_counter() - began)
                assert refused.status == 429 and refused.headers["retry-after"] == "1"
                assert refused.json()["error"]["code"] == "rate_limit_exceeded"
        assert min(times) < 0.005, times  # the least: other programs run here, too
        busy.go_on()
        assert read_answers(second, 1)[0].status == 200
        second.close()


def test_what_the_queue_has_no_room_for_is_refused_before_it_is_tokenized(tmp_path):
    with Busy(tmp_path, "--max-queue-tokens", "40") as busy, busy.daemon.connect() as second, busy.daemon.connect() as third:
        second.sendall(post(texts("b")))
        wait_for(lambda: waiting_texts(busy.daemon) == 1)
        # By their bytes: a word that is not known is one token, and the queue would take them.
        third.sendall(post(texts(320 * "x", 320 * "x")))
        refused = read_answers(third, 1)[0]
        assert refused.status == 429 and b"of at most 40, and this request has about " in refused.body
        third.sendall(post(texts(320 * " ")))
        wait_for(lambda: waiting_texts(busy.daemon) == 2)
        busy.go_on()
        for one in (second, third):
            assert read_answers(one, 1)[0].status == 200


LONG = 200 * "x"  # unknown: one token


@pytest.mark.parametrize("path, refused, taken", [
    ("/rerank", {"query": LONG, "texts": 3 * ["b"]}, {"query": "b", "texts": ["b"]}),
    ("/v1/rerank", {"query": "b", "documents": 3 * [LONG]}, {"query": "b", "documents": ["b"]}),
    ("/predict", {"inputs": 3 * [[LONG]]}, {"inputs": "b"}),
    ("/predict", {"inputs": 3 * [["b", LONG]]}, {"inputs": [["b", "b"]]}),
])
def test_scores_the_queue_has_no_room_for_are_refused_before_they_are_tokenized(tmp_path, path, refused, taken):
    model = SOURCE / "tests" / "data" / "cross_encoders" / "distilbert"
    begins = as_json("/rerank", query="a", texts=["a"])
    with Busy(tmp_path, "--max-queue-tokens", "40", model=model, dimension=1, first=begins) as busy:
        with busy.daemon.connect() as second, busy.daemon.connect() as third:
            second.sendall(as_json(path, **taken))
            wait_for(lambda: waiting_texts(busy.daemon) == 1)
            third.sendall(as_json(path, **refused))
            answer = read_answers(third, 1)[0]
            assert answer.status == 429 and b"of at most 40, and this request has about " in answer.body
            third.sendall(as_json(path, **taken))
            wait_for(lambda: waiting_texts(busy.daemon) == 2)
            busy.go_on()
            for one in (second, third):
                assert read_answers(one, 1)[0].status == 200


@pytest.mark.parametrize("nice", [0, 5, 19])
def test_what_computes_makes_way_for_what_answers(nice):
    arguments = [] if nice == 0 else ["--compute-nice", str(nice)]
    with Daemon("--device", "native:CPU", "--threads", "2", *arguments) as daemon:
        own = os.getpriority(os.PRIO_PROCESS, 0)
        nice = min(own + nice, 19) - own
        assert daemon.embed(["a"] * 500).status == 200
        found = {}
        for thread in os.listdir(f"/proc/{daemon.process.pid}/task"):
            with contextlib.suppress(ProcessLookupError):
                found[int(thread)] = os.getpriority(os.PRIO_PROCESS, int(thread)) - own
        # Those that read and answer requests, the log's and the signals'; and the main thread, which makes the others.
        assert found.pop(daemon.process.pid) == nice
        if nice > 0:
            assert set(found.values()) == {0, nice}
            assert list(found.values()).count(0) >= 3 and list(found.values()).count(nice) >= 3
        else:
            assert set(found.values()) == {0}


def test_freed_memory_is_given_back_while_it_serves():
    with Daemon("--log-level", "debug", "--device", "native:CPU") as daemon:
        assert daemon.embed(["a"] * 100).status == 200
        wait_for(lambda: " KiB of free memory to the system in " in daemon.log())


def test_connections_above_the_limit_are_told_so(tmp_path):
    with Daemon("--max-connections", "2") as daemon:
        with daemon.connect() as first, daemon.connect() as second:
            for one in (first, second):
                one.sendall(get("/v1/models"))
                read_answers(one, 1)
            answer = daemon.exchange(get("/v1/models"))
            assert answer.startswith(b"HTTP/1.1 503 ") and b"\r\nRetry-After: 1\r\n" in answer
            assert daemon.exchange(b"").startswith(b"HTTP/1.1 503 ")  # soon, whoever says nothing
        wait_for(lambda: daemon.exchange(get("/v1/models", headers=b"Connection: close\r\n")).startswith(b"HTTP/1.1 200"))


@pytest.mark.parametrize("transport", ["tcp", "tls", "unix"])
def test_probes_are_answered_above_the_limit(tmp_path, transport):
    arguments = ["--max-connections", "1"]
    if transport == "tls":
        certificate(tmp_path, "first")
        arguments += ["--tls-cert", tmp_path / "cert.pem", "--tls-key", tmp_path / "key.pem"]
    listen = f"unix:{tmp_path / 'x.sock'}" if transport == "unix" else "127.0.0.1:0"

    def connect(daemon):
        if transport == "unix":
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(LIMIT)
            connection.connect(str(tmp_path / "x.sock"))
            return connection
        return tls_connect(daemon) if transport == "tls" else daemon.connect()

    def status(daemon, data):
        with connect(daemon) as connection:
            connection.sendall(data)
            answer = read_to_end(connection)
            assert b"\r\nConnection: close\r\n" in answer
            return int(answer.split()[1])

    with Daemon(*arguments, listen=listen) as daemon, connect(daemon) as only:
        only.sendall(get("/v1/models"))
        read_answers(only, 1)
        for path in ("/v2/health/live", "/v2/health/ready", "/ping", "/health", "//health/"):
            assert status(daemon, get(path)) == 200, path
        assert status(daemon, get("/ping").replace(b"GET", b"HEAD")) == 200
        for other in (get("/v1/models"), get("/"), get("/metrics"), get("/ping/x"), get("/none"), post(texts("a")),
                      post(b"{}", path="/ping"), get("/ping", headers=b"Content-Length: 1\r\n") + b"x"):
            assert status(daemon, other) == 503, other
        silent = [connect(daemon) for _ in range(80)] if transport != "tls" else []  # more than there are places
        assert status(daemon, get("/v2/health/live")) == 200
        for one in silent:
            one.close()
        only.sendall(get("/v1/models"))
        assert read_answers(only, 1)[0].status == 200


# Keys, TLS, sockets.


def test_keys(tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("first\nsecond\n")
    with Daemon("--api-key-file", keys) as daemon:
        def status(path="/v1/models", **headers):
            return daemon.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()}).status

        missing = daemon.get("/v1/models")
        assert missing.status == 401 and missing.headers["www-authenticate"] == "Bearer"
        assert missing.json()["error"]["code"] == "invalid_api_key"
        # Refused before its body is read.
        large = daemon.ask("POST", "/v1/embeddings", json.dumps({"model": "f32", "input": "a" * 30_000}))
        assert large.status == 401 and large.headers["www-authenticate"] == "Bearer"
        for value in ("Bearer wrong", "Bearer firs", "Bearer", "first", "Basic first"):
            assert status(Authorization=value) == 401, value
        for value in ("Bearer first", "bearer second", "BEARER first"):
            assert status(Authorization=value) == 200, value
        assert status(x_api_key="second") == 200 and status(x_api_key="third") == 401
        assert status("/latebind/status") == 401
        for path in ("/", "/openapi.json", "/metrics", "/health"):
            assert status(path) == 200, path
        body = post(b"0\r\nAuthorization: Bearer first\r\n\r\n", b"Transfer-Encoding: chunked\r\n")
        assert ask(daemon, body)[0].status == 401  # a trailer is no header

        keys.write_text("third\n")
        daemon.signal(signal.SIGHUP)
        wait_for(lambda: "read again" in daemon.log())
        assert status(x_api_key="first") == 401 and status(x_api_key="third") == 200
        keys.write_text("# none\n")
        daemon.signal(signal.SIGHUP)
        wait_for(lambda: "are unchanged" in daemon.log())
        assert status(x_api_key="third") == 200
        for key in ("first", "second", "third", "wrong"):
            assert key not in daemon.log()


def certificate(folder, name):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2",
                    "-keyout", folder / "key.pem", "-out", folder / "cert.pem"], check=True, stderr=subprocess.DEVNULL)


def tls_context(version=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if version is not None:
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = context.maximum_version = version
    return context


def tls_connect(daemon, version=None):
    return tls_context(version).wrap_socket(daemon.connect())


def metrics(daemon):
    with tls_connect(daemon) as connection:
        connection.sendall(get("/metrics", headers=b"Connection: close\r\n"))
        return read_to_end(connection).decode()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tls(tmp_path):
    certificate(tmp_path, "first")
    arguments = ["--tls-cert", tmp_path / "cert.pem", "--tls-key", tmp_path / "key.pem", "--max-body", "64KiB"]
    with Daemon(*arguments) as daemon:
        assert daemon.url.startswith("https://127.0.0.1:")
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with tls_connect(daemon, version) as connection:
                connection.sendall(get("/v1/models") + post(texts("a")))
                assert [one.status for one in read_answers(connection, 2)] == [200, 200]
        with pytest.raises((ssl.SSLError, ConnectionError)):
            tls_connect(daemon, ssl.TLSVersion.TLSv1_1)
        with tls_connect(daemon) as connection:  # the answer is seen, though much is still sent
            connection.sendall(post(b"", b"Content-Length: 10000000\r\n"))
            connection.sendall(b"x" * 60_000)
            assert read_to_end(connection).startswith(b"HTTP/1.1 413 ")
        for request in (get("/v1/models"), post(texts("a"))):
            with daemon.connect() as plain:
                plain.sendall(request)
                answer = read_to_end(plain)
                assert answer.startswith(b"HTTP/1.1 400 ") and b"Connection: close" in answer
                assert b"this port speaks only TLS: use https:// instead of http://" in answer
        wait_for(lambda: daemon.log().count(" needs_tls ") == 2)
        assert 'te_request_failure{err="needs_tls"} 2' in metrics(daemon)

        before = daemon.connect()
        old = tls_context().wrap_socket(before).getpeercert(True)
        certificate(tmp_path, "second")
        daemon.signal(signal.SIGHUP)
        wait_for(lambda: "read again" in daemon.log())
        new = tls_connect(daemon).getpeercert(True)
        assert new != old
        (tmp_path / "key.pem").write_text("damaged")
        daemon.signal(signal.SIGHUP)
        wait_for(lambda: "are unchanged" in daemon.log())
        assert tls_connect(daemon).getpeercert(True) == new
        assert daemon.end() == 0


def test_keys_and_certificates_are_read_again_both_or_neither(tmp_path):
    certificate(tmp_path, "first")
    keys = tmp_path / "keys"
    keys.write_text("old\n")
    with Daemon("--tls-cert", tmp_path / "cert.pem", "--tls-key", tmp_path / "key.pem", "--api-key-file", keys) as daemon:
        def status(key):
            with tls_connect(daemon) as connection:
                connection.sendall(get("/v1/models", headers=f"x-api-key: {key}\r\n".encode()))
                return read_answers(connection, 1)[0].status

        keys.write_text("new\n")
        (tmp_path / "cert.pem").write_text("damaged")
        daemon.signal(signal.SIGHUP)
        wait_for(lambda: "are unchanged" in daemon.log())
        assert (status("old"), status("new")) == (200, 401)


def test_unix_sockets(tmp_path):
    path = tmp_path / "s.sock"
    left_over = socket.socket(socket.AF_UNIX)
    left_over.bind(str(path))
    left_over.close()
    with Daemon(listen=f"unix:{path},127.0.0.1:0") as daemon:
        assert daemon.addresses[0] == f"unix:{path}" and daemon.addresses[1].startswith("http://127.0.0.1:")
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o660
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(LIMIT)
            connection.connect(str(path))
            connection.sendall(get("/v1/models"))
            assert read_answers(connection, 1)[0].status == 200
        code, said = run_serve("--model", TINY, "--listen", f"unix:{path}")
        assert code == 1 and str(path) in said and "in use" in said
        assert daemon.end() == 0
        assert not path.exists() and not daemon.ready_file.exists()
    path.write_text("mine")
    code, said = run_serve("--model", TINY, "--listen", f"unix:{path}")
    assert code == 1 and str(path) in said
    assert path.read_text() == "mine"


def test_addresses_may_come_one_by_one(tmp_path):
    with Daemon("--listen", f"unix:{tmp_path}/s.sock") as daemon:
        assert [address.split(":")[0] for address in daemon.addresses] == ["http", "unix"]


def test_a_port_in_use_is_told_and_leaves_nothing_behind(daemon, tmp_path):
    port = daemon.address[1]
    path = tmp_path / "s.sock"
    code, said = run_serve("--model", TINY, "--listen", f"unix:{path},127.0.0.1:{port}")
    assert code == 1 and f"127.0.0.1:{port}" in said and "in use" in said and "--port" in said, said
    assert not path.exists()


@pytest.mark.parametrize("arguments", [
    ["--model", TINY, "--listen", "nowhere"], ["--model", TINY, "--max-body", "x"], ["--model", TINY, "--wrong"],
    ["--model", TINY, "--max-connections", "0"], ["--model", "=x"], [],
    ["--model", TINY, "--log-format", "xml"], ["--model", TINY, "--tls-cert", "x"], ["--model", TINY, "--listen", "::1:80"],
    ["--model", TINY, "--cors-origin", "https://page.example/"],
    ["--model", TINY, "--otlp-endpoint", "nowhere"], ["--model", TINY, "--max-body", "0"], ["--model", TINY, "--listen="],
], ids=lambda arguments: " ".join(map(str, arguments[-2:])))
def test_wrong_options_are_told(arguments):
    code, said = run_serve(*arguments)
    assert code == 2 and said.startswith("latebind: ") and len(said.splitlines()) <= 2, said


def test_files_that_are_not_there_are_named(tmp_path):
    for arguments in (["--api-key-file", tmp_path / "none"],
                      ["--tls-cert", tmp_path / "none", "--tls-key", tmp_path / "none"]):
        code, said = run_serve("--model", TINY, "--listen", "127.0.0.1:0", *arguments)
        assert code != 0 and str(tmp_path / "none") in said, said


# The end, and what is told.


def test_sigterm_under_load_answers_every_request_that_was_sent():
    with Daemon() as daemon:
        stopping = threading.Event()
        statuses, failures = [], []

        def client():
            try:
                with daemon.connect() as connection:
                    while True:
                        connection.sendall(post(texts("one", "two")))
                        (answer,) = read_answers(connection, 1)
                        statuses.append(answer.status)
                        if "connection" in answer.headers:
                            return
            except (OSError, IndexError) as failure:
                failures.append((repr(failure), stopping.is_set()))

        threads = [threading.Thread(target=client) for _ in range(8)]
        for thread in threads:
            thread.start()
        wait_for(lambda: len(statuses) > 100)
        stopping.set()
        daemon.signal(signal.SIGTERM)
        for thread in threads:
            thread.join(LIMIT)
        assert daemon.process.wait(LIMIT) == 0
        assert failures == [] and set(statuses) == {200}


def test_while_it_ends_nobody_new_is_let_in_and_the_accepted_are_answered(tmp_path):
    with Busy(tmp_path) as busy:
        address = busy.daemon.address
        busy.daemon.signal(signal.SIGTERM)

        def is_refused():
            try:
                socket.create_connection(address, LIMIT).close()
            except ConnectionRefusedError:
                return True
            except ConnectionResetError:
                pass  # it came while the door was being closed
            return False

        wait_for(is_refused)
        wait_for(lambda: not busy.daemon.ready_file.exists())
        busy.go_on()
        (answer,) = read_answers(busy.first, 1)
        assert answer.status == 200 and answer.headers["connection"] == "close"
        busy.first.close()
        assert busy.daemon.process.wait(LIMIT) == 0
        assert not busy.daemon.ready_file.exists()


def test_a_second_sigterm_ends_it_at_once(tmp_path):
    path = tmp_path / "s.sock"
    with Busy(tmp_path, "--listen", f"unix:{path}") as busy:
        busy.daemon.signal(signal.SIGTERM)
        wait_for(lambda: "shutting down" in busy.daemon.log())
        wait_for(lambda: not path.exists())
        busy.daemon.signal(signal.SIGTERM)
        assert busy.daemon.process.wait(10) == -signal.SIGTERM


def test_what_does_not_end_in_time_is_told(tmp_path):
    with Busy(tmp_path, "--drain-timeout-ms", "100") as busy:
        busy.daemon.signal(signal.SIGTERM)
        wait_for(lambda: "some requests were not finished" in busy.daemon.log())
        busy.go_on()
        assert busy.daemon.process.wait(LIMIT) == 0


def test_what_was_answered_in_time_is_not_told_to_be_unfinished(tmp_path):
    with Busy(tmp_path, "--drain-timeout-ms", "1000") as busy:
        busy.daemon.signal(signal.SIGTERM)
        wait_for(lambda: not busy.daemon.ready_file.exists())
        busy.go_on()
        assert read_answers(busy.first, 1)[0].status == 200
        assert busy.daemon.process.wait(LIMIT) == 0  # its client has not closed the connection
        assert "not finished" not in busy.daemon.log()


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_log_has_a_line_for_each_request_without_texts_or_keys(tmp_path, form):
    keys = tmp_path / "keys"
    keys.write_text("my-secret-key\n")
    with Daemon("--log-format", form, "--api-key-file", keys) as daemon:
        headers = {"Authorization": "Bearer my-secret-key", "x-request-id": "number-1"}
        assert daemon.embed(["my private text"], model="f32", headers=headers).status == 200
        assert daemon.embed(["my private text"], model="f32", headers={"Authorization": "Bearer my-wrong-key"}).status == 401
        daemon.get("/my/own/path?my-private-query")
        daemon.exchange(b"my private garbage\r\n\r\n")
        daemon.end()
        lines = daemon.log().splitlines()
        if form == "json":  # each line of it, the program's own as well
            own = [line for line in lines if "message" in json.loads(line)]
            assert any("serving at" in json.loads(line)["message"] for line in own)
        else:
            own = [line for line in lines if line.startswith("latebind: ")]
        lines = [line for line in lines if line not in own]
        assert len(lines) == 4, lines
        if form == "json":
            done, unauthorized, unknown, garbage = map(json.loads, lines)
            assert (done["status"], done["route"], done["texts"], done["id"]) == (200, "/v1/embeddings", 1, "number-1")
            assert unauthorized["refusal"] == "unauthorized" and unknown["status"] == 404 and garbage["status"] == 400
        else:
            assert lines[0].startswith("POST /v1/embeddings 200 ") and "id=number-1" in lines[0]
            assert " 401 " in lines[1] and " 404 " in lines[2] and " 400 " in lines[3]
        assert "/my/own/path" in lines[2]
        assert "private" not in daemon.log() and "secret" not in daemon.log() and "wrong-key" not in daemon.log()


def test_the_level_of_the_log_is_read_again(tmp_path):
    config = tmp_path / "config.toml"
    config.write_text('[server]\nlog_level = "warning"\n')

    def lines():
        return [line for line in daemon.log().splitlines() if line.startswith("GET /ping")]

    def reload(said):
        before = daemon.log().count(said)
        daemon.signal(signal.SIGHUP)
        wait_for(lambda: daemon.log().count(said) > before)

    with Daemon("--config", config) as daemon:
        daemon.get("/ping")
        config.write_text('[server]\nlog_level = "info"\n')
        reload("read again")
        wait_for(lambda: daemon.get("/ping").status == 200 and lines())
        config.write_text('[server]\nlog_level = "loud"\n')
        reload("level is unchanged")
        assert "loud" in daemon.log()
        daemon.get("/ping")
        daemon.end()
        assert len(lines()) >= 2


# Unlucky hosts.


def test_a_key_file_that_is_rewritten_while_it_is_read_ends_nothing(tmp_path):
    keys = tmp_path / "keys"
    keys.write_bytes(b"first\n" * 4000)
    with Daemon("--api-key-file", keys) as daemon:
        ending = threading.Event()

        def rewrite():
            while not ending.is_set():
                keys.write_bytes(b"first\n" * 4000)

        writer = threading.Thread(target=rewrite)
        writer.start()
        for _ in range(200):
            daemon.signal(signal.SIGHUP)
            time.sleep(0.002)
        ending.set()
        writer.join()
        assert daemon.get("/ping").status == 200
        assert daemon.end() == 0


def test_a_key_file_may_begin_with_a_byte_order_mark_and_must_be_text(tmp_path):
    keys = tmp_path / "keys"
    keys.write_bytes(b"\xef\xbb\xbffirst\r\n")
    with Daemon("--api-key-file", keys) as daemon:
        assert daemon.get("/latebind/status", headers={"x-api-key": "first"}).status == 200
    keys.write_bytes("first\n".encode("utf-16"))
    code, said = run_serve("--model", TINY, "--listen", "127.0.0.1:0", "--api-key-file", keys)
    assert code == 1 and "not UTF-8" in said


def test_an_error_stream_that_nobody_reads_holds_nothing_up(tmp_path):
    ready = tmp_path / "ready"
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    process = subprocess.Popen([PROGRAM, "serve", "--model", TINY, "--listen", "127.0.0.1:0", "--ready-file", ready],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=writer,
                               env=os.environ | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")})
    os.close(writer)
    try:
        wait_for(ready.exists)
        connection = http.client.HTTPConnection(ready.read_text().split()[0].removeprefix("http://"), timeout=LIMIT)
        for _ in range(2000):  # lines of more than a pipe takes
            connection.request("GET", "/v1/models")
            assert connection.getresponse().read()
        connection.close()
        waiting = struct.unpack("i", fcntl.ioctl(reader, termios.FIONREAD, bytes(4)))[0]
        assert waiting > 4096 - 200, waiting  # it is full: a line waits for its reader
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT) == 0
    finally:
        process.kill()
        process.wait()
        os.close(reader)


def test_sigterm_while_a_model_loads_ends_it_at_once(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as hub:  # accepts, and never answers
        path = tmp_path / "s.sock"
        process = subprocess.Popen([PROGRAM, "serve", "--model", "org/name", "--listen", f"unix:{path}"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env=os.environ | {"HOME": str(tmp_path), "HF_ENDPOINT": f"http://127.0.0.1:{hub.getsockname()[1]}"})
        try:
            hub.settimeout(LIMIT)
            hub.accept()
            process.send_signal(signal.SIGHUP)  # is heard when the model is there
            process.send_signal(signal.SIGTERM)
            assert process.wait(LIMIT) == -signal.SIGTERM
            assert not path.exists()
        finally:
            process.kill()
            process.wait()


def test_the_ready_file_is_ones_own(tmp_path):
    ready = tmp_path / "ready"
    ready.write_text("http://127.0.0.1:1\n")  # of a daemon that was killed
    code, _ = run_serve("--model", tmp_path / "none", "--listen", "127.0.0.1:0", "--ready-file", ready)
    assert code == 1 and not ready.exists()
    code, said = run_serve("--model", TINY, "--listen", "127.0.0.1:0", "--ready-file", tmp_path / "none" / "ready")
    assert code == 1 and "is ready" not in said
    with Daemon() as daemon:
        daemon.ready_file.write_text("http://127.0.0.1:2\n")  # of another daemon by now
        assert daemon.end() == 0
        assert daemon.ready_file.read_text() == "http://127.0.0.1:2\n"
    with Daemon() as daemon:
        # A second one that cannot have the address leaves that of the first one alone.
        addresses = daemon.ready_file.read_text()
        code, said = run_serve("--model", TINY, "--listen", addresses.strip().removeprefix("http://"), "--ready-file",
                               daemon.ready_file)
        assert code == 1 and "in use" in said
        assert daemon.ready_file.read_text() == addresses


def test_a_host_without_files_left_is_told_so():
    for files in range(4, 7):
        done = subprocess.run(["sh", "-c", 'ulimit -n "$1" && shift && exec "$@"', "sh", str(files), PROGRAM, "serve", "--model", TINY,
                               "--listen", "127.0.0.1:0"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              encoding="utf-8", timeout=LIMIT)
        assert done.returncode == 1 and "Too many open files" in done.stderr and "defect" not in done.stderr, (files, done.stderr)


def test_two_models_of_one_name_are_refused_before_they_are_loaded():
    code, said = run_serve("--model", f"a={TINY}", "--model", f"a={TINY}", "--listen", "127.0.0.1:0")
    assert code == 2 and f"two models are called 'a': 'a={TINY}' and 'a={TINY}'" in said and "is ready" not in said


def test_the_status_counts_for_each_model():
    with Daemon(models=(f"a={TINY}", f"b={TINY}")) as daemon:
        def totals(model):
            return daemon.status()["models"][model]["totals"]

        before = totals(1)  # batches that made the device warm
        assert daemon.embed(["one", "two words"], model="b").status == 200
        wait_for(lambda: totals(1)["batches"] > before["batches"])
        more = {key: count - before[key] for key, count in totals(1).items()}
        assert totals(0)["texts"] == 0 and more["texts"] == 2 and more["tokens"] > 2
        assert more["batch_tokens"] == more["tokens"] + more["padded_tokens"]


def test_a_device_that_computes_wrongly_is_passed_over_at_the_start(tmp_path):
    env, _ = fake_openvino(tmp_path, "device GPU\ndevice CPU\nencoder 32\non GPU wrong-numbers\n")
    with Daemon("--verify", "--against", "openvino:CPU", "--device", "openvino:GPU,openvino:CPU", env=env) as daemon:
        (model,) = daemon.status()["models"]
        assert model["device"] == "openvino:CPU" and model["fallback"]
        assert "openvino:GPU: it disagrees with openvino:CPU in f32: output" in model["reason"]
        assert model["verification"] == "it is the device that others are compared with"
    with Daemon("--verify", models=(MODEL,)) as daemon:
        (model,) = daemon.status()["models"]
        assert model["verification"].startswith("agrees with "), model
