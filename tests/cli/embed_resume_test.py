"""latebind embed -o FILE that was interrupted goes on, and ends with the bytes that it would have had otherwise."""

import gzip
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy
import pytest
from support import PROGRAM, SOURCE, TINY, bad, copy_model, good, run

WORDS = ["the", "cat", "dog", "sat", "ran", "under", "mat", "tree", "quick", "brown"]
COUNT = 300_000
BULK = SOURCE / "build" / "runtime" / "bulk" / "bin" / "python"
PYTHON = {"LATEBIND_PYTHON": str(BULK), "PYTHONPATH": str(SOURCE / "python"),
          "LATEBIND_LIBRARY": str(Path(os.environ["LATEBIND_TEST_BINARY_DIR"]) / "lib" / "liblatebind.so")}


def text_of(number):
    return " ".join(WORDS[int(digit)] for digit in str(number)) + " fox" * (number % 7)


def id_of(number):
    return number if number % 2 else f"a{number}"


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "a.txt").write_text("".join(f"{text_of(number)}\n" for number in range(1000)))
    (folder / "b.txt").write_text("".join(f"{text_of(number)}\n" for number in range(1000, COUNT)))
    rows = "".join(f'{{"id": {json.dumps(id_of(number))}, "text": "{text_of(number)}"}}\n' for number in range(COUNT))
    (folder / "rows.jsonl").write_text(rows)
    return folder


@pytest.fixture(scope="module")
def whole(inputs):
    """The bytes of runs that nothing interrupts."""
    good("embed", "-q", "--model", TINY, inputs / "a.txt", inputs / "b.txt", "-o", inputs / "texts.npy")
    good("embed", "-q", "--model", TINY, inputs / "rows.jsonl", "-o", inputs / "rows.npy")
    good("embed", "-q", "--model", TINY, inputs / "rows.jsonl", "-o", inputs / "whole.jsonl")
    return inputs


def start(output, *files, **options):
    return subprocess.Popen([str(PROGRAM), "embed", "--model", str(TINY), *map(str, files), "-o", str(output)],
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8", **options)


def saved(output):
    try:
        return json.loads((output.parent / f"{output.name}.part" / "progress.json").read_text())["texts"]
    except FileNotFoundError:
        return 0


def end(process, output, number):
    """Ends a run once it has saved more than there was; what it says. The run works a tenth of the time alone, so that it
    is far from its end on every machine."""
    before = saved(output)
    while process.poll() is None and saved(output) <= before:
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.05)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.005)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    return said


