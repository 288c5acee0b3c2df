#!/usr/bin/env python3
"""Makes the models with tasks beside this file: networks with random weights and low-rank parts for several tasks, and what
transformers computes of them.

jina_v3 has the files of the published jina-embeddings-v3: transformers' JinaEmbeddingsV3Model has its tensors under the
same names, except those of the tasks; the change of a task is added to the matrices here. tasks and tasks_qwen3 have one
adapter of PEFT for each task. "jina_v5" has the last tokens' vectors, as the published jina-embeddings-v5 pools them.
Needs torch, transformers and peft. Vectors are computed in float64. Usage: make_tasks.py
"""
import json
import pathlib
import shutil

import peft
import safetensors.torch
import torch
import transformers

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent
SIZES = {
    "vocab_size": 45, "max_position_embeddings": 24, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 48, "type_vocab_size": 1, "pad_token_id": 1, "layer_norm_eps": 1e-5,
}  # fmt: skip
TASKS = ["retrieval.query", "retrieval.passage", "text-matching"]
RANK = 4
ALPHA = 3
ADAPTERS = {"retrieval": {"r": 4, "lora_alpha": 6}, "clustering": {"r": 2, "lora_alpha": 3, "use_rslora": True}}
# The folders of adapters, and the networks that they change.
TASK_FOLDERS = {"tasks": "eurobert", "tasks_qwen3": "qwen3"}


def randomize(model):
    torch.manual_seed(20261130)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            centre = 1.0 if "norm" in name.lower() and name.endswith("weight") else 0.0
            parameter.copy_(centre + 0.25 * torch.randn_like(parameter))


def mean(states):
    return states.mean(0)


def last_unit(states):
    return states[-1] / states[-1].norm()


def vectors_of(model, texts, pool=mean):
    model = model.double().eval()
    with torch.no_grad():
        found = [pool(model(input_ids=torch.tensor([ids])).last_hidden_state[0]) for ids in texts]
    return [[float(f"{x:.8g}") for x in vector] for vector in found]


def copy_modules(folder):
    for part in ("modules.json", "sentence_bert_config.json", "tokenizer.json"):
        shutil.copy(DATA / "tiny-bert/f32" / part, folder / part)
    (folder / "1_Pooling").mkdir(exist_ok=True)
    shutil.copy(DATA / "tiny-bert/f32/1_Pooling/config.json", folder / "1_Pooling/config.json")


def write_json(file, content):
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def make_jina(texts):
    folder = HERE / "jina_v3"
    shutil.rmtree(folder, ignore_errors=True)
    config = transformers.JinaEmbeddingsV3Config(**SIZES, rope_parameters={"rope_type": "default", "rope_theta": 300.0})
    model = transformers.JinaEmbeddingsV3Model(config, add_pooling_layer=False)
    randomize(model)
    model.save_pretrained(folder)
    saved = safetensors.torch.load_file(folder / "model.safetensors")
    tensors = {}
    changes = {}
    for name, tensor in sorted(saved.items()):
        name = "roberta." + name.removeprefix("roberta.")
        is_table = "embeddings." in name and tensor.dim() == 2
        if tensor.dim() != 2:
            tensors[name] = tensor
            continue
        module = name.removesuffix(".weight")
        rows, columns = tensor.shape
        a = (rows, RANK) if is_table else (RANK, columns)
        b = (RANK, columns) if is_table else (rows, RANK)
        low_a = 0.25 * torch.randn(len(TASKS), *a)
        low_b = 0.25 * torch.randn(len(TASKS), *b)
        tensors[module + ".parametrizations.weight.original"] = tensor
        tensors[module + ".parametrizations.weight.0.lora_A"] = low_a
        tensors[module + ".parametrizations.weight.0.lora_B"] = low_b
        product = low_a @ low_b if is_table else low_b @ low_a
        changes[name] = product * (ALPHA / RANK)
    expected = {"": vectors_of(model, texts)}
    scratch = HERE / "scratch"
    for i, task in enumerate(TASKS):
        scratch.mkdir(exist_ok=True)
        changed = {name: (saved[key] + changes[name][i] if name in changes else saved[key])
                   for key in saved for name in ["roberta." + key.removeprefix("roberta.")]}  # fmt: skip
        changed = {key: changed["roberta." + key.removeprefix("roberta.")].contiguous() for key in saved}
        safetensors.torch.save_file(changed, scratch / "model.safetensors", metadata={"format": "pt"})
        shutil.copy(folder / "config.json", scratch / "config.json")
        expected[task] = vectors_of(transformers.JinaEmbeddingsV3Model.from_pretrained(scratch, add_pooling_layer=False), texts)
        shutil.rmtree(scratch)
    tensors = {name: tensor.contiguous() for name, tensor in tensors.items()}
    safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    copy_modules(folder)
    # As published.
    write_json(folder / "config.json", SIZES | {
        "architectures": ["XLMRobertaLoRA"], "model_type": "xlm-roberta", "position_embedding_type": "rotary",
        "rotary_emb_base": 300.0, "hidden_act": "gelu", "lora_adaptations": TASKS, "lora_rank": RANK, "lora_alpha": ALPHA,
        "lora_dropout_p": 0.0, "lora_main_params_trainable": False, "load_trained_adapters": True, "emb_pooler": None,
        "task_instructions": {"retrieval.query": "query ", "retrieval.passage": "", "text-matching": ""},
    })  # fmt: skip
    modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    modules[0] |= {"type": "custom_st.Transformer", "kwargs": ["task"]}
    write_json(folder / "modules.json", modules)
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast"})
    return expected


def make_adapters(texts, name):
    """Returns the vectors of each task: means, and last tokens'."""
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    base = DATA / "networks" / TASK_FOLDERS[name]
    means, lasts = {}, {}
    for task, options in ADAPTERS.items():
        model = transformers.AutoModel.from_pretrained(base)
        adapted = peft.get_peft_model(model, peft.LoraConfig(**options, target_modules=["q_proj", "v_proj", "up_proj", "down_proj"]))
        torch.manual_seed(20261130 + len(task))
        with torch.no_grad():
            for name, parameter in sorted(adapted.named_parameters()):
                if "lora_" in name:
                    parameter.add_(0.2 * torch.randn_like(parameter))
        place = folder / "adapters" / task
        adapted.save_pretrained(place)
        (place / "README.md").unlink(missing_ok=True)
        config = json.loads((place / "adapter_config.json").read_text(encoding="utf-8"))
        config["base_model_name_or_path"] = "nobody/tasks"
        config["target_modules"].sort()
        write_json(place / "adapter_config.json", dict(sorted(config.items())))
        means[task] = vectors_of(adapted, texts)
        lasts[task] = vectors_of(adapted, texts, last_unit)
    return means, lasts


def main():
    texts = json.loads((DATA / "networks/expected.json").read_text(encoding="utf-8"))["ids"]
    expected = {"jina_v3": make_jina(texts), "jina_v5": {}}
    expected["tasks"], expected["jina_v5"]["eurobert"] = make_adapters(texts, "tasks")
    _, expected["jina_v5"]["qwen3"] = make_adapters(texts, "tasks_qwen3")
    text = json.dumps({"transformers": transformers.__version__, "vectors": expected}, separators=(",", ":"))
    (HERE / "expected_tasks.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
