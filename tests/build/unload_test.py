"""liblatebind.so stays in a process once it was opened: its threads may outlive the host's last dlclose().

The library is opened here as any host would, used, and closed.
"""

import os
import subprocess
import sys
import unittest

from support import BINARY

LIBRARY = BINARY / "lib" / "liblatebind.so"
# In a process of its own, since a library that goes while its threads run takes the process with it.
HOST = """
import _ctypes, ctypes, sys
for _ in range(5):
    library = ctypes.CDLL(sys.argv[1])
    runtime = ctypes.c_void_p()
    assert library.lb_runtime_create(None, ctypes.byref(runtime)) == 0
    library.lb_runtime_check(runtime)
    library.lb_runtime_destroy(runtime)
    _ctypes.dlclose(library._handle)
    with open("/proc/self/maps") as maps:
        assert "liblatebind.so" in maps.read(), "it was unloaded"
print("stayed")
"""


class UnloadTest(unittest.TestCase):
    def test_the_library_stays_when_its_host_closes_it(self):
        environment = os.environ | {"LATEBIND_OPENVINO_LIBRARY": "/nonexistent",
                                    "LATEBIND_ONNXRUNTIME_LIBRARY": "/nonexistent"}
        done = subprocess.run([sys.executable, "-c", HOST, LIBRARY], capture_output=True, text=True, env=environment,
                              timeout=120)
        self.assertEqual((done.returncode, done.stdout), (0, "stayed\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
