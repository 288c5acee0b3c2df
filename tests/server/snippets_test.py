"""The programs of docs/serving.md, as they stand there, against a daemon."""

import os
import re
import subprocess
import sys

import pytest

from daemon import LIMIT, MODEL, SOURCE, Daemon

CLIENTS = (SOURCE / "docs" / "serving.md").read_text().split("## Clients")[1].split("\n## ")[0]
SNIPPETS = re.findall(r"```(python|sh)\n(.*?)```", CLIENTS, re.DOTALL)


@pytest.fixture(scope="module")
def daemon():
    with Daemon(models=(MODEL,)) as running:
        yield running


def test_there_are_some():
    assert len(SNIPPETS) == 8


@pytest.mark.parametrize(("language", "code"), SNIPPETS, ids=[code.split("\n")[0][:40] for _, code in SNIPPETS])
def test_does_what_it_says(daemon, language, code):
    assert "127.0.0.1:8080" in code
    code = code.replace("127.0.0.1:8080", "%s:%d" % daemon.address)
    command = [sys.executable, "-c", code] if language == "python" else ["bash", "-ec", code]
    environment = os.environ | {"HOME": str(daemon.folder), "NO_PROXY": "127.0.0.1", "HF_HUB_OFFLINE": "0"}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", timeout=LIMIT,
                          env=environment)
    assert done.returncode == 0, done.stderr
    # The length of a vector, a shape with it, or the vectors themselves.
    assert re.search(r"\b384\b", done.stdout) or len(done.stdout) > 5000, done.stdout[:200]
