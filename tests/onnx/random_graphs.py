"""Tries random graphs on a device, through latebind.Model and through ONNX Runtime's provider, beside what ONNX defines.

usage: random_graphs.py PROVIDER [--start SEED] [--count N] [--table FILE] [--rows FILE] [--only provider|model]
                        [--operators REGEX] [--types T,T…] [--show SEED | --reduce SEED]

Each graph has several nodes that share tensors, constants among inputs and whole branches of constants, sizes that are declared
or known in a run only, and attributes with other values than their defaults (random_models.py). Each loaded model runs several
times, with other numbers of the same kind, other sizes and sizes of zero. Expected are the results of ONNX Runtime's CPU provider
without optimisations; where they are not met, package onnx's evaluator is asked as well.

Prints what differs, with the smallest part of the graph that still does, and a summary; exits with 1 where something does.
--table is a table of known errors in place of the built-in one, or `none`. --operators are those that graphs are made of, and
--types are the element types of most tensors: for what a table has just begun to take. --show prints one graph, --reduce the smallest part
of it that differs. LATEBIND_LIBRARY and PYTHONPATH say which Python package.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CHUNK = 100


def work(arguments, rows_file, start, end):
    import random_trial

    trial = random_trial.Trial(arguments.library, arguments.table, arguments.only, *made_of(arguments))
    with open(rows_file, "a") as rows:
        for seed in range(start, end):
            # Before it runs: so it is known what a process died of.
            rows.write(json.dumps({"begin": seed}) + "\n")
            rows.flush()
            for row in trial.rows_of(seed):
                rows.write(json.dumps(row) + "\n")
            rows.flush()
        rows.write(json.dumps({"end": True}) + "\n")


def made_of(arguments):
    return arguments.operators, tuple(one for one in arguments.types.split(",") if one)


def rows_of(arguments):
    """A row for each graph, interface and run. A graph that ends its process has one that says so."""
    found, at, last = [], arguments.start, arguments.start + arguments.count
    words = [arguments.library, "--only", arguments.only, "--operators", arguments.operators, "--types", arguments.types]
    words += ["--table", arguments.table] if arguments.table else []
    with tempfile.TemporaryDirectory() as folder:
        rows_file = Path(folder) / "rows"
        while at < last:
            end = min(at + CHUNK, last)
            command = [sys.executable, __file__, "--work", str(rows_file), str(at), str(end), *words]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            lines = [json.loads(line) for line in rows_file.read_text().splitlines()] if rows_file.exists() else []
            if not lines:
                raise RuntimeError(done.stderr[-2000:])
            rows_file.unlink()
            found += [line for line in lines if "outcome" in line]
            at = end
            if "end" not in lines[-1]:
                at = [line["begin"] for line in lines if "begin" in line][-1] + 1
                found.append({"seed": at - 1, "by": "", "outcome": "died", "detail": f"exit code {done.returncode}: {done.stderr[-300:]}"})
    return found


def parse(words):
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--start", type=int, default=50_000)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--table", default="")
    parser.add_argument("--rows", default="")
    parser.add_argument("--only", default="", choices=("", "provider", "model"))
    parser.add_argument("--operators", default="")
    parser.add_argument("--types", default="")
    parser.add_argument("--show", type=int)
    parser.add_argument("--reduce", type=int)
    return parser.parse_args(words)


def main():
    arguments = parse(sys.argv[1:])
    if arguments.show is not None:
        import random_trial

        print(random_trial.text_of(arguments.show, *made_of(arguments)))
        return 0
    if arguments.reduce is not None:
        import random_trial

        trial = random_trial.Trial(arguments.library, arguments.table, "", *made_of(arguments))
        wrong = [row for row in trial.rows_of(arguments.reduce) if row["outcome"] == "wrong" and row.get("run")]
        for by in {row["by"]: row["run"] for row in reversed(wrong)}.items():
            print(by, trial.smallest(arguments.reduce, *by), sep="\n")
        return 0
    rows = rows_of(arguments)
    if arguments.rows:
        Path(arguments.rows).write_text("".join(json.dumps(row) + "\n" for row in rows))
    counts = {}
    for row in rows:
        counts[row["outcome"]] = counts.get(row["outcome"], 0) + 1
        if row["outcome"] in ("wrong", "died", "no error"):
            print(f"{row['seed']} {row['by']}: {row['outcome']}: {row['detail']}")
    graphs = {row["seed"] for row in rows if row["outcome"] == "right"}
    print(", ".join(f"{count} {name}" for name, count in sorted(counts.items())) + f"; {len(graphs)} graphs right")
    return 1 if counts.get("wrong") or counts.get("died") or not graphs else 0


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.argv[1:2] == ["--work"]:
        work(parse(sys.argv[5:]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
        sys.exit(0)
    sys.exit(main())
