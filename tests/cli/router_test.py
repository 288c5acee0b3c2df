"""Routers: what sentence-transformers gives for queries and documents, by `latebind embed --role`, `tokens` and `search`."""

import json
import shutil

import numpy as np
import pytest
from support import SOURCE, bad, good

FOLDER = SOURCE / "tests" / "data" / "routers"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
TEXTS = EXPECTED["texts"]
LINES = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS)
DEVICES = ["native:CPU", "openvino:CPU", "onnxruntime:CPU"]
SPARSE = ("alone", "published", "sparse")
CASES = [(name, role) for name, roles in EXPECTED["vectors"].items() for role in roles]


def embed(model, role, *arguments, lines=LINES, kind="jsonl"):
    words = ("--role", role) if role else ()
    command = ("embed", "--model", model, *words, "--output-format", kind, "--input-format", "jsonl", *arguments)
    return good(*command, input=lines)


def assert_same(done, expected):
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(expected) > 0
    for one, wanted in zip(found, expected, strict=True):
        if "indices" in one:
            assert one["indices"] == wanted["indices"]
            assert one["values"] == pytest.approx(wanted["values"], abs=1e-5)
        else:
            assert one["embedding"] == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("name", "role"), CASES)
def test_vectors_are_the_references(name, role, device):
    done = embed(FOLDER / name, role, "-q", "--device", device, "--strict", "--precision", "f32")
    assert_same(done, EXPECTED["vectors"][name][role])


def test_no_device_has_a_part_in_a_query_of_a_table():
    done = embed(FOLDER / "sparse", "query", "--device", "native:CPU")
    assert "on none (a table of weights, without a network), f32" in done.stderr
    assert "on native:CPU" in embed(FOLDER / "sparse", "document", "--device", "native:CPU").stderr
    # What is loaded for documents is not loaded for queries.
    assert_same(embed(FOLDER / "sparse", "query", "-q", "--device", "openvino:NONE", "--strict"),
                EXPECTED["vectors"]["sparse"]["query"])
    bad(1, "embed", "--model", FOLDER / "sparse", "--outputs", "sparse", "--device", "openvino:NONE", input="a\n")


def test_many_queries_in_their_order():
    done = embed(FOLDER / "sparse", "query", "-q", lines=LINES * 3000)
    assert_same(done, EXPECTED["vectors"]["sparse"]["query"] * 3000)


def test_a_text_without_a_token_has_no_weight():
    done = embed(FOLDER / "alone", "query", "-q", lines='{"text": ""}\n')
    assert json.loads(done.stdout) == {"index": 0, "indices": [], "values": []}


def test_a_prompt_of_the_call_comes_before_that_of_the_role():
    whole = "".join(json.dumps({"text": "the cat " + text}) + "\n" for text in TEXTS)
    done = embed(FOLDER / "sparse", "query", "-q", "--prompt", "", lines=whole)
    assert_same(done, EXPECTED["vectors"]["sparse"]["query"])


def test_who_does_not_say_the_role_is_asked():
    message = bad(1, "embed", "--model", FOLDER / "networks", input="a\n")
    assert "give the role of the texts, query or document" in message
    assert "role" in bad(2, "embed", "--model", FOLDER / "networks", "--role", "question", input="a\n")


def test_tokens_are_those_of_the_role():
    ask = ("tokens", "--model", FOLDER / "sparse", "--prompt", "")
    query = good(*ask, "--role", "query", input="a dog\n").stdout.split()
    document = good(*ask, "--role", "document", input="a dog\n").stdout.split()
    assert document[1:-1] == query
    assert good(*ask, input="a dog\n").stdout.split() == document


@pytest.mark.parametrize("name", ["sparse", "published"])
def test_a_bundle_has_the_table_too(tmp_path, name):
    bundle = tmp_path / "sparse.lbundle"
    good("compile", FOLDER / name, "--target", "cpu", "-o", bundle)
    for device in ("openvino:CPU", "native:CPU"):
        for role in ("query", "document"):
            done = embed(bundle, role, "-q", "--device", device)
            assert_same(done, EXPECTED["vectors"][name][role])
    folder = tmp_path / "folder"
    good("unpack", bundle, "-o", folder)
    assert_same(embed(folder, "query", "-q"), EXPECTED["vectors"][name]["query"])


def test_what_has_two_networks_or_none_is_no_bundle(tmp_path):
    message = bad(1, "compile", FOLDER / "networks", "--target", "cpu", "-o", tmp_path / "x.lbundle")
    assert "has one route for queries and another for documents; a compiled model has one" in message
    message = bad(1, "compile", FOLDER / "alone", "--target", "cpu", "-o", tmp_path / "x.lbundle")
    assert "has no network" in message
    assert "has no network" in bad(1, "export", "--model", FOLDER / "alone", "-o", tmp_path / "x.onnx")
    assert not list(tmp_path.iterdir())


def test_warm_takes_one(tmp_path):
    cache = {"XDG_CACHE_HOME": str(tmp_path)}
    for name in ("sparse", "networks", "alone"):
        good("warm", "--model", FOLDER / name, "--device", "openvino:CPU", env=cache)


def test_an_onnx_file_is_that_of_the_documents(tmp_path):
    model = shutil.copytree(FOLDER / "published", tmp_path / "published")
    good("export", "--model", model, "-o", model / "onnx.onnx")
    for role in ("query", "document"):
        done = embed(model, role, "-q", "--onnx-file", "onnx.onnx", "--device", "onnxruntime:CPU")
        assert_same(done, EXPECTED["vectors"]["published"][role])
    message = bad(1, "embed", "--model", FOLDER / "networks", "--role", "query", "--onnx-file", "x.onnx", input="a\n")
    assert "x.onnx" in message


def weights_of(vector):
    return dict(zip(vector["indices"], vector["values"], strict=True))


def test_search_compares_the_query_with_the_documents():
    vectors = EXPECTED["vectors"]["sparse"]
    query = weights_of(vectors["query"][2])
    scores = [sum(weight * query.get(index, 0) for index, weight in weights_of(one).items()) for one in vectors["document"]]
    best = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:3]
    command = ("search", "--json", "-q", "-k", "3", "--input-format", "jsonl", "--query", TEXTS[2])
    found = json.loads(good(*command, "--model", FOLDER / "sparse", "-", input=LINES).stdout)["results"]
    assert [match["line"] - 1 for match in found] == best
    assert [match["score"] for match in found] == pytest.approx([scores[i] for i in best], abs=1e-4)

    vectors = EXPECTED["vectors"]["networks"]
    query = np.array(vectors["query"][2])
    cosines = [query @ one / np.linalg.norm(query) / np.linalg.norm(one) for one in np.array(vectors["document"])]
    found = json.loads(good(*command, "--model", FOLDER / "networks", "-", input=LINES).stdout)["results"]
    assert found[0]["line"] - 1 == int(np.argmax(cosines))
    assert found[0]["score"] == pytest.approx(max(cosines), abs=1e-5)
