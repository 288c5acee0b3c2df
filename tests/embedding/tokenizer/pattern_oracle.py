"""Patterns, and the tokenizers of Qwen, Llama 3, Gemma and ModernBERT in small, compared with the reference: part of
compare_with_oracle.py."""
import json
import pathlib
import random
import tempfile

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

import byte_level_oracle
import compare_with_oracle as oracle
import unigram_oracle

GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN = LLAMA3.replace("{1,3}", "")
# In a group they are not known, so that the library searches for them.
EXPRESSIONS = [
    GPT2, LLAMA3, QWEN, f"(?:{GPT2})", f"(?:{LLAMA3})", f"(?:{QWEN})", " {2,}", "(?: {2,})", r"\s+",
    # CLIP's, BLOOM's, DeepSeek's, GPT-4o's
    r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+", r" ?[^(\s|[.,!?…。，、।۔،])]+", r"\p{N}{1,3}",
    r"[一-龥\u3040-ゟ゠-ヿ]+", r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"""
    r"""|\s*[\r\n]+|\s+(?!\S)|\s+""",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?"
    r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|"
    r"\s*[\r\n]+|\s+(?!\S)|\s+",
    # Of GPT-4 as tiktoken has it, but for what is refused below.
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
    # What else is read.
    r"a(?i)b|c", r"(?i)ab|x", r"(?:x(?i)b|c)d", r"(?i:[^k-t]+)", r"(?i:[a-z&&[^k]]+x)", r"(?i:[[^k]&&a-s]+)", r"(?i:s[t]|[sf][si])", r"(?i:a\s|\S\d|b.|\D\D[!-~])",
    r"\w+", r"\W", r"\d+|\D", r"\S\s", r".", r".+", r"\p{^L}+", r"\P{Nd}+?x|a", r"[^\W\d]+", r"[\w&&[^aeiou]]+", r"[a-z&&[^m-p]q]+",
    r"(?<=a).", r"(?<!\s)\p{L}+", r"(?<=ab|cd)\w", r"\p{L}(?=\p{M})", r"\p{L}(?!\p{M})", r"(?>a+|ab)b?", r"\w++\s", r"\w*+a|b", r"\w*?a",
    r"a{2}", r"[ab]{2,3}", r"[ab]{2,3}?", r"x{,2}b", r"a{2,}", r"\w{3,}?\s", r"(a|ab)(c|bcd)?", r"(?:a|b)+?c", r"[\x20\t\u00e9\x{1F600}]+",
    r"\n|\r|\t|\f|\v", r"\.|\-|\\|\/|\[|\{", r"]|}", r"[-a]+|[b-]", r"[&a]+", r"[.*+?()|{}^$]", r"(?i:k|s|'x)", r"(?i:hello)", r"[^\n]", r"é|ß|中",
    "^a", "a$", r"\ba", r"a\B", r"\Aa", r"a\z", r"a\Z", r"\n^", r"\n$", r"\n\Z", r"\n\z", r"^\s+|\s+$", r"\b\w+\b", r"\b\W+", r"\w\B.", r"^.*a$|(?:^|x)b+",
    r"(a(b(c(d)?)?)?)", r"\p{Sc}\p{Nd}+|\p{Pd}|\p{Zs}{2}|\p{Cf}|\p{Co}|\p{Cn}|\p{Cc}|\p{Me}|\p{Nl}|\p{Sk}|\p{So}|\p{Sm}|\p{Pi}|\p{Pf}",
]
REFUSED = [
    "^*a", r"(?=a$)a", r"\b", "^", r"(?:\b)+a", r"(?<=^a)b", r"\Ga", r"\R", r"\X", r"\h", r"a(?i)", r"(?i-m:a)", r"(?i:[é])", r"(?i:[^ß])", r"(?i:\w)", r"(?i)\p{L}", r"(?m:a.)", r"(?x: a)", r"(?i:é)", r"(?i:ss)",
    r"(?i:of+i)", r"(?<n>a)", r"(a)\1", r"(?#a)a", r"[[:alpha:]]", r"\p{Han}", r"\p{Greek}", r"a{2}+", r"a{2}?", r"a**", r"(?:a?)*", r"a*", r"|a", "a|b|", "", r"(?:)a",
    r"(?=a)+b", r"(?=a*)b", r"(?<=a+)b", r"[]a]", r"[a-c-e]", r"[a-\d]", r"[\d-a]", r"[--/]", r"[&&a]", r"[a&&]", r"[a", r"(a", r"a)", "a\\", r"\x{D800}",
    r"\xe9", r"\x{110000}", r"a{3,2}", r"a{0}", r"a{1001}", r"(?:a{100}){100}", r"{2}", r"a{x}", r"*a", r"\K", r"\Qa", r"\cA", r"\0", r"\pL", r"(?~a)",
    "(" * 80 + "a" + ")" * 80, r"(?:a+?)+", r"\e", r"\é",
]
BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
PIECES = byte_level_oracle.PIECES + ["\r", "\r\n", "\f", "\v", "'ſ", "'LL", "'Re", "K", "ſ", "ß", "ab", "abc", "aab", "abcd", "cd", "xx", "b", "x", "hello", "HELLO", "HeLLo",
                                     "123", "4567", "٣", "²", "$5", "-", "—", "[", "\\", "/", "{", "}", "]", "(", "。", "،", "、", "ゟ", "カ", "龥", "\u0301a", "ǅ", "ʰ", "&", "|", "&a",
                                     "\ue000", "\u0378", "«", "»", "\u20dd"]


def pieced_lines(count, seed, pieces):
    rng = random.Random(seed)
    return ["".join(rng.choice(pieces) for _ in range(rng.randint(1, 14))) for _ in range(count)]


def compare_words(driver, name, pre_tokenizer, texts, quiet=True):
    with tempfile.TemporaryDirectory() as folder:
        file = unigram_oracle.some_file(folder, pre_tokenizer=pre_tokenizer)
        ours = [json.loads(line) for line in oracle.run_driver(driver, ["split", file], texts)]
    theirs = [[w for w, _ in pre_tokenizer.pre_tokenize_str(t)] for t in texts]
    return oracle.report(name, texts, ours, theirs, quiet)


def compare_expressions(driver):
    every = oracle.mixed_lines(oracle.CODE_POINTS)
    lines = pieced_lines(500, 31, PIECES) + oracle.SENTENCES + oracle.random_lines(100)
    # A match, and what is none, longer than what is searched at once.
    long = ["a" * 5000 + " b", " " * 9000 + "a" + "\n" * 3000, "ab" * 3000 + "c", "é1" * 4000, "x " * 2100, "\t" * 5000]
    wrong = 0
    for i, expression in enumerate(EXPRESSIONS):
        # Every code point to one that tells most kinds of characters apart, and to each of the others another share.
        texts = lines + long + (every if i == 1 else every[i::577])
        wrong += compare_words(driver, f"{expression!r}, isolated", pre_tokenizers.Split(Regex(expression), "isolated"), texts)
        for behavior in BEHAVIORS:
            split = pre_tokenizers.Split(Regex(expression), behavior, invert=(i + len(behavior)) % 2 == 0)
            wrong += compare_words(driver, f"{expression!r}, {behavior}", split, lines[i % 3::3])
        replace = normalizers.Replace(Regex(expression), "<é>")
        wrong += unigram_oracle.compare_normalizer(driver, f"Replace {expression!r}", replace, lines[i % 3::3], quiet=True)
    print(f"{len(EXPRESSIONS)} expressions, {len(lines) + len(long)} texts and more: {wrong} differ")
    return wrong


def drawn_expression(rng):
    """Of anchors, characters, classes and groups; at least one character."""
    pieces = ["^", "$", r"\A", r"\z", r"\Z", r"\b", r"\B", "a", "b", r"\n", r"\s", r"\w", r"\W", ".", "[^a]", "é", "-", "a+", r"\w+", r"\n?", "(?:^|b)", "(?:a|$)",
              r"(?:\Bx|\b-)", r"(?=\w)", r"(?<!a)", r".*?", "(?>a|ab)"]
    parts = [[rng.choice(pieces) for _ in range(rng.randint(1, 4))] for _ in range(rng.randint(1, 2))]
    for part in parts:
        part.insert(rng.randint(0, len(part)), rng.choice(["a", r"\n", r"\w", r"\s", ".", r"\W", "b+", "-", r"[\na]"]))
    return "|".join("".join(part) for part in parts)


def compare_anchors(driver):
    rng = random.Random(33)
    pieces = ["a", "b", "ab", "x", "\n", "\n\n", "\r\n", " ", "-", "é", "中", "²", "½", "\u0301", "_", "\u200d", "a\n", "\nb", "7", "", "\u2028", "\x85"]
    texts = ["", *pieced_lines(100, 34, pieces)]
    long = ["a\n" * 3000, "ab " * 2000 + "\n", "\n" * 5000, "a" * 5000 + "\n"]
    wrong = 0
    count = 150
    for i in range(count):
        expression = drawn_expression(rng)
        behavior = rng.choice(BEHAVIORS)
        wrong += compare_words(driver, f"{expression!r}, {behavior}", pre_tokenizers.Split(Regex(expression), behavior), texts + long[i % 4 : i % 4 + 1])
    # Each word of an earlier part is a text of its own.
    for expression in ("^a", "a$", r"\Aa", r"a\z", r"\ba", r"a\b", r"\Ba"):
        parts = [pre_tokenizers.Split(" ", "isolated"), pre_tokenizers.Split(Regex(expression), "isolated")]
        wrong += compare_words(driver, f"{expression!r} behind a split", pre_tokenizers.Sequence(parts), texts)
    print(f"{count} expressions with anchors, {len(texts) + 1} texts: {wrong} differ")
    return wrong


def compare_strings(driver):
    texts = pieced_lines(400, 32, PIECES) + oracle.SENTENCES
    wrong = 0
    for text in (" ", "a", "ab", "é", ".", "中文", "  ", "[", "\n"):
        for behavior in BEHAVIORS:
            for invert in (False, True):
                wrong += compare_words(driver, f"{text!r}, {behavior}, {invert}", pre_tokenizers.Split(text, behavior, invert), texts)
    for behavior in BEHAVIORS:
        wrong += compare_words(driver, f"punctuation, {behavior}", pre_tokenizers.Punctuation(behavior), texts)
    every = oracle.mixed_lines(oracle.CODE_POINTS) + oracle.random_lines(400)
    wrong += compare_words(driver, "UnicodeScripts", pre_tokenizers.UnicodeScripts(), every + texts)
    print(f"strings, punctuation and scripts: {wrong} differ")
    return wrong


def compare_refused(driver):
    """What is not read is refused with a word for it; the reference may read it or not."""
    wrong = 0
    for expression in REFUSED:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "tokenizer.json"
            content = json.loads(Tokenizer(models.WordLevel({"a": 0}, unk_token="a")).to_str())
            content["pre_tokenizer"] = {"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False}
            file.write_text(json.dumps(content))
            said = oracle.refusal(driver, str(file))
        if said is None or "pre_tokenizer.pattern.Regex" not in said or "not supported: " not in said:
            print(f"{expression!r} is not refused: {said}")
            wrong += 1
    print(f"{len(REFUSED)} expressions to refuse, {wrong} are not")
    return wrong


# Whole tokenizers -----------------------------------------------------------------------------------------------------

def of_bytes(expression, template, normalizer=None, **model):
    """As Qwen's and Llama 3's: an expression's words, then their bytes."""
    words = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(expression), "isolated"),
                                     pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)])
    special = ["<|endoftext|>", "<|begin_of_text|>"]
    tokenizer = byte_level_oracle.trained(words, 2000, special, pre_tokenizers.ByteLevel.alphabet())
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single=template, pair=f"{template} $B", special_tokens=[(s, i) for i, s in enumerate(special)])])
    tokenizer.decoder = decoders.ByteLevel()
    return byte_level_oracle.changed(tokenizer, **model)


