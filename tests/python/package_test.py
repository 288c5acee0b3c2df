"""The package before any model: what importing costs and opens, errors without a library, settings, the program."""

import os
import pickle
import re
import subprocess
import sys

import latebind
import pytest
from latebind import _abi, _settings, errors
from support import BINARY, LIBRARY, NOWHERE, PACKAGE, PROGRAM, SOURCE, TINY, good, python

OPENED = """
import sys
names = ("libopenvino", "libonnxruntime", "liblatebind", "numpy/")
print(sorted({name for line in open("/proc/self/maps") for name in names if name in line}))
"""


def test_importing_opens_neither_a_vendors_library_nor_ours_nor_numpy():
    assert good("import latebind" + OPENED) == "[]\n"


def test_using_the_library_opens_no_vendors_library_either():
    code = "import latebind; latebind.Cache('/nonexistent').list()"
    assert good(f"{code}{OPENED}") == "['liblatebind']\n"


@pytest.mark.parametrize(
    "system, machine, why",
    [
        (
            "Linux",
            "x86_64",
            "it was not included when this Latebind was built; `scripts/setup executorch` fetches the SDK",
        ),
        ("Linux", "aarch64", "it is for Linux on x86_64 alone, and this is Linux on aarch64"),
    ],
)
def test_without_the_delegate_for_executorch_the_error_says_why(system, machine, why, monkeypatch):
    from latebind import executorch

    monkeypatch.setattr("platform.system", lambda: system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setattr(executorch, "library_file", lambda: LIBRARY.parent / "none" / LIBRARY.name)
    with pytest.raises(errors.LibraryError, match=re.escape(why)):
        executorch.register()


def test_the_version_is_that_of_the_build_and_of_the_library():
    release = re.search(r"^project\(\w+ VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
    from latebind._library import version

    assert latebind.__version__ == version() == release
    assert (PACKAGE / "latebind" / "py.typed").is_file()


def test_every_name_can_be_imported_and_is_listed():
    for name in latebind.__all__:
        assert getattr(latebind, name) is not None
    assert set(latebind.__all__) <= set(dir(latebind))
    with pytest.raises(AttributeError, match="Embeder"):
        latebind.Embeder  # noqa: B018


def test_mypy_finds_nothing():
    mypy = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            f"--config-file={SOURCE / 'pyproject.toml'}",
            "--no-incremental",
            "--cache-dir",
            os.devnull,
            str(PACKAGE / "latebind"),
        ],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert mypy.returncode == 0, mypy.stdout + mypy.stderr


# -- The library is not there ------------------------------------------------------------------------------------------

ASK = """
import latebind
try:
    latebind.devices()
except latebind.LibraryError as error:
    assert isinstance(error, latebind.MachineError)
    print(error.name, error)
"""


def test_without_a_library_the_error_says_where_it_was_looked_for_and_what_to_do():
    printed = good(ASK, env={"LATEBIND_LIBRARY": ""})
    assert printed.startswith("LIBRARY_NOT_FOUND Latebind's library was not found: ")
    assert "latebind/lib" in printed and "set LATEBIND_LIBRARY" in printed


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("/nonexistent/liblatebind.so", "LIBRARY_NOT_FOUND Latebind's library could not be opened: /nonexistent"),
        (str(SOURCE / "README.md"), "LIBRARY_NOT_FOUND Latebind's library could not be opened: "),
        ("libc.so.6", "LIBRARY_UNUSABLE libc.so.6 is not Latebind's library"),
    ],
)
def test_a_library_that_cannot_be_used_is_named(file, text):
    assert good(ASK, env={"LATEBIND_LIBRARY": file}).startswith(text)


