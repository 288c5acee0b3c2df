"""The C programs of examples/ give what the program's commands give."""

import os

import pytest
from support import PROGRAM, TINY, good, run

LINES = "the cat sat on the mat\n\na man is here\n" + "the dog ran and the cat sat\n" * 300


def written_by(name, *arguments):
    return good(*arguments, program=PROGRAM.with_name(name), input=LINES.encode(), binary=True).stdout


def test_a_stream_in_c_gives_the_bytes_of_embed(tmp_path):
    file = tmp_path / "lines"
    file.write_text(LINES)
    good("embed", "--model", TINY, "--device", "cpu", "--output-format", "f32", "-o", tmp_path / "vectors", file)
    written_by("stream_c", TINY, tmp_path / "in-c", "device=cpu", "hint=throughput")
    assert (tmp_path / "in-c").read_bytes() == (tmp_path / "vectors").read_bytes()


def test_a_line_is_one_text_whatever_is_in_it(tmp_path):
    file = tmp_path / "lines"
    file.write_bytes(b"a" * 1_500_000 + b"\n\nthe\0cat")
    good("embed", "--model", TINY, "--device", "cpu", "--output-format", "f32", "-o", tmp_path / "vectors", file)
    good(TINY, tmp_path / "in-c", "device=cpu", "hint=throughput", program=PROGRAM.with_name("stream_c"),
         input=file.read_bytes(), binary=True)
    assert (tmp_path / "in-c").read_bytes() == (tmp_path / "vectors").read_bytes()


def test_a_stream_in_c_writes_over_nothing(tmp_path):
    file = tmp_path / "lines"
    file.write_text(LINES)
    done = run(TINY, file, "device=cpu", program=PROGRAM.with_name("stream_c"), input="")
    assert done.returncode == 1 and f"{file}: File exists" in done.stderr
    assert file.read_text() == LINES


def test_a_file_that_is_missing_is_told_from_one_without_lines(tmp_path):
    done = run(TINY, tmp_path / "none", "a question", program=PROGRAM.with_name("nearest"))
    assert done.returncode == 1 and f"cannot open {tmp_path}/none" in done.stderr


def test_input_that_cannot_be_read_is_an_error(tmp_path):
    folder = os.open(tmp_path, os.O_RDONLY)
    done = run(TINY, tmp_path / "in-c", "device=cpu", program=PROGRAM.with_name("stream_c"), input=None,
               stdin=folder)
    os.close(folder)
    assert done.returncode == 1 and "reading: " in done.stderr


@pytest.mark.parametrize("program, arguments", [
    ("embed_c", (TINY, "a", "b", "cpu")), ("job_c", ()), ("job_c", ("devices", "{}", "device=cpu")), ("tokens_c", (TINY,))])
def test_output_that_does_not_arrive_is_an_error(program, arguments):
    with open("/dev/full", "w") as full:
        done = run(*arguments, program=PROGRAM.with_name(program), input="a\n", stdout=full)
    assert done.returncode == 1 and "writing: " in done.stderr


def test_tokens_in_c_are_those_of_tokens(tmp_path):
    file = tmp_path / "lines"
    file.write_text(LINES)
    assert written_by("tokens_c", TINY).decode() == good("tokens", "--model", TINY, file).stdout
    assert written_by("tokens_c", TINY, "--text").decode().startswith("[CLS] the cat sat on the mat [SEP]\n")
