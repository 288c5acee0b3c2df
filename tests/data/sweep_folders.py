#!/usr/bin/env python3
"""Changes what a model folder says of itself, and compares what Latebind makes of it with sentence-transformers.

Folders: every model below this folder, those of networks/ with the tokenizer and the modules of tiny-bert. Changes: no modules.json;
a stray 1_Pooling, with and without it; an `auto_map` that names other code for a network that is known; the old names of norms
(gamma, beta); tensors with the prefix of their network, without it, and with prefixes of others. Each folder is opened by the class
that gives the kind of results that Latebind gives. Printed are the numbers of outcomes, every case in which both give numbers and
others, and every case that one of both refuses alone; exit code 1 if there are others. "random": the reference does not find the
weights, and makes some up. By hand; needs sentence-transformers 6.x, the tests do not. Takes ten minutes. Usage:

  sweep_folders.py build/release/bin/latebind [FOLDER,...]
"""

import collections
import json
import logging
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "critical"
DATA = pathlib.Path(__file__).resolve().parent
TINY = DATA / "tiny-bert" / "f32"
# Networks that are not encoders of texts in themselves, or that transformers lacks.
LEFT_OUT = {"networks/jina_bert"}
QUERY = "the tin can be"
TEXTS = ["a b c d e f g h", "the best of all.", "hello a . " + "b c d e f a " * 3, "x"]
TOKENIZER = {
    "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]",
    "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 20,
}  # fmt: skip
STRAY = {"embedding_dimension": 32, "pooling_mode": "cls"}
REMOTE = {"AutoConfig": "configuration_own.OwnConfig", "AutoModel": "modeling_own.OwnModel"}
PREFIXES = ["bert.", "roberta.", "model.", "module.", "encoder.", "transformer.", "backbone."]


def all_folders():
    """The folders with a config.json or a modules.json, by their names."""
    for kind in ("networks", "cross_encoders", "sparse_encoders", "multi_vector_encoders", "rerankers", "modules", "routers"):
        for folder in sorted((DATA / kind).iterdir()):
            is_model = (folder / "config.json").exists() or (folder / "modules.json").exists()
            if is_model and f"{kind}/{folder.name}" not in LEFT_OUT:
                yield f"{kind}/{folder.name}"


def copy_folder(name, to):
    if not name.startswith("networks/"):
        shutil.copytree(DATA / name, to)
        return
    shutil.copytree(TINY, to)
    shutil.copytree(DATA / name, to, dirs_exist_ok=True)
    (to / "sentence_bert_config.json").unlink()
    (to / "tokenizer_config.json").write_text(json.dumps(TOKENIZER))


def network_of(folder):
    """The folder of the network's config.json, or None."""
    for file in sorted(folder.rglob("config.json"), key=lambda one: len(one.parts)):
        if "model_type" in json.loads(file.read_text()):
            return file.parent
    return None


def renamed(folder, rename):
    """Writes the tensors again under other names. Returns whether a name changed."""
    from safetensors import safe_open
    from safetensors.torch import save_file

    file = folder / "model.safetensors"
    if not file.exists():
        return False
    with safe_open(file, "pt") as stored:
        tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
    after = {rename(name): tensor for name, tensor in tensors.items()}
    if set(after) == set(tensors) or len(after) != len(tensors):
        return False
    file.unlink()
    save_file(after, file, metadata={"format": "pt"})
    return True


def old_name(name):
    return re.sub(r"(LayerNorm|layer_norm|norm)\.bias$", r"\1.beta", re.sub(r"(LayerNorm|layer_norm|norm)\.weight$", r"\1.gamma", name))


def own_prefix(network):
    from transformers import AutoConfig, AutoModel

    try:
        return AutoModel.from_config(AutoConfig.from_pretrained(network)).base_model_prefix + "."
    except Exception:
        return None


def prefixed(name, prefix):
    """Heads and modules have no prefix."""
    is_own = name.startswith(prefix) or re.match(r"(pre_classifier|classifier|cls|score|lm_head|head|vocab_|predictions|linear)", name)
    return name if is_own else prefix + name


def change_config(network, **keys):
    file = network / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | keys))


def write_stray(folder):
    if (folder / "1_Pooling").exists() and (folder / "modules.json").exists():
        return False
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(STRAY))
    return True


def drop_modules(folder):
    if not (folder / "modules.json").exists():
        return False
    (folder / "modules.json").unlink()
    shutil.rmtree(folder / "1_Pooling", ignore_errors=True)
    return True


