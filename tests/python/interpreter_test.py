"""Embedders in other processes, in subinterpreters, and at the end of the interpreter."""

import copy
import pickle

import latebind
import numpy
import pytest
from support import TINY, good, use_after_fork

# -- Processes ---------------------------------------------------------------------------------------------------------


def test_pickled_it_opens_again(tiny):
    with latebind.Embedder(TINY, device="openvino", precision="f32", strict=True, threads=1, max_tokens=8) as first:
        again = pickle.loads(pickle.dumps(first))
        other = copy.copy(first)
    with again, other:
        assert again.max_tokens == other.max_tokens == 8
        assert again.attestation.threads == 1
        numpy.testing.assert_allclose(again.encode("a b"), tiny.encode("a b"), atol=1e-5)
    closed = pickle.loads(pickle.dumps(first))
    assert not closed.closed
    closed.close()


SPAWNED = """
import multiprocessing, sys
import latebind

def embed(embedder):
    return embedder.encode("a text").shape

if __name__ == "__main__":
    embedder = latebind.Embedder(sys.argv[1], device="openvino:CPU")
    if sys.argv[2] == "fork":
        embedder.encode("a text")
        embedder.close()
    with multiprocessing.get_context(sys.argv[2]).Pool(2) as pool:
        print(set(pool.map(embed, [embedder] * 2)) == {(embedder.dimension,)})
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_worker_processes_open_their_own(tmp_path, method):
    import subprocess
    import sys

    script = tmp_path / "spawned.py"
    script.write_text(SPAWNED)
    done = subprocess.run(
        [sys.executable, str(script), str(TINY), method],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_after_fork_the_parent_s_embedder_is_refused_and_the_parent_goes_on(tiny):
    tiny.encode("a")
    uses = (
        lambda: tiny.encode("a"),
        lambda: tiny.encode(iter("a")),
        lambda: tiny.tokenize("a"),
        lambda: tiny.attestation,
        lambda: list(tiny.encode_stream(["a"])),
    )
    found = use_after_fork(tiny, uses)
    assert all(text.startswith("this Embedder was opened by process ") and "'spawn'" in text for text in found)
    assert tiny.encode("a").shape == (tiny.dimension,)


# -- The end of the interpreter ----------------------------------------------------------------------------------------

ENDS = {
    "a live embedder": "embedder = latebind.Embedder(MODEL); embedder.encode('a')",
    "in a cycle": "class C: pass\nc = C(); c.embedder = latebind.Embedder(MODEL); c.self = c",
    "a stream in the middle": "stream = latebind.Embedder(MODEL).encode_stream(['a'] * 9999, window_texts=10); next(stream)",
    "an output": "import numpy\nvectors = latebind.Embedder(MODEL).encode(['a'] * 9)",
    "a call on a daemon thread": (
        "import threading, time\nembedder = latebind.Embedder(MODEL)\n"
        "def work():\n    while True: embedder.encode(['a'] * 100)\n"
        "threading.Thread(target=work, daemon=True).start(); time.sleep(0.2)"
    ),
    "streams on daemon threads": (
        "import threading, time\nembedder = latebind.Embedder(MODEL)\n"
        "def work():\n    while True:\n"
        "        for window in embedder.encode_stream(iter(['a b'] * 3000), window_texts=16): pass\n"
        "for _ in range(4): threading.Thread(target=work, daemon=True).start()\ntime.sleep(0.2)"
    ),
    "many streams in the middle": (
        "embedder = latebind.Embedder(MODEL)\n"
        "streams = [embedder.encode_stream(iter(['a'] * 9999), window_texts=10) for _ in range(20)]\n"
        "for stream in streams: next(stream)"
    ),
    "a call that is awaited": (
        "import asyncio\nembedder = latebind.Embedder(MODEL)\n"
        "async def main():\n    asyncio.ensure_future(embedder.aencode(['a b'] * 100000))\n    await asyncio.sleep(0.1)\n"
        "asyncio.run(main())"
    ),
    "a thread that is no daemon": (
        "import threading\nembedder = latebind.Embedder(MODEL)\n"
        "threading.Thread(target=lambda: embedder.encode(['a'] * 5000)).start()"
    ),
    # In both, the main thread never calls the library, and what vendors make meanwhile goes first at the end.
    "a first model on a daemon thread": (
        "import threading, time\n"
        "threading.Thread(target=lambda: latebind.Embedder(MODEL).encode('a'), daemon=True).start(); time.sleep(0.3)"
    ),
    "a job on a daemon thread": (
        "import threading, time\nthreading.Thread(target=latebind.doctor, daemon=True).start(); time.sleep(0.1)"
    ),
    "used by atexit": "import atexit\nembedder = latebind.Embedder(MODEL)\natexit.register(lambda: embedder.encode('a'))",
    "sys.exit": "import sys\nembedder = latebind.Embedder(MODEL)\nsys.exit(0)",
}


@pytest.mark.parametrize("what", ENDS)
def test_the_interpreter_ends_quietly_with(what):
    for _ in range(3):  # how far others are when it ends differs
        good(f"import latebind\nMODEL = {str(TINY)!r}\n{ENDS[what]}")


INTERPRETERS = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import latebind

USE = '''
import sys, warnings
warnings.simplefilter("ignore")  # NumPy says that it was not made for this
try:
    import latebind
    embedder = latebind.Embedder(MODEL)
    print(embedder.encode(["a", "b"]).shape[0], sum(len(window) for window in embedder.encode_stream(["a"] * 9)))
    sys.kept = embedder
except (ImportError, RuntimeError) as error:  # of NumPy
    print("refused:", error)
sys.stdout.flush()
'''
if sys.argv[2] == "after the main one":
    embedder = latebind.Embedder(sys.argv[1])
    embedder.encode("a")
for _ in range(2):
    other = interpreters.create()
    interpreters.run_string(other, USE.replace("MODEL", repr(sys.argv[1])))
    interpreters.destroy(other)
if sys.argv[2] == "after the main one":
    print(embedder.encode(["a"]).shape[0])
"""


