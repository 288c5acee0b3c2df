#!/usr/bin/env python3
"""Makes the cross-encoders beside this file: small networks for sequence classification with random weights, the
tokenizer of ../tiny-bert, and what sentence-transformers' CrossEncoder predicts with them.

Needs torch, transformers (5.x) and sentence-transformers (6.x); the tests need none. Scores are computed pair by pair,
so that nothing depends on a batch. Usage: make.py
"""
import json
import pathlib
import shutil

import jina_names
import safetensors.torch
import sentence_transformers
import torch
import transformers
from sentence_transformers import CrossEncoder
from sentence_transformers.base.modules import Dense, Transformer
from sentence_transformers.sentence_transformer.modules import Pooling

HERE = pathlib.Path(__file__).resolve().parent
TINY = HERE.parent / "tiny-bert"
SIZES = {"vocab_size": 45, "max_position_embeddings": 24, "hidden_size": 32, "num_hidden_layers": 2,
         "num_attention_heads": 4, "intermediate_size": 48, "pad_token_id": 0}
COUNTED = SIZES | {"max_position_embeddings": 26, "pad_token_id": 1}
ROPE = {"rope_parameters": {"rope_type": "default", "rope_theta": 300.0}}
TYPES = {"model_input_names": ["input_ids", "token_type_ids", "attention_mask"]}
ONE = {"num_labels": 1}

# Name, class of the network, its configuration, and what tokenizer_config.json says beside the usual.
NETWORKS = {
    "albert": (transformers.AlbertForSequenceClassification,
               transformers.AlbertConfig(**SIZES, embedding_size=20, type_vocab_size=2, **ONE), TYPES),
    "bert": (transformers.BertForSequenceClassification, transformers.BertConfig(**SIZES, **ONE),
             {"tokenizer_class": "BertTokenizer"}),
    # Types that the tokenizer has, and that the network is not told.
    "bert_typeless": (transformers.BertForSequenceClassification, transformers.BertConfig(**SIZES, **ONE),
                      {}),
    "distilbert": (transformers.DistilBertForSequenceClassification,
                   transformers.DistilBertConfig(vocab_size=45, max_position_embeddings=24, dim=32, n_layers=2,
                                                 n_heads=4, hidden_dim=48, **ONE), {}),
    "electra": (transformers.ElectraForSequenceClassification,
                transformers.ElectraConfig(**SIZES, embedding_size=20, type_vocab_size=2, hidden_act="gelu", **ONE), TYPES),
    "gte": (transformers.GteForSequenceClassification,
            transformers.GteConfig(**SIZES, type_vocab_size=1, **ROPE, **ONE), {}),
    "modernbert": (transformers.ModernBertForSequenceClassification,
                   transformers.ModernBertConfig(
                       **SIZES, local_attention=8, global_attn_every_n_layers=2, bos_token_id=None, eos_token_id=None,
                       cls_token_id=None, sep_token_id=None, classifier_pooling="mean", **ONE),
                   {}),
    "mpnet": (transformers.MPNetForSequenceClassification, transformers.MPNetConfig(**COUNTED, **ONE),
              {}),
    "qwen3": (transformers.Qwen3ForSequenceClassification,
              transformers.Qwen3Config(**SIZES, num_key_value_heads=2, head_dim=12, **ROPE, **ONE),
              {}),
    # Three labels, whose numbers stay as they are.
    "roberta": (transformers.RobertaForSequenceClassification,
                transformers.RobertaConfig(**COUNTED, type_vocab_size=1,
                                           id2label={0: "contradiction", 1: "entailment", 2: "neutral"}),
                {}),
    # The first version with token types, and the third, whose tokenizer has types and whose network has none.
    "deberta": (transformers.DebertaForSequenceClassification,
                transformers.DebertaConfig(**SIZES, type_vocab_size=2, relative_attention=True,
                                           position_biased_input=False, pos_att_type=["c2p", "p2c"], **ONE), TYPES),
    "deberta_v2": (transformers.DebertaV2ForSequenceClassification,
                   transformers.DebertaV2Config(**SIZES, relative_attention=True, position_biased_input=False,
                                                position_buckets=8, share_att_key=True, norm_rel_ebd="layer_norm",
                                                pos_att_type=["p2c", "c2p"], pooler_hidden_act="tanh", **ONE), TYPES),
}

