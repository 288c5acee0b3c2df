"""`latebind embed --outputs`: several outputs of one pass."""

import json

import numpy as np
import pytest
from support import SOURCE, TINY, bad, good

DATA = SOURCE / "tests" / "data"
# Of several lengths, so that rows of a batch are padded.
LINES = "the cat sat on the mat.\n\na dog\n" + "".join(f"cats {i} and dogs jumped {i}\n" for i in range(40))
NATIVE = ("--device", "native:CPU", "--strict", "-q")


def lines_of(*arguments, model=TINY, device=NATIVE):
    done = good("embed", model, *device, *arguments, input=LINES)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_outputs_of_one_pass_are_those_of_single_passes():
    both = lines_of("--outputs", "dense,token_vectors")
    dense = lines_of()
    tokens = lines_of("--outputs", "token_vectors")
    assert [list(line) for line in both] == [["index", "dense", "token_vectors"]] * 43
    assert [line["token_vectors"] for line in both] == [line["vectors"] for line in tokens]
    # The text's vector is pooled from the token vectors here, and by the network there, in another order of the sum.
    for line, alone in zip(both, dense, strict=True):
        assert line["dense"] == pytest.approx(alone["embedding"], abs=2e-7)
    # The names decide about the order, too.
    assert [list(line) for line in lines_of("--outputs", "token_vectors,dense")] == [["index", "token_vectors", "dense"]] * 43
    assert lines_of("--outputs", "dense") == dense


def test_token_vectors_pool_to_the_vector():
    for line in lines_of("--outputs", "dense,token_vectors"):
        mean = np.mean(np.array(line["token_vectors"], dtype=np.float64), axis=0)
        assert line["dense"] == pytest.approx(list(mean / np.linalg.norm(mean)), abs=1e-6)


@pytest.mark.parametrize("device", ["openvino:CPU", "onnxruntime:CPU"])
def test_vendors_give_them_too(device):
    both = lines_of("--outputs", "dense,token_vectors", device=("--device", device, "--precision", "f32", "--strict", "-q"))
    for line, alone in zip(both, lines_of("--outputs", "dense,token_vectors"), strict=True):
        assert line["dense"] == pytest.approx(alone["dense"], abs=1e-5)
        for vector, wanted in zip(line["token_vectors"], alone["token_vectors"], strict=True):
            assert vector == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("device", ["native:CPU", "openvino:CPU"])
def test_outputs_that_need_different_ends_of_the_network(device):
    """The model's own vectors of tokens go through a projection, so the network has two outputs."""
    model = DATA / "multi_vector_encoders" / "bert"
    device = ("--device", device, "--precision", "f32", "--strict", "-q")
    both = lines_of("--outputs", "multi_vector,token_vectors", model=model, device=device)
    for line, alone in zip(both, lines_of(model=model, device=device), strict=True):
        assert len(line["multi_vector"]) == len(line["token_vectors"]) == len(alone["vectors"])
        for vector, wanted in zip(line["multi_vector"], alone["vectors"], strict=True):
            assert vector == pytest.approx(wanted, abs=1e-5)


def test_npy_has_a_file_for_each_output(tmp_path):
    (tmp_path / "texts.txt").write_text(LINES)
    good("embed", TINY, *NATIVE, "--outputs", "dense,token_vectors", "-o", tmp_path / "v.npy", tmp_path / "texts.txt")
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "texts.txt", "v.dense.npy", "v.token_vectors.counts.npy", "v.token_vectors.npy"]
    dense, counts, tokens = (np.load(tmp_path / f"v.{name}.npy") for name in ("dense", "token_vectors.counts", "token_vectors"))
    lines = lines_of("--outputs", "dense,token_vectors")
    assert dense.dtype == tokens.dtype == np.float32 and counts.dtype == np.int64
    assert dense.tolist() == np.array([line["dense"] for line in lines], dtype=np.float32).tolist()
    assert counts.tolist() == [len(line["token_vectors"]) for line in lines]
    for line, vectors in zip(lines, np.split(tokens, np.cumsum(counts)[:-1]), strict=True):
        assert vectors.tolist() == np.array(line["token_vectors"], dtype=np.float32).tolist()
    # A single output of rows is the file itself.
    good("embed", TINY, *NATIVE, "--outputs", "dense", "-o", tmp_path / "one.npy", tmp_path / "texts.txt")
    assert np.load(tmp_path / "one.npy").shape == dense.shape


