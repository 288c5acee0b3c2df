"""scripts/soak, for seconds instead of minutes: that it runs the real program on both backends and comes to a verdict."""

import os
import subprocess

from support import PROGRAM, SOURCE, TINY


def test_a_short_soak_comes_to_a_verdict():
    # The tests' own variables are none of the program's.
    env = {name: value for name, value in os.environ.items() if not name.startswith("LATEBIND_")}
    # Whatever drifts is allowed: the first seconds of a process are not flat, the less so on a busy machine.
    done = subprocess.run(
        [SOURCE / "scripts" / "soak", "--minutes", "0.15", "--drift", "100000", "--program", PROGRAM, "--model", TINY],
        capture_output=True, text=True, timeout=280, env=env)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[2:]]
    assert [row[0] for row in rows] == ["openvino", "openvino", "onnxruntime", "onnxruntime"], done.stdout
    assert [row[1] for row in rows] == ["dynamic", "static"] * 2, done.stdout
    assert all(int(row[2]) > 0 for row in rows), done.stdout
