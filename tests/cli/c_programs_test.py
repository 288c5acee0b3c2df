"""The C programs of examples/ give what the program's commands give."""

from support import PROGRAM, TINY, good

LINES = "the cat sat on the mat\n\na man is here\n" + "the dog ran and the cat sat\n" * 300


def written_by(name, *arguments):
    return good(*arguments, program=PROGRAM.with_name(name), input=LINES.encode(), binary=True).stdout


def test_a_stream_in_c_gives_the_bytes_of_embed(tmp_path):
    file = tmp_path / "lines"
    file.write_text(LINES)
    good("embed", "--model", TINY, "--device", "cpu", "--output-format", "f32", "-o", tmp_path / "vectors", file)
    written_by("stream_c", TINY, tmp_path / "in-c", "device=cpu", "hint=throughput")
    assert (tmp_path / "in-c").read_bytes() == (tmp_path / "vectors").read_bytes()


def test_tokens_in_c_are_those_of_tokens(tmp_path):
    file = tmp_path / "lines"
    file.write_text(LINES)
    assert written_by("tokens_c", TINY).decode() == good("tokens", "--model", TINY, file).stdout
    assert written_by("tokens_c", TINY, "--text").decode().startswith("[CLS] the cat sat on the mat [SEP]\n")
