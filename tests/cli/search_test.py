"""latebind search: the nearest lines of files and folders, with an index and without."""

import gzip
import json
import os
import shutil
import subprocess

import numpy
import pytest
from support import MODEL, OPENVINO_GONE, PROGRAM, SOURCE, TINY, VENDORS_FIRST, bad, good, needs_native_int8, run, with_small_files

TEXTS = """The cat sits on the mat

A stock market crash worries investors
\tOpening a file in Python
Two kittens are sleeping
"""


def test_finds_the_nearest_lines_with_rank_score_and_line():
    lines = good("search", "--model", MODEL, "--query", "how do I read files", "-k", "2", "-", input=TEXTS).stdout
    first, second = lines.splitlines()
    assert first.split()[0] == "1" and "line 4 " in first and first.endswith("Opening a file in Python")
    assert second.split()[0] == "2"
    assert float(first.split()[1]) > float(second.split()[1])


def test_json_has_what_its_help_says(tmp_path):
    file = tmp_path / "texts"
    file.write_text(TEXTS)
    done = good("search", "--json", "--model", MODEL, *VENDORS_FIRST, "--query", "young cats", file)
    report = json.loads(done.stdout)
    assert set(report) == {"query", "device", "precision", "fallback", "reason", "results"}
    assert report["query"] == "young cats" and report["device"] == "openvino:CPU" and report["precision"] == "f32"
    # The empty line is left out.
    assert [result["rank"] for result in report["results"]] == [1, 2, 3, 4]
    assert report["results"][0] == {
        "rank": 1, "score": report["results"][0]["score"], "file": str(file), "line": 5, "text": "Two kittens are sleeping"}
    scores = [result["score"] for result in report["results"]]
    assert scores == sorted(scores, reverse=True) and all(-1 <= score <= 1 for score in scores)


def test_the_query_itself_scores_one():
    done = good("search", "--json", "--model", MODEL, "--query", "Two kittens are sleeping", "-", input=TEXTS)
    result = json.loads(done.stdout)["results"][0]
    assert result["line"] == 5 and result["score"] > 0.9999


def test_a_fallback_is_told_in_both_places():
    done = good("search", "--json", "--model", MODEL, *VENDORS_FIRST, "--query", "x", "-", input=TEXTS, env=OPENVINO_GONE)
    report = json.loads(done.stdout)
    assert report["fallback"] is True and "openvino" in report["reason"]
    assert report["device"] == "onnxruntime:CPU"
    assert sum("fallback" in line for line in done.stderr.splitlines()) == 1


def test_nothing_to_search_finds_nothing():
    assert good("search", "--model", MODEL, "--query", "x", "-", input="\n\n").stdout == ""


def test_fewer_dimensions_are_those_of_both_sides():
    command = ("search", "--json", "--model", MODEL, "--device", "native", "--query", "Two kittens are sleeping")
    done = good(*command, "--dimensions", "64", "-", input=TEXTS)
    result = json.loads(done.stdout)["results"]
    assert result[0]["line"] == 5 and result[0]["score"] > 0.9999
    whole = json.loads(good(*command, "-", input=TEXTS).stdout)["results"]
    assert result[1]["score"] != whole[1]["score"]
    assert "--query: vectors of 385 numbers" in bad(1, *command, "--dimensions", "385", "-", input=TEXTS)
    late = SOURCE / "tests" / "data" / "multi_vector_encoders" / "bert"
    assert "--dimensions: token vectors cannot be" in bad(
        2, "search", "--model", late, "--query", "a", "--dimensions", "4", "-", input="a\n")


ROWS = [("a1", "The cat sits on the mat"), (2, "Opening a file in Python"), (None, "Two kittens are sleeping")]


