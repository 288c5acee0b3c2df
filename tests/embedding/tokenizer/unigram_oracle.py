"""Unigram models with the parts around them as of XLM-RoBERTa and its relatives, compared with the reference: part of
compare_with_oracle.py."""
import base64
import functools
import itertools
import json
import pathlib
import random
import struct
import tempfile

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

import compare_with_oracle as oracle

# A small tokenizer with SentencePiece's rules nmt_nfkc, as most models carry them.
RECORDED = pathlib.Path(__file__).resolve().parents[2] / "data/tokenizer/unigram.json"
BYTE_TOKENS = [f"<0x{byte:02X}>" for byte in range(256)]
# What the parts treat in their own way.
PIECES = [" ", "  ", "   ", "\t", "\n", "\r\n", "\u00a0", "\u3000", "\u200b", "▁", "▁▁", " ▁", "a", "Hello", "é", "e\u0301", "ﬁ",
          "中文", "Ⅷ", "½", "ｶﾞ", "ガ", "!", "...", "``", "''", "😀", "👍🏽", "🇩🇪", "👩\u200d👧", "\u200d", "<mask>", " <mask>", "<s>", "</s>",
          "<unk>", "☃", "☃☃", "\x00", "\x01", "\x7f", "\u00ad", "क्षि", "각", "\u0301", "ﷺ", "<0x41>", "İ"]
EVERY_LINE = oracle.mixed_lines(oracle.CODE_POINTS) + oracle.random_lines(2200)


def sentences_of_words(count):
    rng = random.Random(23)
    return [" ".join(rng.choices(oracle.WORDS, k=rng.randint(2, 12))) for _ in range(count)]


CORPUS = oracle.SENTENCES * 4 + sentences_of_words(1500)


def pieced_lines(count):
    rng = random.Random(22)
    return ["".join(rng.choice(PIECES) for _ in range(rng.randint(1, 14))) for _ in range(count)]


# Maps of characters -------------------------------------------------------------------------------------------------

def nmt_nfkc():
    recorded = json.loads(RECORDED.read_text())["normalizer"]["normalizers"][0]
    return normalizers.Precompiled(base64.b64decode(recorded["precompiled_charsmap"]))


def double_array(keys):
    """Units of a double array (as darts-clone has it) with these keys, bytes without zeros, and their values."""
    units, taken = {}, set()
    children = {}
    for key in keys:
        for i in range(len(key)):
            children.setdefault(key[:i], set()).add(key[i])

    def place(prefix, position):
        labels = children.get(prefix, set()) | ({0} if prefix in keys else set())
        base = next(b for b in range(256, 1 << 21) if b not in taken and all(b ^ c not in units for c in labels)
                    and (0 in labels or b not in units))
        taken.add(base)
        units[position] = units.get(position, 0) | (base ^ position) << 10 | ((1 << 8) if prefix in keys else 0)
        for c in labels:
            units[base ^ c] = 1 << 31 | keys[prefix] if c == 0 else c
        for c in labels - {0}:
            place(prefix + bytes([c]), base ^ c)

    place(b"", 0)
    size = (max(units) | 255) + 1
    return [units.get(i, 0) for i in range(size)]


def character_map(rules):
    """A map in the form of SentencePiece: keys and what they become."""
    texts, values = b"", {}
    for key, text in rules.items():
        values[key] = len(texts)
        texts += text.encode() + b"\0"
    units = double_array(values)
    return struct.pack(f"<{len(units) + 1}I", 4 * len(units), *units) + texts


def random_map(rng):
    alphabet = [chr(c) for c in (*range(0x61, 0x69), 0x20, 0xE9, 0x300, 0x301, 0x4E2D, 0x1F600, 0x600, 0x200D, 0x1100, 0x1161)]
    rules = {}
    for _ in range(rng.randint(1, 40)):
        key = "".join(rng.choice(alphabet) for _ in range(rng.choice([1, 1, 1, 2, 2, 3]))).encode()
        if rng.random() < 0.1:
            key = key[:rng.randint(1, len(key))]  # keys need not end where characters do
        rules[key] = "".join(rng.choice(alphabet) for _ in range(rng.choice([0, 1, 1, 2, 5])))
    texts = ["".join(rng.choice(alphabet) for _ in range(rng.randint(1, 20))) for _ in range(200)]
    return normalizers.Precompiled(character_map(rules)), texts


