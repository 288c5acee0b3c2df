"""A stand-in for `latebind serve`: the page as lb_page_demo renders it, and a status that a test changes."""

import contextlib
import copy
import hashlib
import http.server
import json
import math
import re
import socket
import subprocess
import threading

NPU = (
    "openvino:NPU: the runtime lists CPU only; the driver's library libze_intel_npu.so.1 was not found in the folders of "
    "the system, and /dev/accel/accel0 does not exist: install the driver, and see that this user is in the group render"
)
LOST = (
    "openvino:NPU: compiling ended with GENERAL_ERROR (-17): zeCommandQueueExecuteCommandLists result: "
    "ZE_RESULT_ERROR_DEVICE_LOST, code 0x70000001: the device hung, was reset or was removed; the driver's log says more"
)
QUIET = {
    "version": "0.1.0",
    "ready": True,
    "uptime_s": 15_134.2,
    "started_at": "2026-11-23T08:12:40Z",
    "listen": ["http://127.0.0.1:8080"],
    "models": [
        {
            "name": "all-MiniLM-L6-v2",
            "kind": "embedding",
            "dimension": 384,
            "max_tokens": 256,
            "backend": "openvino",
            "device": "openvino:CPU",
            "device_full_name": "AMD EPYC 9354P 32-Core Processor",
            "runtime_version": "2026.4.1-22982-e213a147257",
            "precision": "f32",
            "threads": 2,
            "requests": 1,
            "from_cache": True,
            "load_s": 0.352,
            "fallback": False,
            "reason": "",
            "steps": [
                {"device": "openvino:NPU", "taken": False, "brief": "no such device", "reason": NPU},
                {"device": "openvino:GPU", "taken": False, "brief": "no such device", "reason": "no such device"},
                {"device": "openvino:CPU", "taken": True, "brief": "", "reason": ""},
            ],
            "breaker_open": False,
            "hung_runs": 0,
            "queue": {"texts": 0, "tokens": 0, "running_batches": 0},
            "totals": {"texts": 0, "tokens": 0, "batches": 0, "batch_tokens": 0, "padded_tokens": 0, "fallback_texts": 0},
            "batches": [],
        }
    ],
    "requests": {
        "in_flight": 0,
        "total": 0,
        "refused": 0,
        "failed": 0,
        "per_s": 0.0,
        "texts_per_s": 0.0,
        "tokens_per_s": 0.0,
        "p50_ms": 0,
        "p95_ms": 0,
        "p99_ms": 0,
    },
    "connections": 1,
    "memory": {"resident_bytes": 187_400_000},
    "limits": {
        "queue_tokens": 131_072,
        "texts": 2048,
        "body_bytes": 33_554_432,
        "request_timeout_ms": 60_000,
        "connections": 1024,
    },
    "cache": {"enabled": True, "folder": "/var/cache/latebind", "max_bytes": 2_000_000_000},
}


def quiet():
    return copy.deepcopy(QUIET)


def fallback():
    """The accelerator was there, and could not be used."""
    status = quiet()
    model = status["models"][0]
    model.update(backend="onnxruntime", device="onnxruntime:CPU", runtime_version="1.31.1", fallback=True)
    model["reason"] = "using onnxruntime:CPU, because openvino:NPU: compilation failed (ZE_RESULT_ERROR_DEVICE_LOST)"
    model["steps"] = [
        {"device": "openvino:NPU", "taken": False, "brief": "compilation failed", "reason": LOST},
        {"device": "openvino:CPU", "taken": False, "brief": "left out by the placement", "reason": "left out by the placement"},
        {"device": "onnxruntime:CPU", "taken": True, "brief": "", "reason": ""},
    ]
    return status


