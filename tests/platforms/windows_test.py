"""The program for Windows, run by Wine as a user would run it, on the vendors' own runtimes for Windows.

Run by `scripts/test windows`, which builds it. LATEBIND_TEST_NATIVE names the folder of the build for this machine,
whose program reads what the other one wrote.
"""

import errno
import fcntl
import json
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
import zipfile
from pathlib import Path

import numpy
import onnx
import pytest

SOURCE = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "scripts"))
from vendor_files import is_vendors
BINARIES = Path(os.environ["LATEBIND_TEST_BINARY_DIR"]) / "bin"
NATIVE = Path(os.environ["LATEBIND_TEST_NATIVE"]) / "bin" / "latebind"
PROGRAM = BINARIES / "latebind.exe"
WINE = SOURCE / "scripts" / "platforms" / "wine"
RUNTIME = SOURCE / "build" / "runtime"
MODEL = RUNTIME / "model" / "all-MiniLM-L6-v2"
TINY = SOURCE / "tests" / "data" / "tiny-bert" / "f32"
GOLDEN = SOURCE / "tests" / "data" / "golden"
TARGETS = ["3720", "4000", "5010", "5020"]
TEXTS = "The cat slept on the windowsill.\nRain is expected in the north.\nWhy?\n"
HARD = "Ünï cödé/模型 и модель"


def z(path):
    """How a program for Windows calls a file of this machine."""
    return "Z:" + str(path).replace("/", "\\")


(OPENVINO,) = (RUNTIME / "windows").glob("openvino-*/openvino/libs")
(ONNXRUNTIME,) = (RUNTIME / "windows").glob("onnxruntime-*/onnxruntime/capi")
LIBRARIES = {"LATEBIND_OPENVINO_LIBRARY": z(OPENVINO), "LATEBIND_ONNXRUNTIME_LIBRARY": z(ONNXRUNTIME)}
NOWHERE = {"LATEBIND_OPENVINO_LIBRARY": "Z:\\nonexistent", "LATEBIND_ONNXRUNTIME_LIBRARY": "Z:\\nonexistent"}


def run(*arguments, env=LIBRARIES, program=PROGRAM, **options):
    # The working folder is another one than that of the program, on the same drive.
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 280, "encoding": "utf-8"}
    if "input" not in options:
        settings["stdin"] = subprocess.DEVNULL
    return subprocess.run([WINE, program, *map(str, arguments)], env=os.environ | env, **(settings | options))


def good(*arguments, **options):
    done = run(*arguments, **options)
    assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-2000:])
    return done


def bad(code, *arguments, **options):
    """The one line on stderr of a run that must fail."""
    done = run(*arguments, **options)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    (line,) = done.stderr.splitlines()
    assert line.startswith("latebind: ") and not done.stdout, (done.stdout, done.stderr)
    return line


def vectors(jsonl):
    return numpy.array([json.loads(line)["embedding"] for line in jsonl.splitlines()], numpy.float32)


def cosines(a, b):
    assert a.shape == b.shape
    return (a * b).sum(axis=1) / numpy.linalg.norm(a, axis=1) / numpy.linalg.norm(b, axis=1)


def long_folder(base):
    """A folder with spaces and letters of several scripts, whose path is longer than 260 characters."""
    place = base / HARD
    while len(str(place)) < 400:
        place /= "ein langer Name " + "x" * 40
    place.mkdir(parents=True)
    return place


@pytest.fixture(scope="module")
def reference():
    return vectors(good("embed", "--model", z(TINY), "--device", "openvino", "--quiet", "-", input=TEXTS).stdout)


# --- What the files need ---


@pytest.mark.parametrize("name", ["latebind.exe", "latebind.dll", "nearest.exe", "embed_c.exe"])
def test_needs_no_library_that_windows_has_not(name):
    dump = subprocess.run(["x86_64-w64-mingw32-objdump", "-p", BINARIES / name], capture_output=True, text=True, check=True)
    needed = {found.lower() for found in re.findall(r"DLL Name: (\S+)", dump.stdout)}
    windows = {"advapi32.dll", "kernel32.dll", "shell32.dll", "ole32.dll", "bcrypt.dll", "msvcrt.dll", "user32.dll", "ws2_32.dll", "mswsock.dll",
               "setupapi.dll", "cfgmgr32.dll"}
    own = {"latebind.dll"} if name in ("nearest.exe", "embed_c.exe") else set()
    assert "kernel32.dll" in needed and needed <= windows | own, needed - windows - own


