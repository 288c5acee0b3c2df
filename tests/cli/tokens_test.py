"""latebind tokens: the reference's ids, for programs that run a model by themselves."""

import tokenizers
from support import BOTH_GONE, MODEL, TINY, bad, good

TEXTS = ["The cat sleeps.", "", "naïve café, 東京 — [SEP]", "a " * 500]


def test_ids_are_those_of_the_reference():
    oracle = tokenizers.Tokenizer.from_file(str(MODEL / "tokenizer.json"))
    oracle.no_padding()
    oracle.enable_truncation(256)
    lines = good("tokens", "--model", MODEL, input="\n".join(TEXTS) + "\n", env=BOTH_GONE).stdout.splitlines()
    assert [[int(i) for i in line.split()] for line in lines] == [oracle.encode(text).ids for text in TEXTS]


def test_texts_are_cut_where_it_is_asked_for():
    assert len(good("tokens", "--model", MODEL, "--max-tokens", "7", input="a " * 50).stdout.split()) == 7


def test_offsets_are_the_references_in_bytes():
    oracle = tokenizers.Tokenizer.from_file(str(MODEL / "tokenizer.json"))
    oracle.no_padding()
    oracle.enable_truncation(256)
    lines = good("tokens", "--model", MODEL, "--offsets", input="\n".join(TEXTS) + "\n", env=BOTH_GONE).stdout.splitlines()
    for text, line in zip(TEXTS, lines, strict=True):
        found = [[int(number) for number in token.split(":")] for token in line.split()]
        encoding = oracle.encode(text)
        assert [token[0] for token in found] == encoding.ids
        size = [len(text[:place].encode()) for place in range(len(text) + 1)]
        assert [tuple(token[1:]) for token in found] == [(size[begin], size[end]) for begin, end in encoding.offsets]


def test_a_bundle_has_the_tokenizer_as_well(tmp_path):
    good("compile", TINY, "--target", "cpu", "-o", tmp_path / "b", "--quiet")
    assert good("tokens", "--model", tmp_path / "b", input="hello\n").stdout == good(
        "tokens", "--model", TINY, input="hello\n").stdout


def test_errors_are_one_line(tmp_path):
    assert "no such folder" in bad(1, "tokens", "--model", tmp_path / "none", input="a")
    (tmp_path / "bad.txt").write_bytes(b"\xff\n")
    assert "UTF-8" in bad(1, "tokens", "--model", TINY, tmp_path / "bad.txt")
    assert "at most 24 tokens" in bad(1, "tokens", "--model", TINY, "--max-tokens", "65", input="a")
    assert "--max-tokens" in bad(2, "tokens", "--model", TINY, "--max-tokens", "0", input="a")
    for offsets in ([], ["--offsets"]):
        assert "leave none of the text" in bad(1, "tokens", *offsets, "--model", TINY, "--max-tokens", "2", input="hello")


def test_texts_of_the_command_line():
    expected = good("tokens", TINY, "-", input="the cat\na dog\n").stdout
    assert good("tokens", TINY, "--text", "the cat", "--text", "a dog").stdout == expected