def unfinished(output, *files):
    """What a run leaves that is killed in the middle."""
    process = start(output, *files)
    end(process, output, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL, "it was too quick to be killed"
    assert not output.exists()


@pytest.mark.parametrize(("files", "name", "expected"), [
    (["a.txt", "b.txt"], "v.npy", "texts.npy"), (["rows.jsonl"], "v.npy", "rows.npy"), (["rows.jsonl"], "v.jsonl", "whole.jsonl")])
def test_killed_and_interrupted_it_ends_with_the_same_bytes(whole, tmp_path, files, name, expected):
    files = [whole / file for file in files]
    output = tmp_path / name
    unfinished(output, *files)
    process = start(output, *files)
    said = end(process, output, signal.SIGINT)
    assert process.returncode == 130, said
    assert said.splitlines()[0].startswith("latebind: continues: "), said
    line = said.splitlines()[-1]
    assert line.startswith("latebind: interrupted: ") and "run the same command again to continue" in line, line
    assert f"{saved(output)} of {COUNT} texts are kept in '{output}.part'" in line
    done = good("embed", "--model", TINY, *files, "-o", output)
    assert 0 < int(done.stderr.splitlines()[-1].split()[1]) < COUNT  # texts of this run
    assert output.read_bytes() == (whole / expected).read_bytes()
    ids = whole / f"{expected}.ids.jsonl"
    assert sorted(os.listdir(tmp_path)) == sorted([name, *([f"{name}.ids.jsonl"] if ids.exists() else [])])
    if ids.exists():
        assert (tmp_path / f"{name}.ids.jsonl").read_bytes() == ids.read_bytes()
        assert [json.loads(line) for line in ids.read_text().splitlines()] == [id_of(number) for number in range(COUNT)]


def test_several_outputs_go_on_too(inputs, tmp_path):
    count = 25_000
    few = tmp_path / "few.jsonl"
    with open(inputs / "rows.jsonl") as rows:
        few.write_text("".join(next(rows) for _ in range(count)))
    outputs = ("--outputs", "dense,token_vectors")
    good("embed", "-q", "--model", TINY, *outputs, few, "-o", tmp_path / "whole.jsonl")
    output = tmp_path / "v.jsonl"
    unfinished(output, *outputs, few)
    kept = saved(output)
    for other in ((), ("--outputs", "dense"), ("--outputs", "token_vectors,dense")):
        assert "outputs" in bad(2, "embed", "--model", TINY, *other, few, "-o", output)
    assert saved(output) == kept
    done = good("embed", "--model", TINY, *outputs, few, "-o", output)
    assert 0 < int(done.stderr.splitlines()[-1].split()[1]) < count  # texts of this run
    assert output.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["few.jsonl", "v.jsonl", "whole.jsonl"]


def test_what_is_not_the_same_is_refused_and_named(whole, tmp_path):
    texts = tmp_path / "texts.txt"
    shutil.copy(whole / "b.txt", texts)
    output = tmp_path / "v.npy"
    unfinished(output, texts)
    part = tmp_path / "v.npy.part"
    before = {file.name: file.read_bytes() for file in part.iterdir()}
    model = copy_model(tmp_path)
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | {"note": "another file"}))
    line = ["embed", "--model", TINY, texts, "-o", output]
    for changed, names in [
        (["--dimensions", 8], "--dimensions was not given, now 8"),
        (["--max-tokens", 9], '--max-tokens was not given, now "9"'),
        (["--prompt", "x"], '--prompt was not given, now "x"'),
        (["--output-format", "f32"], '--output-format was "npy", now "f32"'),
        ([whole / "a.txt"], f'FILE was not given, now "{whole / "a.txt"}"'),
    ]:
        said = bad(2, *line, *changed)
        assert names in said and "--restart" in said, said
    assert "MODEL is another model" in bad(2, "embed", "--model", model, texts, "-o", output)
    with texts.open("a") as file:
        file.write("one more\n")
    said = bad(2, *line)
    assert said.count(f'"{texts}" was changed') == 1 and "sha256" not in said, said
    assert before == {file.name: file.read_bytes() for file in part.iterdir()}
    good(*line, "-q", "--restart")
    assert numpy.load(output).shape == (COUNT - 1000 + 1, 32)
    assert not part.exists()


def test_two_at_once_are_refused(whole, tmp_path):
    output = tmp_path / "v.npy"
    process = start(output, whole / "b.txt")
    while process.poll() is None and not (tmp_path / "v.npy.part" / ".lock").exists():
        time.sleep(0.005)
    process.send_signal(signal.SIGSTOP)
    said = bad(1, "embed", "--model", TINY, whole / "a.txt", "-o", output)
    assert "another run is writing" in said and "v.npy" in said
    assert process.poll() is None
    process.kill()
    process.communicate()