def written(folder, name):
    """A file of ROWS, with the text in the field `body`."""
    if "jsonl" in name:
        text = "".join(json.dumps({"id": id, "body": body} if id else {"body": body}) + "\n" for id, body in ROWS)
    else:
        separator = {"tsv": "\t", "semi.csv": ";"}.get(name.removesuffix(".gz").partition(".")[2], ",")
        text = f"id{separator}body\n" + "".join(f'{id or ""}{separator}"{body}"\n' for id, body in ROWS)
    file = folder / name
    file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return file


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv", "rows.tsv", "rows.semi.csv", "rows.jsonl.gz", "rows.csv.gz"])
def test_objects_and_rows_are_texts_for_search_and_rerank_as_for_embed(tmp_path, name):
    file = written(tmp_path, name)
    first_line = 1 if "jsonl" in name else 2
    searched = ("search", "--json", "--model", TINY, "--device", "native", "--query", ROWS[1][1], "--text-field", "body")
    best = json.loads(good(*searched, file).stdout)["results"]
    assert (best[0]["line"], best[0]["text"], best[0]["id"]) == (first_line + 1, ROWS[1][1], 2 if "jsonl" in name else "2")
    assert best[0]["score"] > 0.9999
    by_line = {result["line"] - first_line: result for result in best}
    assert by_line[0]["id"] == "a1" and [by_line[i]["text"] for i in range(3)] == [text for _, text in ROWS]
    if "jsonl" in name:
        assert "id" not in by_line[2]
    # For people, too.
    shown = good("search", "-q", "--model", TINY, "--device", "native", "--query", "x", "--text-field", "body", file).stdout
    assert f'line {first_line}     "a1" The cat sits on the mat\n' in shown
    assert f"line {first_line + 2}      Two kittens" in shown, "no id"
    assert '"a1"' not in good("search", "-q", "--model", TINY, "--device", "native", "--query", "x", "--text-field", "body",
                              "--id-field", "", file).stdout
    ranked = json.loads(good("rerank", "--json", "--model", RERANKER, "--query", "a cat", "--text-field", "body", file).stdout)
    assert sorted((one["line"], one.get("id")) for one in ranked["results"])[0] == (first_line, "a1")
    lines = good("search", "--json", "--model", TINY, "--device", "native", "--query", "x", "--input-format", "lines", file).stdout
    assert len(json.loads(lines)["results"]) == first_line + 2
    said = bad(1, "search", "--model", TINY, "--query", "x", file)
    assert "no " in said and "'text' among 'id', 'body'" in said.replace("'body', 'id'", "'id', 'body'") and "--text-field" in said
    if not name.endswith(".gz"):
        # The index has the same results, also when nothing is embedded any more.
        for _ in range(2):
            kept = json.loads(good(*searched, "--index", tmp_path / "index", file).stdout)
            assert [(one["line"], one.get("id"), one["text"]) for one in kept["results"]] == [
                (one["line"], one.get("id"), one["text"]) for one in best]
        assert kept["index"]["embedded_files"] == 0
    else:
        assert "unpack it, or leave out --index" in bad(1, *searched, "--index", tmp_path / "index", file)


@pytest.mark.parametrize("indexed", [False, True])
def test_files_of_folders_without_the_field_are_read_by_their_lines(tmp_path, indexed):
    folder = tmp_path / "folder"
    folder.mkdir()
    written(folder, "rows.csv")
    written(folder, "rows.jsonl")
    (folder / "good.jsonl").write_text('{"text": "a stock market crash"}\n')
    more = ["--index", tmp_path / "index"] if indexed else []
    line = ["search", "--json", "--model", TINY, "--device", "native", "--query", "x", "-k", "100", *more, folder]
    for again in range(2 if indexed else 1):
        done = good(*line)
        texts = {(os.path.basename(one["file"]), one["line"]): one["text"] for one in json.loads(done.stdout)["results"]}
        assert texts["good.jsonl", 1] == "a stock market crash"
        assert texts["rows.csv", 1] == "id,body" and texts["rows.jsonl", 1].startswith('{"id"')
        if not again:
            assert "2 table or JSON lines files of folders have no field 'text' and were read by lines" in done.stderr
    done = good(*line, "--text-field", "body")
    texts = {(os.path.basename(one["file"]), one["line"]): one["text"] for one in json.loads(done.stdout)["results"]}
    assert texts["rows.csv", 2] == texts["rows.jsonl", 1] == ROWS[0][1]
    assert texts["good.jsonl", 1].startswith("{")


CAT, CRASH, PYTHON, KITTENS = (line.strip() for line in TEXTS.splitlines() if line)
RERANKER = SOURCE / "tests" / "data" / "cross_encoders" / "bert"


