"""What the tests of the Python package share: where things are, and how to run a Python of their own."""

import json
import multiprocessing
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

SOURCE = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
BINARY = Path(os.environ["LATEBIND_TEST_BINARY_DIR"])
PACKAGE = SOURCE / "python"
LIBRARY = BINARY / "lib" / "liblatebind.so"
PROGRAM = BINARY / "bin" / "latebind"
MODEL = SOURCE / "build" / "runtime" / "model" / "all-MiniLM-L6-v2"
TINY = SOURCE / "tests" / "data" / "tiny-bert" / "f32"
GOLDEN = SOURCE / "tests" / "data" / "golden"
# Models that score pairs, and what sentence-transformers makes of them: "pairs", and "scores" and "logits" by model.
CROSS_ENCODERS = SOURCE / "tests" / "data" / "cross_encoders"
RECORDED = json.loads((CROSS_ENCODERS / "expected.json").read_text(encoding="utf-8"))
# Models that give sparse vectors, and the vectors of "texts" by model; "query": those of bert's prompt for queries.
SPARSE_ENCODERS = SOURCE / "tests" / "data" / "sparse_encoders"
SPARSE = json.loads((SPARSE_ENCODERS / "expected.json").read_text(encoding="utf-8"))

# Where no vendor's library is.
NOWHERE = {
    "LATEBIND_OPENVINO_LIBRARY": "/nonexistent/libopenvino_c.so",
    "LATEBIND_ONNXRUNTIME_LIBRARY": "/nonexistent/libonnxruntime.so",
}

os.environ["LATEBIND_LIBRARY"] = str(LIBRARY)
os.environ["PYTHONPATH"] = str(PACKAGE)
sys.path.insert(0, str(PACKAGE))


def python(code, *arguments, env=None, **options):
    """Runs code in an interpreter of its own."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=os.environ | (env or {}),
        encoding="utf-8",
        capture_output=True,
        timeout=120,
        check=False,
        **options,
    )


def good(code, *arguments, **options):
    """What code that must succeed prints; nothing on the error stream."""
    done = python(code, *arguments, **options)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", done.stderr
    return done.stdout


def with_models_here(code):
    """A program of a document; what it loads from the hub is a folder that is here."""
    for name, folder in (
        ("sentence-transformers/all-MiniLM-L6-v2", MODEL),
        ("cross-encoder/ms-marco-MiniLM-L6-v2", CROSS_ENCODERS / "bert"),
        ("naver/splade-cocondenser-ensembledistil", SPARSE_ENCODERS / "bert"),
        ("lightonai/GTE-ModernColBERT-v1", SOURCE / "tests" / "data" / "multi_vector_encoders" / "modernbert"),
    ):
        code = code.replace(f'"{name}"', repr(str(folder))).replace(name, str(folder))
    return code


def snippets(document, language="python"):
    """The programs of a document in a language."""
    text = with_models_here((SOURCE / document).read_text(encoding="utf-8"))
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def close_while_used(opened, use):
    """Closes something while four threads use it over and over, which then see that it was closed, and nothing else."""
    import latebind

    started = threading.Barrier(5)
    outcomes = []

    def work():
        started.wait()
        try:
            while True:
                use(opened)
        except latebind.ClosedError as error:
            outcomes.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    started.wait()
    opened.close()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 4


def in_forked_child(work):
    """What work() gives in a process that fork() makes now; an error if it takes a minute."""
    reader, writer = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=lambda: writer.send(work()))
    process.start()
    writer.close()  # else an end without an answer would not be seen
    try:
        assert reader.poll(60), "the child waits for ever"
        found = reader.recv()
    finally:
        process.join(10)
        if process.is_alive():
            process.kill()
    assert process.exitcode == 0
    return found


def use_after_fork(opened, uses):
    """What uses of something say in a process that fork() makes, where it was opened before: nothing but errors."""
    import latebind

    def in_child():
        found = []
        for use in uses:
            try:
                use()
                found.append("worked")
            except latebind.ForkedError as error:
                found.append(str(error))
        opened.close()  # does nothing
        repr(opened)
        return found

    found = in_forked_child(in_child)
    assert len(found) == len(uses)
    return found


def cosines(a, b):
    import numpy

    a, b = a.astype(numpy.float64), b.astype(numpy.float64)
    return (a * b).sum(1) / numpy.linalg.norm(a, axis=1) / numpy.linalg.norm(b, axis=1)


def recorded_query(model):
    """A query of the recorded pairs, its documents, and their scores by a model with one label."""
    query = RECORDED["pairs"][0][0]
    rows = [row for row, pair in enumerate(RECORDED["pairs"]) if pair[0] == query]
    return query, [RECORDED["pairs"][row][1] for row in rows], [RECORDED["scores"][model][row][0] for row in rows]


def assert_sparse(found, expected, tolerance=1e-5):
    """That these are recorded sparse vectors."""
    import numpy

    assert len(found) == len(expected)
    for (indices, values), wanted in zip(found, expected, strict=True):
        assert indices.tolist() == wanted["indices"]
        numpy.testing.assert_allclose(values, wanted["values"], atol=tolerance)


class CsrMatrix:
    """What SciPy's has that Latebind uses, which tests have no SciPy for: indices become of the type of indptr."""

    def __init__(self, arrays, shape):
        import numpy

        self.data, self.indices, self.indptr = arrays
        self.indptr = self.indptr.astype(numpy.int32)
        self.shape = shape

    def tocsr(self):
        return self

    def sorted_indices(self):
        return self


def with_scipy(patch):
    """Puts a `scipy` with that in place of what is not installed."""
    import types

    package, sparse = types.ModuleType("scipy"), types.ModuleType("scipy.sparse")
    package.sparse, sparse.csr_matrix = sparse, CsrMatrix
    patch.setitem(sys.modules, "scipy", package)
    patch.setitem(sys.modules, "scipy.sparse", sparse)