def test_the_library_exports_the_interface_and_nothing_else():
    dump = subprocess.run(["x86_64-w64-mingw32-objdump", "-p", BINARIES / "latebind.dll"], capture_output=True, text=True,
                          check=True)
    table = dump.stdout[dump.stdout.index("[Ordinal/Name Pointer] Table"):]
    exported = set(re.findall(r"^\s*\[ *\d+\] (?:\+base\[ *\d+\] +\w+ +)?(\w+)$", table, re.MULTILINE))
    header = (SOURCE / "include" / "latebind" / "latebind.h").read_text()
    declared = set(re.findall(r"^LB_API [^;(]*?\b(lb_\w+)\(", header, re.MULTILINE))
    assert declared and exported == declared, exported ^ declared


def test_the_examples_run():
    done = good(z(MODEL), "A man is eating food.", "A man is eating a piece of bread.", program=BINARIES / "embed_c.exe")
    assert re.match(r"0\.[78]\d+ by (openvino|onnxruntime|native):CPU in f32", done.stdout), done.stdout


# --- Commands ---


def test_says_what_it_is():
    assert re.fullmatch(r"latebind \d+\.\d+\.\d+\n", good("--version").stdout)
    assert "Usage:" in good("--help").stdout


def test_lists_the_processor_and_intels_npus_with_their_compiler():
    devices = {one["id"]: one for one in json.loads(good("devices", "--virtual", "--json").stdout)["devices"]}
    assert "openvino:CPU" in devices and "onnxruntime:CPU" in devices, list(devices)
    for target in TARGETS:
        metadata = devices[f"openvino:NPU.{target}"]["metadata"]
        assert metadata["IsVirtual"] == "1" and metadata["CompilerInstalled"] == "1", metadata
        assert metadata["Compiler"].endswith("openvino_intel_npu_compiler_loader.dll"), metadata


def test_doctor_finds_both_runtimes():
    done = good("doctor")
    assert "on windows-x86_64" in done.stdout and "openvino_c.dll" in done.stdout, done.stdout
    assert "onnxruntime.dll" in done.stdout, done.stdout


def test_doctor_says_what_to_install():
    done = good("doctor", env=NOWHERE)
    assert "native:CPU: works" in done.stdout, done.stdout
    assert r"%LOCALAPPDATA%\latebind\runtime" in done.stdout, done.stdout


def test_finds_the_runtime_of_the_active_python_environment(tmp_path):
    packages = tmp_path / "venv" / "Lib" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "openvino").symlink_to(OPENVINO.parent)
    done = good("devices", env={"VIRTUAL_ENV": z(tmp_path / "venv")})
    assert "openvino:CPU" in done.stdout, done.stdout


def test_pull_without_libcurl_says_what_to_do():
    line = bad(1, "pull", "sentence-transformers/all-MiniLM-L6-v2")
    assert "libcurl-x64.dll" in line and "beside the program" in line


# --- Numbers ---


@pytest.mark.parametrize("backend", ["openvino", "onnxruntime"])
def test_agrees_with_the_golden_vectors(backend):
    done = good("embed", "--model", z(MODEL), "--device", backend, "--precision", "f32", "--quiet",
                "--input-format", "jsonl", z(GOLDEN / "minilm.jsonl"))
    assert cosines(vectors(done.stdout), numpy.load(GOLDEN / "minilm.npy")).min() >= 0.99999


def test_both_systems_write_the_same_numbers(tmp_path):
    # Not bit by bit: compilers round differently in what is Latebind's own.
    done = subprocess.run([NATIVE, "embed", "--model", TINY, "--device", "openvino", "--quiet", "-"], input=TEXTS,
                          capture_output=True, encoding="utf-8", check=True)
    mine = vectors(good("embed", "--model", z(TINY), "--device", "openvino", "--quiet", "-", input=TEXTS).stdout)
    assert cosines(mine, vectors(done.stdout)).min() >= 0.99999