def changes(folder):
    """What is changed, and the function that changes a copy; it returns False if there is nothing to change."""
    network = network_of(folder)
    yield "as it is", lambda copy: True
    yield "no modules.json", drop_modules
    yield "no modules.json, a stray 1_Pooling", lambda copy: drop_modules(copy) and write_stray(copy)
    yield "a stray 1_Pooling", write_stray
    if network is None:
        return
    place = network.relative_to(folder)

    def mapped(copy):
        change_config(copy / place, auto_map=REMOTE)
        return True

    yield "auto_map", mapped
    yield "auto_map, no modules.json", lambda copy: drop_modules(copy) and mapped(copy)
    yield "gamma and beta", lambda copy: renamed(copy / place, old_name)
    own = own_prefix(network)
    if own is not None and own != ".":
        yield f"with {own}", lambda copy: renamed(copy / place, lambda name: prefixed(name, own))
        yield f"without {own}", lambda copy: renamed(copy / place, lambda name: name.removeprefix(own))
    for prefix in PREFIXES:
        if prefix != own:
            yield f"with {prefix}", lambda copy, prefix=prefix: renamed(copy / place, lambda name: prefix + name)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode not in (0, 1, 2):
        raise SystemExit(f"{command}: ended with {done.returncode}: {done.stderr}")
    return done


def ours(program, folder, texts):
    """The kind of the results and a list of numbers for each text, or "refused" and the message."""
    done = run(program, "embed", "--model", folder, "--device", "native:CPU", "--output-format", "jsonl", texts)
    if done.returncode != 0 and "is a cross-encoder" in done.stderr:
        done = run(program, "rerank", "--model", folder, "--device", "native:CPU", "--query", QUERY, "--raw-scores", "--json", texts)
        if done.returncode == 0:
            found = sorted(json.loads(done.stdout)["results"], key=lambda one: one["line"])
            return "CrossEncoder", [[one["score"]] for one in found]
    if done.returncode != 0:
        return "refused", done.stderr.strip()
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    if "vectors" in rows[0]:
        return "MultiVectorEncoder", [sum(row["vectors"], []) for row in rows]
    if "indices" in rows[0]:
        return "SparseEncoder", [sorted(zip(row["indices"], row["values"], strict=True)) for row in rows]
    return "SentenceTransformer", [row["embedding"] for row in rows]


def rows_of(kind, model):
    import torch

    if kind == "CrossEncoder":
        found = [model.predict([(QUERY, text)], activation_fn=torch.nn.Identity()).reshape(-1) for text in TEXTS]
        return [row.tolist() for row in found]
    if kind == "MultiVectorEncoder":
        return [torch.as_tensor(model.encode_document([text])[0]).reshape(-1).tolist() for text in TEXTS]
    if kind == "SparseEncoder":
        found = [model.encode([text]).to_dense()[0] for text in TEXTS]
        return [[(int(i), float(row[i])) for i in row.nonzero().reshape(-1)] for row in found]
    return [model.encode([text], batch_size=1)[0].tolist() for text in TEXTS]


def theirs(kind, folder):
    """A list of numbers for each text, "random", or the refusal."""
    import sentence_transformers
    import torch

    found = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        try:
            found.append(rows_of(kind, getattr(sentence_transformers, kind)(str(folder), device="cpu")))
        except Exception as error:
            return f"refused: {type(error).__name__}: {error}"
    return found[0] if distance(*found) < 1e-5 else "random"


def distance(some, more):
    if [len(row) for row in some] != [len(row) for row in more]:
        return float("inf")
    if some and some[0] and isinstance(some[0][0], tuple):
        if [[i for i, _ in row] for row in some] != [[i for i, _ in row] for row in more]:
            return float("inf")
        some, more = ([[x for _, x in row] for row in rows] for rows in (some, more))
    return max((abs(a - b) for left, right in zip(some, more, strict=True) for a, b in zip(left, right, strict=True)), default=0)


def compare(program, folder, texts, usual):
    """The outcome, and a line about it unless both agree. `usual` is the class that opens the unchanged folder."""
    kind, found = ours(program, folder, texts)
    if kind == "refused":
        wanted = theirs(usual, folder)
        if wanted == "random":
            return "refused, and the reference makes weights up", None
        return ("refused by both", None) if isinstance(wanted, str) else ("refused", found)
    wanted = theirs(kind, folder)
    if wanted == "random":
        return "numbers, and the reference makes weights up", None
    if isinstance(wanted, str):
        return "numbers, and the reference refuses", wanted
    if distance(found, wanted) < 2e-5:
        return "as the reference", None
    return "others", f"{kind}: {distance(found, wanted):.2g} apart"


def main():
    import transformers

    transformers.utils.logging.disable_progress_bar()
    logging.disable(logging.CRITICAL)
    program, *chosen = sys.argv[1:]
    chosen = chosen[0].split(",") if chosen else list(all_folders())
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        at = pathlib.Path(scratch)
        texts = at / "texts.txt"
        texts.write_text("\n".join(TEXTS) + "\n")
        for name in chosen:
            copy_folder(name, at / "before")
            usual, _ = ours(program, at / "before", texts)
            for what, change in changes(at / "before"):
                shutil.copytree(at / "before", at / "model")
                if change(at / "model"):
                    outcome, about = compare(program, at / "model", texts, usual)
                    counts[outcome] += 1
                    if about:
                        print(f"{name}, {what}: {outcome}: {' '.join(about.split())[:300]}", flush=True)
                shutil.rmtree(at / "model")
            shutil.rmtree(at / "before")
    for outcome, count in counts.most_common():
        print(count, outcome)
    return int(counts["others"] > 0)


if __name__ == "__main__":
    sys.exit(main())