def test_on_a_full_disk_what_there_was_room_for_stays(whole, tmp_path):
    output = tmp_path / "v.npy"
    unfinished(output, whole / "a.txt", whole / "b.txt")
    before = saved(output)
    room = (output.parent / f"{output.name}.part" / "vectors").stat().st_size + (1 << 20)
    limit = (room, room)
    done = run("embed", "-q", "--model", TINY, whole / "a.txt", whole / "b.txt", "-o", output,
               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    assert done.returncode == 1
    error, kept = done.stderr.splitlines()
    assert "v.npy.part/vectors" in error
    assert "texts are kept in" in kept and "run the same command again to continue" in kept
    assert before <= saved(output) < COUNT and not output.exists()
    good("embed", "-q", "--model", TINY, whole / "a.txt", whole / "b.txt", "-o", output)
    assert output.read_bytes() == (whole / "texts.npy").read_bytes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_before_anything_is_kept_a_signal_leaves_nothing(inputs, tmp_path, number):
    output = tmp_path / "v.npy"
    process = start(output, inputs / "b.txt")
    while process.poll() is None and not (tmp_path / "v.npy.part" / "vectors").exists():
        time.sleep(0.001)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    if number == signal.SIGTERM:
        assert process.returncode == -number
        assert os.listdir(tmp_path) == []
        return
    if process.returncode == -number:  # until the first text is read
        assert os.listdir(tmp_path) == []
        return
    # Complete windows are kept, if there are some.
    assert process.returncode == 130, said
    assert "latebind: interrupted: " in said
    assert os.listdir(tmp_path) == [] or saved(output) > 0


def test_an_input_that_is_wrong_leaves_nothing(tmp_path):
    (tmp_path / "texts").write_bytes(b"fine\n" * 5000 + b"\xff\n")
    said = bad(1, "embed", "--model", TINY, tmp_path / "texts", "-o", tmp_path / "v.npy")
    assert "texts:5001: invalid UTF-8" in said
    assert os.listdir(tmp_path) == ["texts"]


def test_ids_are_in_every_output(tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"id": "a", "text": "the cat", "key": 7}\n{"text": "the dog", "key": 8}\n{"id": 3, "text": "ran"}\n')
    line = ["embed", "-q", "--model", TINY]
    records = [json.loads(one) for one in good(*line, rows).stdout.splitlines()]
    assert [list(one) for one in records] == [["index", "id", "embedding"], ["index", "embedding"], ["index", "id", "embedding"]]
    assert [one.get("id") for one in records] == ["a", None, 3]
    for name, given in [("v.npy", []), ("v.f32", ["--output-format", "f32"])]:
        for source in (rows, "-"):
            extra = ["--input-format", "jsonl"] if source == "-" else []
            good(*line, source, *extra, *given, "-o", tmp_path / name, input=rows.read_text())
            assert (tmp_path / f"{name}.ids.jsonl").read_text() == '"a"\nnull\n3\n'
    good(*line, rows, "--id-field", "key", "-o", tmp_path / "v.npy")
    assert (tmp_path / "v.npy.ids.jsonl").read_text() == "7\n8\nnull\n"
    good(*line, rows, "--id-field", "", "-o", tmp_path / "v.npy")
    assert not (tmp_path / "v.npy.ids.jsonl").exists()
    # Each file is read as its name says.
    (tmp_path / "more.txt").write_text("the cat\n")
    mixed = [json.loads(one) for one in good(*line, rows, tmp_path / "more.txt").stdout.splitlines()]
    assert [one.get("id") for one in mixed] == ["a", None, 3, None] and mixed[3]["embedding"] == mixed[0]["embedding"]
    (tmp_path / "w.npy.ids.jsonl").write_text(rows.read_text())
    assert "which is an input" in bad(2, *line, tmp_path / "w.npy.ids.jsonl", "-o", tmp_path / "w.npy")


# -- Parquet, and what gzip has packed ------------------------------------------------------------------------------------


@pytest.mark.skipif(not BULK.exists(), reason="the Python with pyarrow is not there")
def test_parquet_is_written_by_the_package(tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"id": id_of(n), "body": text_of(n)}) + "\n" for n in range(500) if n % 2))
    line = ["embed", "--model", TINY, "--text-field", "body", "--max-tokens", "6"]
    done = good(*line, rows, "-o", tmp_path / "v.parquet", env=PYTHON)
    assert "250 rows in 1 shard" in done.stdout
    good(*line, "-q", rows, "-o", tmp_path / "v.npy")
    read = "import pyarrow.parquet as p, sys; t = p.read_table(sys.argv[1]); print(t.column_names, t['id'].to_pylist()[:3])"
    found = subprocess.run([str(BULK), "-c", read, str(tmp_path / "v.parquet")], capture_output=True, encoding="utf-8", check=True)
    assert found.stdout == "['id', 'body', 'vector'] [1, 3, 5]\n"
    # And read, with the same numbers.
    assert good(*line, "-q", tmp_path / "v.parquet", "-o", tmp_path / "again.npy", env=PYTHON).stdout == ""
    assert numpy.array_equal(numpy.load(tmp_path / "again.npy"), numpy.load(tmp_path / "v.npy"))