@pytest.mark.parametrize("when", ["after the main one", "alone"])
def test_subinterpreters_work_or_are_refused(when):
    lines = good(INTERPRETERS, TINY, when).splitlines()
    if when == "after the main one":
        assert lines.pop() == "1"
    assert len(lines) == 2
    assert all(line == "2 9" or line.startswith("refused: ") for line in lines), lines


DEBUGGED = """
import array, asyncio, gc, sys
import latebind, numpy, pyarrow

texts = ["", "a", "thirteen bytes"] * 40
with latebind.Embedder(sys.argv[1]) as embedder:
    out = array.array("f", bytes(4 * len(texts) * embedder.dimension))
    for given in ("a", texts, iter(texts * 30), numpy.array(texts), pyarrow.array(texts),
                  pyarrow.chunked_array([texts, texts], pyarrow.string_view()).dictionary_encode()):
        embedder.encode(given)
    embedder.encode(texts, out=out, normalize=True, dimensions=embedder.dimension)
    asyncio.run(embedder.aencode(texts))
    for window in embedder.encode_stream(texts, window_texts=7):
        pass
    next(embedder.encode_stream(iter(texts), window_texts=7))
    embedder.count_tokens(texts)
    embedder.tokenize(texts)
    for bad in (None, [None], ["\\ud800"], 3, pyarrow.array(["a", None]), pyarrow.array([1])):
        try:
            embedder.encode(bad)
            print("it was taken:", bad)
        except latebind.CallerError:
            pass
latebind.devices()
gc.collect()
"""


def test_debug_allocators_find_nothing():
    assert good(DEBUGGED, TINY, env={"PYTHONMALLOC": "debug", "PYTHONDEVMODE": "1"}) == ""
