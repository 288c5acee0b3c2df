#!/usr/bin/env python3
"""Makes the routers beside this file: models with one way for queries and another for documents, of small networks and
tables with random weights and the tokenizer of ../tiny-bert, and what sentence-transformers gives with them.

Needs torch, transformers (5.x) and sentence-transformers (6.x); the tests need none. Vectors are computed text by text,
so that nothing depends on a batch. Usage: make.py
"""
import json
import pathlib
import shutil
import sys

import sentence_transformers
import torch
import transformers
from sentence_transformers import SentenceTransformer, SparseEncoder
from sentence_transformers.base.modules import Dense, Router, Transformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, StaticEmbedding
from sentence_transformers.sparse_encoder.modules import SparseStaticEmbedding, SpladePooling

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cross_encoders"))
from make import SIZES, TINY, randomize, write_tokenizer  # noqa: E402

ROLES = ("", "query", "document")
# Small, for there are many of them.
SMALL = SIZES | {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24}


def network(folder, name, seed, task):
    """A Transformer with random weights."""
    plain = folder / f"plain_{name}"
    plain.mkdir(parents=True)
    kind = transformers.BertForMaskedLM if task == "fill-mask" else transformers.BertModel
    randomize(kind(transformers.BertConfig(**SMALL)), seed).save_pretrained(plain)
    write_tokenizer(plain, name, {})
    return Transformer(str(plain), transformer_task=task)


def table(folder, seed):
    """Weights of the tokens, above zero but for some that are zero."""
    plain = folder / "plain_table"
    plain.mkdir(parents=True)
    write_tokenizer(plain, "table", {"model_max_length": 12})
    weights = torch.randn(45, generator=torch.Generator().manual_seed(seed)).abs()
    weights[::7] = 0
    return SparseStaticEmbedding(transformers.AutoTokenizer.from_pretrained(str(plain)), weight=weights, frozen=True)


def dense(seed, width, **options):
    module = Dense(width, 8, **options)
    return randomize(module, seed)


def sparse(folder):
    router = Router.for_query_document(
        query_modules=[table(folder, 1)],
        document_modules=[network(folder, "words", 2, "fill-mask"), SpladePooling(activation_function="log1p_relu")])
    return SparseEncoder(modules=[router], device="cpu", prompts={"query": "the cat ", "document": ""}, max_active_dims=9)


def alone(folder):
    return SparseEncoder(modules=[table(folder, 3)], device="cpu")


def static(folder):
    vectors = torch.randn(45, 16, generator=torch.Generator().manual_seed(4)).numpy()
    first = network(folder, "first", 5, "feature-extraction")
    tokens = first.tokenizer.backend_tokenizer
    router = Router.for_query_document(query_modules=[StaticEmbedding(tokens, embedding_weights=vectors)],
                                       document_modules=[first, Pooling(16, pooling_mode="cls")])
    return SentenceTransformer(modules=[router, Normalize()], device="cpu")


def networks(folder):
    """Two, of which none answers where nothing is said."""
    ways = {role: [network(folder, role, seed, "feature-extraction"), Pooling(16, pooling_mode=mode),
                   dense(seed + 10, 16, bias=role == "query")]
            for role, seed, mode in (("query", 6, "mean"), ("document", 7, "cls"))}
    router = Router(ways, default_route=None, allow_empty_key=False)
    return SentenceTransformer(modules=[router], device="cpu", prompts={"query": "the cat ", "passage": "a dog "})


def shared(folder):
    """One network, and a module more behind it for queries, which are what is meant where nothing is said."""
    both = [network(folder, "both", 8, "feature-extraction"), Pooling(16, pooling_mode="mean"), dense(18, 16)]
    more = randomize(Dense(8, 8), 28)
    router = Router({"query": [*both, more], "document": both}, default_route="query")
    return SentenceTransformer(modules=[router], device="cpu")


MODELS = {"alone": alone, "networks": networks, "shared": shared, "sparse": sparse, "static": static}


def numbers_of(vector):
    if not vector.is_sparse:
        return [float(f"{x:.8g}") for x in vector.tolist()]
    vector = vector.coalesce()
    return {"indices": vector.indices()[0].tolist(), "values": [float(f"{x:.8g}") for x in vector.values().tolist()]}


def encode(model, role, text):
    function = {"": model.encode, "query": model.encode_query, "document": model.encode_document}[role]
    return numbers_of(function(text, convert_to_tensor=True))


def record(folder, texts):
    is_sparse = folder.name in ("alone", "published", "sparse")
    model = (SparseEncoder if is_sparse else SentenceTransformer)(str(folder), device="cpu")
    found = {}
    for role in ROLES:
        try:
            found[role] = [encode(model, role, text) for text in texts]
        except ValueError as error:  # there is no way where nothing is said
            assert "Could not determine route" in str(error), error
    return found


def publish(folder):
    """As several sparse encoders are on the hub, which sentence-transformers 5 wrote: the network in the model's own
    folder, and the names that the modules had then."""
    old = "sentence_transformers.sparse_encoder.models."
    for file in (folder / "document_0_Transformer").iterdir():
        file.rename(folder / file.name)
    (folder / "document_0_Transformer").rmdir()
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 20, "do_lower_case": false}\n')
    router = json.loads((folder / "router_config.json").read_text())
    router["types"] = {"query_0_SparseStaticEmbedding": old + "SparseStaticEmbedding",
                       "": old + "MLMTransformer", "document_1_SpladePooling": old + "SpladePooling"}
    router["structure"] = {"query": ["query_0_SparseStaticEmbedding"], "document": ["", "document_1_SpladePooling"]}
    router["parameters"].pop("route_mappings", None)
    (folder / "router_config.json").write_text(json.dumps(router, indent=4))
    modules = json.loads((folder / "modules.json").read_text())
    modules[0]["type"] = "sentence_transformers.models.Router"
    (folder / "modules.json").write_text(json.dumps(modules, indent=2))


def main():
    for old in HERE.iterdir():
        if old.is_dir():
            shutil.rmtree(old)
    texts = json.loads((TINY / "expected.json").read_text(encoding="utf-8"))["texts"][1:]
    texts += ["cat cat the cat", " ".join(texts)]
    expected = {"sentence-transformers": sentence_transformers.__version__, "texts": texts, "vectors": {}}
    plain = HERE / "plain"
    for name, make in MODELS.items():
        make(plain).save_pretrained(str(HERE / name))
        shutil.rmtree(plain)
        (HERE / name / "README.md").unlink()
    shutil.copytree(HERE / "sparse", HERE / "published")
    publish(HERE / "published")
    for name in (*MODELS, "published"):
        expected["vectors"][name] = record(HERE / name, texts)
    (HERE / "expected.json").write_text(json.dumps(expected, separators=(",", ":")) + "\n", encoding="utf-8")
    for weights in HERE.glob("**/model.safetensors"):
        weights.chmod(0o644)


if __name__ == "__main__":
    main()