def test_an_older_library_is_refused(tmp_path):
    source, library = tmp_path / "old.c", tmp_path / "liblatebind.so"
    source.write_text("unsigned lb_abi_version(void) { return 0; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    printed = good(ASK, env={"LATEBIND_LIBRARY": str(library)})
    assert f"has version 0 of the C interface, and this package needs {_abi.LATEBIND_ABI_VERSION}" in printed


def test_a_failed_load_is_not_remembered():
    code = """
import os, latebind
for file in ("/nonexistent/lib.so", os.environ["GOOD"]):
    os.environ["LATEBIND_LIBRARY"] = file
    try:
        print(len(latebind.Cache("/nonexistent").list().entries))
    except latebind.LibraryError:
        print("no")
"""
    assert good(code, env={"GOOD": str(LIBRARY)}) == "no\n0\n"


def test_the_package_s_own_folder_comes_before_the_variable(tmp_path):
    import shutil

    shutil.copytree(PACKAGE / "latebind", tmp_path / "latebind", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "latebind" / "lib").mkdir()
    (tmp_path / "latebind" / "lib" / "liblatebind.so.0.1").symlink_to(LIBRARY)
    code = "import latebind; print(latebind.Cache('/nonexistent').list().bytes)"
    assert good(code, env={"PYTHONPATH": str(tmp_path), "LATEBIND_LIBRARY": "/nonexistent"}) == "0\n"


def test_without_a_vendors_library_the_error_says_what_to_type():
    code = f"""
import latebind
try:
    latebind.Embedder({str(TINY)!r}, device="openvino,onnxruntime")
except latebind.MachineError as error:
    print(error.name, error.retryable, error.vendor_code, error)
"""
    printed = good(code, env=NOWHERE)
    assert printed.startswith(("NO_DEVICE False None ", "LIBRARY_NOT_FOUND False None ")), printed
    assert "openvino" in printed


def test_without_a_vendors_library_latebind_computes_by_itself():
    code = f"""
import latebind
embedder = latebind.Embedder({str(TINY)!r})
print(embedder.encode(["a text"]).shape, embedder.attestation.backend)
"""
    assert "(1, 32) native" in good(code, env=NOWHERE)


# -- Errors ------------------------------------------------------------------------------------------------------------


def test_each_band_has_its_class():
    assert errors.class_of(100) is errors.class_of(108) is latebind.CallerError
    assert errors.class_of(202) is latebind.MachineError
    assert errors.class_of(301) is latebind.TransientError
    assert errors.class_of(400) is latebind.InternalError
    assert errors.class_of(900) is latebind.LatebindError
    assert issubclass(latebind.CallerError, ValueError)
    assert issubclass(latebind.CallerTypeError, TypeError)


@pytest.mark.parametrize("kind", [getattr(errors, name) for name in errors.__all__])
def test_errors_survive_pickling(kind):
    error = kind("what happened", 304, "DEVICE_FAILED", True, -7, "vendor says", "one\ntwo")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind and str(again) == "what happened"
    assert vars(again) == vars(error)


# -- Settings ----------------------------------------------------------------------------------------------------------


def test_every_setting_of_the_table_but_the_daemon_s_has_a_keyword():
    reference = (SOURCE / "docs" / "configuration.md").read_text(encoding="utf-8")
    keys = {key for key in re.findall(r"^## `(.*)`$", reference, re.MULTILINE)}
    expected = {key for key in keys if not key.startswith(("server.", "property.", "plugin."))}
    assert set(_settings.keywords().values()) == expected
    assert _settings.keywords()["batch_tokens"] == "embedding.batch_tokens"


def test_values_become_the_table_s_texts(tmp_path):
    given = {
        "cache": True,
        "threads": 4,
        "cache_folder": tmp_path,
        "static_lengths": [32, 64],
        "hint": None,
        "embedding.shapes": "static",
        "openvino_library": "/x",
        "property": {"A_B": True},
        "device": ("npu", "cpu"),
    }
    of_runtime, of_model = _settings.settings_of(given)
    assert of_runtime == {"openvino.library": "/x"}
    assert of_model == {
        "cache.enabled": "true",
        "embedding.static_lengths": "32,64",
        "cache.folder": str(tmp_path),
        "embedding.shapes": "static",
        "threads": "4",
        "property.A_B": "true",
        "device": "npu,cpu",
    }


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"batch_tokns": 1}, r"no setting 'batch_tokns' \(did you mean batch_tokens\?\)"),
        ({"embedding.batch_tokns": 1}, r"'embedding.batch_tokns' \(did you mean embedding.batch_tokens\?\)"),
        ({"precision": "f33"}, "f33"),
        ({"threads": "many"}, "threads"),
        ({"threads": -1}, "threads"),
        ({"device": "npuu"}, "npuu"),
        ({"threads": 1.5}, "threads is float"),
        ({"strict": b"true"}, "strict is bytes"),
        ({"property": "x"}, "property is str"),
        ({"hint": "a\0b"}, "NUL"),
        ({"cache_folder": "\ud800"}, "surrogate"),
        ({"device": None, "precision": [None]}, "precision is NoneType"),
    ],
)
def test_wrong_settings_are_the_caller_s_error_and_named(settings, text):
    with pytest.raises(latebind.CallerError, match=text):
        latebind.Embedder(TINY, **settings)
    with pytest.raises(latebind.CallerError):
        latebind.Model(TINY / "model.onnx", **settings)


@pytest.mark.parametrize(
    "model", [None, 3, b"bytes", "", "/nonexistent/model", "a\0b", "\udcff", [], TINY / "config.json"]
)
def test_what_is_no_model_is_the_caller_s_error(model):
    with pytest.raises(latebind.CallerError):
        latebind.Embedder(model)
    with pytest.raises(latebind.CallerError):
        latebind.Model(model)


