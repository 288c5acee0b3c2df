"""latebind pull from a hub that fails, that is none, or that is not there."""

import json
import signal
import subprocess
import time

import pytest
from hub_server import COMMIT, Fault, Hub, Model, wait_until
from pull_scene import NAME, Place, big_files, hub, is_complete, patient, patient_tests, place, tiny_files  # noqa: F401 (fixtures)
from support import TINY


# What passes, and what does not.


@patient
def test_too_many_requests_wait_as_told(hub, place):
    hub.misbehave("GET /api/", Fault("status", 429, Retry_After="2"))
    start = time.monotonic()
    done = place.good("pull", NAME)
    assert time.monotonic() - start >= 2
    assert "429" in done.stderr and "again in 2" in done.stderr


def test_nobody_waits_for_an_hour(hub, place):
    hub.misbehave("GET /api/", Fault("status", 429, Retry_After="3600"))
    line = place.bad("pull", NAME)
    assert "429" in line and "3600 s" in line
    assert len(hub.asked()) == 1


@patient
def test_a_hub_out_of_order_is_asked_again_and_then_given_up(hub, place):
    hub.misbehave("GET /api/", Fault("status", 503))
    hub.misbehave("cdn|GET /[0-9a-f]{64}", Fault("status", 500))
    place.good("pull", NAME)
    hub.misbehave("GET /api/", *[Fault("status", 500)] * 9)
    hub.requests.clear()
    done = place.run("pull", f"{NAME}@v1.0")
    assert done.returncode == 1 and "has a failure" in done.stderr.splitlines()[-1]
    assert len(hub.asked()) == 5


def test_a_broken_body_is_gone_on_with(hub, place):
    hub.models[NAME] = Model(big_files())
    hub.misbehave("GET /[0-9a-f]{64}", Fault("cut", 1_000_000), Fault("cut", 500_000))
    place.good("pull", NAME)
    assert is_complete(place, hub)
    ranges = [headers.get("Range") for server, _, _, headers, _ in hub.requests if server == "cdn"]
    assert ranges == [None, "bytes=1000000-", "bytes=1500000-"]


def test_a_server_without_ranges_begins_anew(hub, place):
    hub.models[NAME] = Model(big_files())
    hub.ranges = False
    hub.misbehave("GET /[0-9a-f]{64}", Fault("cut", 1_000_000))
    place.good("pull", NAME)
    assert is_complete(place, hub)


@patient
def test_an_end_that_comes_too_early_for_ever_is_an_error(hub, place):
    hub.misbehave("GET .*/tokenizer.json", *[Fault("cut", 10)] + [Fault("cut", 0)] * 9)
    done = place.run("pull", NAME)
    assert done.returncode == 1
    assert "tokenizer.json" in done.stderr.splitlines()[-1]
    assert [file.stat().st_size for file in place.incomplete()] == [10]
    hub.faults.clear()
    place.good("pull", NAME)
    assert is_complete(place, hub)


def test_what_an_interrupt_leaves_is_gone_on_with(hub, place):
    hub.models[NAME] = Model(big_files())
    hub.misbehave("GET /[0-9a-f]{64}", Fault("drip", 2_000_000))
    process = place.start("pull", NAME)
    hub.wait_for(hub.dripping)
    wait_until(lambda: [file.stat().st_size for file in place.incomplete()] == [2_000_000])
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    assert not (place.snapshot / "model.safetensors").exists() and not (place.model / "refs").exists()
    told = json.loads(place.good("pull", NAME, "--json").stdout)
    assert told["loaded_bytes"] == 1_000_000
    assert is_complete(place, hub)


@pytest.mark.parametrize("what, pattern", [("model.safetensors", "GET /[0-9a-f]{64}"),
                                           ("tokenizer.json", "GET .*/tokenizer.json")])