def busy(second):
    """A server at work: the same for the same second."""
    status = quiet()
    model = status["models"][0]
    wave = 0.5 + 0.5 * math.sin(second / 9.0)
    ripple = math.sin(second * 2.3) + math.sin(second * 0.71 + 1)
    texts = 930 + 420 * wave + 35 * ripple
    waiting = max(0, int(9000 * wave * wave + 1400 * ripple))
    batches = []
    for i in range(40):
        number = 18_200 + int(second) * 24 + i
        chance = hashlib.sha256(str(number).encode()).digest()
        rows, width = (8, 16, 32, 32)[chance[0] % 4], (16, 32, 32, 48, 64)[chance[1] % 5]
        tokens = int(rows * width * (0.72 + 0.27 * chance[2] / 255))
        computed = (tokens + rows * width) // 2  # padded in attention alone
        owners = 1 + chance[3] % min(rows, 12)
        time = round(rows * width * 0.021 + 1.5, 1)
        batches.append(
            {"number": number, "texts": rows, "rows": rows, "width": width, "tokens": tokens,
             "computed_tokens": computed, "padded_tokens": computed - tokens, "owners": owners, "ms": time}
        )
    total = 380_000 + int(second * 1100)
    status["uptime_s"] += second
    model["queue"] = {"texts": waiting // 24, "tokens": waiting, "running_batches": 1}
    model["totals"] = {
        "texts": total,
        "tokens": total * 24,
        "batches": total // 21,
        "batch_tokens": int(total * 24 * 1.16),
        "padded_tokens": int(total * 24 * 0.16),
        "fallback_texts": 0,
    }
    model["batches"] = batches
    p50 = 11 + 7 * wave + 0.6 * ripple
    status["requests"].update(
        in_flight=int(14 + 8 * wave),
        total=total // 8,
        refused=12,
        per_s=round(texts / 8, 1),
        texts_per_s=round(texts, 1),
        tokens_per_s=round(texts * 24.3, 1),
        p50_ms=round(p50, 2),
        p95_ms=round(p50 * 1.7 + 3 * wave, 2),
        p99_ms=round(p50 * 2.3 + 8 * wave * wave, 2),
    )
    status["connections"] = 18
    return status


def vector_of(text):
    """Texts that share words and parts of words are similar."""
    vector = [0.0] * 128
    for word in re.findall(r"\w+", text.lower()):
        for part in [word] * 2 + [word[i : i + 3] for i in range(max(1, len(word) - 2))]:
            vector[hashlib.sha256(part.encode()).digest()[0] % 128] += 1.0
    return vector


class StandIn:
    """Answers on a free port of loopback, in threads of its own."""

    def __init__(self, demo):
        self.demo = demo
        self.status = quiet()
        self.next_status = None  # asked for each status, when there is one
        self.key = ""
        self.keys_seen = []
        self.policy = subprocess.run([demo, "--policy"], capture_output=True, check=True, text=True).stdout
        self.server = None
        self.connections = set()
        self.start(0)

    def start(self, port):
        stand_in = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                stand_in.connections.add(self.connection)

            def finish(self):
                stand_in.connections.discard(self.connection)
                super().finish()

            def log_message(self, *_):
                pass

            def answer(self, code, kind, body, headers=()):
                data = body.encode()
                self.send_response(code)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                for name, value in headers:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def is_refused(self):
                given = self.headers.get("Authorization", "")
                stand_in.keys_seen.append(given)
                if stand_in.key and given != f"Bearer {stand_in.key}":
                    self.answer(401, "application/json", '{"error":{"message":"no key"}}')
                    return True
                return False

            def do_GET(self):
                if self.path == "/":
                    page = stand_in.page({"wants_key": True} if stand_in.key else stand_in.status)
                    self.answer(200, "text/html; charset=utf-8", page, [("Content-Security-Policy", stand_in.policy)])
                elif self.path == "/latebind/status":
                    if not self.is_refused():
                        self.answer(200, "application/json", json.dumps(stand_in.current()))
                else:
                    self.answer(404, "text/plain", "no such path")

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.is_refused():
                    return
                assert self.path == "/v1/embeddings"
                if any("refuse me" in text for text in body["input"]):
                    self.answer(429, "application/json", '{"error":{"message":"too much <b>waits</b>"}}')
                    return
                vectors = [vector_of(text) for text in body["input"]]
                data = [{"object": "embedding", "index": i, "embedding": one} for i, one in enumerate(vectors)]
                tokens = sum(len(text.split()) + 2 for text in body["input"])
                answer = {"object": "list", "data": data, "model": body["model"], "usage": {"prompt_tokens": tokens}}
                self.answer(200, "application/json", json.dumps(answer), [("x-latebind-device", "openvino:CPU")])

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def current(self):
        if self.next_status is not None:
            self.status = self.next_status()
        return self.status

    def page(self, status):
        return subprocess.run(
            [self.demo], input=json.dumps(status).encode(), capture_output=True, check=True
        ).stdout.decode()

    def stop(self):
        """Takes no more connections, and ends those that there are."""
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
        for connection in list(self.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
