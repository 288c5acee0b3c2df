#!/usr/bin/env python3
"""Changes each key of each file of model folders in turn, and compares what Latebind makes of it with the reference.

Folders: the networks beside this file, with the tokenizer and the modules of ../tiny-bert, and ../modules/behind and static.
A key, up to four levels deep, is taken away, and gets up to six other values; keys that transformers reads and few files
have are added to config.json. Printed are the numbers of outcomes, and every
change after which both give vectors, and others. Needs sentence-transformers 6.x; the tests do not. Takes three minutes. Usage:

  sweep_keys.py build/release/bin/latebind [FOLDER,...]
"""

import collections
import json
import logging
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "critical"
HERE = pathlib.Path(__file__).resolve().parent
TINY = HERE.parent / "tiny-bert" / "f32"
MODULES = HERE.parent / "modules"
# transformers has no JinaBERT.
NETWORKS = [
    "albert", "distilbert", "electra", "gemma2", "gemma3_text", "gte", "lfm2", "longformer", "modernbert", "modernbert-decoder", "mpnet",
    "nomic_bert", "qwen3", "roberta",
]  # fmt: skip
TEXTS = ["a b c d e f g h", "abc Éa", "hello a . " + "b c d e f a " * 4, "x"]
DEPTH = 4
MARKERS = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]"}
# Of a network whose class transformers would make a tokenizer of its own for.
FROM_THE_FILE = MARKERS | {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 20}
FLAGS = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True}
OF_BERT = MARKERS | {
    "added_tokens_decoder": {
        str(number): FLAGS | {"content": token}
        for number, token in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    },
    "clean_up_tokenization_spaces": True,
    "do_basic_tokenize": True,
    "do_lower_case": True,
    "max_length": 20,
    "model_max_length": 20,
    "never_split": None,
    "pad_to_multiple_of": None,
    "padding_side": "right",
    "stride": 0,
    "strip_accents": None,
    "tokenize_chinese_chars": True,
    "tokenizer_class": "BertTokenizer",
    "truncation_side": "right",
    "truncation_strategy": "longest_first",
}
OF_SENTENCES = {
    "__version__": {"sentence_transformers": "6.2.0"},
    "default_prompt_name": None,
    "model_type": "SentenceTransformer",
    "prompts": {"document": "", "query": "a b "},
    "similarity_fn_name": "cosine",
}


# Of every network; `per_layer_config` names a width that each has under this name or another.
ADDED = {
    "is_causal": [False, True, None],
    "per_layer_config": [None, {}, {"0": {"intermediate_size": 24}}],
    "sliding_window": [2, 4, None],
    "use_bidirectional_attention": [False, True],
}


def make_folders(at):
    for name in NETWORKS:
        shutil.copytree(TINY, at / name)
        shutil.copytree(HERE / name, at / name, dirs_exist_ok=True)
        (at / name / "sentence_bert_config.json").unlink()
        (at / name / "tokenizer_config.json").write_text(json.dumps(FROM_THE_FILE))
    shutil.copytree(TINY, at / "bert")
    (at / "bert" / "tokenizer_config.json").write_text(json.dumps(OF_BERT))
    (at / "bert" / "config_sentence_transformers.json").write_text(json.dumps(OF_SENTENCES))
    shutil.copytree(TINY, at / "behind")
    (at / "behind" / "sentence_bert_config.json").unlink()
    shutil.copytree(MODULES / "behind", at / "behind", dirs_exist_ok=True)
    shutil.copytree(MODULES / "static", at / "static")


def files_of(folder):
    """Those whose keys are changed: of a network alone its own, since the rest is as bert's."""
    if folder.name in NETWORKS:
        return [folder / "config.json"]
    left_out = ("config.json", "tokenizer.json") if folder.name in ("behind", "static") else ()
    return [file for file in sorted(folder.rglob("*.json")) if file.relative_to(folder).as_posix() not in left_out]


