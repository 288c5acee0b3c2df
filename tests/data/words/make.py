#!/usr/bin/env python3
"""Makes the models beside this file, small tables of words as sentence-transformers' WordEmbeddings has them, and what it
makes of texts: the ids of their words, and their vectors.

glove has the files of the published models: the old names of the classes, and the weights of torch.save(). lower makes
texts lower case, reads a few words of each, and has a Dense behind the pooling. Needs torch and sentence-transformers
(6.x); the tests need neither. Usage: make.py
"""

import json
import pathlib
import random
import shutil

import sentence_transformers
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Dense, Normalize, Pooling, WordEmbeddings
from sentence_transformers.sentence_transformer.modules.tokenizer import WhitespaceTokenizer

HERE = pathlib.Path(__file__).resolve().parent
WIDTH = 12
TEXTS = [
    "", " ", "the", "The cat sat on the mat.", "\"Cat!\", said (the) dog...", "cat\x1ccat\x85cat\u00a0dog\u2003dog\u3000mat",
    "cat\u200bdog", "don't", "'Don't'", "AT&T's", "--- ... !!!", "_cat_", "«cat»", "cat.dog", "CAT Dog dOG", "U.S.A.",
    "\u039f\u0394\u039f\u03a3 \u03a3\u0391\u03a3 \u03a3", "\u039f\u0394\u039f\u03a3.\u0391 \u039f\u0394\u039f\u03a3'", "\u0130stanbul STRASSE Straße",
    "\u01c5 \u24b6\u03a3 \u2160\u03a3 \u00aa\u03a3 \u0345\u03a3 \u02b0\u03a3a", "\uff23at \ufb01sh", "mat\tmat\nmat\r\nmat", "of and cat of",
]  # fmt: skip
LETTERS = "abCD'.-_\u03a3\u03c3\u03c2\u0391\u0130\u00df\u0301\u00ad\u00b7\u2019\uff1a\u24b6\u00aa,!\u0416"
SPACES = [" ", "\t", "\n", "\x1f", "\u2028", "\u200b", "  "]


def texts_of(random_state):
    def word():
        return "".join(random_state.choice(LETTERS) for _ in range(random_state.randint(1, 5)))

    return TEXTS + ["".join(word() + random_state.choice(SPACES) for _ in range(8)) for _ in range(60)]


def forms_of(texts):
    """Words as they are written, and in their other forms: about half of each kind."""
    words = sorted({word for text in texts for word in text.split()})
    state = random.Random(7)
    forms = []
    for word in words:
        bare = word.strip("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
        forms += [form for form in (word, bare, bare.lower(), word.lower()) if form and state.random() < 0.3]
    return list(dict.fromkeys(["PADDING_TOKEN", *forms, "cat", "dog", "mat", "sat", "u.s.a", "don't"]))


def encode(model, texts):
    """Text by text, so that nothing depends on a batch."""
    return [[float(f"{x:.8g}") for x in model.encode(text, convert_to_numpy=True)] for text in texts]


def make(texts, name, lower):
    words = forms_of(texts)
    torch.manual_seed(20261130)
    table = torch.randn(len(words), WIDTH)
    table[0] = 0
    tokenizer = WhitespaceTokenizer(words, stop_words=["the", "of", "and", "ab", "'"], do_lower_case=lower)
    embeddings = WordEmbeddings(tokenizer, table, max_seq_length=5 if lower else 1000000)
    behind = [Dense(WIDTH, 7, bias=False, activation_function=torch.nn.Identity()), Normalize()] if lower else []
    model = SentenceTransformer(modules=[embeddings, Pooling(WIDTH, "mean"), *behind], device="cpu")
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    model.save(str(folder), safe_serialization=lower)
    for rest in ("README.md", "config_sentence_transformers.json"):
        (folder / rest).unlink(missing_ok=True)
    if not lower:
        as_published(folder)
    again = SentenceTransformer(str(folder), device="cpu")
    ids = [again[0].preprocess([text])["input_ids"][0][: again[0].preprocess([text])["sentence_lengths"][0]].tolist() for text in texts]
    return {"ids": ids, "vectors": encode(again, texts)}


def as_published(folder):
    """The files of the published models, from before release 6."""
    (folder / "0_WordEmbeddings").mkdir(exist_ok=True)
    for file in ("pytorch_model.bin", "wordembedding_config.json", "whitespacetokenizer_config.json"):
        if (folder / file).exists():
            shutil.move(folder / file, folder / "0_WordEmbeddings" / file)
    kinds = ["WordEmbeddings", "Pooling"]
    modules = [{"idx": i, "name": str(i), "path": f"{i}_{kind}", "type": f"sentence_transformers.models.{kind}"} for i, kind in enumerate(kinds)]
    (folder / "modules.json").write_text(json.dumps(modules, indent=2) + "\n", encoding="utf-8")
    config = folder / "0_WordEmbeddings" / "wordembedding_config.json"
    old = {"tokenizer_class": "sentence_transformers.models.tokenizer.WhitespaceTokenizer.WhitespaceTokenizer", "update_embeddings": False, "max_seq_length": 1000000}
    config.write_text(json.dumps(old, indent=2) + "\n", encoding="utf-8")
    pooling = {"word_embedding_dimension": WIDTH, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True,
               "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False}  # fmt: skip
    (folder / "1_Pooling/config.json").write_text(json.dumps(pooling, indent=2) + "\n", encoding="utf-8")


def main():
    texts = texts_of(random.Random(20261130))
    expected = {"sentence-transformers": sentence_transformers.__version__, "texts": texts}
    for name, lower in (("glove", False), ("lower", True)):
        expected[name] = make(texts, name, lower)
    (HERE / "expected.json").write_text(json.dumps(expected, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
