"""What the tests of all frameworks share. Imported before any of these: it switches their telemetry off."""

import json
import os

os.environ |= {"HAYSTACK_TELEMETRY_ENABLED": "False", "ANONYMIZED_TELEMETRY": "False", "LANGSMITH_TRACING": "false"}

from support import GOLDEN, MODEL, SOURCE, TINY, cosines, good, python

__all__ = ["ANSWER", "DOCUMENTS", "GOLDEN", "MODEL", "QUESTION", "SOURCE", "TEXTS", "TINY", "cosines", "good", "python"]

TEXTS = [json.loads(line)["text"] for line in (GOLDEN / "minilm.jsonl").read_text(encoding="utf-8").splitlines()]

DOCUMENTS = [
    "The cat slept on the warm windowsill.",
    "Interest is paid on savings at the end of each month.",
    "The train to the mountains leaves at seven.",
]
QUESTION = "How much money does my bank account earn?"
ANSWER = DOCUMENTS[1]