def others(value):
    if value is None:
        return [True, 1, "x", {"a": 1}]
    if isinstance(value, bool):
        return [not value, None]
    if isinstance(value, int):
        return [0, value + 1, value * 2 + 1, -1, value + 0.5, None]
    if isinstance(value, float):
        return [value * 2 + 0.25, 0, 1, None]
    if isinstance(value, str):
        return ["sigmoid", "", value + "x", value.upper() if value.upper() != value else value.lower(), None]
    if isinstance(value, list):
        return [[], [*value, "x"], value[::-1], value[:-1], None]
    return [{}, None]


def places(value, above=()):
    """The keys of a document, as paths of at most DEPTH steps; long tables are passed over."""
    if len(above) == DEPTH or len(value) > 40:
        return
    for key in value if isinstance(value, dict) else range(len(value)):
        if isinstance(value, dict):
            yield (*above, key)
        if isinstance(value[key], (dict, list)):
            yield from places(value[key], (*above, key))


def changes(text):
    for place in places(json.loads(text)):
        document = json.loads(text)
        inside = document
        for step in place[:-1]:
            inside = inside[step]
        before = inside.pop(place[-1])
        yield place, "left out", json.dumps(document)
        for other in dict.fromkeys(map(json.dumps, others(before))):
            if other != json.dumps(before):
                inside[place[-1]] = json.loads(other)
                yield place, other, json.dumps(document)


def additions(folder, text):
    """Those of ADDED that are not there, and transformers' other names of keys that are."""
    from transformers import AutoConfig

    document = json.loads(text)
    config = AutoConfig.from_pretrained(folder)
    names = {name: others(getattr(config, real)) for name, real in type(config).attribute_map.items()}
    for key, values in (ADDED | names).items():
        for value in values if key not in document else ():
            yield (key,), "added " + json.dumps(value), json.dumps(document | {key: value})


def ours(program, folder, texts):
    """Vectors, or the refusal."""
    run = [program, "embed", "--model", folder, "--device", "native:CPU", "--output-format", "jsonl", texts]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode == 0:
        return [json.loads(line)["embedding"] for line in done.stdout.splitlines()]
    if done.returncode not in (1, 2):
        raise SystemExit(f"{folder}: ended with {done.returncode}: {done.stderr}")
    return done.stderr.strip()


def theirs(folder):
    from sentence_transformers import SentenceTransformer

    try:
        model = SentenceTransformer(str(folder), device="cpu")
        return [model.encode([text], batch_size=1)[0].tolist() for text in TEXTS]
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def distance(some, more):
    if [len(row) for row in some] != [len(row) for row in more]:
        return float("inf")
    return max(abs(a - b) for left, right in zip(some, more, strict=True) for a, b in zip(left, right, strict=True))


def main():
    import transformers

    transformers.utils.logging.disable_progress_bar()
    logging.disable(logging.CRITICAL)
    program, *chosen = sys.argv[1:]
    chosen = chosen[0].split(",") if chosen else ["bert", "behind", "static", *NETWORKS]
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        at = pathlib.Path(scratch)
        make_folders(at)
        (at / "texts.txt").write_text("\n".join(TEXTS) + "\n")
        for name in chosen:
            folder = at / name
            unchanged = ours(program, folder, at / "texts.txt")
            if isinstance(unchanged, str) or distance(unchanged, theirs(folder)) > 1e-5:
                raise SystemExit(f"{name}, as it is: {unchanged}, {theirs(folder)}")
            for file in files_of(folder):
                text = file.read_text()
                added = additions(folder, text) if folder.name in NETWORKS else ()
                for place, what, changed in [*changes(text), *added]:
                    file.write_text(changed)
                    found = ours(program, folder, at / "texts.txt")
                    if isinstance(found, str):
                        counts["refused"] += 1
                        continue
                    kind = "as before" if distance(found, unchanged) < 1e-6 else "other vectors"
                    wanted = theirs(folder)
                    if isinstance(wanted, str):
                        counts[f"{kind}, refused by the reference"] += 1
                    elif distance(found, wanted) < 1e-5:
                        counts[f"{kind}, as the reference"] += 1
                    else:
                        counts[f"{kind}, the reference's are others"] += 1
                        print(name, file.relative_to(folder), "/".join(map(str, place)), what, kind, flush=True)
                file.write_text(text)
    for kind, count in counts.most_common():
        print(count, kind)


if __name__ == "__main__":
    main()
