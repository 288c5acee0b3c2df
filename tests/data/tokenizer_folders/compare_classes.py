#!/usr/bin/env python3
"""Compares the ids of folders that have a tokenizer.json and name a class for it with those of transformers' AutoTokenizer.

Tokenizers of every kind that models have are trained on the spot (tests/embedding/tokenizer/length_oracle.py), and each is put into
folders of a network that goes with it, under the classes that published files name. Printed is a line for each folder: as many lines
the same, how many differ and the first of them, or who refuses it. Ends with 1 when any differ. Needs transformers (5.x); the tests do
not. Usage:

  compare_classes.py build/release/bin/latebind [REGEX | FOLDER=MODEL_TYPE…]

REGEX chooses by the name of the tokenizer. A FOLDER with a tokenizer.json and its companions is compared as it is.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "critical"
ROOT = pathlib.Path(__file__).resolve().parents[3]
NETWORKS = ROOT / "tests/data/networks"
TINY = ROOT / "tests/data/tiny-bert/f32"
sys.path.insert(0, str(ROOT / "tests/embedding/tokenizer"))

import byte_level_oracle  # noqa: E402
import compare_with_oracle as oracle  # noqa: E402
import length_oracle  # noqa: E402
import unigram_oracle  # noqa: E402

# Networks whose folder of random weights is another's.
AS = {"xlm-roberta": "roberta", "camembert": "roberta", "new": "gte"}
CLASSES = {
    "as BERT, uncased": ["bert BertTokenizer", "distilbert DistilBertTokenizer", "mpnet BertTokenizer", "electra ElectraTokenizer"],
    "as BERT, cased": ["bert BertTokenizer"],
    "whole words": ["bert BertTokenizer"],
    "as RoBERTa": ["roberta RobertaTokenizer", "roberta GPT2Tokenizer", "roberta BartTokenizer", "deberta DebertaTokenizer"],
    "as GPT-2": ["roberta GPT2Tokenizer"],
    "as Qwen": ["qwen3 Qwen2Tokenizer", "qwen2 Qwen2Tokenizer", "qwen2 LlamaTokenizer"],
    "as Llama 3": ["qwen3 LlamaTokenizer", "qwen3 Qwen2Tokenizer", "llama LlamaTokenizer", "eurobert LlamaTokenizer"],
    "as GPT-4o": ["qwen3 Qwen2Tokenizer", "qwen3 GPT2Tokenizer"],
    "as DeepSeek": ["qwen3 LlamaTokenizer"],
    "as ModernBERT": ["modernbert GPTNeoXTokenizer"],
    "as CLIP": ["bert CLIPTokenizer"],
    "as Gemma": ["gemma3_text GemmaTokenizer", "gemma GemmaTokenizer"],
    "as Llama 2": ["qwen3 LlamaTokenizer", "llama LlamaTokenizer"],
    "as Mistral": ["qwen3 LlamaTokenizer", "mistral LlamaTokenizer", "llama LlamaTokenizer"],
    "as XLM-RoBERTa": ["xlm-roberta XLMRobertaTokenizer", "camembert CamembertTokenizer", "new XLMRobertaTokenizer"],
    "as XLM-RoBERTa, as early versions wrote it": [
        "xlm-roberta XLMRobertaTokenizer",
        "bert XLMRobertaTokenizer",
        "camembert CamembertTokenizer",
    ],
    "as ALBERT": ["albert AlbertTokenizer"],
    "as T5": ["bert T5Tokenizer", "t5 T5Tokenizer", "mt5 T5Tokenizer"],
    "as DeBERTa": ["bert DebertaV2Tokenizer", "deberta-v2 DebertaV2Tokenizer"],
    "Unigram with bytes": ["xlm-roberta XLMRobertaTokenizer"],
}
ROLES = {
    "bos_token": ["<s>", "<bos>"],
    "eos_token": ["</s>", "<eos>", "<|endoftext|>"],
    "unk_token": ["[UNK]", "<unk>", "<|endoftext|>"],
    "sep_token": ["[SEP]", "</s>"],
    "cls_token": ["[CLS]", "<s>"],
    "pad_token": ["[PAD]", "<pad>", "<|endoftext|>"],
    "mask_token": ["[MASK]", "<mask>"],
}


def lines():
    pieced = unigram_oracle.pieced_lines(600) + byte_level_oracle.pieced_lines(300)
    return [line for line in oracle.SENTENCES + pieced + oracle.random_lines(300) if len(line) < 400]


def roles_of(tokenizer):
    added = {token["content"] for token in json.loads(tokenizer)["added_tokens"]}
    found = {role: next((name for name in names if name in added), None) for role, names in ROLES.items()}
    return {role: name for role, name in found.items() if name}


def make_folder(at, model_type):
    """A network of this type that may have any number of tokens."""
    shutil.copytree(TINY, at)
    if model_type != "bert":
        shutil.copytree(NETWORKS / AS.get(model_type, model_type), at, dirs_exist_ok=True)
    (at / "sentence_bert_config.json").unlink()
    config = json.loads((at / "config.json").read_text()) | {"model_type": model_type, "max_position_embeddings": 8192}
    (at / "config.json").write_text(json.dumps(config))


def ours(program, folder, texts):
    (folder / "texts.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    run = [program, "tokens", "--model", folder, "--input-format", "jsonl", "--max-tokens", "4096", folder / "texts.jsonl"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip().replace(str(folder), "")
    return [[int(number) for number in line.split()] for line in done.stdout.split("\n")[:-1]]


def theirs(folder, texts):
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(str(folder))(texts)["input_ids"]
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def compare(program, name, model_type, files, texts):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "model"
        make_folder(folder, model_type)
        for file, text in files.items():
            (folder / file).write_text(text)
        found, wanted = ours(program, folder, texts), theirs(folder, texts)
    wrong = []
    if isinstance(found, str):
        what = f"refused: {found:.200}"
    elif isinstance(wanted, str):
        what = f"refused by the reference alone: {wanted:.200}"
    else:
        wrong = [i for i in range(len(texts)) if found[i] != wanted[i]]
        first = f", first {texts[wrong[0]]!a:.100}\n  {found[wrong[0]]}\n  {wanted[wrong[0]]}" if wrong else ""
        what = f"{len(texts)} lines, {len(wrong)} differ{first}"
    print(f"{name}, {model_type}: {what}", flush=True)
    return len(wrong)


def main():
    program, *chosen = sys.argv[1:]
    texts = lines()
    wrong = 0
    given = [one.split("=") for one in chosen if "=" in one]
    for folder, model_type in given:
        files = {file.name: file.read_text() for file in pathlib.Path(folder).glob("*.json")}
        wrong += compare(program, folder, model_type, files, texts)
    expression = next((one for one in chosen if "=" not in one), "^$" if given else "")
    for name, classes in CLASSES.items():
        if not re.search(expression, name):
            continue
        tokenizer = length_oracle.TRAINED[name]().to_str()
        for model_type, tokenizer_class in map(str.split, classes):
            roles = roles_of(tokenizer)
            named = {"tokenizer_class": tokenizer_class}
            if tokenizer_class == "T5Tokenizer":
                named["extra_ids"] = sum("extra_id" in token["content"] for token in json.loads(tokenizer)["added_tokens"])
            for config in (
                named,
                named | roles,
                named | roles | {"legacy": True},
                named | roles | {"do_lower_case": True, "split_by_punct": True},
                {"tokenizer_class": "PreTrainedTokenizerFast", **roles},
            ):
                what = f"{name}, {config['tokenizer_class']}{' and roles' if len(config) > 1 else ''}"
                files = {"tokenizer.json": tokenizer, "tokenizer_config.json": json.dumps(config)}
                wrong += compare(program, what, model_type, files, texts)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
