"""The end of the daemon, what it says meanwhile, and hosts that are short of something."""

import fcntl
import http.client
import json
import os
import signal
import socket
import struct
import subprocess
import termios
import threading
import time

import pytest
from daemon import LIMIT, MODEL, PROGRAM, TINY, Daemon, fake_openvino, read_answers, run_serve, wait_for
from raw_requests import Busy, post, texts


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
