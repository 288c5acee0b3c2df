"""What OpenVINO computes otherwise than ONNX defines never gets out in silence: the sweep with the built-in table."""

import os

import sweep


def test_nothing_comes_out_otherwise_in_silence():
    # Half of the recipes, in a minute; all of them with --deep, and on every version of OpenVINO with --matrix.
    every = 1 if os.environ.get("LATEBIND_TEST_EVERY_CODE_POINT") else 2
    rows = sweep.sweep(sweep.parse(["--seed", "7", "--every", str(every)]))
    wrong = [f"{row['recipe']}, {row['kind']}: {row['detail']}" for row in rows if row["outcome"] in ("wrong", "died")]
    assert not wrong, "\n".join(wrong)
    counts = {name: sum(row["outcome"] == name for row in rows) for name in ("right", "refused")}
    assert counts["right"] > 2500 // every and counts["refused"] > 3000 // every, counts


def test_without_the_table_it_would():
    rows = sweep.sweep(sweep.parse(["^(Relu f32|Equal i32,i32|Add u8,u8|QuantizeLinear to u8 at 3 f32)$", "--table", "none"]))
    assert {row["op"] for row in rows if row["outcome"] == "wrong"} == {"Relu", "Equal", "Add", "QuantizeLinear"}
