#!/usr/bin/env python3
"""Makes the rerankers beside this file: small language models with random weights in folders without a list of modules,
and what the code that they name makes of two texts.

zerank names modeling_zeranker in config.json. That code needs an older sentence-transformers, so what it does is written
here with transformers. flag has a card that names FlagLLMReranker, whose class computes the scores. Needs torch,
transformers (5.x) and FlagEmbedding (1.4, installed without its dependencies); the tests need none. Usage: make.py
"""

import importlib
import importlib.util
import json
import pathlib
import shutil
import sys
import types

import torch
import transformers

HERE = pathlib.Path(__file__).resolve().parent
TINY = HERE.parent / "tiny-bert"
CARD = """---
license: apache-2.0
---
# A reranker

```python
from FlagEmbedding import FlagLLMReranker
reranker = FlagLLMReranker('flag', use_fp16=True)
```
"""
LIMIT = 12


def rerankers():
    """The functions of the rerankers with LogitScore, which make the same networks and texts."""
    spec = importlib.util.spec_from_file_location("rerankers", HERE.parent / "rerankers" / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def flag_class():
    """FlagEmbedding's class, without the parts of its package that need other libraries."""
    root = pathlib.Path(importlib.util.find_spec("FlagEmbedding").submodule_search_locations[0])
    reranker = "inference.reranker"
    for name in ("", "abc", "abc.inference", "inference", reranker, f"{reranker}.encoder_only", f"{reranker}.decoder_only"):
        module = types.ModuleType(".".join(filter(None, ("FlagEmbedding", name))))
        module.__path__ = [str(root.joinpath(*filter(None, name.split("."))))]
        sys.modules[module.__name__] = module
    inference = sys.modules["FlagEmbedding.abc.inference"]
    inference.AbsReranker = importlib.import_module("FlagEmbedding.abc.inference.AbsReranker").AbsReranker
    return importlib.import_module(f"FlagEmbedding.{reranker}.decoder_only.base").BaseLLMReranker


def prepare_for_model(self, ids, pair_ids, max_length, **_):
    """As transformers 4 has it for truncation='only_second'."""
    return {"input_ids": ids + pair_ids[: max(0, max_length - len(ids))]}


def rounded(numbers):
    return [float(f"{number:.8g}") for number in numbers]


def make_zerank(made, pairs):
    folder = HERE / "zerank"
    folder.mkdir()
    sizes = made.NO_HEAD_DIM | {"head_dim": 8, "max_position_embeddings": 256}
    config = transformers.Qwen3Config(**sizes, **made.ROPE, tie_word_embeddings=True)
    made.randomize(transformers.Qwen3ForCausalLM(config), 21).save_pretrained(folder)
    made.write_qwen2_tokenizer(folder, made.TURNS)
    whole = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    whole["auto_map"] = {"AutoConfig": "modeling_zeranker.ZEConfig"}
    (folder / "config.json").write_text(json.dumps(whole, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    yes = tokenizer.encode("Yes", add_special_tokens=False)[0]
    found = {"ids": [], "logits": [], "scores": []}
    for query, document in pairs:
        turns = [("system", query[:2000].strip()), ("user", document[:10000].strip())]
        messages = [{"role": role, "content": content} for role, content in turns]
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        ids = tokenizer(text)["input_ids"]
        with torch.no_grad():
            logit = model(input_ids=torch.tensor([ids])).logits[0, -1, yes].item()
        found["ids"].append(ids)
        found["logits"].append(logit)
        found["scores"].append(1 / (1 + torch.tensor(-logit / 5).exp().item()))
    return found | {key: rounded(found[key]) for key in ("logits", "scores")}


def make_flag(made, pairs, question):
    folder = HERE / "flag"
    folder.mkdir()
    config = transformers.GemmaConfig(**(made.SIZES | {"max_position_embeddings": 1024}))
    made.randomize(transformers.GemmaForCausalLM(config), 22).save_pretrained(folder)
    shutil.copyfile(TINY / "f32/tokenizer.json", folder / "tokenizer.json")
    tokens = {"bos_token": "[CLS]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
    said = {"tokenizer_class": "PreTrainedTokenizerFast", "padding_side": "left"} | tokens
    (folder / "tokenizer_config.json").write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    transformers.PreTrainedTokenizerBase.prepare_for_model = prepare_for_model
    reranker = flag_class()(str(folder), devices="cpu")
    rows = []
    forward = reranker.model.forward

    def remembered(input_ids, attention_mask, **options):
        rows.append(input_ids[0][attention_mask[0].bool()].tolist())
        return forward(input_ids=input_ids, attention_mask=attention_mask, **options)

    reranker.model.forward = remembered

    def score(**options):
        scores, ids = [], []
        for pair in pairs:
            scores += reranker.compute_score([tuple(pair)], **options)
            ids.append(rows[-1])
        return {"ids": ids, "logits": rounded(scores), "scores": rounded(scores)}

    # The class computes each row twice, to find out how many fit.
    return score() | {"short": score(max_length=LIMIT), "asked": score(prompt=question)}


def main():
    for old in HERE.iterdir():
        if old.is_dir():
            shutil.rmtree(old)
    made = rerankers()
    texts = json.loads((TINY / "expected.json").read_text(encoding="utf-8"))["texts"]
    pairs = made.pairs_of(texts)[:20] + [["  the cat\n", "\u3000a dog \t"], ["", "the cat"], ["a dog", ""], [texts[1], " ".join(texts)]]
    question = "is A of B?"
    expected = {
        "transformers": transformers.__version__, "pairs": pairs, "question": question, "limit": LIMIT,
        "models": {"zerank": make_zerank(made, pairs[:-1]), "flag": make_flag(made, pairs, question)},
    }  # fmt: skip
    (HERE / "expected.json").write_text(json.dumps(expected, separators=(",", ":")) + "\n", encoding="utf-8")
    for extra in HERE.glob("*/generation_config.json"):
        extra.unlink()
    for weights in HERE.glob("*/model.safetensors"):
        weights.chmod(0o644)


if __name__ == "__main__":
    main()
