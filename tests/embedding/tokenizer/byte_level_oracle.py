"""Byte-pair encoders that are trained on the spot, compared with the reference: part of compare_with_oracle.py."""
import json
import pathlib
import random
import tempfile

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

import compare_with_oracle as oracle

BYTE_TOKENS = [f"<0x{byte:02X}>" for byte in range(256)]
# Where GPT-2's words begin and end.
PIECES = [" ", "  ", "   ", "\n", "\t", "\u00a0", "\u3000", "'", "'s", "'S", "'ll", "'l", "'re", "'r", "'ve", "'t", "'d", "'m",
          "a", "Hello", "é", "e\u0301", "中文", "7", "½", "Ⅷ", "!", "...", "_", "😀", "\u200d", "Ġ", "Ċ", "<mask>",
          " <mask>", "<s>", "</s>", "<|endoftext|>", "x y", "\x00", "\x7f", "\u00ad"]

EVERY_LINE = oracle.mixed_lines(oracle.CODE_POINTS) + oracle.random_lines(2200)
CORPUS = oracle.SENTENCES * 4 + EVERY_LINE[-1200:]


def pieced_lines(count):
    rng = random.Random(21)
    return ["".join(rng.choice(PIECES) for _ in range(rng.randint(1, 14))) for _ in range(count)]


def trained(pre_tokenizer, vocab_size, special=(), alphabet=(), model=None, **options):
    tokenizer = Tokenizer(model or models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    trainer = trainers.BpeTrainer(vocab_size=vocab_size, show_progress=False, special_tokens=list(special),
                                  initial_alphabet=list(alphabet), max_token_length=60, **options)
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def like_roberta(add_prefix_space):
    tokenizer = trained(pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space), 1500,
                        ["<s>", "<pad>", "</s>", "<unk>"], pre_tokenizers.ByteLevel.alphabet())
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True,
                                                            add_prefix_space=add_prefix_space)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def like_gpt2():
    tokenizer = trained(pre_tokenizers.ByteLevel(add_prefix_space=False), 3000, ["<|endoftext|>"],
                        pre_tokenizers.ByteLevel.alphabet())
    tokenizer.add_tokens(["Hello", AddedToken("x y", single_word=True, rstrip=True)])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def without_words():
    tokenizer = trained(pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False), 1200, ["<s>"],
                        pre_tokenizers.ByteLevel.alphabet())
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=True),
        processors.TemplateProcessing(single="<s> $A", pair="$A $B", special_tokens=[("<s>", 0)])])
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def few_bytes():
    """Bytes that are not in the vocabulary are left out."""
    return trained(pre_tokenizers.ByteLevel(add_prefix_space=False), 700, limit_alphabet=90)


def changed(tokenizer, **model):
    """The same tokenizer with other values in its model."""
    content = json.loads(tokenizer.to_str())
    content["model"].update(model)
    return Tokenizer.from_str(json.dumps(content))


def ignoring_merges():
    tokenizer = like_gpt2()
    vocabulary = json.loads(tokenizer.to_str())["model"]["vocab"]
    whole = ["Ġlazy", "ĠHelloxx", "twice", "antidisestablishmentarianism", "ĠunaffableĠ", "a" * 100, "Ã©Ã©"]
    end = max(vocabulary.values()) + 5
    content = json.loads(tokenizer.to_str())
    content["model"]["vocab"].update({w: end + i for i, w in enumerate(whole) if w not in vocabulary})
    content["model"]["ignore_merges"] = True
    content["added_tokens"] = []
    return Tokenizer.from_str(json.dumps(content))


def long_spaces():
    """A token for two spaces, for four and so on up to 1,024, as a published vocabulary has them."""
    content = json.loads(like_gpt2().to_str())
    vocabulary, merges = content["model"]["vocab"], content["model"]["merges"]
    token = "\u0120"
    while len(token) < 1024:
        merges.append([token, token])
        token += token
        vocabulary.setdefault(token, len(vocabulary))
    content["added_tokens"] = []
    return Tokenizer.from_str(json.dumps(content))


def of_characters(special=("<unk>",), vocab_size=1500, limit=250, **options):
    return trained(pre_tokenizers.WhitespaceSplit(), vocab_size, special, limit_alphabet=limit, **options)


def with_marks(prefix, suffix, **model):
    marks = {"continuing_subword_prefix": prefix, "end_of_word_suffix": suffix}
    marks = {name: mark for name, mark in marks.items() if mark}
    return changed(of_characters(model=models.BPE(unk_token="<unk>", **marks), **marks), **model)


