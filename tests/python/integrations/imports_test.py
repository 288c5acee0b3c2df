"""What importing brings with it, what is said where a framework is not installed, and which releases the extras name."""

import importlib.metadata
import re

import pytest
import tomllib
from frameworks import SOURCE, good
from latebind._extras import REQUIREMENTS
from packaging.requirements import Requirement

# Module, what it imports, and a framework of another module.
FRAMEWORKS = [
    ("langchain", "langchain_core", "haystack"),
    ("llama_index", "llama_index", "langchain_core"),
    ("haystack", "haystack", "chromadb"),
    ("chroma", "chromadb", "llama_index"),
]


def extras_of_the_project():
    with (SOURCE / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["project"]["optional-dependencies"]


def test_importing_latebind_imports_no_framework():
    code = """
import sys
import latebind, latebind.integrations, latebind.integrations.sentence_transformers
latebind.Embedder
print({"langchain_core", "llama_index", "haystack", "chromadb", "torch"} & set(sys.modules))
"""
    assert good(code) == "set()\n"


@pytest.mark.parametrize(("module", "framework", "other"), FRAMEWORKS)
def test_a_module_imports_its_framework_and_no_other_and_opens_no_library(module, framework, other):
    code = f"""
import sys
import latebind.integrations.{module}
print({framework!r} in sys.modules, {other!r} in sys.modules, "liblatebind" in open("/proc/self/maps").read())
"""
    assert good(code) == "True False False\n"


@pytest.mark.parametrize(("module", "framework", "other"), FRAMEWORKS)
def test_without_its_framework_a_module_says_what_to_type(module, framework, other):
    code = f"""
import sys
import latebind._embedder  # and NumPy
sys.path = [folder for folder in sys.path if "site-packages" not in folder]
try:
    import latebind.integrations.{module}
except ImportError as error:
    assert isinstance(error, latebind.LibraryError)
    print(error)
"""
    printed = good(code)
    assert f"cannot be imported (No module named '{framework}'); run: " in printed
    # A line that works although Latebind is in no registry.
    [requirement] = REQUIREMENTS[module.replace("_", "-")]
    assert printed.strip().endswith(f'; run: pip install "{requirement}"'), printed


def test_what_is_said_to_be_installed_is_what_the_extras_have():
    extras = extras_of_the_project()

    def whole(extra):
        for each in extras[extra]:
            inner = re.fullmatch(r"latebind\[(\w+)\]", each)
            yield from whole(inner[1]) if inner else [each]

    assert {extra: list(each) for extra, each in REQUIREMENTS.items()} == {
        extra: list(whole(extra)) for extra in REQUIREMENTS
    }


def test_the_extras_take_the_releases_that_are_tested_here():
    extras = extras_of_the_project()
    for module, _, _ in FRAMEWORKS:
        [requirement] = map(Requirement, extras[module.replace("_", "-")])
        assert requirement.specifier.contains(importlib.metadata.version(requirement.name)), requirement
