#!/usr/bin/env python3
"""Makes the GGUF files beside this file: small networks with random weights in several types, and what transformers
computes of the same (dequantized) weights; and one file with blocks of every type that is read, with their numbers.

Needs torch, transformers (5.x), tokenizers and gguf; the tests need none of them. Names, types and numbers come from
gguf's own tables. Vectors are computed in float64, text by text. Usage: make.py [FOLDER]; elsewhere than here it
makes no seeds for the fuzz target
"""
import json
import pathlib
import sys

import gguf
import numpy
import tokenizers
import torch
import transformers
from tokenizers import decoders, models, normalizers, pre_tokenizers
from transformers.tokenization_utils_base import generate_merges

HERE = pathlib.Path(__file__).resolve().parent
SEEDS = HERE.parents[2] / "fuzz" / "corpus" / "gguf"
TINY = HERE.parent / "tiny-bert" / "f32"
QUANTS = gguf.GGMLQuantizationType
NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
TEXTS = ["hello world", "The quick brown fox, again!", "", "a naïve café  12345", "words of a text\nin two lines"]
SIZES = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
    "max_position_embeddings": 64,
}  # fmt: skip
ROPE = {"rope_parameters": {"rope_type": "default", "rope_theta": 300.0}}
NO_TOKENS = {"pad_token_id": 0, "bos_token_id": None, "eos_token_id": None}
QWEN_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def word_pieces():
    """tiny-bert's, in llama.cpp's form: a mark before the beginnings of words, none before what continues them."""
    tokenizer = tokenizers.Tokenizer.from_file(str(TINY / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    names = [tokenizer.id_to_token(i) for i in range(tokenizer.get_vocab_size())]
    added = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
    types = [CONTROL if name in added else NORMAL for name in names]
    there = [name if name in added else name[2:] if name.startswith("##") else "▁" + name for name in names]
    keys = {"model": "bert", "pre": "default", "bos_token_id": names.index("[CLS]"), "unknown_token_id": names.index("[UNK]"),
            "seperator_token_id": names.index("[SEP]"), "padding_token_id": names.index("[PAD]")}  # fmt: skip
    return tokenizer, there, types, None, None, keys


def byte_pairs():
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    split = pre_tokenizers.Split(tokenizers.Regex(QWEN_PATTERN), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=280, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<|endoftext|>"])
    tokenizer.train_from_iterator([text for text in TEXTS for _ in range(9)], trainer)
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A <|endoftext|>", special_tokens=[("<|endoftext|>", 0)])
    model = json.loads(tokenizer.to_str())["model"]
    names = sorted(model["vocab"], key=model["vocab"].get)
    types = [CONTROL] + [NORMAL] * (len(names) - 1)
    keys = {"model": "gpt2", "pre": "qwen2", "eos_token_id": 0, "add_eos_token": True, "add_bos_token": False}
    return tokenizer, names, types, None, [" ".join(merge) for merge in model["merges"]], keys


def scored_pieces(has_prefix):
    names = ["<pad>", "<eos>", "<bos>", "<unk>", "<turn>"] + [f"<0x{i:02X}>" for i in range(256)]
    types = [CONTROL, CONTROL, CONTROL, UNKNOWN, USER] + [BYTE] * 256
    scores = [0.0] * len(names)
    pieces = sorted({c for text in TEXTS for c in text if c.isascii() and not c.isspace()}) + ["▁"]
    pieces = ["▁hello", "▁world", "hell", "he", "ll", "▁h", "▁w", "or", "ld", "wor", "▁t", "ex", "ext", "▁text", "an", "in", *pieces]
    for i, piece in enumerate(pieces):
        names.append(piece)
        types.append(NORMAL)
        scores.append(-1.0 - (i * 7 % 16) if len(piece) > 1 else -100.0 - i)
    vocabulary = {name: i for i, name in enumerate(names)}
    merges = generate_merges(vocabulary, dict(zip(names, scores)))
    tokenizer = tokenizers.Tokenizer(
        models.BPE(vocab=vocabulary, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    parts = [normalizers.Prepend("▁")] if has_prefix else []
    tokenizer.normalizer = normalizers.Sequence([*parts, normalizers.Replace(" ", "▁")])
    tokenizer.add_special_tokens([tokenizers.AddedToken(names[i], normalized=False, special=True) for i in range(4)])
    tokenizer.add_tokens([tokenizers.AddedToken("<turn>", normalized=False)])
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="<bos> $A <eos>", special_tokens=[("<bos>", 2), ("<eos>", 1)])
    keys = {"model": "llama", "pre": "default", "bos_token_id": 2, "eos_token_id": 1, "unknown_token_id": 3, "padding_token_id": 0,
            "add_bos_token": True, "add_eos_token": True, "add_space_prefix": has_prefix}  # fmt: skip
    return tokenizer, names, types, scores, None, keys


def unigram():
    """As XLM-RoBERTa's; its other tokens have scores that stand for nothing."""
    pieces = [(c, -9.0 - i / 8) for i, c in enumerate("▁abcdefghiklmnopqrstuvwxyzTï,!12345é")]
    pieces += [("▁hello", -3.5), ("▁w", -4.0), ("or", -4.25), ("ld", -4.5), ("▁quick", -3.75), ("ines", -5.0), ("▁text", -4.75)]
    names = ["<s>", "<pad>", "</s>", "<unk>", *[piece for piece, _ in pieces], "<mask>", "[PAD49]"]
    types = [CONTROL, CONTROL, CONTROL, UNKNOWN, *[NORMAL] * len(pieces), CONTROL, UNUSED]
    scores = [0.0] * 4 + [score for _, score in pieces] + [-10000.0, -10000.0]
    here = [0.0] * 4 + [score for _, score in pieces] + [0.0, min(score for _, score in pieces)]
    tokenizer = tokenizers.Tokenizer(models.Unigram(list(zip(names, here)), unk_id=3, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")])
    tokenizer.add_special_tokens([
        tokenizers.AddedToken(name, normalized=False, special=True, lstrip=name == "<mask>")
        for name, kind in zip(names, types) if kind in (CONTROL, UNKNOWN)
    ])
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    keys = {"model": "t5", "pre": "default", "bos_token_id": 0, "eos_token_id": 2, "unknown_token_id": 3, "seperator_token_id": 2,
            "padding_token_id": 1, "mask_token_id": names.index("<mask>"), "add_bos_token": True, "add_eos_token": True,
            "add_space_prefix": True, "remove_extra_whitespaces": True}  # fmt: skip
    return tokenizer, names, types, scores, None, keys


def bert(vocabulary, **more):
    return transformers.BertModel(
        transformers.BertConfig(**SIZES, vocab_size=vocabulary, type_vocab_size=2, **more), add_pooling_layer=False)


def roberta_scores(vocabulary):
    sizes = SIZES | {"max_position_embeddings": 66}
    return transformers.RobertaForSequenceClassification(
        transformers.RobertaConfig(**sizes, vocab_size=vocabulary, type_vocab_size=1, pad_token_id=1, num_labels=1, layer_norm_eps=1e-5))


def nomic(vocabulary):
    return transformers.NomicBertModel(
        transformers.NomicBertConfig(**SIZES, vocab_size=vocabulary, head_dim=8, type_vocab_size=2))


def qwen2(vocabulary):
    return transformers.Qwen2Model(transformers.Qwen2Config(**SIZES, vocab_size=vocabulary, num_key_value_heads=2, **ROPE))


def qwen3(vocabulary):
    return transformers.Qwen3Model(
        transformers.Qwen3Config(**SIZES, vocab_size=vocabulary, num_key_value_heads=2, head_dim=16, **ROPE))


def llama(vocabulary):
    return transformers.LlamaModel(transformers.LlamaConfig(
        **SIZES, vocab_size=vocabulary, num_key_value_heads=2, attention_bias=True, mlp_bias=True, rms_norm_eps=1e-5,
        **NO_TOKENS, **ROPE))


def gemma(vocabulary):
    return transformers.GemmaModel(transformers.GemmaConfig(
        **SIZES, vocab_size=vocabulary, num_key_value_heads=1, head_dim=16, **NO_TOKENS, **ROPE))


def gemma3(vocabulary):
    layers = ["sliding_attention"] * 5 + ["full_attention"]
    return transformers.Gemma3TextModel(transformers.Gemma3TextConfig(
        **(SIZES | {"num_hidden_layers": 6}), vocab_size=vocabulary, num_key_value_heads=1, head_dim=16,
        query_pre_attn_scalar=16, sliding_window=8, layer_types=layers, use_bidirectional_attention=True, **NO_TOKENS,
        rope_parameters={"full_attention": {"rope_type": "default", "rope_theta": 500.0},
                         "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}))


# The architecture, the network, the tokenizer, the type of matrices, how vectors are pooled, and what the key for it is.
MODELS = {
    "bert": ("bert", bert, word_pieces, QUANTS.F16, "mean"),
    "bert-unigram": ("bert", lambda size: bert(size, pad_token_id=1), unigram, QUANTS.Q8_0, "cls"),
    "gemma": ("gemma", gemma, lambda: scored_pieces(False), QUANTS.Q4_1, "mean"),
    "gemma-embedding": ("gemma-embedding", gemma3, lambda: scored_pieces(False), QUANTS.Q5_0, "mean"),
    "llama": ("llama", llama, lambda: scored_pieces(True), QUANTS.Q5_1, "last"),
    "nomic-bert": ("nomic-bert", nomic, word_pieces, QUANTS.Q8_0, "mean"),
    "qwen2": ("qwen2", qwen2, byte_pairs, QUANTS.Q4_0, "last"),
    "qwen3": ("qwen3", qwen3, byte_pairs, QUANTS.Q8_0, "last"),
    "reranker": ("bert", roberta_scores, unigram, QUANTS.BF16, "rank"),
}
POOLING = {"mean": 1, "cls": 2, "last": 3, "rank": 4}
PREFIXES = {"reranker": "roberta."}


def randomize(model):
    torch.manual_seed(20261130)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            centre = 1.0 if "norm" in name.lower() and name.endswith("weight") and not isinstance(model, GEMMAS) else 0.0
            parameter.copy_(centre + 0.25 * torch.randn_like(parameter))


GEMMAS = (transformers.GemmaModel, transformers.Gemma3TextModel)


def interleave(matrix, heads):
    """As llama.cpp's converter: the halves of each head's rows alternate."""
    return matrix.reshape(heads, 2, matrix.shape[0] // heads // 2, *matrix.shape[1:]).swapaxes(1, 2).reshape(matrix.shape)


def separate(matrix, heads):
    return matrix.reshape(heads, matrix.shape[0] // heads // 2, 2, *matrix.shape[1:]).swapaxes(1, 2).reshape(matrix.shape)


def name_there(names, name, prefix):
    if name.startswith("layers.") or name.split(".")[0] in ("embed_tokens", "norm"):
        name = "model." + name
    name = name.removeprefix(prefix)
    found = names.get_name(name, try_suffixes=(".weight", ".bias"))
    assert found, name
    return found


def add_tensors(writer, name, model):
    """Writes what the converter would, and puts the numbers that a reader gets back into the network."""
    architecture, _, _, quant, _ = MODELS[name]
    kind = next(key for key, text in gguf.MODEL_ARCH_NAMES.items() if text == architecture)
    config = model.config
    names = gguf.get_tensor_name_map(kind, config.num_hidden_layers)
    state = dict(model.named_parameters())
    if architecture == "nomic-bert":
        state = joined_nomic(model)
    for own, parameter in state.items():
        array = parameter.detach().numpy().astype(numpy.float32)
        there = name_there(names, own, PREFIXES.get(name, ""))
        if there == "position_embd.weight" and name == "reranker":
            array = array[config.pad_token_id + 1 :]
        heads = {"attn_q": config.num_attention_heads, "attn_k": getattr(config, "num_key_value_heads", 0)}
        heads = heads.get(there.split(".")[-2], 0) if architecture == "llama" else 0
        is_shifted = isinstance(model, GEMMAS) and there.endswith("norm.weight")
        stored = interleave(array, heads) if heads else array + numpy.float32(1) if is_shifted else array
        is_matrix = stored.ndim > 1 and not there.startswith(("position_embd", "token_types"))
        if is_matrix and quant == QUANTS.F16:
            stored = stored.astype(numpy.float16)
            writer.add_tensor(there, stored)
            read = stored.astype(numpy.float32)
        elif is_matrix:
            blocks = gguf.quants.quantize(stored, quant)
            writer.add_tensor(there, blocks, raw_dtype=quant)
            read = gguf.quants.dequantize(blocks, quant)
        else:
            writer.add_tensor(there, stored)
            read = stored
        read = separate(read, heads) if heads else read.astype(numpy.float64) - 1 if is_shifted else read
        with torch.no_grad():
            target = parameter if read.shape == tuple(parameter.shape) else parameter[config.pad_token_id + 1 :]
            target.copy_(torch.from_numpy(numpy.ascontiguousarray(read)).to(target.dtype))
    if architecture == "nomic-bert":
        take_apart(model, state)


def joined_nomic(model):
    """transformers has separate matrices and other names than the published files, which the converter reads."""
    state = dict(model.named_parameters())
    joined = {}
    for own, parameter in state.items():
        if "q_proj" in own:
            parts = [state[own.replace("q_proj", part)] for part in ("q_proj", "k_proj", "v_proj")]
            joined[own.split("self_attn")[0].replace("layers", "encoder.layers", 1) + "attn.Wqkv.weight"] = torch.cat(
                [part.detach() for part in parts])
        elif "k_proj" not in own and "v_proj" not in own:
            joined[nomic_name(own)] = parameter
    return joined


def nomic_name(own):
    for here, there in (("self_attn.o_proj", "attn.out_proj"), ("post_attention_layernorm", "norm1"),
                        ("post_mlp_layernorm", "norm2"), ("mlp.gate_proj", "mlp.fc12"), ("mlp.up_proj", "mlp.fc11"),
                        ("mlp.down_proj", "mlp.fc2"), ("embeddings.LayerNorm", "emb_ln"), ("embeddings.norm", "emb_ln")):  # fmt: skip
        own = own.replace(here, there)
    return "encoder." + own if own.startswith("layers.") else own


def take_apart(model, joined):
    state = dict(model.named_parameters())
    with torch.no_grad():
        for own, parameter in state.items():
            for i, part in enumerate(("q_proj", "k_proj", "v_proj")):
                if part in own:
                    whole = joined[own.split("self_attn")[0].replace("layers", "encoder.layers", 1) + "attn.Wqkv.weight"]
                    parameter.copy_(whole.chunk(3)[i])


def write_keys(writer, architecture, config, pooling, vocabulary):
    writer.add_name(f"Tiny {architecture}")
    writer.add_context_length(getattr(config, "max_position_embeddings", 64) - (2 if config.model_type == "roberta" else 0))
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)
    if hasattr(config, "num_key_value_heads"):
        writer.add_head_count_kv(config.num_key_value_heads)
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    else:
        writer.add_layer_norm_eps(config.layer_norm_eps)
        writer.add_causal_attention(False)
        writer.add_token_type_count(config.type_vocab_size)
    if architecture in ("qwen3", "gemma", "gemma-embedding"):
        writer.add_key_length(config.head_dim)
        writer.add_value_length(config.head_dim)
    if architecture == "llama":
        writer.add_vocab_size(vocabulary)
        writer.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
    if architecture == "gemma-embedding":
        writer.add_rope_freq_base(500.0)
        writer.add_sliding_window(8)
    elif architecture != "bert":
        writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_pooling_type(gguf.PoolingType(POOLING[pooling]))


def write_tokenizer(writer, names, types, scores, merges, keys):
    writer.add_tokenizer_model(keys["model"])
    writer.add_tokenizer_pre(keys["pre"])
    writer.add_token_list(names)
    writer.add_token_types(types)
    if scores:
        writer.add_token_scores(scores)
    if merges:
        writer.add_token_merges(merges)
    for key, value in keys.items():
        if key in ("model", "pre"):
            continue
        (writer.add_bool if isinstance(value, bool) else writer.add_uint32)(f"tokenizer.ggml.{key}", value)


def add_dense(writer, hidden):
    """The two modules after the pooling of EmbeddingGemma."""
    matrices = [(0.25 * torch.randn(2 * hidden, hidden)).numpy(), (0.25 * torch.randn(hidden // 2, 2 * hidden)).numpy()]
    for i, matrix in enumerate(matrices):
        writer.add_tensor(f"dense_{i + 2}.weight", matrix)
        writer.add_uint32(f"gemma-embedding.dense_{i + 2}_feat_in", matrix.shape[1])
        writer.add_uint32(f"gemma-embedding.dense_{i + 2}_feat_out", matrix.shape[0])
    return [torch.from_numpy(matrix).double() for matrix in matrices]


def results_of(model, ids, pooling, dense):
    model = model.double().eval()
    found = []
    with torch.no_grad():
        for row in ids:
            if pooling == "rank":
                found.append([torch.sigmoid(model(input_ids=torch.tensor([row])).logits[0, 0]).item()])
                continue
            states = model(input_ids=torch.tensor([row])).last_hidden_state[0]
            pooled = {"mean": states.mean(0), "cls": states[0], "last": states[-1]}[pooling]
            for matrix in dense:
                pooled = matrix @ pooled
            found.append(torch.nn.functional.normalize(pooled, dim=0).tolist())
    return [[float(f"{x:.9g}") for x in row] for row in found]


def make_model(root, name):
    architecture, network, tokenizer, _, pooling = MODELS[name]
    made, names, types, scores, merges, keys = tokenizer()
    model = network(len(names))
    randomize(model)
    writer = gguf.GGUFWriter(root / f"{name}.gguf", architecture)
    write_keys(writer, architecture, model.config, pooling, len(names))
    write_tokenizer(writer, names, types, scores, merges, keys)
    add_tensors(writer, name, model)
    dense = add_dense(writer, model.config.hidden_size) if name == "gemma-embedding" else []
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    texts = [[text, TEXTS[i - 1]] for i, text in enumerate(TEXTS)] if pooling == "rank" else TEXTS
    encoded = [made.encode(*text) if pooling == "rank" else made.encode(text) for text in texts]
    ids = [one.ids for one in encoded]
    return {"texts": texts, "ids": ids, "results": results_of(model, ids, pooling, dense)}


def make_types(root):
    """Random blocks with scales that are not; the numbers as f32 beside them."""
    random = numpy.random.default_rng(20261130)
    writer = gguf.GGUFWriter(root / "types.gguf", "none")
    halves = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}
    for name, places in halves.items():
        quant = QUANTS[name]
        elements, size = gguf.GGML_QUANT_SIZES[quant]
        columns = 2 * max(elements, 64)
        blocks = random.integers(0, 256, (3, columns // elements, size), dtype=numpy.uint8)
        for place in places:
            scale = random.normal(0, 0.01, blocks.shape[:2]).astype(numpy.float16)
            blocks[..., place : place + 2] = scale[..., None].view(numpy.uint8)
        blocks = blocks.reshape(3, -1)
        writer.add_tensor(name, blocks, raw_dtype=quant)
        writer.add_tensor(name + ".f32", gguf.quants.dequantize(blocks, quant))
    refused = random.integers(0, 256, (1, gguf.GGML_QUANT_SIZES[QUANTS.Q2_K][1]), dtype=numpy.uint8)
    writer.add_tensor("Q2_K", refused, raw_dtype=QUANTS.Q2_K)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def make_seed(file, architecture, tensors, tokens, keys):
    """A few hundred bytes for the fuzz target `gguf`."""
    writer = gguf.GGUFWriter(file, architecture)
    for key, value in {"block_count": 1, "context_length": 8, "embedding_length": 32, "feed_forward_length": 32,
                       "attention.head_count": 2, "pooling_type": 1}.items():  # fmt: skip
        writer.add_uint32(f"{architecture}.{key}", value)
    write_tokenizer(writer, *tokens, keys)
    for name, (shape, quant) in tensors.items():
        numbers = numpy.linspace(-1, 1, numpy.prod(shape), dtype=numpy.float32).reshape(shape)
        writer.add_tensor(name, gguf.quants.quantize(numbers, quant), raw_dtype=quant)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def make_seeds():
    scored = (["<unk>", "<s>", "▁a", "a", "b", "ab"], [UNKNOWN, CONTROL] + [NORMAL] * 4, [0.0, 0.0, -1.0, -2.0, -3.0, -1.5], None)
    make_seed(SEEDS / "small_llama", "llama", {
        "token_embd.weight": ((6, 32), QUANTS.Q4_0), "blk.0.attn_q.weight": ((4, 32), QUANTS.Q8_0),
        "blk.0.attn_k.bias": ((4,), QUANTS.F32), "output_norm.weight": ((32,), QUANTS.F32),
    }, scored, {"model": "llama", "pre": "default", "bos_token_id": 1, "add_space_prefix": True})  # fmt: skip
    make_seed(SEEDS / "small_unigram", "bert", {
        "token_embd.weight": ((6, 32), QUANTS.Q5_1), "position_embd.weight": ((8, 32), QUANTS.F16),
        "token_types.weight": ((1, 32), QUANTS.F32),
    }, scored, {"model": "t5", "pre": "default", "bos_token_id": 1, "eos_token_id": 1})  # fmt: skip
    make_seed(SEEDS / "small_merges", "gemma", {"output_norm.weight": ((32,), QUANTS.F32)},
              (["a", "b", "ab", "Ġ"], [NORMAL] * 3 + [USER], None, ["a b"]), {"model": "gpt2", "pre": "qwen2"})  # fmt: skip
    make_seed(SEEDS / "small_pieces", "nomic-bert", {"blk.0.attn_qkv.weight": ((3, 32), QUANTS.Q4_1)},
              (["[UNK]", "[CLS]", "[SEP]", "▁a", "b"], [CONTROL] * 3 + [NORMAL] * 2, None, None),
              {"model": "bert", "pre": "default"})  # fmt: skip


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    if root == HERE:
        make_seeds()
    make_types(root)
    expected = {"transformers": transformers.__version__, "models": {name: make_model(root, name) for name in MODELS}}
    text = json.dumps(expected, ensure_ascii=False, separators=(",", ":"))
    (root / "expected.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
