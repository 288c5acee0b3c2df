#!/usr/bin/env python3
"""Makes the multi-vector encoders beside this file: small networks with random weights, the tokenizer of ../tiny-bert
with two markers more, in the formats that sentence-transformers' MultiVectorEncoder loads, and what it gives with them.

Needs torch, transformers (5.x) and sentence-transformers (6.2); the tests need none. Vectors are computed text by text,
so that nothing depends on a batch. Usage: make.py
"""
import json
import pathlib
import shutil
import sys

import sentence_transformers
import torch
import transformers
from safetensors.torch import save_file
from sentence_transformers import MultiVectorEncoder
from sentence_transformers.base.modules import Dense, Normalize, Transformer
from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cross_encoders"))
from make import COUNTED, SIZES, TINY, randomize  # noqa: E402

MARKED = {"vocab_size": 47}
TOKENS = "token_embeddings"
PUNCTUATION = list("!.,?;")


def write_tokenizer(folder, network, markers=()):
    """`markers`: texts of two tokens at the end of the vocabulary, as added ones where they have a space."""
    tokenizer = json.loads((TINY / "f32/tokenizer.json").read_text(encoding="utf-8"))
    for number, marker in enumerate(markers):
        if marker.endswith(" "):
            tokenizer["added_tokens"].append({"id": 45 + number, "content": marker, "single_word": False, "lstrip": False,
                                              "rstrip": False, "normalized": True, "special": False})
        else:
            tokenizer["model"]["vocab"][marker] = 45 + number
    if network == "roberta":
        ids = {name: tokenizer["model"]["vocab"][name] for name in ("[CLS]", "[SEP]")}
        tokenizer["post_processor"] = {"type": "RobertaProcessing", "sep": ["[SEP]", ids["[SEP]"]],
                                       "cls": ["[CLS]", ids["[CLS]"]], "trim_offsets": True, "add_prefix_space": False}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False) + "\n", encoding="utf-8")
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 20, "pad_token": "[PAD]",
              "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")


def read(file):
    return json.loads(file.read_text(encoding="utf-8"))


def write(file, content):
    file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def dense(seed, inputs, outputs, **options):
    return randomize(Dense(inputs, outputs, **({"bias": False, "activation_function": torch.nn.Identity(),
                                                "module_input_name": TOKENS} | options)), seed)


def save_own(name, network, modules, markers=(), of_transformer=None, **options):
    """In sentence-transformers' own format."""
    plain = HERE / "plain"
    plain.mkdir()
    network.save_pretrained(plain)
    write_tokenizer(plain, name, markers)
    transformer = Transformer(str(plain), **(of_transformer or {}))
    model = MultiVectorEncoder(modules=[transformer, *modules], device="cpu", **options)
    model.save_pretrained(str(HERE / name))
    shutil.rmtree(plain)
    (HERE / name / "README.md").unlink()
    write_tokenizer(HERE / name, name, markers)
    return HERE / name


def as_pylate(folder, **settings):
    """As PyLate saved it: no module but the network and the projection, which does not say what it reads."""
    modules = read(folder / "modules.json")[:2]
    for file in ("2_MultiVectorMask", "3_Normalize"):
        shutil.rmtree(folder / file)
    modules[1] |= {"type": "pylate.models.Dense.Dense"}
    write(folder / "modules.json", modules)
    projection = folder / modules[1]["path"] / "config.json"
    write(projection, {key: value for key, value in read(projection).items() if not key.startswith("module_")})
    write(folder / "sentence_bert_config.json", {"max_seq_length": 20, "do_lower_case": False})
    write(folder / "config_sentence_transformers.json", {"prompts": {}, "default_prompt_name": None} | settings)


def bert(seed, **options):
    return randomize(transformers.BertModel(transformers.BertConfig(**(SIZES | MARKED), **options),
                                            add_pooling_layer=False), seed)


def make_bert():
    """Everything that its own format says, with the defaults of ColBERT."""
    save_own("bert", bert(0), [dense(10, 32, 12), MultiVectorMask(PUNCTUATION), Normalize(TOKENS)],
             of_transformer={"document_length": 12, "query_expansion": {"strategy": "fixed", "length": 11}},
             prompts={"query": "a ", "document": "the cat ", "other": "blue "})


def make_modernbert():
    """As PyLate 1 saved it; most of the expansion sees no token of a query through the local window."""
    config = transformers.ModernBertConfig(**(SIZES | MARKED), local_attention=8, global_attn_every_n_layers=2,
                                           bos_token_id=None, eos_token_id=None, cls_token_id=None, sep_token_id=None)
    network = randomize(transformers.ModernBertModel(config), 1)
    folder = save_own("modernbert", network, [dense(11, 32, 16), MultiVectorMask(), Normalize(TOKENS)], ("[Q] ", "[D] "))
    as_pylate(folder, query_prefix="[Q] ", document_prefix="[D] ", query_length=18, document_length=14,
              attend_to_expansion_tokens=False, skiplist_words=["!", ".", "cat", "unheard", "[UNK]"])


