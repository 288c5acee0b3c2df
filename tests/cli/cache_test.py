"""latebind cache, and what embed keeps: the same vectors, and a start that only gets slower when the cache is broken."""

import json
import os

from support import MODEL, bad, good, run

TEXT = "A short text to embed.\n"


def embed(folder, *more, **options):
    return good("-v", "embed", "-q", "--model", MODEL, "--device", "openvino:CPU", "--cache-folder", folder, *more,
                input=TEXT, **options)


def listed(folder):
    return json.loads(good("cache", "list", "--json", "--cache-folder", folder).stdout)


def is_from_cache(done):
    return "taken from the cache" in done.stderr


def test_the_second_start_takes_what_the_first_compiled(tmp_path):
    folder = tmp_path / "compiled"
    plain = embed(folder, "--no-cache")
    assert not folder.exists()
    first, second = embed(folder), embed(folder)
    assert not is_from_cache(first) and is_from_cache(second)
    assert plain.stdout == first.stdout == second.stdout
    (entry,) = listed(folder)["entries"]
    assert entry["model"] == MODEL.name and entry["device"] == "openvino:CPU" and entry["precision"] == "f32"
    assert entry["damage"] == "" and entry["bytes"] > 1 << 20
    assert not is_from_cache(embed(folder, "--threads", "1")), "another option is another entry"
    assert len(listed(folder)["entries"]) == 2

    assert "all 2" in good("cache", "verify", "--cache-folder", folder).stdout
    file = folder / entry["file"]
    with open(file, "r+b") as damaged:
        damaged.seek(-100, os.SEEK_END)
        byte = damaged.read(1)
        damaged.seek(-100, os.SEEK_END)
        damaged.write(bytes([byte[0] ^ 1]))
    done = run("cache", "verify", "--cache-folder", folder)
    assert done.returncode == 1 and "1 of 2" in done.stdout and "payload was changed" in done.stdout
    assert not file.exists()
    again = embed(folder)
    assert again.stdout == plain.stdout and not is_from_cache(again)

    freed = json.loads(good("cache", "clear", "--json", "--cache-folder", folder).stdout)
    assert freed["entries"] == 2 and freed["bytes"] > 2 << 20
    assert listed(folder)["entries"] == []


def test_where_nothing_can_be_kept_the_answer_is_the_same(tmp_path):
    (tmp_path / "file").write_text("")
    assert json.loads(embed(tmp_path / "file" / "compiled").stdout)["index"] == 0


def test_an_empty_cache_is_no_error(tmp_path):
    assert "0 compiled models" in good("cache", "list", "--cache-folder", tmp_path / "none").stdout
    assert good("cache", "verify", "--cache-folder", tmp_path / "none").returncode == 0
    assert "removed 0" in good("cache", "clear", "--cache-folder", tmp_path / "none").stdout


def test_wrong_lines_are_answered():
    assert "cache" in bad(2, "cache")
    assert "true or false" in bad(2, "embed", "--model", MODEL, "--cache=maybe")
