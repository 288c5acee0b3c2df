#!/usr/bin/env python3
"""Makes what is beside this file: small vocabularies in the files that model folders without a tokenizer.json have, and
the ids that transformers' tokenizers of these folders give.

Needs transformers (5.x), tokenizers, sentencepiece and protobuf; the tests need none of them. Usage: make.py
"""

import json
import pathlib
import random
import shutil
import tempfile

import sentencepiece
import tokenizers
import transformers
from tokenizers import models, normalizers, pre_tokenizers, trainers

HERE = pathlib.Path(__file__).resolve().parent
SENTENCES = HERE.parents[2] / "examples/sentences.txt"
SEED = 20261127
# A case with all lines, and one that only varies another.
MANY, FEW = 260, 90

ALPHABETS = [
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "0123456789",
    "àâäçéèêëîïôöùûüÿœæñßÅØŁİı",
    "абвгдежзиклмнопрстуфхцчшщыэюяЁЙ",
    "αβγδεζηθικλμνξοπρσςτυφχψωΆΈ",
    "東京都大学北海道漢字日本語中国人民",
    "ひらがなカタカナガギぱぴﾊﾟ",
    "한국어서울대한민국",
    "مرحبابالعالمשלום",
    "हिन्दीनमस्ते",
    ".,;:!?-_'\"`()[]{}<>/\\|@#$%^&*+=~",
    "“”‘’«»…—–·•©®™°½¼ﬁﬂ①Ⅳ㍿",
    "👍😀👩‍👧🇩🇪✈️",
    " \t\n\r\u00a0\u2003\u3000\u200b\u200d\ufeff\u00ad\u0001\u007f\ufffd",
    "\u0301\u0308\u0327e\u0301a\u030a",
]
SPECIAL = [
    "[CLS]", "[SEP]", "[MASK]", "[UNK]", "[PAD]", "<s>", "</s>", "<mask>", "<unk>", "<pad>", "<|endoftext|>",
    "<s>NOTUSED", "<unk>NOTUSED", "[NEW]", "new word", "<user>", "<control>", "``", "''", "▁", "##ing", "Ġ",
]  # fmt: skip


def sentences():
    return SENTENCES.read_text(encoding="utf-8").splitlines()


def training_texts():
    rng = random.Random(SEED)
    texts = sentences()
    for _ in range(200):
        letters = rng.choice(ALPHABETS[:11])
        words = ["".join(rng.choices(letters, k=rng.randint(1, 5))) for _ in range(6)]
        texts.append(" ".join(words))
    return texts


def lines():
    rng = random.Random(SEED + 1)
    words = [word for sentence in sentences() for word in sentence.split()]
    made = ["", " ", "  two  spaces ", "a", "Hello World", "<mask> <mask>", "x<mask>y [MASK] z", "a [NEW]b new word c"]
    while len(made) < MANY:
        parts = []
        for _ in range(rng.randint(1, 7)):
            kind = rng.random()
            if kind < 0.4:
                parts.append(rng.choice(words))
            elif kind < 0.55:
                parts.append(rng.choice(SPECIAL))
            else:
                parts.append("".join(rng.choices(rng.choice(ALPHABETS), k=rng.randint(1, 5))))
        made.append(rng.choice(["", " ", " ", "  "]).join(parts))
    return made


def train(model, trainer, normalizer, pre_tokenizer):
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train_from_iterator(training_texts(), trainer)
    return json.loads(tokenizer.to_str())["model"]


def make_word_pieces():
    def vocabulary(special, lowercase):
        model = train(
            models.WordPiece(unk_token="[UNK]"),
            trainers.WordPieceTrainer(vocab_size=620, special_tokens=special, show_progress=False),
            normalizers.BertNormalizer(lowercase=lowercase),
            pre_tokenizers.BertPreTokenizer(),
        )
        # The trainer's order of equals is by chance.
        return special + sorted(set(model["vocab"]) - set(special))

    bert = vocabulary(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], True)
    (HERE / "bert.txt").write_text("\n".join(bert) + "\n", encoding="utf-8")
    cased = vocabulary(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], False)
    (HERE / "cased.txt").write_text("\n".join(cased), encoding="utf-8")
    mpnet = vocabulary(["<s>", "<pad>", "</s>", "[UNK]"], True)
    (HERE / "mpnet.txt").write_text("\n".join([*mpnet, "<mask>"]) + "\n", encoding="utf-8")
    # Lines as no tool writes them: carriage returns, spaces behind tokens, an empty line, the same token twice.
    odd = "\r\n".join([*bert[:200], "", "the ", *bert[200:300], "of\u3000", "a", "\u00a0", *bert[300:], "[CLS]", "last\t"])
    (HERE / "odd.txt").write_bytes(odd.encode())


