#!/usr/bin/env python3
"""Takes modules.json away from model folders, and compares what Latebind makes of the rest with the reference.

The folders are those of sweep_keys.py. Each gets every class in "architectures" and every "is_causal" that decides how texts are
pooled, and the files beside it that have an effect with a modules.json alone. Printed are the numbers of outcomes, and every folder of
which both give vectors, and others; exit code 1 where there is one. Needs sentence-transformers 6.x; the tests do not. Takes three minutes. Usage:

  sweep_without_modules.py build/release/bin/latebind [FOLDER,...]
"""

import collections
import json
import logging
import pathlib
import sys
import tempfile

from sweep_keys import NETWORKS, TEXTS, distance, make_folders, ours, theirs

# None: the key is left out.
CLASSES = [None, [], ["SomeModel"], ["SomeForMaskedLM"], ["SomeForCausalLM"], ["SomeForCausalLM", "SomeModel"],
           ["SomeModel", "SomeForCausalLM"]]  # fmt: skip
ABSENT = object()
COMPANIONS = {
    "1_Pooling/config.json": {"embedding_dimension": 32, "pooling_mode": "cls"},
    "sentence_bert_config.json": {"max_seq_length": 5, "do_lower_case": False},
    "config_sentence_transformers.json": {"prompts": {"query": "a b "}, "default_prompt_name": "query", "truncate_dim": 8},
}


def configs(before):
    """Those that decide, besides the one that is there."""
    yield "as it is", before
    for classes in CLASSES:
        for causal in (ABSENT, True, False, None):
            config = {key: value for key, value in before.items() if key not in ("architectures", "is_causal")}
            if classes is not None:
                config["architectures"] = classes
            if causal is not ABSENT:
                config["is_causal"] = causal
            yield f"{classes}, is_causal {'absent' if causal is ABSENT else causal}", config


def folders_of(folder):
    """What was changed, for each state of the folder."""
    file = folder / "config.json"
    text = file.read_text()
    for what, config in configs(json.loads(text)):
        file.write_text(json.dumps(config))
        yield what
    file.write_text(text)
    for name, content in COMPANIONS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content))
        yield f"with {name}"
    tokenizer = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer | {"padding_side": "left"}))
    yield "padded on the left"


def main():
    import transformers

    transformers.utils.logging.disable_progress_bar()
    logging.disable(logging.CRITICAL)
    program, *chosen = sys.argv[1:]
    chosen = chosen[0].split(",") if chosen else ["bert", *NETWORKS]
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        at = pathlib.Path(scratch)
        make_folders(at)
        texts = at / "texts.txt"
        texts.write_text("\n".join(TEXTS) + "\n")
        for name in chosen:
            folder = at / name
            for other in ("modules.json", "1_Pooling/config.json", "config_sentence_transformers.json",
                          "sentence_bert_config.json"):  # fmt: skip
                (folder / other).unlink(missing_ok=True)
            for what in folders_of(folder):
                found = ours(program, folder, texts)
                wanted = theirs(folder)
                if isinstance(found, str):
                    counts["refused" if isinstance(wanted, str) else "refused, and the reference gives vectors"] += 1
                    if not isinstance(wanted, str):
                        print(f"{name}, {what}: {found}", flush=True)
                elif isinstance(wanted, str):
                    counts["refused by the reference"] += 1
                elif distance(found, wanted) < 1e-5:
                    counts["as the reference"] += 1
                else:
                    counts["others"] += 1
                    print(f"{name}, {what}: vectors that are others", flush=True)
    for kind, count in counts.most_common():
        print(count, kind)
    return int(counts["others"] > 0)


if __name__ == "__main__":
    sys.exit(main())
