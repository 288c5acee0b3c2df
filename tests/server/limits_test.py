"""The limits of the daemon, and the time that requests have: clients that leave, deadlines, overload."""

import contextlib
import os
import socket
import time
from pathlib import Path

import pytest
from daemon import LIMIT, SOURCE, Daemon, read_answers, read_to_end, wait_for
from raw_requests import Busy, as_json, certificate, get, post, texts, tls_connect, waiting_texts


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
