"""A running `latebind serve`: started on a free port with a home of its own, asked, and ended whatever happens."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

SOURCE = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
BINARIES = Path(os.environ["LATEBIND_TEST_BINARY_DIR"])
PROGRAM = BINARIES / "bin" / "latebind"
RUNTIME = SOURCE / "build" / "runtime"
MODEL = RUNTIME / "model" / "all-MiniLM-L6-v2"
TINY = SOURCE / "tests" / "data" / "tiny-bert" / "f32"
GOLDEN = SOURCE / "tests" / "data" / "golden"
FAKE_OPENVINO = BINARIES / "lib" / "liblb_fake_openvino.so"

LIMIT = 60  # seconds for anything that must happen


class Answer:
    """An answer of HTTP: status, headers with names in lower case, body."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status} {self.headers} {self.body[:300]}>"


def wait_for(what, limit=LIMIT):
    """The first true value of what(); for what shows only by asking."""
    end = time.monotonic() + limit
    while True:
        found = what()
        if found:
            return found
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def fake_openvino(folder, script):
    """Environment in which the vendor library is a fake that obeys `script`; returns it and the script's file."""
    library = Path(folder) / "libopenvino_c.so"
    shutil.copy2(FAKE_OPENVINO, library)
    file = Path(folder) / "script"
    file.write_text(script)
    return {"LATEBIND_OPENVINO_LIBRARY": str(library), "LATEBIND_FAKE_SCRIPT": str(file)}, file


def run_serve(*arguments, env=None, timeout=LIMIT):
    """For what ends by itself: (exit code, what it said)."""
    with tempfile.TemporaryDirectory(prefix="latebind-serve-") as home:
        done = subprocess.run([PROGRAM, "serve", *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8", timeout=timeout,
                              env=os.environ | {"HOME": home, "XDG_CACHE_HOME": home + "/cache"} | (env or {}))
    assert not done.stdout, done.stdout
    return done.returncode, done.stderr


class Daemon:
    """with Daemon("--max-body", "1KiB") as daemon: …

    `under`: a command that runs the daemon in its own process."""

    def __init__(self, *arguments, models=(TINY,), listen="127.0.0.1:0", env=None, under=()):
        self.home = tempfile.TemporaryDirectory(prefix="latebind-serve-")
        self.folder = Path(self.home.name)
        self.log_file = self.folder / "log"
        ready = self.folder / "ready"
        command = [*under, PROGRAM, "serve", "--listen", listen, "--ready-file", ready]
        for model in models:
            command += ["--model", model]
        environment = os.environ | {"HOME": str(self.folder), "XDG_CACHE_HOME": str(self.folder / "cache")} | (env or {})
        with open(self.log_file, "wb") as log:
            self.process = subprocess.Popen([*map(str, command), *map(str, arguments)], stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=log, env=environment)
        try:
            wait_for(lambda: ready.exists() or self.process.poll() is not None)
            assert self.process.poll() is None, self.log()
        except AssertionError:
            self.kill()
            raise
        self.ready_file = ready
        self.addresses = ready.read_text().splitlines()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            print(self.log())
        self.kill()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(LIMIT)
        self.home.cleanup()

    def log(self):
        return self.log_file.read_text(errors="replace")

    def signal(self, number):
        self.process.send_signal(number)

    def end(self, limit=LIMIT):
        """Asks it to end; its exit code."""
        self.signal(signal.SIGTERM)
        return self.process.wait(limit)

    @property
    def url(self):
        return self.addresses[0]

    @property
    def address(self):
        parts = urlsplit(self.url)
        return parts.hostname, parts.port

    def connect(self):
        connection = socket.create_connection(self.address, LIMIT)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection(*self.address, timeout=LIMIT)
        try:
            if body is not None and not isinstance(body, (str, bytes)):
                body = json.dumps(body)
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path, **options):
        return self.ask("GET", path, **options)

    def embed(self, texts, model=None, headers=None, **members):
        model = model or self.get("/v1/models", headers=headers).json()["data"][0]["id"]
        return self.ask("POST", "/v1/embeddings", {"model": model, "input": texts, **members}, headers)

    def status(self):
        return self.get("/latebind/status").json()

    def exchange(self, data, end=False):
        """Sends bytes over a connection of their own; everything that comes until the server ends it."""
        with self.connect() as connection:
            connection.sendall(data)
            if end:
                connection.shutdown(socket.SHUT_WR)
            return read_to_end(connection)


def read_to_end(connection):
    received = b""
    while True:
        some = connection.recv(65536)
        if not some:
            return received
        received += some


def read_answers(connection, count, no_body=False):
    """So many answers of one connection, in their order."""
    file = connection.makefile("rb")
    answers = []
    for _ in range(count):
        status = int(file.readline().split()[1])
        headers = {}
        while (line := file.readline().strip()) != b"":
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        length = 0 if no_body or status in (100, 204) else int(headers["content-length"])
        answers.append(Answer(status, headers, file.read(length)))
    return answers
