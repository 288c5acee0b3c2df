"""Makes backends/openvino/known_errors.tsv: what OpenVINO computes otherwise than ONNX says.

usage: find_known_errors.py PROVIDER [--write FILE] [--tests FILE] [--rows FILE]

PROVIDER is Latebind's for ONNX Runtime; LATEBIND_LIBRARY and PYTHONPATH say which Python package. Two searches add up: ONNX's own
node tests, whose models are of every operator and attribute, and the sweep (sweep.py), which tries every element type and kind of
number.

Runs every node test (node_tests.py) with an empty table, in a process that is started again where one ends it. For each wrong
test of one node it then looks for the fewest conditions that hold of it and of no test that came out right. Sizes, axes and
ranks do not count, since they are the test's own and say nothing of other models. Where there are no such conditions, because
numbers alone tell the tests apart, it takes those attributes and kinds of inputs that hold of the fewest right tests, and the
whole operator where they hold of all. A wrong test of several nodes is told by trying:
the operator, or the operator before another, whose refusal makes it right and costs the fewest other tests. Of the sweep, rules.py
makes rules; what is still wrong with them gets wider ones, until nothing is. --tests and --rows keep the outcomes, and use them
again if the files are there. --write adds to the lines of this version in FILE what is not there: other processors compute other
operators otherwise. It keeps the lines that say what is taken (+), and adds no lines of operators that these leave out.
LATEBIND_OPENVINO_LIBRARY says which OpenVINO that is. Exits with 1 when something is still wrong with the table that was made.
"""

import argparse
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx
from onnx import TensorProto, helper
from onnx import defs as onnx_defs

import rules as sweep_rules
import sweep

sys.path.insert(0, str(Path(__file__).parents[1] / "hosts" / "onnxruntime"))
import node_tests  # noqa: E402

HEAD = """# What a vendor's version computes otherwise than ONNX says, by operator, conditions and version: see core/onnx/known_errors.h.
# Lines that begin with + say what is taken (decision 163). The others are made by tests/onnx/find_known_errors.py of the node
# tests of package onnx {onnx} and of every kind of number.
"""
TYPES = {
    TensorProto.FLOAT: "f32", TensorProto.FLOAT16: "f16", TensorProto.BFLOAT16: "bf16", TensorProto.DOUBLE: "f64",
    TensorProto.INT8: "i8", TensorProto.UINT8: "u8", TensorProto.INT16: "i16", TensorProto.UINT16: "u16",
    TensorProto.INT32: "i32", TensorProto.UINT32: "u32", TensorProto.INT64: "i64", TensorProto.UINT64: "u64",
    TensorProto.BOOL: "bool",
}  # fmt: skip
# The kinds of conditions that may tell wrong from right, the most general first.
ORDER = ("may", "attr!", "in", "no-in", "run", "const", "word", "out", "type")
# Those that may be all that is said of tests which only numbers tell apart.
GENERAL = ("attr!", "run", "const", "word")


def text_of(value):
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (list, tuple)) and all(isinstance(one, int) for one in value):
        return ",".join(map(str, value))
    return None


