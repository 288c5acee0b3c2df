"""latebind devices and latebind doctor."""

import json
import platform
import re

from support import (BOTH_GONE, MODEL, ONNXRUNTIME_GONE, OPENVINO_GONE, TINY, VENDORS_FIRST, bad, empty_prefix, good,
                     provider, run)


def test_devices_names_both_backends_with_version_and_full_name():
    lines = good("devices").stdout.splitlines()
    assert any(line.startswith("openvino:CPU ") and "runtime 20" in line for line in lines), lines
    assert any(line.startswith("onnxruntime:CPU ") and "runtime 1." in line for line in lines), lines


def test_devices_json_has_what_its_help_says():
    report = json.loads(good("devices", "--json").stdout)
    assert set(report) == {"version", "devices", "backends"}
    ids = [device["id"] for device in report["devices"]]
    assert "openvino:CPU" in ids and "onnxruntime:CPU" in ids
    for device in report["devices"]:
        assert set(device) == {
            "id", "backend", "name", "kind", "full_name", "runtime_version", "virtual", "metadata"}
        assert device["id"] == device["backend"] + ":" + device["name"]
        assert device["full_name"] and device["runtime_version"]
        assert device["kind"] in ("cpu", "gpu", "npu", "other")
        assert isinstance(device["metadata"], dict)
    for backend in report["backends"]:
        assert set(backend) == {"name", "available", "runtime_version", "code", "reason", "install",
                                "unavailable"}
        assert backend["available"] is True and backend["code"] == "OK" and backend["reason"] == ""


def test_devices_says_why_a_backend_is_missing():
    done = good("devices", env=OPENVINO_GONE)
    assert "onnxruntime:CPU" in done.stdout
    missing = [line for line in done.stdout.splitlines() if line.startswith("openvino ")]
    assert len(missing) == 1 and "/nonexistent/libopenvino_c.so" in missing[0], done.stdout
    report = json.loads(good("devices", "--json", env=OPENVINO_GONE).stdout)
    backend = next(one for one in report["backends"] if one["name"] == "openvino")
    assert backend["available"] is False
    assert backend["code"] in ("LIBRARY_NOT_FOUND", "LIBRARY_UNUSABLE")
    assert "/nonexistent/libopenvino_c.so" in backend["reason"]
    assert "pip install" in backend["install"]


def test_devices_without_any_is_no_failure():
    done = good("devices", env=BOTH_GONE)
    assert done.stdout.count("not available") == 2


def test_the_flag_names_the_library_before_the_environment():
    done = good("devices", "--openvino-library", "/elsewhere/libopenvino_c.so", env=OPENVINO_GONE)
    assert "/elsewhere/libopenvino_c.so" in done.stdout
    assert "/nonexistent/libopenvino_c.so" not in done.stdout


def test_doctor_runs_a_model_on_every_device():
    done = good("doctor")
    assert "openvino:CPU: works" in done.stdout
    assert "onnxruntime:CPU: works" in done.stdout
    assert "Ready" in done.stdout
    for word in ("features", "cache folder", "config folder"):
        assert word in done.stdout


def test_doctor_shows_the_cache_folder_in_force(tmp_path):
    report = json.loads(good("doctor", "--json", env={"LATEBIND_CACHE_FOLDER": str(tmp_path / "x")}).stdout)
    assert report["folders"]["cache"] == str(tmp_path / "x")


def test_doctor_says_which_precision_this_processor_is_fast_in():
    (line,) = [one for one in good("doctor").stdout.splitlines() if one.startswith("fastest in ")]
    assert re.match(r"fastest in +(f32|bf16|f16|int8): f32 \d+.* GOP/s on one thread, with \w+'s instructions", line), line


def test_doctor_json_has_what_its_help_says():
    report = json.loads(good("doctor", "--json").stdout)
    assert set(report) == {"version", "platform", "works", "cpu", "folders", "backends", "plugin_search"}
    assert report["works"] is True
    assert report["cpu"]["usable_processors"] >= 1 and report["cpu"]["features"] and report["cpu"]["instruction_set"]
    speeds = report["cpu"]["precisions"]
    assert [one["precision"] for one in speeds][0] == "f32" and speeds[0]["times_f32"] == 1
    assert all(set(one) == {"precision", "gops", "times_f32"} and one["gops"] > 0 for one in speeds)
    assert set(report["folders"]) == {"cache", "config", "system_config"}
    for backend in report["backends"]:
        assert set(backend) == {
            "name", "available", "runtime_version", "code", "reason", "install", "unavailable", "hardware",
            "search", "devices"}
        assert any(step["opened"] for step in backend["search"]) == (backend["name"] != "native")
        assert all(device["works"] for device in backend["devices"])
        for note in backend["hardware"]:
            assert set(note) == {"name", "kind", "node", "ready", "status", "remedy", "metadata"}
            assert note["ready"] == (note["status"] == "ready") == (note["remedy"] == "")