@pytest.fixture
def folder(tmp_path):
    """Two files of text among what is no text; one that is old enough for its dates to count."""
    folder = tmp_path / "docs"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text(f"{CAT}\n\n{CRASH}\n")
    (folder / "sub" / "b.md").write_bytes(b"\xef\xbb\xbf" + f"{PYTHON}\r\n{KITTENS}".encode())
    (folder / "zero").write_bytes(b"x\0y")
    (folder / "latin").write_bytes(b"plain\ncaf\xe9\n")
    (folder / "utf16").write_bytes("cats".encode("utf-16"))
    (folder / ".hidden").write_text("secret\n")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("secret\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "c.txt").write_text("secret\n")
    (folder / "out").symlink_to(outside)
    (folder / "out.txt").symlink_to(outside / "c.txt")
    (folder / "round").symlink_to(folder)
    os.mkfifo(folder / "pipe")
    return folder


def found(folder, *arguments, query="young cats", model=MODEL):
    """The report of a search with --json, and what stderr says."""
    places = folder if isinstance(folder, list) else [folder]
    done = good("search", "--model", model, "--device", "native", "--query", query, "--json", *arguments, *places)
    return json.loads(done.stdout), done.stderr


def test_a_folders_text_files_are_searched_and_the_rest_is_counted(folder):
    report, said = found(folder)
    assert [(one["file"], one["line"], one["text"]) for one in report["results"]] == [
        (f"{folder}/sub/b.md", 2, KITTENS), (f"{folder}/a.txt", 1, CAT),
        (f"{folder}/sub/b.md", 1, PYTHON), (f"{folder}/a.txt", 3, CRASH)]
    assert report["left_out"] == {
        "binary": 1, "not_utf8": 2, "hidden": 2, "links": 3, "types": 0, "large": 0, "special": 1, "unreadable": 0}
    # The first one of another encoding is named, with what converts it.
    assert "left out: 1 binary file, 2 that are not UTF-8, 2 hidden ones, 3 links, 1 pipe or device; " in said
    assert f"; {folder}/latin:2: invalid UTF-8 at byte 4 of the line (0xE9); if it is Latin-1, convert it with `iconv -f " in said
    lines = good("search", "--model", MODEL, "--query", "young cats", "-k", "1", "-q", folder).stdout
    assert lines.split()[0] == "1" and f"{folder}/sub/b.md:2  {KITTENS}" in lines


def test_types_hidden_files_and_sizes_can_be_chosen(folder):
    report, _ = found(folder, "--type", "MD", "--type", "rst")
    assert {one["file"] for one in report["results"]} == {f"{folder}/sub/b.md"} and report["left_out"]["types"] == 4
    report, _ = found(folder, "--hidden", "-k", "100")
    assert {one["text"] for one in report["results"]} == {CAT, CRASH, PYTHON, KITTENS, "secret"}
    (folder / "long.txt").write_bytes(b"word " * (300 << 10))
    report, _ = found(folder, "--max-file-size", "1")
    assert report["left_out"]["large"] == 1 and len(report["results"]) == 4
    assert "--max-file-size" in bad(2, "search", "--model", MODEL, "--query", "x", "--max-file-size", "0", folder)


def test_a_file_is_searched_once_however_often_it_is_named(folder):
    report, _ = found([folder / "a.txt", folder, folder / "sub" / ".." / "a.txt"])
    assert [one["text"] for one in report["results"]].count(CAT) == 1
    assert f"{folder}/a.txt" in {one["file"] for one in report["results"]}


def test_what_is_named_and_cannot_be_searched_is_an_error(folder):
    assert "no/such" in bad(1, "search", "--model", MODEL, "--query", "x", "no/such")
    for index in ([], ["--index", folder / ".index"]):
        line = ("search", "--model", MODEL, "--query", "x", "-q", *index)
        said = bad(1, *line, folder / "latin")
        assert f"{folder}/latin:2: invalid UTF-8 at byte 4 of the line (0xE9)" in said and "`iconv -f WINDOWS-1252 -t UTF-8`" in said
        said = bad(1, *line, folder / "utf16")
        assert f"{folder}/utf16:1: invalid UTF-8 at byte 1 of the line (0xFF)" in said and "`iconv -f UTF-16 -t UTF-8`" in said
    (folder / "empty").mkdir()
    done = good("search", "--model", MODEL, "--query", "x", folder / "empty")
    assert done.stdout == "" and "there is no text file to search" in done.stderr


def indexed(folder, *arguments, **options):
    index = folder / "vectors.index"
    report, said = found(folder, "--index", index, *arguments, **options)
    return report["index"] | {"results": report["results"]}, said


def load_file(file):
    """The tensors of a safetensors file, by the format's own description."""
    content = file.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    types = {"U8": numpy.uint8, "U64": numpy.uint64, "I64": numpy.int64, "F32": numpy.float32}
    return {name: numpy.frombuffer(content[start + one["data_offsets"][0]:start + one["data_offsets"][1]], types[one["dtype"]])
            .reshape(one["shape"]) for name, one in json.loads(content[8:start]).items()}


def settle(folder):
    """Dates that are more than two seconds old."""
    for place, _, names in os.walk(folder):
        for name in names:
            os.utime(os.path.join(place, name), ns=(10**18, 10**18), follow_symlinks=False)


def test_an_index_gives_the_same_and_embeds_only_what_has_changed(folder):
    plain = found(folder)[0]["results"]
    first, _ = indexed(folder)
    assert first["results"] == plain and (first["embedded_files"], first["embedded_texts"]) == (2, 4)
    again, said = indexed(folder)
    assert again["results"] == plain and again["embedded_files"] == again["removed_files"] == 0
    assert "0 files embedded now" in said and "texts/s" not in said
    (folder / "a.txt").write_text(f"{CAT}\nnew\n")
    changed, _ = indexed(folder)
    assert (changed["embedded_files"], changed["embedded_texts"], changed["texts"]) == (1, 2, 4)
    assert {one["text"] for one in changed["results"]} == {CAT, "new", PYTHON, KITTENS}
    assert changed["results"] == found(folder)[0]["results"]
    # A file that was renamed or touched is the same one.
    (folder / "a.txt").rename(folder / "d.txt")
    settle(folder)
    moved, _ = indexed(folder)
    assert moved["embedded_files"] == 0 and {one["file"] for one in moved["results"]} == {f"{folder}/d.txt", f"{folder}/sub/b.md"}
    (folder / "d.txt").unlink()
    gone, _ = indexed(folder)
    assert (gone["files"], gone["removed_files"]) == (1, 1)
    # What became binary goes, too.
    (folder / "sub" / "b.md").write_bytes(b"\0")
    assert indexed(folder)[0]["texts"] == 0


def test_an_index_serves_parts_of_what_it_has_and_moves_with_its_folder(folder):
    assert indexed(folder)[0]["files"] == 2
    part, _ = found(folder / "sub", "--index", folder / "vectors.index")
    assert part["index"]["files"] == 2 and {one["file"] for one in part["results"]} == {f"{folder}/sub/b.md"}
    moved = folder.rename(folder.parent / "elsewhere")
    assert indexed(moved)[0]["embedded_files"] == 0


def test_another_model_or_other_options_make_the_index_anew_and_say_so(folder):
    indexed(folder, model=TINY)
    for arguments, why in ((["--dimensions", "4"], "vectors of 4 numbers instead of"), (["--prompt", "x"], "prompt"),
                           (["--max-tokens", "4"], "max_tokens")):
        report, said = indexed(folder, *arguments, model=TINY)
        assert report["embedded_files"] == 2 and "is built again" in said and why in said, said
        indexed(folder, model=TINY)
    other = shutil.copytree(TINY, folder.parent / "other")
    assert indexed(folder, model=other)[0]["embedded_files"] == 0
    config = json.loads((other / "1_Pooling" / "config.json").read_text())
    (other / "1_Pooling" / "config.json").write_text(json.dumps(config | {"comment": ""}))
    report, said = indexed(folder, model=other)
    assert report["embedded_files"] == 2 and "another model" in said


def test_another_precision_makes_the_index_anew(folder):
    needs_native_int8(TINY)
    indexed(folder, model=TINY)
    report, said = indexed(folder, "--precision", "int8", model=TINY)
    assert report["embedded_files"] == 2 and "is built again" in said and "precision" in said, said


def test_jsonl_has_its_lines_in_the_index(folder):
    (folder / "rows").mkdir()
    (folder / "rows" / "r.jsonl").write_text("".join(json.dumps({"body": text}) + "\n" for text in (CAT, "", KITTENS)))
    arguments = ["--input-format", "jsonl", "--text-field", "body"]
    expected, _ = found(folder / "rows", *arguments)
    report, _ = found(folder / "rows", *arguments, "--index", folder / "i")
    assert report["results"] == expected["results"] and [one["line"] for one in report["results"]] == [3, 1]
    assert "r.jsonl:1: " in bad(1, "search", "--model", MODEL, "--query", "x", "--index", folder / "j", "--input-format",
                                "jsonl", "--text-field", "none", "-q", folder / "rows")


def test_the_index_is_what_its_document_says(folder):
    indexed(folder)
    index = load_file(folder / "vectors.index")
    description = json.loads(index["description"].tobytes())
    assert description["format"] == "latebind.index" and description["dimension"] == 384
    ends = index["files.name_ends"].tolist()
    names = index["files.names"].tobytes().decode()
    assert [names[a:b] for a, b in zip([0, *ends], ends, strict=False)] == ["a.txt", "sub/b.md"]
    assert index["files.text_ends"].tolist() == [2, 4] and index["texts.lines"].tolist() == [1, 3, 1, 2]
    content = (folder / "sub" / "b.md").read_bytes()
    assert content[index["texts.begins"][3]:index["texts.ends"][3]].decode() == KITTENS
    assert content[index["texts.begins"][2]:index["texts.ends"][2]].decode() == PYTHON
    assert numpy.linalg.norm(index["texts.vectors"], axis=1) == pytest.approx(1, abs=1e-5)
    document = (SOURCE / "docs" / "index-format.md").read_text()
    assert all(f"`{name}`" in document for name in index)


def test_a_file_that_is_no_index_is_never_replaced(folder):
    plain = (folder / "a.txt").read_bytes()
    command = ("search", "--model", TINY, "--query", "x", "-q")
    assert "is not an index" in bad(1, *command, "--index", folder / "a.txt", folder / "sub")
    weights = folder.parent / "model.safetensors"
    shutil.copy(TINY / "model.safetensors", weights)
    assert "a safetensors file, but not an index" in bad(1, *command, "--index", weights, folder)
    assert (folder / "a.txt").read_bytes() == plain
    assert "is the index itself" in bad(1, *command, "--index", folder / "a.txt", folder / "a.txt")
    assert "stdin" in bad(2, *command, "--index", folder / "i", "-", input="a\n")
    late = SOURCE / "tests" / "data" / "multi_vector_encoders" / "bert"
    assert "--index" in bad(2, "search", "--model", late, "--query", "a", "--index", folder / "i", folder)
    assert "none/i" in bad(1, *command, "--index", "none/i", folder)
    assert not (folder / "i").exists()


def test_two_writers_leave_one_whole_index(folder):
    command = [str(PROGRAM), "search", "--model", str(TINY), "--query", "x", "-q", "--index", str(folder / "i"), str(folder)]
    several = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    outputs = [one.communicate() for one in several]
    assert [one.returncode for one in several] == [0] * 4, outputs
    assert len({output for output, _ in outputs}) == 1
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".l")) == []
    assert len(load_file(folder / "i")["texts.lines"]) == 4


