"""The packages that CPack makes: what is in them, and that each works in a clean folder and goes without a trace.

Packages for another machine are tried the same way under LATEBIND_TEST_EMULATOR.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

SOURCE = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "scripts"))
from vendor_files import VENDOR, is_vendors
BINARY = Path(os.environ["LATEBIND_TEST_BINARY_DIR"])
VERSION = os.environ["LATEBIND_TEST_PROJECT_VERSION"]
ARCHITECTURE = os.environ["LATEBIND_TEST_ARCHITECTURE"]
EMULATOR = shlex.split(os.environ["LATEBIND_TEST_EMULATOR"])
VENDORS = Path(os.environ["LATEBIND_TEST_VENDORS"])
MODEL = SOURCE / "build" / "runtime" / "model" / "all-MiniLM-L6-v2"

DEBIAN_ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}[ARCHITECTURE]
ARCHIVE = f"latebind-{VERSION}-linux-{ARCHITECTURE}"
DEB = f"latebind_{VERSION}_{DEBIAN_ARCHITECTURE}.deb"
SHORT_VERSION = VERSION.rsplit(".", 1)[0]
PROGRAM = "bin/latebind"
LIBRARY = f"lib/liblatebind.so.{VERSION}"
PROMISED = [
    PROGRAM, LIBRARY, f"lib/liblatebind.so.{SHORT_VERSION}", "lib/liblatebind.so", "include/latebind/latebind.h",
    "include/latebind/latebind.hpp", "include/latebind/latebind_backend.h", "lib/cmake/latebind/latebindConfig.cmake",
    "lib/cmake/latebind/latebindConfigVersion.cmake", "share/doc/latebind/LICENSE", "share/doc/latebind/NOTICES",
    "share/doc/latebind/README.md", "share/doc/latebind/CHANGELOG.md", "share/doc/latebind/copyright",
    "share/doc/latebind/docs/configuration.md", "share/doc/latebind/examples/embed.c",
    "share/doc/latebind/examples/backend-plugin/adder.c",
    "share/doc/latebind/examples/nearest.cpp", "share/doc/latebind/examples/CMakeLists.txt", "lib/pkgconfig/latebind.pc",
    "share/doc/latebind/examples/executorch/embed.cpp",
    "share/doc/latebind/examples/executorch/CMakeLists.txt", "share/doc/latebind/docs/pte-format.md",
    "share/man/man1/latebind.1.gz", "share/man/man1/latebind-embed.1.gz", "share/bash-completion/completions/latebind",
    "share/zsh/site-functions/_latebind", "share/fish/vendor_completions.d/latebind.fish",
    "lib/systemd/system/latebind.service", "lib/systemd/system/latebind.socket",
    "share/doc/latebind/deploy/README.md", "share/doc/latebind/deploy/systemd/serve.env",
    "share/doc/latebind/deploy/container/Containerfile", "share/doc/latebind/deploy/kubernetes/deployment.yaml",
]
# Where Debian and its kin have what the .deb may need; scripts/check_release says what that is.
DEBIAN_PACKAGES = {
    "libc.so.6": "libc6", "libm.so.6": "libc6", "ld-linux-x86-64.so.2": "libc6", "ld-linux-aarch64.so.1": "libc6",
    "libgcc_s.so.1": "libgcc-s1", "libstdc++.so.6": "libstdc++6", "libcrypto.so.3": "libssl3", "libssl.so.3": "libssl3",
}


def run(*command, **options):
    """Both streams of a command that must succeed."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=580, **options)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done


def clean(folder):
    """The environment of somebody who has nothing but a package and a vendor's library."""
    return {
        "HOME": str(folder), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8",
        "LATEBIND_OPENVINO_LIBRARY": str(VENDORS if not EMULATOR else next(VENDORS.glob("openvino-*/openvino/libs"))),
        "LATEBIND_ONNXRUNTIME_LIBRARY": "/nonexistent/libonnxruntime.so",
    }


def emulated(program, *arguments, **options):
    return run(*EMULATOR, program, *arguments, **options)


def is_elf(path):
    return path.is_file() and not path.is_symlink() and path.open("rb").read(4) == b"\x7fELF"


def needed(path):
    return re.findall(r"\(NEEDED\)[^\[\n]*\[([^\]\n]*)\]", run("readelf", "-dW", path).stdout)


