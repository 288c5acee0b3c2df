"""scripts/check_documents finds each thing that is not so, and nothing in the project's own documents."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from support import SOURCE, load_script

CHECK = SOURCE / "scripts" / "check_documents"

# A tree of which all is true.
TRUE = {
    "README.md": "[how](docs/architecture.md#words), [who](https://example.org)\n",
    "CMakeLists.txt": "project(latebind VERSION 1.2.3 LANGUAGES CXX)\n",
    "CHANGELOG.md": "# Changes\n\n## 1.2.3 (2026-01-01), ABI 4\n",
    "include/latebind/latebind.h": "#define LATEBIND_ABI_VERSION 4\n",
    "core/engine/engine.h": "",
    "docs/architecture.md": "# Words\n\n`core/engine/engine.h` `include/latebind/` `docs/` `build/release/` `CMakeLists.txt`\n",
    "docs/decisions/0001-a-choice.md": "# A choice\n\n2026-01-01 · accepted\n\n**Question.** **Choice.** **Why.**\n",
    "docs/decisions/README.md": "[1](0001-a-choice.md)\n",
}
INDEX = "docs/decisions/README.md"


class DocumentsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.module = load_script(CHECK)

    def findings(self, **changed):
        """What the check says about the tree with other files: path and text, or None for a file that is not there."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (TRUE | changed).items():
                if text is not None:
                    file = Path(folder) / name
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text, encoding="utf-8")
            return self.module.check(Path(folder))

    def assert_found(self, name, text, finding, others=None):
        found = self.findings(**{name: text}, **(others or {}))
        self.assertEqual([one for one in found if finding not in one], [])
        self.assertNotEqual(found, [])

    def test_the_project_has_nothing_to_find(self):
        done = subprocess.run([CHECK, str(SOURCE)], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 0)

    def test_a_folder_without_documents_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([CHECK, folder], capture_output=True, text=True)
            self.assertIn("no record", done.stderr)
            self.assertEqual(done.returncode, 1)

    def test_what_is_true_is_not_found(self):
        self.assertEqual(self.findings(), [])

    def test_links_that_lead_nowhere(self):
        self.assert_found("README.md", "[how](docs/other.md#words)", "README.md: the link to docs/other.md#words")
        self.assert_found("docs/more.md", "[how](README.md)", "docs/more.md: the link to README.md")
        self.assert_found("deploy/README.md", "[how](more.md)", "deploy/README.md: the link to more.md",
                          {"docs/architecture.md": TRUE["docs/architecture.md"] + "`deploy/`\n"})

    def test_links_to_headings(self):
        page = "# A page: `of` [two](README.md#x) parts\n\n# Twice\n\n# Twice\n\n```\n# none\n```\n"
        good = "[a](docs/more.md#a-page-of-two-parts) [b](docs/more.md#twice) [c](docs/more.md#twice-1)\n"
        more = {"docs/more.md": page.replace("README.md#x", "../README.md")}
        self.assertEqual(self.findings(**more, **{"README.md": good}), [])
        for anchor in ("none", "twice-2", "other"):
            self.assert_found("README.md", f"[a](docs/more.md#{anchor})\n", f"README.md: the link to docs/more.md#{anchor}", more)
        self.assert_found("README.md", "[a](#other)\n", "README.md: the link to #other")

    def test_documents_that_are_too_long(self):
        self.assert_found("README.md", "line\n" * 111, "README.md: has 111 lines")
        self.assertEqual(self.findings(**{"README.md": "line\n" * 110}), [])

    def test_folders_that_the_architecture_leaves_out(self):
        self.assert_found("server/main.cpp", "", "does not name the folder server/")

    def test_paths_in_the_architecture_that_are_not_there(self):
        architecture = TRUE["docs/architecture.md"]
        self.assert_found("docs/architecture.md", architecture + "`core/other.h`", "there is no core/other.h")
        self.assert_found("docs/architecture.md", architecture + "`delegate/`", "there is no delegate/")

    def test_decisions_without_a_date_or_a_part(self):
        whole = TRUE["docs/decisions/0001-a-choice.md"]
        index = TRUE[INDEX]
        listed = {INDEX: index + "[2](0002-b.md)\n"}
        self.assert_found("docs/decisions/0002-b.md", whole.replace("2026-01-01", "later"), "a date and a status", listed)
        self.assert_found(
            "docs/decisions/0002-b.md", whole.replace(" · accepted", ""), "a date and a status", listed
        )
        self.assert_found("docs/decisions/0002-b.md", whole.replace("**Why.**", ""), "has no **Why.**", listed)
        self.assert_found("docs/decisions/second.md", whole, "is not NNNN-words.md", {INDEX: index + "[2](second.md)\n"})

    def test_decisions_that_the_index_leaves_out_or_that_share_a_number(self):
        whole = TRUE["docs/decisions/0001-a-choice.md"]
        self.assert_found("docs/decisions/0002-b.md", whole, "0002-b.md: docs/decisions/README.md does not list it")
        self.assert_found("docs/decisions/0001-b.md", whole, "0001-b.md: 0001-a-choice.md has the same number",
                          {INDEX: TRUE[INDEX] + "[2](0001-b.md)\n"})

    def test_a_changelog_of_another_release(self):
        self.assert_found("CHANGELOG.md", "## 1.2.4 (2026-01-01), ABI 4\n", "opens with 1.2.4 and ABI 4")
        self.assert_found("CHANGELOG.md", "## 1.2.3 (2026-01-01), ABI 5\n", "this is 1.2.3 and ABI 4")
        self.assert_found("CHANGELOG.md", None, "names no release")


if __name__ == "__main__":
    unittest.main()
