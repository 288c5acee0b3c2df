"""Makes rules of the table of known errors (core/onnx/known_errors.h) of what a sweep has found."""

from __future__ import annotations

from collections import defaultdict

# What a rule may say of a kind of number (values.py), the narrowest first; "": whatever the numbers.
_FLOAT = {
    "nan": ["may:nan", ""], "inf": ["may:inf", ""], "minus-inf": ["may:minus-inf", ""], "subnormal": ["may:subnormal", ""],
    "both-inf": ["may:inf may:minus-inf", "may:inf", "may:minus-inf", ""], "huge": ["may:huge", ""], "large": ["may:large", ""],
    "plain": [""], "zero": [""], "half": [""], "empty": ["may:empty", ""], "outside": ["may:outside", ""],
}  # fmt: skip
_NARROW = ["may:wrap", "may:beyond31", "may:beyond24", ""]
_WIDE = ["may:beyond31", "may:beyond24", "may:wrap", ""]
# Attributes by whose values an operator is several.
_SEVERAL = ("to", "direction", "reduction", "odd")


def choices(row) -> list[str]:
    kind, first = row["kind"], (row["types"] or ["f32"])[0]
    if row["constant"]:  # the others are constants, whose numbers are looked at as well
        first = next((t for t in row["types"] if t not in ("bool",)), first)
    if row.get("place"):
        return [f"out:{row['place']}", ""]
    if kind in _FLOAT and (kind != "plain" or first in ("f32", "f16", "bf16", "f64", "bool")):
        # Of several nodes, one makes the NaN that another one drops.
        return (["may:nan"] if row["several"] and kind != "nan" else []) + _FLOAT[kind]
    if first in ("i8", "u8", "i16", "u16", "bool"):
        return _NARROW
    # Integers of 32 bits are to wrap around: what is wrong with them, and with small ones, is how many bits count.
    return _WIDE[1:] if first == "i32" or row.get("in 32 bits") else _WIDE


def rules_of(rows, tried: dict[tuple, int]) -> set[tuple[str, str]]:
    """{(operator, conditions)}: `tried` says how many choices of a row have not been enough."""
    wrong, right = defaultdict(list), defaultdict(list)
    for row in rows:
        if row["outcome"] in ("wrong", "died"):
            found = choices(row)
            wrong[row["op"], found[min(tried.get(key_of(row), 0), len(found) - 1)]].append(row)
        elif row["outcome"] in ("right", "disputed"):
            for choice in choices(row)[:1] if row["op"] != "TopK" else []:
                right[row["op"], choice].append(row)
    made = set()
    for (op, choice), those in wrong.items():
        conditions = [choice] if choice else []
        others = right.get((op, choice), [])
        types = sorted({row["types"][0] for row in those if row["types"]})
        clean = {row["types"][0] for row in others if row["types"]} - set(types)
        if clean and types:
            conditions.insert(0, "type:0=" + "|".join(types))
        for name in _SEVERAL:
            values = {row["attributes"].get(name) for row in those}
            same_types = [row for row in others if not types or not row["types"] or row["types"][0] in types]
            if None in values or not {row["attributes"].get(name) for row in same_types} - values:
                continue
            if name == "odd":
                conditions.insert(0, f"odd:{sorted(values)[0]}")
                continue
            for value in values:
                made.add((op, " ".join([f"attr:{name}={value}", *conditions])))
            conditions = None
            break
        if conditions is not None:
            made.add((op, " ".join(conditions)))
    return without_the_narrower(made)


def key_of(row) -> tuple:
    return (row["recipe"], row["kind"], row["constant"])


def without_the_narrower(rules: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Without those that another one says as well."""

    def parts(rule):
        """Its conditions, and what they imply."""
        found = set(rule[1].split())
        return found | ({"may:beyond24"} if "may:beyond31" in found else set())

    def is_wider(one, other):
        return one[0] == other[0] and one != other and set(one[1].split()) <= parts(other)

    return {rule for rule in rules if not any(is_wider(other, rule) for other in rules)}