def test_a_bundle_made_here_runs_there(tmp_path):
    place = tmp_path / "tiny.lbundle"
    subprocess.run([NATIVE, "compile", TINY, "--target", "cpu", "-o", place, "--quiet"], check=True)
    texts = ("embed", "--device", "openvino", "--quiet", "-", "--model")
    here = subprocess.run([NATIVE, *texts, place], input=TEXTS, capture_output=True, encoding="utf-8", check=True)
    there = good(*texts, z(place), input=TEXTS)
    assert cosines(vectors(there.stdout), vectors(here.stdout)).min() >= 0.99999


# --- Intel's own compiler for its NPUs ---


@pytest.fixture(scope="module")
def npus(tmp_path_factory):
    """The real model compiled for the four NPUs, twice."""
    places = [tmp_path_factory.mktemp("npu") / name for name in ("one", "two")]
    targets = ",".join(f"npu:{target}" for target in TARGETS)
    for place in places:
        # Without the cache, which would give the second what the first has made.
        done = good("compile", z(MODEL), "--target", targets, "--shapes", "1x128", "--format", "folder", "-o", z(place),
                    "--jobs", "1", "--json", "--quiet", env=LIBRARIES | {"LATEBIND_CACHE": "off"})
        assert [one["compiled"] for one in json.loads(done.stdout)["variants"]] == [True] * len(TARGETS)
    return places


def blob(place, target):
    return (place / "model" / f"npu-{target}-f16-1x128" / "model.blob").read_bytes()


def test_they_are_compiled_for_through_stock_onnxruntime(tmp_path):
    """By OrtCompileApi of a host that knows nothing of Latebind but the file of its provider."""
    host = BINARIES / "compile_through_host.exe"
    begin = z(ONNXRUNTIME / "onnxruntime.dll"), z(BINARIES / "onnxruntime_providers_latebind.dll")
    listed = good(*begin, "-", "-", program=host).stdout.split("\n")
    assert "openvino:CPU 0" in listed and all(f"openvino:NPU.{target} 1" in listed for target in TARGETS), listed
    model, compiled = tmp_path / "model.onnx", tmp_path / "model_ctx.onnx"
    native("export", "--model", MODEL, "-o", model)
    fixed = onnx.load(model)
    for port in [*fixed.graph.input, *fixed.graph.output]:
        for dimension in port.type.tensor_type.shape.dim:
            if dimension.dim_param:
                dimension.dim_value = {"batch": 1, "tokens": 128}[dimension.dim_param]
    onnx.save(fixed, model)
    devices = [f"openvino:NPU.{target}" for target in TARGETS]
    refused = run(*begin, z(model), z(compiled), *devices, "input_shapes=1x128,1x128", program=host)
    assert refused.returncode == 1 and "has its shapes from shapes" in refused.stderr and not compiled.exists()
    good(*begin, z(model), z(compiled), *devices, program=host)
    assert compiled.stat().st_size < 10_000
    (bundle,) = tmp_path.glob("model_ctx_latebind_*.lbundle")
    variants = native("inspect", "--json", bundle)
    assert all(f'"device": "NPU.{target}"' in variants for target in TARGETS), variants
    # Where there is no OpenVINO there is no such device.
    refused = run(*begin, z(model), z(compiled), *devices, program=host, env=NOWHERE)
    assert refused.returncode == 1 and "not all of these devices are there" in refused.stderr


@pytest.mark.parametrize("target", TARGETS)
def test_a_blob_is_of_its_npu(npus, target):
    image = blob(npus[0], target)
    assert image[:4] == b"\x7fELF" and image[-5:] == b"OVNPU" and len(image) > 40_000_000
    assert re.findall(rb"compiler=[\d.]+;npu=(\d+);", image)[0] == target.encode()


