"""What the tests of latebind.bulk are made of: tables, outputs, and the command."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from support import TINY, snippets

# The tiny model knows few words: these are its digits.
WORDS = ["the", "cat", "dog", "sat", "ran", "under", "mat", "tree", "quick", "brown"]


def texts(count, start=0):
    """Of different lengths, all different, also for the tiny model."""
    return [
        " ".join(WORDS[int(digit)] for digit in str(number)) + " fox" * (number % 7)
        for number in range(start, start + count)
    ]


def table(count, start=0):
    return pa.table({"id": pa.array(range(start, start + count), pa.int64()), "body": texts(count, start)})


def vectors_of(folder):
    """All rows of an output, in the order of its shards."""
    return pa.concat_tables([pq.read_table(file) for file in sorted((Path(folder) / "vectors").glob("*.parquet"))])


def contents(folder):
    """The bytes of all files of an output, by name."""
    folder = Path(folder)
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != ".lock"
    }


def command(*arguments, model=TINY, column="body", **options):
    return [sys.executable, "-m", "latebind.bulk", *map(str, arguments), "--model", str(model), "--text-column", column]


def run(*arguments, model=TINY, column="body"):
    return subprocess.run(
        command(*arguments, model=model, column=column), capture_output=True, encoding="utf-8", timeout=300, check=False
    )


def snippets_with(language, *words):
    """The programs of docs/bulk.md with one of these words."""
    chosen = [each for each in snippets("docs/bulk.md", language) if any(word in each for word in words)]
    assert chosen, f"docs/bulk.md has nothing with {words}"
    return chosen


def run_snippets(folder, *words):
    """Runs those in Python here, with their files in this folder; their names."""
    pq.write_table(table(300), folder / "articles.parquet")
    names = {}
    for each in snippets_with("python", *words):
        code = each.replace('"articles.parquet"', repr(str(folder / "articles.parquet"))).replace(
            '"by-', f'"{folder}/by-'
        )
        exec(compile(code, "docs/bulk.md", "exec"), names)  # noqa: S102
    return names
