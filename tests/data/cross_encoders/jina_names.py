"""The tensors of transformers' XLM-RoBERTa under the names of Jina's code, which has the same network."""

import re

import torch

AUTO_MAP = {
    "AutoConfig": "configuration_xlm_roberta.XLMRobertaFlashConfig",
    "AutoModel": "modeling_xlm_roberta.XLMRobertaModel",
    "AutoModelForSequenceClassification": "modeling_xlm_roberta.XLMRobertaForSequenceClassification",
}
JOINT = "attention.self.query."
NAMES = {
    "embeddings.LayerNorm.": "emb_ln.",
    "encoder.layer.": "encoder.layers.",
    "attention.output.dense.": "mixer.out_proj.",
    "attention.output.LayerNorm.": "norm1.",
    "intermediate.dense.": "mlp.fc1.",
    ".output.dense.": ".mlp.fc2.",
    ".output.LayerNorm.": ".norm2.",
}


def renamed(tensors):
    found = {}
    for name, tensor in tensors.items():
        if re.search(r"self\.(key|value)\.", name) or name.endswith("position_ids"):
            continue
        if JOINT in name:
            parts = [tensors[name.replace(".query.", f".{part}.")] for part in ("query", "key", "value")]
            name, tensor = name.replace(JOINT, "mixer.Wqkv."), torch.cat(parts)
        for old, new in NAMES.items():
            name = name.replace(old, new)
        found[name] = tensor.contiguous()
    return found
