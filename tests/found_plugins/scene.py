"""A user with plug-ins: a home folder, manifests in it, and the program."""

import json
import os
import subprocess
from pathlib import Path

SOURCE = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
BINARY = Path(os.environ["LATEBIND_TEST_BINARY_DIR"])
PROGRAM = BINARY / "bin" / "latebind"
PLUGINS = Path(os.environ["LATEBIND_TEST_PLUGINS"])
TINY = SOURCE / "tests" / "data" / "tiny-bert" / "f32"
VENDORS_GONE = {
    "LATEBIND_OPENVINO_LIBRARY": "/nonexistent/libopenvino_c.so",
    "LATEBIND_ONNXRUNTIME_LIBRARY": "/nonexistent/libonnxruntime.so",
}


class User:
    def __init__(self, home):
        self.home = home
        self.folder = home / "data" / "latebind" / "backends"
        self.memory = home / "cache" / "latebind" / "plugins.json"
        self.environment = os.environ | VENDORS_GONE | {
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_DATA_HOME": str(home / "data"),
            "VIRTUAL_ENV": "",
            "CONDA_PREFIX": "",
        }

    def run(self, *arguments, mood="", env=None, program=PROGRAM, **options):
        """Runs the program. `mood` is what the plug-in moody does wrong."""
        environment = self.environment | {"LATEBIND_FAKE_PLUGIN": mood} | (env or {})
        return subprocess.run(
            [str(program), *map(str, arguments)], env=environment, capture_output=True, encoding="utf-8", timeout=280,
            check=False, **options)

    def good(self, *arguments, **options):
        done = self.run(*arguments, **options)
        assert done.returncode == 0, done.stderr
        return done

    def json(self, *arguments, **options):
        """What a command prints as JSON, behind what plug-ins print."""
        text = self.good(*arguments, "--json", **options).stdout
        return json.loads(text[text.index("{"):])

    def listed(self, name, **options):
        """The entries of this name in `latebind backends`."""
        return [one for one in self.json("backends", **options)["backends"] if one["name"] == name]

    def reason(self, name, *arguments, **options):
        """Why `latebind devices` does not offer a backend; "" if it does."""
        report = self.json("devices", *arguments, **options)
        (backend,) = [one for one in report["backends"] if one["name"] == name]
        return backend["reason"]

    def install(self, library, name, folder=None, file=None, **changes):
        """Puts a manifest into a folder, the user's by default."""
        folder = folder or self.folder
        folder.mkdir(parents=True, exist_ok=True)
        library = str(library) if str(library).startswith("..") else str(PLUGINS / library)
        manifest = {"format": 1, "name": name, "library": library,
                    "contract": {"least": 1, "most": 1}, "platform": "linux-" + os.uname().machine} | changes
        place = folder / (file or f"{name}.json")
        place.write_text(json.dumps(manifest))
        return place
