#!/usr/bin/env python3
"""Times how long a tokenizer.json with 250,000 entries takes to open, beside the reference (the `tokenizers` package).

The files are made up by the reference, of random pieces of several scripts: Unigram as XLM-RoBERTa's, WordPiece,
WordLevel, BPE of bytes as Qwen's and of characters as Gemma's, with as many merges, in both forms that files have. Every
round opens each file once in either, each in a process of its own; the median and the range are printed, the median of the
processor time, and the ratio. Usage, with a Python that has the package (scripts/setup makes build/runtime/oracle):

  bench/tokenizer_load.py --build build/release [--rounds 9]

Needs a build of the preset `bench`.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

COUNT = 250_000
REFERENCE = """
import sys, time
from tokenizers import Tokenizer
start = time.perf_counter()
Tokenizer.from_file(sys.argv[1])
print((time.perf_counter() - start) * 1000)
"""


def characters(first, count):
    return "".join(map(chr, range(first, first + count)))


# Characters, and how often a piece is of them.
SCRIPTS = [
    (characters(ord("a"), 26), 50), (characters(ord("A"), 26), 4), (characters(0x430, 32), 14), (characters(0x3B1, 25), 4),
    (characters(0x627, 36), 6), (characters(0x905, 50), 4), (characters(0x3041, 80), 3), (characters(0x4E00, 4000), 10),
    (characters(0xAC00, 1500), 4), ("0123456789", 3), ("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", 1)]


def pieces(drawn, mark, count):
    seen = {}
    while len(seen) < count:
        (script,) = drawn.choices([script for script, _ in SCRIPTS], [weight for _, weight in SCRIPTS])
        size = max(1, round(drawn.gauss(6, 2.5))) if len(script) < 100 else drawn.choice([1, 2, 2, 3, 4])
        piece = "".join(drawn.choices(script, k=size))
        seen[mark + piece if drawn.random() < 0.45 else piece] = None
    return list(seen)


def unigram(drawn):
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    vocab = [(token, 0.0) for token in special]
    vocab += [(piece, -drawn.uniform(3, 18)) for piece in pieces(drawn, "▁", COUNT)]
    tokenizer = Tokenizer(models.Unigram(vocab, unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


def wordpiece(drawn):
    vocab = {piece: number for number, piece in enumerate(["[UNK]", *pieces(drawn, "##", COUNT)])}
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def word_level(drawn):
    vocab = {piece: number for number, piece in enumerate(["[UNK]", *pieces(drawn, "", COUNT)])}
    tokenizer = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


def bpe(drawn, alphabet, mark, **options):
    """Merges of pairs that are there, mostly of Latin letters and of what was merged before."""
    tokens = list(alphabet)
    vocab = {token: number for number, token in enumerate(tokens)}
    usual = [c for c in alphabet if c.isascii() and c.islower()] * 40 + [mark] * 60 + tokens
    merges = []
    while len(vocab) < COUNT:
        left = drawn.choice(usual if drawn.random() < 0.5 else tokens)
        right = drawn.choice(usual if drawn.random() < 0.6 else tokens)
        token = left + right
        if len(token) > drawn.choice((2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16)) or token in vocab or mark in right:
            continue
        vocab[token] = len(vocab)
        merges.append((left, right))
        tokens.append(token)
        if drawn.random() < 0.3:
            usual.append(token)
    return Tokenizer(models.BPE(vocab, merges, **options))


def byte_level(drawn):
    tokenizer = bpe(drawn, sorted(pre_tokenizers.ByteLevel.alphabet()), "Ġ")
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def metaspace(drawn):
    alphabet = sorted({c for script, _ in SCRIPTS for c in script} | {"▁"})
    special = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256))]
    tokenizer = bpe(drawn, special + alphabet, "▁", unk_token="<unk>", byte_fallback=True, fuse_unk=True)
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    return tokenizer


def files(folder):
    for make in (unigram, wordpiece, word_level, byte_level, metaspace):
        tokenizer = make(random.Random(7))
        file = folder / f"{make.__name__}.json"
        tokenizer.save(str(file))
        yield file
        content = json.loads(file.read_text())
        if "merges" in content["model"]:
            content["model"]["merges"] = [" ".join(merge) for merge in content["model"]["merges"]]
            file = folder / f"{make.__name__}_lines.json"
            file.write_text(json.dumps(content, ensure_ascii=False, indent=2))
            yield file


def milliseconds(command):
    return [float(each) for each in subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    program = arguments.build / "bin/tokenizer_load"
    with tempfile.TemporaryDirectory() as folder:
        for file in files(Path(folder)):
            ours, theirs, busy, own = [], [], [], []
            for _ in range(arguments.rounds):
                for numbers, number in zip((ours, busy, own), milliseconds([program, file])):
                    numbers.append(number)
                theirs += milliseconds([sys.executable, "-c", REFERENCE, file])
            ratios = [theirs[i] / ours[i] for i in range(arguments.rounds)]
            print(
                f"{file.stem:18} {file.stat().st_size / 1e6:5.1f} MB  {statistics.median(ours):6.1f} ms "
                f"({min(ours):.1f} to {max(ours):.1f}), processor time {statistics.median(busy):.1f} ms, of the calling thread "
                f"{statistics.median(own):.1f} ms, the reference takes {statistics.median(ratios):.1f} times as long "
                f"({min(ratios):.1f} to {max(ratios):.1f})",
                flush=True)


if __name__ == "__main__":
    main()