def test_blobs_are_the_same_in_two_runs_and_differ_from_each_other(npus):
    assert [blob(npus[0], target) == blob(npus[1], target) for target in TARGETS] == [True] * len(TARGETS)
    assert len({blob(npus[0], target) for target in TARGETS}) == len(TARGETS)
    for name in ("one", "two"):
        (place,) = [place for place in npus if place.name == name]
        assert (place / "manifest.json").read_bytes() == (npus[0] / "manifest.json").read_bytes()


def test_lengths_of_one_npu_share_their_weights(tmp_path):
    bundle = tmp_path / "lengths.lbundle"
    good("compile", z(MODEL), "--target", "npu:5010", "--shapes", "1x32,1x64", "-o", z(bundle), "--quiet")
    # The weights that every machine can compile, 91 MB, and one blob of 46.
    assert 130_000_000 < bundle.stat().st_size < 141_000_000
    native("inspect", bundle, "--verify")


def native(*arguments, env=None):
    """Standard output of the program for this machine."""
    done = subprocess.run([NATIVE, *map(str, arguments)], capture_output=True, encoding="utf-8",
                          env=os.environ | {"LATEBIND_ONNXRUNTIME_PROVIDERS": "none"} | (env or {}))
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def expect_foreign_and_right(bundle, foreign):
    """Linux refuses each of these variants with its reason, runs the portable model, and has the golden vectors."""
    native("inspect", bundle, "--verify")
    report = json.loads(native("inspect", bundle, "--explain", "--json"))
    for variant, target in foreign.items():
        # One for each device that is here.
        decisions = [one for one in report["decisions"] if one["variant"] == variant]
        assert decisions and not any(one["loads"] for one in decisions), decisions
        assert any(f"made for {target}" in one["reason"] for one in decisions), decisions
    done = native("embed", "--model", bundle, "--device", "openvino", "--precision", "f32", "--quiet",
                  "--input-format", "jsonl", GOLDEN / "minilm.jsonl")
    assert cosines(vectors(done), numpy.load(GOLDEN / "minilm.npy")).min() >= 0.99999


def test_linux_reads_that_bundle_refuses_its_npus_and_runs_the_portable_model(npus):
    expect_foreign_and_right(npus[0], {f"npu-{target}-f16-1x128": f"npu:{target}" for target in TARGETS})


def test_linux_adds_qualcomms_npus_to_that_bundle(npus, tmp_path):
    (qnn,) = (RUNTIME / "providers").glob("onnxruntime-qnn-*/*/libonnxruntime_providers_*.so")
    place = tmp_path / "all"
    native("compile", npus[0], "--add", "--target", "npu:v73,npu:v79", "--shapes", "1x32", "--format", "folder", "-o", place,
           "--quiet", env={"LATEBIND_ONNXRUNTIME_PROVIDERS": str(qnn)})
    for target in TARGETS:
        assert blob(place, target) == blob(npus[0], target)
    foreign = {f"npu-{target}-f16-1x128": f"npu:{target}" for target in TARGETS}
    expect_foreign_and_right(place, foreign | {f"npu-{target}-f16-1x32": f"npu:{target}" for target in ("v73", "v79")})


# --- The package ---


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The .zip that CPack makes, in somebody's folder."""
    made, folder = tmp_path_factory.mktemp("packages"), tmp_path_factory.mktemp("Eigene Dateien")
    subprocess.run(["cpack", "--config", BINARIES.parent / "CPackConfig.cmake", "-B", made], cwd=made, check=True,
                   stdout=subprocess.DEVNULL)
    files = sorted(path for path in made.iterdir() if path.is_file())
    assert [re.sub(r"-\d+\.\d+\.\d+-", "-", path.name) for path in files] == [
        "latebind-windows-x86_64.zip", "latebind-windows-x86_64.zip.sha256"]
    subprocess.run(["sha256sum", "--check", "--quiet", files[1].name], cwd=made, check=True)
    with zipfile.ZipFile(files[0]) as archive:
        archive.extractall(folder)
    (place,) = folder.iterdir()
    return place