def test_doctor_goes_on_with_one_backend_and_says_what_to_type_for_the_other():
    done = good("doctor", env=ONNXRUNTIME_GONE)
    assert "openvino:CPU: works" in done.stdout
    assert "/nonexistent/libonnxruntime.so" in done.stdout
    assert "latebind/runtime onnxruntime" in done.stdout


def test_without_a_vendor_doctor_says_what_to_install_and_what_works():
    done = good("doctor", env=BOTH_GONE)
    assert "native:CPU: works" in done.stdout
    assert "Ready for embedding models." in done.stdout and "nothing: native" not in done.stdout
    assert "pip install" in done.stdout
    assert json.loads(good("doctor", "--json", env=BOTH_GONE).stdout)["works"] is True


def test_doctor_fails_when_nothing_works():
    nothing = BOTH_GONE | {"LATEBIND_NATIVE_ISA": "neon_bf16" if platform.machine() in ("x86_64", "AMD64") else "avx2"}
    done = run("doctor", env=nothing)
    assert done.returncode == 1
    assert "Not ready" in done.stdout
    assert "portable" in done.stdout
    # Nothing of a library that native does not have.
    of_native = done.stdout.split("\nnative: ")[1].split("\nplug-ins: ")[0]
    assert "looked for" not in of_native and "install it" not in of_native
    assert "nothing: native" not in good("devices", env=nothing).stdout
    assert json.loads(run("doctor", "--json", env=nothing).stdout)["works"] is False


def test_doctor_lists_every_place_of_an_empty_search(tmp_path):
    program, env = empty_prefix(tmp_path)
    done = run("doctor", "--json", program=program, env=env)
    assert done.returncode == 0, "native:CPU works"
    for backend in json.loads(done.stdout)["backends"]:
        if backend["name"] == "native":
            assert backend["search"] == []
            continue
        assert len(backend["search"]) >= 3, backend
        assert not any(step["opened"] for step in backend["search"])
        assert all(step["place"] and step["source"] and step["outcome"] for step in backend["search"])


def test_doctor_names_a_library_that_is_none(tmp_path):
    fake = tmp_path / "libopenvino_c.so"
    fake.write_text("no library at all\n")
    done = good("doctor", "--openvino-library", fake)
    assert str(fake) in done.stdout
    assert "openvino: not available" in done.stdout


def test_explain_says_the_order_and_the_rules():
    text = good("devices", "--explain").stdout
    # Which one is first depends on the processor, and is explained.
    order = [text.find(f". {device} (cpu)\n") for device in ("openvino:CPU", "onnxruntime:CPU", "native:CPU")]
    assert -1 not in order and order[0] < order[1], text
    in_what = re.search(r"native:CPU \(cpu\)\n +first of its kind in (\S+), for models from safetensors: \S", text)[1]
    assert (order[2] < order[0]) == ("f32" in in_what.split(",")), text
    assert "auto means npu, gpu, cpu" in text
    assert "PreferredInF32 = Intel with AVX-512: yes" in text
    assert "PreferredInBF16 = Intel with AVX-512: no" in text
    for precision in ("f32", "bf16"):
        found = json.loads(good("devices", "--explain", "--precision", precision, "--json").stdout)
        assert found["placement"]["precision"] == precision
        assert f"tried in this order, in {precision}" in good("devices", "--explain", "--precision", precision).stdout
        devices = found["placement"]["devices"]
        assert (devices.index("native:CPU") < devices.index("openvino:CPU")) == (precision in in_what.split(",")), devices
    text = good("devices", "--explain", "--device", "npu,onnxruntime").stdout
    assert "1. onnxruntime:CPU" in text and "openvino:CPU (" not in text.split("tried in this order")[1]
    assert "npu: no available backend has a device of this kind" in text
    placement = json.loads(good("devices", "--json", "--explain", env=OPENVINO_GONE).stdout)["placement"]
    assert placement["text"] == "auto" and sorted(placement["devices"]) == ["native:CPU", "onnxruntime:CPU"]
    assert placement["refused"][0]["device"] == "openvino"


