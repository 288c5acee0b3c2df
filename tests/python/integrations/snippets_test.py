"""The programs of docs/integrations.md, as they stand there, those of a section after each other in an interpreter of its
own."""

import re

import pytest
from frameworks import SOURCE, python, with_models_here

SECTIONS = re.findall(
    r"^## (.+?)\n(.*?)(?=^## |\Z)",
    (SOURCE / "docs" / "integrations.md").read_text(encoding="utf-8"),
    re.DOTALL | re.MULTILINE,
)
# Of each section: one that embeds, and where there are more, those that rank after it.
SNIPPETS = [(title, re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)) for title, text in SECTIONS]


def test_each_framework_has_one():
    assert [title.split(",")[0] for title, _ in SNIPPETS] == [
        "LangChain",
        "LlamaIndex",
        "Haystack",
        "Chroma",
        "sentence-transformers",
    ]
    assert [len(programs) for _, programs in SNIPPETS] == [2, 2, 2, 1, 3]


@pytest.mark.parametrize(("title", "programs"), SNIPPETS)
def test_they_print_what_was_meant(title, programs, tmp_path):
    whole = "\n".join(programs)
    code = with_models_here(whole)
    assert code != whole
    done = python(code, env={"HOME": str(tmp_path)}, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    embedded, *ranked = done.stdout.splitlines()
    assert embedded == ("1" if title.startswith("sentence") else "Interest is paid on savings every month."), (
        done.stderr
    )
    # The model that is here is not trained.
    assert [0 < float(score) < 1 for score in ranked] == [True] * (len(programs) - 1)
