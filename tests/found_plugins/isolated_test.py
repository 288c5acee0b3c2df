"""Plug-ins that fail while they run, in the program's process and in one of their own (--isolate): the next device answers,
named, and the program lives."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest
from scene import PROGRAM, SOURCE, TINY, User

sys.path.append(str(SOURCE / "tests" / "server"))
from daemon import Daemon, wait_for  # noqa: E402

ISOLATED = ("--isolate", "twin")


@pytest.fixture
def user(tmp_path):
    made = User(tmp_path)
    made.install("native_twin.so", "twin")
    made.word = tmp_path / "word"
    made.environment["LATEBIND_FAKE_TWIN"] = str(made.word)
    # Only first contact may happen before a test tells the plug-in what to do.
    assert made.reason("twin") == ""
    return made


def embed(user, *arguments, input="one\ntwo words\n"):
    return user.run("embed", TINY, "-", *arguments, input=input)


def vectors(done):
    return [json.loads(line)["embedding"] for line in done.stdout.splitlines()]


def processes():
    """The processes that keep a plug-in of this test's program, by number, with their parents."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().split(b"\0")
            if b"hold-backend" in words:
                found[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    return found


def children_of(parent):
    return [number for number, of in processes().items() if of == parent]


def files_of(process, kind):
    found = set()
    for one in Path(f"/proc/{process}/fd").iterdir():
        try:
            found.add(os.readlink(one))
        except OSError:
            continue
    return {one for one in found if one.startswith(kind)}


def test_an_isolated_plug_in_computes_the_same(user):
    good = embed(user, "--device", "twin:CPU", "--strict", *ISOLATED)
    assert good.returncode == 0, good.stderr
    assert "on twin:CPU" in good.stderr
    assert vectors(good) == vectors(embed(user, "--device", "native:CPU", "--strict"))
    # Long outputs, and inputs that grow from run to run.
    texts = "\n".join("word " * (1 + i % 60) for i in range(300))
    many = embed(user, "--device", "twin:CPU", "--strict", "--isolate", "all", input=texts)
    assert vectors(many) == vectors(embed(user, "--device", "native:CPU", "--strict", input=texts))


def test_a_name_in_isolate_that_no_plug_in_has_is_a_warning(user):
    for name, nearest in (("twim", " (did you mean twin?)"), ("native", "")):
        done = embed(user, "--device", "native", "--isolate", f"twin, {name}")
        assert done.returncode == 0, done.stderr
        assert f"backends.isolate is set, but there is no plug-in {name}{nearest}; `latebind" in done.stderr
        assert "no plug-in twin" not in done.stderr


@pytest.mark.parametrize("isolated", [(), ISOLATED], ids=["here", "isolated"])
def test_an_error_in_a_run_is_answered_by_the_next_device(user, isolated):
    user.word.write_text("error")
    done = embed(user, "--device", "twin,native", *isolated)
    assert done.returncode == 0, done.stderr
    assert "native:CPU" in done.stderr and "the twin was told to fail" in done.stderr
    user.word.unlink()
    assert vectors(done) == vectors(embed(user, "--device", "native:CPU"))
    user.word.write_text("error")
    strict = embed(user, "--device", "twin,native", "--strict", *isolated)
    assert strict.returncode == 1 and "the twin was told to fail" in strict.stderr


@pytest.mark.parametrize("word, how", [("crash", "crashed with signal 6"), ("leave", "ended with exit status 3")])
def test_a_process_that_ends_in_a_run_is_answered_by_the_next_device(user, word, how):
    user.word.write_text(word)
    done = embed(user, "--device", "twin,native", *ISOLATED)
    assert done.returncode == 0, done.stderr
    assert "native:CPU" in done.stderr and how in done.stderr
    strict = embed(user, "--device", "twin,native", "--strict", *ISOLATED)
    assert strict.returncode == 1 and how in strict.stderr
    # Without it, the crash is the program's own.
    assert embed(user, "--device", "twin,native").returncode not in (0, 1)


@pytest.mark.parametrize("isolated", [(), ISOLATED], ids=["here", "isolated"])
def test_a_hang_is_answered_by_the_next_device(user, isolated):
    user.word.write_text("hang")
    done = embed(user, "--device", "twin,native", "--run-timeout-ms", "300", *isolated)
    assert done.returncode == 0, done.stderr
    assert "native:CPU" in done.stderr and "hung: twin:CPU did not finish within 300 ms" in done.stderr
    strict = embed(user, "--device", "twin,native", "--run-timeout-ms", "300", "--strict", *isolated)
    assert strict.returncode == 1 and "hung: twin:CPU" in strict.stderr


LIAR = """#!{python}
import os, sys
if sys.argv[1] != "hold-backend":
    os.execv("{program}", ["{program}", *sys.argv[1:]])
word = "{word}"
number = lambda value: value.to_bytes(8, "little")
# It was opened, without a message, vendor's text and lines for the log.
good = number(0) * 7
lies = {{
    "leaves": b"",
    "says half": number(100) + b"half",
    "says too much": number(1 << 62),
    "says nothing": number(0),
    "counts too far": number(len(good)) + good[:-8] + number(1 << 60),
    "has a text without an end": number(len(good) + 11) + good + number(3) + b"abc",
    "has no name": number(len(good) + 200) + good + number(0) * 25,
}}
os.write(0, lies[word])
if word == "leaves":
    sys.exit(5)
os.read(0, 1)
"""


@pytest.mark.parametrize("word, reason", [
    ("leaves", "ended with exit status 5"),
    ("says half", "ended"),
    ("says too much", "the process of the plug-in"),
    ("says nothing", "gave a damaged answer"),
    ("counts too far", "gave a damaged answer"),
    ("has a text without an end", "gave a damaged answer"),
    ("has no name", "gave a damaged answer"),
])
def test_what_a_process_says_is_not_trusted(user, tmp_path, word, reason):
    program = tmp_path / "latebind"
    program.write_text(LIAR.format(python=sys.executable, program=PROGRAM, word=word))
    program.chmod(0o755)
    env = {"LATEBIND_TRIAL_PROGRAM": str(program)}
    # It waits for the rest of what is half; the program's end is that of the process.
    if word == "says half":
        program.write_text(program.read_text().replace("os.read(0, 1)", "pass"))
    assert reason in user.reason("twin", *ISOLATED, env=env)
    done = user.run("embed", TINY, "-", "--device", "twin,native", *ISOLATED, env=env, input="one\n")
    assert done.returncode == 0 and "native:CPU" in done.stderr, done.stderr


def served(user, *arguments):
    return Daemon("--device", "twin,native", *ISOLATED, *arguments, env=user.environment | {
        "LATEBIND_BACKENDS": str(user.folder), "LATEBIND_BACKOFF_FIRST_MS": "50"})


def device_of(daemon):
    answer = daemon.embed(["one"])
    assert answer.status == 200, answer
    return answer.headers["x-latebind-device"]


def test_a_daemon_loses_no_request_to_a_process_that_is_killed(user):
    with served(user) as daemon:
        assert device_of(daemon) == "twin:CPU"
        (child,) = children_of(daemon.process.pid)
        user.word.write_text("crash")
        assert device_of(daemon) == "native:CPU"
        assert "crashed with signal 6" in json.dumps(daemon.status())
        user.word.unlink()
        # The breaker tries it again, in another process.
        wait_for(lambda: device_of(daemon) == "twin:CPU")
        (another,) = children_of(daemon.process.pid)
        assert another != child
        # Between two runs as well.
        os.kill(another, signal.SIGKILL)
        assert device_of(daemon) in ("twin:CPU", "native:CPU")
        wait_for(lambda: device_of(daemon) == "twin:CPU")
        assert daemon.end() == 0
        wait_for(lambda: not Path(f"/proc/{another}").exists())


def test_a_process_that_hangs_is_ended(user):
    with served(user, "--run-timeout-ms", "300") as daemon:
        assert device_of(daemon) == "twin:CPU"
        (child,) = children_of(daemon.process.pid)
        user.word.write_text("hang")
        assert device_of(daemon) == "native:CPU"
        wait_for(lambda: not Path(f"/proc/{child}").exists())
        user.word.unlink()
        wait_for(lambda: device_of(daemon) == "twin:CPU")


def test_no_process_outlives_a_program_that_is_killed(user):
    with served(user) as daemon:
        assert device_of(daemon) == "twin:CPU"
        (child,) = children_of(daemon.process.pid)
        daemon.process.kill()
        daemon.process.wait()
        wait_for(lambda: not Path(f"/proc/{child}").exists())


def test_a_process_has_no_files_of_the_program(user):
    with served(user) as daemon:
        assert device_of(daemon) == "twin:CPU"
        (child,) = children_of(daemon.process.pid)
        assert not files_of(daemon.process.pid, "socket:") & files_of(child, "")
