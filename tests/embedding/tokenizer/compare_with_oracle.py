#!/usr/bin/env python3
"""Compares Latebind's tokenizer with the reference (the `tokenizers` package), id for id.

    build/runtime/oracle/bin/python tests/embedding/tokenizer/compare_with_oracle.py DRIVER TOKENIZER.json WHAT [FILE…]

WHAT:
    lines        ids of at least 100,000 lines of mixed text, with and without truncation on both sides, the text
                 of every id, and the text of these lines' ids
    characters   normalized text and words of code points, in every combination of the normalizer's options, and
                 of combining sequences
    added        ids and decoded texts with made-up tokenizers that use the flags of added tokens
    parts        ids with every combination of the parts that files may ask for
    byte_level   ids, offsets and decoded texts of byte-pair encoders that are trained on the spot, byte-level ones
                 as of RoBERTa and GPT-2, and others
    unigram      ids and decoded texts of Unigram models as of XLM-RoBERTa, trained on the spot and made up, and the
                 normalizers, pre-tokenizers and decoders that such files have, each on its own
    patterns     words and texts of expressions and what Split does with them, ids, offsets and decoded texts of tokenizers as
                 of Qwen, Llama 3, Gemma and ModernBERT in small, and that what is not read is refused
    length       ids and offsets of 120,000 lines with each FILE, or with each of twenty tokenizers as models have them, trained on
                 the spot, and with models of `sentencepiece` where that and `transformers` are installed
    record FILE  writes a few thousand (text, ids) lines for the tests that run without the reference
    record_unigram   writes the tokenizer of tests/data/tokenizer/unigram.json again, and such lines beside it

Of the planes in which no version of Unicode has a character, characters, parts, byte_level and unigram take a sample, or all code
points with LATEBIND_TEST_EVERY_CODE_POINT=1; lines takes all of them.

DRIVER is the program tokenizer_driver. Exit 1 with the first differences when there are any.
"""
import itertools
import json
import os
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile

import tokenizers
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

REFERENCE_VERSION = "0.23.3"
LINES = 120_000
EVERY_CODE_POINT = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


def is_sampled(c):
    """Planes 4 to 13 are empty, 15 and 16 are for private use; their first and last 64 are always taken."""
    plane, within = divmod(c, 0x10000)
    return plane < 4 or plane == 14 or within < 64 or within >= 0xFFC0 or c % 61 == 0


WHOLE = os.environ.get("LATEBIND_TEST_EVERY_CODE_POINT") == "1"
CODE_POINTS = EVERY_CODE_POINT if WHOLE else [c for c in EVERY_CODE_POINT if is_sampled(c)]