def conditions_of(model, node):
    """What a rule could say of a node: {condition: its kind}."""
    opset = next(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx"))
    initializers = {tensor.name: tensor for tensor in model.graph.initializer}
    values = {value.name: value.type.tensor_type for value in [*model.graph.input, *model.graph.value_info]}
    found = {}
    given = {attribute.name: text_of(helper.get_attribute_value(attribute)) for attribute in node.attribute}
    schema = onnx_defs.get_schema(node.op_type, opset, node.domain)
    for name, attribute in schema.attributes.items():
        default = None
        if attribute.default_value.name:
            default = text_of(helper.get_attribute_value(attribute.default_value))
        text = given.get(name, default)
        if name not in given and default is None:
            continue
        if text is None:
            found[f"attr:{name}"] = "attr!"
            continue
        if default is not None and text != default and default != "" and " " not in default:
            found[f"attr:{name}!={default}"] = "attr!"
        if default is None:
            found[f"attr:{name}"] = "attr!"
        if text != "" and " " not in text and attribute.type == onnx_defs.OpSchema.AttrType.STRING:
            found[f"attr:{name}={text}"] = "word"
    if any(size.HasField("dim_value") and size.dim_value == 0 for name in node.input if name in values for size in values[name].shape.dim):
        found["may:empty"] = "may"
    for i in range(schema.max_input if schema.max_input < 16 else len(node.input)):
        name = node.input[i] if i < len(node.input) else ""
        if not name:
            found[f"no-in:{i}"] = "no-in"
            continue
        found[f"in:{i}"] = "in"
        found[f"const:{i}" if name in initializers else f"run:{i}"] = "const" if name in initializers else "run"
        if name in initializers:
            kind = initializers[name].data_type
        elif name in values:
            kind = values[name].elem_type
        else:
            continue
        if kind in TYPES:
            found[f"type:{i}={TYPES[kind]}"] = "type"
    for i, name in enumerate(node.output):
        if i > 0 and name:
            found[f"out:{i}"] = "out"
    return found


def run_tests(library, known_errors, pattern=""):
    """{(name, form): (outcome, detail)}; a test that ends its process is wrong."""
    outcomes, skip = {}, 0
    names = [case.name for case in node_tests.cases(pattern)]
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "outcomes.tsv"
        while skip < len(names):
            command = [sys.executable, node_tests.__file__, library, pattern, "--table", str(table), "--skip", str(skip)]
            command += ["--known-errors", known_errors]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            lines = [line.split("\t") for line in table.read_text().splitlines()] if table.exists() else []
            died = bool(lines) and len(lines[-1]) < 4
            for line in lines:
                outcomes[line[0], line[1]] = (line[2], line[3]) if len(line) == 4 else ("wrong", "the process ended")
            if not died:
                if done.returncode not in (0, 1) or not lines:
                    raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
                break
            skip = names.index(lines[-1][0]) + 1
            table.unlink()
    return outcomes


def holds(rule, conditions):
    return all(condition in conditions for condition in rule)


def rule_of(wrong, right):
    """Conditions that hold of a wrong node, of as few right ones as can be, and are as few as can be."""
    # Of optional inputs the last: a test gives those before it, too, which other models do without.
    last_first = {condition: -int(condition[3:]) for condition, kind in wrong.items() if kind == "in"}
    candidates = sorted(wrong, key=lambda one: (ORDER.index(wrong[one]), last_first.get(one, 0), one))
    for count in (0, 1, 2, 3):
        for chosen in itertools.combinations(candidates, count):
            if not any(holds(chosen, other) for other in right):
                return chosen
    general = [condition for condition in candidates if wrong[condition] in GENERAL]
    choices = [chosen for count in (0, 1, 2) for chosen in itertools.combinations(general, count)]
    return min(choices, key=lambda chosen: sum(holds(chosen, other) for other in right))


def merged(rules):
    """Without a condition that an input is constant, where another rule says the same of one that is not."""
    for rule in rules:
        for condition in rule:
            twin = tuple(f"run:{condition[6:]}" if one == condition else one for one in rule)
            if condition.startswith("const:") and twin in rules:
                both = tuple(one for one in rule if one != condition)
                return merged([one for one in rules if one not in (rule, twin)] + [both])
    return rules


def of_single_nodes(models, outcomes):
    """[(operator, conditions)] of the wrong tests that have one node."""
    nodes = {}
    for key, (outcome, _) in outcomes.items():
        if outcome in ("right", "wrong") and len(models[key].graph.node) == 1:
            node = models[key].graph.node[0]
            nodes.setdefault(node.op_type, []).append((outcome, conditions_of(models[key], node)))
    rules = []
    for op, tests in sorted(nodes.items()):
        right = [conditions for outcome, conditions in tests if outcome == "right"]
        left = [conditions for outcome, conditions in tests if outcome == "wrong"]
        found = []
        while left:
            rule = rule_of(left[0], right)
            found.append(rule)
            left = [conditions for conditions in left if not holds(rule, conditions)]
        found = merged(found)
        # What a wider rule says need not be said again.
        rules += [(op, rule) for rule in sorted(found) if not any(set(other) < set(rule) for other in found)]
    return rules


def text_of_rules(rules, version, others=()):
    lines = [*others, *(f"{op}\t{' '.join(conditions)}\topenvino {version}" for op, conditions in rules)]
    return HEAD.format(onnx=onnx.__version__) + "".join(line + "\n" for line in sorted(lines))


def lines_of_others(table, version):
    """The lines of a table that are of other versions."""
    lines = [line for line in table.splitlines() if line and not line.startswith("#")]
    return [line for line in lines if line.rpartition("\t")[2] != f"openvino {version}"]


def candidates_of(graph):
    """Rules that may tell what is wrong with several nodes, the narrowest first."""
    users = {}
    for node in graph.node:
        for name in node.input:
            users.setdefault(name, []).append(node.op_type)
    pairs = {(node.op_type, (f"before:{op}",)) for node in graph.node for name in node.output for op in users.get(name, [])}
    return [*sorted(pairs), *sorted((op, ()) for op in {node.op_type for node in graph.node})]


def covers(rule, graph):
    return rule in candidates_of(graph)


def rules_of_node_tests(library, version, folder, kept):
    """(rules, those that are still wrong with them)"""
    models = {}
    for case in node_tests.cases():
        models[case.name, node_tests.FORMS[0]] = node_tests.model_of(case)
        if made := node_tests.with_initializers(case):
            models[case.name, node_tests.FORMS[1]] = made[0]
    table = folder / "table.tsv"

    def outcomes_with(rules, pattern=""):
        table.write_text(text_of_rules(rules, version))
        return run_tests(library, str(table), pattern)

    if kept and kept.exists():
        rows = [line.split("\t") for line in kept.read_text().splitlines()]
        outcomes = {(name, form): (outcome, detail) for name, form, outcome, detail in rows}
    else:
        outcomes = outcomes_with([])
        if kept:
            kept.write_text("".join("\t".join([*key, *value]) + "\n" for key, value in outcomes.items()))
    rules = of_single_nodes(models, outcomes)
    several = {key[0] for key, (outcome, _) in outcomes.items() if outcome == "wrong" and len(models[key].graph.node) > 1}
    right = [models[key].graph for key, (outcome, _) in outcomes.items() if outcome == "right"]
    for name in sorted(several):
        pattern = f"^{name}$"
        if not any(outcome == "wrong" for outcome, _ in outcomes_with(rules, pattern).values()):
            continue
        graph = models[name, node_tests.FORMS[0]].graph
        by_cost = sorted(candidates_of(graph), key=lambda rule: sum(covers(rule, other) for other in right))
        for rule in by_cost:
            tried = outcomes_with([*rules, rule], pattern)
            if not any(outcome == "wrong" for outcome, _ in tried.values()):
                rules.append(rule)
                break
    wrong = {key: detail for key, (outcome, detail) in outcomes_with(sorted(set(rules))).items() if outcome == "wrong"}
    return sorted(set(rules)), [f"{name}, {form}: {detail}" for (name, form), detail in wrong.items()]


def rules_of_sweep(version, folder, kept):
    """(rules, those that are still wrong with them)"""

    def rows_with(table, pattern=""):
        return sweep.sweep(sweep.parse([pattern, "--table", table]))

    if kept and kept.exists():
        rows = [json.loads(line) for line in kept.read_text().splitlines()]
    else:
        rows = rows_with("none")
        if kept:
            kept.write_text("".join(json.dumps(row) + "\n" for row in rows))
    # No device here has double precision: most recipes of it come out in single precision.
    rules = {("*", ("any:f64",))}
    rows = [row for row in rows if "f64" not in row["types"] and row["attributes"].get("to") != "11"]
    tried = {}
    table = folder / "table.tsv"
    wrong = [row for row in rows if row["outcome"] in ("wrong", "died")]
    for _ in range(6):
        made = {(op, tuple(conditions.split())) for op, conditions in sweep_rules.rules_of(rows, tried)}
        table.write_text(text_of_rules(sorted(rules | made), version))
        # More rules make nothing wrong that was right.
        names = sorted({re.escape(row["recipe"]) for row in wrong})
        wrong = [row for row in rows_with(str(table), f"^({'|'.join(names)})$") if row["outcome"] in ("wrong", "died")]
        if not wrong:
            break
        print(f"{len(wrong)} still wrong with {len(rules | made)} rules", file=sys.stderr, flush=True)
        for row in wrong:
            tried[sweep_rules.key_of(row)] = tried.get(sweep_rules.key_of(row), 0) + 1
    return sorted(rules | made), [f"{row['recipe']}, {row['kind']}: {row['detail']}" for row in wrong]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--write")
    parser.add_argument("--tests")
    parser.add_argument("--rows")
    parser.add_argument("--only", choices=("tests", "sweep"))
    arguments = parser.parse_args()
    library = os.path.abspath(arguments.library)
    _, devices = node_tests.register(library)
    version = devices[0].ep_metadata["latebind.runtime_version"].split("-")[0]
    rules, wrong = [], []
    with tempfile.TemporaryDirectory() as folder:
        if arguments.only != "sweep":
            kept = Path(arguments.tests) if arguments.tests else None
            rules, wrong = rules_of_node_tests(library, version, Path(folder), kept)
        if arguments.only != "tests":
            kept = Path(arguments.rows) if arguments.rows else None
            more, still = rules_of_sweep(version, Path(folder), kept)
            rules, wrong = sorted({*rules, *more}), [*wrong, *still]
    print(text_of_rules(rules, version))
    if arguments.write:
        table_file = Path(arguments.write)
        lines = [line for line in table_file.read_text().splitlines() if line and not line.startswith("#")] if table_file.exists() else []
        # A person decides what is taken.
        taken = [line for line in lines if line.startswith("+")]
        others = lines_of_others("\n".join(line for line in lines if line not in taken), version) + taken
        own = {(line.split("\t")[0], tuple(line.split("\t")[1].split())) for line in lines if line not in others}
        joined = sweep_rules.without_the_narrower({(op, " ".join(conditions)) for op, conditions in {*rules, *own}})
        names = {op for line in taken for op in line[1:].split("\t")[0].split("|")} | {"*"}
        rules = [(op, tuple(conditions.split())) for op, conditions in sorted(joined) if not taken or op in names]
        table_file.write_text(text_of_rules(rules, version, others))
    for line in wrong:
        print(f"still wrong: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
