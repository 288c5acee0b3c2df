"""Model folders without a tokenizer.json: every way to open one gives the ids that transformers gives for its vocabulary."""

import json
import os
import shutil

import pytest
from hub_server import Hub, Model
from support import BOTH_GONE, SOURCE, TINY, bad, good

DATA = SOURCE / "tests/data/tokenizer_folders"
TEXTS = json.loads((DATA / "lines.json").read_text(encoding="utf-8"))[:60]


def cases():
    with open(DATA / "cases.jsonl", encoding="utf-8") as lines:
        return {case["name"]: case for case in map(json.loads, lines)}


def folder_of(case, place):
    """A network of tiny-bert's with the tokenizer of a recorded folder; the class is named where its network was."""
    shutil.copytree(TINY, place)
    (place / "tokenizer.json").unlink()
    config = json.loads((place / "config.json").read_text())
    (place / "config.json").write_text(json.dumps(config | {"tokenizer_class": case["class"]}))
    for name, source in case["files"].items():
        shutil.copy(DATA / source, place / name)
    for name in "tokenizer_config", "special_tokens_map", "added_tokens":
        if name in case:
            (place / f"{name}.json").write_text(json.dumps(case[name]))
    return place


def usable(case):
    """Those that a line of a file can be, and what tiny-bert's 20 tokens leave whole."""
    return [(text, ids) for text, ids in zip(TEXTS, case["ids"], strict=False)
            if text.strip() and text.isprintable() and len(ids) <= 20]


def ids_of(model, texts, **more):
    lines = good("tokens", "--model", model, input="\n".join(texts) + "\n", **more).stdout.splitlines()
    return [[int(i) for i in line.split()] for line in lines]


NAMES = ["bert_added_tokens", "bert_maps", "roberta_prefix_space", "qwen_as_saved", "xlm_roberta", "camembert_as_saved",
         "albert"]


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_and_its_bundle_have_the_ids_of_the_reference(tmp_path, name):
    case = cases()[name]
    model = folder_of(case, tmp_path / "model")
    texts, expected = zip(*usable(case), strict=True)
    assert len(texts) >= 15
    assert ids_of(model, texts, env=BOTH_GONE) == list(expected)
    good("compile", model, "--target", "cpu", "-o", tmp_path / "b.lbundle", "--quiet")
    assert ids_of(tmp_path / "b.lbundle", texts) == list(expected)


def test_a_model_of_the_hub_brings_its_vocabulary(tmp_path):
    case = cases()["roberta_prefix_space"]
    model = folder_of(case, tmp_path / "model")
    files = {str(file.relative_to(model)): file.read_bytes() for file in model.rglob("*") if file.is_file()}
    hub = Hub()
    try:
        hub.models["org/tiny"] = Model(files | {"vocab.txt": b"a\n"})
        env = {name: "" for name in os.environ if name.lower().endswith("_proxy") or name.startswith("HF_")}
        env |= {"HF_HOME": str(tmp_path / "hf"), "HF_ENDPOINT": hub.url}
        texts, expected = zip(*usable(case), strict=True)
        assert ids_of("org/tiny", texts, env=env) == list(expected)
        loaded = {file.name for file in (tmp_path / "hf").rglob("*") if file.is_symlink()}
        assert {"vocab.json", "merges.txt", "tokenizer_config.json"} <= loaded
        assert "vocab.txt" not in loaded
    finally:
        hub.close()


def test_what_is_missing_or_not_known_is_named(tmp_path):
    model = folder_of(cases()["roberta"], tmp_path / "model")
    (model / "merges.txt").unlink()
    assert "merges.txt (of RobertaTokenizer; or tokenizer.json) missing" in bad(1, "tokens", "--model", model, input="a")
    (model / "tokenizer_config.json").write_text('{"tokenizer_class": "GemmaTokenizer"}')
    said = bad(1, "tokens", "--model", model, input="a")
    assert "'tokenizer_class' 'GemmaTokenizer' needs a tokenizer.json" in said and str(model) in said
    (model / "tokenizer_config.json").unlink()
    shutil.copy(TINY / "tokenizer.json", model)
    assert "'RobertaTokenizer', which uses other rules" in bad(1, "tokens", "--model", model, input="a")
    (model / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    assert ids_of(model, ["hello"]) == ids_of(TINY, ["hello"])
