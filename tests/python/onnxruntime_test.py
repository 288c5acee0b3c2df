"""latebind.onnxruntime with the real ONNX Runtime, in processes of their own, since a provider stays."""

import os

import pytest
from support import PACKAGE, good, python, snippets

USE = """
import onnxruntime
(device,) = devices
assert (device.ep_name, device.ep_metadata["latebind.device"]) == ("Latebind", "openvino:CPU")
assert [one.ep_name for one in provider.register()] == ["Latebind"]
assert provider.library_path().is_file()
onnxruntime.unregister_execution_provider_library("latebind")
assert not [one for one in onnxruntime.get_ep_devices() if one.ep_name == "Latebind"]
assert len(provider.register()) == 1
print("registered")
"""


def test_the_guides_program_registers_once_and_again_after_the_end():
    (program,) = [snippet for snippet in snippets("docs/python.md") if "import onnxruntime as provider" in snippet]
    assert good(program + USE) == "registered\n"


@pytest.mark.parametrize("host", ["nothing", "old"])
def test_without_a_host_that_is_new_enough_the_error_says_what_to_type(host, tmp_path):
    code = "from latebind import onnxruntime\nonnxruntime.register()"
    if host == "nothing":
        code = "import importlib.util\nimportlib.util.find_spec = lambda name: None\n" + code
    else:
        (tmp_path / "onnxruntime").mkdir()
        (tmp_path / "onnxruntime" / "__init__.py").write_text("__version__ = '1.20.1'\n")
    done = python(code, env={"PYTHONPATH": f"{PACKAGE}{os.pathsep}{tmp_path}"})
    assert done.returncode == 1
    expected = "pip install onnxruntime" if host == "nothing" else "needs ONNX Runtime 1.24 or newer; this is 1.20.1"
    assert "latebind.errors.LibraryError" in done.stderr and expected in done.stderr


def test_without_the_file_the_error_names_it(tmp_path):
    library = tmp_path / "liblatebind.so"
    library.touch()
    done = python(
        "from latebind import onnxruntime\nonnxruntime.library_path()", env={"LATEBIND_LIBRARY": str(library)}
    )
    assert done.returncode == 1
    assert "libonnxruntime_providers_latebind.so" in done.stderr and "latebind.errors.LibraryError" in done.stderr
