"""Requests over raw sockets, and daemons that are busy or speak TLS."""

import json
import ssl
import subprocess

from daemon import TINY, Daemon, fake_openvino, read_answers, read_to_end, wait_for

HOST = b"Host: x\r\n"


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
