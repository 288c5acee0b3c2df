"""Whatever comes from outside may be wrong: one line that names the file and the place, no partial output, no crash."""

import json
import os
import resource
import signal
import struct
import subprocess

import pytest
from support import PROGRAM, TINY, bad, copy_model, good, run


def embed(*arguments, **options):
    return bad(1, "embed", "--model", TINY, *arguments, **options)


def write(folder, name, data):
    file = folder / name
    file.write_bytes(data)
    return file


def test_invalid_utf8_is_refused_by_file_line_and_byte(tmp_path):
    file = write(tmp_path, "texts", b"fine\nalso fine\nnot \xc3\x28 this\n")
    said = embed(file)
    assert f"{file}:3: invalid UTF-8 at byte 5" in said
    said = embed("-o", tmp_path / "v", file)
    assert not (tmp_path / "v").exists()


def test_invalid_utf8_on_stdin_is_called_stdin():
    done = run("embed", "--model", TINY, input=b"ok\n\xff\n", binary=True)
    assert done.returncode == 1 and done.stdout == b""
    assert done.stderr.startswith(b"latebind: stdin:2: invalid UTF-8 at byte 1")


def test_a_line_of_50_mb_works(tmp_path):
    file = write(tmp_path, "texts", b"word " * 10_000_000 + b"\nshort\n")
    done = good("embed", "--model", TINY, "--output-format", "f32", file, binary=True)
    assert b"2 texts in" in done.stderr
    assert b"1 text cut to" in done.stderr


def test_a_line_beyond_the_limit_is_refused_by_its_place(tmp_path):
    file = write(tmp_path, "texts", b"short\n" + b"x" * ((64 << 20) + 1) + b"\n")
    assert f"{file}:2: the line is longer than 64 MiB" in embed(file)


@pytest.mark.parametrize(
    "line, words",
    [
        (b'{"text": 1}', "field 'text' is a number"),
        (b'{"other": "x"}', "no field 'text'"),
        (b"[]", "object"),
        (b'{"text": "x"', "not JSON: 'text' has no end: the text ends at byte 12"),
        (b"", "the line is empty"),
        (b" \t", "the line is empty"),
        (b'{"text": "\xff"}', "invalid UTF-8 at byte 11"),
        (b"[" * 1_000_000, "too many levels"),
        (b'{"a":' * 1_000_000, "too many levels"),
    ],
)
def test_a_bad_json_line_is_named_with_file_line_and_field(tmp_path, line, words):
    file = write(tmp_path, "texts", b'{"text": "fine"}\n' + line + b"\n")
    said = embed("--input-format", "jsonl", file)
    assert f"{file}:2: " in said and words in said


def test_missing_inputs_are_told_before_anything_is_done(tmp_path):
    assert f"cannot open '{tmp_path}/none'" in embed(tmp_path / "none")
    assert "folder" in embed(tmp_path)


def test_a_text_in_the_place_of_a_file_is_shown_the_option(tmp_path):
    for command in ["embed", "tokens"]:
        said = bad(1, command, TINY, "hello world", cwd=tmp_path)
        assert "cannot open 'hello world'" in said and "--text" in said
    assert "--text" not in bad(1, "search", TINY, "hello world", "--query", "a", cwd=tmp_path)


def test_a_json_document_is_not_embedded_as_lines(tmp_path):
    file = write(tmp_path, "texts.json", b'{"text": "the cat"}\n')
    said = bad(2, "embed", TINY, file)
    assert "texts.json" in said and "--input-format jsonl" in said and "--input-format lines" in said
    as_objects = good("embed", TINY, "--input-format", "jsonl", file).stdout
    assert as_objects == good("embed", TINY, "--text", "the cat").stdout
    assert as_objects != good("embed", TINY, "--input-format", "lines", file).stdout


@pytest.mark.parametrize("ending", ["csv", "TSV", "npz", "arrow", "safetensors", "f32", "bin", "jsonl.gz", "pt", "xyz", "txt", "json"])
def test_an_ending_from_which_no_format_follows_is_refused(tmp_path, ending):
    output = tmp_path / f"vectors.{ending}"
    said = bad(2, "embed", TINY, "--text", "a", "-o", output)
    assert output.name in said and ".npy" in said and "--output-format" in said
    assert not list(tmp_path.iterdir())
    good("embed", TINY, "--text", "a", "--output-format", "f32", "-o", output)
    assert output.stat().st_size % 4 == 0


