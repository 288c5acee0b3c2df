"""Tries every recipe with every kind of number on a device, beside what ONNX defines.

usage: sweep.py --device openvino:CPU [--table FILE] [--seed N] [--rows FILE] [--every N] [PATTERN]

Prints what comes out otherwise than ONNX defines, and a summary; exits with 1 where something does. --table is a table of
known errors in place of the built-in one, or `none`. --rows keeps one line of JSON for each recipe, form and kind.
Models run through the Python package, so LATEBIND_LIBRARY and PYTHONPATH say which.

A row has an outcome: right, wrong, refused (the model, or these numbers, with the reason), disputed (the two references do not
agree, and the device's result is that of one), undefined (neither reference computes it), died.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import definition
import recipes


def outcome(recipe, model, feeds, got, numbers):
    """(outcome, detail) of results beside those of ONNX Runtime and, where they are not the same, of package onnx."""
    by_host = definition.by_onnxruntime(model, [feeds])[0]
    host = None if isinstance(by_host, str) else definition.differences(recipe, got, by_host, numbers)
    if host == "":
        return "right", ""
    by_text = definition.by_reference(model, feeds)
    text = None if isinstance(by_text, str) else definition.differences(recipe, got, by_text, numbers)
    if host is None and text is None:
        # No result is right where ONNX says that there is none.
        return ("wrong", f"a result, where there is an error: {by_host}") if recipe.is_error else ("undefined", by_host)
    if text == "":
        return ("right", "") if host is None else ("disputed", host)
    if host is not None and text is not None and definition.differences(recipe, by_host, by_text, numbers):
        return "disputed", host
    if definition.fits_in_32_bits(recipe, got, by_host if host is not None else by_text, numbers):
        return "wrong in 32 bits", host if host is not None else text
    return "wrong", host if host is not None else text


def place_of(recipe, detail):
    """Which output a difference is about."""
    name = re.split(r"[\[:]", detail)[0]
    return recipe.outputs.index(name) if name in recipe.outputs else 0


def rows_of(recipe, device, table, seed, folder):
    """One for each kind of number."""
    from latebind import Model
    from latebind.errors import LatebindError

    options = {"openvino_known_errors": table} if table else {}
    file = Path(folder) / "model.onnx"
    data = definition.data_sets(recipe, seed)
    forms = [frozenset()]
    if len(recipe.types) > 1 and recipe.nodes[0].op_type not in ("QLinearMatMul", "QLinearConv") and len(recipe.nodes) == 1:
        forms.append(frozenset(list(recipe.types)[1:]))
    for form in forms:
        model = None
        for kind, numbers in data if not form else definition.data_sets(recipe, seed, plain_first=True):
            row = {"op": recipe.op, "recipe": recipe.name, "types": list(recipe.types.values()), "kind": kind,
                   "constant": bool(form), "several": len(recipe.nodes) > 1, "attributes": recipe.attributes}  # fmt: skip
            if form or model is None:
                model = recipe.model(form, numbers)
                file.write_bytes(model.SerializeToString())
                try:
                    loaded = Model(file, device=device, precision="f32", threads=1, cache=False, **options)
                    refusal = ""
                except LatebindError as error:
                    refusal = str(error)
            if refusal:
                yield row | {"outcome": "refused", "detail": refusal}
                if not form:
                    break
                continue
            feeds = definition.feeds_of(recipe, numbers, form)
            names = [info.name for info in loaded.inputs]
            try:
                made = loaded.run({name: array for name, array in feeds.items() if name in names})
            except LatebindError as error:
                yield row | {"outcome": "refused", "detail": str(error)}
                continue
            got = list(made.values())
            result, detail = outcome(recipe, model, feeds, got, numbers)
            yield row | {"outcome": result[:5] if result.startswith("wrong") else result, "detail": detail, "place": place_of(recipe, detail), "in 32 bits": result.endswith("32 bits")}


def work(arguments, rows_file, start):
    chosen = chosen_recipes(arguments)
    with open(rows_file, "a") as rows, tempfile.TemporaryDirectory() as folder:
        table = arguments.table
        if table == "none":
            table = str(Path(folder) / "empty.tsv")
            Path(table).write_text("")
        for place in range(start, len(chosen)):
            # Before it runs: so it is known what a process died of.
            rows.write(json.dumps({"begin": place}) + "\n")
            rows.flush()
            for row in rows_of(chosen[place], arguments.device, table, arguments.seed, folder):
                rows.write(json.dumps(row) + "\n")
        rows.write(json.dumps({"end": True}) + "\n")


def chosen_recipes(arguments):
    return [recipe for recipe in recipes.all_recipes() if re.search(arguments.pattern, recipe.name)][:: arguments.every]


def sweep(arguments):
    """All rows; a recipe that ends its process has one that says so."""
    chosen = chosen_recipes(arguments)
    with tempfile.TemporaryDirectory() as folder:
        rows_file = Path(folder) / "rows"
        start, found = 0, []
        while True:
            words = [arguments.pattern, "--device", arguments.device, "--seed", str(arguments.seed), "--every", str(arguments.every)]
            words += ["--table", arguments.table] if arguments.table else []
            command = [sys.executable, __file__, "--work", str(rows_file), str(start), *words]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            lines = [json.loads(line) for line in rows_file.read_text().splitlines()] if rows_file.exists() else []
            if not lines:
                raise RuntimeError(done.stderr[-2000:])
            rows_file.unlink()
            found += [line for line in lines if "outcome" in line]
            if "end" in lines[-1]:
                return found
            place = [line["begin"] for line in lines if "begin" in line][-1]
            recipe = chosen[place]
            found.append({"op": recipe.op, "recipe": recipe.name, "types": list(recipe.types.values()), "kind": "outside" if recipe.is_error else "plain", "constant": False, "several": len(recipe.nodes) > 1, "attributes": recipe.attributes,
                          "outcome": "died", "detail": f"exit code {done.returncode}: {done.stderr[-300:]}"})  # fmt: skip
            start = place + 1


def parse(words):
    parser = argparse.ArgumentParser()
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--device", default="openvino:CPU")
    parser.add_argument("--table", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--rows", default="")
    return parser.parse_args(words)


def main():
    arguments = parse(sys.argv[1:])
    rows = sweep(arguments)
    if arguments.rows:
        Path(arguments.rows).write_text("".join(json.dumps(row) + "\n" for row in rows))
    counts = {}
    for row in rows:
        counts[row["outcome"]] = counts.get(row["outcome"], 0) + 1
        if row["outcome"] in ("wrong", "died"):
            print(f"{row['recipe']}, {row['kind']}{', constants' if row['constant'] else ''}: {row['detail']}")
    print(", ".join(f"{count} {name}" for name, count in sorted(counts.items())))
    return 1 if counts.get("wrong") or counts.get("died") or not counts.get("right") else 0


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.argv[1:2] == ["--work"]:
        work(parse(sys.argv[4:]), sys.argv[2], int(sys.argv[3]))
        sys.exit(0)
    sys.exit(main())