@pytest.mark.skipif(not BULK.exists(), reason="the Python with pyarrow is not there")
def test_packed_texts_and_names_that_say_nothing(tmp_path):
    (tmp_path / "notes.txt.gz").write_bytes(gzip.compress(b"the cat\n\nthe dog\n"))
    (tmp_path / "notes").write_text("the cat\n\nthe dog\n")
    good("embed", "-q", "--model", TINY, tmp_path / "notes", "-o", tmp_path / "v.npy")
    good("embed", "-q", "--model", TINY, tmp_path / "notes.txt.gz", "-o", tmp_path / "w.npy", env={"LATEBIND_PYTHON": "/bin/false"})
    assert numpy.array_equal(numpy.load(tmp_path / "w.npy"), numpy.load(tmp_path / "v.npy"))
    good("embed", "-q", "--model", TINY, tmp_path / "notes", "-o", tmp_path / "v.parquet", env=PYTHON)
    good("embed", "-q", "--model", TINY, tmp_path / "notes.txt.gz", "-o", tmp_path / "w.parquet", env=PYTHON)
    done = run("embed", "--model", "nowhere", tmp_path / "notes.txt.gz", "-o", tmp_path / "x.parquet", env=PYTHON)
    assert done.returncode != 0 and "nowhere" in done.stderr and "Traceback" not in done.stderr


def test_without_the_package_the_error_names_the_line_that_installs_it(tmp_path):
    (tmp_path / "a.txt").write_text("a\n")
    line = ["embed", "--model", TINY, tmp_path / "a.txt", "-o", tmp_path / "v.parquet"]
    for env in ({"PATH": "/nonexistent", "VIRTUAL_ENV": ""}, {"LATEBIND_PYTHON": "/nonexistent/python"}, {"LATEBIND_PYTHON": "/bin/false"}):
        said = bad(1, *line, env=env)
        assert "the wheel file of this release" in said and "LATEBIND_PYTHON" in said and "latebind[" not in said, said
    assert "name a FILE" in bad(2, "embed", "--model", TINY, "-o", tmp_path / "v.parquet")
    (tmp_path / "a.arrow").write_bytes(b"")
    assert "ends in .parquet, .npy or .jsonl" in bad(2, "embed", "--model", TINY, tmp_path / "a.arrow")
    assert sorted(os.listdir(tmp_path)) == ["a.arrow", "a.txt"]


def interpreter(folder, *lines):
    """A Python whose package is what these lines say."""
    (folder / "latebind").mkdir(parents=True)
    (folder / "latebind" / "__init__.py").write_text("\n".join(lines) + "\n")
    (folder / "latebind" / "bulk.py").write_text("def __getattr__(name):\n    import latebind\n    raise latebind.LibraryError('latebind.bulk needs pyarrow; run: pip install \"pyarrow>=16\"')\n")
    return {"LATEBIND_PYTHON": sys.executable, "PYTHONPATH": str(folder)}


def test_where_the_package_is_there_the_error_says_what_is_missing_beside_it(tmp_path):
    (tmp_path / "a.txt").write_text("a\n")
    line = ["embed", "--model", TINY, tmp_path / "a.txt", "-o", tmp_path / "v.parquet"]
    version = good("--version").stdout.split()[1]
    there = interpreter(tmp_path / "there", f"__version__ = '{version}'", "class LibraryError(Exception): pass")
    said = bad(1, *line, env=there)
    assert sys.executable in said and 'latebind.bulk needs pyarrow; run: pip install "pyarrow>=16"' in said
    assert "no Python has" not in said and "wheel" not in said, said
    old = interpreter(tmp_path / "old", "__version__ = '0.0.1'")
    said = bad(1, *line, env=old)
    assert f"no Python has its version {version}" in said and f"{sys.executable}' has latebind 0.0.1" in said, said


