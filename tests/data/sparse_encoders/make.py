#!/usr/bin/env python3
"""Makes the sparse encoders beside this file: small networks for masked language modelling with random weights, the
tokenizer of ../tiny-bert, and what sentence-transformers' SparseEncoder gives with them.

Needs torch, transformers (5.x) and sentence-transformers (6.x); the tests need none. Vectors are computed text by text,
so that nothing depends on a batch. Usage: make.py
"""
import json
import pathlib
import shutil
import sys

import sentence_transformers
import transformers
from sentence_transformers import SparseEncoder
from sentence_transformers.base.modules import Transformer
from sentence_transformers.sentence_transformer.modules import Pooling
from sentence_transformers.sparse_encoder.modules import SparseAutoEncoder, SpladePooling

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cross_encoders"))
from make import COUNTED, ROPE, SIZES, TINY, randomize, write_tokenizer  # noqa: E402

# Name, class of the network, its configuration, and the pooling's options.
NETWORKS = {
    "albert": (transformers.AlbertForMaskedLM, transformers.AlbertConfig(**SIZES, embedding_size=20), {}),
    "bert": (transformers.BertForMaskedLM, transformers.BertConfig(**SIZES), {}),
    "distilbert": (transformers.DistilBertForMaskedLM,
                   transformers.DistilBertConfig(vocab_size=45, max_position_embeddings=24, dim=32, n_layers=2,
                                                 n_heads=4, hidden_dim=48), {}),
    "electra": (transformers.ElectraForMaskedLM,
                transformers.ElectraConfig(**SIZES, embedding_size=20, hidden_act="gelu"), {}),
    "modernbert": (transformers.ModernBertForMaskedLM,
                   transformers.ModernBertConfig(**SIZES, local_attention=8, global_attn_every_n_layers=2,
                                                 bos_token_id=None, eos_token_id=None, cls_token_id=None,
                                                 sep_token_id=None), {}),
    "mpnet": (transformers.MPNetForMaskedLM, transformers.MPNetConfig(**COUNTED), {"activation_function": "log1p_relu"}),
    "roberta": (transformers.RobertaForMaskedLM, transformers.RobertaConfig(**COUNTED, type_vocab_size=1), {}),
    # A matrix of its own from a token's vector to the vocabulary.
    "untied": (transformers.BertForMaskedLM, transformers.BertConfig(**SIZES, tie_word_embeddings=False), {}),
    # The sum of the tokens' weights.
    "sum": (transformers.BertForMaskedLM, transformers.BertConfig(**SIZES),
            {"pooling_strategy": "sum", "activation_function": "log1p_relu"}),
    "gte": (transformers.GteForMaskedLM, transformers.GteConfig(**SIZES, type_vocab_size=1, **ROPE), {}),
    # The largest numbers of a sparse autoencoder, after the pooling.
    "latents": (transformers.BertModel, transformers.BertConfig(**SIZES),
                {"input_dim": 32, "hidden_dim": 96, "k": 7, "k_aux": 16}),
    # The older head, and the newer one, which shares the word embeddings.
    "deberta": (transformers.DebertaForMaskedLM,
                transformers.DebertaConfig(**SIZES, embedding_size=20, relative_attention=True,
                                           pos_att_type=["c2p", "p2c"]), {}),
    "deberta_v2": (transformers.DebertaV2ForMaskedLM,
                   transformers.DebertaV2Config(**SIZES, relative_attention=True, position_buckets=8,
                                                share_att_key=True, pos_att_type=["c2p"], legacy=False), {}),
}


def numbers_of(vector):
    vector = vector.coalesce()
    return {"indices": vector.indices()[0].tolist(), "values": [float(f"{x:.8g}") for x in vector.values().tolist()]}


def encode(folder, texts):
    model = SparseEncoder(str(folder), device="cpu")
    return [numbers_of(model.encode(text)) for text in texts]


def main():
    for old in HERE.iterdir():
        if old.is_dir():
            shutil.rmtree(old)
    texts = json.loads((TINY / "expected.json").read_text(encoding="utf-8"))["texts"]
    expected = {"sentence-transformers": sentence_transformers.__version__, "texts": texts, "vectors": {}}
    plain = HERE / "plain"
    for seed, (name, (network, config, options)) in enumerate(NETWORKS.items()):
        plain.mkdir()
        randomize(network(config), seed).save_pretrained(plain)
        write_tokenizer(plain, name, {})
        if name != "latents":
            modules = [Transformer(str(plain), transformer_task="fill-mask"), SpladePooling(**options)]
        else:
            latents = randomize(SparseAutoEncoder(**options), seed)
            modules = [Transformer(str(plain)), Pooling(32, "mean"), latents]
        model = SparseEncoder(modules=modules,
                              device="cpu", prompts={"query": "the cat "} if name == "bert" else None,
                              max_active_dims=5 if name == "distilbert" else None)
        model.save_pretrained(str(HERE / name))
        shutil.rmtree(plain)
        (HERE / name / "README.md").unlink()
        write_tokenizer(HERE / name, name, {})
        if name == "roberta":
            name_old(HERE / name)
        expected["vectors"][name] = encode(HERE / name, texts)
    query = SparseEncoder(str(HERE / "bert"), device="cpu")
    expected["query"] = [numbers_of(query.encode_query(text)) for text in texts]
    (HERE / "expected.json").write_text(json.dumps(expected, separators=(",", ":")) + "\n", encoding="utf-8")
    for weights in HERE.glob("**/model.safetensors"):
        weights.chmod(0o644)


def name_old(folder):
    """As sentence-transformers 5 saved the same model."""
    modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    modules[0]["type"] = "sentence_transformers.sparse_encoder.models.MLMTransformer"
    modules[1]["type"] = "sentence_transformers.sparse_encoder.models.SpladePooling"
    (folder / "modules.json").write_text(json.dumps(modules, indent=2), encoding="utf-8")
    file = folder / "sentence_bert_config.json"
    file.write_text(json.dumps({"max_seq_length": 20, "do_lower_case": False}) + "\n", encoding="utf-8")
    file = folder / modules[1]["path"] / "config.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    config["word_embedding_dimension"] = config.pop("embedding_dimension")
    file.write_text(json.dumps(config, indent=4), encoding="utf-8")


if __name__ == "__main__":
    main()
