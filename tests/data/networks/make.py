#!/usr/bin/env python3
"""Makes the model folders beside this file: small networks with random weights, and what transformers computes of them,
and of some with other keys in config.json; and of each a still smaller one, as a seed for the fuzz target `native`.

Needs torch and transformers (5.x); the tests need neither. The tokenizer and the modules are those of ../tiny-bert.
Vectors are computed in float64, text by text, so that nothing depends on a batch. Usage: make.py [FOLDER]; elsewhere than here it makes no seeds
"""
import json
import math
import pathlib
import shutil
import sys
import tempfile
import types

import safetensors.torch
import torch
import transformers

HERE = pathlib.Path(__file__).resolve().parent
TINY = HERE.parent / "tiny-bert"
SEEDS = HERE.parents[2] / "fuzz" / "corpus" / "native"
SIZES = {"vocab_size": 45, "max_position_embeddings": 24}
BERT_SIZES = SIZES | {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
# Behind the padding's position as many as the others have.
COUNTED_SIZES = BERT_SIZES | {"max_position_embeddings": 26, "pad_token_id": 1}

# The width of a head is not that of the network divided by the heads.
T5_SIZES = {
    "vocab_size": 45, "d_model": 32, "d_kv": 12, "d_ff": 48, "num_layers": 2, "num_heads": 4,
}  # fmt: skip


class JinaBertConfig(transformers.BertConfig):
    """Of the published files; transformers has no network for it."""

    def to_dict(self):
        return super().to_dict() | {"position_embedding_type": "alibi", "feed_forward_type": "geglu"}


class JinaFeedForward(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gated_layers = torch.nn.Linear(config.hidden_size, 2 * config.intermediate_size, bias=False)
        self.wo = torch.nn.Linear(config.intermediate_size, config.hidden_size)
        self.layernorm = torch.nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, x):
        wide, gate = self.gated_layers(x).chunk(2, dim=-1)
        return self.layernorm(self.wo(torch.nn.functional.gelu(wide) * gate) + x)


class JinaBert(torch.nn.Module):
    """transformers' BERT with other feed-forward parts, no positions, and ALiBi, which its mask of four dimensions can
    carry. That of heads is as in the paper, and in the code beside the published files."""

    base_model_prefix = ""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.bert = transformers.BertModel(config, add_pooling_layer=False)
        for layer in self.bert.encoder.layer:
            layer.intermediate = torch.nn.Identity()
            layer.output = torch.nn.Identity()
            layer.mlp = JinaFeedForward(config)
            layer.feed_forward_chunk = layer.mlp.forward

    def forward(self, input_ids):
        heads = self.config.num_attention_heads
        power = 2 ** math.floor(math.log2(heads))
        slopes = [2 ** (-8 * (i + 1) / power) for i in range(power)]
        slopes += [2 ** (-8 * (i + 1) / (2 * power)) for i in range(0, 2 * power, 2)][: heads - power]
        place = torch.arange(input_ids.shape[1])
        far = (place[None, :] - place[:, None]).abs().double()
        with torch.no_grad():
            self.bert.embeddings.position_embeddings.weight.zero_()
        bias = -torch.tensor(slopes, dtype=torch.float64)[None, :, None, None] * far
        return self.bert(input_ids=input_ids, attention_mask=bias)

    def save_pretrained(self, folder):
        folder = pathlib.Path(folder)
        folder.mkdir(exist_ok=True)
        tensors = {name: tensor for name, tensor in self.bert.state_dict().items() if "position" not in name}
        safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        text = json.dumps(self.config.to_dict() | {"architectures": ["JinaBertForMaskedLM"]}, indent=2, sort_keys=True)
        (folder / "config.json").write_text(text + "\n", encoding="utf-8")


class PublishedConfig(types.SimpleNamespace):
    """The keys of a published file that transformers has no class for."""

    def to_dict(self):
        return dict(vars(self))

    @property
    def hidden_size(self):
        return self.n_embd


class NomicExperts(torch.nn.Module):
    """Each token uses those that its row of the router is largest for, times the softmax over all."""

    def __init__(self, config):
        super().__init__()
        count = config.num_experts * config.n_inner
        self.router = torch.nn.ModuleDict({"layer": torch.nn.Linear(config.n_embd, config.num_experts, bias=False)})
        weights = {name: torch.nn.Parameter(torch.zeros(count, config.n_embd)) for name in ("w1", "w2")}
        self.experts = torch.nn.ModuleDict({"mlp": torch.nn.ParameterDict(weights)})
        self.experts.bias = torch.nn.Parameter(torch.zeros(config.n_embd))
        self.config = config

    def forward(self, x):
        config = self.config
        shares, chosen = self.router["layer"](x).softmax(-1).topk(config.moe_top_k)
        wide, narrow = (self.experts["mlp"][name].view(config.num_experts, config.n_inner, -1) for name in ("w1", "w2"))
        every = torch.einsum("tef,efh->teh", torch.nn.functional.gelu(torch.einsum("th,efh->tef", x, wide)), narrow)
        used = every.gather(1, chosen[..., None].expand(-1, -1, x.shape[-1]))
        return (shares[..., None] * used).sum(1) + self.experts.bias


class NomicLayer(torch.nn.Module):
    def __init__(self, config, has_experts):
        super().__init__()
        width = config.n_embd
        self.heads = config.n_head
        joint = torch.nn.Linear(width, 3 * width, bias=config.qkv_proj_bias)
        out = torch.nn.Linear(width, width, bias=config.qkv_proj_bias)
        self.attn = torch.nn.ModuleDict({"Wqkv": joint, "out_proj": out})
        self.norm1, self.norm2 = (torch.nn.LayerNorm(width, eps=config.layer_norm_epsilon) for _ in range(2))
        self.has_experts = has_experts
        if has_experts:
            self.mlp = NomicExperts(config)
        else:
            fc1 = torch.nn.Linear(width, config.n_inner, bias=config.mlp_fc1_bias)
            self.mlp = torch.nn.ModuleDict(
                {"fc1": fc1, "fc2": torch.nn.Linear(config.n_inner, width, bias=config.mlp_fc2_bias)})  # fmt: skip

    def forward(self, x, cosines, sines):
        tokens, width = x.shape
        parts = self.attn["Wqkv"](x).view(tokens, 3, self.heads, -1).permute(1, 2, 0, 3)
        first, second = parts[:2].chunk(2, dim=-1)
        query, key = torch.cat([first * cosines - second * sines, second * cosines + first * sines], dim=-1)
        context = torch.nn.functional.scaled_dot_product_attention(query[None], key[None], parts[2][None])[0]
        x = self.norm1(x + self.attn["out_proj"](context.transpose(0, 1).reshape(tokens, width)))
        if self.has_experts:
            return self.norm2(x + self.mlp(x))
        return self.norm2(x + self.mlp["fc2"](torch.nn.functional.gelu(self.mlp["fc1"](x))))


class NomicMoe(torch.nn.Module):
    """As the code beside nomic-embed-text-v2-moe computes it; transformers has no network for it."""

    base_model_prefix = ""

    def __init__(self, config):
        super().__init__()
        self.config = config
        tables = {"word": config.vocab_size, "token_type": config.type_vocab_size}
        self.embeddings = torch.nn.ModuleDict(
            {f"{name}_embeddings": torch.nn.Embedding(rows, config.n_embd) for name, rows in tables.items()})  # fmt: skip
        self.emb_ln = torch.nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        every = config.moe_every_n_layers
        layers = [NomicLayer(config, i % every == 1) for i in range(config.n_layer)]
        self.encoder = torch.nn.ModuleDict({"layers": torch.nn.ModuleList(layers)})

    def forward(self, input_ids):
        half = self.config.n_embd // self.config.n_head // 2
        turns = 1 / self.config.rotary_emb_base ** (torch.arange(half, dtype=torch.float32) / half)
        angles = torch.outer(torch.arange(input_ids.shape[1], dtype=torch.float32), turns).double()
        types_of_all = self.embeddings["token_type_embeddings"].weight[0]
        x = self.emb_ln(self.embeddings["word_embeddings"](input_ids[0]) + types_of_all)
        for layer in self.encoder["layers"]:
            x = layer(x, angles.cos(), angles.sin())
        return types.SimpleNamespace(last_hidden_state=x[None])

    def save_pretrained(self, folder):
        folder = pathlib.Path(folder)
        folder.mkdir(exist_ok=True)
        safetensors.torch.save_file(self.state_dict(), folder / "model.safetensors", metadata={"format": "pt"})
        text = json.dumps(self.config.to_dict(), indent=2, sort_keys=True)
        (folder / "config.json").write_text(text + "\n", encoding="utf-8")


# The keys of nomic-embed-text-v2-moe that say what is computed.
NOMIC_MOE = {
    "activation_function": "gelu", "architectures": ["NomicBertModel"], "causal": False, "expert_choice_router": False,
    "ffn_div": 1, "layer_norm_epsilon": 1e-5, "mlp_fc1_bias": True, "mlp_fc2_bias": True, "model_type": "nomic_bert",
    "moe_every_n_layers": 2, "moe_normalize_expert_weights": False, "moe_top_k": 2, "n_embd": 32, "n_head": 4,
    "n_inner": 48, "n_layer": 2, "n_positions": 24, "num_experts": 4, "num_shared_experts": 0, "pad_token_id": 0,
    "parallel_block": False, "prenorm": False, "qkv_proj_bias": True, "rotary_emb_base": 300, "rotary_emb_fraction": 1.0,
    "rotary_emb_interleaved": False, "rotary_emb_scale_base": None, "rotary_scaling_factor": None,
    "scale_attn_by_inverse_layer_idx": False, "scale_attn_weights": True, "type_vocab_size": 1, "use_rms_norm": None,
    "vocab_size": 45,
}  # fmt: skip


# With a head on top the encoder's tensors have a prefix: one has it, one has not.
NETWORKS = {
    # Three layers of two groups: the second one has one of them.
    "albert": (
        transformers.AlbertModel,
        transformers.AlbertConfig(
            **(BERT_SIZES | {"num_hidden_layers": 3}), embedding_size=20, num_hidden_groups=2, inner_group_num=1,
            type_vocab_size=2),
    ),
    # All that the first version has: a joint matrix, both products with positions, absolute ones, types, and words of
    # another width. Texts are longer than the positions that are told apart.
    "deberta": (
        transformers.DebertaModel,
        transformers.DebertaConfig(
            **BERT_SIZES, type_vocab_size=2, relative_attention=True, max_relative_positions=14, embedding_size=20,
            pos_att_type=["c2p", "p2c"]),
    ),
    # As the third version: shared projections of a normalised table whose far rows are logarithmic; the head's prefix.
    "deberta-v2": (
        transformers.DebertaV2ForMaskedLM,
        transformers.DebertaV2Config(
            **BERT_SIZES, type_vocab_size=0, relative_attention=True, position_biased_input=False, position_buckets=8,
            share_att_key=True, norm_rel_ebd="layer_norm", pos_att_type=["p2c", "c2p"]),
    ),
    # As the largest of the second version: its own projections and a convolution.
    "deberta-v2-conv": (
        transformers.DebertaV2Model,
        transformers.DebertaV2Config(
            **BERT_SIZES, type_vocab_size=0, relative_attention=True, position_biased_input=False, position_buckets=6,
            max_relative_positions=16, norm_rel_ebd="layer_norm", conv_kernel_size=3, conv_act="gelu",
            attention_head_size=8, pos_att_type="c2p|p2c"),
    ),
    "distilbert": (
        transformers.DistilBertForMaskedLM,
        transformers.DistilBertConfig(
            **SIZES, dim=32, n_layers=2, n_heads=4, hidden_dim=48, sinusoidal_pos_embds=False, activation="gelu"),
    ),
    "electra": (
        transformers.ElectraModel,
        transformers.ElectraConfig(**BERT_SIZES, embedding_size=20, type_vocab_size=2, hidden_act="gelu"),
    ),
    "ernie": (
        transformers.ErnieModel,
        transformers.ErnieConfig(**BERT_SIZES, type_vocab_size=2, task_type_vocab_size=3, use_task_id=True),
    ),
    "eurobert": (
        transformers.EuroBertForMaskedLM,
        transformers.EuroBertConfig(
            **BERT_SIZES, num_key_value_heads=2, pad_token_id=0, bos_token_id=None, eos_token_id=None, mask_token_id=4,
            rope_parameters={"rope_type": "default", "rope_theta": 300.0}),
    ),
    "gemma": (
        transformers.GemmaForCausalLM,
        transformers.GemmaConfig(
            **BERT_SIZES, num_key_value_heads=1, head_dim=12, pad_token_id=0, bos_token_id=None, eos_token_id=None,
            rope_parameters={"rope_type": "default", "rope_theta": 300.0}),
    ),
    # The second layer of three sees all tokens before it, the others five; the cap is near the scores.
    "gemma2": (
        transformers.Gemma2Model,
        transformers.Gemma2Config(
            **(BERT_SIZES | {"num_hidden_layers": 3}), num_key_value_heads=2, head_dim=12, query_pre_attn_scalar=24,
            sliding_window=6, attn_logit_softcapping=2.0, pad_token_id=0, bos_token_id=None, eos_token_id=None,
            rope_parameters={"rope_type": "default", "rope_theta": 300.0}),
    ),
    # One layer of three sees all tokens, the others four on each side; the width of a head is given.
    "gemma3_text": (
        transformers.Gemma3TextModel,
        transformers.Gemma3TextConfig(
            **(BERT_SIZES | {"num_hidden_layers": 3}), num_key_value_heads=1, head_dim=12, query_pre_attn_scalar=24,
            sliding_window=8, layer_types=["sliding_attention", "sliding_attention", "full_attention"],
            use_bidirectional_attention=True, pad_token_id=0, bos_token_id=None, eos_token_id=None,
            rope_parameters={"full_attention": {"rope_type": "default", "rope_theta": 500.0},
                             "sliding_attention": {"rope_type": "default", "rope_theta": 40.0}}),
    ),
    "gte": (
        transformers.GteModel,
        transformers.GteConfig(
            **BERT_SIZES, type_vocab_size=1, rope_parameters={"rope_type": "default", "rope_theta": 300.0}),
    ),
    # Its heads are no power of two.
    "jina_bert": (
        JinaBert,
        JinaBertConfig(**(BERT_SIZES | {"hidden_size": 36, "num_attention_heads": 6}), type_vocab_size=2),
    ),
    "jina_embeddings_v3": (
        transformers.JinaEmbeddingsV3Model,
        transformers.JinaEmbeddingsV3Config(
            **BERT_SIZES, type_vocab_size=1, rope_parameters={"rope_type": "default", "rope_theta": 300.0}),
    ),
    # Two of three layers have a convolution; feed-forward parts are 40 wide.
    "lfm2": (
        transformers.Lfm2Model,
        transformers.Lfm2Config(
            **(BERT_SIZES | {"num_hidden_layers": 3}), num_key_value_heads=2, conv_bias=True, conv_L_cache=3,
            block_multiple_of=8, block_ffn_dim_multiplier=1.25, layer_types=["conv", "full_attention", "conv"],
            pad_token_id=0, bos_token_id=None, eos_token_id=None,
            rope_parameters={"rope_type": "default", "rope_theta": 300.0}),
    ),
    # All biases that its configuration knows.
    "llama": (
        transformers.LlamaForCausalLM,
        transformers.LlamaConfig(
            **BERT_SIZES, num_key_value_heads=2, attention_bias=True, mlp_bias=True,
            bos_token_id=None, eos_token_id=None, rope_parameters={"rope_type": "default", "rope_theta": 300.0}),
    ),
    # One layer sees two tokens on each side, the other one four.
    "longformer": (
        transformers.LongformerModel,
        transformers.LongformerConfig(**COUNTED_SIZES, attention_window=[4, 8], type_vocab_size=1),
    ),
    # Each token sees itself and the five before it.
    "mistral": (
        transformers.MistralModel,
        transformers.MistralConfig(
            **BERT_SIZES, num_key_value_heads=2, head_dim=12, sliding_window=6, bos_token_id=None, eos_token_id=None,
            rope_parameters={"rope_type": "default", "rope_theta": 300.0}),
    ),
    # One layer of three sees all tokens, the others four on each side.
    "modernbert": (
        transformers.ModernBertModel,
        transformers.ModernBertConfig(
            **(BERT_SIZES | {"num_hidden_layers": 3}), local_attention=8, global_attn_every_n_layers=3, pad_token_id=0,
            bos_token_id=None, eos_token_id=None, cls_token_id=None, sep_token_id=None,
            rope_parameters={"full_attention": {"rope_type": "default", "rope_theta": 500.0},
                             "sliding_attention": {"rope_type": "default", "rope_theta": 40.0}}),
    ),
    # One layer of three sees all tokens before it, the others three.
    "modernbert-decoder": (
        transformers.ModernBertDecoderModel,
        transformers.ModernBertDecoderConfig(
            **(BERT_SIZES | {"num_hidden_layers": 3}), local_attention=8, attention_bias=True, pad_token_id=0,
            bos_token_id=2, eos_token_id=3, cls_token_id=2, sep_token_id=3,
            rope_parameters={"full_attention": {"rope_type": "default", "rope_theta": 500.0},
                             "sliding_attention": {"rope_type": "default", "rope_theta": 40.0}}),
    ),
    "mpnet": (transformers.MPNetModel, transformers.MPNetConfig(**COUNTED_SIZES)),
    "mt5": (
        transformers.MT5EncoderModel,
        transformers.MT5Config(**T5_SIZES, relative_attention_num_buckets=8, relative_attention_max_distance=12),
    ),
    "nomic_bert": (
        transformers.NomicBertModel,
        transformers.NomicBertConfig(**BERT_SIZES, head_dim=8, type_vocab_size=2),
    ),
    # The second layer has experts.
    "nomic_moe": (NomicMoe, PublishedConfig(**NOMIC_MOE)),
    # The second layer has a window.
    "qwen2": (
        transformers.Qwen2ForCausalLM,
        transformers.Qwen2Config(
            **BERT_SIZES, num_key_value_heads=2, use_sliding_window=True, sliding_window=6, max_window_layers=1,
            rope_parameters={"rope_type": "default", "rope_theta": 300.0}),
    ),
    "qwen3": (
        transformers.Qwen3ForCausalLM,
        transformers.Qwen3Config(
            **BERT_SIZES, num_key_value_heads=2, head_dim=12,
            rope_parameters={"rope_type": "default", "rope_theta": 300.0}),
    ),
    "roberta": (
        transformers.RobertaForMaskedLM,
        transformers.RobertaConfig(**COUNTED_SIZES, type_vocab_size=1, layer_norm_eps=1e-5),
    ),
    "t5": (transformers.T5EncoderModel, transformers.T5Config(**T5_SIZES)),
    "xlm-roberta-xl": (
        transformers.XLMRobertaXLForMaskedLM,
        transformers.XLMRobertaXLConfig(**COUNTED_SIZES, type_vocab_size=1),
    ),
}  # fmt: skip

# The same weights with other positions, or with tokens that see those behind them, by what config.json has instead.
SCALED = {
    "gte-linear": {"rope_parameters": {"rope_type": "linear", "rope_theta": 300.0, "factor": 2.5}},
    "gte-ntk": {"rope_parameters": None, "rope_theta": 300.0, "rope_scaling": {"type": "ntk", "factor": 2.0}},
    "llama-bidirectional": {"is_causal": False},
    "mistral-global": {"sliding_window": None},
    "modernbert-linear": {
        "rope_parameters": {
            "full_attention": {"rope_type": "linear", "rope_theta": 500.0, "factor": 4.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 40.0},
        }
    },
    "qwen3-bidirectional": {"is_causal": False},
    "qwen3-llama3": {
        "rope_parameters": {
            "rope_type": "llama3", "rope_theta": 300.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 40,
        }
    },
    "qwen3-yarn": {
        "rope_parameters": {
            "rope_type": "yarn", "rope_theta": 300.0, "factor": 4.0, "original_max_position_embeddings": 6,
            "beta_fast": 2.0, "beta_slow": 0.25,
        }
    },
    # Two of the keys that few files have.
    "qwen3-yarn-scales": {
        "rope_parameters": {
            "rope_type": "yarn", "rope_theta": 300.0, "factor": 3.0, "original_max_position_embeddings": 400,
            "mscale": 2.0, "mscale_all_dim": 0.5,
        }
    },
}  # fmt: skip


# What the seeds of fuzz/native_fuzz.cpp have instead: a few numbers of each.
SEED_SIZES = {
    "vocab_size": 4, "max_position_embeddings": 6, "hidden_size": 4, "dim": 4, "num_hidden_layers": 2, "n_layers": 1,
    "num_attention_heads": 2, "num_key_value_heads": 1, "n_heads": 2, "head_dim": 2, "intermediate_size": 4, "hidden_dim": 4, "embedding_size": 2,
    "layer_types": ["full_attention", "sliding_attention"], "local_attention": 2,
    "sliding_window": 2, "query_pre_attn_scalar": 2, "d_model": 4, "d_kv": 2, "d_ff": 4, "num_layers": 2, "num_heads": 2,
    "max_relative_positions": 4, "position_buckets": 4, "attention_head_size": 2, "pooler_hidden_size": 4,
    "relative_attention_num_buckets": 4, "relative_attention_max_distance": 4, "max_window_layers": 1, "mask_token_id": 1,
    "n_embd": 4, "n_layer": 2, "n_head": 2, "n_inner": 4, "n_positions": 6, "num_experts": 2, "moe_top_k": 1,
    "block_multiple_of": 2,
}  # fmt: skip

# Networks that stand for another class of tokenizer than tiny-bert's, which would make other tokens of its file.
CLASSES_OF_THEIR_OWN = [
    "albert", "deberta", "deberta-v2", "deberta-v2-conv", "eurobert", "gemma", "gemma2", "gemma3_text", "gte", "jina_embeddings_v3", "llama", "longformer", "mistral", "mpnet", "mt5", "qwen2", "qwen3", "roberta", "t5",
    "xlm-roberta-xl",
]  # fmt: skip


def write_seed(file, kind, config):
    """The length of config.json, that, and model.safetensors."""
    small = {key: SEED_SIZES.get(key, value) for key, value in config.to_dict().items()}
    if "conv" in config.to_dict().get("layer_types", ()):
        small["layer_types"] = ["conv", "full_attention"]
    model = kind(type(config)(**small))
    randomize(model)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        text = json.dumps(json.loads((pathlib.Path(folder) / "config.json").read_text(encoding="utf-8"))).encode()
        weights = (pathlib.Path(folder) / "model.safetensors").read_bytes()
    file.write_bytes(len(text).to_bytes(2, "little") + text + weights)


def randomize(model):
    """Every parameter, since norms and biases would be ones and zeros else."""
    torch.manual_seed(20261126)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            centre = 1.0 if "norm" in name.lower() and name.endswith("weight") else 0.0
            parameter.copy_(centre + 0.25 * torch.randn_like(parameter))


def vectors_of(model, texts):
    encoder = getattr(model, model.base_model_prefix, model).double().eval()
    found = {"cls": [], "mean": []}
    with torch.no_grad():
        for ids in texts:
            states = encoder(input_ids=torch.tensor([ids])).last_hidden_state[0]
            found["cls"].append(states[0])
            found["mean"].append(states.mean(0))
    return {mode: [[float(f"{x:.8g}") for x in vector] for vector in vectors] for mode, vectors in found.items()}


# Networks whose own pooler is compared, too.
POOLED = ["albert", "ernie", "mpnet"]


def pooled_vectors(name, texts):
    kind, config = NETWORKS[name]
    model = kind(config)
    randomize(model)
    model = model.double().eval()
    with torch.no_grad():
        vectors = [model(input_ids=torch.tensor([ids])).pooler_output[0] for ids in texts]
    return [[float(f"{x:.8g}") for x in vector] for vector in vectors]


def scaled_vectors(name, texts):
    kind, config = NETWORKS[name.split("-")[0]]
    changes = SCALED[name]
    is_ntk = name == "gte-ntk"  # which transformers does not have
    given = {} if is_ntk else changes
    model = kind(type(config)(**(config.to_dict() | given)))
    randomize(model)
    if is_ntk:
        # As text-embeddings-inference computes them.
        factor = changes["rope_scaling"]["factor"]
        width = config.hidden_size // config.num_attention_heads
        base = changes["rope_theta"] * factor
        turns = [base ** (-i / width) / factor ** (2 / width) for i in range(0, width, 2)]
        model.rotary_emb.inv_freq = torch.tensor(turns, dtype=torch.float32)
    return vectors_of(model, texts)


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    tiny = json.loads((TINY / "expected.json").read_text(encoding="utf-8"))
    vocabulary = len(json.loads((TINY / "f32/tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"])
    assert vocabulary == SIZES["vocab_size"], vocabulary
    # The longest that it takes, and one token.
    texts = [*tiny["ids"], [2], [(7 * i) % vocabulary for i in range(24)]]
    expected = {"transformers": transformers.__version__, "ids": texts, "vectors": {}}
    for name, (kind, config) in NETWORKS.items():
        if root == HERE:
            write_seed(SEEDS / name, kind, config)
        model = kind(config)
        randomize(model)
        folder = root / name
        model.save_pretrained(folder)
        (folder / "generation_config.json").unlink(missing_ok=True)
        for part in ("modules.json", "sentence_bert_config.json", "tokenizer.json"):
            shutil.copy(TINY / "f32" / part, folder / part)
        if name in CLASSES_OF_THEIR_OWN:
            named = {"tokenizer_class": "PreTrainedTokenizerFast"}
            (folder / "tokenizer_config.json").write_text(json.dumps(named, indent=1) + "\n", encoding="utf-8")
        (folder / "1_Pooling").mkdir(exist_ok=True)
        pooling = (TINY / "f32/1_Pooling/config.json").read_text(encoding="utf-8")
        (folder / "1_Pooling/config.json").write_text(
            pooling.replace(": 32,", f": {model.config.hidden_size},"), encoding="utf-8")
        expected["vectors"][name] = vectors_of(model, texts)
    expected["scaled"] = {
        name: {"changes": changes, "vectors": scaled_vectors(name, texts)} for name, changes in SCALED.items()
    }
    expected["pooled"] = {name: pooled_vectors(name, texts) for name in POOLED}
    text = json.dumps(expected, separators=(",", ":"))
    (root / "expected.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