def falling_back(special=("<unk>", *BYTE_TOKENS), **model):
    return changed(of_characters(special), byte_fallback=True, **model)


def random_merges(rng):
    """A few letters and merges by chance: the same token from different pairs, and pairs that never stand together."""
    tokens = list("abc")
    merges = []
    for _ in range(rng.randint(1, 40)):
        left, right = rng.choice(tokens), rng.choice(tokens)
        if len(left + right) < 12:
            merges.append((left, right))
            if left + right not in tokens:
                tokens.append(left + right)
    rng.shuffle(merges)
    tokenizer = Tokenizer(models.BPE({t: i for i, t in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer


def compare_one(driver, name, tokenizer, texts, early=False, offsets=True, quiet=False):
    with tempfile.TemporaryDirectory() as folder:
        file = str(pathlib.Path(folder) / "tokenizer.json")
        content = json.loads(tokenizer.to_str())
        if early:  # as early versions wrote it: merges are lines, and the model has no name
            content["model"]["merges"] = [" ".join(m) for m in content["model"]["merges"]]
            del content["model"]["type"]
            content["pre_tokenizer"].pop("use_regex", None)
        pathlib.Path(file).write_text(json.dumps(content))
        reference = Tokenizer.from_file(file)
        if offsets:
            wrong = oracle.compare_encoded(driver, name, reference, file, texts, quiet)
        else:
            wrong = oracle.report(name, texts, oracle.run_driver(driver, ["ids", file], texts),
                                  oracle.ids_of(reference.encode_batch(texts)), quiet)
        wrong += oracle.compare_tokens(driver, file, quiet=True)
        if reference.decoder is not None or not quiet:
            some = [e.ids for e in reference.encode_batch(texts[-1000:])]
            wrong += oracle.compare_decoded(driver, file, some, quiet=True)
        return wrong


def compare(driver):
    every = EVERY_LINE + oracle.combining_sequences()[:1000] + pieced_lines(4000)
    some = every[:len(oracle.SENTENCES)] + random.Random(4).sample(every, 2000) + every[-1000:]
    wrong = compare_one(driver, "as RoBERTa", like_roberta(False), every)
    for name, tokenizer in {
            "as RoBERTa, with a space before": like_roberta(True),
            "as GPT-2": like_gpt2(),
            "without words": without_words(),
            "few bytes": few_bytes(),
            "ignore_merges": ignoring_merges(),
            "unknown": changed(of_characters(), unk_token="<unk>"),
            "unknown, fused": changed(of_characters(), unk_token="<unk>", fuse_unk=True),
            "unknown, left out": of_characters(),
            "prefix and suffix": with_marks("##", "</w>"),
            "prefix": with_marks("é", None, fuse_unk=True),
            "suffix": with_marks(None, "</w>", unk_token=None),
            "bytes": falling_back(),
            "some bytes": falling_back(("<unk>", *BYTE_TOKENS[0x80:0xD8]), unk_token="<unk>"),
            "some bytes, fused": falling_back(("<unk>", *BYTE_TOKENS[0x80:0xD8]), unk_token="<unk>", fuse_unk=True),
    }.items():
        wrong += compare_one(driver, name, tokenizer, some)
    spaces = ["x" * (count % 2) + " " * count + "y" * (count % 3) for count in [*range(0, 3000, 7), 1024, 1025, 2048, 60_000]]
    wrong += compare_one(driver, "1,024 spaces", long_spaces(), spaces)
    wrong += compare_one(driver, "as early versions wrote it", like_gpt2(), some, early=True)
    wrong += compare_one(driver, "bytes, prefix and suffix",
                         changed(with_marks("#", "$"), byte_fallback=True,
                                 vocab={t: i for i, t in enumerate(["<unk>", "a", "#b", "#c", "#d$", *BYTE_TOKENS])},
                                 merges=[]), some, offsets=False)
    rng = random.Random(8)
    words = ["".join(rng.choice("aaabbc") for _ in range(rng.randint(1, 60))) for _ in range(300)]
    tried = sum(compare_one(driver, f"merges by chance {trial}", random_merges(rng), words, quiet=True)
                for trial in range(40))
    print(f"merges by chance: 40 tokenizers with {len(words)} words each, {tried} words or tokens differ")
    return wrong + tried
