"""latebind models: a list that is true."""

import json

from support import SOURCE, TINY, bad, good


def test_the_reference_in_the_documents_is_what_the_program_says():
    written = (SOURCE / "docs" / "models.md").read_text(encoding="utf-8")
    assert good("models", "--reference").stdout == written, (
        "run: build/release/bin/latebind models --reference > docs/models.md")


def test_json_and_text_name_the_same():
    found = json.loads(good("models", "--json").stdout)
    text = good("models").stdout
    for one in found["architectures"]:
        assert list(one) == ["model_type", "name", "checked", "refused", "cross_encoder", "sparse_encoder"]
        assert f"  {one['model_type']} " in text and f" {one['name']}: " in text
    for part, types in found["tokenizer"].items():
        assert f"  {part} " in text and ", ".join(types) in text


def test_what_is_said_to_be_checked_is_checked():
    """Random weights: there is such a network among the tests' data, whose vectors the tests compare."""
    networks = {folder.name for folder in (SOURCE / "tests" / "data" / "networks").iterdir() if folder.is_dir()}
    for one in json.loads(good("models", "--json").stdout)["architectures"]:
        if "random weights" in one["checked"] and one["model_type"] != "bert":
            assert one["model_type"] in networks, one


def test_a_refusal_names_the_same_kinds(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    for file in TINY.iterdir():
        if file.is_file():
            (folder / file.name).write_bytes(file.read_bytes())
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_bytes((TINY / "1_Pooling" / "config.json").read_bytes())
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "modernbort"}))
    line = bad(1, "embed", "--model", folder, input="a")
    assert "modernbort" in line
    for one in json.loads(good("models", "--json").stdout)["architectures"]:
        assert one["model_type"] in line