def test_ids_go_beside_the_files(tmp_path):
    (tmp_path / "texts.jsonl").write_text('{"text": "a", "id": 7}\n{"text": "b"}\n')
    good("embed", TINY, *NATIVE, "--outputs", "token_vectors", "-o", tmp_path / "v.npy", tmp_path / "texts.jsonl")
    assert (tmp_path / "v.npy.ids.jsonl").read_text() == "7\nnull\n"
    lines = good("embed", TINY, *NATIVE, "--outputs", "dense,token_vectors", tmp_path / "texts.jsonl").stdout.splitlines()
    assert [list(json.loads(line)) for line in lines] == [["index", "id", "dense", "token_vectors"],
                                                          ["index", "dense", "token_vectors"]]


def test_an_output_that_the_model_lacks_is_refused_with_its_outputs():
    message = bad(1, "embed", TINY, "--outputs", "dense,colour", input="a\n")
    assert "f32 has no output 'colour'; its outputs are: dense, token_vectors. It is an embedder" in message
    message = bad(1, "embed", DATA / "cross_encoders" / "bert", "--outputs", "score", input="a\n")
    assert "its outputs are: score, token_vectors" in message and "`latebind rerank` has them" in message
    described = json.loads(good("inspect", TINY, "--json").stdout)
    assert list(described["outputs"]) == ["dense", "token_vectors"]
    shown = good("inspect", TINY).stdout
    assert shown.startswith("name   f32\n\ninput\n  kind ") and "\noutputs\n  dense\n    pooling     mean\n" in shown
    assert "{" not in shown and "model.safetensors" in shown


@pytest.mark.parametrize(("given", "words"), [
    (("--outputs", "dense,"), "a name is empty"),
    (("--outputs", "dense,dense"), "a name is given twice"),
    (("--outputs", "dense,token_vectors", "--output-format", "npy"), "name them with -o FILE.npy"),
    (("--outputs", "token_vectors", "--output-format", "f32"), "which f32 does not hold; --output-format jsonl"),
    (("--outputs", "dense", "-o", "v.parquet", "texts.txt"), "--outputs: the Python package"),
    (("--outputs", "dense", "-o", "v.jsonl", "texts.parquet"), "--outputs: the Python package"),
])
def test_what_cannot_be_written_is_refused_with_the_way_out(given, words, tmp_path):
    (tmp_path / "texts.txt").write_text("a\n")
    (tmp_path / "texts.parquet").write_text("never opened")
    assert words in bad(2, "embed", TINY, *given, input="a\n", cwd=tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["texts.parquet", "texts.txt"]


def test_forms_that_npy_lacks_or_divides_are_refused(tmp_path):
    sparse = DATA / "sparse_encoders" / "bert"
    (tmp_path / "texts.txt").write_text("a\n")
    message = bad(2, "embed", sparse, "-o", tmp_path / "v.npy", tmp_path / "texts.txt")
    assert "the output 'sparse' has sparse vectors, which npy does not hold; --output-format jsonl" in message
    late = DATA / "multi_vector_encoders" / "bert"
    message = bad(2, "embed", late, "-o", tmp_path / "v.npy", tmp_path / "texts.txt")
    assert "is two npy files, which are asked for by name: --outputs multi_vector" in message
    good("embed", late, "-q", "--outputs", "multi_vector", "-o", tmp_path / "v.npy", tmp_path / "texts.txt")
    assert np.load(tmp_path / "v.multi_vector.npy").ndim == 2


def test_an_input_is_not_overwritten(tmp_path):
    file = tmp_path / "v.dense.npy"
    file.write_text("a\n")
    message = bad(2, "embed", TINY, "--outputs", "dense,token_vectors", "-o", tmp_path / "v.npy", "--input-format", "lines", file)
    assert "v.dense.npy" in message
    assert file.read_text() == "a\n"