CSV = 'id,body,name\n1,"the cat, and more",x\n2,the dog,y\n'
NO_PYTHON = {"LATEBIND_PYTHON": "/bin/false"}


@pytest.mark.parametrize("ending", ["csv", "CSV", "tsv", "csv.gz", "semicolons.csv"])
def test_a_table_is_read_as_one_and_not_line_by_line(tmp_path, ending):
    table = tmp_path / f"notes.{ending}"
    text = CSV
    if ending == "tsv":
        text = CSV.replace('"', "").replace(",", "\t").replace("cat\t and", "cat, and")
    elif ending == "semicolons.csv":
        text = CSV.replace(",", ";").replace("cat; and", "cat, and")
    table.write_bytes(gzip.compress(text.encode()) if ending.endswith(".gz") else text.encode())
    printed = good("embed", "-q", "--model", TINY, "--text-field", "body", table, env=NO_PYTHON).stdout
    lines = [json.loads(line) for line in printed.splitlines()]
    assert [(line["index"], line["id"]) for line in lines] == [(0, "1"), (1, "2")]
    texts = good("embed", "-q", "--model", TINY, "--text", "the cat, and more", "--text", "the dog").stdout.splitlines()
    assert [line["embedding"] for line in lines] == [json.loads(line)["embedding"] for line in texts]
    good("embed", "-q", "--model", TINY, "--text-field", "body", table, "-o", tmp_path / "v.npy", env=NO_PYTHON)
    assert (tmp_path / "v.npy.ids.jsonl").read_text() == '"1"\n"2"\n'
    said = bad(1, "embed", "-q", "--model", TINY, table)
    assert "no column 'text' among 'id', 'body', 'name'" in said and "--text-field names" in said
    # Its lines, where these are wanted.
    done = good("embed", "-q", "--model", TINY, "--input-format", "lines", table)
    assert len(done.stdout.splitlines()) == 3
    # As the package reads it.
    if BULK.exists():
        good("embed", "-q", "--model", TINY, "--text-field", "body", table, "-o", tmp_path / "v.parquet", env=PYTHON)
        good("embed", "-q", "--model", TINY, "--text-field", "body", tmp_path / "v.parquet", "-o", tmp_path / "w.npy", env=PYTHON)
        assert numpy.array_equal(numpy.load(tmp_path / "w.npy"), numpy.load(tmp_path / "v.npy"))


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.jsonl.gz"])
def test_tables_and_packed_files_go_on_where_they_were_interrupted(tmp_path, name):
    """Each row of the table has two lines."""
    if "csv" in name:
        rows = "id;text\n" + "".join(f'{number};"{text_of(number)}\n{number}"\n' for number in range(COUNT // 3))
    else:
        rows = "".join(json.dumps({"id": str(number), "text": text_of(number)}) + "\n" for number in range(COUNT // 3))
    file, output = tmp_path / name, tmp_path / "v.npy"
    file.write_bytes(gzip.compress(rows.encode(), 1) if name.endswith(".gz") else rows.encode())
    good("embed", "-q", "--model", TINY, file, "-o", tmp_path / "whole.npy")
    process = start(output, file)
    end = time.monotonic() + 60
    while not saved(output) and time.monotonic() < end and process.poll() is None:
        time.sleep(0.3)
        if not saved(output) and (tmp_path / "v.npy.part" / "vectors").exists() and (tmp_path / "v.npy.part" / "vectors").stat().st_size > 100_000:
            process.send_signal(signal.SIGINT)
            process.wait()
    assert process.wait() == 130, process.stderr.read()
    assert 0 < saved(output) < COUNT // 3
    done = good("embed", "--model", TINY, file, "-o", output)
    assert "continues: " in done.stderr
    assert output.read_bytes() == (tmp_path / "whole.npy").read_bytes()
    assert (tmp_path / "v.npy.ids.jsonl").read_bytes() == (tmp_path / "whole.npy.ids.jsonl").read_bytes()
