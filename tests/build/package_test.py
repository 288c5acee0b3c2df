"""What is given away is made from what a build has compiled, with one set of flags, and the Python package from its sources as
quickly as the program.

Only looks at what would be compiled: nothing is.
"""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import BINARY, SOURCE, run

# Of a wheel alone: what registers the two hosts, and libraries that are linked as archives.
FILES_OF_WHEELS = 4


def compilations(folder, target):
    """{object: command} of what a target needs."""
    found = {}
    for line in run("ninja", "-C", folder, "-t", "commands", target).splitlines():
        made = re.search(r" -o (\S+\.o) -c ", line)
        if made:
            found[made[1]] = line
    return found


def preset(name):
    """The definitions of a preset, those that it inherits included."""
    presets = {one["name"]: one for one in json.loads((SOURCE / "CMakePresets.json").read_text())["configurePresets"]}
    one = presets[name]
    return (preset(one["inherits"]) if "inherits" in one else {}) | one.get("cacheVariables", {})


def definitions_of_pyproject():
    text = (SOURCE / "pyproject.toml").read_text(encoding="utf-8")
    return dict(re.findall(r'^cmake\.define\.(\w+) = "(\w+)"$', text, re.MULTILINE))


class PackageTest(unittest.TestCase):
    def test_packages_are_linked_of_what_the_build_compiles(self):
        product = compilations(BINARY, "latebind_program") | compilations(BINARY, "latebind")
        for target in ("latebind_executorch", "onnxruntime_providers_latebind"):
            if target in run("ninja", "-C", BINARY, "-t", "targets", "all"):
                product |= compilations(BINARY, target)
        for target, more in (("packed_files", 1), ("wheel_files", FILES_OF_WHEELS)):
            of_package = compilations(BINARY, target)
            self.assertLessEqual(len(set(of_package) - set(product)), more, sorted(set(of_package) - set(product)))
            self.assertGreater(len(set(of_package) & set(product)), 20)

    def test_sources_are_compiled_with_what_the_preset_says(self):
        ours = definitions_of_pyproject()
        self.assertEqual(ours, {name: preset("release")[name] for name in ours})
        self.assertEqual(ours.get("CMAKE_UNITY_BUILD"), "ON")

    def test_no_document_or_script_gives_a_preset_other_flags(self):
        for path in [*SOURCE.glob("*.md"), *SOURCE.glob("docs/**/*.md"), *SOURCE.glob("deploy/**/*"), *SOURCE.glob("scripts/**/*")]:
            if path.is_file() and path.suffix != ".pyc":
                self.assertNotRegex(path.read_text(encoding="utf-8"), r"cmake --preset \S+ (\\\n *)?-D", path)

    def test_pip_compiles_no_more_than_quickstart(self):
        """pip's backend runs CMake like this (scikit-build-core), with the definitions of pyproject.toml."""
        with tempfile.TemporaryDirectory() as folder:
            environment = {name: value for name, value in os.environ.items() if not name.startswith("LATEBIND_")}
            definitions = [f"-D{name}={value}" for name, value in definitions_of_pyproject().items()]
            subprocess.run(["cmake", "-G", "Ninja", "-S", SOURCE, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DSKBUILD=2",
                            *definitions], check=True, capture_output=True, env=environment, timeout=280)
            of_pip = compilations(folder, "wheel_files")
            self.assertFalse([name for name in of_pip if name.startswith(("tests/", "examples/"))])
        quickstart = compilations(BINARY, "latebind_program")
        # Besides: the C interface, and the two hosts.
        self.assertLessEqual(len(of_pip), len(quickstart) + 15)


if __name__ == "__main__":
    unittest.main()