def works(prefix, home):
    """The program below a prefix tells its version and gives the vectors of the reference."""
    assert VERSION in emulated(prefix / PROGRAM, "--version", env=clean(home)).stdout
    lines = (SOURCE / "tests" / "data" / "golden" / "minilm.jsonl").read_text(encoding="utf-8").splitlines()
    short = min(range(1, len(lines)), key=lambda i: len(lines[i]))
    done = emulated(prefix / PROGRAM, "embed", "--model", MODEL, "--device", "openvino", "--precision", "f32",
                    "--input-format", "jsonl", "-", input=lines[short] + "\n", env=clean(home))
    vector = numpy.array(json.loads(done.stdout)["embedding"])
    golden = numpy.load(SOURCE / "tests" / "data" / "golden" / "minilm.npy")[short].astype(float)
    assert vector @ golden / numpy.linalg.norm(vector) / numpy.linalg.norm(golden) > 0.99999
    assert "openvino:CPU" in done.stderr


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packages")
    run(SOURCE / "scripts" / "package", BINARY.name, env=os.environ | {"LATEBIND_PACKAGES": str(folder)})
    return folder


@pytest.fixture(scope="module")
def unpacked(packages, tmp_path_factory):
    folder = tmp_path_factory.mktemp("somebody else's folder")
    run("tar", "-xzf", packages / f"{ARCHIVE}.tar.gz", "-C", folder)
    assert os.listdir(folder) == [ARCHIVE]
    return folder / ARCHIVE


@pytest.fixture(scope="module")
def of_deb(packages, tmp_path_factory):
    folder = tmp_path_factory.mktemp("deb")
    run("dpkg-deb", "--extract", packages / DEB, folder)
    return folder / "usr"


@pytest.fixture(scope="module")
def control(packages):
    fields = run("dpkg-deb", "--field", packages / DEB).stdout
    return dict(re.findall(r"^([A-Z][\w-]*): (.*)$", fields, re.MULTILINE))


def test_packages_and_wheel_compile_everything_once_and_no_test():
    commands = run("ninja", "-C", BINARY, "-t", "commands", "packed_files", "wheel_files").stdout
    compiled = re.findall(r" -c (\S+)$", commands, re.MULTILINE)
    assert compiled and sorted(compiled) == sorted(set(compiled))
    assert not [name for name in compiled if "/tests/" in name]


def test_every_package_has_its_sum(packages):
    made = sorted(path.name for path in packages.iterdir() if path.is_file())
    assert made == sorted(name + end for name in (f"{ARCHIVE}.tar.gz", DEB) for end in ("", ".sha256"))
    for package in (f"{ARCHIVE}.tar.gz", DEB):
        run("sha256sum", "--check", f"{package}.sha256", cwd=packages)


def test_the_archive_holds_what_is_promised_and_nothing_of_a_vendor(unpacked):
    for name in PROMISED:
        assert (unpacked / name).exists(), name
    files = [path for path in unpacked.rglob("*") if path.is_file()]
    for path in files:
        assert not is_vendors(str(path.relative_to(unpacked))), path
    assert {str(path.relative_to(unpacked)) for path in files if is_elf(path)} == {PROGRAM, LIBRARY}


def test_nothing_that_is_run_needs_a_vendor_or_has_symbols_to_spare(unpacked):
    for name in (PROGRAM, LIBRARY):
        assert not VENDOR.search(" ".join(needed(unpacked / name)))
        sections = run("readelf", "-SW", unpacked / name).stdout
        assert ".debug_info" not in sections and ".symtab" not in sections, name


def test_they_run_on_every_linux_whose_c_library_is_new_enough(packages, tmp_path):
    """The libraries and the versions of symbols that each file asks for, the machine, the licences, no vendor's file."""
    given = [packages / f"{ARCHIVE}.tar.gz", packages / DEB]
    for package in given:
        (tmp_path / package.name).symlink_to(package)
    (tmp_path / "SHA256SUMS").write_text(run("sha256sum", *[package.name for package in given], cwd=packages).stdout)
    assert run(SOURCE / "scripts" / "check_release", tmp_path).stdout == ""


def test_the_deb_has_openssl_and_the_cxx_library_of_the_distribution(unpacked, of_deb):
    for name in (PROGRAM, LIBRARY):
        assert {"libstdc++.so.6", "libcrypto.so.3"} <= set(needed(of_deb / name))
        assert not {"libstdc++.so.6", "libcrypto.so.3"} & set(needed(unpacked / name))


def test_the_libraries_show_only_what_is_theirs(unpacked, of_deb):
    for library in (unpacked / LIBRARY, of_deb / LIBRARY):
        symbols = re.findall(r" (?:GLOBAL|WEAK) +DEFAULT +(?!UND)\S+ (\S+)", run("readelf", "--dyn-syms", "-W", library).stdout)
        assert symbols and all(symbol.startswith("lb_") for symbol in symbols)


def test_the_licences_of_what_is_compiled_in_go_with_it(unpacked):
    notices = (unpacked / "share/doc/latebind/NOTICES").read_text(encoding="utf-8")
    for owner in ("Victor Zverovich", "Yann Collet", "Mark Gillard", "OpenSSL", "libutf8proc-dev",
                  "Daniel Lemire"):
        assert owner in notices