def test_the_archive_holds_what_is_promised_and_nothing_of_a_vendor(unpacked):
    files = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    promised = {"bin/latebind.exe", "bin/latebind.dll", "lib/liblatebind.dll.a", "include/latebind/latebind.h",
                "include/latebind/latebind.hpp", "lib/cmake/latebind/latebindConfig.cmake", "share/doc/latebind/LICENSE",
                "share/doc/latebind/NOTICES", "share/doc/latebind/README.md"}
    assert promised <= files, promised - files
    assert {name for name in files if name.endswith((".exe", ".dll"))} == {"bin/latebind.exe", "bin/latebind.dll"}
    assert not [name for name in files if is_vendors(name)]
    notices = (unpacked / "share/doc/latebind/NOTICES").read_text(encoding="utf-8")
    for owner in ("Victor Zverovich", "Yann Collet", "Mark Gillard",
                  "Jan Behrens", "the mingw-w64 project"):
        assert owner in notices


def test_the_archive_works_where_it_was_unpacked(unpacked, reference):
    done = good("embed", "--model", z(TINY), "--device", "openvino", "--quiet", "-", input=TEXTS,
                program=unpacked / "bin" / "latebind.exe")
    assert cosines(vectors(done.stdout), reference).min() >= 0.999999


# --- What Windows is known for ---


def test_long_paths_with_spaces_in_any_script(tmp_path, reference):
    place = long_folder(tmp_path)
    shutil.copytree(TINY, place / "модель tiny")
    (place / "тексты 文.txt").write_text(TEXTS, encoding="utf-8")
    output = place / "vectors вектор.npy"
    assert len(z(output)) > 260
    good("embed", "--model", z(place / "модель tiny"), "--device", "openvino", "--quiet", "-o", z(output),
         "--output-format", "npy", z(place / "тексты 文.txt"))
    assert cosines(numpy.load(output), reference).min() >= 0.99999
    assert [name for name in os.listdir(place) if name.startswith(".latebind")] == []
    bundle = place / "пакет.lbundle"
    good("compile", z(place / "модель tiny"), "--target", "cpu", "-o", z(bundle), "--quiet")
    done = good("embed", "--model", z(bundle), "--device", "openvino", "--quiet", "-", input=TEXTS)
    assert cosines(vectors(done.stdout), reference).min() >= 0.99999


def test_a_runtime_in_such_a_place(tmp_path):
    place = tmp_path / HARD
    place.parent.mkdir()
    shutil.copytree(OPENVINO, place, ignore=shutil.ignore_patterns("*npu*", "*gpu*", "*.lib", "*.json", "*tensor*", "*py*"))
    done = good("embed", "--model", z(TINY), "--device", "openvino", "--quiet", "-", input=TEXTS,
                env={"LATEBIND_OPENVINO_LIBRARY": z(place)})
    assert vectors(done.stdout).shape[0] == 3


def test_temporary_files_in_such_a_place(tmp_path):
    # OpenVINO writes what it compiled to a file whose name it takes as bytes.
    place = tmp_path / HARD
    place.mkdir(parents=True)
    good("compile", z(TINY), "--target", "cpu", "-o", z(tmp_path / "tiny.lbundle"), "--quiet",
         env=LIBRARIES | {"TMP": z(place), "LATEBIND_CACHE": "off"})
    assert os.listdir(place) == []


def test_lines_may_end_as_windows_ends_them(tmp_path, reference):
    (tmp_path / "lines.txt").write_bytes(b"\xef\xbb\xbf" + TEXTS.replace("\n", "\r\n").encode())
    from_file = good("embed", "--model", z(TINY), "--device", "openvino", "--quiet", z(tmp_path / "lines.txt"))
    from_pipe = good("embed", "--model", z(TINY), "--device", "openvino", "--quiet", "-", input=TEXTS.replace("\n", "\r\n"))
    for done in (from_file, from_pipe):
        assert cosines(vectors(done.stdout), reference).min() >= 0.999999
        assert "\r" not in done.stdout, "results are bytes"
    (tmp_path / "config.toml").write_bytes(b"# Windows\r\nthreads = 1\r\n")
    settings = json.loads(good("config", "--json", "--config", z(tmp_path / "config.toml")).stdout)["settings"]
    assert [one["value"] for one in settings if one["key"] == "threads"] == ["1"], settings


