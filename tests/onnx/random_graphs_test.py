"""Random graphs of several nodes come out as ONNX defines them, or are refused, through latebind.Model and the provider."""

import os

import random_graphs

PROVIDER = os.environ["LATEBIND_TEST_PROVIDER"]


def rows_of(*words):
    return random_graphs.rows_of(random_graphs.parse([PROVIDER, *words]))


def test_nothing_comes_out_otherwise_in_silence():
    # In half a minute; more of them with --deep, and on every version of OpenVINO with --matrix.
    count = 1000 if os.environ.get("LATEBIND_TEST_EVERY_CODE_POINT") else 150
    rows = rows_of("--start", "50000", "--count", str(count))
    wrong = [f"{row['seed']} {row['by']}: {row['detail']}" for row in rows if row["outcome"] in ("wrong", "died")]
    assert not wrong, "\n".join(wrong)
    right = {by: len({row["seed"] for row in rows if row["by"] == by and row["outcome"] == "right"}) for by in ("model", "provider")}
    assert right["model"] > count // 20 and right["provider"] > count // 4, right


def test_without_the_table_it_would():
    rows = rows_of("--start", "50000", "--count", "40", "--table", "none")
    assert {row["seed"] for row in rows if row["outcome"] == "wrong"} >= {50006, 50016, 50017}
