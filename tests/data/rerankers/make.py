#!/usr/bin/env python3
"""Makes the rerankers beside this file: small language models with random weights whose score is the number of a token
(LogitScore), with chat templates of several forms, and what sentence-transformers' CrossEncoder predicts with them.

Needs torch, transformers (5.x) and sentence-transformers (6.x); the tests need none. The tokenizer is that of
../tiny-bert. Scores are computed pair by pair, so that nothing depends on a batch. Usage: make.py
"""
import json
import pathlib
import shutil

import sentence_transformers
import tokenizers
import torch
import transformers
from sentence_transformers import CrossEncoder
from sentence_transformers.base.modules import Transformer
from sentence_transformers.cross_encoder.modules import LogitScore

HERE = pathlib.Path(__file__).resolve().parent
TINY = HERE.parent / "tiny-bert"
SIZES = {"vocab_size": 45, "max_position_embeddings": 64, "hidden_size": 32, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 48, "pad_token_id": 0,
         "bos_token_id": None, "eos_token_id": None, "head_dim": 8}  # fmt: skip
NO_HEAD_DIM = {key: value for key, value in SIZES.items() if key != "head_dim"} | {"vocab_size": 280}
ROPE = {"rope_parameters": {"rope_type": "default", "rope_theta": 300.0}}
LENGTH = 40
# The frame of this one leaves room for nothing but the longest query.
LENGTHS = {"qwen3": 56}

FIRST = '{{ messages | selectattr("role", "eq", "ROLE") | map(attribute="content") | first'
JUDGE = (
    "[CLS]the tin can be the same[SEP]\n<Instruct>: " + FIRST.replace("ROLE", "system") + ' | default("a test") }}\n<Query>: '
    + FIRST.replace("ROLE", "query") + " }}\n<Document>: " + FIRST.replace("ROLE", "document") + " }}[SEP]\nthe\n\n"
)  # fmt: skip
TURNS = (
    "{%- for message in messages %}{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>the\\n' }}{%- endif %}"
)
PARTS = (
    "{% set ns = namespace(note='') %}{% for m in messages if m.role == 'system' %}{% set ns.note = m.content[0].text %}{% endfor %}"
    "{{ cls_token }}{% if ns.note %}({{ ns.note }}) {% endif %}"
    '{{ (messages | selectattr("role", "eq", "query") | first).content[0].text | trim }}{{ sep_token }}'
    '{{ (messages | selectattr("role", "eq", "document") | list | last).content[0]["text"] | trim }}{{ sep_token }}'
)
LETTERS = (
    "{{ cls_token }}{% for m in messages %}{% if m.role == 'query' %}A: {{ m.content }}\n{% elif m.role == 'document' %}B: {{ m.content }}\n"
    "{% endif %}{% endfor %}{% if messages[0].role == 'system' %}{{ messages[0].content }}{% else %}is A of B?{% endif %}"
)
IDENTITY = torch.nn.Identity()

# Name: the network, its template, the tokens of the score, and arguments of CrossEncoder.
NETWORKS = {
    "gemma": (transformers.GemmaForCausalLM(transformers.GemmaConfig(**SIZES)), LETTERS, (7, None), {}),
    "llama": (transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES, **ROPE)),
              [{"name": "default", "template": PARTS}, {"name": "other", "template": TURNS}], (11, 12), {}),
    # Without a template: the tokenizer joins the texts, and a prompt precedes the first.
    "mistral": (transformers.MistralForCausalLM(transformers.MistralConfig(**SIZES, **ROPE, sliding_window=None)), None,
                (9, 10), {"prompts": {"ask": "the same "}, "default_prompt_name": "ask"}),
    "qwen2": (transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**NO_HEAD_DIM, **ROPE, tie_word_embeddings=True)), TURNS,
              (20, 21), {"activation_fn": IDENTITY}),
    "qwen3": (transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**SIZES, **ROPE, tie_word_embeddings=True)), JUDGE,
              (5, 6), {"prompts": {"web": "a list of the best", "other": "the words"}, "default_prompt_name": "web", "activation_fn": IDENTITY}),
}  # fmt: skip
# Settings of the templates.
ARGUMENTS = {"qwen2": {"chat_template": {"add_generation_prompt": True}}}