def compare_graphemes(driver):
    """With every byte as a key, one letter comes out for a short grapheme, and for each character of another one."""
    every_byte = normalizers.Precompiled(character_map({bytes([b]): "x" for b in range(1, 256)}))
    few = ["a", "\r", "\n", "\x01", "\u00ad", "\u0300", "\u094d", "\u200c", "\u200d", "\u0903", "\u0600", "\u1100", "\u1161", "\u11a8",
           "가", "각", "©", "क", "\U00016d63", "\U000110bd", "☃", "\U0001f600", "\U0001f1e6", "\u0c4d", "ক", "\u093c"]
    texts = ["".join(t) for n in (1, 2, 3) for t in itertools.product(few, repeat=n)]
    rng = random.Random(6)
    texts += ["".join(rng.choice(few) for _ in range(rng.randint(4, 9))) for _ in range(20_000 if oracle.WHOLE else 6_000)]
    around = [("", "a"), ("a", "\u0300"), ("©\u200d", "\u0300"), ("क\u094d", "\u0300"), ("क", "क\u0300"), ("\u0600\u1100", "\u0300")]
    texts += [f"{before}{chr(c)}{behind}" for c in oracle.CODE_POINTS for before, behind in around if c % 7 == 0 or c < 0x3400]
    texts += [" ".join("a" + chr(c) + "\u0300" for c in oracle.CODE_POINTS[i:i + 64]) for i in range(0, len(oracle.CODE_POINTS), 64)]
    return compare_normalizer(driver, "graphemes", every_byte, texts)


# Normalizers --------------------------------------------------------------------------------------------------------

def some_file(folder, **parts):
    """A tokenizer of one token with these parts."""
    tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0)], 0))
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    file = str(pathlib.Path(folder) / "tokenizer.json")
    tokenizer.save(file)
    return file


def compare_normalizer(driver, name, normalizer, texts, quiet=False):
    with tempfile.TemporaryDirectory() as folder:
        file = some_file(folder, normalizer=normalizer)
        ours = [json.loads(line) for line in oracle.run_driver(driver, ["normalized", file], texts)]
    wrong = oracle.report(name, texts, ours, [normalizer.normalize_str(t) for t in texts], quiet)
    return wrong + oracle.compare_alignment(driver, name, normalizer, texts if oracle.WHOLE or quiet else texts[::3], quiet)


def compare_normalizers(driver, texts):
    wrong = compare_graphemes(driver)
    sequences = oracle.combining_sequences()
    wrong += compare_normalizer(driver, "nmt_nfkc", nmt_nfkc(), texts + sequences)
    decomposed = [normalizers.NFD().normalize_str(t) for t in texts + sequences]
    wrong += compare_normalizer(driver, "NFC of what is decomposed", normalizers.NFC(), decomposed)
    for name, normalizer in {
            "Strip": normalizers.Strip(), "Strip left": normalizers.Strip(right=False),
            "Strip right": normalizers.Strip(left=False), "Strip nothing": normalizers.Strip(False, False),
            "Nmt": normalizers.Nmt(), "ByteLevel": normalizers.ByteLevel(), "Prepend": normalizers.Prepend("▁"), "Replace": normalizers.Replace(" ", "▁"),
            "Replace, longer": normalizers.Replace("''", '"'), "Replace by nothing": normalizers.Replace("a", ""),
            "Replace, spaces": normalizers.Replace(Regex(" {2,}"), " "),
            "NFC": normalizers.NFC(), "NFD": normalizers.NFD(), "NFKC": normalizers.NFKC(), "NFKD": normalizers.NFKD(),
            "StripAccents": normalizers.StripAccents(),
            "as ALBERT": normalizers.Sequence([
                normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD(), normalizers.StripAccents(),
                normalizers.Lowercase(), nmt_nfkc(), normalizers.Replace(Regex(" {2,}"), " ")]),
            "all": normalizers.Sequence([
                normalizers.Nmt(), nmt_nfkc(), normalizers.Strip(), normalizers.Prepend("▁x"),
                normalizers.BertNormalizer(), normalizers.Replace("x", "  "), normalizers.Strip()]),
            "bytes": normalizers.Sequence([normalizers.NFC(), normalizers.ByteLevel(), normalizers.Replace("Ġ", "")]),
            "none": normalizers.Sequence([]),
    }.items():
        wrong += compare_normalizer(driver, name, normalizer, texts)
    rng = random.Random(12)
    tried = sum(compare_normalizer(driver, f"map by chance {trial}", *random_map(rng), quiet=True) for trial in range(60))
    print(f"maps by chance: 60 maps with 200 texts each, {tried} texts differ")
    return wrong + tried


