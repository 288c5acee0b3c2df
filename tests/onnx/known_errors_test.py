"""How find_known_errors.py tells what is wrong from what is right."""

import find_known_errors as finder
from onnx import TensorProto, helper

LAYOUT, RUN, CONST, WORD = {"attr:layout!=0": "attr!"}, {"run:1": "run"}, {"const:1": "const"}, {"attr:mode=cubic": "word"}


def test_the_fewest_conditions_that_hold_of_no_right_node():
    assert finder.rule_of(LAYOUT | RUN, [RUN]) == ("attr:layout!=0",)
    assert finder.rule_of(LAYOUT | RUN, []) == ()
    assert finder.rule_of(LAYOUT | WORD, [LAYOUT, WORD]) == ("attr:layout!=0", "attr:mode=cubic")
    assert finder.rule_of({"in:4": "in", "in:7": "in"}, [{"in:1": "in"}]) == ("in:7",)


def test_where_numbers_alone_tell_them_apart_what_holds_of_the_fewest_right_ones():
    assert finder.rule_of(LAYOUT | RUN, [LAYOUT | RUN, RUN, RUN]) == ("attr:layout!=0",)
    assert finder.rule_of(RUN, [RUN, RUN]) == ()


def test_what_is_wrong_as_an_input_and_as_a_constant_is_wrong():
    assert finder.merged([("const:1",), ("attr:a!=0", "run:2"), ("run:1",)]) == [("attr:a!=0", "run:2"), ()]
    assert finder.merged([("const:1",)]) == [("const:1",)]


def test_a_node_is_described_with_what_its_operator_assumes():
    node = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], ceil_mode=1)
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 1, 4, 4]) for name in "xy"]
    model = helper.make_model(helper.make_graph([node], "g", ports[:1], ports[1:]), opset_imports=[helper.make_opsetid("", 17)])
    found = finder.conditions_of(model, node)
    assert found["attr:ceil_mode!=0"] == "attr!" and found["attr:auto_pad=NOTSET"] == "word"
    assert found["type:0=f32"] == "type" and "attr:storage_order!=0" not in found


def test_the_lines_of_other_versions_are_kept():
    table = finder.text_of_rules([("Tile", ("run:1",))], "2026.4.1", ["Add\t\topenvino 2025.1.0"])
    assert table.splitlines()[3:] == ["Add\t\topenvino 2025.1.0", "Tile\trun:1\topenvino 2026.4.1"]
    assert finder.lines_of_others(table, "2026.4.1") == ["Add\t\topenvino 2025.1.0"]
    assert finder.lines_of_others(table, "2025.1.0") == ["Tile\trun:1\topenvino 2026.4.1"]


def test_the_narrowest_candidates_of_several_nodes_come_first():
    nodes = [helper.make_node("Div", ["x", "y"], ["a"]), helper.make_node("Round", ["a"], ["b"])]
    graph = helper.make_graph(nodes, "g", [], [])
    assert finder.candidates_of(graph) == [("Div", ("before:Round",)), ("Div", ()), ("Round", ())]
