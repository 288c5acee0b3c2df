#!/usr/bin/env python3
"""Makes the LoRA adapters beside this file, with random numbers, and what transformers and PEFT compute with them.

Needs torch, transformers and peft; the tests need none of them. The networks are those of ../networks and ../tiny-bert.
Vectors are computed in float64, text by text. Usage: make.py
"""
import json
import pathlib
import shutil

import peft
import torch
import transformers

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent

# The base, and the adapter's options.
ADAPTERS = {
    # The base has its tensors below "roberta.", the adapter has not.
    "plain": ("networks/roberta", {"r": 4, "lora_alpha": 6, "target_modules": ["query", "value"]}),
    "patterns": (
        "networks/qwen3",
        {
            "r": 4,
            "lora_alpha": 8,
            "use_rslora": True,
            "target_modules": "all-linear",
            "rank_pattern": {"k_proj": 2, "layers.1.mlp.up_proj": 3, "^layers.0.self_attn.o_proj": 6},
            "alpha_pattern": {"layers.0.self_attn.v_proj": 3.5, "down_proj": 20},
        },
    ),
    "dora": (
        "networks/roberta",
        {"r": 3, "lora_alpha": 5, "use_dora": True, "bias": "all", "target_modules": r".*\.(key|dense)"},
    ),
    # A table, and modules that are replaced.
    "table": (
        "networks/mpnet",
        {
            "r": 4,
            "lora_alpha": 3,
            "target_modules": ["word_embeddings", "attn.q"],
            "modules_to_save": ["relative_attention_bias", "embeddings.LayerNorm"],
        },
    ),
    # The sums are rounded to the type of the weights.
    "bf16": ("tiny-bert/bf16", {"r": 4, "lora_alpha": 4, "target_modules": ["query", "intermediate.dense"]}),
    "f16": ("tiny-bert/f16", {"r": 4, "lora_alpha": 4, "target_modules": ["query", "intermediate.dense"]}),
}


def randomize(model):
    """Every number of the adapter, and of what it replaces."""
    torch.manual_seed(20261130)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            if "lora_magnitude" in name:
                parameter.mul_(1 + 0.25 * torch.rand_like(parameter))
            elif "lora_" in name or "modules_to_save" in name or "bias" in name:
                parameter.add_(0.2 * torch.randn_like(parameter))


def vectors_of(model, texts):
    encoder = model.double().eval()
    with torch.no_grad():
        found = [encoder(input_ids=torch.tensor([ids])).last_hidden_state[0].mean(0) for ids in texts]
    return [[float(f"{x:.8g}") for x in vector] for vector in found]


def main():
    texts = json.loads((DATA / "networks/expected.json").read_text(encoding="utf-8"))["ids"]
    expected = {"peft": peft.__version__, "vectors": {}}
    for name, (base, options) in ADAPTERS.items():
        rounds = name in ("bf16", "f16")
        dtype = {"bf16": torch.bfloat16, "f16": torch.float16}.get(name, torch.float32)
        model = transformers.AutoModel.from_pretrained(DATA / base, dtype=dtype)
        adapted = peft.get_peft_model(model, peft.LoraConfig(**options))
        randomize(adapted)
        folder = HERE / name
        shutil.rmtree(folder, ignore_errors=True)
        adapted.save_pretrained(folder)
        (folder / "README.md").unlink(missing_ok=True)
        config = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
        config["base_model_name_or_path"] = base
        text = json.dumps(config, indent=1, sort_keys=True)
        (folder / "adapter_config.json").write_text(text + "\n", encoding="utf-8")
        # As it is loaded: what is not in the file must not count.
        model = transformers.AutoModel.from_pretrained(DATA / base, dtype=dtype)
        loaded = peft.PeftModel.from_pretrained(model, folder)
        if rounds:
            loaded = loaded.merge_and_unload()
        expected["vectors"][name] = vectors_of(loaded, texts)
    text = json.dumps(expected, separators=(",", ":"))
    (HERE / "expected.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