def test_virtual_devices_are_listed_on_purpose_only():
    assert "QNN.v73" not in good("devices", env={"LATEBIND_ONNXRUNTIME_PROVIDERS": "none"}).stdout
    report = json.loads(good("devices", "--virtual", "--json", env={"LATEBIND_ONNXRUNTIME_PROVIDERS": "none"}).stdout)
    virtual = {device["id"]: device for device in report["devices"] if device["virtual"]}
    npu = virtual["onnxruntime:QNN.v73"]
    assert npu["kind"] == "npu" and npu["metadata"]["IsVirtual"] == "1"
    assert npu["metadata"]["DiscoveredBy"] == "onnxruntime"
    assert npu["metadata"]["CompilerInstalled"] == "0"
    assert "latebind/runtime onnxruntime-qnn" in npu["metadata"]["Missing"]
    npu = virtual["openvino:NPU.4000"]
    assert npu["kind"] == "npu" and npu["metadata"]["Architecture"] == "4000" and npu["metadata"]["Emulated"] == "0"
    assert npu["metadata"]["DiscoveredBy"] == "openvino"
    assert npu["metadata"]["CompilerInstalled"] == "1" or "compiler_loader" in npu["metadata"]["Missing"]


def test_plugin_providers_are_devices_and_those_without_any_say_why(tmp_path):
    env = {"LATEBIND_ONNXRUNTIME_PROVIDERS": f"{provider('onnxruntime-qnn')}:{provider('onnxruntime-ep-openvino')}",
           "XDG_CACHE_HOME": str(tmp_path)}
    report = json.loads(good("devices", "--virtual", "--json", env=env).stdout)
    devices = {device["id"]: device for device in report["devices"]}
    assert devices["onnxruntime:QNN.v73"]["metadata"]["Provider"] == "QNNExecutionProvider"
    assert devices["onnxruntime:QNN.v73"]["metadata"]["CompilerInstalled"] == "1"
    onnxruntime = next(one for one in report["backends"] if one["name"] == "onnxruntime")
    unavailable = {one["name"]: one["reason"] for one in onnxruntime["unavailable"]}
    if not any(name.startswith("onnxruntime:OpenVINO") for name in devices):
        assert "offers no device on this machine" in unavailable["OpenVINOExecutionProvider"]
    # Where its compiler works is no device, and nothing tries it.
    assert "onnxruntime:QNN" not in devices and "does not run models" in unavailable["QNN"]
    report = json.loads(good("devices", "--explain", "--json", env=env).stdout)
    assert "onnxruntime:QNN" not in report["placement"]["devices"]
    assert "does not run models" in bad(1, "embed", "--model", TINY, "--device", "onnxruntime:QNN", input="a\n", env=env)
    warmed = json.loads(good("warm", "--model", TINY, *VENDORS_FIRST, "--json", env=env).stdout)["devices"]
    # On an Intel CPU its provider has devices of its own.
    warmed = [one["device"] for one in warmed if not one["device"].startswith("onnxruntime:OpenVINO")]
    assert warmed == ["openvino:CPU", "onnxruntime:CPU", "native:CPU"]
    assert (tmp_path / "latebind" / "providers.json").exists()
    # In the doctor's trace, too; a flag wins.
    done = good("doctor", "--onnxruntime-providers", "/nonexistent/provider.so", env=env)
    assert "/nonexistent/provider.so" in done.stdout and "does not exist" in done.stdout


def test_a_virtual_device_runs_in_emulation_only_when_allowed(tmp_path):
    env = {"LATEBIND_ONNXRUNTIME_PROVIDERS": provider("onnxruntime-qnn"), "XDG_CACHE_HOME": str(tmp_path)}
    npu = ("--device", "onnxruntime:QNN.v73", "--precision", "f16", "--static-lengths", "32", "--max-tokens", "32")
    done = run("embed", "--model", MODEL, *npu, input="Hello, world!\n", env=env)
    assert done.returncode == 1
    assert "is not in this machine; --emulate runs it in its vendor's emulator" in done.stderr
    # What the emulator prints by itself does not come between the results.
    done = good("embed", "--model", MODEL, *npu, "--emulate", input="Hello, world!\n", env=env)
    assert "onnxruntime:QNN.v73" in done.stderr and "emulated, f16" in done.stderr
    (line,) = done.stdout.splitlines()
    vector = json.loads(line)["embedding"]
    reference = json.loads(good("embed", "--model", MODEL, "-q", input="Hello, world!\n").stdout)["embedding"]
    assert sum(a * b for a, b in zip(vector, reference)) >= 0.999


def test_a_device_of_a_provider_that_is_not_here_says_what_to_type():
    for device, package in (("CUDA", "onnxruntime-gpu[cuda,cudnn]"), ("WebGpu", "onnxruntime-ep-webgpu")):
        message = bad(1, "embed", "--model", TINY, "--device", f"onnxruntime:{device}", input="a",
                      env={"LATEBIND_ONNXRUNTIME_PROVIDERS": "none"})
        assert f"onnxruntime:{device}" in message and "was not found" in message and "pip install" in message
        assert package in message
    unknown = bad(1, "embed", "--model", TINY, "--device", "onnxruntime:Nonesuch", input="a")
    assert "no such device here; onnxruntime has" in unknown
