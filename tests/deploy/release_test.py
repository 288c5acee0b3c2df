"""What scripts/release is made of: refusals, versions, the check of what is given away, and the image, of stand-ins."""

import hashlib
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

SOURCE = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
BINARY = Path(os.environ["LATEBIND_TEST_BINARY_DIR"])
[VERSION] = re.findall(r"^project\(\w+ VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8"), re.MULTILINE)
# Linked to the distribution's libraries, as no package may be.
PLAIN = BINARY / "bin" / "latebind"


def script(name):
    loader = importlib.machinery.SourceFileLoader(name, str(SOURCE / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


sys.path.insert(0, str(SOURCE / "scripts"))
check_release = script("check_release")
set_version = script("set_version")


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=250, check=False, **options)


def test_no_file_of_the_sources_is_taken_for_a_vendors():
    excluded = tomllib.loads((SOURCE / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["scikit-build"]["sdist"]["exclude"]
    apart = tuple(name.strip("/") + "/" for name in excluded if name.startswith("/"))
    names = [str(path.relative_to(SOURCE)) for folder in SOURCE.iterdir() if folder.is_dir() and f"{folder.name}/" not in apart
             and not folder.name.startswith(".") for path in folder.rglob("*") if path.is_file()]  # fmt: skip
    assert len(names) > 500
    assert not [name for name in names if check_release.is_vendors(name)]


# -- Refusals


@pytest.fixture
def tree(tmp_path):
    """A committed tree with what scripts/release looks at before it builds anything, and stand-ins for what builds."""
    for name in [file for file, _ in set_version.PLACES] + ["CHANGELOG.md", "scripts/common.sh", "scripts/versions.env",
                                                            "scripts/release", "scripts/set_version"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SOURCE / name, tmp_path / name)
    for name in ("setup", "package", "oci_image", "check_release"):
        (tmp_path / "scripts" / name).write_text('#!/bin/sh\necho "$(basename "$0") $*" >>calls\nexit 1\n')
        (tmp_path / "scripts" / name).chmod(0o755)
    (tmp_path / ".gitignore").write_text("calls\n")
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text(f"# Changelog\n\n## {VERSION} (2026-12-01, ABI 1)\n")
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        git(tmp_path, *arguments)
    return tmp_path


def git(folder, *arguments):
    identity = ["-c", "user.name=n", "-c", "user.email=e", "-c", "safe.directory=*"]
    done = run("git", *identity, "-C", folder, *arguments)
    assert done.returncode == 0, done.stderr


def release(tree, *arguments):
    done = run(tree / "scripts" / "release", *arguments, cwd=tree,
               env=os.environ | {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"})
    calls = tree / "calls"
    return done, calls.read_text() if calls.exists() else ""


def test_a_clean_tree_with_its_own_version_is_released(tree):
    done, calls = release(tree, VERSION)
    assert calls.startswith("setup build package executorch image aarch64 windows"), done.stderr


def test_one_platform_alone_wants_no_other(tree):
    _, calls = release(tree, "--only", "release", VERSION)
    assert calls.startswith("setup build package executorch image\n")


@pytest.mark.parametrize("arguments, says", [([], "usage"), (["--only", "plan9", VERSION], "--only needs one of"),
                                             (["--what", VERSION], "unknown argument '--what'"), ([VERSION, "2"], "unknown argument '2'")])
def test_misuse_builds_nothing(tree, arguments, says):
    done, calls = release(tree, *arguments)
    assert done.returncode in (1, 2) and says in done.stderr and calls == ""


def test_another_version_than_the_one_place_has_is_refused(tree):
    done, calls = release(tree, "--trial", "9.9.9")
    assert done.returncode == 1 and f"CMakeLists.txt has version {VERSION}, not 9.9.9" in done.stderr and calls == ""


@pytest.mark.parametrize("what", ["changes", "changelog", "tag"])
def test_what_could_not_be_made_again_is_only_a_trial(tree, what):
    if what == "changes":
        (tree / "new.txt").touch()
    elif what == "changelog":
        (tree / "CHANGELOG.md").write_text(f"## {VERSION} (not released yet, ABI 1)\n")
        git(tree, "commit", "-qam", "x")
    else:
        git(tree, "tag", f"v{VERSION}")
        git(tree, "commit", "-q", "--allow-empty", "-m", "x")
    done, calls = release(tree, VERSION)
    assert done.returncode == 1 and "--trial makes a release to look at all the same" in done.stderr and calls == ""
    done, calls = release(tree, "--trial", VERSION)
    assert "a trial only: " in done.stdout and calls.startswith("setup ")


# -- The version


def test_the_version_is_the_same_everywhere():
    assert set_version.differing(SOURCE) == []


def test_a_version_is_set_everywhere(tree):
    assert run(tree / "scripts" / "set_version", "1.20.3").returncode == 0
    assert {version for _, version in set_version.found(tree)} == {"1.20.3"}
    assert "project(latebind VERSION 1.20.3 LANGUAGES" in (tree / "CMakeLists.txt").read_text()
    (tree / "CMakeLists.txt").write_text("project(latebind VERSION 1.20.4")
    done = run(tree / "scripts" / "set_version", "--check")
    assert done.returncode == 1 and "python/latebind/__init__.py has version 1.20.3, not 1.20.4" in done.stderr


@pytest.mark.parametrize("version", ["1.2", "v1.2.3", "1.2.3.4", "1.2.3rc1", ""])
def test_what_is_no_version_is_refused(tree, version):
    done = run(tree / "scripts" / "set_version", version)
    assert done.returncode == 1 and "is no version" in done.stderr
    assert set_version.differing(tree, VERSION) == []


# -- What is given away


def give(folder, name, files):
    """An archive with these files; and the sums."""
    path = folder / name
    if name.endswith((".whl", ".zip")):
        with zipfile.ZipFile(path, "w") as archive:
            for inner, data in files.items():
                archive.writestr(inner, data)
    else:
        with tarfile.open(path, "w:gz") as archive:
            for inner, data in files.items():
                entry = tarfile.TarInfo(inner)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    sum_up(folder)


def sum_up(folder):
    files = sorted(file for file in folder.iterdir() if file.name != "SHA256SUMS")
    (folder / "SHA256SUMS").write_text("".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files))


LICENCES = {"x/LICENSE": b"l", "x/NOTICES": b"n"}
LINUX = f"latebind-{VERSION}-linux-x86_64.tar.gz"


def test_a_program_that_needs_the_distributions_libraries_is_found(tmp_path):
    give(tmp_path, LINUX, LICENCES | {"x/bin/latebind": PLAIN.read_bytes()})
    found = list(check_release.findings(tmp_path))
    assert f"{LINUX}: x/bin/latebind needs libcrypto.so.3, which not every such system has" in found
    assert any("needs the C++ library of the distribution (GLIBCXX_" in one for one in found)


def test_a_program_for_another_machine_is_found(tmp_path):
    name = LINUX.replace("x86_64", "aarch64")
    give(tmp_path, name, LICENCES | {"x/bin/latebind": PLAIN.read_bytes()})
    assert f"{name}: x/bin/latebind is not for aarch64" in check_release.findings(tmp_path)


@pytest.mark.parametrize("name", ["lib/libtbb.so.12", "bin/tbb12.dll", "bin/QnnHtp.dll", "bin/openvino_c.dll",
                                  "lib/libopenvino_intel_npu_compiler.so", "lib/libonnxruntime.so.1.31.1"])
def test_vendors_files_are_found_by_their_names_on_every_system(tmp_path, name):
    give(tmp_path, LINUX, {f"x/{name}": b"data", "x/docs/openvino.md": b"page", "x/docs/inputs.bin": b"data",
                           "x/lib/libonnxruntime_providers_latebind.so": b"ours"} | LICENCES)
    found = [one for one in check_release.findings(tmp_path) if "vendor's file" in one]
    assert found == [f"{LINUX}: x/{name} has the name of a vendor's file"]


def test_what_is_missing_damaged_or_a_vendors_is_found(tmp_path):
    give(tmp_path, LINUX, {"x/lib/libopenvino.so": b"data", "x/docs/openvino.md": b"page", "x/LICENSE": b"l"})
    (tmp_path / "latebind.deb").write_text("no package")
    (tmp_path / "SHA256SUMS").write_text(f"{'0' * 64}  {LINUX}\n{'0' * 64}  gone\n")
    found = list(check_release.findings(tmp_path))
    for says in (f"{LINUX}: has no NOTICES", f"{LINUX}: x/lib/libopenvino.so has the name of a vendor's file",
                 f"{LINUX}: has neither a program nor a library", "SHA256SUMS: names gone, which is not there",
                 f"SHA256SUMS: has another sum of {LINUX}, or none"):
        assert says in found, found
    assert any(one.startswith("latebind.deb: cannot be read") for one in found)
    assert not [one for one in found if "openvino.md" in one]


def windows_program(*libraries):
    """A program for Windows with nothing in it but the names of the libraries that it imports."""
    data = bytearray(0x400)
    data[:2], data[0x3C:0x40] = b"MZ", (0x80).to_bytes(4, "little")
    data[0x80:0x84] = b"PE\0\0"
    data[0x84:0x88] = (0x8664).to_bytes(2, "little") + (1).to_bytes(2, "little")
    data[0x94:0x96] = (240).to_bytes(2, "little")
    data[0x98:0x9A] = (0x20B).to_bytes(2, "little")
    data[0x98 + 120:0x98 + 124] = (0x1000).to_bytes(4, "little")
    section = 0x98 + 240
    for at, number in ((8, 0x400), (12, 0x1000), (16, 0x200), (20, 0x200)):
        data[section + at:section + at + 4] = number.to_bytes(4, "little")
    names = 0x300
    for number, library in enumerate(libraries):
        at = 0x200 + 20 * number + 12
        data[at:at + 4] = (0x1000 + names - 0x200).to_bytes(4, "little")
        data[names:names + len(library)] = library.encode()
        names += len(library) + 1
    return bytes(data)


def test_a_program_for_windows_needs_what_windows_has(tmp_path):
    name = f"latebind-{VERSION}-windows-x86_64.zip"
    give(tmp_path, name, LICENCES | {"x/bin/latebind.exe": windows_program("KERNEL32.dll", "libstdc++-6.dll")})
    assert list(check_release.findings(tmp_path)) == [f"{name}: x/bin/latebind.exe needs libstdc++-6.dll, which not every Windows has"]
    give(tmp_path, name, LICENCES | {"x/bin/latebind.exe": windows_program("KERNEL32.dll", "bcrypt.dll")})
    assert list(check_release.findings(tmp_path)) == []


# -- The image


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """An image of this machine's own C library and of a program that needs nothing else, in place of Debian's and Latebind."""
    folder = tmp_path_factory.mktemp("image")
    root = folder / "root"
    source = folder / "hello.c"
    source.write_text('#include <stdio.h>\nint main(int count, char** words) { printf("%s %d\\n", words[1], count); return 0; }\n')
    hello = folder / "latebind"
    assert run("cc", "-o", hello, source).returncode == 0
    for line in run("ldd", hello).stdout.splitlines():
        for library in re.findall(r"(/\S+) \(", line):
            (root / library.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path(library).resolve(), root / library.lstrip("/"))
    certificate = root / "usr/share/ca-certificates/mozilla/one.crt"
    certificate.parent.mkdir(parents=True)
    certificate.write_text("a certificate\n")
    (root / "usr/share/doc/libc6").mkdir(parents=True)
    (root / "usr/share/doc/libc6/copyright").write_text("of the C library\n")
    (root / "usr/share/doc/libc6/changelog").write_text("left out\n")
    (root / "usr/bin").mkdir()
    (root / "usr/bin/left_out").touch()
    archive = folder / "latebind.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(hello, "latebind-x/bin/latebind")
        for name in ("LICENSE", "NOTICES", "README.md"):
            tar.add(source, f"latebind-x/share/doc/latebind/{name}")
    output = folder / "given" / f"latebind-{VERSION}-oci.tar"
    output.parent.mkdir()
    arguments = [SOURCE / "scripts" / "oci_image", output, VERSION, f"amd64={root},{archive}", f"arm64={root},{archive}"]
    for _ in range(2):
        before = output.read_bytes() if output.exists() else None
        done = run(*arguments, env=os.environ | {"SOURCE_DATE_EPOCH": "1700000000"})
        assert done.returncode == 0, done.stderr
    assert before == output.read_bytes(), "the same files, but not the same image"
    sum_up(output.parent)
    return output


def unpacked(image, folder):
    with tarfile.open(image) as archive:
        archive.extractall(folder)
    index = json.loads((folder / "index.json").read_text())

    def blob(descriptor):
        return folder / "blobs" / descriptor["digest"].replace(":", "/")

    (top,) = index["manifests"]
    images = {one["platform"]["architecture"]: json.loads(blob(one).read_text()) for one in json.loads(blob(top).read_text())["manifests"]}
    return images, blob


def test_the_image_is_an_oci_layout_whose_program_runs(image, tmp_path):
    assert list(check_release.findings(image.parent)) == []
    images, blob = unpacked(image, tmp_path / "layout")
    assert set(images) == {"amd64", "arm64"}
    root = tmp_path / "root"
    for layer in images["amd64"]["layers"]:
        with tarfile.open(blob(layer)) as tar:
            names = {entry.name: entry for entry in tar}
            if "tmp" in names:
                assert names["tmp"].mode == 0o1777 and names["cache"].uid == 65532
            tar.extractall(root)
    assert (root / "etc/ssl/certs/ca-certificates.crt").read_text() == "a certificate\n"
    assert (root / "usr/share/doc/libc6/copyright").exists() and not (root / "usr/share/doc/libc6/changelog").exists()
    assert sorted(path.name for path in (root / "usr/bin").iterdir()) == ["latebind"]
    config = json.loads(blob(images["amd64"]["config"]).read_text())
    assert config["config"]["Entrypoint"] == ["/usr/bin/latebind", "serve"]
    as_root = [] if os.geteuid() == 0 else ["unshare", "--map-root-user"]
    assert run(*as_root, "chroot", root, *config["config"]["Entrypoint"]).stdout == "serve 2\n"


def test_the_image_is_set_up_as_the_containerfile_says(image, tmp_path):
    images, blob = unpacked(image, tmp_path)
    config = json.loads(blob(images["arm64"]["config"]).read_text())["config"]
    last = (SOURCE / "deploy/container/Containerfile").read_text(encoding="utf-8").split("\nFROM ")[-1]
    theirs = dict(one.split("=", 1) for line in re.findall(r"^ENV (.*)$", last, re.MULTILINE) for one in line.split())
    ours = dict(one.split("=", 1) for one in config["Env"])
    # OpenVINO is not in this image.
    assert theirs.pop("LATEBIND_OPENVINO_LIBRARY") and ours.pop("PATH")
    assert ours == theirs
    assert f"USER {config['User']}" in last and f"ENTRYPOINT {json.dumps(config['Entrypoint'])}" in last
    assert set(config["Volumes"]) == {"/model", "/cache"} and set(config["ExposedPorts"]) == {"8080/tcp"}


def test_a_damaged_image_is_found(image, tmp_path):
    given = tmp_path / image.name
    data = bytearray(image.read_bytes())
    at = data.index(b"imageLayoutVersion")
    data[at:at + 18] = b"imageLayoutVersiom"
    given.write_bytes(bytes(data))
    sum_up(tmp_path)
    assert [one for one in check_release.findings(tmp_path) if one.startswith(f"{image.name}: cannot be read")]


def test_arguments_of_the_image_that_mean_nothing_are_errors(tmp_path):
    for argument, says in (("sparc=a,b", "is not ARCHITECTURE=ROOT,ARCHIVE"), (f"amd64={tmp_path},none.tar.gz", "there are no certificates")):
        done = run(sys.executable, SOURCE / "scripts" / "oci_image", tmp_path / "x.tar", VERSION, argument)
        assert done.returncode == 1 and says in done.stderr
        assert not (tmp_path / "x.tar").exists()