def started_by(prefix):
    (line,) = re.findall("^ExecStart=(.*)$", (prefix / "lib/systemd/system/latebind.service").read_text(), re.MULTILINE)
    return line


def test_the_units_of_an_archive_name_no_prefix(unpacked):
    assert started_by(unpacked) == "latebind serve $SERVE_ARGUMENTS"


def test_the_archive_works_where_it_was_unpacked(unpacked, tmp_path):
    works(unpacked, tmp_path)


def test_its_cmake_package_builds_the_examples(unpacked, tmp_path):
    toolchain = os.environ["LATEBIND_TEST_TOOLCHAIN"]
    machine = [f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", f"-DCMAKE_FIND_ROOT_PATH={unpacked}"] if toolchain else [
        f"-DCMAKE_C_COMPILER={os.environ['LATEBIND_TEST_C_COMPILER']}",
        f"-DCMAKE_CXX_COMPILER={os.environ['LATEBIND_TEST_CXX_COMPILER']}"]
    run("cmake", "-G", "Ninja", "-S", unpacked / "share/doc/latebind/examples", "-B", tmp_path / "build",
        f"-DCMAKE_PREFIX_PATH={unpacked}", *machine)
    run("cmake", "--build", tmp_path / "build")
    said = emulated(tmp_path / "build" / "embed_c", MODEL, "A man is eating food.", "A man is eating a piece of bread.",
                    "cpu", env=clean(tmp_path)).stdout
    assert re.match(r"0\.[78]\d+ by (openvino|native):CPU in f32", said), said
    # The template of a plug-in is another project.
    run("cmake", "-G", "Ninja", "-S", unpacked / "share/doc/latebind/examples/backend-plugin", "-B", tmp_path / "plugin",
        f"-DCMAKE_PREFIX_PATH={unpacked}", *machine)
    run("cmake", "--build", tmp_path / "plugin")


def test_the_deb_says_what_it_is_and_what_it_needs(control, of_deb):
    assert control["Package"] == "latebind"
    assert control["Version"] == VERSION
    assert control["Architecture"] == DEBIAN_ARCHITECTURE
    depends = set(re.findall(r"(?:^|, )([a-z0-9.+-]+) \(>= ", control["Depends"]))
    sonames = {name for file in (PROGRAM, LIBRARY) for name in needed(of_deb / file)}
    assert depends == {DEBIAN_PACKAGES[name] for name in sonames}
    assert "libcurl4" in control["Recommends"]
    assert not VENDOR.search(control["Depends"] + control["Recommends"])


def test_the_deb_is_installed_works_and_leaves_nothing(packages, tmp_path):
    root, home = tmp_path / "root", tmp_path / "home"
    home.mkdir()
    for folder in ("info", "updates", "triggers"):
        (root / "var/lib/dpkg" / folder).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    # Whoever is not root is it in a namespace of his own.
    as_root = [] if os.geteuid() == 0 else ["unshare", "--map-root-user"]
    # What it depends on and the machine that it is for are not in this root, nor is a shell: its scripts run outside, and
    # find a stand-in for the one program that they call.
    dpkg = [*as_root, "dpkg", f"--root={root}", "--force-depends", "--force-architecture", "--force-script-chrootless",
            f"--log={tmp_path / 'log'}"]
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "ldconfig").write_text(f"#!/bin/sh\necho called >>'{tmp_path / 'ldconfig-log'}'\n")
    (tools / "ldconfig").chmod(0o755)
    environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}:/usr/sbin:/sbin"}

    def files():
        return sorted(str(path.relative_to(root)) for path in root.rglob("*")
                      if "var/lib/dpkg" not in str(path) and not path.is_dir())

    run(*dpkg, "--install", packages / DEB, env=environment)
    assert {f"usr/{name}" for name in PROMISED} <= set(files())
    assert not [name for name in files() if is_vendors(name)]
    listed = run(*dpkg, "--listfiles", "latebind").stdout.split("\n")
    assert set(files()) <= {line.lstrip("/") for line in listed}
    assert started_by(root / "usr") == "/usr/bin/latebind serve $SERVE_ARGUMENTS"
    works(root / "usr", home)
    # What the service would have left, of a user that is gone by now.
    for folder in ("cache", "lib"):
        (root / "var" / folder / "private/latebind/models").mkdir(parents=True)
        (root / "var" / folder / "latebind").symlink_to("private/latebind")
    run(*dpkg, "--purge", "latebind", env=environment)
    assert files() == []
    assert not (root / "usr").exists()
    assert not list(root.glob("var/*/private/latebind"))
    assert (tmp_path / "ldconfig-log").read_text() == "called\n" * 2
