"""Every report that the program prints has exactly the members that app/reports/ names."""

import json

import pytest
from support import SOURCE, TINY, good

TOLD = [json.loads(one.read_text(encoding="utf-8")) for one in sorted((SOURCE / "app" / "reports").glob("*.json"))]
JOBS = {job: name for one in TOLD for job, name in one["jobs"].items()}
REPORTS = {name: report for one in TOLD for name, report in one["reports"].items()}


def compare(name, report):
    members = {one.get("key", key): one for key, one in REPORTS[name]["members"].items() if one.get("only") != "python"}
    # Verification.device and .against are Python's; the report's own "against" is an object.
    needed = {key for key, one in members.items() if not one.get("optional")}
    assert needed <= report.keys() <= members.keys(), (name, needed - report.keys(), report.keys() - members.keys())
    for key, one in members.items():
        for nested in REPORTS:
            if one["type"] in (f"tuple[{nested}, ...]", f"list[{nested}]"):
                for each in report[key]:
                    compare(nested, each)


@pytest.mark.parametrize(
    ("job", "arguments"),
    [
        ("backends", ["backends"]),
        ("devices", ["devices"]),
        ("doctor", ["doctor"]),
        ("warm", ["warm", TINY, "--device", "openvino:CPU"]),
        ("cache_list", ["cache", "list"]),
        ("cache_verify", ["cache", "verify"]),
        ("cache_clear", ["cache", "clear"]),
        ("verify", ["verify", TINY, "--device", "native:CPU"]),
    ],
)
def test_a_report_has_the_members_of_the_source(job, arguments):
    compare(JOBS[job], json.loads(good(*arguments, "--json").stdout))


def test_compile_and_inspect_have_the_members_of_the_source(tmp_path):
    bundle = tmp_path / "tiny.lbundle"
    compiled = good("compile", TINY, "-o", bundle, "--target", "cpu", "--json")
    compare(JOBS["compile"], json.loads(compiled.stdout))
    for more in ([], ["--verify"], ["--explain"]):
        compare(JOBS["inspect"], json.loads(good("inspect", bundle, *more, "--json").stdout))


def test_a_model_folder_has_the_members_of_the_source():
    compare("ModelSpecification", json.loads(good("inspect", TINY, "--json").stdout))
