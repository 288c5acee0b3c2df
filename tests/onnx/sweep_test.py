"""What OpenVINO computes otherwise than ONNX defines never gets out in silence: the sweep with the built-in table."""

import sweep


def test_nothing_comes_out_otherwise_in_silence():
    rows = sweep.sweep(sweep.parse(["--seed", "7"]))
    wrong = [f"{row['recipe']}, {row['kind']}: {row['detail']}" for row in rows if row["outcome"] in ("wrong", "died")]
    assert not wrong, "\n".join(wrong)
    counts = {name: sum(row["outcome"] == name for row in rows) for name in ("right", "refused")}
    assert counts["right"] > 5000 and counts["refused"] > 500, counts


def test_without_the_table_it_would():
    rows = sweep.sweep(sweep.parse(["^(Relu|Equal|Add|QuantizeLinear) ", "--table", "none"]))
    assert {row["op"] for row in rows if row["outcome"] == "wrong"} == {"Relu", "Equal", "Add", "QuantizeLinear"}
