"""The Python package for another platform: what is in the wheel, what it needs, and that it embeds there, as a program and in Python.

Run by `scripts/test windows` and `scripts/test aarch64`, in their emulator; LATEBIND_TEST_PRESET names the build,
LATEBIND_TEST_PYTHON a Python for that platform, and LATEBIND_TEST_NUMPY a folder with NumPy for it.
"""

import json
import os
import re
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile

SOURCE = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
PRESET = os.environ["LATEBIND_TEST_PRESET"]
EMULATOR = os.environ["LATEBIND_TEST_EMULATOR"].split()
LIMIT = 600
WINDOWS = PRESET == "windows"
NAME = {"windows": r"latebind-[\d.]+-py3-none-win_amd64\.whl",
        "aarch64": r"latebind-[\d.]+-py3-none-manylinux_2_34_aarch64\.whl"}[PRESET]
LIBRARY, PROGRAM = ("latebind.dll", "latebind.exe") if WINDOWS else ("liblatebind.so", "latebind")
BINARIES = [f"lib/{LIBRARY}", f"bin/{PROGRAM}"] + ([] if WINDOWS else ["lib/libonnxruntime_providers_latebind.so"])
# What every Windows has, and every Linux.
OF_WINDOWS = {"KERNEL32.dll", "msvcrt.dll", "bcrypt.dll", "ADVAPI32.dll", "WS2_32.dll", "MSWSOCK.dll", "SHELL32.dll", "ole32.dll",
              "SETUPAPI.dll", "CFGMGR32.dll"}
OF_LINUX = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-aarch64.so.1"}
GLIBC = (2, 34)


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], encoding="utf-8", capture_output=True, timeout=LIMIT,
                          check=False, **options)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """The files of the wheel."""
    packages = tmp_path_factory.mktemp("packages")
    run(SOURCE / "scripts" / "package", "wheel", PRESET, env=os.environ | {"LATEBIND_PACKAGES": str(packages)})
    [wheel] = packages.glob("*.whl")
    assert re.fullmatch(NAME, wheel.name)
    folder = tmp_path_factory.mktemp("content")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder / "latebind"


def needed_by(file):
    """Names of libraries, and the newest glibc that is asked for."""
    if WINDOWS:
        return set(re.findall(r"DLL Name: (\S+)", run("x86_64-w64-mingw32-objdump", "-p", file))), (0, 0)
    with file.open("rb") as stream:
        elf = ELFFile(stream)
        names = {tag.needed for tag in elf.get_section_by_name(".dynamic").iter_tags("DT_NEEDED")}
        versions = [tuple(map(int, version.name[6:].split(".")))
                    for _, each in elf.get_section_by_name(".gnu.version_r").iter_versions()
                    for version in each if version.name.startswith("GLIBC_2")]
        return names, max(versions)[:2]


def test_it_has_the_whole_package_and_no_other_platforms_files(content):
    names = {str(file.relative_to(content)) for file in content.rglob("*") if file.is_file()}
    assert {f"lib/{LIBRARY}", f"bin/{PROGRAM}", "LICENSE", "NOTICES", "py.typed"} <= names
    sources = {str(file.relative_to(SOURCE / "python/latebind")) for file in (SOURCE / "python/latebind").rglob("*.py")}
    assert sources <= names
    assert {name for name in names if name.startswith(("lib/", "bin/"))} == set(BINARIES)


@pytest.mark.parametrize("name", BINARIES)
def test_it_needs_what_every_system_has(content, name):
    needed, glibc = needed_by(content / name)
    assert needed and needed <= (OF_WINDOWS if WINDOWS else OF_LINUX), needed
    assert glibc <= GLIBC


def test_its_program_runs(content):
    program = content / "bin" / PROGRAM
    program.chmod(0o755)
    [release] = re.findall(r"^project\(\w+ VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text(), re.MULTILINE)
    assert release in run(*EMULATOR, program, "--version", stdin=subprocess.DEVNULL)
    assert "--model" in run(*EMULATOR, program, "embed", "--help", stdin=subprocess.DEVNULL)


EMBED = """
import json, sys
import latebind
model, text = sys.argv[1:]
embedder = latebind.Embedder(model, precision="f32", device="native:CPU")
vector = [float(number) for number in embedder.encode(text)]
print(json.dumps({"version": latebind.__version__, "backend": embedder.attestation.backend, "vector": vector}))
"""


def named(path):
    """A file of this machine, as the emulated one calls it."""
    return f"Z:{path}" if WINDOWS else str(path)


def test_it_is_imported_and_embeds(content):
    folders = [content.parent, Path(os.environ["LATEBIND_TEST_NUMPY"])]
    environment = os.environ | {"PYTHONPATH": (";" if WINDOWS else ":").join(map(named, folders))}
    golden = SOURCE / "tests/data/golden"
    texts = [json.loads(line)["text"] for line in (golden / "minilm.jsonl").read_text(encoding="utf-8").splitlines()]
    # The shortest, in letters that every command line takes.
    number = min((i for i, text in enumerate(texts) if text.isascii() and text.isprintable() and text), key=lambda i: len(texts[i]))
    model = named(SOURCE / "build/runtime/model/all-MiniLM-L6-v2")
    python = os.environ["LATEBIND_TEST_PYTHON"]
    said = run(*EMULATOR, python, "-c", EMBED, model, texts[number], env=environment, stdin=subprocess.DEVNULL)
    got = json.loads(said.splitlines()[-1])
    [release] = re.findall(r"^project\(\w+ VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text(), re.MULTILINE)
    assert (got["version"], got["backend"]) == (release, "native")
    vector, expected = np.array(got["vector"]), np.load(golden / "minilm.npy")[number].astype(float)
    assert vector @ expected / np.linalg.norm(vector) / np.linalg.norm(expected) > 0.99999
