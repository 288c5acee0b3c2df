"""The programs of docs/integrations.md, as they stand there, each in an interpreter of its own."""

import re

import pytest
from frameworks import MODEL, SOURCE, python

SNIPPETS = re.findall(
    r"^## (.+?)\n(?:(?!^## ).)*?^```python\n(.*?)^```",
    (SOURCE / "docs" / "integrations.md").read_text(encoding="utf-8"),
    re.DOTALL | re.MULTILINE,
)


def test_each_framework_has_one():
    assert [title.split(",")[0] for title, _ in SNIPPETS] == [
        "LangChain",
        "LlamaIndex",
        "Haystack",
        "Chroma",
        "sentence-transformers",
    ]


@pytest.mark.parametrize(("title", "snippet"), SNIPPETS)
def test_it_prints_what_was_meant(title, snippet, tmp_path):
    # What is loaded from the hub is here already.
    code = snippet.replace('"sentence-transformers/all-MiniLM-L6-v2"', repr(str(MODEL)))
    assert code != snippet
    done = python(code, env={"HOME": str(tmp_path)}, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    expected = "1" if title.startswith("sentence") else "Interest is paid on savings every month."
    assert done.stdout == expected + "\n", done.stderr
