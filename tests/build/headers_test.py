"""The product needs no vendor's header: none was read by the compiler, none could have been.

Files of tests/ are left out: one of them compares our declarations with the vendors' where they are installed.
"""

import json
import re
import shlex
import unittest
from pathlib import Path

from support import BINARY, SOURCE, run

VENDOR_HEADER = re.compile(r"(^|/)(openvino/c/|openvino/openvino|onnxruntime_\w+\.h$)")


class HeadersTest(unittest.TestCase):
    def test_the_compiler_read_no_vendor_header(self):
        made = ""
        read = 0
        for line in run("ninja", "-C", BINARY, "-t", "deps").splitlines():
            if not line.startswith(" "):
                made = line.split(":")[0]
            elif not made.startswith(("tests/", "bench/")):
                read += 1
                self.assertNotRegex(line.strip(), VENDOR_HEADER, made)
        self.assertGreater(read, 1000, "ninja remembers what was read: build first")

    def test_no_include_folder_holds_one(self):
        commands = json.loads((BINARY / "compile_commands.json").read_text(encoding="utf-8"))
        folders = set()
        for entry in commands:
            # Several files may be compiled as one, which lies in the build then.
            if {SOURCE / "tests", BINARY / "tests", SOURCE / "bench", BINARY / "bench"} & set(Path(entry["file"]).parents):
                continue
            words = shlex.split(entry["command"])
            for word, following in zip(words, words[1:] + [""]):
                if word in ("-I", "-isystem", "-iquote"):
                    folders.add(following)
                elif word.startswith("-I"):
                    folders.add(word[2:])
        self.assertIn(str(SOURCE), folders)
        for folder in map(Path, folders):
            for header in ("openvino/c/openvino.h", "openvino/openvino.hpp", "onnxruntime_c_api.h"):
                self.assertFalse((folder / header).exists(), f"{folder} holds {header}")


if __name__ == "__main__":
    unittest.main()
