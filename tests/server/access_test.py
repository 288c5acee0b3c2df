"""Who may ask the daemon, and where it listens: keys, TLS, sockets, and wrong options."""

import json
import os
import signal
import socket
import ssl
import stat

import pytest
from daemon import LIMIT, TINY, Daemon, read_answers, read_to_end, run_serve, wait_for
from raw_requests import ask, certificate, get, metrics, post, texts, tls_connect, tls_context


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
