"""What the tests of all frameworks share. Imported before any of these: it switches their telemetry off."""

import json
import os

os.environ |= {"HAYSTACK_TELEMETRY_ENABLED": "False", "ANONYMIZED_TELEMETRY": "False", "LANGSMITH_TRACING": "false"}

from support import (
    CROSS_ENCODERS,
    GOLDEN,
    MODEL,
    RECORDED,
    SOURCE,
    SPARSE,
    SPARSE_ENCODERS,
    TINY,
    assert_sparse,
    cosines,
    good,
    python,
    recorded_query,
    with_models_here,
    with_scipy,
)

__all__ = [
    "ANSWER",
    "CLASSIFIER",
    "CROSS_ENCODERS",
    "DOCUMENTS",
    "GOLDEN",
    "MODEL",
    "NO_RERANKERS",
    "QUESTION",
    "RECORDED",
    "RERANKER",
    "SOURCE",
    "SPARSE",
    "SPARSE_ENCODERS",
    "TEXTS",
    "TINY",
    "assert_sparse",
    "cosines",
    "good",
    "python",
    "recorded_query",
    "with_models_here",
    "with_scipy",
]

# One label, and three.
RERANKER, CLASSIFIER = CROSS_ENCODERS / "bert", CROSS_ENCODERS / "roberta"
# What no reranker opens: model, arguments, and what the error says.
NO_RERANKERS = [
    (None, {}, "model is NoneType"),
    (TINY, {}, "latebind embed"),
    (CLASSIFIER, {}, r"3 labels \(contradiction"),
    (RERANKER, {"max_tokns": 1}, r"did you mean max_tokens\?"),
]

TEXTS = [json.loads(line)["text"] for line in (GOLDEN / "minilm.jsonl").read_text(encoding="utf-8").splitlines()]

DOCUMENTS = [
    "The cat slept on the warm windowsill.",
    "Interest is paid on savings at the end of each month.",
    "The train to the mountains leaves at seven.",
]
QUESTION = "How much money does my bank account earn?"
ANSWER = DOCUMENTS[1]