def test_a_full_folder_of_temporary_files_is_named(tmp_path):
    file = write(tmp_path, "texts", b"some text\n" * 5000)

    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 10, 64 << 10))

    said = bad(1, "embed", "-q", "--output-format", "npy", TINY, file, preexec_fn=little_room)
    assert "temporary file" in said and "TMPDIR" in said and "-o FILE" in said


@pytest.mark.parametrize("output_format", ["jsonl", "npy", "f32"])
def test_a_full_disk_is_one_line(tmp_path, output_format):
    file = write(tmp_path, "texts", b"some text\n" * 5000)
    with open("/dev/full", "wb") as full:
        done = run("embed", "-q", "--model", TINY, "--output-format", output_format, file, stdout=full)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1 and "No space left on device" in done.stderr, done.stderr
    said = embed("-q", "--output-format", output_format, "-o", "/dev/full", file)
    assert "/dev/full" in said and "No space left on device" in said
    assert os.path.exists("/dev/full") and not os.path.isfile("/dev/full")


def test_a_file_that_can_not_be_finished_leaves_nothing(tmp_path):
    file = write(tmp_path, "texts", b"some text\n" * 5000)

    def no_large_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    for output_format in ("jsonl", "npy", "f32"):
        said = embed("-q", "--output-format", output_format, "-o", tmp_path / "v", file,
                     preexec_fn=no_large_files, restore_signals=False)
        assert str(tmp_path / "v") in said
        assert [one.name for one in tmp_path.iterdir()] == ["texts"]


@pytest.mark.parametrize("command", ["devices", "doctor"])
def test_a_full_disk_fails_reports_too(command):
    with open("/dev/full", "wb") as full:
        done = run(command, "--json", stdout=full)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1 and "No space left on device" in done.stderr, done.stderr


def test_an_output_that_can_not_be_made_is_one_line(tmp_path):
    file = write(tmp_path, "texts", b"some text\n")
    for output in (tmp_path / "no" / "such" / "folder" / "v", "/proc/latebind-test", tmp_path):
        assert str(output) in embed("-o", output, file)
    if os.geteuid() != 0:  # nothing is unwritable to root
        locked = tmp_path / "locked"
        locked.mkdir(mode=0o555)
        assert str(locked) in embed("-o", locked / "v", file)
        assert list(locked.iterdir()) == []


