"""A process that fork() makes while other threads hold locks of the package: it waits for none of them."""

import ast
import contextlib
import inspect
import os
import signal
import sys
import threading

import latebind
import pytest
from latebind import _library, _locks
from latebind._call import Work
from latebind.integrations._common import Late
from support import PACKAGE, in_forked_child

# What blocks, and may be held as a process forks. (A cached_property is guarded by a lock of Python's until 3.12.)
BLOCKING = {
    "threading": {"Lock", "RLock", "Condition", "Event", "Semaphore", "BoundedSemaphore", "Barrier", "Timer"},
    "_thread": {"allocate_lock"},
    "functools": {"cached_property"},
    "os": {"register_at_fork"},
    "multiprocessing": {"Lock", "RLock", "Condition", "Event", "Semaphore", "Queue"},
}
MODULES = {"queue", "concurrent", "concurrent.futures"}


def used(file):
    """(module, name) of what a file imports or takes from modules."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((node.module, each.name) for each in node.names)
        elif isinstance(node, ast.Import):
            yield from ((each.name, "") for each in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield node.value.id, node.attr


def test_all_locks_are_made_in_one_place():
    found = {
        f"{file.relative_to(PACKAGE)}: {module}.{name}"
        for file in sorted((PACKAGE / "latebind").rglob("*.py"))
        for module, name in used(file)
        if module in MODULES or name in BLOCKING.get(module, ())
    }
    here = {each for each in found if each.startswith("latebind/_locks.py")}
    assert here == {
        f"latebind/_locks.py: {name}" for name in ("threading.Lock", "threading.RLock", "os.register_at_fork")
    }
    assert found == here


@contextlib.contextmanager
def held_by_another_thread(*locks):
    taken, over = threading.Event(), threading.Event()

    def hold():
        with contextlib.ExitStack() as stack:
            for lock in locks:
                stack.enter_context(lock)
            taken.set()
            over.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait()
    try:
        yield
    finally:
        over.set()
        thread.join()


class Slow:
    """A model whose opening takes as long as a test likes."""

    model, settings = "slow", {}
    began, may_go_on = threading.Event(), threading.Event()
    is_slow = True

    def __init__(self, model, **settings):
        if Slow.is_slow:
            self.began.set()
            self.may_go_on.wait()


def test_a_model_that_another_thread_opens_meanwhile():
    late = Late(Slow, "slow", {})
    thread = threading.Thread(target=lambda: late.opened)
    thread.start()
    Slow.began.wait()
    Slow.is_slow = False

    def in_child():
        return type(late.opened).__name__

    try:
        assert in_forked_child(in_child) == "Slow"
    finally:
        Slow.may_go_on.set()
        thread.join()
    assert late.opened is late.opened


def test_the_library_and_its_runtimes():
    _library.runtime({})

    def in_child():
        before = len(_library._runtimes)
        _library.runtime({})
        with _library._lock:
            return before

    with held_by_another_thread(_library._lock, _library._runtimes_lock):
        assert in_forked_child(in_child) == 0


def test_what_a_thread_holds_as_it_forks_it_gives_back_itself():
    lock = _locks.Lock()

    def in_child():
        with lock:
            pass
        lock.__exit__()
        with pytest.raises(RuntimeError):
            lock.__exit__()
        return "free"

    with lock:
        assert in_forked_child(in_child) == "free"
    with pytest.raises(RuntimeError):
        lock.__exit__()


def test_work_of_a_thread_that_is_not_here_is_an_error():
    may_end = threading.Event()
    work = Work(may_end.wait)
    work.start()

    def in_child():
        with pytest.raises(latebind.ForkedError, match="does not have its threads"):
            work.result()
        return "told"

    try:
        assert in_forked_child(in_child) == "told"
    finally:
        may_end.set()
    assert work.result() is True


def test_a_process_that_a_signals_handler_makes_while_work_is_waited_for():
    """The wait has begun as the process forks, and is at the same place in the child."""
    may_end, reader_of_child = threading.Event(), []
    parent = os.getpid()

    def fork(*_):
        reader, writer = os.pipe()
        child = os.fork()
        if child:
            reader_of_child.append((child, reader))
            os.close(writer)
            may_end.set()
        else:
            reader_of_child.append((0, writer))
            signal.alarm(20)  # a child that waits for ever ends all the same

    main = threading.main_thread().ident
    lines, first = inspect.getsourcelines(_locks.Gate.wait)
    waits = first + next(at for at, line in enumerate(lines) if "acquire(" in line)

    def body():
        # As long as this thread runs, the other one is within the call of that line.
        while (frame := sys._current_frames()[main]).f_code is not _locks.Gate.wait.__code__ or frame.f_lineno != waits:
            os.sched_yield()
        os.kill(parent, signal.SIGUSR1)
        may_end.wait()
        return "done"

    before = signal.signal(signal.SIGUSR1, fork)
    found = "nothing"
    try:
        work = Work(body)
        work.start()
        found = work.result()
    except latebind.ForkedError:
        found = "told"
    finally:
        if os.getpid() != parent:
            os.write(reader_of_child[0][1], found.encode())
            os._exit(0)
        signal.signal(signal.SIGUSR1, before)
    assert found == "done"
    child, reader = reader_of_child[0]
    with open(reader) as stream:
        assert stream.read() == "told"
    os.waitpid(child, 0)
