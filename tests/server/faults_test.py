"""The daemon on a vendor's library that fails, hangs, lies, vanishes and returns at random, with clients that leave.

Every request is answered exactly once, with a vector that is its own or an error that says why. How many requests:
LATEBIND_TEST_REQUESTS (100,000 for a whole run; the thread and address sanitizers' builds run the same file).
"""

import http.client
import json
import os
import random
import socket
import threading
import time

import pytest

from daemon import LIMIT, TINY, Daemon, fake_openvino, wait_for

REQUESTS = int(os.environ.get("LATEBIND_TEST_REQUESTS", "3000"))
SEED = int(os.environ.get("LATEBIND_TEST_SEED", str(random.SystemRandom().randrange(2**31))))
CLIENTS = 16
TEXTS = [("word " * n + chr(97 + n % 26)).strip() for n in range(1, 21)]

GOOD = "device NPU\ndevice CPU\nencoder 32\n"
FAULTS = [
    "",
    "on NPU chance {seed} 300 fail slow wrong-shape\n",
    "on NPU fail run * -1 the driver died\n",
    "chance {seed} 100 fail slow wrong-shape hang-cancellable\n",
    "on NPU hang-cancellable\n",
    "on NPU slow run 20\n",
    "on CPU chance {seed} 100 fail\n",
]
GONE = "device CPU\nencoder 32\n"

# Answers that the circumstances explain: 500 (every device failed), 429 (too much waits), 503, 504 (time).
EXPLAINED = {500, 429, 503, 504}


def post(connection, texts):
    connection.request("POST", "/v1/embeddings", json.dumps({"model": "tiny", "input": texts}),
                       {"Content-Type": "application/json"})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


class Client(threading.Thread):
    def __init__(self, daemon, reference, number, count):
        super().__init__()
        self.daemon_, self.reference, self.count = daemon, reference, count
        self.random = random.Random(SEED + number)
        self.good = self.refused = self.left = 0
        self.wrong = []

    def run(self):
        connection = http.client.HTTPConnection(*self.daemon_.address, timeout=LIMIT)
        for _ in range(self.count):
            texts = self.random.choices(TEXTS, k=self.random.choice((1, 1, 1, 3, 12)))
            try:
                if self.random.random() < 0.05:
                    self.leave(texts)
                    continue
                status, body = post(connection, texts)
                self.look_at(texts, status, body)
            except Exception as failure:  # noqa: BLE001 - whatever it is, it is the finding
                self.wrong.append(repr(failure))
                connection.close()
                if len(self.wrong) > 5:
                    return
        connection.close()

    def look_at(self, texts, status, body):
        if status != 200:
            self.refused += 1
            if status not in EXPLAINED or not body["error"]["message"]:
                self.wrong.append((status, body))
            return
        self.good += 1
        vectors = [one["embedding"] for one in body["data"]]
        if [one["index"] for one in body["data"]] != list(range(len(texts))):
            self.wrong.append("not in order")
        for text, vector in zip(texts, vectors, strict=True):
            # f16 on the NPU, f32 on the CPU
            if max(abs(a - b) for a, b in zip(self.reference[text], vector, strict=True)) > 2e-2:
                self.wrong.append((text, vector[:4], self.reference[text][:4]))

    def leave(self, texts):
        """Asks, and goes before the answer."""
        body = json.dumps({"model": "tiny", "input": texts}).encode()
        with socket.create_connection(self.daemon_.address, LIMIT) as connection:
            connection.sendall(b"POST /v1/embeddings HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        self.left += 1


def test_every_request_is_answered_once_whatever_the_vendor_does(tmp_path):
    env, script = fake_openvino(tmp_path, GOOD)
    env["LATEBIND_ONNXRUNTIME_LIBRARY"] = "/nonexistent"
    options = ("--device", "npu,cpu", "--precision", "f16,f32", "--shapes", "dynamic", "--run-timeout-ms", "300",
               "--load-timeout-ms", "2000", "--log-format", "json")
    env["LATEBIND_BACKOFF_FIRST_MS"] = "20"
    env["LATEBIND_BACKOFF_MOST_MS"] = "100"
    with Daemon(*options, models=(f"tiny={TINY}",), env=env) as daemon:
        connection = http.client.HTTPConnection(*daemon.address, timeout=LIMIT)
        reference = {}
        for text in TEXTS:
            status, body = post(connection, [text])
            assert status == 200, body
            reference[text] = body["data"][0]["embedding"]
        assert len({tuple(vector) for vector in reference.values()}) > len(TEXTS) // 2

        clients = [Client(daemon, reference, number, REQUESTS // CLIENTS) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        chance = random.Random(SEED)
        while any(client.is_alive() for client in clients):
            fault = chance.choice([*FAULTS, None])
            script.write_text(GONE if fault is None else GOOD + fault.format(seed=chance.randrange(1000)))
            time.sleep(0.05)
        script.write_text(GOOD)
        for client in clients:
            client.join()
        wrong = [one for client in clients for one in client.wrong]
        assert not wrong, f"LATEBIND_TEST_SEED={SEED}: {wrong[:3]}"
        good = sum(client.good for client in clients)
        refused = sum(client.refused for client in clients)
        left = sum(client.left for client in clients)
        print(f"{good} answered, {refused} refused, {left} left; LATEBIND_TEST_SEED={SEED}")
        assert good + refused + left == REQUESTS // CLIENTS * CLIENTS
        assert good > refused

        # It works again, and nothing is left behind. The first connection was idle for so long that it may be closed.
        connection = http.client.HTTPConnection(*daemon.address, timeout=LIMIT)
        wait_for(lambda: post(connection, ["word"])[0] == 200)
        wait_for(lambda: daemon.ask("GET", "/latebind/status").json()["requests"]["in_flight"] == 0)
        assert daemon.ask("GET", "/latebind/status").json()["models"][0]["queue"]["tokens"] == 0
        assert daemon.end() == 0


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-s"]))
