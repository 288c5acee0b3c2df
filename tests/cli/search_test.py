"""latebind search: the nearest lines of a file."""

import json

from support import MODEL, OPENVINO_GONE, SOURCE, VENDORS_FIRST, bad, good

TEXTS = """The cat sits on the mat

A stock market crash worries investors
\tOpening a file in Python
Two kittens are sleeping
"""


def test_finds_the_nearest_lines_with_rank_score_and_line():
    lines = good("search", "--model", MODEL, "--query", "how do I read files", "-k", "2", "-", input=TEXTS).stdout
    first, second = lines.splitlines()
    assert first.split()[0] == "1" and "line 4 " in first and first.endswith("Opening a file in Python")
    assert second.split()[0] == "2"
    assert float(first.split()[1]) > float(second.split()[1])


def test_json_has_what_its_help_says(tmp_path):
    file = tmp_path / "texts"
    file.write_text(TEXTS)
    done = good("search", "--json", "--model", MODEL, *VENDORS_FIRST, "--query", "young cats", file)
    report = json.loads(done.stdout)
    assert set(report) == {"query", "device", "precision", "fallback", "reason", "results"}
    assert report["query"] == "young cats" and report["device"] == "openvino:CPU" and report["precision"] == "f32"
    # The empty line is left out.
    assert [result["rank"] for result in report["results"]] == [1, 2, 3, 4]
    assert report["results"][0] == {
        "rank": 1, "score": report["results"][0]["score"], "line": 5, "text": "Two kittens are sleeping"}
    scores = [result["score"] for result in report["results"]]
    assert scores == sorted(scores, reverse=True) and all(-1 <= score <= 1 for score in scores)


def test_the_query_itself_scores_one():
    done = good("search", "--json", "--model", MODEL, "--query", "Two kittens are sleeping", "-", input=TEXTS)
    result = json.loads(done.stdout)["results"][0]
    assert result["line"] == 5 and result["score"] > 0.9999


def test_a_fallback_is_told_in_both_places():
    done = good("search", "--json", "--model", MODEL, *VENDORS_FIRST, "--query", "x", "-", input=TEXTS, env=OPENVINO_GONE)
    report = json.loads(done.stdout)
    assert report["fallback"] is True and "openvino" in report["reason"]
    assert report["device"] == "onnxruntime:CPU"
    assert sum("fallback" in line for line in done.stderr.splitlines()) == 1


def test_nothing_to_search_finds_nothing():
    assert good("search", "--model", MODEL, "--query", "x", "-", input="\n\n").stdout == ""


def test_fewer_dimensions_are_those_of_both_sides():
    command = ("search", "--json", "--model", MODEL, "--device", "native", "--query", "Two kittens are sleeping")
    done = good(*command, "--dimensions", "64", "-", input=TEXTS)
    result = json.loads(done.stdout)["results"]
    assert result[0]["line"] == 5 and result[0]["score"] > 0.9999
    whole = json.loads(good(*command, "-", input=TEXTS).stdout)["results"]
    assert result[1]["score"] != whole[1]["score"]
    assert "--query: vectors of 385 numbers" in bad(1, *command, "--dimensions", "385", "-", input=TEXTS)
    late = SOURCE / "tests" / "data" / "multi_vector_encoders" / "bert"
    assert "--dimensions: the vectors of tokens" in bad(
        2, "search", "--model", late, "--query", "a", "--dimensions", "4", "-", input="a\n")