def test_a_wrong_digest_never_gets_a_name(hub, place, what, pattern):
    hub.misbehave(pattern, Fault("corrupt"))
    line = place.bad("pull", NAME)
    assert what in line and "digest" in line
    assert not (place.snapshot / what).exists()
    content = hub.models[NAME].files[what]
    assert not (place.model / "blobs" / hub.models[NAME].etag(what)).exists()
    place.good("pull", NAME)
    assert (place.snapshot / what).read_bytes() == content


def test_a_damaged_beginning_is_thrown_away(hub, place):
    weights = hub.models[NAME].files["model.safetensors"]
    (place.model / "blobs").mkdir(parents=True)
    place.blob(weights).with_suffix(".incomplete").write_bytes(b"x" * 100)
    place.good("pull", NAME)
    assert is_complete(place, hub)
    ranges = [headers.get("Range") for server, _, _, headers, _ in hub.requests if server == "cdn"]
    assert ranges == ["bytes=100-", None]


def test_a_beginning_longer_than_the_file_is_thrown_away(hub, place):
    weights = hub.models[NAME].files["model.safetensors"]
    (place.model / "blobs").mkdir(parents=True)
    place.blob(weights).with_suffix(".incomplete").write_bytes(weights + b"x")
    place.good("pull", NAME)
    assert is_complete(place, hub)


def test_a_blob_that_a_crash_cut_off_is_loaded_again(hub, place):
    weights = hub.models[NAME].files["model.safetensors"]
    (place.model / "blobs").mkdir(parents=True)
    place.blob(weights).write_bytes(weights[:100])
    place.good("pull", NAME)
    assert is_complete(place, hub)


@patient
def test_a_hanging_hub_is_given_up(hub, place):
    hub.misbehave("GET /api/", *[Fault("hang")] * 9)
    start = time.monotonic()
    done = place.run("pull", NAME, HF_HUB_ETAG_TIMEOUT="1")
    assert done.returncode == 1 and "did not answer in time" in done.stderr.splitlines()[-1]
    assert time.monotonic() - start < 40


@patient
def test_a_hanging_body_is_gone_on_with(hub, place):
    hub.models[NAME] = Model(big_files())
    hub.misbehave("GET /[0-9a-f]{64}", Fault("drip", 1_000_000))
    place.good("pull", NAME, HF_HUB_DOWNLOAD_TIMEOUT="1")
    assert is_complete(place, hub)
    assert [headers.get("Range") for server, _, _, headers, _ in hub.requests if server == "cdn"][1] == "bytes=1000000-"


# A hub that is none.


@pytest.mark.parametrize("answer, words", [(b"<html>", "not JSON"), (b"[]", "expected an object"), (b"{}", "not a commit"),
                                           (b'{"sha": "../../x", "siblings": []}', "not a commit"),
                                           (b'{"sha": "%s"}' % COMMIT.encode(), "siblings"),
                                           (b"[" * 1000, "too many levels")])
def test_answers_that_make_no_sense(hub, place, answer, words):
    hub.misbehave("GET /api/", Fault("json", answer))
    assert words in place.bad("pull", NAME)


def test_names_in_answers_do_not_lead_out(hub, place):
    hub.misbehave("HEAD .*modules.json", Fault("etag", "../../../out"))
    assert "ETag" in place.bad("pull", NAME)
    hub.models[NAME] = Model(tiny_files() | {
        "modules.json": b'[{"type": "sentence_transformers.models.Transformer", "path": "../../out"}]',
        "../../out/config.json": b"{}"})
    assert "leads out of the model's folder" in place.bad("pull", NAME)
    assert not list(place.cache.parent.parent.rglob("out"))


# Without the network.


def test_offline_takes_what_is_there(hub, place):
    line = place.bad("pull", NAME, HF_HUB_OFFLINE="1")
    assert "HF_HUB_OFFLINE" in line and "never downloaded" in line
    place.good("pull", NAME)
    hub.requests.clear()
    for word in ("1", "true", "YES", "on"):
        assert place.good("pull", NAME, HF_HUB_OFFLINE=word).stdout == f"{place.snapshot}\n"
    place.good("embed", "-q", "--model", NAME, "/dev/null", HF_HUB_OFFLINE="1")
    assert hub.asked() == []
    (place.snapshot / "model.safetensors").unlink()
    assert "safetensors" in place.bad("pull", NAME, HF_HUB_OFFLINE="1")