def run_driver(driver, arguments, texts):
    given = "".join(json.dumps(t) + "\n" for t in texts)
    # A driver for another machine is run by this.
    emulator = shlex.split(os.environ.get("LATEBIND_TEST_EMULATOR", ""))
    done = subprocess.run([*emulator, driver, *arguments], input=given.encode(), stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().splitlines()


def refusal(driver, file):
    """What the driver says of a file that it refuses, or nothing."""
    emulator = shlex.split(os.environ.get("LATEBIND_TEST_EMULATOR", ""))
    done = subprocess.run([*emulator, driver, "tokens", file], capture_output=True, text=True)
    return done.stderr if done.returncode == 1 else None


def report(what, texts, ours, theirs, quiet=False):
    """Prints the first differences; the number of them."""
    if len(ours) != len(theirs):
        print(f"{what}: {len(ours)} answers for {len(theirs)} texts")
        return 1
    wrong = [i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b]
    if quiet and not wrong:
        return 0
    for i in wrong[:10]:
        print(f"{what}: {texts[i]!a:.300}\n  ours:      {ours[i]!a:.300}\n  reference: {theirs[i]!a:.300}")
    print(f"{what}: {len(texts)} texts, {len(wrong)} differ")
    return len(wrong)


def without_limits(path):
    tokenizer = Tokenizer.from_file(path)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


# Texts ---------------------------------------------------------------------------------------------------------------

SENTENCES = [
    "The quick brown fox jumps over the lazy dog, twice.", "Compile once; bind at run time: isn't that neat?",
    "naïve café déjà-vu façade Ångström Źdźbło crème brûlée", "Übergrößenträger-Straßenbahn, ÄÖÜ äöü ẞ ß",
    "İstanbul'da ışık ılık, I ı İ i", "Ελληνικά: ΣΊΣΥΦΟΣ ς σ; τί;", "Съешь же ещё этих мягких французских булок, да выпей чаю",
    "机器学习和自然语言处理。", "日本語のテキスト、カタカナとひらがな。ガギグゲゴ ｶﾞｷﾞ", "한국어 텍스트를 토큰으로 나눕니다. 각",
    "مرحبا بالعالم، كيف الحال؟ مُحَمَّد", "שלום עולם, מה נשמע? שָׁלוֹם", "नमस्ते दुनिया, हिन्दी में पाठ।", "สวัสดีชาวโลก ภาษาไทย",
    "Xin chào thế giới; tiếng Việt có dấu", "😀 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 👍🏽 ❤️", "∀x ∈ ℝ: ⌈x⌉ = −⌊−x⌋, α ∧ ¬β = ¬(¬α ∨ β)",
    "[CLS] literal [SEP] tokens [MASK] and [PAD], [UNK] [cls] [ CLS ] [[CLS]]", "$100 + 20% = €120; #tag @user http://a.b/c?d=e&f=g",
    "tab\there\nnew line\r\nnul\x00byte\x07bell\x7f", "zero\u200bwidth\u200djoin soft\u00adhyphen bom\ufeff replacement\ufffd",
    "nbsp\u00a0thin\u2009ideographic\u3000space line\u2028paragraph\u2029end\u0085next", "ﬁ ﬂ Ⅷ ① ｆｕｌｌｗｉｄｔｈ ㎏ ℌ",
    "unaffable antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis", "a" * 99, "a" * 100, "a" * 101, "é" * 100, "é" * 101,
    "e\u0301" * 100, "\u0301" * 200, "", " ", "\t\n", "##ing ## #a", "…—–‘’“”„‚‹›«»¿¡§¶†‡•", "don't can't won't I'm you're",
]
WORDS = sorted({w for s in SENTENCES for w in s.split()})
# Where a random character is drawn from: each plane, and the blocks where something happens.
RANGES = [(0x20, 0x7E), (0x00, 0x1F), (0x80, 0xFF), (0x100, 0x24F), (0x250, 0x36F), (0x370, 0x5FF), (0x600, 0x8FF),
          (0x900, 0xDFF), (0xE00, 0x11FF), (0x1200, 0x1DFF), (0x1E00, 0x1FFF), (0x2000, 0x20FF), (0x2100, 0x2BFF),
          (0x2C00, 0x2FFF), (0x3000, 0x33FF), (0x3400, 0x9FFF), (0xA000, 0xABFF), (0xAC00, 0xD7FF), (0xE000, 0xF8FF),
          (0xF900, 0xFFFF), (0x10000, 0x11FFF), (0x12000, 0x1CFFF), (0x1D000, 0x1FFFF), (0x20000, 0x2FFFF),
          (0x30000, 0x3FFFF), (0x40000, 0xDFFFF), (0xE0000, 0xEFFFF), (0xF0000, 0x10FFFF)]
MARKS = [0x300, 0x301, 0x308, 0x327, 0x328, 0x334, 0x338, 0x345, 0x5B0, 0x5BC, 0x64B, 0x651, 0x93C, 0x94D, 0xE38,
         0x302A, 0x302E, 0x302F, 0x3099, 0x309A, 0x1D165, 0x1D16D, 0x1D16E, 0x1D17B, 0xA82C, 0x1DF6, 0x16FF0, 0x20D0]


def random_text(rng, characters):
    out = []
    while len(out) < characters:
        kind = rng.random()
        if kind < 0.35:
            out += rng.choice(WORDS) + " "
        elif kind < 0.5:
            out.append(rng.choice(" \t,.;!?-'\"()[]"))
        elif kind < 0.6:
            out.append(chr(rng.choice(MARKS)))
        elif kind < 0.65:
            out += rng.choice(["[CLS]", "[SEP]", "[MASK]", "[UNK]", "[PAD]"])
        else:
            first, last = rng.choice(RANGES)
            for _ in range(rng.randint(1, 6)):
                c = rng.randint(first, last)
                if not 0xD800 <= c <= 0xDFFF:
                    out.append(chr(c))
                if rng.random() < 0.1:
                    out.append(chr(rng.choice(MARKS)))
    return "".join(out)


def mixed_lines(code_points):
    """Some sentences, and every code point once, in lines of its neighbours, joined and apart."""
    lines = list(SENTENCES)
    for start in range(0, len(code_points), 40):
        chunk = [chr(c) for c in code_points[start:start + 40]]
        lines.append(("" if start % 80 else " a ").join(chunk))
    return lines


def random_lines(count):
    rng = random.Random(20240607)
    return [random_text(rng, rng.choice([1, 2, 3, 5, 10, 30, 100])) for _ in range(count)]


# Comparisons ---------------------------------------------------------------------------------------------------------

def ids_of(encodings):
    return [" ".join(map(str, e.ids)) for e in encodings]


def offsets_of(encodings):
    return [f"{e.ids} {e.offsets}" for e in encodings]


def compare_encoded(driver, name, tokenizer, file, texts, quiet=False):
    """Ids by one way, ids and offsets by the other."""
    return compare_encodings(driver, name, tokenizer.encode_batch(texts), file, texts, quiet)


def compare_encodings(driver, name, theirs, file, texts, quiet=False):
    wrong = report(name, texts, run_driver(driver, ["ids", file], texts), ids_of(theirs), quiet)
    return wrong + report(f"{name}, offsets", texts, run_driver(driver, ["offsets", file], texts), offsets_of(theirs), quiet)


def compare_alignment(driver, name, normalizer, texts, quiet=False):
    """Where each character of the normalized text comes from: with a model that knows none of them."""
    tokenizer = Tokenizer(models.BPE({"<unk>": 0}, [], unk_token="<unk>"))
    tokenizer.normalizer = normalizer
    with tempfile.TemporaryDirectory() as folder:
        file = str(pathlib.Path(folder) / "tokenizer.json")
        tokenizer.save(file)
        ours = run_driver(driver, ["offsets", file], texts)
        return report(f"{name}, offsets", texts, ours, offsets_of(Tokenizer.from_file(file).encode_batch(texts)), quiet)


def compare_tokens(driver, file, quiet=False):
    tokenizer = Tokenizer.from_file(file)
    ours = [json.loads(line) for line in run_driver(driver, ["tokens", file], [])]
    theirs = [tokenizer.id_to_token(i) for i in range(len(ours))]
    if tokenizer.id_to_token(len(ours)) is not None:
        theirs.append(tokenizer.id_to_token(len(ours)))
    return report("tokens", list(range(len(ours))), ours, theirs, quiet)


def compare_decoded(driver, file, ids, quiet=False):
    tokenizer = Tokenizer.from_file(file)
    rng = random.Random(9)
    known = [i for i in range(tokenizer.get_vocab_size()) if tokenizer.id_to_token(i) is not None]
    ids = ids + [[], *([i] for i in known), *(rng.choices(known, k=rng.randint(2, 20)) for _ in range(2000))]
    wrong = 0
    for skip in (False, True):
        ours = [json.loads(line) for line in run_driver(driver, ["decode", file, str(int(skip))], ids)]
        theirs = [tokenizer.decode(i, skip_special_tokens=skip) for i in ids]
        wrong += report(f"decoded, special tokens {'left out' if skip else 'included'}", ids, ours, theirs, quiet)
    return wrong


def compare_lines(driver, file):
    lines = mixed_lines(EVERY_CODE_POINT)
    lines += random_lines(LINES - len(lines))
    tokenizer = without_limits(file)
    theirs = tokenizer.encode_batch(lines)
    wrong = compare_encodings(driver, "ids", theirs, file, lines)
    # An added token that is looked for in the normalized text, and occurs nowhere, keeps the parts from being fused.
    with tempfile.TemporaryDirectory() as folder:
        staged = without_limits(file)
        staged.add_tokens([AddedToken("occurs nowhere in these texts", normalized=True)])
        staged_file = str(pathlib.Path(folder) / "tokenizer.json")
        staged.save(staged_file)
        wrong += report("ids, part by part", lines, run_driver(driver, ["ids", staged_file], lines), ids_of(theirs))
    some = [e.ids for e in theirs[:2000] + theirs[-20_000:]]
    del theirs
    last = lines[-20_000:]
    for max_tokens in (2, 3, 16):
        at_most = str(max_tokens)
        tokenizer.enable_truncation(max_tokens)
        theirs = tokenizer.encode_batch(last)
        wrong += report(f"ids, at most {at_most}", last, run_driver(driver, ["ids", file, at_most], last), ids_of(theirs))
        wrong += report(f"offsets, at most {at_most}", last, run_driver(driver, ["offsets", file, at_most], last), offsets_of(theirs))
        tokenizer.enable_truncation(max_tokens, direction="left")
        theirs = tokenizer.encode_batch(last)
        wrong += report(f"offsets, the last {at_most}", last, run_driver(driver, ["offsets", file, at_most, "beginning"], last),
                        offsets_of(theirs))
        wrong += report(f"ids, the last {at_most}", last, run_driver(driver, ["ends", file, at_most], last), ids_of(theirs))
    return wrong + compare_decoded(driver, file, some) + compare_tokens(driver, file)


def combining_sequences():
    rng = random.Random(7)
    texts = []
    for a, b in itertools.product(MARKS, MARKS):
        texts.append("x" + chr(a) + chr(b) + "y")
    bases = [0x41, 0xC5, 0x1E9B, 0xAC00, 0x1100, 0x1161, 0x11A8, 0x915, 0x958, 0x1D15E, 0x344, 0x37E, 0x2126, 0xF900,
             0x4E2D, 0x20, 0x7F, 0x2E, 0x1F71, 0x304C, 0xFB2C, 0x1109A]
    for _ in range(20_000):
        texts.append("".join(chr(rng.choice(bases if rng.random() < 0.4 else MARKS)) for _ in range(rng.randint(1, 9))))
    return texts


def compare_characters(driver):
    texts = [" ".join("x" + chr(c) + "y" for c in CODE_POINTS[i:i + 64])
             for i in range(0, len(CODE_POINTS), 64)] + combining_sequences()
    split = pre_tokenizers.BertPreTokenizer()
    wrong = 0
    for flags in itertools.product([False, True], repeat=4):
        word = "".join(str(int(f)) for f in flags)
        normalizer = normalizers.BertNormalizer(*flags)
        normalized = [normalizer.normalize_str(t) for t in texts]
        ours = [json.loads(line) for line in run_driver(driver, ["normalize", word], texts)]
        wrong += report(f"normalized with {word}", texts, ours, normalized)
        words = [[w for w, _ in split.pre_tokenize_str(n)] for n in normalized]
        ours = [json.loads(line) for line in run_driver(driver, ["words", word], texts)]
        wrong += report(f"words with {word}", texts, ours, words)
        wrong += compare_alignment(driver, f"normalized with {word}", normalizer, texts if WHOLE else texts[int(word, 2) % 8::8])
    return wrong


# What files may ask for. Those of BERT are compared at greater length.
NORMALIZERS = [None, normalizers.BertNormalizer(), normalizers.Lowercase()]
PRE_TOKENIZERS = [pre_tokenizers.BertPreTokenizer(), pre_tokenizers.WhitespaceSplit(),
                  pre_tokenizers.ByteLevel(add_prefix_space=True)]


def some_word_piece(words):
    return models.WordPiece({w: i for i, w in enumerate(["[UNK]"] + words)}, unk_token="[UNK]")


def some_word_level(words):
    return models.WordLevel({w: i for i, w in enumerate(["[UNK]"] + words)}, unk_token="[UNK]")


def some_bpe(words):
    """Its merges build up every word of letters from its left."""
    vocabulary = {w: i for i, w in enumerate(dict.fromkeys(["[UNK]", *words, *(c for w in words for c in w)]))}
    merges = [(w[:-1], w[-1]) for w in vocabulary if len(w) > 1 and w[:-1] in vocabulary]
    return models.BPE(vocabulary, merges, unk_token="[UNK]")


MODELS = [some_word_piece, some_word_level, some_bpe]


def compare_parts(driver):
    """Every combination of parts, over texts of code points and of combining sequences."""
    rng = random.Random(5)
    every_text = mixed_lines(CODE_POINTS) + random_lines(8000) + combining_sequences()[:5000]
    words = [w for t in rng.sample(every_text, 2000) for w in t.lower().split()[:4] if len(w.encode()) <= 512]
    letters = [c for w in WORDS for c in w.lower()]
    vocabulary = list(dict.fromkeys(words + WORDS + letters + ["##" + c for c in letters]))
    wrong = 0
    for normalizer, pre_tokenizer, model in itertools.product(NORMALIZERS, PRE_TOKENIZERS, MODELS):
        tokenizer = Tokenizer(model(vocabulary))
        if normalizer is not None:
            tokenizer.normalizer = normalizer
        tokenizer.pre_tokenizer = pre_tokenizer
        tokenizer.add_tokens([AddedToken("[X]", normalized=True), AddedToken("[CLS]", normalized=False)])
        # byte_level compares these at greater length.
        is_brief = model is some_bpe or isinstance(pre_tokenizer, pre_tokenizers.ByteLevel)
        texts = every_text[::16] if is_brief else every_text
        with tempfile.TemporaryDirectory() as folder:
            file = str(pathlib.Path(folder) / "tokenizer.json")
            tokenizer.save(file)
            name = ", ".join(type(part).__name__ for part in (normalizer, pre_tokenizer, tokenizer.model))
            wrong += compare_encoded(driver, name, Tokenizer.from_file(file), file, texts)
            wrong += compare_tokens(driver, file, quiet=True)
    return wrong


def compare_added(driver):
    """Added tokens with all flags, over texts made of the pieces that matter to them."""
    rng = random.Random(3)
    vocabulary = ["[UNK]", "[CLS]", "[SEP]"]
    vocabulary += [chr(c) for c in range(0x21, 0x7F)] + ["##" + chr(c) for c in range(0x21, 0x7F)]
    vocabulary += ["day", "##day", "yes", "##yes", "ab", "##b", "中", "é"]
    contents = ["I do not . know", "who ' s 's n't ?", "day", "yes", "Yesterday", "[X]", "[XY]", "ab c", "É", "中文", "a", "-", "  z", "A"]
    pieces = contents + ["yesterday", "YESTERDAY", " ", "  ", "\t", "\u3000", "_", "5", "x", "é", "e\u0301", "E\u0301", "中",
                         "文", ".", "\u200d", "\u2460", "\u24b6", "ab  c", "[", "]", "X", "\u0000", "A", "Ab C"]
    wrong = 0
    for trial in range(60):
        tokenizer = Tokenizer(models.WordPiece({w: i for i, w in enumerate(dict.fromkeys(vocabulary))}, unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer(*(rng.random() < 0.7 for _ in range(4)))
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        if trial % 3 == 0:
            tokenizer.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
        elif trial % 3 == 1:
            tokenizer.post_processor = processors.TemplateProcessing(
                single="[CLS] [CLS] $A [SEP]", pair="$A $B", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
        if trial % 4:
            tokenizer.decoder = decoders.WordPiece(rng.choice(["##", "#", ""]), cleanup=trial % 4 != 1)
        taken = set()
        for content in rng.sample(contents, rng.randint(1, 6)):
            normalized = rng.random() < 0.5
            looked_for = tokenizer.normalizer.normalize_str(content) if normalized else content
            if (normalized, looked_for) in taken:
                continue  # the reference cannot load two that look for the same
            taken.add((normalized, looked_for))
            flags = {flag: rng.random() < 0.3 for flag in ("single_word", "lstrip", "rstrip")}
            if content != content.strip():
                flags["lstrip"] = flags["rstrip"] = False
            token = AddedToken(content, normalized=normalized, special=rng.random() < 0.3, **flags)
            (tokenizer.add_special_tokens if token.special else tokenizer.add_tokens)([token])
        texts = ["".join(rng.choice(pieces) for _ in range(rng.randint(1, 12))) for _ in range(2000)]
        with tempfile.TemporaryDirectory() as folder:
            file = str(pathlib.Path(folder) / "tokenizer.json")
            tokenizer.save(file)
            theirs = Tokenizer.from_file(file).encode_batch(texts)
            try:
                ours = run_driver(driver, ["ids", file], texts)
            except subprocess.CalledProcessError:
                print(pathlib.Path(file).read_text()[:3000])
                raise
            wrong += report(f"added tokens, trial {trial}", texts, ours, ids_of(theirs), quiet=True)
            wrong += report(f"added tokens, trial {trial}, offsets", texts, run_driver(driver, ["offsets", file], texts),
                            offsets_of(theirs), quiet=True)
            wrong += compare_tokens(driver, file, quiet=True)
            wrong += compare_decoded(driver, file, [], quiet=True)
    print(f"added tokens: 60 tokenizers with 2000 texts each, {wrong} texts or tokens differ")
    return wrong


def record(file, output):
    """Texts whose ids differ from each other in what they try, below one megabyte."""
    rng = random.Random(11)
    lines = list(SENTENCES) + combining_sequences()[::60]
    lines += ["".join(map(chr, EVERY_CODE_POINT[i:i + 24])) for i in range(0, 0x3400, 24)]
    lines += ["".join(map(chr, EVERY_CODE_POINT[i:i + 24])) for i in range(0xD000, 0x1F000, 96)]
    while len(lines) < 3000:
        lines.append(random_text(rng, rng.choice([1, 3, 10, 30])))
    write_recorded(without_limits(file), lines, output)
    return 0


def write_recorded(tokenizer, lines, output):
    with open(output, "w", encoding="ascii") as out:
        for line in lines:
            out.write(json.dumps({"text": line, "ids": tokenizer.encode(line).ids}, separators=(",", ":")) + "\n")


def main():
    if tokenizers.__version__ != REFERENCE_VERSION:
        sys.exit(f"tokenizers {tokenizers.__version__} is here, {REFERENCE_VERSION} is the reference: run scripts/setup")
    driver, file, what = sys.argv[1:4]
    if what == "lines":
        wrong = compare_lines(driver, file)
    elif what == "characters":
        wrong = compare_characters(driver)
    elif what == "added":
        wrong = compare_added(driver)
    elif what == "parts":
        wrong = compare_parts(driver)
    elif what == "byte_level":
        import byte_level_oracle  # which needs what is here
        wrong = byte_level_oracle.compare(driver)
    elif what == "unigram":
        import unigram_oracle
        wrong = unigram_oracle.compare(driver)
    elif what == "patterns":
        import pattern_oracle
        wrong = pattern_oracle.compare(driver)
    elif what == "length":
        import length_oracle
        wrong = length_oracle.compare(driver, sys.argv[4:])
    elif what == "record_unigram":
        import unigram_oracle
        wrong = unigram_oracle.record()
    elif what == "record":
        wrong = record(file, sys.argv[4])
    else:
        sys.exit(f"{what}: lines, characters, added, parts, byte_level, unigram, patterns, length, record or record_unigram")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