# Decoders and pre-tokenizers ----------------------------------------------------------------------------------------

def some_decoders():
    metaspace = decoders.Metaspace
    as_llama = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                  decoders.Strip(" ", 1, 0)])
    return [metaspace(), metaspace(prepend_scheme="first"), metaspace(prepend_scheme="never"), metaspace("_", "always", False), decoders.Replace("▁", " "),
            decoders.Replace(Regex(" {2,}"), "x"), decoders.Fuse(), decoders.ByteFallback(), decoders.Strip("▁", 1, 0),
            decoders.Strip("▁", 2, 0), as_llama,
            decoders.Sequence([decoders.ByteFallback(), metaspace(), decoders.Fuse(), decoders.Replace("a", "")]),
            decoders.Sequence([decoders.WordPiece("▁", True), decoders.ByteLevel()]), decoders.Sequence([])]


def compare_decoders(driver):
    tokens = ["<unk>", "▁", "▁▁", "▁a", "a", "▁ab▁", "a▁b", "_", " ", "  x", "▁.", "é", "中", "<0x4", "<0xZZ>", "<0x+1>", "<0xe4>",
              "<0xE4b", "Ġ", " n't", *BYTE_TOKENS]
    rng = random.Random(13)
    ids = [[rng.randrange(len(tokens)) for _ in range(rng.randint(1, 12))] for _ in range(1500)]
    starts = [0xE4, 0xB8, 0xAD, 0xC3, 0xA9, 0x41, 0xF0, 0x9F, 0x98, 0x80]
    ids += [[tokens.index(BYTE_TOKENS[rng.choice(starts)]) if rng.random() < 0.8 else rng.randrange(20)
             for _ in range(rng.randint(1, 9))] for _ in range(1500)]
    ids += [[tokens.index(BYTE_TOKENS[b]) for b in text.encode()] for text in oracle.SENTENCES]
    wrong = 0
    for decoder in some_decoders():
        tokenizer = Tokenizer(models.Unigram([(t, -1.0) for t in tokens], 0))
        tokenizer.decoder = decoder
        with tempfile.TemporaryDirectory() as folder:
            file = str(pathlib.Path(folder) / "tokenizer.json")
            tokenizer.save(file)
            wrong += oracle.compare_decoded(driver, file, ids, quiet=True)
    print(f"decoders: {len(some_decoders())} with {len(ids)} lists of ids each, {wrong} differ")
    return wrong


def some_pre_tokenizers():
    p = pre_tokenizers
    return {"always": p.Metaspace(), "never": p.Metaspace(prepend_scheme="never"), "not split": p.Metaspace(split=False),
            "never, not split": p.Metaspace(prepend_scheme="never", split=False),
            "white space": p.Metaspace(" "),
            "first": p.Metaspace(prepend_scheme="first"), "first, not split": p.Metaspace(prepend_scheme="first", split=False),
            "first, after white space": p.Sequence([p.WhitespaceSplit(), p.Metaspace(prepend_scheme="first")]),
            "after white space": p.Sequence([p.WhitespaceSplit(), p.Metaspace()]),
            "after words": p.Sequence([p.BertPreTokenizer(), p.Metaspace(prepend_scheme="never")]),
            "before bytes": p.Sequence([p.Metaspace(), p.ByteLevel(add_prefix_space=False)]),
            "no part": p.Sequence([]), "none": None, "Whitespace": p.Whitespace(), "Punctuation": p.Punctuation(),
            "Digits": p.Digits(), "single digits": p.Digits(individual_digits=True), "delimiter": p.CharDelimiterSplit("e"),
            "words, then digits": p.Sequence([p.Whitespace(), p.Digits(individual_digits=True), p.Metaspace()])}


def compare_words(driver, texts):
    """The words themselves, of which a model of few tokens shows little."""
    wrong = 0
    texts = [t for t in texts if t]  # of no text, the reference shows one word here that it never uses
    texts = texts if oracle.WHOLE else texts[::3]
    for name, part in some_pre_tokenizers().items():
        if part is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            file = some_file(folder, pre_tokenizer=part)
            ours = [json.loads(line) for line in oracle.run_driver(driver, ["split", file], texts)]
        theirs = [[w for w, _ in part.pre_tokenize_str(t)] for t in texts]
        wrong += oracle.report(f"words of {name}", texts, ours, theirs)
    return wrong