def test_a_reader_that_goes_away_is_met_with_silence(tmp_path):
    file = write(tmp_path, "texts", b"some text\n" * 20000)
    for output_format in ("jsonl", "f32", "npy"):
        process = subprocess.Popen(
            [PROGRAM, "embed", "--model", TINY, "--output-format", output_format, file],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.read(10)
        process.stdout.close()
        error = process.stderr.read()
        process.stderr.close()
        assert (process.wait(), error) == (1, b"")


def test_head_works_in_a_shell(tmp_path):
    file = write(tmp_path, "texts", b"some text\n" * 20000)
    done = subprocess.run(["bash", "-c", f"'{PROGRAM}' embed --model '{TINY}' '{file}' | head -1; echo ${{PIPESTATUS[0]}}"],
                          capture_output=True, encoding="utf-8", check=True)
    record, code = done.stdout.splitlines()
    assert json.loads(record)["index"] == 0
    assert code == "1" and done.stderr == ""


def test_a_model_folder_that_is_none_is_named(tmp_path):
    said = bad(1, "embed", "--model", tmp_path / "none", input="text\n")
    assert str(tmp_path / "none") in said
    said = bad(1, "embed", "--model", tmp_path, input="text\n")
    assert f"'{tmp_path}' is an empty folder; a model folder holds config.json" in said
    (tmp_path / "some.txt").touch()
    assert f"'{tmp_path}' is not a model folder: config.json, " in bad(1, "embed", "--model", tmp_path, input="text\n")


FILES = ["config.json", "tokenizer.json", "model.safetensors"]


@pytest.mark.parametrize("name", FILES)
def test_what_has_a_model_files_name_and_is_none_is_told(tmp_path, name):
    model = copy_model(tmp_path)
    (model / name).unlink()
    (model / name).symlink_to(name)
    said = bad(1, "embed", "--model", model, input="text\n")
    assert name in said and "symbolic links" in said and "missing" not in said
    (model / name).unlink()
    for make in os.mkdir, os.mkfifo:
        make(model / name)
        said = bad(1, "embed", "--model", model, input="text\n")
        assert name in said and "missing" not in said
        (model / name).rmdir() if make is os.mkdir else (model / name).unlink()


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
def test_a_zero_byte_does_not_end_a_file(tmp_path, name):
    model = copy_model(tmp_path)
    (model / name).write_bytes((model / name).read_bytes() + b"\0garbage")
    said = bad(1, "embed", "--model", model, input="text\n")
    assert name in said and "a zero byte" in said


@pytest.mark.parametrize("name", FILES)
def test_a_model_file_that_is_missing_is_named(tmp_path, name):
    model = copy_model(tmp_path)
    (model / name).unlink()
    said = bad(1, "embed", "--model", model, input="text\n")
    # Without weights, or without what they mean, a ready ONNX file would do.
    assert name in said or "model.onnx" in said


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("share", [0, 0.5, 0.99])
def test_a_model_file_that_was_cut_off_is_named(tmp_path, name, share):
    model = copy_model(tmp_path)
    data = (model / name).read_bytes()
    (model / name).unlink()
    (model / name).write_bytes(data[: int(len(data) * share)])
    assert name in bad(1, "embed", "--model", model, "-o", tmp_path / "v", input="text\n")
    assert not (tmp_path / "v").exists()


def safetensors(header, data=b""):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 100) + b"{}",
        safetensors({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 2**60]}}),
        safetensors({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
                     "b": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}}, b"x" * 12),
        safetensors({"a": {"dtype": "F32", "shape": [2**40, 2**40], "data_offsets": [0, 8]}}, b"x" * 8),
        safetensors([]),
        b"GIF89a, certainly no model",
    ],
    ids=["huge header", "header beyond the end", "huge offset", "overlap", "absurd shape", "no object", "no safetensors"],
)
def test_hostile_weights_are_refused_by_name(tmp_path, data):
    model = copy_model(tmp_path)
    (model / "model.safetensors").unlink()
    (model / "model.safetensors").write_bytes(data)
    assert "model.safetensors" in bad(1, "embed", "--model", model, input="text\n")


@pytest.mark.parametrize(
    "key, value",
    [("hidden_size", 2**40), ("num_hidden_layers", 10**9), ("num_attention_heads", 0), ("vocab_size", -1),
     ("hidden_size", "many"), ("model_type", "unheard-of")],
)
def test_an_absurd_configuration_is_refused_by_name(tmp_path, key, value):
    model = copy_model(tmp_path)
    config = json.loads((model / "config.json").read_text())
    config[key] = value
    (model / "config.json").write_text(json.dumps(config))
    assert "config.json" in bad(1, "embed", "--model", model, input="text\n")


def test_a_tokenizer_of_another_kind_is_refused_by_name(tmp_path):
    model = copy_model(tmp_path)
    tokenizer = json.loads((model / "tokenizer.json").read_text())
    tokenizer["model"] = {"type": "Unheard", "unk_id": 0, "vocab": [["<unk>", 0.0]]}
    (model / "tokenizer.json").write_text(json.dumps(tokenizer))
    said = bad(1, "embed", "--model", model, input="text\n")
    assert "tokenizer.json" in said and "Unheard" in said


@pytest.mark.parametrize("data", [b"", b"\x00", b"no model", os.urandom(1000), b"\x08\x07:\xff\xff\xff\x7f"],
                         ids=["empty", "zero", "text", "random", "cut protobuf"])
def test_onnx_garbage_is_refused_by_name(tmp_path, data):
    file = write(tmp_path, "net.onnx", data)
    assert "net.onnx" in bad(1, "run", "--model", file)


def test_a_missing_model_file_is_named(tmp_path):
    assert "none.onnx" in bad(1, "run", "--model", tmp_path / "none.onnx")