def make_roberta():
    """As PyLate saved it with sentence-transformers 5: its model_type, and the expansion attended to."""
    config = transformers.RobertaConfig(**(COUNTED | MARKED), type_vocab_size=1)
    network = randomize(transformers.RobertaModel(config, add_pooling_layer=False), 2)
    folder = save_own("roberta", network, [dense(12, 32, 16, bias=True, activation_function=torch.nn.Tanh()),
                                           MultiVectorMask(), Normalize(TOKENS)], ("[Q]", "[D]"))
    as_pylate(folder, model_type="ColBERT", query_prefix="[Q]", document_prefix="[D]", query_length=12,
              attend_to_expansion_tokens=True, similarity_fn_name="cosine")


def make_stanford():
    """As Stanford's ColBERT saved it: one file of weights, and artifact.metadata."""
    folder = HERE / "stanford"
    folder.mkdir()
    network = bert(3)
    network.save_pretrained(folder)
    weights = {"bert." + name: tensor.contiguous() for name, tensor in network.state_dict().items()}
    weights["linear.weight"] = dense(13, 32, 12).linear.weight.detach().contiguous()
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    write(folder / "config.json", read(folder / "config.json") | {"architectures": ["HF_ColBERT"]})
    write(folder / "artifact.metadata", {"query_token_id": "[unused0]", "doc_token_id": "[unused1]", "query_token": "[Q]",
                                         "doc_token": "[D]", "dim": 12, "similarity": "cosine", "doc_maxlen": 15,
                                         "query_maxlen": 10, "mask_punctuation": True, "attend_to_mask_tokens": False})
    write_tokenizer(folder, "stanford", ("[unused0]", "[unused1]"))


def make_distilbert():
    """Long queries are not cut; two projections, with residuals; queries leave words out, too; the mean of MaxSim."""
    config = transformers.DistilBertConfig(vocab_size=47, max_position_embeddings=24, dim=32, n_layers=2, n_heads=4,
                                           hidden_dim=48)
    network = randomize(transformers.DistilBertModel(config), 4)
    save_own("distilbert", network,
             [dense(14, 32, 32, use_residual=True, activation_function=torch.nn.GELU()),
              dense(15, 32, 12, use_residual=True, bias=True), MultiVectorMask(["the", "?"], skiplist_tasks=["query", "document"]),
              Normalize(TOKENS)],
             of_transformer={"query_length": 14, "query_expansion": {"strategy": "min", "length": 8, "attend": False,
                                                                      "token": "dog"}},
             similarity_fn_name="meanmaxsim")


def make_mpnet():
    """Nothing but the network's vectors as they are: no expansion, no projection, no length 1, some ids alone."""
    config = transformers.MPNetConfig(**(COUNTED | MARKED))
    network = randomize(transformers.MPNetModel(config, add_pooling_layer=False), 5)
    save_own("mpnet", network, [MultiVectorMask(keep_only_token_ids=list(range(2, 40)))],
             of_transformer={"query_length": 9})


def numbers_of(vectors):
    return [[float(f"{x:.8g}") for x in vector] for vector in vectors.tolist()]


def main():
    for old in HERE.iterdir():
        if old.is_dir():
            shutil.rmtree(old)
    for make in (make_bert, make_modernbert, make_roberta, make_stanford, make_distilbert, make_mpnet):
        make()
    texts = read(TINY / "expected.json")["texts"]
    expected = {"sentence-transformers": sentence_transformers.__version__, "texts": texts, "queries": {}, "documents": {},
                "scores": {}}
    for folder in sorted(path for path in HERE.iterdir() if path.is_dir()):
        model = MultiVectorEncoder(str(folder), device="cpu")
        queries = [model.encode_query(text) for text in texts]
        documents = [model.encode_document(text) for text in texts]
        scored = [i for i, document in enumerate(documents) if len(document)]
        expected["queries"][folder.name] = [numbers_of(query) for query in queries]
        expected["documents"][folder.name] = [numbers_of(document) for document in documents]
        scores = model.similarity(queries, documents)
        expected["scores"][folder.name] = numbers_of(scores)
        assert len(scored) == len(texts), folder
        # Batches make no difference.
        for together, alone in ((model.encode_query(texts), queries), (model.encode_document(texts), documents)):
            for a, b in zip(together, alone, strict=True):
                torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-5)
    (HERE / "expected.json").write_text(json.dumps(expected, separators=(",", ":")) + "\n", encoding="utf-8")
    for weights in HERE.glob("**/model.safetensors"):
        weights.chmod(0o644)


if __name__ == "__main__":
    main()
