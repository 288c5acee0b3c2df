"""What the documents say of the tree is true: links, folders, versions."""

import os
import re
import unittest
from pathlib import Path

from support import SOURCE

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def documents():
    return sorted([*SOURCE.glob("*.md"), *(SOURCE / "docs").rglob("*.md")])


class DocumentsTest(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for document in documents():
            for target in LINK.findall(document.read_text(encoding="utf-8")):
                path = target.split("#")[0]
                if path and "://" not in path:
                    self.assertTrue((document.parent / path).exists(), f"{document.name}: {target}")

    def test_the_architecture_names_every_folder_of_sources(self):
        text = (SOURCE / "docs" / "architecture.md").read_text(encoding="utf-8")
        for name in sorted(os.listdir(SOURCE)):
            if (SOURCE / name).is_dir() and not name.startswith(".") and name != "build":
                self.assertIn(f"`{name}/", text)

    def test_paths_in_the_architecture_exist(self):
        text = (SOURCE / "docs" / "architecture.md").read_text(encoding="utf-8")
        paths = re.findall(r"`((?:[a-z_]+/)+[a-z_0-9.]*)`", text)
        self.assertGreater(len(paths), 20)
        for path in paths:
            if not path.startswith("build/"):
                self.assertTrue((SOURCE / path).exists(), path)

    def test_every_decision_is_dated_and_complete(self):
        records = sorted((SOURCE / "docs" / "decisions").glob("*.md"))
        self.assertTrue(records)
        for record in records:
            self.assertRegex(record.name, r"^\d{4}-[a-z0-9-]+\.md$")
            text = record.read_text(encoding="utf-8")
            self.assertRegex(text, r"\A# .+\n\n20\d\d-\d\d-\d\d\n")
            for part in ("**Question.**", "**Choice.**", "**Why.**"):
                self.assertIn(part, text, record.name)

    def test_the_changelog_opens_with_this_release_and_its_abi(self):
        text = (SOURCE / "CHANGELOG.md").read_text(encoding="utf-8")
        release = re.search(r"^## (\d+\.\d+\.\d+) .*ABI (\d+)", text, re.MULTILINE)
        self.assertIsNotNone(release)
        self.assertEqual(release.group(1), os.environ["LATEBIND_TEST_PROJECT_VERSION"])
        header = (SOURCE / "include" / "latebind" / "latebind.h").read_text(encoding="utf-8")
        abi = re.search(r"#define LATEBIND_ABI_VERSION (\d+)", header)
        self.assertIsNotNone(abi)
        self.assertEqual(release.group(2), abi.group(1))


if __name__ == "__main__":
    unittest.main()
