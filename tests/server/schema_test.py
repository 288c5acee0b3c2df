"""What /openapi.json promises, held against the daemon by schemathesis: requests made from each schema, good and bad."""

import os
import subprocess
import sys

from daemon import Daemon


def test_schemathesis_finds_nothing(tmp_path):
    with Daemon("--token-vectors", "--allow-dimensions") as daemon:
        done = subprocess.run(
            [sys.executable, "-m", "schemathesis.cli", "run", daemon.url + "/openapi.json", "--checks", "all", "--seed", "1",
             "--max-examples", "40", "--generation-database", "none", "--request-timeout", "60", "--no-color",
             "--continue-on-failure",
             # What a model refuses (ids outside its vocabulary, vectors that it normalises) is in no schema.
             "--exclude-checks", "positive_data_acceptance"],
            cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
            env=os.environ | {"HOME": str(tmp_path)}, timeout=500)
        assert done.returncode == 0, done.stdout[-20000:]
        assert daemon.process.poll() is None