def compare_first(driver):
    """What is marked at the very beginning alone, behind normalizers that change what stands there."""
    rng = random.Random(16)
    wrong = 0
    trials = 150 if oracle.WHOLE else 60
    for trial in range(trials):
        some_map, texts = random_map(rng)
        n = normalizers
        parts = [some_map, n.Strip(rng.random() < 0.5, rng.random() < 0.5), n.Nmt(), n.ByteLevel(), n.Prepend(rng.choice(["a", "é b", "中"])),
                 n.Replace(rng.choice("ab e"), rng.choice(["", "a", "b c", " "])), n.Replace(Regex(" {2,}"), rng.choice(["▁", " "])),
                 n.Replace("ab", "c d")]
        p = pre_tokenizers
        first = p.Metaspace(prepend_scheme="first", split=rng.random() < 0.8)
        tokens = ["<unk>", "▁", *(chr(c) for c in (*range(0x61, 0x7B), 0xE9, 0x4E2D))]
        tokenizer = Tokenizer(models.Unigram([(t, -1.0) for t in tokens], 0))
        tokenizer.normalizer = n.Sequence(rng.choices(parts, k=rng.randint(0, 3))) if trial % 4 else some_map
        tokenizer.pre_tokenizer = rng.choice([first, p.Sequence([p.WhitespaceSplit(), first])])
        tokenizer.add_tokens([AddedToken("h", normalized=rng.random() < 0.5, lstrip=rng.random() < 0.5)])
        texts = [rng.choice(["", "", " ", "\x01", "½", "é"]) + t for t in texts]
        wrong += compare_one(driver, f"first {trial}", tokenizer, texts, quiet=True, decode=False)
    print(f"first: {trials} tokenizers with 200 texts each, {wrong} texts differ")
    return wrong


# Models -------------------------------------------------------------------------------------------------------------

def trained(normalizer, pre_tokenizer, vocab_size=1500, special=("<s>", "<pad>", "</s>", "<unk>"), corpus=None):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    trainer = trainers.UnigramTrainer(vocab_size=vocab_size, show_progress=False, special_tokens=list(special),
                                      unk_token="<unk>")
    tokenizer.train_from_iterator(corpus or CORPUS, trainer)
    return tokenizer


@functools.cache
def xlm_roberta_file(early):
    """As transformers converts it today, or as it did at first."""
    p = pre_tokenizers
    normalizer = nmt_nfkc() if early else normalizers.Sequence(
        [nmt_nfkc(), normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), "▁")])
    tokenizer = trained(normalizer, p.Sequence([p.WhitespaceSplit(), p.Metaspace()]) if early else p.Metaspace())
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=early)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer.to_str()


def like_xlm_roberta(early=False):
    return Tokenizer.from_str(xlm_roberta_file(early))


def changed(tokenizer, change):
    content = json.loads(tokenizer.to_str())
    change(content)
    return Tokenizer.from_str(json.dumps(content))


def falling_back(byte_tokens):
    """Unknown characters become bytes; with a vocabulary that has few characters."""
    def change(content):
        model = content["model"]
        model["vocab"] = ([v for v in model["vocab"] if v[0].isascii() or v[0] == "▁" or len(v[0]) > 2] +
                          [[t, -20.0] for t in byte_tokens])
        model["byte_fallback"] = True
        content["added_tokens"] = content["added_tokens"][:4]
    return changed(like_xlm_roberta(), change)


def random_model(rng):
    """A few letters, and scores of which many are the same, or add up to the same."""
    tokens = {"<unk>": 0.0}
    for _ in range(rng.randint(1, 60)):
        token = "".join(rng.choice("aabc▁é") for _ in range(rng.choice([1, 1, 2, 3, 4, 8, 20])))
        tokens[token] = rng.choice([-1, -1.0, -2.0, -0.5, -0.1, -0.3, 0.1, 3.0, rng.uniform(-20, 0), -rng.random() * 1e-9])
    entries = list(tokens.items())
    rng.shuffle(entries)
    tokenizer = Tokenizer(models.Unigram(entries, [t for t, _ in entries].index("<unk>")))
    tokenizer.pre_tokenizer = rng.choice([None, pre_tokenizers.Metaspace(), pre_tokenizers.WhitespaceSplit()])
    return tokenizer


def compare_one(driver, name, tokenizer, texts, quiet=False, decode=True, text=None):
    with tempfile.TemporaryDirectory() as folder:
        file = str(pathlib.Path(folder) / "tokenizer.json")
        pathlib.Path(file).write_text(text or tokenizer.to_str())
        reference = Tokenizer.from_file(file)
        wrong = oracle.compare_encoded(driver, name, reference, file, texts, quiet)
        if decode:
            wrong += oracle.compare_tokens(driver, file, quiet=True)
            some = [e.ids for e in reference.encode_batch(texts[-1000:])]
            wrong += oracle.compare_decoded(driver, file, some, quiet=True)
        return wrong


