#!/usr/bin/env python3
"""Compares the speed of Latebind's tokenizer with the reference (the `tokenizers` package), on one thread each.

Of every kind of tokenizer that models have one is trained on the spot (tests/embedding/tokenizer/length_oracle.py), of the texts that
are then read: the paragraphs of bench/corpus.py, and short texts of many scripts. Every round reads them a few times in either, each
in a process of its own and in turn, and counts the fastest time; the median and the range of the ratios are printed. The reference
makes ids alone, too (`encode_batch_fast`), and keeps the words that it knows from one pass to the next. Usage, with a Python that has
the package (scripts/setup makes build/runtime/oracle):

  bench/tokenizer_speed.py --build build/release [--rounds 3] [--only REGEX] [TOKENIZER.json…]
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/embedding/tokenizer"))

import byte_level_oracle  # noqa: E402
import compare_with_oracle  # noqa: E402
import length_oracle  # noqa: E402
import unigram_oracle  # noqa: E402

REFERENCE = """
import sys, time
from tokenizers import Tokenizer
tokenizer = Tokenizer.from_file(sys.argv[1])
tokenizer.no_truncation()
tokenizer.no_padding()
lines = open(sys.argv[2], encoding="utf-8", newline="\\n").read().split("\\n")[:-1]
best = float("inf")
for _ in range(5):
    start = time.perf_counter()
    for i in range(0, len(lines), 500):
        tokenizer.encode_batch_fast(lines[i : i + 500])
    best = min(best, time.perf_counter() - start)
print(best)
"""


def texts(folder):
    english = folder / "english.txt"
    subprocess.run([sys.executable, ROOT / "bench/corpus.py", english], check=True, stdout=subprocess.DEVNULL)
    scripts = folder / "scripts.txt"
    lines = [s for s in compare_with_oracle.SENTENCES[:22] if "\n" not in s and "\r" not in s]
    words = [w for s in lines for w in s.split()]
    made = [" ".join(words[(i * 7 + k) % len(words)] for k in range(3 + i % 20)) for i in range(3000)]
    scripts.write_text("\n".join(lines * 40 + made) + "\n", encoding="utf-8")
    return english, scripts


def megabytes_a_second(command, size, seconds):
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | {"TOKENIZERS_PARALLELISM": "false"})
    return size / 1e6 / float(done.stdout) if seconds else float(re.search(r"([\d.]+) MB/s", done.stdout)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    driver = arguments.build / "bin/tokenizer_driver"
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        read = texts(folder)
        sentences = [line for file in read for line in file.read_text(encoding="utf-8").splitlines()]
        byte_level_oracle.CORPUS = unigram_oracle.CORPUS = sentences
        files = {file.parent.name: file for file in arguments.files}
        for number, (name, make) in enumerate(length_oracle.TRAINED.items()):
            if re.search(arguments.only, name):
                files[name] = folder / f"{number}.json"
                make().save(str(files[name]))
        for name, file in files.items():
            for text in read:
                size = text.stat().st_size
                ours, theirs = [], []
                for _ in range(arguments.rounds):
                    ours.append(megabytes_a_second([driver, "speed", file, text], size, False))
                    theirs.append(megabytes_a_second([sys.executable, "-c", REFERENCE, file, text], size, True))
                ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
                print(f"{name:44} {text.stem:8} {statistics.median(ours):7.1f} MB/s, the reference {statistics.median(theirs):6.1f}: "
                      f"{statistics.median(ratios):5.2f} times as fast ({min(ratios):.2f} to {max(ratios):.2f})", flush=True)


if __name__ == "__main__":
    main()
