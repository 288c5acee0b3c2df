"""The conformance kit passes the example's plug-in and a built-in backend, and names each fault of a bad plug-in."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

BINARY = Path(os.environ["LATEBIND_TEST_BINARY_DIR"])
KIT = BINARY / "bin" / "latebind-conformance"
ADDER = BINARY / "lib" / "liblb_adder_plugin.so"
BAD = BINARY / "lib" / "liblb_bad_plugin.so"

# Each fault, a check that must fail, and words of the reason.
FAULTS = {
    "entry.nothing": ("table.open", "gave no table"),
    "table.small": ("table.open", "16 bytes"),
    "table.huge": ("table.open", "bytes"),
    "table.no_load": ("table.open", "load()"),
    "table.no_destroy": ("table.open", "destroy()"),
    "table.abi": ("table.open", "version 99"),
    "table.no_name": ("table.open", "name"),
    "table.name": ("table.open", "Not A Name"),
    "table.name_utf8": ("table.open", "UTF-8"),
    "table.no_version": ("table.open", "version"),
    "table.settings": ("table.open", "no list"),
    "table.half_blobs": ("table.open", "go together"),
    "entry.any_host": ("table.versions", "takes a host"),
    "hang.entry": ("table.open", "hangs"),
    "crash.entry": ("table.open", "signal 11"),
    "throw.entry": ("table.open", "an exception of a plug-in"),
    "exit.entry": ("table.open", "ends the process"),
    "print.entry": ("table.open", "hello from a plug-in"),
    "create.nothing": ("device.available", "makes no state"),
    "create.code": ("device.available", "77"),
    "hang.create": ("device.available", "hangs"),
    "throw.create": ("device.available", "an exception of a plug-in"),
    "hang.destroy": ("device.available", "destroy()"),
    "free.twice": ("device.available", "crashes"),
    "available.silent": ("device.available", "gave no reason"),
    "message.utf8": ("device.available", "UTF-8"),
    "hang.available": ("device.available", "available()"),
    "crash.available": ("device.available", "signal 11"),
    "devices.none": ("device.list", "lists none"),
    "device.null": ("device.list", "is null"),
    "device.size": ("device.list", "size"),
    "device.no_name": ("device.list", "name"),
    "device.name_utf8": ("device.list", "UTF-8"),
    "device.kind": ("device.list", "99"),
    "device.no_precision": ("device.list", "precision"),
    "device.precision": ("device.list", "42"),
    "device.reads_nothing": ("device.list", "reads"),
    "device.count": ("device.list", "precisions"),
    "device.twice": ("device.list", "another one"),
    "hang.devices": ("device.list", "devices()"),
    "load.nothing": ("model.sample", "loaded nothing"),
    "hang.load": ("model.sample", "load()"),
    "crash.load": ("model.sample", "load()"),
    "throw.load": ("model.sample", "an exception of a plug-in"),
    "exit.load": ("model.sample", "ends the process"),
    "print.load": ("model.sample", "hello from a plug-in"),
    "refuse.code": ("model.sample", "INTERNAL"),
    "refuse.silent": ("operator.linear", "no"),
    "active.null": ("model.sample", "no description"),
    "active.requests": ("model.sample", "0 runs"),
    "active.precision": ("model.sample", "9"),
    "active.null_inputs": ("model.sample", "no list"),
    "active.rank": ("model.sample", "99"),
    "active.negative": ("model.sample", "-7"),
    "active.type": ("model.sample", "type"),
    "active.device": ("model.sample", "device"),
    "active.count": ("model.sample", "input"),
    "keep.name": ("model.memory", ""),
    "hang.execute": ("model.sample", "execute()"),
    "crash.execute": ("model.sample", "execute()"),
    "throw.execute": ("model.sample", "an exception of a plug-in"),
    "print.execute": ("model.sample", "hello from a plug-in"),
    "execute.nothing": ("model.sample", "without the output"),
    "output.type": ("model.sample", "i32"),
    "output.rank": ("model.sample", "99"),
    "output.shape": ("model.sample", "shape"),
    "output.twice": ("model.sample", "prepared twice"),
    "output.beyond": ("run.outputs", "beyond the memory"),
    "input.changed": ("model.sample", "should be"),
    "late.error": ("run.outputs", "which has returned"),
    "wrong.sum": ("model.sample", "should be"),
    "wrong.nan": ("model.sample", "nan"),
    "hang.destroy_executable": ("model.sample", "hangs"),
    "leak": ("memory.growth", "grows by"),
}


def run(*arguments, fault=None, expect=None):
    environment = dict(os.environ)
    environment.pop("LATEBIND_TEST_FAULT", None)
    if fault:
        environment["LATEBIND_TEST_FAULT"] = fault
    done = subprocess.run([str(KIT), *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=300)
    if expect is not None:
        assert done.returncode == expect, done.stdout + done.stderr
    return done


def checks(report):
    return {check["name"]: check for device in report["devices"] for check in device["checks"]}


def test_the_example_passes():
    report = json.loads(run(ADDER, "--report", "json", "--cases", 6, expect=0).stdout)
    found = checks(report)
    assert report["backend"] == "adder" and report["failed"] == 0
    assert found["operator.linear"]["verdict"] == "refused"
    assert "linear" in found["operator.linear"]["text"] or "input" in found["operator.linear"]["text"]
    for name in ("table.open", "run.outputs", "model.operator", "model.argument", "call.threads", "memory.growth"):
        assert found[name]["verdict"] == "passed", found[name]
    assert found["blob.same"]["verdict"] == "absent"


def test_a_report_for_machines():
    done = run(ADDER, "--report", "junit", "--only", "run", expect=0)
    suites = ElementTree.fromstring(done.stdout)
    names = {case.get("name") for case in suites.iter("testcase")}
    assert {"run.outputs", "run.threads"} <= names
    assert not list(suites.iter("failure"))


def test_a_built_in_backend_is_checked_too():
    report = json.loads(run("native", "--report", "json", "--only", "operator", "--cases", 8, expect=0).stdout)
    found = checks(report)
    assert found["operator.linear"]["verdict"] == "passed"
    assert found["operator.attention"]["verdict"] == "passed"


def test_mistakes_of_the_user_are_named():
    assert "there is no file" in run("./nowhere.so", expect=2).stderr
    assert "there is no backend" in run("nobody", expect=2).stderr
    assert "--list lists them" in run(ADDER, "--only", "nothing", expect=2).stderr


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_has_a_name(fault):
    check, words = FAULTS[fault]
    done = run(BAD, "--report", "json", "--only", check, "--time-limit", 40 if fault == "leak" else 8, "--cases", 4,
               fault=fault, expect=1)
    failed = {name: each for name, each in checks(json.loads(done.stdout)).items() if each["verdict"] == "failed"}
    assert failed, done.stdout
    texts = {name: each["text"] for name, each in failed.items()}
    assert check in failed, texts
    assert words in texts[check], texts


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q"]))