def compare_models(driver, every, some):
    xlm_roberta = like_xlm_roberta()
    wrong = compare_one(driver, "as XLM-RoBERTa", xlm_roberta, every)
    wrong += compare_one(driver, "as XLM-RoBERTa, as early versions wrote it", like_xlm_roberta(early=True), every)
    for name, pre_tokenizer in some_pre_tokenizers().items():
        tokenizer = like_xlm_roberta()
        tokenizer.pre_tokenizer = pre_tokenizer
        wrong += compare_one(driver, f"pre-tokenizer: {name}", tokenizer, some, decode=False)
    wrong += compare_one(driver, "bytes", falling_back(BYTE_TOKENS), some)
    wrong += compare_one(driver, "some bytes", falling_back(BYTE_TOKENS[0x80:0xD8]), some)
    def with_underscores(content):
        for entry in content["model"]["vocab"]:
            entry[0] = entry[0].replace("▁", "_")
        content["pre_tokenizer"]["replacement"] = content["decoder"]["replacement"] = "_"
    wrong += compare_one(driver, "other character", changed(like_xlm_roberta(), with_underscores), some)
    no_type = json.loads(xlm_roberta.to_str())
    del no_type["model"]["type"]
    no_type["pre_tokenizer"] = {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True, "str_rep": "▁"}
    wrong += compare_one(driver, "model without a name", None, some, text=json.dumps(no_type, indent=2))
    rng = random.Random(14)
    words = ["".join(rng.choice("aaabbc▁é☃ ") for _ in range(rng.randint(1, 60))) for _ in range(300)]
    words += ["".join(rng.choice("aabc") for _ in range(3000)) for _ in range(3)] + ["<unk>☃<unk>", "☃<unk>a", "<unk>"]
    tried = sum(compare_one(driver, f"scores by chance {trial}", random_model(rng), words, quiet=True, decode=False)
                for trial in range(60))
    print(f"scores by chance: 60 models with {len(words)} texts each, {tried} texts differ")
    return wrong + tried + compare_scores(driver)


def compare_scores(driver):
    """Scores in all ways of writing: which of two ways to take turns on the last bit of a sum."""
    rng = random.Random(15)
    entries = ['["<unk>",0]']
    texts = []
    for i in range(4000):
        x, y, z = (chr(0x4E00 + 3 * i + k) for k in range(3))
        a, b = rng.uniform(-20, 0), rng.uniform(-20, 0)
        written = [f"{v:.{rng.randint(12, 24)}{rng.choice('fe')}}" for v in (a, b)]
        whole = rng.choice([repr(a + b), repr(float(written[0]) + float(written[1])), f"{a + b:.17f}", f"{a + b:.20f}"])
        entries += [f'["{x}",{written[0]}]', f'["{y}", {written[1]}]', f'["{x}{y}",{whole}]', f'["{z}",-99]']
        texts.append(x + y)
    text = ('{"version":"1.0","added_tokens":[],"normalizer":null,"pre_tokenizer":null,"post_processor":null,"decoder":null,'
            '"model":{"type":"Unigram","unk_id":0,"vocab":[' + ",".join(entries) + "]}}")
    return compare_one(driver, "scores on the last bit", None, texts, decode=False, text=text)


def record():
    """Writes the recorded tokenizer again, with the map that it has, and texts with their ids."""
    tokenizer = like_xlm_roberta()
    RECORDED.write_text(json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False) + "\n")
    lines = oracle.SENTENCES + pieced_lines(400) + oracle.combining_sequences()[::200] + oracle.random_lines(300)
    lines += ["".join(map(chr, oracle.EVERY_CODE_POINT[i:i + 24])) for i in range(0, 0x3400, 96)]
    oracle.write_recorded(tokenizer, lines, RECORDED.with_suffix(".jsonl"))
    return 0


def compare(driver):
    every = EVERY_LINE + oracle.combining_sequences()[:1000] + pieced_lines(6000)
    some = every[:len(oracle.SENTENCES)] + random.Random(4).sample(every, 2000) + every[-1500:]
    return (compare_normalizers(driver, every) + compare_words(driver, every) + compare_first(driver) + compare_decoders(driver) +
            compare_models(driver, every, some))
