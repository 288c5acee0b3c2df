"""latebind export: the graph that we build, used by another tool."""

import numpy
import onnx
import pytest
from support import GOLDEN, MODEL, TINY, bad, cosines, good, vectors

TEXTS = ["The cat sits outside", "", "a"]


def feeds(session, texts):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(MODEL / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.enable_padding()
    encodings = tokenizer.encode_batch(texts)
    given = {
        "input_ids": numpy.array([one.ids for one in encodings], numpy.int64),
        "attention_mask": numpy.array([one.attention_mask for one in encodings], numpy.int64),
    }
    names = {one.name for one in session.get_inputs()}
    assert names == set(given)
    return given


@pytest.fixture(scope="module")
def session_of(tmp_path_factory):
    import onnxruntime

    def make(*options):
        file = tmp_path_factory.mktemp("export") / "model.onnx"
        done = good("export", "--model", MODEL, *options, "-o", file)
        assert str(file) in done.stderr and done.stdout == ""
        onnx.checker.check_model(str(file))
        return onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])

    return make


def test_the_exported_model_gives_our_vectors(session_of):
    session = session_of()
    (pooled,) = session.run(None, feeds(session, TEXTS))
    ours = vectors(good("embed", "--model", MODEL, input="".join(text + "\n" for text in TEXTS)).stdout)
    assert pooled.shape == (3, 384)
    assert cosines(pooled, ours).min() > 0.99999
    assert cosines(pooled[1:2], numpy.load(GOLDEN / "minilm.npy")[:1])[0] > 0.99999


def test_hidden_states_are_token_vectors(session_of):
    session = session_of("--hidden-states")
    given = feeds(session, TEXTS)
    (hidden,) = session.run(None, given)
    assert hidden.shape == given["input_ids"].shape + (384,)
    mask = given["attention_mask"][..., None].astype(numpy.float32)
    ours = vectors(good("embed", "--model", MODEL, input="".join(text + "\n" for text in TEXTS)).stdout)
    assert cosines((hidden * mask).sum(1) / mask.sum(1), ours).min() > 0.99999


def test_what_can_not_be_written_is_one_line(tmp_path):
    assert str(tmp_path / "no") in bad(1, "export", "--model", TINY, "-o", tmp_path / "no" / "model.onnx")
    assert str(tmp_path / "none") in bad(1, "export", "--model", tmp_path / "none", "-o", tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []
