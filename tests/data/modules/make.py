#!/usr/bin/env python3
"""Makes what is beside this file: modules behind the pooling of ../tiny-bert with random weights, and what
sentence-transformers computes with them, with its other modes of pooling and with prompts; and static embeddings.

Needs torch and sentence-transformers (6.x); the tests need neither. Usage: make.py
"""
import json
import pathlib
import shutil
import tempfile

import safetensors.torch
import sentence_transformers
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Dense, LayerNorm, Normalize, Pooling, StaticEmbedding
from tokenizers import Tokenizer

HERE = pathlib.Path(__file__).resolve().parent
TINY = HERE.parent / "tiny-bert"
HIDDEN = 32


def randomize(module):
    torch.manual_seed(20261126)
    with torch.no_grad():
        for name, parameter in sorted(module.named_parameters()):
            centre = 1.0 if name == "norm.weight" else 0.0
            parameter.copy_(centre + 0.25 * torch.randn_like(parameter))
    return module


def encode(transformer, modules, texts):
    """Text by text, so that nothing depends on a batch."""
    model = SentenceTransformer(modules=[transformer, *modules], device="cpu")
    vectors = [model.encode(text, convert_to_numpy=True) for text in texts]
    return model, [[float(f"{x:.8g}") for x in vector] for vector in vectors]


def encode_with_prompts(texts):
    """The vectors of ../tiny-bert by what is asked for, with a default prompt; its configuration goes to prompts/."""
    prompts = {"query": "cat and dog: ", "passage": "The mat, "}
    model = SentenceTransformer(str(TINY / "f32"), device="cpu", prompts=prompts, default_prompt_name="query")
    shutil.rmtree(HERE / "prompts", ignore_errors=True)
    (HERE / "prompts").mkdir()
    whole = HERE / "whole"
    model.save(str(whole))
    model = SentenceTransformer(str(whole), device="cpu")
    shutil.move(whole / "config_sentence_transformers.json", HERE / "prompts")
    shutil.rmtree(whole)
    asked = {"default": {}, "passage": {"prompt_name": "passage"}, "none": {"prompt": ""}, "other": {"prompt": "on "}}
    return {
        name: [[float(f"{x:.8g}") for x in model.encode(text, **arguments)] for text in texts]
        for name, arguments in asked.items()
    }


def encode_without_prompt(transformer, texts):
    """The vectors of each mode of pooling that leaves a prompt's tokens out."""
    found = {}
    for mode in Pooling.POOLING_MODES:
        pooling = Pooling(HIDDEN, pooling_mode=mode, include_prompt=False)
        model = SentenceTransformer(modules=[transformer, pooling], device="cpu")
        found[mode] = [[float(f"{x:.8g}") for x in model.encode(text, prompt="cat and dog: ")] for text in texts]
    return found


def encode_compressed(texts):
    """Tables as model2vec compresses them, in files that take the place of static/model.safetensors, and their vectors."""
    torch.manual_seed(20261127)
    tokens, rows = json.loads((HERE / "static/tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"], 11
    tensors = {
        "embeddings": torch.randn(rows, 24),
        "mapping": torch.randint(rows, (len(tokens),)),
        "weights": torch.rand(len(tokens), dtype=torch.float64),
    }
    files = {
        "compressed": tensors,
        "shared": {"embeddings": tensors["embeddings"].half(), "mapping": tensors["mapping"].int()},
        "weighed": {"embeddings": torch.randn(len(tokens), 24).half(), "weights": tensors["weights"].float()},
    }
    found = {}
    for name, content in files.items():
        safetensors.torch.save_file(content, HERE / f"{name}.safetensors")
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(HERE / "static", folder, dirs_exist_ok=True)
            shutil.copy(HERE / f"{name}.safetensors", pathlib.Path(folder) / "model.safetensors")
            model = SentenceTransformer(folder, device="cpu").float()
            found[name] = [[float(f"{x:.8g}") for x in model.encode(text)] for text in texts]
    return found


def main():
    texts = json.loads((TINY / "expected.json").read_text(encoding="utf-8"))["texts"]
    transformer = SentenceTransformer(str(TINY / "f32"), device="cpu")[0]
    expected = {"sentence-transformers": sentence_transformers.__version__, "texts": texts, "vectors": {}}
    for mode in "mean_sqrt_len_tokens", "weightedmean":
        _, expected["vectors"][mode] = encode(transformer, [Pooling(HIDDEN, pooling_mode=mode)], texts)
    modules = [
        Pooling(HIDDEN, pooling_mode="mean"),
        randomize(Dense(HIDDEN, 48, bias=False, activation_function=torch.nn.Identity())),
        randomize(Dense(48, 20, activation_function=torch.nn.Tanh())),
        randomize(LayerNorm(20)),
        Normalize(),
    ]
    model, expected["vectors"]["behind"] = encode(transformer, modules, texts)
    whole = HERE / "whole"
    model.save(str(whole))
    shutil.rmtree(HERE / "behind", ignore_errors=True)
    (HERE / "behind").mkdir()
    for part in ("modules.json", "1_Pooling", "2_Dense", "3_Dense", "4_LayerNorm"):
        shutil.move(whole / part, HERE / "behind" / part)
    shutil.rmtree(whole)
    expected["prompts"] = encode_with_prompts(texts)
    expected["without_prompt"] = encode_without_prompt(transformer, texts)
    static = StaticEmbedding(Tokenizer.from_file(str(TINY / "f32/tokenizer.json")), embedding_dim=24)
    model, expected["vectors"]["static"] = encode(randomize(static), [Normalize()], texts)
    shutil.rmtree(HERE / "static", ignore_errors=True)
    model.save(str(HERE / "static"))
    for rest in "README.md", "config_sentence_transformers.json":
        (HERE / "static" / rest).unlink(missing_ok=True)
    expected["vectors"] |= encode_compressed(texts)
    (HERE / "expected.json").write_text(json.dumps(expected, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