# -- The program -------------------------------------------------------------------------------------------------------


def run_module(*arguments, env=None):
    return subprocess.run(
        [sys.executable, "-m", "latebind", *arguments],
        env=os.environ | (env or {}),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )


def test_the_module_runs_the_program():
    done = run_module("--version", env={"LATEBIND_PROGRAM": str(PROGRAM)})
    assert done.returncode == 0, done.stderr
    assert latebind.__version__ in done.stdout
    assert run_module("no-such-command", env={"LATEBIND_PROGRAM": str(PROGRAM)}).returncode not in (0, 127)


def test_a_folder_may_be_named_instead_of_the_library(tmp_path):
    (tmp_path / "lib" / "some-linux").mkdir(parents=True)
    (tmp_path / "lib" / "some-linux" / "liblatebind.so").symlink_to(LIBRARY)
    code = "import latebind\nprint(len(latebind.Cache('/nonexistent').list().entries))"
    for folder in (tmp_path, tmp_path / "lib" / "some-linux", LIBRARY.parent, LIBRARY.parent.parent):
        assert good(code, env={"LATEBIND_LIBRARY": str(folder)}) == "0\n"
    (tmp_path / "empty").mkdir()
    printed = good(ASK, env={"LATEBIND_LIBRARY": str(tmp_path / "empty")})
    assert f"LATEBIND_LIBRARY is the folder {tmp_path / 'empty'}, and there is no liblatebind.so in it" in printed
    # The program of the same installation is found by itself.
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "latebind").write_text("#!/bin/sh\necho of this installation\n")
    assert run_module("--version", env={"LATEBIND_LIBRARY": str(tmp_path), "LATEBIND_PROGRAM": ""}).returncode == 1
    (tmp_path / "bin" / "latebind").chmod(0o755)
    done = run_module("--version", env={"LATEBIND_LIBRARY": str(tmp_path), "LATEBIND_PROGRAM": ""})
    assert done.stdout == "of this installation\n", done.stderr


def test_what_a_call_takes_is_no_setting():
    for keyword in ("truncate_dim", "dimensions"):
        with pytest.raises(
            latebind.CallerError, match=rf"'{keyword}' is no setting of a model: give dimensions to encode\(\)"
        ):
            latebind.Embedder(TINY, **{keyword: 8})


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("", "LATEBIND_PROGRAM is not set"),
        ("/nonexistent/latebind", "which is not a program"),
        ("latebind", "which is not a program"),
        (str(BINARY), "which is not a program"),
    ],
)
def test_without_the_program_the_error_says_what_to_do(program, text):
    done = run_module("--version", env={"LATEBIND_PROGRAM": program, "LATEBIND_LIBRARY": ""})
    assert done.returncode == 1
    assert done.stderr.startswith("latebind: ") and text in done.stderr and len(done.stderr.splitlines()) == 1


def test_the_interpreter_ends_quietly_after_an_error():
    done = python("import latebind\nlatebind.Embedder('/nonexistent')")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("latebind.errors.CallerError: ")


def test_a_mistyped_folder_is_also_looked_for_as_one():
    code = """
import latebind
for model in "models/nope", "nope":
    try:
        latebind.Embedder(model)
    except latebind.LatebindError as error:
        print(error)
"""
    slash, short = good(code, env={"HF_HUB_OFFLINE": "1", "HF_HOME": "/nonexistent"}).splitlines()
    assert slash.startswith("there is no folder 'models/nope', so it is read as a name on the hub: ")
    assert short.startswith(
        "there is no folder 'nope', so it is read as the name sentence-transformers/nope on the hub: "
    )


def test_a_short_name_is_one_of_the_models_of_its_kind():
    code = """
import latebind
from latebind.integrations import sentence_transformers as drop_in
for kind in latebind.Embedder, latebind.CrossEncoder, latebind.SparseEncoder, drop_in.SentenceTransformer, drop_in.CrossEncoder:
    try:
        kind("nope")
    except latebind.LatebindError as error:
        print(str(error).split(" on the hub")[0].split()[-1])
for kind, name in (latebind.MultiVectorEncoder, "nope"), (latebind.Embedder, "nope.onnx"):
    try:
        kind(name)
    except latebind.LatebindError as error:
        print("no such folder" in str(error))
"""
    assert good(code, env={"HF_HUB_OFFLINE": "1", "HF_HOME": "/nonexistent"}).split() == [
        "sentence-transformers/nope",
        "cross-encoder/nope",
        "sparse-encoder/nope",
        "sentence-transformers/nope",
        "cross-encoder/nope",
        "True",
        "True",
    ]