def like_gemma():
    special = ["<pad>", "<eos>", "<bos>", "<unk>"]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    trainer = trainers.BpeTrainer(vocab_size=1800, show_progress=False, special_tokens=[*special, *byte_level_oracle.BYTE_TOKENS], max_token_length=16,
                                  limit_alphabet=300)
    # Of words: a text is one word behind this normalizer, and its merges would be of whole texts.
    tokenizer.train_from_iterator([w for line in byte_level_oracle.CORPUS for w in line.split(" ")], trainer)
    tokenizer.add_tokens(["\n\n", "\t\t", "<start_of_turn>"])
    tokenizer.post_processor = processors.TemplateProcessing(single="<bos> $A <eos>", pair="<bos> $A <eos> $B",
                                                             special_tokens=[("<bos>", 2), ("<eos>", 1)])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    return tokenizer


def like_modern_bert():
    tokenizer = byte_level_oracle.trained(pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True), 2000,
                                          ["[CLS]", "[SEP]", "[UNK]"], pre_tokenizers.ByteLevel.alphabet())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_tokens(["  ", "    ", "|||EMAIL_ADDRESS|||"])
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]",
                                                             special_tokens=[("[CLS]", 0), ("[SEP]", 1)])
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def compare(driver):
    wrong = compare_expressions(driver) + compare_anchors(driver) + compare_strings(driver) + compare_refused(driver)
    every = byte_level_oracle.EVERY_LINE + oracle.combining_sequences()[:500] + pieced_lines(1500, 33, PIECES)
    some = every[:len(oracle.SENTENCES)] + random.Random(5).sample(every, 300) + every[-300:]
    for name, tokenizer in (
            ("as Qwen, without NFC", of_bytes(QWEN, "$A <|endoftext|>")),
            ("as Qwen", of_bytes(QWEN, "$A <|endoftext|>", normalizers.NFC())),
            ("as Llama 3", of_bytes(LLAMA3, "<|begin_of_text|> $A", ignore_merges=True)),
            ("as Qwen, by the library", of_bytes(f"(?:{QWEN})", "$A <|endoftext|>")),
            ("as Gemma", like_gemma()),
            ("as ModernBERT", like_modern_bert())):
        wrong += byte_level_oracle.compare_one(driver, name, tokenizer, some)
    return wrong
