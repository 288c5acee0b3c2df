#!/usr/bin/env python3
"""The benchmark's corpus: paragraphs of the docstrings of Python's standard library, one a line.

Text that people wrote, of very different lengths, on every machine that has Python, without a download. The selection is
shuffled with a fixed seed, so that one Python version always gives the same lines.

Usage: corpus.py OUTPUT [--count 2000] [--seed 7]
"""
import argparse
import ast
import pathlib
import random
import sys
import sysconfig


def docstrings(file):
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            yield ast.get_docstring(node) or ""


def paragraphs(folder):
    files = sorted([*folder.glob("*.py"), *folder.glob("*/*.py")], key=str)
    for file in files:
        if any(part == "site-packages" or part.startswith("test") for part in file.relative_to(folder).parts):
            continue
        for text in docstrings(file):
            lines = []
            for line in text.splitlines() + [""]:
                if line.strip():
                    lines.append(line)
                    continue
                paragraph = " ".join(" ".join(lines).split())
                lines = []
                if len(paragraph) > 15:
                    yield paragraph


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    texts = list(paragraphs(pathlib.Path(sysconfig.get_paths()["stdlib"])))
    random.Random(options.seed).shuffle(texts)
    chosen = texts[: options.count]
    pathlib.Path(options.output).write_text("\n".join(chosen) + "\n", encoding="utf-8")
    print(f"{options.output}: {len(chosen)} of {len(texts)} paragraphs", file=sys.stderr)


if __name__ == "__main__":
    main()
