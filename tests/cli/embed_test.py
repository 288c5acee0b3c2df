"""latebind embed with the real model: right vectors in every format, from every kind of input, on every backend."""

import io
import json
import platform
import os
import shutil
import subprocess
from pathlib import Path

import numpy
import pytest
from support import (BOTH_GONE, GOLDEN, MODEL, OF_ANOTHER_TOKENIZER, ONNXRUNTIME_GONE, OPENVINO_GONE, PROGRAM, SOURCE, TINY, VENDORS_FIRST, bad, cosines,
                     empty_prefix, good, run, vectors)

FAKE_OPENVINO = Path(os.environ["LATEBIND_TEST_BINARY_DIR"]) / "lib" / "liblb_fake_openvino.so"

LINES = "The cat sits outside\nA man is playing guitar\n\nThe new movie is awesome\n"


@pytest.fixture(scope="module")
def reference():
    return vectors(good("embed", "--model", MODEL, input=LINES).stdout)


def write(folder, name, text):
    file = folder / name
    file.write_bytes(text.encode())
    return file


@pytest.mark.parametrize("backend", ["openvino", "onnxruntime", "native"])
def test_agrees_with_the_golden_vectors(backend):
    golden = numpy.load(GOLDEN / "minilm.npy")
    done = good("embed", "--model", MODEL, "--device", backend, "--input-format", "jsonl", GOLDEN / "minilm.jsonl")
    assert cosines(vectors(done.stdout), golden).min() > 0.99999
    assert backend + ":CPU" in done.stderr


def test_bf16_agrees_less_closely_and_says_so():
    golden = numpy.load(GOLDEN / "minilm.npy")
    done = run("embed", "--model", MODEL, "--device", "openvino", "--precision", "bf16", "--input-format", "jsonl",
               GOLDEN / "minilm.jsonl")
    if done.returncode != 0:  # a processor without bf16: refused by name, never computed in something else
        assert done.returncode == 1 and "bf16" in done.stderr
        return
    assert cosines(vectors(done.stdout), golden).min() > 0.9995
    assert ", bf16: " in done.stderr


def test_the_summary_has_device_precision_speed_and_padding():
    done = good("embed", "--model", MODEL, *VENDORS_FIRST, input=LINES)
    lines = done.stderr.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("latebind: 4 texts in ")
    for word in ("openvino:CPU (", "runtime 20", ", f32: ", " texts/s, ", " tokens/s, ", " % padding"):
        assert word in lines[0], lines[0]
    assert good("embed", "--quiet", "--model", MODEL, input=LINES).stderr == ""


def test_an_empty_line_is_an_empty_text(reference):
    golden = numpy.load(GOLDEN / "minilm.npy")  # its first text is empty
    assert len(reference) == 4
    assert cosines(reference[2:3], golden[:1])[0] > 0.99999


def test_every_format_has_the_same_numbers(tmp_path, reference):
    npy = tmp_path / "v.npy"
    good("embed", "--model", MODEL, "--output-format", "npy", "-o", npy, input=LINES)
    array = numpy.load(npy)
    assert array.dtype == numpy.float32 and array.shape == (4, 384)
    assert cosines(array, reference).min() > 0.999999
    raw = good("embed", "--model", MODEL, "--output-format", "f32", input=LINES.encode(), binary=True).stdout
    assert cosines(numpy.frombuffer(raw, "<f4").reshape(4, 384), reference).min() > 0.999999
    piped = good("embed", "--model", MODEL, "--output-format", "npy", input=LINES.encode(), binary=True).stdout
    assert cosines(numpy.load(io.BytesIO(piped)), reference).min() > 0.999999
    jsonl = tmp_path / "v.jsonl"
    done = good("embed", "--model", MODEL, "--output", jsonl, input=LINES)
    assert done.stdout == ""
    assert cosines(vectors(jsonl.read_text()), reference).min() > 0.999999


