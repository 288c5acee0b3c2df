"""Endless input: bounded memory, and progress for whoever watches."""

import io
import os
import pty
import re
import subprocess
from pathlib import Path

import numpy
from support import PROGRAM, TINY, good, run_measured


def write(folder, name, count):
    file = folder / name
    with open(file, "w", encoding="utf-8") as out:
        for i in range(count):
            out.write(f"short line {i} {'x' * (i % 7)}\n")
    return file


def test_memory_does_not_grow_with_the_input(tmp_path):
    short, long = write(tmp_path, "short", 40_000), write(tmp_path, "long", 300_000)
    for output_format in ("jsonl", "npy"):
        arguments = ("embed", "-q", "--model", TINY, "--output-format", output_format)
        few = run_measured(*arguments, short)
        many = run_measured(*arguments, long)
        assert many < few + 25, (output_format, few, many)


def test_order_is_kept_across_windows(tmp_path):
    file = write(tmp_path, "texts", 30_000)
    npy = tmp_path / "all.npy"
    good("embed", "-q", "--model", TINY, "--output-format", "npy", "-o", npy, file)
    array = numpy.load(npy)
    assert len(array) == 30_000
    lines = file.read_text().splitlines()
    picked = [0, 1, 8191, 8192, 16383, 16384, 29_999]
    some = tmp_path / "some"
    some.write_text("".join(lines[i] + "\n" for i in picked))
    good("embed", "-q", "--model", TINY, "--output-format", "npy", "-o", npy, some)
    numpy.testing.assert_allclose(numpy.load(npy), array[picked], atol=1e-4)


def on_a_terminal(arguments, env=None):
    """What the program writes to a terminal on stderr."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=theirs,
                               stdin=subprocess.DEVNULL, env=os.environ | {"TERM": "xterm"} | (env or {}))
    os.close(theirs)
    seen = b""
    while True:
        try:
            block = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        seen += block
    os.close(ours)
    assert process.wait() == 0, seen
    return seen.decode()


def test_progress_is_drawn_on_a_terminal_with_rate_and_remaining_time(tmp_path):
    file = write(tmp_path, "texts", 150_000)
    seen = on_a_terminal(["embed", "--model", TINY, file])
    draws = re.findall(r"\r(\[[= ]{24}\] +\d+ %  \d+ texts[^\x1b]*)\x1b\[K", seen)
    assert len(draws) >= 3, seen
    assert any(re.search(r"\d+ texts/s  \d:\d\d:\d\d left", line) for line in draws), draws
    # Wiped before the summary.
    assert re.search(r"\r\x1b\[Klatebind: 150000 texts in ", seen), seen
    # At most ten a second, and one at the start.
    seconds = float(re.search(r"texts in ([\d.]+) s", seen).group(1))
    assert len(draws) <= 10 * seconds + 3


def test_no_progress_when_nobody_watches(tmp_path):
    file = write(tmp_path, "texts", 3_000)
    assert "\r" not in good("embed", "--model", TINY, file).stderr
    assert on_a_terminal(["embed", "--quiet", "--model", TINY, file]) == ""
    assert "\r\x1b" not in on_a_terminal(["embed", "--model", TINY, file], {"TERM": "dumb"}).replace("\r\n", "")


def test_an_array_for_a_pipe_is_kept_where_tmpdir_says(tmp_path):
    texts, room = tmp_path / "texts", tmp_path / "room"
    os.mkfifo(texts)
    room.mkdir()
    arguments = [str(PROGRAM), "embed", "-q", "--model", str(TINY), "--device", "native:CPU", "--output-format", "npy",
                 str(texts)]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, env=os.environ | {"TMPDIR": str(room)})
    with open(texts, "w", encoding="utf-8") as writer:
        files = [os.readlink(file) for file in Path(f"/proc/{process.pid}/fd").iterdir()]
        writer.write("a\nb\n")
    array = numpy.load(io.BytesIO(process.communicate(timeout=60)[0]))
    assert process.returncode == 0 and len(array) == 2
    assert any(file.startswith(f"{room}/") for file in files), files
    assert list(room.iterdir()) == []
    # A place that is not there is none to keep to.
    elsewhere = good(*arguments[1:-1], "-", input=b"a\n", binary=True, env={"TMPDIR": "/nonexistent"}).stdout
    assert len(numpy.load(io.BytesIO(elsewhere))) == 1
