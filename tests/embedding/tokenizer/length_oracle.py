"""Tokenizers of every kind that models have, trained on the spot, and files that are given, compared with the reference over
many lines: part of compare_with_oracle.py."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

import byte_level_oracle
import compare_with_oracle as oracle
import pattern_oracle
import unigram_oracle

AT_ONCE = 20_000


def every_line():
    pieced = [line for module, seed in ((byte_level_oracle, None), (unigram_oracle, None), (pattern_oracle, 41))
              for line in (module.pieced_lines(4000) if seed is None else module.pieced_lines(4000, seed, module.PIECES))]
    lines = oracle.mixed_lines(oracle.EVERY_CODE_POINT) + oracle.combining_sequences()[::2] + pieced
    return lines + oracle.random_lines(oracle.LINES - len(lines))


def around(tokenizer, single, pair, *special):
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=[(token, tokenizer.token_to_id(token)) for token in special])
    return tokenizer


# WordPiece, WordLevel -------------------------------------------------------------------------------------------------

def like_bert(lowercase):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=3000, special_tokens=special, limit_alphabet=600, show_progress=False)
    tokenizer.train_from_iterator(byte_level_oracle.CORPUS, trainer)
    tokenizer.decoder = decoders.WordPiece()
    return around(tokenizer, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", "[CLS]", "[SEP]")


def of_whole_words():
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True)])
    trainer = trainers.WordLevelTrainer(vocab_size=4000, special_tokens=["[UNK]", "[CLS]"], show_progress=False)
    tokenizer.train_from_iterator(byte_level_oracle.CORPUS, trainer)
    return around(tokenizer, "[CLS] $A", "[CLS] $A $B", "[CLS]")


# BPE ------------------------------------------------------------------------------------------------------------------

def like_llama2():
    """As transformers converts it: a text is one word, and begins with a space."""
    special = ["<unk>", "<s>", "</s>"]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    trainer = trainers.BpeTrainer(vocab_size=2500, show_progress=False, special_tokens=[*special, *byte_level_oracle.BYTE_TOKENS],
                                  limit_alphabet=400, max_token_length=16)
    # Of words: else merges would be of whole texts.
    tokenizer.train_from_iterator(["▁" + w for line in byte_level_oracle.CORPUS for w in line.split(" ")], trainer)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    return around(tokenizer, "<s> $A", "<s> $A <s>:1 $B:1", "<s>")


def like_mistral():
    """As transformers converts it without `legacy`: the space is a pre-tokenizer's, and before the beginning alone."""
    tokenizer = like_llama2()
    tokenizer.normalizer = None
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    return tokenizer


def like_clip():
    words = r"""'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"""
    tokenizer = byte_level_oracle.trained(
        pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(words), "removed", invert=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]),
        2500, ["<|startoftext|>", "<|endoftext|>"], pre_tokenizers.ByteLevel.alphabet(),
        models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>"), end_of_word_suffix="</w>")
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    tokenizer.post_processor = processors.RobertaProcessing(("<|endoftext|>", 1), ("<|startoftext|>", 0), trim_offsets=False, add_prefix_space=False)
    return tokenizer


def like_deepseek():
    expressions = pattern_oracle.EXPRESSIONS
    words = [pre_tokenizers.Split(Regex(next(e for e in expressions if e.startswith(start))), "isolated")
             for start in (r"\p{N}{1,3}", "[一-龥", "[!")]
    tokenizer = byte_level_oracle.trained(
        pre_tokenizers.Sequence([*words, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]), 2500, ["<bos>", "<eos>"],
        pre_tokenizers.ByteLevel.alphabet())
    tokenizer.normalizer = normalizers.Sequence([])
    tokenizer.decoder = decoders.ByteLevel()
    return around(tokenizer, "<bos> $A", "<bos> $A <bos>:1 $B:1", "<bos>")


def like_gpt4o():
    words = next(e for e in pattern_oracle.EXPRESSIONS if e.startswith(r"[^\r\n\p{L}\p{N}]?[\p{Lu}"))
    return pattern_oracle.of_bytes(words, "$A <|endoftext|>")


# Unigram --------------------------------------------------------------------------------------------------------------

