"""The program with the plug-in pjrt, as its users have it: found by its manifest, tried, cached, in a bundle."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

SOURCE = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
BINARY = Path(os.environ["LATEBIND_TEST_BINARY_DIR"])
PJRT = SOURCE / "build" / "runtime" / "pjrt"
NEWER = PJRT / "lammps-jax-pjrt-cpu-0.11.2" / "lammps_jax_pjrt_cpu" / "pjrt_c_api_cpu_plugin.so"
OLDER = PJRT / "xla-cpu-pjrt-0.0.1" / "xla_plugins" / "xla_cpu_pjrt" / "xla_cpu_pjrt.so"
TINY = SOURCE / "tests" / "data" / "tiny-bert" / "f32"


@pytest.fixture
def run(tmp_path):
    environment = os.environ | {
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "LATEBIND_BACKENDS": f"{BINARY / 'backends' / 'pjrt' / 'plugin'},none",
    }

    def run(*arguments, plugins=NEWER):
        command = [BINARY / "bin" / "latebind", *arguments, "--plugin", f"pjrt.plugins={plugins}"]
        return subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", timeout=120, check=False)

    return run


@pytest.fixture
def embed(run, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("hello world\na second one\n")

    def embed(model, device, **options):
        done = run("embed", model, text, "--device", device, "-o", tmp_path / "vectors.npy", **options)
        assert done.returncode == 0, done.stderr
        return np.load(tmp_path / "vectors.npy"), done.stderr

    return embed


def test_it_computes_at_once_and_from_the_cache(embed, tmp_path):
    wanted, _ = embed(TINY, "native:CPU")
    first, said = embed(TINY, "pjrt:CPU")
    assert "pjrt:CPU" in said and "PJRT 0.115" in said
    np.testing.assert_allclose(first, wanted, atol=2e-6)
    (blob,) = (tmp_path / "cache" / "latebind" / "compiled").glob("*.blob")
    kept = blob.stat().st_ino
    again, _ = embed(TINY, "pjrt:CPU")
    # A blob that was refused would have been replaced.
    assert blob.stat().st_ino == kept
    np.testing.assert_array_equal(again, first)


def test_a_bundle_has_its_blobs_and_other_plug_ins_pass_them_over(run, embed, tmp_path):
    bundle = tmp_path / "tiny.zip"
    done = run("compile", TINY, "--target", "pjrt:CPU", "-o", bundle)
    assert done.returncode == 0, done.stderr
    wanted, _ = embed(TINY, "pjrt:CPU")
    found, _ = embed(bundle, "pjrt:CPU")
    np.testing.assert_array_equal(found, wanted)
    found, said = embed(bundle, "pjrt:CPU", plugins=OLDER)
    assert "PJRT 0.81" in said
    np.testing.assert_allclose(found, wanted, atol=2e-6)


def test_one_that_cannot_be_used_is_reported_and_the_next_device_answers(run, embed):
    report = json.loads(run("devices", "--json", plugins="/no/such/plugin.so").stdout)
    (backend,) = [one for one in report["backends"] if one["name"] == "pjrt"]
    assert "/no/such/plugin.so" in backend["reason"]
    _, said = embed(TINY, "pjrt:CPU,native:CPU", plugins="/no/such/plugin.so")
    assert "native:CPU" in said
