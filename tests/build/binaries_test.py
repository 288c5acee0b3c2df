"""Never linked: reads the dynamic section of everything that the build made."""

import os
import re
import unittest

from support import BINARY, SOURCE, VENDOR, run

# The C and C++ runtimes, and the distribution's libraries that docs/platforms.md names.
RUNTIMES = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libdl.so.2", "libpthread.so.0"}
DISTRIBUTION = {"libcrypto.so.3", "libssl.so.3", "libsimdjson.so.14", "libutf8proc.so.2"}
SANITIZERS = {"libasan.so.8", "libubsan.so.1", "libtsan.so.2"}
LOADER = re.compile(r"^ld-linux-.*\.so\.\d+$")


def made_by_the_build():
    """Programs and shared libraries below the build folder, without CMake's own experiments."""
    files = []
    for folder, folders, names in os.walk(BINARY):
        folders[:] = [name for name in folders if name not in ("CMakeFiles", "Testing", "package")]
        for name in names:
            path = os.path.join(folder, name)
            if os.path.islink(path) or path.endswith((".o", ".a")):
                continue
            with open(path, "rb") as file:
                header = file.read(18)
            # ELF, and of type EXEC or DYN.
            if header[:4] == b"\x7fELF" and header[16:17] in (b"\x02", b"\x03"):
                files.append(path)
    return sorted(files)


def dynamic_section(path):
    """{tag: [values]} of NEEDED, RPATH, RUNPATH and SONAME."""
    section = {}
    # A fake library that is damaged on purpose may make readelf complain; that is its business.
    text = run("readelf", "-dW", path, env={**os.environ, "LC_ALL": "C"})
    for tag, value in re.findall(r"\((NEEDED|RPATH|RUNPATH|SONAME)\)[^\[\n]*\[([^\]\n]*)\]", text):
        section.setdefault(tag, []).append(value)
    return section


class BinariesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.binaries = {path: dynamic_section(path) for path in made_by_the_build()}

    def test_the_build_made_something_and_it_can_be_read(self):
        self.assertTrue(self.binaries, f"no program below {BINARY}")
        for path, section in self.binaries.items():
            if os.path.dirname(path) == str(BINARY / "bin"):
                self.assertIn("libc.so.6", section.get("NEEDED", []), path)

    def test_nothing_needs_a_vendor_library(self):
        for path, section in self.binaries.items():
            for needed in section.get("NEEDED", []):
                # Named as ONNX Runtime names such libraries, but ours.
                if needed != "libonnxruntime_providers_latebind.so":
                    self.assertNotRegex(needed, VENDOR, path)

    def test_nothing_needs_more_than_the_documents_name(self):
        allowed = RUNTIMES | DISTRIBUTION
        if os.environ.get("LATEBIND_TEST_SANITIZE"):
            allowed |= SANITIZERS
        own = {name for section in self.binaries.values() for name in section.get("SONAME", [])}
        for path, section in self.binaries.items():
            for needed in section.get("NEEDED", []):
                # The micro-benchmarks are no part of the product.
                if os.path.basename(path) == "lb_bench" and needed.startswith("libbenchmark"):
                    continue
                # What goes into ExecuTorch needs ExecuTorch, and so does what tests that.
                if "executorch" in os.path.basename(path) and needed == "libexecutorch.so":
                    continue
                if not LOADER.match(needed) and needed not in own:
                    self.assertIn(needed, allowed, path)

    def test_the_documents_name_what_the_program_needs(self):
        document = (SOURCE / "docs" / "platforms.md").read_text(encoding="utf-8")
        for name in DISTRIBUTION:
            self.assertIn(name.split(".so")[0], document)

    def test_nothing_that_ships_carries_a_search_path(self):
        shipped = [path for path in self.binaries if re.match(r"(lib)?latebind(_executorch)?(\.so.*)?$", os.path.basename(path))]
        self.assertTrue(shipped)
        for path in shipped:
            section = self.binaries[path]
            self.assertFalse(section.get("RPATH", []) + section.get("RUNPATH", []), path)

    def test_search_paths_lead_to_the_build_folder_alone(self):
        # An example that is run where it was built finds Latebind's own library there; nothing finds a vendor's.
        for path, section in self.binaries.items():
            for places in section.get("RPATH", []) + section.get("RUNPATH", []):
                for place in filter(None, places.split(":")):
                    # Tests of the delegate are hosts of ExecuTorch.
                    if "executorch" in os.path.basename(path) and place.endswith("/executorch/lib"):
                        continue
                    self.assertEqual(place, str(BINARY / "lib"), path)

    def test_what_any_format_needs_is_in_one_library(self):
        # core/text/format_to.h; where fmt cannot be compiled once, there is no such library.
        if not (BINARY / "lib" / "liblatebind_fmt.a").exists():
            return
        defined = re.compile(r" FUNC .* (?!UND)\S+ _ZN3fmt\w*6detail10vformat_toIcE")
        for library in sorted((BINARY / "lib").glob("*.a")):
            found = defined.search(run("readelf", "-sW", library))
            self.assertEqual(bool(found), library.name == "liblatebind_fmt.a", library)


if __name__ == "__main__":
    unittest.main()
