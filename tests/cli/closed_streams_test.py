"""Programs are started without standard streams: by `<&-`, or by what starts services and closes all it has."""

import os
import subprocess

import pytest
from support import MODEL, PROGRAM, TINY, bad, good


def without(*streams):
    """For preexec_fn: closes those."""

    def close():
        for stream in streams:
            os.close(stream)

    return close


@pytest.mark.parametrize("precision", ["f32", "int8,f32"])
def test_a_closed_stdin_is_not_the_weights_of_the_model(precision):
    # native:CPU keeps the file of a model with large tables open.
    said = bad(1, "embed", "--model", MODEL, "--device", "native:CPU", "--precision", precision, "-", preexec_fn=without(0))
    assert said == "latebind: cannot read stdin: Bad file descriptor"


def test_nothing_stands_in_for_a_closed_stream(tmp_path):
    # A descriptor that can be neither read nor written, all the time that the program runs.
    texts, vectors = tmp_path / "texts", tmp_path / "vectors.jsonl"
    os.mkfifo(texts)
    process = subprocess.Popen(
        [str(PROGRAM), "embed", "--model", str(TINY), "--device", "native:CPU", "-o", str(vectors), str(texts)],
        preexec_fn=without(0, 1, 2),
    )
    with open(texts, "w", encoding="utf-8") as writer:  # when it has been opened by the program, too
        streams = [os.readlink(f"/proc/{process.pid}/fd/{stream}") for stream in range(3)]
        writer.write("a\n")
    assert process.wait(timeout=60) == 0
    assert streams == ["/"] * 3
    assert vectors.read_text().startswith('{"index":0,')


def test_results_for_a_closed_stdout_are_an_error(tmp_path):
    texts = tmp_path / "texts"
    texts.write_text("a\n")
    arguments = ("embed", "-q", "--model", TINY, "--device", "native:CPU", texts)
    assert bad(1, *arguments, preexec_fn=without(1)) == "latebind: writing to stdout failed: Bad file descriptor"
    # A line that nobody wants to see is no error.
    assert good(*arguments, preexec_fn=without(2)).stdout.startswith('{"index":0,')
