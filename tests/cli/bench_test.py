"""latebind bench embed: figures that a program can read."""

import json

from support import MODEL, OPENVINO_GONE, VENDORS_FIRST, bad, good

TEXTS = "".join(f"text number {i} " + "word " * (i % 30) + "\n" for i in range(24))


def test_json_has_every_key_with_a_sane_figure():
    report = json.loads(good("bench", "embed", "--json", "--model", MODEL, *VENDORS_FIRST, "--singles", "10", "--repeat", "2", "-", input=TEXTS).stdout)
    for key in ("texts_per_s", "tokens_per_s", "p50_ms", "p95_ms", "p99_ms", "load_ms", "rss_mb",
                "start_uncached_ms", "start_cached_ms"):
        assert report[key] > 0, key
    assert report["p50_ms"] <= report["p95_ms"] <= report["p99_ms"]
    assert 0 <= report["padding_ratio"] < 0.5
    assert report["device"] == "openvino:CPU" and report["precision"] == "f32" and report["backend"] == "openvino"
    assert report["texts"] == 24 and report["single_texts"] == 10
    assert report["tokens_per_s"] > report["texts_per_s"]
    assert 50 < report["rss_mb"] < 2000


def test_people_get_the_same_with_units():
    done = good("bench", "embed", "--model", MODEL, *VENDORS_FIRST, "--singles", "5", "--repeat", "1", "-", input=TEXTS)
    for word in ("texts/s", "tokens/s", "p50", "p99", "ms", "MiB", "openvino:CPU"):
        assert word in done.stdout


def test_a_fallback_is_told_once_though_the_model_is_loaded_twice():
    done = good("bench", "embed", "--json", "--model", MODEL, "--singles", "2", "--repeat", "1", "-", input=TEXTS, env=OPENVINO_GONE)
    assert sum("fallback" in line for line in done.stderr.splitlines()) == 1
    assert json.loads(done.stdout)["fallback"] is True


def test_no_text_is_an_error():
    assert "no text" in bad(1, "bench", "embed", "--model", MODEL, "-", input="\n\n")


def test_precisions_beside_each_other():
    command = ("bench", "embed", "--model", MODEL, "--precision", "f32,int8,f16", "--device", "native:CPU,onnxruntime:CPU")
    report = json.loads(good(*command, "--singles", "5", "--repeat", "1", "--json", "-", input=TEXTS).stdout)
    by_precision = {one["precision"]: one for one in report["devices"]}
    assert by_precision["f32"]["cosine_least"] == 1 and report["devices"][0]["precision"] == "f32"
    if "int8" in by_precision:
        assert 0.95 < by_precision["int8"]["cosine_least"] < 0.99999
    assert report["for_many"]["precision"] in by_precision and report["for_single"]["device"] == "native:CPU"
    # What the processor does not have is left out by name.
    left_out = [one["device"] for one in report["left_out"]]
    assert left_out == [f"native:CPU,onnxruntime:CPU in {one}" for one in ("int8", "f16") if one not in by_precision]
    text = good(*command, "--singles", "0", "--repeat", "1", "-", input=TEXTS).stdout
    assert "for many texts --device native:CPU --precision " in text and "cosine" in text


def test_devices_and_precisions_beside_each_other():
    report = json.loads(good("bench", "embed", "--compare", "--model", MODEL, "--precision", "f32,int8", "--device",
                             "native:CPU,onnxruntime:CPU", "--singles", "0", "--repeat", "1", "--json", "-", input=TEXTS).stdout)
    measured = [(one["device"], one["precision"]) for one in report["devices"]]
    assert [one for one in measured if one[1] == "f32"] == [("native:CPU", "f32"), ("onnxruntime:CPU", "f32")]
    assert "onnxruntime:CPU in int8" in [one["device"] for one in report["left_out"]]
    assert report["for_single"] is None


def test_devices_beside_each_other():
    devices = ["native:CPU", "openvino:CPU", "onnxruntime:CPU"]
    command = ("bench", "embed", "--compare", "--model", MODEL, "--device", ",".join(["npu", *devices]), "--singles", "5")
    report = json.loads(good(*command, "--json", "-", input=TEXTS).stdout)
    assert [one["device"] for one in report["devices"]] == devices
    for one in report["devices"]:
        assert 0 < one["texts_per_s"]["least"] <= one["texts_per_s"]["median"] <= one["texts_per_s"]["most"]
        assert one["precision"] == "f32" and one["p50_ms"] > 0 and one["load_ms"] > 0
        assert one["cosine_least"] > 0.9999
    assert report["for_many"]["device"] in devices and report["for_single"]["device"] in devices
    assert [one["device"] for one in report["left_out"]] == ["npu"]
    text = good(*command[:-2], "--singles", "0", "-", input=TEXTS).stdout
    assert all(device in text for device in devices) and "left out: npu: " in text and "single texts" not in text
    assert "nothing to compare" in bad(1, *command[:5], "--device", "npu", "-", input=TEXTS)