def like_albert():
    n = normalizers
    normalizer = n.Sequence([n.Replace("``", '"'), n.Replace("''", '"'), n.NFKD(), n.StripAccents(), n.Lowercase(), unigram_oracle.nmt_nfkc(),
                             n.Replace(Regex(" {2,}"), " ")])
    p = pre_tokenizers
    tokenizer = unigram_oracle.trained(normalizer, p.Sequence([p.WhitespaceSplit(), p.Metaspace()]), special=("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"))
    tokenizer.add_special_tokens([AddedToken("[MASK]", lstrip=True, normalized=False)])
    tokenizer.decoder = decoders.Metaspace()
    return around(tokenizer, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", "[CLS]", "[SEP]")


def like_t5():
    tokenizer = unigram_oracle.trained(unigram_oracle.nmt_nfkc(), pre_tokenizers.Metaspace(), special=("<pad>", "</s>", "<unk>"))
    tokenizer.add_special_tokens([f"<extra_id_{i}>" for i in range(5)])
    return around(tokenizer, "$A </s>", "$A </s> $B </s>", "</s>")


def like_deberta():
    n = normalizers
    return unigram_oracle.trained(n.Sequence([n.Strip(), unigram_oracle.nmt_nfkc(), n.Replace(Regex(" {2,}"), " ")]), pre_tokenizers.Metaspace(),
                                  special=("<pad>", "<cls>", "<sep>", "<unk>"))


TRAINED = {
    "as BERT, uncased": lambda: like_bert(True),
    "as BERT, cased": lambda: like_bert(False),
    "whole words": of_whole_words,
    "as RoBERTa": lambda: byte_level_oracle.like_roberta(False),
    "as GPT-2": byte_level_oracle.like_gpt2,
    "as Qwen": lambda: pattern_oracle.of_bytes(pattern_oracle.QWEN, "$A <|endoftext|>", normalizers.NFC()),
    "as Llama 3": lambda: pattern_oracle.of_bytes(pattern_oracle.LLAMA3, "<|begin_of_text|> $A", ignore_merges=True),
    "as GPT-4o": like_gpt4o,
    "as DeepSeek": like_deepseek,
    "as ModernBERT": pattern_oracle.like_modern_bert,
    "as CLIP": like_clip,
    "as Gemma": pattern_oracle.like_gemma,
    "as Llama 2": like_llama2,
    "as Mistral": like_mistral,
    "as XLM-RoBERTa": unigram_oracle.like_xlm_roberta,
    "as XLM-RoBERTa, as early versions wrote it": lambda: unigram_oracle.like_xlm_roberta(early=True),
    "as ALBERT": like_albert,
    "as T5": like_t5,
    "as DeBERTa": like_deberta,
    "Unigram with bytes": lambda: unigram_oracle.falling_back(unigram_oracle.BYTE_TOKENS),
}


# SentencePiece's own --------------------------------------------------------------------------------------------------

def of_sentence_piece():
    """Models of the `sentencepiece` package as transformers converts them; none where the two are not installed."""
    try:
        import sentencepiece
        from transformers import AlbertTokenizer, CamembertTokenizer, XLMRobertaTokenizer
    except ImportError:
        return
    lines = [re.sub(r"[\x00\r\n]", " ", line) for line in unigram_oracle.CORPUS]
    for name, kind, file, options in (
            ("nmt_nfkc", XLMRobertaTokenizer, "sentencepiece.bpe.model", {"normalization_rule_name": "nmt_nfkc"}),
            ("nfkc_cf", XLMRobertaTokenizer, "sentencepiece.bpe.model", {"normalization_rule_name": "nfkc_cf", "split_digits": True}),
            ("identity", CamembertTokenizer, "sentencepiece.bpe.model", {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}),
            ("nmt_nfkc_cf", AlbertTokenizer, "spiece.model", {"normalization_rule_name": "nmt_nfkc_cf", "user_defined_symbols": ["[CLS]", "[SEP]", "[MASK]"]})):
        with tempfile.TemporaryDirectory() as folder:
            at = pathlib.Path(folder)
            (at / "texts").write_text("\n".join(lines), encoding="utf-8")
            sentencepiece.SentencePieceTrainer.train(
                input=str(at / "texts"), model_prefix=str(at / "made"), model_type="unigram", vocab_size=1500, character_coverage=0.999, num_threads=1,
                minloglevel=2, hard_vocab_limit=False, max_sentence_length=40_000, **options)
            (at / "made.model").rename(at / file)
            (at / "config.json").write_text(json.dumps({"model_type": "bert"}))
            (at / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": kind.__name__}))
            yield f"sentencepiece, {name}, {kind.__name__}", kind.from_pretrained(folder).backend_tokenizer


def compare_one(driver, name, tokenizer, lines):
    tokenizer.no_truncation()
    tokenizer.no_padding()
    with tempfile.TemporaryDirectory() as folder:
        file = str(pathlib.Path(folder) / "tokenizer.json")
        tokenizer.save(file)
        reference = Tokenizer.from_file(file)
        wrong = sum(oracle.compare_encoded(driver, name, reference, file, lines[i:i + AT_ONCE], quiet=True) for i in range(0, len(lines), AT_ONCE))
        wrong += oracle.compare_tokens(driver, file, quiet=True)
    print(f"{name}: {tokenizer.get_vocab_size()} tokens, {len(lines)} lines, {wrong} ids or offsets differ", flush=True)
    return wrong


def compare(driver, files):
    """With each of these files, or, where there is none, with all that are made here."""
    lines = every_line()
    made = {} if files else {**TRAINED, **{name: lambda made=made: made for name, made in of_sentence_piece()}}
    wrong = 0
    for name, make in made.items():
        wrong += compare_one(driver, name, make(), lines)
    for file in files:
        try:
            wrong += compare_one(driver, file, Tokenizer.from_file(file), lines)
        except subprocess.CalledProcessError:
            print(f"{file}: refused: {oracle.refusal(driver, file)}", file=sys.stderr)
            wrong += 1
    print(f"{len(made) + len(files)} tokenizers, {len(lines)} lines each, {wrong} differ")
    return wrong