def make_byte_pairs():
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "<|endoftext|>"]
    model = train(
        models.BPE(),
        trainers.BpeTrainer(
            vocab_size=560,
            special_tokens=special,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
        None,
        pre_tokenizers.ByteLevel(add_prefix_space=False),
    )
    (HERE / "byte_pairs.json").write_text(json.dumps(model["vocab"], ensure_ascii=False), encoding="utf-8")
    merges = "".join(f"{left} {right}\n" for left, right in model["merges"])
    (HERE / "merges.txt").write_text("#version: 0.2\n" + merges, encoding="utf-8")


def make_sentence_pieces():
    with tempfile.TemporaryDirectory() as folder:
        texts = pathlib.Path(folder) / "texts"
        texts.write_text("\n".join(training_texts()), encoding="utf-8")
        rules = pathlib.Path(folder) / "rules.tsv"
        pairs = [("ﬁ", "fi"), ("①", "1"), ("½", "1/2"), ("\u3000", " "), ("\t", " "), ("\u00ad", ""), ("e\u0301", "é")]
        pairs += [(chr(0xFF21 + i), chr(ord("A") + i)) for i in range(26)]
        rules.write_text(
            "".join("\t".join(" ".join(f"{ord(c):X}" for c in side) for side in pair) + "\n" for pair in pairs)
        )

        def sentence_pieces(name, **options):
            sentencepiece.SentencePieceTrainer.train(
                input=str(texts),
                model_prefix=str(pathlib.Path(folder) / name),
                model_type="unigram",
                character_coverage=1.0,
                num_threads=1,
                minloglevel=2,
                hard_vocab_limit=False,
                **options,
            )
            shutil.copy(pathlib.Path(folder) / f"{name}.model", HERE / f"{name}.model")

        sentence_pieces("xlm", vocab_size=500, normalization_rule_tsv=str(rules))
        sentence_pieces(
            "marked",
            vocab_size=480,
            normalization_rule_name="identity",
            user_defined_symbols=["<user>"],
            control_symbols=["<control>"],
        )
        sentence_pieces(
            "albert",
            vocab_size=500,
            normalization_rule_tsv=str(rules),
            pad_id=0,
            unk_id=1,
            bos_id=-1,
            eos_id=-1,
            control_symbols=["[CLS]", "[SEP]", "[MASK]"],
        )


def added(content, **flags):
    token = {"content": content, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False}
    return {**token, "special": True, **flags}


def cases():
    bert = {"vocab.txt": "bert.txt"}
    pairs = {"vocab.json": "byte_pairs.json", "merges.txt": "merges.txt"}
    xlm = {"sentencepiece.bpe.model": "xlm.model"}
    marked = {"sentencepiece.bpe.model": "marked.model"}
    albert = {"spiece.model": "albert.model"}
    deberta = {"spm.model": "albert.model"}

    def case(name, model_type, files, config=None, special=None, tokens=None, network=None, count=FEW):
        whole = {"name": name, "config": {"model_type": model_type, **(network or {})}, "files": files}
        for key, value in (("tokenizer_config", config), ("special_tokens_map", special), ("added_tokens", tokens)):
            if value is not None:
                whole[key] = value
        return whole, count

    yield case("bert", "bert", bert, count=MANY)
    yield case("bert_as_saved", "bert", bert, {
        "do_basic_tokenize": True, "do_lower_case": True, "mask_token": "[MASK]", "cls_token": "[CLS]",
        "model_max_length": 512, "never_split": None, "pad_token": "[PAD]", "sep_token": "[SEP]",
        "strip_accents": None, "tokenize_chinese_chars": True, "tokenizer_class": "BertTokenizer",
        "unk_token": "[UNK]", "name_or_path": "somewhere", "clean_up_tokenization_spaces": True,
    }, {"unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]", "cls_token": "[CLS]",
        "mask_token": "[MASK]"})  # fmt: skip
    yield case("bert_cased", "bert", {"vocab.txt": "cased.txt"},
               {"do_lower_case": False, "tokenizer_class": "BertTokenizerFast"}, count=MANY)  # fmt: skip
    yield case("bert_accents", "electra", bert, {"strip_accents": False, "tokenize_chinese_chars": False})
    yield case("bert_accents_cased", "distilbert", {"vocab.txt": "cased.txt"},
               {"strip_accents": True, "do_lower_case": False, "tokenizer_class": "DistilBertTokenizer"})  # fmt: skip
    yield case("bert_other_tokens", "nomic_bert", bert, {
        "unk_token": "the", "cls_token": "[BEGIN]", "sep_token": "[END]", "pad_token": "[SEP]", "bos_token": "[NEW]",
        "additional_special_tokens": ["new word", "[NEW]"], "tokenizer_class": "BertTokenizer"})  # fmt: skip
    yield case("bert_added_tokens", "bert", bert, {
        "added_tokens_decoder": {
            "4": added("[MASK]", lstrip=True), "700": added("[NEW]", rstrip=True), "2": added("[CLS]"),
            "650": added("new word", special=False, normalized=True), "701": added("of", special=False, single_word=True),
        }, "mask_token": "[MASK]", "additional_special_tokens": ["[NEW]", "<user>"], "add_bos_token": True,
    }, {"cls_token": "[NOT READ]"})  # fmt: skip
    yield case("bert_maps", "bert", bert, {"cls_token": "[PAD]"}, {
        "cls_token": {**added("[CLS]"), "rstrip": True},
        "mask_token": {"content": "[MASK]", "lstrip": True, "normalized": True, "rstrip": False, "single_word": False},
    }, {"[NEW]": 700, "new word": 699, "[MASK]": 4})  # fmt: skip
    yield case("bert_typed", "bert", bert, {
        "mask_token": {"__type": "AddedToken", "content": "[MASK]", "lstrip": True, "normalized": True,
                       "rstrip": False, "single_word": False}})  # fmt: skip
    yield case("bert_odd_lines", "bert", {"vocab.txt": "odd.txt"})
    yield case("bert_odd_lines_added", "bert", {"vocab.txt": "odd.txt"}, {"additional_special_tokens": ["[NEW]"]},
               tokens={"new word": 700, "<user>": 3})  # fmt: skip
    yield case("bert_objects_and_added", "bert", bert, {
        "mask_token": {"__type": "AddedToken", "content": "<mask>", "lstrip": True, "special": True}},
        {"cls_token": {"content": "[CLS]", "lstrip": True}}, {"<mask>": 640, "[CLS]": 2, "[NEW]": 639})  # fmt: skip
    yield case("class_of_the_network", "new", bert, network={"tokenizer_class": "BertTokenizer"})
    yield case("mpnet", "mpnet", {"vocab.txt": "mpnet.txt"}, count=MANY)
    yield case("mpnet_as_saved", "mpnet", {"vocab.txt": "mpnet.txt"}, {
        "added_tokens_decoder": {"0": added("<s>"), "1": added("<pad>"), "2": added("</s>"),
                                 "3": added("[UNK]", normalized=True)},
        "bos_token": "<s>", "cls_token": "<s>", "do_lower_case": False, "eos_token": "</s>", "mask_token": "<mask>",
        "pad_token": "<pad>", "sep_token": "</s>", "strip_accents": None, "tokenize_chinese_chars": True,
        "tokenizer_class": "MPNetTokenizer", "unk_token": "[UNK]"})  # fmt: skip
    yield case("roberta", "roberta", pairs, count=MANY)
    yield case("roberta_prefix_space", "roberta", pairs, {
        "add_prefix_space": True, "trim_offsets": False, "errors": "replace", "tokenizer_class": "RobertaTokenizerFast",
        "mask_token": {"__type": "AddedToken", "content": "<mask>", "lstrip": True, "normalized": False,
                       "rstrip": False, "single_word": False}})  # fmt: skip
    yield case("gpt2", "roberta", pairs, {"tokenizer_class": "GPT2Tokenizer"})
    yield case("gpt2_begin_end", "roberta", pairs, {
        "tokenizer_class": "GPT2TokenizerFast", "add_bos_token": True, "add_eos_token": True, "bos_token": "<s>",
        "pad_token": "<pad>"})  # fmt: skip
    yield case("qwen", "qwen3", pairs, count=MANY)
    yield case("qwen_as_saved", "qwen3", pairs, {
        "add_bos_token": False, "add_prefix_space": False, "bos_token": None, "eos_token": "<|im_end|>",
        "added_tokens_decoder": {"5": added("<|endoftext|>", lstrip=True), "560": added("<|im_start|>"),
                                 "561": added("<|im_end|>"), "562": added("<user>", special=False)},
        "additional_special_tokens": ["<|im_start|>", "<|im_end|>"], "pad_token": "<|endoftext|>",
        "split_special_tokens": False, "tokenizer_class": "Qwen2Tokenizer", "unk_token": None})  # fmt: skip
    yield case("qwen_end", "qwen3", pairs, {"add_eos_token": True})
    yield case("xlm_roberta", "xlm-roberta", xlm, count=MANY)
    yield case("xlm_roberta_as_saved", "xlm-roberta", xlm, {
        "bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "model_max_length": 512, "pad_token": "<pad>",
        "mask_token": {"__type": "AddedToken", "content": "<mask>", "lstrip": True, "normalized": True,
                       "rstrip": False, "single_word": False},
        "sep_token": "</s>", "sp_model_kwargs": {}, "tokenizer_class": "XLMRobertaTokenizer", "unk_token": "<unk>"})  # fmt: skip
    yield case("xlm_roberta_marked", "xlm-roberta", marked, {"add_prefix_space": False})
    yield case("xlm_roberta_other_tokens", "xlm-roberta", marked, {
        "bos_token": "[CLS]", "eos_token": "[SEP]", "extra_special_tokens": ["new word"]})  # fmt: skip
    yield case("camembert", "camembert", xlm, count=MANY)
    yield case("camembert_as_saved", "camembert", marked, {
        "added_tokens_decoder": {"0": added("<s>NOTUSED"), "1": added("<pad>"), "2": added("</s>NOTUSED"),
                                 "3": added("<unk>"), "4": added("<unk>NOTUSED"), "5": added("<s>"), "6": added("</s>"),
                                 "484": added("<mask>", lstrip=True)},
        "additional_special_tokens": ["<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"], "bos_token": "<s>",
        "mask_token": "<mask>", "tokenizer_class": "CamembertTokenizer"})  # fmt: skip
    yield case("albert", "albert", albert, count=MANY)
    yield case("albert_accents", "albert", albert, {"keep_accents": True, "do_lower_case": False})
    yield case("albert_begin", "albert", albert, {"add_bos_token": True, "add_eos_token": False})
    # No vocabulary here has an "[UNK]": it is added, and the second piece stands for what is unknown.
    yield case("deberta_v2", "deberta-v2", deberta, count=MANY)
    yield case("deberta_v2_unknown", "deberta-v2", deberta, {"unk_token": "<unk>", "pad_token": "<pad>"})
    yield case("deberta_v2_options", "deberta-v2", deberta, {
        "do_lower_case": True, "split_by_punct": True, "unk_token": "<unk>",
        "tokenizer_class": "DebertaV2Tokenizer", "sp_model_kwargs": {}, "vocab_type": "spm"})  # fmt: skip
    yield case("deberta_v2_marked", "deberta-v2", {"spm.model": "marked.model"}, {
        "bos_token": "[CLS]", "cls_token": "[CLS]", "do_lower_case": False, "eos_token": "[SEP]", "mask_token": "[MASK]",
        "pad_token": "[PAD]", "sep_token": "[SEP]", "tokenizer_class": "DebertaV2TokenizerFast", "unk_token": "<unk>"})  # fmt: skip
    yield case("deberta", "deberta", pairs, count=MANY)
    yield case("deberta_as_saved", "deberta", pairs, {
        "do_lower_case": False, "add_prefix_space": True, "vocab_type": "gpt2", "tokenizer_class": "DebertaTokenizer",
        "cls_token": "<s>", "sep_token": "</s>", "mask_token": "<mask>", "pad_token": "<pad>", "unk_token": "<unk>"})  # fmt: skip


def ids_of(case, texts):
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "config.json").write_text(json.dumps(case["config"]))
        for name, source in case["files"].items():
            shutil.copy(HERE / source, place / name)
        for name in "tokenizer_config", "special_tokens_map", "added_tokens":
            if name in case:
                (place / f"{name}.json").write_text(json.dumps(case[name]))
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        case["class"] = type(tokenizer).__name__
        case["size"] = len(tokenizer)
        return [tokenizer(text)["input_ids"] for text in texts]


def main():
    # Training is not the same twice: vocabularies that are there stay.
    for name, make in ("odd.txt", make_word_pieces), ("merges.txt", make_byte_pairs), ("albert.model", make_sentence_pieces):
        if not (HERE / name).exists():
            make()
    texts = lines()
    (HERE / "lines.json").write_text(
        "[\n" + ",\n".join(json.dumps(text) for text in texts) + "\n]\n", encoding="utf-8"
    )
    with open(HERE / "cases.jsonl", "w", encoding="utf-8") as out:
        for case, count in cases():
            case["ids"] = ids_of(case, texts[:count])
            out.write(json.dumps(case, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(f"transformers {transformers.__version__}, tokenizers {tokenizers.__version__}")


if __name__ == "__main__":
    main()
