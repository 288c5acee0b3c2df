#!/usr/bin/env python3
"""Make the model folders beside this file: a BERT of 2 layers with random weights, and what it must answer.

Needs numpy alone. The forward pass below is written from the paper and from the definitions of sentence-transformers'
pooling modes, in float64 and text by text, so that it shares nothing with the code under test: no batching, no padding,
no masks. Usage: make.py [FOLDER]; the same bytes on every run.
"""
import json
import math
import os
import struct
import sys

import numpy as np

HIDDEN, LAYERS, HEADS, INTERMEDIATE, POSITIONS, TYPES = 32, 2, 4, 48, 24, 2
EPSILON = 1e-12
WORDS = ("the a cat dog sat ran on under mat tree quick brown fox jumps over lazy and then it was not there "
         "one two three four five red blue green small large").split()
SUFFIXES = ["##s", "##ed", "##ing", "##er"]
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ",", "!", "?"] + WORDS + SUFFIXES
TEXTS = ["", "the cat sat on the mat.", "a dog", "The quick brown fox jumps over the lazy dog!", "cats jumped?",
         "one two three four five, red blue green small large and then it was not there.", "something unknown"]


def ids_of(text):
    """WordPiece over words that this vocabulary splits at most once."""
    words, word = [], ""
    for char in text.lower() + " ":
        if char.isalpha():
            word += char
            continue
        words += [word] if word else []
        words += [char] if char != " " else []
        word = ""
    ids = [VOCABULARY.index("[CLS]")]
    for word in words:
        if word in VOCABULARY:
            ids.append(VOCABULARY.index(word))
            continue
        for length in range(len(word) - 1, 0, -1):
            if word[:length] in VOCABULARY and "##" + word[length:] in VOCABULARY:
                ids += [VOCABULARY.index(word[:length]), VOCABULARY.index("##" + word[length:])]
                break
        else:
            ids.append(VOCABULARY.index("[UNK]"))
    return ids + [VOCABULARY.index("[SEP]")]


def make_weights():
    random = np.random.default_rng(20261121)
    weights = {}

    def add(name, *shape, centre=0.0, scale=0.25):
        weights[name] = (centre + scale * random.standard_normal(shape)).astype(np.float32)

    def add_norm(name):
        add(name + ".weight", HIDDEN, centre=1.0)
        add(name + ".bias", HIDDEN)

    def add_linear(name, outputs, inputs):
        add(name + ".weight", outputs, inputs)
        add(name + ".bias", outputs)

    add("embeddings.word_embeddings.weight", len(VOCABULARY), HIDDEN, scale=1.0)
    add("embeddings.position_embeddings.weight", POSITIONS, HIDDEN)
    add("embeddings.token_type_embeddings.weight", TYPES, HIDDEN)
    add_norm("embeddings.LayerNorm")
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}."
        for part in "query", "key", "value":
            add_linear(layer + "attention.self." + part, HIDDEN, HIDDEN)
        add_linear(layer + "attention.output.dense", HIDDEN, HIDDEN)
        add_norm(layer + "attention.output.LayerNorm")
        add_linear(layer + "intermediate.dense", INTERMEDIATE, HIDDEN)
        add_linear(layer + "output.dense", HIDDEN, INTERMEDIATE)
        add_norm(layer + "output.LayerNorm")
    return weights


def to_bf16(array):
    """The upper half of each f32, rounded to nearest even."""
    bits = array.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(array):
    return (array.astype(np.uint32) << 16).view(np.float32)


def write_safetensors(path, tensors):
    """tensors: name -> (dtype's name, array)."""
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, (dtype, array) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, array in tensors.values():
            file.write(array.tobytes())


def layer_norm(x, weights, name):
    centred = x - x.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)
    return scaled * weights[name + ".weight"] + weights[name + ".bias"]


def linear(x, weights, name):
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


def gelu(x):
    return 0.5 * x * (1.0 + np.vectorize(math.erf)(x / math.sqrt(2.0)))