def test_fewer_dimensions_are_the_first_numbers(tmp_path, reference):
    done = good("embed", "--model", MODEL, "--dimensions", "64", input=LINES)
    first = reference[:, :64]
    assert numpy.allclose(vectors(done.stdout), first / numpy.linalg.norm(first, axis=1, keepdims=True), atol=1e-6)
    assert "64 of 384 numbers: the model's files do not say" in done.stderr
    npy = tmp_path / "v.npy"
    good("embed", "--model", MODEL, "--dimensions", "64", "--output-format", "npy", "-o", npy, input=LINES)
    assert numpy.load(npy).shape == (4, 64)
    # One whose files say that it was trained for it.
    trained = tmp_path / "trained"
    shutil.copytree(TINY, trained)
    own = json.loads((trained / "config.json").read_text())
    (trained / "config.json").write_text(json.dumps(own | {"matryoshka_dimensions": [8, 16, 32]}))
    done = good("embed", "--model", trained, "--device", "native", "--dimensions", "8", input="a\n")
    assert vectors(done.stdout).shape == (1, 8) and "numbers" not in done.stderr
    assert good("embed", "--model", trained, "--device", "native", "--dimensions", "32", input="a\n").stdout == good(
        "embed", "--model", trained, "--device", "native", input="a\n").stdout
    assert "vectors of 385 numbers were asked for; the model gives 384" in bad(
        1, "embed", "--model", MODEL, "--dimensions", "385", "-o", npy, input=LINES)
    assert numpy.load(npy).shape == (4, 64)  # as it was


def test_no_text_at_all_gives_an_empty_result(tmp_path):
    npy = tmp_path / "v.npy"
    good("embed", "--model", MODEL, "--output-format", "npy", "-o", npy, input="")
    assert numpy.load(npy).shape == (0, 384)
    assert good("embed", "--model", MODEL, input="").stdout == ""


@pytest.mark.parametrize(
    "text",
    [LINES[:-1], LINES.replace("\n", "\r\n"), "\ufeff" + LINES],
    ids=["no last line end", "CR LF", "byte-order mark"],
)
def test_line_ends_do_not_matter(tmp_path, reference, text):
    file = write(tmp_path, "texts", text)
    found = vectors(good("embed", "--model", MODEL, file).stdout)
    assert found.shape == reference.shape
    assert cosines(found, reference).min() > 0.999999


def test_files_and_stdin_are_one_after_the_other(tmp_path, reference):
    first, rest = LINES.split("\n", 1)
    file = write(tmp_path, "first", first)
    found = vectors(good("embed", "--model", MODEL, file, "-", input=rest).stdout)
    assert cosines(found, reference).min() > 0.999999


def test_the_model_is_the_first_argument_and_texts_may_be_given_in_place_of_files(tmp_path, reference):
    first, second, _, last = LINES.splitlines()
    done = good("embed", MODEL, "--text", first, "--text", second)
    assert cosines(vectors(done.stdout), reference[:2]).min() > 0.99999
    assert ": 2 texts in " in done.stderr
    file = write(tmp_path, "last.txt", last + "\n")
    done = good("embed", file, "-m", MODEL, "--text=" + first)
    assert cosines(vectors(done.stdout), reference[[0, 3]]).min() > 0.99999
    assert ": 1 text in " in good("embed", MODEL, file).stderr
    assert "--text: invalid UTF-8" in bad(1, "embed", MODEL, "--text", b"a\xff".decode("utf-8", "surrogateescape"))