def randomize(module, seed):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(module.named_parameters()):
            is_scale = "norm" in name.lower() and name.endswith("weight") and "Gemma" not in type(module).__name__
            parameter.copy_(float(is_scale) + 0.25 * torch.randn(parameter.shape, generator=generator))
    return module


def write_qwen2_tokenizer(folder, template):
    """Letters, some pairs of them, and the tokens of turns: transformers makes Qwen2's tokenizer of any file."""
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    merges = [("h", "e"), ("t", "he"), ("Ġ", "t"), ("Ġ", "a"), ("i", "n"), ("e", "r"), ("Ġt", "he")]
    vocabulary = {word: i for i, word in enumerate(letters + ["".join(pair) for pair in merges])}
    tokenizer = transformers.Qwen2Tokenizer(vocab=vocabulary, merges=merges, model_max_length=LENGTH + 20, chat_template=template)
    tokenizer.add_special_tokens({"extra_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    tokenizer.save_pretrained(folder)
    (folder / "chat_template.jinja").unlink()
    config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8")) | {"chat_template": template}
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")


def write_tokenizer(folder, template):
    if folder.name == "qwen2":
        return write_qwen2_tokenizer(folder, template)
    shutil.copyfile(TINY / "f32/tokenizer.json", folder / "tokenizer.json")
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": LENGTHS.get(folder.name, LENGTH), "pad_token": "[PAD]",
              "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}  # fmt: skip
    if template is not None:
        config["chat_template"] = template
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")


def pairs_of(texts):
    """Texts beside each other, some of them empty, and some far beyond the limit."""
    long = " ".join(texts)
    some = [text for text in texts if text][:7]
    pairs = [(a, b) for a in some for b in some if a != b]
    return pairs + [("", some[1]), (some[2], ""), (some[1], long), (long, some[1]), (long, long)]


def predict(model, pairs, **options):
    return [float(f"{model.predict([pair], **options)[0]:.8g}") for pair in pairs]


def main():
    for old in HERE.iterdir():
        if old.is_dir():
            shutil.rmtree(old)
    texts = json.loads((TINY / "expected.json").read_text(encoding="utf-8"))["texts"]
    pairs = pairs_of(texts)
    note = "the best of all"
    expected = {"sentence-transformers": sentence_transformers.__version__, "pairs": pairs, "instruction": note, "models": {}}
    for seed, (name, (network, template, (true_token, false_token), options)) in enumerate(NETWORKS.items()):
        folder = HERE / name
        folder.mkdir()
        randomize(network, seed).save_pretrained(folder)
        write_tokenizer(folder, template)
        arguments = {"processing_kwargs": ARGUMENTS[name]} if name in ARGUMENTS else {}
        transformer = Transformer(str(folder), transformer_task="text-generation", **arguments)
        model = CrossEncoder(modules=[transformer, LogitScore(true_token, false_token)], device="cpu", **options)
        shutil.rmtree(folder)
        model.save_pretrained(str(folder))
        (folder / "README.md").unlink()
        # What it saves of the tokenizer is not what it was given.
        if name != "qwen3":
            (folder / "chat_template.jinja").unlink(missing_ok=True)
            shutil.rmtree(folder / "additional_chat_templates", ignore_errors=True)
        write_tokenizer(folder, template if name != "qwen3" else None)
        again = CrossEncoder(str(folder), device="cpu")
        expected["models"][name] = {
            "scores": predict(again, pairs),
            "logits": predict(again, pairs, activation_fn=IDENTITY),
            "instructed": predict(again, pairs, activation_fn=IDENTITY, prompt=note),
            "uninstructed": predict(again, pairs, activation_fn=IDENTITY, prompt=""),
            "ids": [again[0].preprocess([tuple(pair)], prompt=again._resolve_prompt(None, None))["input_ids"][0].tolist() for pair in pairs],
        }
        for extra in ("generation_config.json",):
            (folder / extra).unlink(missing_ok=True)
    (HERE / "expected.json").write_text(json.dumps(expected, separators=(",", ":")) + "\n", encoding="utf-8")
    for weights in HERE.glob("**/model.safetensors"):
        weights.chmod(0o644)


if __name__ == "__main__":
    main()
