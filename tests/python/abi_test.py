"""The declarations for ctypes are those of the header: the file is up to date, and a C compiler agrees."""

import ctypes
import re
import shutil
import subprocess

import pytest
from latebind import _abi, _library
from support import SOURCE

HEADER = (SOURCE / "include" / "latebind" / "latebind.h").read_text(encoding="utf-8")
STRUCTS = [kind for kind in vars(_abi).values() if isinstance(kind, type) and issubclass(kind, ctypes.Structure)]
STRUCTS.remove(ctypes.Structure)
CONSTANTS = [name for name in vars(_abi) if re.fullmatch(r"(LB|LATEBIND)_[A-Z0-9_]+", name)]


def test_the_file_is_what_the_header_says():
    done = subprocess.run(
        [str(SOURCE / "scripts" / "generate_python_abi"), "--check"], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_struct_constant_and_function_of_the_header_is_there():
    assert {kind.__name__ for kind in STRUCTS} == set(re.findall(r"^typedef struct (lb_\w+) \{", HEADER, re.MULTILINE))
    code = re.sub(r"/\*.*?\*/", "", HEADER, flags=re.DOTALL)
    macros = {"LB_API", "LB_INIT", "LATEBIND_BUILDING", "LATEBIND_STATIC", "LATEBIND_LATEBIND_H"}
    assert set(CONSTANTS) == set(re.findall(r"\b(?:LB|LATEBIND)_[A-Z0-9_]+\b", code)) - macros
    assert set(_abi.SIGNATURES) == set(re.findall(r"^LB_API .*?\b(lb_\w+)\(", HEADER, re.MULTILINE))


def test_a_c_compiler_finds_the_same_sizes_offsets_and_constants(tmp_path):
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "a C compiler is needed"
    expected = {}
    lines = []
    for kind in STRUCTS:
        name = kind.__name__
        expected[name] = ctypes.sizeof(kind)
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        for field, _ in kind._fields_:
            descriptor = getattr(kind, field)
            expected[f"{name}.{field}"] = descriptor.offset
            expected[f"{name}.{field}.size"] = descriptor.size
            lines.append(f'printf("{name}.{field} %zu\\n", offsetof({name}, {field}));')
            lines.append(f'printf("{name}.{field}.size %zu\\n", sizeof((({name}*)0)->{field}));')
    for name in CONSTANTS:
        expected[name] = getattr(_abi, name)
        lines.append(f'printf("{name} %lld\\n", (long long){name});')
    source, program = tmp_path / "layout.c", tmp_path / "layout"
    body = "\n  ".join(lines)
    source.write_text(
        f"#include <stdio.h>\n#include <latebind/latebind.h>\nint main(void) {{\n  {body}\n  return 0;\n}}\n"
    )
    subprocess.run([compiler, f"-I{SOURCE / 'include'}", str(source), "-o", str(program)], check=True)
    printed = subprocess.run([str(program)], check=True, encoding="utf-8", capture_output=True).stdout
    found = {name: int(number) for name, number in (line.split() for line in printed.splitlines())}
    assert found == expected


def test_the_library_has_every_function():
    functions = _library.library()
    for name, (result, arguments) in _abi.SIGNATURES.items():
        function = getattr(functions, name)
        assert (function.restype, tuple(function.argtypes)) == (result, arguments)
    assert functions.lb_abi_version() == _abi.LATEBIND_ABI_VERSION


@pytest.mark.parametrize(
    "change",
    [
        "typedef struct lb_odd {\n  long double x;\n} lb_odd;",
        "enum { LB_ODD };",
        "LB_API lb_code lb_odd(void (*callback)(void));",
    ],
)
def test_what_the_script_does_not_understand_is_an_error(tmp_path, change):
    script = tmp_path / "scripts" / "generate_python_abi"
    header = tmp_path / "include" / "latebind" / "latebind.h"
    for file in (script, header):
        file.parent.mkdir(parents=True)
    shutil.copy2(SOURCE / "scripts" / "generate_python_abi", script)
    header.write_text(HEADER + change + "\n", encoding="utf-8")
    done = subprocess.run([str(script), "--check"], capture_output=True, check=False)
    assert done.returncode == 1
    assert b"latebind.h: " in done.stderr