def test_the_cache_stands_in_for_a_hub_that_is_away(hub, place):
    place.good("pull", NAME)
    for away in ("http://127.0.0.1:1", "http://hub.invalid"):
        done = place.good("pull", NAME, HF_ENDPOINT=away)
        assert done.stdout == f"{place.snapshot}\n"
        assert done.stderr.count("\n") == 1 and "from the cache" in done.stderr and COMMIT in done.stderr
    # A command over several models gives the reason once.
    done = place.run("search", NAME, "--rerank", NAME, "--query", "a", __file__, HF_ENDPOINT="http://127.0.0.1:1")
    assert done.stderr.count("127.0.0.1:1") == 1 and done.stderr.count("from the cache") == 2
    hub.misbehave("GET /api/", Fault("status", 500))
    assert "from the cache" in place.good("pull", NAME).stderr
    # What the hub refuses is refused.
    hub.misbehave("GET /api/", Fault("status", 403))
    place.bad("pull", NAME)


@patient
def test_a_name_that_nobody_knows(_, place):
    done = place.run("pull", NAME, HF_ENDPOINT="http://hub.invalid")
    assert done.returncode == 1
    *noted, last = done.stderr.splitlines()
    assert "cannot reach http://hub.invalid:80: its name cannot be resolved" in last
    # The reason stands in the first and the last of these lines, not in each.
    assert [("cannot reach" in line, "the same again; trying again in" in line) for line in noted] == [(True, False), (False, True)]


@pytest.mark.parametrize("endpoint", ["hub.example", "ftp://hub.example", "http://a b", "https://x/?y"])
def test_endpoints_that_are_none(place, endpoint):
    assert "HF_ENDPOINT" in place.bad("pull", NAME, HF_ENDPOINT=endpoint)


def test_a_proxy_is_used(hub, place):
    place.good("pull", NAME, HF_ENDPOINT="http://hub.invalid", http_proxy=hub.url, no_proxy="127.0.0.1")
    assert is_complete(place, hub)
    raw = [path for server, _, _, _, path in hub.requests if server == "hub"]
    assert raw and all(path.startswith("http://hub.invalid/") for path in raw)


def test_certificates_are_checked(tmp_path):
    certificate = tmp_path / "both.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", certificate, "-out", tmp_path / "only.pem"],
                   check=True, capture_output=True)
    authority = (tmp_path / "only.pem").read_text()
    certificate.write_text(certificate.read_text() + authority)
    hub = Hub(certificate)
    try:
        hub.models[NAME] = Model(tiny_files(), large=())
        place = Place(tmp_path / "hf", hub)
        line = place.bad("pull", NAME)
        assert "certificate is not trusted" in line and "SSL_CERT_FILE" in line
        place.good("pull", NAME, SSL_CERT_FILE=str(tmp_path / "only.pem"))
        assert is_complete(place, hub)
        hub.misbehave("GET /api/", Fault("redirect", hub.cdn_url + "/x"))
        line = place.bad("pull", f"{NAME}@{'a' * 40}", SSL_CERT_FILE=str(tmp_path / "only.pem"))
        assert "from an encrypted connection" in line
    finally:
        hub.close()


def test_without_libcurl_folders_still_work_and_names_say_what_to_install(hub, place, tmp_path):
    folder = tmp_path / "libraries"
    folder.mkdir()
    for name in ("libcurl.so.4", "libcurl-gnutls.so.4"):
        (folder / name).write_text("no library")
    line = place.bad("pull", NAME, LD_LIBRARY_PATH=str(folder))
    assert "libcurl" in line and "apt-get install libcurl4" in line
    place.good("export", "--model", TINY, "-o", tmp_path / "model.onnx", LD_LIBRARY_PATH=str(folder))
    place.good("pull", NAME)
    assert "from the cache" in place.good("pull", NAME, LD_LIBRARY_PATH=str(folder)).stderr