def test_a_read_only_folder_is_named_and_left_alone(tmp_path):
    # One where not even root may make a file.
    line = bad(1, "embed", "--model", z(TINY), "--device", "openvino", "--quiet", "-o", r"Z:\sys\kernel\vectors.npy",
               "--output-format", "npy", "-", input=TEXTS)
    assert r"Z:\sys\kernel" in line.replace("/", "\\") and "write to another folder" in line, line


def test_a_read_only_file_is_not_replaced(tmp_path):
    file = tmp_path / "vectors.npy"
    file.write_bytes(b"old")
    file.chmod(0o444)
    line = bad(1, "embed", "--model", z(TINY), "--device", "openvino", "--quiet", "-o", z(file), "--output-format", "npy", "-",
               input=TEXTS)
    assert "vectors.npy" in line
    assert file.read_bytes() == b"old" and os.listdir(tmp_path) == ["vectors.npy"]


def test_the_current_folder_gives_no_libraries(tmp_path):
    for name in ("openvino_c.dll", "onnxruntime.dll", "libcurl-x64.dll", "libcurl.dll"):
        shutil.copy(BINARIES / "latebind.dll", tmp_path / name)
    done = run("devices", env={}, cwd=tmp_path)
    assert "not available: OpenVINO was not found" in done.stdout, done.stdout
    line = bad(1, "pull", "sentence-transformers/all-MiniLM-L6-v2", cwd=tmp_path)
    assert "libcurl-x64.dll" in line and "has no curl_" not in line


def test_a_reader_that_goes_away_is_no_error():
    process = subprocess.Popen([WINE, PROGRAM, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    error = process.stderr.read()
    assert process.wait(60) in (0, 1) and error == b"", error


# --- A console ---


def on_console(*command, **options):
    """The exit code of a command, and what a console of Windows shows of it, as text."""
    # Wine, on a busy machine, now and then cannot start a program and says so before anything of ours has begun.
    for _ in range(3):
        code, shown = on_new_console(*command, **options)
        if "ShellExecuteEx failed" not in shown:
            break
    return code, shown


def on_new_console(*command, env, seconds=60, columns=200):
    process, terminal = pty.fork()
    if process == 0:
        try:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
            os.execve(WINE, [str(WINE), *map(str, command)], os.environ | LIBRARIES | env)
        finally:
            os._exit(126)
    seen = bytearray()
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            if not select.select([terminal], [], [], 1)[0]:
                continue
            try:
                block = os.read(terminal, 65536)
            except OSError as error:
                if error.errno == errno.EIO:  # the last writer has gone
                    break
                raise
            if not block:
                break
            seen += block
        else:
            raise AssertionError(f"the console did not end; it shows {bytes(seen)!r}")
    finally:
        os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), seen.decode("utf-8", "replace")


@pytest.mark.parametrize("page", [437, 65001])
def test_a_console_of_another_code_page_shows_every_letter_and_keeps_its_page(page, tmp_path):
    (tmp_path / "texts.txt").write_text("Länge\nпривет\n", encoding="utf-8")
    # No letters of other scripts in this file, which the shell reads in the console's page.
    script = tmp_path / "run.cmd"
    script.write_bytes(f"""@echo off
chcp {page} >NUL
"{z(PROGRAM)}" inspect Z:\\nothing\\%NAME_OF_NOTHING%
echo code %ERRORLEVEL%
"{z(PROGRAM)}" search --quiet --model {z(TINY)} --device openvino --query x {z(tmp_path / "texts.txt")}
echo code %ERRORLEVEL%
chcp
""".replace("\n", "\r\n").encode())
    _, shown = on_console("cmd", "/c", z(script), env={"NAME_OF_NOTHING": "Größe-модель"})
    text = re.sub(r"\x1b\[1C", " ", shown)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|[\r\n]", "", text)
    for word in ("Größe-модель", "code 1", "Länge", "привет", "code 0", f"page: {page}"):
        assert word in text, (word, shown)
