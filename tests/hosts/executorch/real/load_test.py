"""The delegate in a Python process, as `ctypes.CDLL` loads it, and what its file says of itself.

usage: load_test.py SDK_FOLDER liblatebind_executorch.so
"""

import ctypes
import subprocess
import sys
from pathlib import Path


def dynamic(file):
    return subprocess.run(
        ["readelf", "-dW", file], check=True, capture_output=True, text=True
    ).stdout


def needed(file):
    lines = dynamic(file).splitlines()
    return {line.split("[")[1].rstrip("]") for line in lines if "(NEEDED)" in line}


def main():
    sdk, delegate = sys.argv[1:]
    assert not any(word in dynamic(delegate) for word in ("RUNPATH", "RPATH")), "it names a folder"
    # ExecuTorch and the system's libraries, nothing of a vendor's and nothing else of ours.
    known = {"libexecutorch.so", "libstdc++.so.6", "libgcc_s.so.1", "libc.so.6", "libm.so.6"}
    extra = needed(delegate) - known - {"ld-linux-x86-64.so.2", "libdl.so.2"}
    assert not extra, f"it needs {extra}"
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", delegate], check=True, capture_output=True, text=True
    ).stdout.split("\n")
    exported = [line for line in symbols if line.strip()]
    assert not exported, f"it exports {exported[:5]}"

    # Without ExecuTorch in the process there is nothing to load it into, and the loader says which library is missing.
    alone = subprocess.run(
        [sys.executable, "-c", f"import ctypes; ctypes.CDLL({delegate!r})"],
        capture_output=True,
        text=True,
    )
    assert alone.returncode != 0 and "libexecutorch.so" in alone.stderr, alone.stderr

    runtime = ctypes.CDLL(str(Path(sdk) / "lib" / "libexecutorch.so"))
    count = runtime._ZN10executorch7runtime27get_num_registered_backendsEv
    count.restype = ctypes.c_size_t
    find = runtime._ZN10executorch7runtime17get_backend_classEPKc
    find.restype = ctypes.c_void_p
    before = count()
    assert find(b"LatebindBackend") is None
    ctypes.CDLL(delegate)
    assert count() == before + 1
    assert find(b"LatebindBackend")
    with open("/proc/self/maps", encoding="utf-8") as maps:
        loaded = {line.split()[-1] for line in maps if "libexecutorch.so" in line}
    assert len(loaded) == 1, f"two copies of the runtime: {loaded}"
    assert "openvino" not in Path("/proc/self/maps").read_text(encoding="utf-8"), "it loaded a vendor's library"
    return 0


if __name__ == "__main__":
    sys.exit(main())
