"""scripts/setup installs what is missing, and says what it cannot do.

Works on a copy of the scripts with stand-ins for apt and pip: nothing is installed.
"""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import SOURCE

VERSIONS = dict(
    re.findall(r"^([A-Z_0-9]+)=([^\s\"]+)$", (SOURCE / "scripts" / "versions.env").read_text(), re.MULTILINE)
)
OPENVINO = f"openvino=={VERSIONS['OPENVINO_VERSION']}"
ONNXRUNTIME = f"onnxruntime=={VERSIONS['ONNXRUNTIME_VERSION']}"


class SetupTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        shutil.copytree(SOURCE / "scripts", self.root / "scripts")
        self.tools = self.root / "tools"
        self.tools.mkdir()
        for tool in ("bash", "basename", "cat", "cut", "dirname", "env", "flock", "grep", "mkdir", "mktemp", "mv", "nproc",
                     "rm", "sha256sum", "tail", "touch"):
            (self.tools / tool).symlink_to(shutil.which(tool))
        self.log = self.root / "log"
        self.log.touch()
        self.stand_in(self.tools / "dpkg-query", "echo installed")
        self.stand_in(self.tools / "id", "echo 1000")
        self.stand_in(self.tools / "uname", '[ "$1" = -s ] && echo Linux || echo x86_64')
        model = self.root / "build" / "runtime" / "model"
        (model / VERSIONS["MODEL_NAME"]).mkdir(parents=True)
        (model / VERSIONS["MODEL_NAME"] / "model.safetensors").touch()
        (model / f"checked-{VERSIONS['MODEL_NAME']}-{VERSIONS['MODEL_WEIGHTS_SHA256'][:16]}").touch()
        self.venv = self.root / "build" / "runtime" / "venv"
        self.uv = self.root / "build" / "runtime" / "uv" / "bin" / "uv"
        self.stand_in(self.uv)

    def stand_in(self, path, script="exit 0"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/bash\necho "{path.name} $*" >>"{self.log}"\n{script}\n')
        path.chmod(0o755)

    def install(self, *requirements):
        """What pip would leave in the environment."""
        self.stand_in(self.venv / "bin" / "python")
        for requirement in requirements:
            name, version = requirement.split("==")
            folder = self.venv / "lib" / "python3.11" / "site-packages" / f"{name}-{version}.dist-info"
            folder.mkdir(parents=True)

    def setup_script(self, *arguments):
        return subprocess.run(
            [self.root / "scripts" / "setup", *arguments],
            capture_output=True, text=True, env={"PATH": str(self.tools), "HOME": "/nonexistent"},
        )

    def calls(self, tool):
        return [line for line in self.log.read_text().splitlines() if line.startswith(tool + " ")]

    def installing(self):
        """What uv and pip were asked to install."""
        return [line for line in self.calls("uv") + self.calls("python") if " install " in line]

    def test_what_is_there_is_not_installed_again(self):
        self.install(OPENVINO, ONNXRUNTIME)
        for _ in range(2):
            done = self.setup_script("build", "runtime")
            self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", ""))
        self.assertEqual(self.installing(), [])

    def test_another_version_is_replaced_by_the_pinned_one(self):
        self.install("openvino==2020.1.0", ONNXRUNTIME)
        self.assertEqual(self.setup_script("runtime").returncode, 0)
        (call,) = self.installing()
        self.assertRegex(call, f"^uv .* {OPENVINO}$")

    def test_what_was_downloaded_needs_no_network_and_what_was_not_is_downloaded(self):
        self.install()
        self.stand_in(self.uv, 'case $* in *--offline*) echo "not in the cache" >&2; exit 1 ;; esac')
        done = self.setup_script("runtime")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(["--offline" in call for call in self.installing()], [True, False])

    def test_uv_takes_packages_from_where_pip_takes_them(self):
        self.install()
        self.stand_in(self.uv, f'echo "from $UV_DEFAULT_INDEX" >>"{self.log}"')
        self.stand_in(self.venv / "bin" / "python", 'case $* in *"config get global.index-url") echo http://here/simple ;; esac')
        self.assertEqual(self.setup_script("runtime").returncode, 0)
        self.assertIn("from http://here/simple\n", self.log.read_text())

    def test_without_uv_it_is_pip(self):
        self.install()
        self.uv.unlink()
        done = self.setup_script("runtime")
        self.assertEqual(done.returncode, 0)
        self.assertIn("trying pip", done.stderr)
        one, other = self.installing()
        self.assertRegex(one, f" uv=={VERSIONS['UV_VERSION']}$")
        self.assertRegex(other, f"^python -m pip install .* {OPENVINO} {ONNXRUNTIME}$")

    def test_a_failing_pip_is_reported_after_the_others_have_ended(self):
        self.install()
        self.stand_in(self.uv, 'echo "no such index" >&2; exit 1')
        self.stand_in(self.venv / "bin" / "python", 'case $* in *" install "*) echo "no such wheel" >&2; exit 1 ;; esac')
        next((self.root / "build" / "runtime" / "model").glob("checked-*")).unlink()
        done = self.setup_script("runtime")
        self.assertEqual(done.returncode, 1)
        for words in ("no such index", "no such wheel", f"pip could not install: {OPENVINO} {ONNXRUNTIME}",
                      "model.safetensors is not the published file", "not everything could be installed"):
            self.assertIn(words, done.stderr)

    def test_a_step_that_fails_ends_its_part(self):
        self.install()
        next((self.root / "build" / "runtime" / "model").glob("checked-*")).unlink()
        (self.tools / "mkdir").unlink()
        self.stand_in(self.tools / "mkdir", 'echo "no room" >&2; exit 1')
        done = self.setup_script("model")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no room", done.stderr)
        self.assertIn("not everything could be installed", done.stderr)
        self.assertNotIn("published file", done.stderr)  # what the steps behind it would say

    def test_the_model_needs_no_vendor(self):
        self.install()
        done = self.setup_script("model")
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", ""))
        self.assertEqual(self.installing(), [])

    def test_packages_need_one_small_environment(self):
        pinned = (SOURCE / "scripts" / "versions.env").read_text()
        wanted = re.search(r'^PACKAGING_PACKAGES="([^"]*)"', pinned, re.MULTILINE)[1].split()
        self.install()
        for name, version in re.findall(r"^(UTF8PROC|PCRE2|SIMDJSON)_VERSION=(.*)$", pinned, re.MULTILINE):
            for file in ("utf8proc.c", "src/pcre2_match.c", "singleheader/simdjson.cpp"):
                source = self.root / "build/runtime/sources" / f"{name.lower()}-{version}" / file
                source.parent.mkdir(parents=True, exist_ok=True)
                source.touch()
        self.stand_in(self.root / "build/runtime/packaging/bin/python")
        self.assertEqual(self.setup_script("package").returncode, 0)
        (call,) = self.installing()
        self.assertTrue(call.endswith(" ".join(wanted)), call)
        self.assertLess(len(wanted), 8)

    def test_without_root_and_sudo_the_command_to_type_is_named(self):
        self.stand_in(self.tools / "dpkg-query", "exit 1")
        done = self.setup_script("build")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^setup: .*apt-get install .*\bg\+\+ cmake ninja-build\b")
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_sudo_is_used_for_what_is_missing_alone(self):
        self.stand_in(self.tools / "dpkg-query", '[ "${!#}" = cmake ] && exit 1; echo installed')
        self.stand_in(self.tools / "sudo")
        self.assertEqual(self.setup_script("build").returncode, 0)
        calls = [line for line in self.log.read_text().splitlines() if line.startswith("sudo")]
        self.assertEqual(calls[0], "sudo apt-get update")
        self.assertRegex(calls[1], r"apt-get install -y --no-install-recommends cmake$")

    def test_a_failing_apt_is_reported_with_its_words(self):
        self.stand_in(self.tools / "dpkg-query", "exit 1")
        self.stand_in(self.tools / "sudo", "echo 'E: no such mirror'; exit 100")
        done = self.setup_script("build")
        self.assertEqual(done.returncode, 1)
        self.assertIn("E: no such mirror", done.stderr)
        self.assertIn("apt-get could not install", done.stderr)

    def test_a_model_that_is_not_the_published_one_is_refused(self):
        self.install(OPENVINO, ONNXRUNTIME)
        next((self.root / "build" / "runtime" / "model").glob("checked-*")).unlink()
        done = self.setup_script("runtime")
        self.assertEqual(done.returncode, 1)
        self.assertIn("model.safetensors is not the published file", done.stderr)

    def test_a_pjrt_plugin_that_is_not_the_pinned_one_is_refused(self):
        self.install(OPENVINO, ONNXRUNTIME)
        made = 'while [ $# -gt 1 ]; do [ "$1" != --dest ] || { mkdir -p "$2" && echo other >"$2/a.whl"; }; shift; done'
        self.stand_in(self.venv / "bin" / "python", made)
        done = self.setup_script("pjrt")
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not the pinned one", done.stderr)
        self.assertFalse(list((self.root / "build" / "runtime" / "pjrt").iterdir()))

    def test_libraries_for_aarch64_come_by_an_apt_that_leaves_the_host_alone(self):
        aarch64 = self.root / "build" / "runtime" / "aarch64"
        for requirement in (OPENVINO, ONNXRUNTIME, f"numpy=={VERSIONS['AARCH64_NUMPY_VERSION']}"):
            (aarch64 / requirement.replace("==", "-")).mkdir(parents=True)
        for tool in ("find", "ln", "readlink"):
            (self.tools / tool).symlink_to(shutil.which(tool))
        self.stand_in(self.tools / "dpkg-deb")
        # What apt would leave behind; the script is told of each package by a call of dpkg-deb.
        self.stand_in(self.tools / "apt-get", (
            "for word; do case $word in Dir::Cache=*) cache=${word#*=} ;; esac; done\n"
            'touch "$cache/archives/libfmt-dev_9_arm64.deb"'))
        for _ in range(2):  # the second time there is nothing to do
            done = self.setup_script("aarch64")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        calls = self.log.read_text().splitlines()
        apt = [line for line in calls if line.startswith("apt-get")]
        self.assertEqual(len(apt), 2)
        for call in apt:
            self.assertRegex(call, rf"APT::Architecture=arm64 .*Dir::State={self.root}/.*Dir::Cache={self.root}/")
        self.assertIn("--download-only libc6-dev", apt[1])
        self.assertEqual(len([line for line in calls if line.startswith("dpkg-deb --extract")]), 1)
        self.assertTrue((aarch64 / "sysroot" / "packages").exists())

    def test_an_apt_without_libraries_for_aarch64_leaves_no_folder(self):
        self.stand_in(self.tools / "dpkg-deb")
        self.stand_in(self.tools / "apt-get", "echo 'E: no such architecture'; exit 100")
        done = self.setup_script("aarch64")
        self.assertEqual(done.returncode, 1)
        self.assertIn("E: no such architecture", done.stderr)
        self.assertIn("apt-get could not download for arm64", done.stderr)
        self.assertFalse((self.root / "build" / "runtime" / "aarch64" / "sysroot").exists())

    def test_unknown_arguments_are_refused(self):
        done = self.setup_script("runtimes")
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown argument 'runtimes'", done.stderr)


if __name__ == "__main__":
    unittest.main()
