"""scripts/check_layers finds each wrong arrow, and nothing in the project's own sources."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from support import SOURCE, load_script

CHECK = SOURCE / "scripts" / "check_layers"


def check(root):
    """The check as a build runs it."""
    return subprocess.run([CHECK, str(root)], capture_output=True, text=True)


class LayersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.module = load_script(CHECK)

    def findings(self, path, text):
        """What the check says about a tree with this one file."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / path
            file.parent.mkdir(parents=True)
            file.write_text(text, encoding="utf-8")
            return "\n".join(self.module.check(Path(folder)))

    def assert_refused(self, path, text, finding):
        self.assertIn(finding, self.findings(path, "// one\n" + text + "\n"))
        self.assertIn(f"{path}:2:", self.findings(path, "// one\n" + text + "\n"))

    def assert_allowed(self, path, text):
        self.assertEqual(self.findings(path, text + "\n"), "")

    def test_the_project_has_no_wrong_arrow(self):
        done = check(SOURCE)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 0)

    def test_a_folder_without_sources_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            done = check(folder)
            self.assertIn("no source file", done.stderr)
            self.assertEqual(done.returncode, 1)

    def test_an_empty_source_is_an_error(self):
        self.assertIn("core/a.h:1: is empty", self.findings("core/a.h", ""))
        self.assertIn("core/a.h:1: is empty", self.findings("core/a.h", "\n"))

    def test_a_long_source_is_an_error_unless_it_is_exempt(self):
        self.assertEqual(self.findings("core/a.cpp", "int a;\n" * 400), "")
        self.assertIn("core/a.cpp:401: has 402 lines", self.findings("core/a.cpp", "int a;\n" * 402))
        for path in sorted(self.module.LONG_FILES):
            self.assertEqual(self.findings(path, "int a;\n" * 1000), "")
            self.assertTrue((SOURCE / path).is_file(), f"{path} is gone: take it off the list of long files")

    def test_upwards_is_refused(self):
        self.assert_refused("core/a.cpp", '#include "embedding/embedder.h"', "may include only")
        self.assert_refused("core/platform/a.cpp", '#include "core/engine/engine.h"', "may include only")
        self.assert_refused("core/graph/a.cpp", '#include "core/model/model.h"', "may include only")
        self.assert_refused("embedding/a.cpp", '#include "backends/openvino/backend.h"', "may include only")
        self.assert_refused("embedding/tokenizer/a.h", '#include "embedding/embedder.h"', "may include only")
        self.assert_refused("backends/openvino/a.cpp", '#include "backends/onnxruntime/abi.h"', "may include only")
        self.assert_refused("backends/openvino/a.cpp", '#include "app/backends.h"', "may include only")
        self.assert_refused("api/a.cpp", '#include "backends/openvino/backend.h"', "may include only")
        self.assert_refused("cli/a.cpp", '#include "backends/openvino/backend.h"', "may include only")
        self.assert_refused("cli/a.cpp", '#include "api/c_objects.h"', "may include only")
        self.assert_refused("app/a.cpp", '#include "cli/terminal/parser.h"', "may include only")
        self.assert_refused("formats/pte/a.cpp", '#include "hosts/executorch/delegate.h"', "may include only")
        self.assert_refused("formats/pte/a.cpp", '#include "core/engine/engine.h"', "may include only")
        self.assert_refused("core/a.cpp", '#include "core/bundle/package.h"', "may include only")
        self.assert_refused("core/status.cpp", '#include "core/engine/engine.h"', "may include only")
        self.assert_refused("backends/openvino/a.cpp", '#include "core/http/http_client.h"', "may include only")
        self.assert_refused("core/http/a.cpp", '#include "core/model/model.h"', "may include only")
        self.assert_refused("core/text/a.cpp", '#include "core/platform/os_error.h"', "may include only")
        self.assert_refused("core/a.cpp", "#include <flatbuffers/flatbuffers.h>", "which is for")
        self.assert_refused("hosts/executorch/a.cpp", '#include "core/engine/engine.h"', "may include only")
        self.assert_refused("examples/a.cpp", '#include "app/backends.h"', "may include only")

    def test_downwards_is_allowed(self):
        self.assert_allowed("core/a.cpp", '#include "core/platform/digest.h"\n#include <vector>')
        self.assert_allowed("core/bundle/a.cpp", '#include "core/engine/engine.h"\n#include "core/bundle/a.h"')
        self.assert_allowed("embedding/a.cpp", '#include "core/engine/engine.h"\n#include "embedding/tokenizer/a.h"')
        self.assert_allowed("app/a.cpp", '#include "backends/openvino/backend.h"')
        self.assert_allowed("api/a.cpp", '#include "app/backends.h"')
        self.assert_allowed("cli/a.cpp", '#include "app/backends.h"')
        self.assert_allowed("examples/a.c", "#include <latebind/latebind.h>")

    def test_fields_of_protobuf_have_names(self):
        for code in (
            "if (field->number == 7) return;",
            "switch (field->number) { case 7: return; }",
            'message.add_bytes(3, "x");',
            "auto graph = sub_message(text_in(bytes, kName), 7);",
        ):
            self.assert_refused("core/graph/a.cpp", code + '\n#include "core/graph/protobuf.h"', "number of a field")
        self.assert_allowed("core/graph/a.cpp", '#include "core/graph/protobuf.h"\nbool a = field->number == ModelProto::kGraph;')
        self.assert_allowed("core/graph/a.cpp", "bool a = field->number == 7;")

    def test_calls_of_the_system_belong_to_the_platform(self):
        for header in ("dlfcn.h", "sys/mman.h", "unistd.h", "windows.h"):
            self.assert_refused("core/a.cpp", f"#include <{header}>", "operating system")
            self.assert_refused("cli/a.cpp", f"#include <{header}>", "operating system")
            self.assert_allowed("core/platform/a.cpp", f"#include <{header}>")

    def test_vendor_headers_are_refused_everywhere(self):
        self.assert_refused("backends/openvino/a.h", "#include <openvino/c/openvino.h>", "vendor header")
        self.assert_refused("backends/onnxruntime/a.h", "#include <onnxruntime_c_api.h>", "vendor header")

    def test_the_core_names_no_vendor(self):
        self.assert_refused("core/a.cpp", 'const char* a = "libOpenVINO_c.so";', "must not know that vendor")
        self.assert_refused("core/a.cpp", "void use_onnxruntime();", "must not know that vendor")
        self.assert_refused("backends/openvino/a.cpp", 'auto a = "onnxruntime";', "must not know that vendor")
        # A comment may give an example, and a file format may bear its inventor's name.
        self.assert_allowed("core/a.cpp", "// such as openvino:CPU\n/* or onnxruntime */ int a;")
        self.assert_allowed("core/a.cpp", 'auto a = "openvino-ir"; auto b = kOpenvinoIr;')

    def test_what_looks_like_a_comment_in_a_string_is_code(self):
        self.assert_refused("core/a.cpp", 'auto a = "//"; auto b = "openvino";', "must not know that vendor")
        self.assert_refused("core/a.cpp", "auto a = '\"'; auto b = \"openvino\"; // \"", "must not know that vendor")
        self.assert_allowed("core/a.cpp", "int a = 1'000; // it's openvino")

    def test_mutexes_are_those_that_are_checked(self):
        for name in ("mutex", "recursive_mutex", "lock_guard", "unique_lock<M>", "condition_variable"):
            self.assert_refused("core/a.cpp", f"std::{name} a;", "which clang checks")
            self.assert_refused("hosts/executorch/a.cpp", f"std::{name} a;", "which clang checks")
            self.assert_allowed("examples/a.cpp", f"std::{name} a;")
            self.assert_allowed("core/threads/mutex.h", f"std::{name} a;")
        self.assert_allowed("core/a.cpp", "std::once_flag a;  // not a std::mutex")
        self.assert_allowed("core/platform/a.cpp", '#include "core/threads/mutex.h"')
        self.assert_refused("core/platform/a.cpp", '#include "core/threads/cancellation.h"', "may include only")
        self.assert_refused("core/threads/mutex.h", '#include "core/status.h"', "may include only")

    def test_libraries_stay_where_they_are_needed(self):
        self.assert_refused("core/a.cpp", "#include <openssl/evp.h>", "is for core/platform/ only")
        self.assert_refused("cli/a.cpp", "#include <curl/curl.h>", "is for core/http/ only")
        self.assert_refused(
            "core/a.cpp", "#include <executorch/runtime/core/error.h>", "is for hosts/executorch/, examples/executorch/ only"
        )
        self.assert_allowed("hosts/executorch/a.cpp", "#include <executorch/runtime/core/error.h>")
        self.assert_refused("hosts/executorch/a.cpp", '#include "core/engine/engine.h"', "may include only")
        self.assert_allowed("core/http/a.cpp", "#include <curl/curl.h>")
        self.assert_refused("app/a.cpp", "#include <boost/asio.hpp>", "is for server/ only")
        for layer in ("core/", "core/cache/", "backends/onnxruntime/", "embedding/", "server/protocols/", "cli/", "app/"):
            self.assert_refused(f"{layer}a.cpp", "#include <simdjson.h>", "is for core/json/ only")
            self.assert_refused(f"{layer}a.cpp", "#include <nlohmann/json.hpp>", "is for tests only")
        self.assert_allowed("core/json/a.cpp", "#include <simdjson.h>")
        self.assert_refused("core/json/a.cpp", "#include <nlohmann/json.hpp>", "is for tests only")
        self.assert_allowed("server/observe/a.cpp", "#include <boost/asio.hpp>")
        self.assert_refused("core/a.cpp", "#include <absl/strings/str_cat.h>", "are allowed here")


if __name__ == "__main__":
    unittest.main()
