"""What is left when a signal ends the program, and what it does when its host does not listen to signals."""

import contextlib
import os
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from support import PROGRAM, TINY, good, provider

HANGING = (Path(os.environ["LATEBIND_TEST_BINARY_DIR"]) / "tests" / "onnxruntime" / "real" / "fakes"
           / "libonnxruntime_providers_hanging.so")
QNN = {"LATEBIND_ONNXRUNTIME_PROVIDERS": provider("onnxruntime-qnn")}


@contextlib.contextmanager
def worker(folder, then):
    """The environment in which children of the program are a script that tells its number to a pipe, and the number."""
    fifo = folder / "number"
    os.mkfifo(fifo)
    script = folder / "worker"
    script.write_text(f'#!/bin/sh\necho $$ > "{fifo}"\n{then}\n')
    script.chmod(0o755)
    number = []

    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)

    def read_number():
        assert select.select([reader], [], [], 60)[0], "no child was started"
        number.append(int(os.read(reader, 100)))
        return number[0]

    yield {"LATEBIND_TRIAL_PROGRAM": str(script), "XDG_CACHE_HOME": str(folder / "cache")}, read_number
    os.close(reader)
    for one in number:
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


def folders_of_ours(place):
    """Vendors have files of their own there."""
    return [one.name for one in place.glob("latebind-*")]


def start(*arguments, env):
    return subprocess.Popen([str(PROGRAM), *map(str, arguments)], env=os.environ | env, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def start_compiling(folder, env):
    """`compile` while its child is at work, with a temporary folder and a file that is being written."""
    temporary = folder / "tmp"
    temporary.mkdir()
    return temporary, start("compile", TINY, "--target", "npu:v73", "--shapes", "1x16", "-o",
                            folder / "bundle.zip", env=QNN | env | {"TMPDIR": str(temporary)})


def has_ended(number):
    """Waits for a process that is nobody's child here."""
    with contextlib.suppress(ProcessLookupError):
        descriptor = os.pidfd_open(number)
        ready, _, _ = select.select([descriptor], [], [], 60)
        os.close(descriptor)
        return bool(ready)
    return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_leaves_no_temporary_folder_and_is_the_end(tmp_path, number):
    with worker(tmp_path, "exec sleep 600") as (env, read_number):
        # The first child is the trial of the provider.
        trial = good("devices", env=QNN | {"XDG_CACHE_HOME": env["XDG_CACHE_HOME"]})
        assert "QNN" in trial.stdout
        temporary, process = start_compiling(tmp_path, env)
        read_number()
        assert len(folders_of_ours(temporary)) == 1
        process.send_signal(number)
        assert process.wait(timeout=60) == -number
        assert folders_of_ours(temporary) == []
    assert [one.name for one in tmp_path.iterdir() if ".tmp" in one.name] == []


def test_what_a_killed_program_has_left_goes_with_the_next_one(tmp_path):
    with worker(tmp_path, "exec sleep 600") as (env, read_number):
        good("devices", env=QNN | {"XDG_CACHE_HOME": env["XDG_CACHE_HOME"]})
        temporary, process = start_compiling(tmp_path, env)
        read_number()
        process.kill()
        process.wait(timeout=60)
        (left,) = temporary.glob("latebind-*")
        long_ago = time.time() - 3600
        os.utime(left / ".latebind-temporary", (long_ago, long_ago))
        own = temporary / "latebind-own"
        own.mkdir(mode=0o700)
        good("compile", TINY, "--target", "npu:v73", "--shapes", "1x16", "-o", tmp_path / "other.zip",
             env=QNN | {"TMPDIR": str(temporary), "XDG_CACHE_HOME": env["XDG_CACHE_HOME"]})
        assert folders_of_ours(temporary) == ["latebind-own"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_child_ends_with_the_program(tmp_path, number):
    with worker(tmp_path, f'exec "{PROGRAM}" "$@"') as (env, read_number):
        process = start("devices", env=env | {"LATEBIND_ONNXRUNTIME_PROVIDERS": str(HANGING)})
        child = read_number()
        process.send_signal(number)
        assert process.wait(timeout=60) == -number
        assert has_ended(child)


def test_an_output_that_was_begun_goes_with_the_signal(tmp_path):
    with subprocess.Popen([str(PROGRAM), "embed", "-q", "--model", str(TINY), "--output-format", "npy", "-o",
                           str(tmp_path / "out.npy"), "-"], stdin=subprocess.PIPE) as process:
        # More than a pipe holds: some of it is read when this returns.
        process.stdin.write(b"one text\n" * 20_000)
        process.stdin.flush()
        assert len(list(tmp_path.glob(".latebind-*.tmp"))) == 1
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == -signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


def test_an_ignored_signal_stays_ignored():
    with subprocess.Popen([str(PROGRAM), "embed", "-q", "--model", str(TINY), "-"], stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL,
                          preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as process:
        process.stdin.write(b"one text\n" * 20_000)
        process.send_signal(signal.SIGHUP)
        process.stdin.close()
        assert process.wait(timeout=60) == 0


def test_a_host_that_ignores_the_end_of_children_waits_for_none(tmp_path):
    """SIGCHLD is ignored by whoever inherits that."""
    begin = time.monotonic()
    done = subprocess.run([str(PROGRAM), "devices"], capture_output=True, encoding="utf-8", timeout=280,
                          env=os.environ | QNN | {"XDG_CACHE_HOME": str(tmp_path)},
                          preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert done.returncode == 0, done.stderr
    assert "did not end in time" not in done.stdout + done.stderr
    # It was tried, and its answer was heard.
    assert "QNN.v73" in done.stdout
    assert time.monotonic() - begin < 50
    shutil.rmtree(tmp_path / "latebind")
    done = subprocess.run(
        [str(PROGRAM), "compile", str(TINY), "--target", "npu:v73", "--shapes", "1x16", "-o",
         str(tmp_path / "bundle.zip")], capture_output=True, encoding="utf-8", timeout=280,
        env=os.environ | QNN | {"XDG_CACHE_HOME": str(tmp_path)},
        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert done.returncode == 0, done.stderr
