#!/usr/bin/env python3
"""Compares two revisions of this repository, built side by side: bench/start.py, bench/run_peers.py and
bench/executorch_beside_stock.cpp of each, in turn, round by round, so that whatever else the machine does hits both.

Prints each figure of the older one, of the newer one, and the ratio of the medians; a ratio outside 1 ± the tolerance is
marked. Whether more is better stands in the figure's name. Usage:

  bench/before_and_after.py OLD [NEW] [--rounds 5] [--tolerance 0.02] [--json FILE]

NEW is HEAD unless given. Both are checked out and built below build/compare, with the build/runtime of this tree: what
scripts/setup brings. On a machine with two cores the builds take six minutes, and a round two.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUNTIME = ROOT / "build/runtime"
MODEL = RUNTIME / "model/all-MiniLM-L6-v2"
TARGETS = ["latebind_program", "latebind_executorch", "raw_import", "raw_openvino", "single_text",
           "executorch_beside_stock"]  # fmt: skip
PEERS = "latebind-f32,latebind-bf16,latebind-ort-f32,single-f32"


def one_file(pattern):
    found = sorted(RUNTIME.glob(pattern))
    if not found:
        sys.exit(f"before_and_after: {RUNTIME}/{pattern} is not there; type scripts/setup")
    return found[0]


def built(revision):
    """The tree of a revision, checked out and built."""
    commit = subprocess.run(["git", "rev-parse", "--short=12", f"{revision}^{{commit}}"], cwd=ROOT, check=True,
                            stdout=subprocess.PIPE, text=True).stdout.strip()  # fmt: skip
    tree = ROOT / "build/compare" / commit
    if not tree.exists():
        subprocess.run(["git", "clone", "--quiet", "--shared", "--no-checkout", ROOT, tree], check=True)
        subprocess.run(["git", "checkout", "--quiet", "--detach", commit], cwd=tree, check=True)
        (tree / "build").mkdir()
        (tree / "build/runtime").symlink_to(RUNTIME)
    print(f"building {revision} ({commit})", file=sys.stderr)
    with open(tree / "build/log", "w") as log:
        for command in (
            ["cmake", "--preset", "release", "-DLATEBIND_BUILD_BENCH=ON", "-DLATEBIND_BUILD_TESTS=OFF"],
            ["cmake", "--build", "--preset", "release", "--target", *TARGETS],
        ):
            if subprocess.run(command, cwd=tree, stdout=log, stderr=log).returncode != 0:
                sys.exit(f"before_and_after: {revision} was not built; see {log.name}")
    return tree


def output_of(command, tree):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LATEBIND_")}
    done = subprocess.run(command, cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"before_and_after: {' '.join(map(str, command))} failed in {tree}:\n{done.stderr[-2000:]}")
    return done.stdout


def numbers_in(value, name=""):
    """Every number of a JSON value, under the names that lead to it."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from numbers_in(part, f"{name} {key}".strip())
    elif isinstance(value, list):
        for part in value:
            yield from numbers_in(part, name)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield name, value


def one_round(tree):
    """{figure: number} of one run of each benchmark."""
    build = tree / "build/release"
    figures = {}
    text = output_of([sys.executable, "bench/start.py", "--build", build, "--rounds", "1", "--json"], tree)
    figures |= {f"start: {name}": number for name, number in numbers_in(json.loads(text)["contenders"])}
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "peers.json"
        output_of([sys.executable, "bench/run_peers.py", "--build", build, "--rounds", "1", "--only", PEERS, "--json",
                   table], tree)  # fmt: skip
        figures |= {f"peers: {name}": number for name, number in numbers_in(json.loads(table.read_text()))}
    library = one_file("venv/lib/python3*/site-packages/openvino/libs/libopenvino_c.so*")
    stock = one_file("executorch-*/**/libexecutorch_backend_openvino.so")
    delegate = build / "lib/liblatebind_executorch.so"
    text = output_of([build / "bin/executorch_beside_stock", library, delegate, stock, MODEL, "bf16", "100", "5"], tree)
    figures |= {f"executorch: {name}": number for name, number in numbers_in(json.loads(text))}
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new", nargs="?", default="HEAD")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tolerance", type=float, default=0.02)
    parser.add_argument("--json", type=Path, help="writes every figure of every round to this file")
    options = parser.parse_args()

    trees = [built(options.old), built(options.new)]
    rounds = [[], []]
    for number in range(options.rounds):
        # The one that comes first in a round is not always the same.
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            print(f"round {number + 1}/{options.rounds}: {trees[which].name}", file=sys.stderr)
            rounds[which].append(one_round(trees[which]))
    if options.json:
        options.json.write_text(json.dumps(dict(zip(("old", "new"), rounds)), indent=1))
    print(f"{'':<58} {'old':>10} {'new':>10}  new/old")
    for name in rounds[0][0]:
        if name not in rounds[1][0]:
            continue
        old, new = (statistics.median(figures[name] for figures in side) for side in rounds)
        ratio = new / old if old else 1
        mark = "" if abs(ratio - 1) <= options.tolerance else "  <--"
        print(f"{name:<58} {old:10.2f} {new:10.2f}  {ratio:6.3f}{mark}")


if __name__ == "__main__":
    main()
