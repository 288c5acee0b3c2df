"""A small model like bge-m3: XLM-RoBERTa with random weights, and the two projections beside it."""

import json
import shutil

import numpy
from pytorch_weights import Storage, Tensor, as_pytorch, save
from support import SOURCE

ROBERTA = SOURCE / "tests" / "data" / "networks" / "roberta"
HIDDEN = 32
# Those of the tokenizer; the classifier's and the separator's play bos and eos.
PAD, UNK, CLS, SEP = range(4)


def linear(weight, bias):
    """The file of a torch.nn.Linear."""
    return save({name: Tensor(Storage("F32", value.astype("<f4").tobytes()), value.shape)
                 for name, value in (("weight", weight), ("bias", bias))})


def projections():
    """(weight, bias) of the vectors and of the weights of tokens."""
    rng = numpy.random.default_rng(20261130)
    return {"colbert": (rng.normal(size=(HIDDEN, HIDDEN)) / 4, rng.normal(size=HIDDEN) / 4),
            "sparse": (rng.normal(size=(1, HIDDEN)) / 4, numpy.array([0.05]))}


def make_m3(folder):
    shutil.copytree(ROBERTA, folder)
    edit(folder / "config.json", model_type="xlm-roberta", architectures=["XLMRobertaModel"])
    edit(folder / "1_Pooling" / "config.json", pooling_mode_cls_token=True, pooling_mode_mean_tokens=False)
    edit(folder / "tokenizer_config.json", cls_token="[CLS]", eos_token="[SEP]", pad_token="[PAD]", unk_token="[UNK]")
    for name, (weight, bias) in projections().items():
        (folder / f"{name}_linear.pt").write_bytes(linear(weight, bias))
    for name, content in as_pytorch((folder / "model.safetensors").read_bytes()).items():
        (folder / name).write_bytes(content)
    (folder / "model.safetensors").unlink()
    return folder


def edit(file, **values):
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


def of_states(states, ids):
    """What FlagEmbedding makes of the vectors of a text's tokens: (dense, {id: weight}, vectors)."""
    states = numpy.asarray(states, dtype=numpy.float64)
    weight, bias = projections()["sparse"]
    weights = {}
    for token, number in zip(ids, numpy.maximum(states @ weight[0].astype("f4") + bias.astype("f4"), 0), strict=True):
        if token not in (PAD, UNK, CLS, SEP) and number > weights.get(token, 0):
            weights[token] = number
    weight, bias = projections()["colbert"]
    vectors = states[1:] @ weight.astype("f4").T + bias.astype("f4")
    return unit(states[0]), weights, unit(vectors)


def unit(vectors):
    return vectors / numpy.linalg.norm(vectors, axis=-1, keepdims=True)


def scores_of(query, document, weights=(0.4, 0.2, 0.4)):
    """FlagEmbedding's mixed score of two results of of_states()."""
    dense = query[0] @ document[0]
    sparse = sum(weight * document[1].get(token, 0) for token, weight in query[1].items())
    multi_vector = (query[2] @ document[2].T).max(axis=1).sum() / len(query[2])
    return (weights[0] * dense + weights[1] * sparse + weights[2] * multi_vector) / sum(weights)