def test_rerank_ranks_the_best_lines_again(folder):
    report, _ = found(folder, "--rerank", RERANKER, "-k", "3", model=TINY)
    results = report["results"]
    assert report["reranker"]["device"] == "native:CPU"
    assert len(results) == 3 and [one["rank"] for one in results] == [1, 2, 3]
    scores = {one["text"]: one["score"] for one in results}
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    alone = good("rerank", "--model", RERANKER, "--device", "native", "--query", "young cats", "--json", "-",
                 input="\n".join(scores))
    assert scores == pytest.approx({one["text"]: one["score"] for one in json.loads(alone.stdout)["results"]}, abs=1e-5)
    first = {one["text"]: one["score"] for one in found(folder, model=TINY)[0]["results"]}
    assert {one["text"]: one["vector_score"] for one in results} == {text: first[text] for text in scores}
    # The same with an index; and only the candidates are asked about.
    assert found(folder, "--rerank", RERANKER, "-k", "3", "--index", folder / "i", model=TINY)[0]["results"] == results
    one, _ = found(folder, "--rerank", RERANKER, "-k", "1", "--candidates", "1", model=TINY)
    assert one["results"][0]["vector_score"] == max(first.values())
    assert "--rerank: " in bad(1, "search", "--model", TINY, "--query", "x", "--rerank", TINY, "-q", folder)


def test_an_index_that_cannot_be_written_leaves_the_old_one(folder):
    indexed(folder, model=TINY)
    old = (folder / "vectors.index").read_bytes()
    (folder / "more.txt").write_text("".join(f"line {i}\n" for i in range(1000)))
    done = run("search", "--model", TINY, "--query", "x", "--index", folder / "vectors.index", "-q", folder,
               preexec_fn=with_small_files)
    assert done.returncode == 1 and done.stdout == "" and len(done.stderr.splitlines()) == 1
    assert (folder / "vectors.index").read_bytes() == old
    assert [path.name for path in folder.iterdir() if path.name.endswith(".tmp")] == []
