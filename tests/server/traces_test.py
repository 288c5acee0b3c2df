"""Traces that the daemon sends to a collector: over TLS, past proxies, and without libcurl."""

import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from daemon import TINY, Daemon, run_serve, wait_for
from raw_requests import certificate


class Collector:
    """A collector on this machine. `certificate_folder` has its certificate and key."""

    def __init__(self, certificate_folder=None):
        self.spans = spans = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                assert self.path == "/otlp/v1/traces" and self.headers["Content-Type"] == "application/json"
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                spans.extend(body["resourceSpans"][0]["scopeSpans"][0]["spans"])
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        scheme = "http"
        if certificate_folder:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate_folder / "cert.pem", certificate_folder / "key.pem")
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            self.server.handle_error = lambda *_: None  # a client that does not trust the certificate
            scheme = "https"
        self.url = f"{scheme}://127.0.0.1:{self.server.server_port}/otlp"
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def test_spans_arrive_over_tls_if_the_certificate_is_trusted(tmp_path):
    certificate(tmp_path, "collector")
    with Collector(tmp_path) as collector:
        arguments = ["--otlp-endpoint", collector.url]
        with Daemon(*arguments, env={"SSL_CERT_FILE": str(tmp_path / "cert.pem")}) as daemon:
            assert daemon.ask("POST", "/embed", {"inputs": "a text"}).status == 200
            wait_for(lambda: "/embed" in str(collector.spans))
        collector.spans.clear()
        with Daemon(*arguments, env={"SSL_CERT_FILE": ""}) as daemon:
            assert daemon.ask("POST", "/embed", {"inputs": "a text"}).status == 200
            wait_for(lambda: "cannot send traces to " + collector.url in daemon.log())
            assert "certificate is not trusted; set SSL_CERT_FILE" in daemon.log()
        assert not collector.spans


def test_no_proxy_is_used_for_a_collector_on_this_machine():
    with Collector() as collector, Daemon("--otlp-endpoint", collector.url, env={
            "http_proxy": "http://127.0.0.1:1", "all_proxy": "http://127.0.0.1:1", "no_proxy": ""}) as daemon:
        assert daemon.ask("POST", "/embed", {"inputs": "a text"}).status == 200
        wait_for(lambda: "/embed" in str(collector.spans))


def test_a_proxy_is_used_for_others():
    with Daemon("--otlp-endpoint", "http://collector.invalid:4318", env={
            "http_proxy": "http://proxy.invalid:1", "no_proxy": ""}) as daemon:
        assert daemon.ask("POST", "/embed", {"inputs": "a text"}).status == 200
        wait_for(lambda: "the proxy's name cannot be resolved" in daemon.log())


def test_without_libcurl_the_start_says_that_traces_need_it(tmp_path):
    for name in ("libcurl.so.4", "libcurl-gnutls.so.4"):
        (tmp_path / name).write_text("no library")
    env = {"LD_LIBRARY_PATH": str(tmp_path)}
    arguments = ["--model", TINY, "--listen", "127.0.0.1:0"]
    code, said = run_serve(*arguments, "--otlp-endpoint", "http://127.0.0.1:4318", env=env)
    assert code == 1 and "sending traces (--otlp-endpoint) needs libcurl" in said and "apt-get install libcurl4" in said, said
    assert len(said.splitlines()) <= 2, said
    with Daemon(env=env) as daemon:
        assert daemon.ask("POST", "/embed", {"inputs": "a text"}).status == 200


@pytest.mark.parametrize("endpoint", ["nowhere", "ftp://127.0.0.1:1", "http://127.0.0.1:x"])
def test_wrong_endpoints_are_named(endpoint):
    code, said = run_serve("--model", TINY, "--otlp-endpoint", endpoint)
    assert code == 2 and endpoint in said, said