def test_whoever_sits_at_the_terminal_is_told_that_it_is_read(reference):
    import pty

    main, terminal = pty.openpty()
    process = subprocess.Popen([str(PROGRAM), "embed", str(MODEL)], stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert b"reading from the terminal, one text a line; end with Ctrl-D" in process.stderr.readline()
    os.write(main, LINES.splitlines()[0].encode() + b"\n\x04")
    out, _ = process.communicate(timeout=60)
    os.close(main)
    os.close(terminal)
    assert process.returncode == 0
    assert cosines(vectors(out.decode()), reference[:1]).min() > 0.99999
    assert "terminal" not in good("embed", MODEL, input=LINES).stderr


def test_jsonl_takes_the_field_that_is_named(reference):
    text = "".join(json.dumps({"id": i, "body": line}) + "\n" for i, line in enumerate(LINES.splitlines()))
    done = good("embed", "--model", MODEL, "--input-format", "jsonl", "--text-field", "body", input=text)
    assert cosines(vectors(done.stdout), reference).min() > 0.999999


def test_options_reach_the_engine(reference):
    done = good("embed", "--model", MODEL, "--device", "openvino:CPU", "--strict", "--threads", "1", "--requests", "1",
                "--batch-tokens", "16", "--property", "ENABLE_CPU_PINNING=NO", input=LINES)
    assert cosines(vectors(done.stdout), reference).min() > 0.99999
    refused = bad(1, "embed", "--model", MODEL, "--device", "openvino", "--property", "NO_SUCH_PROPERTY=1", input=LINES)
    assert "NO_SUCH_PROPERTY" in refused


def test_long_texts_are_cut_and_counted():
    done = good("embed", "--model", MODEL, "--max-tokens", "8", input="one two three four five six seven eight nine\na\n")
    assert "1 text cut to 8 tokens" in done.stderr


def test_an_output_file_is_replaced_only_when_the_new_one_is_complete(tmp_path):
    output = write(tmp_path, "v.jsonl", "old")
    file = write(tmp_path, "texts", "fine\n" * 10)
    broken = tmp_path / "broken"
    broken.write_bytes(b"fine\n\xff\n")
    bad(1, "embed", "--model", MODEL, "-o", output, file, broken)
    assert output.read_text() == "old"
    good("embed", "--model", MODEL, "-o", output, file)
    assert len(vectors(output.read_text())) == 10
    assert sorted(one.name for one in tmp_path.iterdir()) == ["broken", "texts", "v.jsonl"]


def test_openvino_gone_onnxruntime_does_it_and_the_reason_is_told_once(reference):
    done = good("embed", "--model", MODEL, *VENDORS_FIRST, input=LINES, env=OPENVINO_GONE)
    assert cosines(vectors(done.stdout), reference).min() > 0.99999
    lines = done.stderr.splitlines()
    assert len(lines) == 2, lines
    assert lines[0].startswith("latebind: fallback: "), lines
    assert "onnxruntime:CPU" in lines[0] and "openvino" in lines[0] and "/nonexistent/libopenvino_c.so" in lines[0]
    assert "onnxruntime:CPU" in lines[1]
    # --quiet silences the summary, never the reason.
    assert good("embed", "-q", "--model", MODEL, *VENDORS_FIRST, input=LINES, env=OPENVINO_GONE).stderr.splitlines() == lines[:1]


def test_a_device_that_fails_while_it_works_is_told_once(tmp_path):
    library = tmp_path / "libopenvino_c.so"
    shutil.copy2(FAKE_OPENVINO, library)
    (tmp_path / "script").write_text(
        "device GPU\ndevice CPU\nencoder 32\non GPU fail run 2- -1 the driver died\n")
    done = good("embed", "--model", TINY, "--device", "openvino:GPU,openvino:CPU", "--no-cache", input="a\n" * 3000,
                env={"LATEBIND_OPENVINO_LIBRARY": str(library), "LATEBIND_FAKE_SCRIPT": str(tmp_path / "script")})
    (told,) = [line for line in done.stderr.splitlines() if "the driver died" in line]
    assert told.startswith("latebind: fallback: using openvino:CPU"), told


def test_texts_that_another_device_computed_are_told_when_the_first_answers_again(tmp_path):
    library = tmp_path / "libopenvino_c.so"
    shutil.copy2(FAKE_OPENVINO, library)
    (tmp_path / "script").write_text("device GPU\ndevice CPU\nencoder 32\non GPU fail run 3-3 -1 it stumbled\n")
    env = {"LATEBIND_OPENVINO_LIBRARY": str(library), "LATEBIND_FAKE_SCRIPT": str(tmp_path / "script")}
    texts = tmp_path / "texts"
    texts.write_text("a\nb\nc\n")
    model = ["--model", TINY, "--device", "openvino:GPU,openvino:CPU", "--no-cache", "--batch-tokens", "4"]
    done = good("embed", "-q", *model, texts, env=env)
    assert done.stderr.splitlines() == [
        "latebind: fallback: 1 of 3 texts was computed by another device, because openvino:GPU failed"]
    found = good("search", "-q", "--json", *model, "--query", "x", texts, env=env)
    report = json.loads(found.stdout)
    assert report["device"] == "openvino:GPU" and report["fallback"] is True
    assert "1 of 3 texts" in report["reason"] and "1 of 3 texts" in found.stderr


def test_strict_makes_the_fallback_an_error():
    said = bad(1, "embed", "--strict", "--model", MODEL, input=LINES, env=OPENVINO_GONE)
    assert "strict" in said and "openvino" in said


def test_onnxruntime_gone_is_no_fallback_where_another_stands_before_it():
    done = good("embed", "--model", MODEL, *VENDORS_FIRST, input=LINES, env=ONNXRUNTIME_GONE)
    assert "fallback" not in done.stderr
    assert "openvino:CPU" in done.stderr


def test_a_device_that_is_not_there_is_passed_over_with_its_reason():
    done = good("embed", "--model", MODEL, "--device", "npu,cpu", input=LINES)
    assert done.stderr.splitlines()[0].startswith("latebind: fallback: ") and "npu" in done.stderr
    said = bad(1, "embed", "--model", MODEL, "--device", "openvino:NPU.9999", input=LINES)
    assert "openvino:NPU.9999" in said


def test_with_both_gone_latebind_computes_by_itself(tmp_path, reference):
    done = good("embed", "--model", MODEL, input=LINES, env=BOTH_GONE)
    assert cosines(vectors(done.stdout), reference).min() > 0.99999
    assert "native:CPU" in done.stderr and "0.0 % padding" in done.stderr
    program, env = empty_prefix(tmp_path)
    done = good("embed", "--model", MODEL, input=LINES, program=program, env=env)
    assert "native:CPU" in done.stderr
    # By name it is no fallback; in `auto` it is one.
    assert good("embed", "--model", MODEL, "--device", "native", "--strict", "--quiet", input=LINES).stderr == ""
    assert "strict" in bad(1, "embed", "--model", MODEL, "--strict", input=LINES, env=BOTH_GONE)


@pytest.mark.parametrize(
    ("isa", "precision", "least"),
    [
        *((isa, "f32", 0.999999) for isa in ("portable", "avx2", "avx512")),
        *((isa, "int8", 0.995) for isa in ("avx2_vnni", "avx512_vnni", "avx512_bf16", "neon_dotprod", "neon_i8mm")),
        *((isa, "bf16", 0.9999) for isa in ("avx512_bf16", "neon_bf16", "neon_i8mm")),
        *((isa, "f16", 0.9999) for isa in ("avx512_fp16", "neon_fp16")),
    ],
)
def test_every_instruction_set_gives_the_same_vectors(isa, precision, least, reference):
    done = run("embed", "--model", MODEL, "--device", "native", "--precision", precision, input=LINES,
               env={"LATEBIND_NATIVE_ISA": isa})  # fmt: skip
    if done.returncode != 0:  # refused by name where the processor or the build does not have it
        assert "native.isa is " in done.stderr and isa in done.stderr, done.stderr
        pytest.skip(f"neither this processor nor this build need have {isa}")
    assert cosines(vectors(done.stdout), reference).min() > least


def test_another_device_is_a_fallback_where_the_named_instruction_set_is_not_there():
    other = {"LATEBIND_NATIVE_ISA": "neon_bf16" if platform.machine() in ("x86_64", "AMD64") else "avx2"}
    # `native` is named, because which CPU comes first depends on the processor.
    where = ("--device", "native,cpu")
    done = good("embed", "--model", MODEL, *where, input=LINES, env=other)
    assert done.stderr.startswith("latebind: fallback: ") and "native.isa is " in done.stderr, done.stderr
    assert "native.isa is " in bad(1, "embed", "--model", MODEL, *where, "--strict", input=LINES, env=other)


NETWORKS = SOURCE / "tests" / "data" / "networks"
ARCHITECTURES = sorted(set(json.loads((NETWORKS / "expected.json").read_text())["vectors"]) - OF_ANOTHER_TOKENIZER)


def test_the_tokenizer_that_a_network_always_has_is_not_replaced():
    said = bad(1, "embed", "--model", NETWORKS / "qwen2", "--text", "a")
    assert "'model_type' always means 'Qwen2Tokenizer'" in said and "the model is 'WordPiece' there, not BPE" in said


@pytest.mark.parametrize("device", ["native:CPU", "openvino:CPU", "onnxruntime:CPU"])
@pytest.mark.parametrize("network", ARCHITECTURES)
def test_every_architecture_gives_the_vectors_of_transformers(network, device):
    texts = json.loads((NETWORKS.parent / "tiny-bert" / "expected.json").read_text())["texts"]
    wanted = numpy.array(json.loads((NETWORKS / "expected.json").read_text())["vectors"][network]["mean"][: len(texts)])
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    done = good("embed", "--model", NETWORKS / network, "--device", device, "--strict", "--input-format", "jsonl",
                input=lines)  # fmt: skip
    assert cosines(vectors(done.stdout), wanted).min() > 0.999999


def test_both_gone_is_an_error_that_says_what_to_type(tmp_path):
    line = ["embed", "--model", MODEL, "--device", "openvino,onnxruntime"]
    said = bad(1, *line, input=LINES, env=BOTH_GONE)
    assert "pip install" in said
    program, env = empty_prefix(tmp_path)
    said = bad(1, *line, input=LINES, program=program, env=env)
    assert "latebind/runtime openvino" in said and "latebind/runtime onnxruntime" in said


def test_what_to_type_is_one_short_line_and_the_places_follow_for_those_who_ask(tmp_path):
    program, env = empty_prefix(tmp_path)
    line = ["embed", "--model", MODEL, "--device", "openvino:CPU"]
    said = bad(1, *line, input=LINES, program=program, env=env)
    assert "OpenVINO was not found: install it (pip install -U --target " in said and "as `latebind -v ...`" in said
    assert len(said) < 400 and "no such" not in said, said
    done = run("-v", *line, input=LINES, program=program, env=env)
    lines = done.stderr.splitlines()
    (error,) = [at for at, one in enumerate(lines) if "install it (pip install" in one and "no device of" in one]
    assert done.returncode == 1 and "`latebind -v`" not in lines[error]
    places = [one for one in lines[error + 1 :] if one.startswith("latebind:   openvino: ")]
    assert len(places) > 5 and any("set LATEBIND_OPENVINO_LIBRARY to" in one for one in places), lines


@pytest.mark.parametrize(
    ("device", "precision"),
    [("openvino", "f32"), ("openvino", "bf16"), ("onnxruntime", "f32"), ("native", "f32"), ("native", "bf16"), ("native", "int8")],
)
def test_vectors_have_length_1(device, precision):
    done = run("embed", "--model", MODEL, "--device", device, "--precision", precision, "--strict", "--input-format", "jsonl",
               GOLDEN / "minilm.jsonl")  # fmt: skip
    if done.returncode != 0:  # refused by name where the processor does not have it
        assert precision in done.stderr and precision != "f32", done.stderr
        return
    lengths = numpy.linalg.norm(vectors(done.stdout).astype(numpy.float64), axis=1)
    assert abs(lengths - 1).max() <= 1e-6


def test_static_shapes_give_the_same_vectors_and_tell_their_padding():
    texts = "".join(f"{'word ' * (i * 7 % 90)}{i}\n" for i in range(40))
    dynamic = vectors(good("embed", "--model", MODEL, input=texts).stdout)
    done = good("embed", "--model", MODEL, "--shapes", "static", "--static-lengths", "16,48", "--static-batch", "2", input=texts)
    assert cosines(vectors(done.stdout), dynamic).min() > 0.99999
    assert "static shapes of 2 x 16/48/256" in done.stderr
    assert float(done.stderr.split(" % padding")[0].split()[-1]) > 5