# In the form of jina-reranker-v2: the same network under other names.
NETWORKS["jina_roberta"] = (transformers.XLMRobertaForSequenceClassification,
                            transformers.XLMRobertaConfig(**COUNTED, type_vocab_size=1, layer_norm_eps=1e-5, **ONE), {})


def pairs_of(texts):
    """Each text beside each of the others; some of them alone, and some far beyond the limit together."""
    long = " ".join(texts)
    pairs = [(a, b) for a in texts for b in texts if a != b and a and b] + [("", texts[1]), (texts[2], ""), ("", ""), (long, texts[1]), (texts[1], long)]
    return pairs + [(long, long)]


def randomize(module, seed):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(module.named_parameters()):
            is_scale = "norm" in name.lower() and name.endswith("weight")
            parameter.copy_(float(is_scale) + 0.25 * torch.randn(parameter.shape, generator=generator))
    return module


def write_tokenizer(folder, network, extra):
    tokenizer = json.loads((TINY / "f32/tokenizer.json").read_text(encoding="utf-8"))
    if network == "roberta":
        ids = {name: tokenizer["model"]["vocab"][name] for name in ("[CLS]", "[SEP]")}
        tokenizer["post_processor"] = {"type": "RobertaProcessing", "sep": ["[SEP]", ids["[SEP]"]],
                                       "cls": ["[CLS]", ids["[CLS]"]], "trim_offsets": True, "add_prefix_space": False}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False) + "\n", encoding="utf-8")
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 20, "pad_token": "[PAD]",
              "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"} | extra
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")


def predict(model, pairs, **options):
    scores = [model.predict([pair], **options)[0] for pair in pairs]
    return [[float(f"{x:.8g}") for x in (score if model.num_labels > 1 else [score])] for score in scores]


def rename_as_jina(folder):
    weights = folder / "model.safetensors"
    safetensors.torch.save_file(jina_names.renamed(safetensors.torch.load_file(weights)), weights, metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text(encoding="utf-8")) | {"auto_map": jina_names.AUTO_MAP}
    (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def main():
    for old in HERE.iterdir():
        if old.is_dir():
            shutil.rmtree(old)
    texts = json.loads((TINY / "expected.json").read_text(encoding="utf-8"))["texts"]
    pairs = pairs_of(texts)
    expected = {"sentence-transformers": sentence_transformers.__version__, "pairs": pairs, "scores": {}, "logits": {}}
    for seed, (name, (network, config, extra)) in enumerate(NETWORKS.items()):
        folder = HERE / name
        folder.mkdir()
        randomize(network(config), seed).save_pretrained(folder)
        write_tokenizer(folder, name, extra)
        model = CrossEncoder(str(folder), device="cpu")
        expected["scores"][name] = predict(model, pairs)
        expected["logits"][name] = predict(model, pairs, activation_fn=torch.nn.Identity())
    # What CrossEncoder saves itself: the network's own head, and modules instead of one.
    saved = CrossEncoder(str(HERE / "bert"), device="cpu", activation_fn=torch.nn.Identity())
    dense = randomize(Dense(32, 1, activation_function=torch.nn.Tanh(), module_output_name="scores"), 99)
    whole = CrossEncoder(modules=[Transformer(str(HERE / "bert")), Pooling(32, "mean"), dense], device="cpu")
    for name, model in (("saved", saved), ("dense", whole)):
        model.save_pretrained(str(HERE / name))
        (HERE / name / "README.md").unlink()
        write_tokenizer(HERE / name, name, TYPES)
        again = CrossEncoder(str(HERE / name), device="cpu")
        expected["scores"][name] = predict(again, pairs)
        expected["logits"][name] = predict(again, pairs, activation_fn=torch.nn.Identity())
    rename_as_jina(HERE / "jina_roberta")
    (HERE / "expected.json").write_text(json.dumps(expected, separators=(",", ":")) + "\n", encoding="utf-8")
    for weights in HERE.glob("**/model.safetensors"):
        weights.chmod(0o644)


if __name__ == "__main__":
    main()