def states_of(ids, weights):
    """Token vectors [tokens, hidden] of one text."""
    x = np.stack([weights["embeddings.word_embeddings.weight"][token] +
                  weights["embeddings.position_embeddings.weight"][position] +
                  weights["embeddings.token_type_embeddings.weight"][0] for position, token in enumerate(ids)])
    x = layer_norm(x, weights, "embeddings.LayerNorm")
    width = HIDDEN // HEADS
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}."
        query, key, value = (linear(x, weights, layer + "attention.self." + p) for p in ("query", "key", "value"))
        joined = np.empty_like(x)
        for head in range(HEADS):
            part = slice(head * width, (head + 1) * width)
            scores = query[:, part] @ key[:, part].T / math.sqrt(width)
            chances = np.exp(scores - scores.max(axis=1, keepdims=True))
            joined[:, part] = chances / chances.sum(axis=1, keepdims=True) @ value[:, part]
        x = layer_norm(linear(joined, weights, layer + "attention.output.dense") + x, weights,
                       layer + "attention.output.LayerNorm")
        wide = gelu(linear(x, weights, layer + "intermediate.dense"))
        x = layer_norm(linear(wide, weights, layer + "output.dense") + x, weights, layer + "output.LayerNorm")
    return x


POOLINGS = {"cls": lambda states: states[0], "mean": lambda states: states.mean(axis=0),
            "max": lambda states: states.max(axis=0), "lasttoken": lambda states: states[-1]}


def dump(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1, ensure_ascii=False)
        file.write("\n")


def tokenizer_json():
    special = [{"id": i, "content": VOCABULARY[i], "single_word": False, "lstrip": False, "rstrip": False,
                "normalized": False, "special": True} for i in range(5)]
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special,
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                       {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
            "pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                     {"SpecialToken": {"id": "[SEP]", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}},
                     {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
            "special_tokens": {name: {"id": name, "ids": [VOCABULARY.index(name)], "tokens": [name]}
                               for name in ("[CLS]", "[SEP]")}},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": {word: i for i, word in enumerate(VOCABULARY)}}}


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    weights = make_weights()
    stored = {"f32": {name: ("F32", array) for name, array in weights.items()},
              "f16": {name: ("F16", array.astype(np.float16)) for name, array in weights.items()},
              "bf16": {name: ("BF16", to_bf16(array)) for name, array in weights.items()}}
    expected = {"texts": TEXTS, "ids": [ids_of(text) for text in TEXTS], "vectors": {}}
    for kind, tensors in stored.items():
        folder = os.path.join(root, kind)
        os.makedirs(os.path.join(folder, "1_Pooling"), exist_ok=True)
        write_safetensors(os.path.join(folder, "model.safetensors"), tensors)
        dump(os.path.join(folder, "config.json"), {
            "architectures": ["BertModel"], "hidden_act": "gelu", "hidden_size": HIDDEN,
            "intermediate_size": INTERMEDIATE, "layer_norm_eps": EPSILON, "max_position_embeddings": POSITIONS,
            "model_type": "bert", "num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "pad_token_id": 0,
            "position_embedding_type": "absolute", "type_vocab_size": TYPES, "vocab_size": len(VOCABULARY)})
        dump(os.path.join(folder, "modules.json"), [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])
        dump(os.path.join(folder, "sentence_bert_config.json"), {"max_seq_length": 20, "do_lower_case": False})
        dump(os.path.join(folder, "1_Pooling", "config.json"), {
            "word_embedding_dimension": HIDDEN, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True,
            "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False})
        dump(os.path.join(folder, "tokenizer.json"), tokenizer_json())
        values = {name: (from_bf16(array) if dtype == "BF16" else array).astype(np.float64)
                  for name, (dtype, array) in tensors.items()}
        states = [states_of(ids, values) for ids in expected["ids"]]
        # Not normalised: a length tells more than none.
        expected["vectors"][kind] = {mode: [[float(f"{x:.7g}") for x in pool(s)] for s in states]
                                     for mode, pool in POOLINGS.items()}
    with open(os.path.join(root, "expected.json"), "w", encoding="utf-8") as file:
        json.dump(expected, file, ensure_ascii=False, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()
