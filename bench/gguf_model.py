#!/usr/bin/env python3
"""Makes a GGUF file with the shape of Qwen3-Embedding-0.6B and random numbers, for measuring memory and speed.

Usage: bench/gguf_model.py FILE [--type Q8_0|Q4_0|Q4_K_M|F16] [--layers 28] [--words 151669]

Q4_K_M has Q6_K where llama.cpp has it. The tokenizer is made of random merges. Needs numpy and gguf.
"""
import argparse
import functools
import string
from random import Random

import gguf
import numpy

HIDDEN, WIDE, HEADS, KEY_HEADS, HEAD = 1024, 3072, 16, 8, 128
QUANTS = gguf.GGMLQuantizationType
SPREAD = 0.02
NORMAL, CONTROL = 1, 3


def random_blocks(random, shape, quant):
    """Blocks of K types with random steps, whose numbers have about the spread of weights."""
    elements, size = gguf.GGML_QUANT_SIZES[quant]
    blocks = random.integers(0, 256, (shape[0], shape[1] // elements, size), dtype=numpy.uint8)

    def put_half(place, scale):
        blocks[..., place : place + 2] = scale.astype(numpy.float16)[..., None].view(numpy.uint8)

    scale = SPREAD * random.uniform(0.8, 1.2, blocks.shape[:2])
    if quant == QUANTS.Q6_K:
        put_half(208, scale / (18 * 50))
        blocks[..., 192:208] = random.integers(40, 60, (*blocks.shape[:2], 16), dtype=numpy.uint8)
    else:  # Q4_K: scales and minima of six bits from 32 to 47 and 30 to 45, so that numbers lie around zero
        put_half(0, scale / (4.6 * 40))
        put_half(2, scale / 4.6 * 7.5 / 40)
        low = random.integers(32, 48, (*blocks.shape[:2], 16), dtype=numpy.uint8)
        scales, minima = low[..., :8], low[..., 8:]
        blocks[..., 4:8] = scales[..., :4] | (scales[..., 4:] >> 4) << 6
        blocks[..., 8:12] = minima[..., :4] | (minima[..., 4:] >> 4) << 6
        blocks[..., 12:16] = (scales[..., 4:] & 15) | (minima[..., 4:] & 15) << 4
    return blocks.reshape(shape[0], -1)


@functools.cache
def matrix(name, shape, quant):
    random = numpy.random.default_rng(list(name.encode()))
    if quant in (QUANTS.Q4_K, QUANTS.Q6_K):
        return random_blocks(random, shape, quant)
    # Tokens share a few rows, which takes less time.
    numbers = random.standard_normal((min(shape[0], 4096), shape[1]), dtype=numpy.float32) * SPREAD
    made = gguf.quants.quantize(numbers, quant)
    return made[numpy.arange(shape[0]) % len(made)]


def add_matrix(writer, layer, name, shape, quant):
    """Layers have the same numbers."""
    raw = {} if quant == QUANTS.F16 else {"raw_dtype": quant}
    writer.add_tensor(f"{layer}{name}.weight", matrix(name, shape, quant), **raw)


def byte_names():
    """The visible characters that stand for bytes in byte-level vocabularies."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [i for i in range(256) if i not in shown]
    return [chr(i) for i in shown] + [chr(256 + i) for i in range(len(others))]


def add_tokenizer(writer, words):
    names = byte_names()
    known = set(names)
    random = Random(20261130)
    merges = []
    pieces = [*string.ascii_lowercase, "Ġ"]
    while len(names) < words - 2:
        left, right = random.choice(pieces), random.choice(pieces[:2000])
        if "Ġ" in right or len(left + right) > 12 or left + right in known:
            continue
        names.append(left + right)
        known.add(left + right)
        merges.append(f"{left} {right}")
        pieces.append(left + right)
    names += ["<|endoftext|>", "<|im_end|>"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(names)
    writer.add_token_types([NORMAL] * (words - 2) + [CONTROL] * 2)
    writer.add_token_merges(merges)
    writer.add_eos_token_id(words - 2)
    writer.add_pad_token_id(words - 2)
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(True)


def write_keys(writer, layers):
    writer.add_name("Random 0.6B")
    writer.add_context_length(32768)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(WIDE)
    writer.add_block_count(layers)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_key_length(HEAD)
    writer.add_value_length(HEAD)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(1000000.0)
    writer.add_pooling_type(gguf.PoolingType.LAST)


def more_bits(i, layers):
    """The layers whose value and last matrices have more bits in llama.cpp's Q4_K_M."""
    return i < layers // 8 or i >= 7 * layers // 8 or (i - layers // 8) % 3 == 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--type", default="Q8_0", choices=["Q8_0", "Q4_0", "Q4_1", "Q4_K_M", "F16"])
    parser.add_argument("--layers", type=int, default=28)
    parser.add_argument("--words", type=int, default=151669)
    options = parser.parse_args()
    is_mixed = options.type == "Q4_K_M"
    quant = QUANTS.Q4_K if is_mixed else QUANTS[options.type]
    longer = QUANTS.Q6_K if is_mixed else quant
    writer = gguf.GGUFWriter(options.file, "qwen3", use_temp_file=True)
    write_keys(writer, options.layers)
    add_tokenizer(writer, options.words)
    add_matrix(writer, "", "token_embd", (options.words, HIDDEN), longer)
    writer.add_tensor("output_norm.weight", numpy.ones(HIDDEN, numpy.float32))
    for i in range(options.layers):
        here = longer if more_bits(i, options.layers) else quant
        for name, shape, type_here in (
            ("attn_q", (HEADS * HEAD, HIDDEN), quant), ("attn_k", (KEY_HEADS * HEAD, HIDDEN), quant),
            ("attn_v", (KEY_HEADS * HEAD, HIDDEN), here), ("attn_output", (HIDDEN, HEADS * HEAD), quant),
            ("ffn_gate", (WIDE, HIDDEN), quant), ("ffn_up", (WIDE, HIDDEN), quant), ("ffn_down", (HIDDEN, WIDE), here),
        ):  # fmt: skip
            add_matrix(writer, f"blk.{i}.", name, shape, type_here)
        for name, width in (("attn_norm", HIDDEN), ("ffn_norm", HIDDEN), ("attn_q_norm", HEAD), ("attn_k_norm", HEAD)):
            writer.add_tensor(f"blk.{i}.{name}.weight", numpy.ones(width, numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
