"""A model hub of the tests' own: speaks the hub's protocol on this machine, and misbehaves when told to."""

import hashlib
import json
import re
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_secret_of_the_tests"


def git_name(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def sha256(content):
    return hashlib.sha256(content).hexdigest()


class Model:
    """A repository: its files by name, and the revisions that lead to its one commit."""

    def __init__(self, files, commit=COMMIT, revisions=("main",), large=(".safetensors", ".onnx", ".bin", ".h5")):
        self.files = files
        self.commit = commit
        self.revisions = set(revisions)
        self.large = large

    def is_large(self, name):
        return name.endswith(self.large)

    def etag(self, name):
        content = self.files[name]
        return sha256(content) if self.is_large(name) else git_name(content)

    def blob(self, name):
        """What the hub tells of a file among its siblings; of a large one git has a pointer."""
        content = self.files[name]
        if not self.is_large(name):
            return {"blobId": git_name(content), "size": len(content)}
        return {"blobId": git_name(b"pointer"), "size": len(content),
                "lfs": {"sha256": sha256(content), "size": len(content), "pointerSize": 7}}


class Fault:
    """What one request gets instead of the truth. `kind`: status, cut, hang, corrupt, redirect, etag, drip."""

    def __init__(self, kind, *arguments, **headers):
        self.kind = kind
        self.arguments = arguments
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # head and body in one piece

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer()

    def do_GET(self):
        self.answer()

    @property
    def hub(self):
        return self.server.hub

    def send(self, status, content=b"", headers=None, cut=None):
        """`cut`: closes the connection after so many bytes."""
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if "Content-Length" not in (headers or {}):
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "HEAD":
            return
        self.wfile.write(content if cut is None else content[:cut])
        if cut is not None:
            self.close_connection = True

    def send_json(self, value):
        self.send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def fail(self, status, code, **headers):
        self.send(status, b'{"error":"no"}', {"X-Error-Code": code} | headers)

    def answer(self):
        # A proxy is asked for a whole address.
        path = unquote(urlsplit(self.path).path)
        entry = (self.server.name, self.command, path, dict(self.headers.items()), self.path)
        with self.hub.lock:
            self.hub.requests.append(entry)
            fault = self.hub.next_fault(self.command, path)
        if fault is not None and self.misbehave(fault, path):
            return
        with_fault = fault if fault is not None and fault.kind in ("cut", "corrupt", "etag", "drip", "stop") else None
        if self.server.name == "cdn":
            self.send_content(self.hub.contents[path.removeprefix("/")], {"ETag": '"of-the-storage"'}, with_fault)
            return
        match = re.fullmatch(r"/api/models/((?:[^/]+/)?[^/]+)/(revision|tree)/(.+)", path)
        if match:
            self.answer_api(*match.groups())
            return
        match = re.fullmatch(r"/((?:[^/]+/)?[^/]+)/resolve/([^/]+)/(.+)", path)
        if match:
            self.answer_file(*match.groups(), with_fault)
            return
        self.fail(404, "RepoNotFound")

    def misbehave(self, fault, path):
        if fault.kind == "status":
            self.send(fault.arguments[0], b"no", fault.headers)
        elif fault.kind == "redirect":
            self.send(302, b"", {"Location": fault.arguments[0] or self.path})
        elif fault.kind == "hang":
            self.hub.closing.wait(60)
            self.close_connection = True
        elif fault.kind == "json":
            self.send(200, fault.arguments[0])
        else:
            return False
        return True

    def model_of(self, name):
        model = self.hub.models.get(name)
        if model is None:
            self.fail(401, "RepoNotFound")
            return None
        guard = self.hub.guards.get(name)
        if guard and self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self.fail(401, guard)
            return None
        if guard == "NotYours":
            self.fail(403, "GatedRepo")
            return None
        return model

    def answer_api(self, name, what, revision):
        model = self.model_of(name)
        if model is None:
            return
        if revision not in model.revisions | {model.commit}:
            self.fail(404, "RevisionNotFound")
        elif what == "revision":
            with_blobs = self.hub.tells_blobs and "blobs=true" in urlsplit(self.path).query
            self.send_json({"id": name, "sha": model.commit, "private": False, "tags": ["bert"],
                            "siblings": [{"rfilename": file} | (model.blob(file) if with_blobs else {})
                                         for file in model.files]})
        else:
            self.send_json([
                {"type": "file", "path": file, "oid": git_name(content), "size": len(content)}
                | ({"lfs": {"oid": sha256(content), "size": len(content), "pointerSize": 130}}
                   if model.is_large(file) else {})
                for file, content in model.files.items()
            ])

    def answer_file(self, name, revision, file, fault):
        model = self.model_of(name)
        if model is None:
            return
        if revision not in model.revisions | {model.commit}:
            self.fail(404, "RevisionNotFound")
            return
        if file not in model.files:
            self.fail(404, "EntryNotFound", **{"X-Repo-Commit": model.commit})
            return
        content = model.files[file]
        etag = model.etag(file)
        if fault is not None and fault.kind == "etag":
            etag = fault.arguments[0]
        headers = {"X-Repo-Commit": model.commit}
        if not model.is_large(file):
            self.send_content(content, headers | {"ETag": f'W/"{etag}"'}, fault)
            return
        self.hub.contents[model.etag(file)] = content
        self.send(302, b"", headers | {
            "X-Linked-Etag": f'"{etag}"', "X-Linked-Size": str(len(content)), "ETag": '"of-the-pointer"',
            "Location": f"{self.hub.cdn_url}/{model.etag(file)}?signature=not-for-logs",
        })

    def send_content(self, content, headers, fault):
        kind = fault.kind if fault is not None else None
        if kind == "corrupt":
            content = bytes([content[0] ^ 1]) + content[1:]
        status, whole = 200, content
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if wanted and self.hub.ranges:
            start = int(wanted.group(1))
            if start >= len(content):
                self.send(416, b"", {"Content-Range": f"bytes */{len(content)}"})
                return
            content = content[start:]
            status = 206
            headers = headers | {"Content-Range": f"bytes {start}-{len(whole) - 1}/{len(whole)}"}
        if kind == "drip":
            self.drip(status, content, headers, *fault.arguments)
            return
        self.send(status, content, headers, cut=fault.arguments[0] if kind == "cut" else None)

    def drip(self, status, content, headers, first):
        """Sends the first bytes, tells the test, and goes on when it says so."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        try:
            self.wfile.write(content[:first])
            self.wfile.flush()
            self.hub.dripping.set()
            self.hub.go_on.wait(60)
            self.wfile.write(content[first:])
        except OSError:
            self.close_connection = True


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request, client_address):
        # Clients that go away, or that do not trust us, are what some tests are about.
        if not isinstance(sys.exc_info()[1], (ConnectionError, ssl.SSLError)):
            super().handle_error(request, client_address)


class Hub:
    """The hub and its storage, each on a port of its own."""

    def __init__(self, certificate=None):
        self.models = {}
        self.guards = {}  # model: the error code for those without the token
        self.contents = {}  # of the storage
        self.requests = []  # (server, method, path, headers, raw path)
        self.faults = []  # (pattern of "METHOD /path", [Fault])
        self.ranges = True
        self.tells_blobs = True
        self.lock = threading.Lock()
        self.closing = threading.Event()
        self.dripping = threading.Event()
        self.go_on = threading.Event()
        self.servers = []
        self.cdn_url = self.serve("cdn", None)
        self.url = self.serve("hub", certificate)

    def serve(self, name, certificate):
        server = Server(("127.0.0.1", 0), Handler)
        server.name = name
        server.hub = self
        scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
            scheme = "https"
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.servers.append(server)
        return f"{scheme}://127.0.0.1:{server.server_address[1]}"

    def close(self):
        self.closing.set()
        self.go_on.set()
        for server in self.servers:
            server.shutdown()
            server.server_close()

    def misbehave(self, pattern, *faults):
        """The next requests whose "METHOD /path" matches get these, one each."""
        self.faults.append((re.compile(pattern), list(faults)))

    def next_fault(self, method, path):
        for pattern, faults in self.faults:
            if faults and pattern.search(f"{method} {path}"):
                return faults.pop(0)
        return None

    def asked(self, pattern=""):
        """Requests so far, as "server METHOD /path"."""
        with self.lock:
            lines = [f"{server} {method} {path}" for server, method, path, _, _ in self.requests]
        return [line for line in lines if re.search(pattern, line)]

    def wait_for(self, event):
        assert event.wait(30), "the request that the test waits for never came"


def wait_until(holds, seconds=30):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "what the test waits for did not happen"
        time.sleep(0.01)
