"""latebind.executorch with the real ExecuTorch, in processes of their own, since a backend stays."""

import os

import pytest
from support import NOWHERE, good, python

REGISTER = """
import ctypes
from pathlib import Path
from latebind import executorch
executorch.register()
runtime = ctypes.CDLL(executorch._runtime())
count = runtime._ZN10executorch7runtime27get_num_registered_backendsEv
count.restype = ctypes.c_size_t
find = runtime._ZN10executorch7runtime17get_backend_classEPKc
find.restype = ctypes.c_void_p
assert find(b"LatebindBackend")
before = count()
executorch.register()
assert count() == before
maps = Path("/proc/self/maps").read_text()
assert len({line.split()[-1] for line in maps.splitlines() if "libexecutorch.so" in line}) == 1
assert "openvino" not in maps
print("registered")
"""


def with_sdk(code):
    # support.py has put the package's folder there alone.
    from support import PACKAGE

    return good(code, env=NOWHERE | {"PYTHONPATH": f"{PACKAGE}{os.pathsep}{SDK}"})


SDK = os.environ.get("LATEBIND_TEST_EXECUTORCH", "")


def test_the_backend_is_registered_once():
    assert with_sdk(REGISTER) == "registered\n"


@pytest.mark.parametrize("sdk", ["nothing", "without a library"])
def test_without_executorch_the_error_says_what_to_type(sdk, tmp_path):
    from support import PACKAGE

    if sdk != "nothing":
        (tmp_path / "executorch").mkdir()
        (tmp_path / "executorch" / "__init__.py").touch()
    done = python(
        "from latebind import executorch\nexecutorch.register()",
        env=NOWHERE | {"PYTHONPATH": f"{PACKAGE}{os.pathsep}{tmp_path}"},
    )
    assert done.returncode == 1
    expected = "pip install executorch" if sdk == "nothing" else "has no lib/libexecutorch.so"
    assert "latebind.errors.LibraryError" in done.stderr and expected in done.stderr
