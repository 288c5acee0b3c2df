"""The annotations of core/threads/mutex.h make clang refuse what scripts/check_tidy must find, and cost gcc nothing."""

import shutil
import subprocess
import unittest

from support import SOURCE

CLANG = "clang++-14"

# A class as they are in the product, with a place for code that uses it.
CODE = """
#include "core/threads/mutex.h"
using namespace latebind::core;
class Counter {{
 public:
  {body}
 private:
  void add() LB_REQUIRES(mutex_) {{ ++count_; }}
  void lock_and_add() LB_EXCLUDES(mutex_) {{ const MutexLock lock(mutex_); add(); }}
  Mutex mutex_;
  Condition changed_;
  int count_ LB_GUARDED_BY(mutex_) = 0;
}};
"""


def complaints(body):
    """What the analysis finds in a member function."""
    done = subprocess.run(
        [CLANG, "-std=c++20", "-fsyntax-only", "-Wthread-safety", "-x", "c++", f"-I{SOURCE}", "-"],
        input=CODE.format(body=body),
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stderr


class ThreadSafetyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if shutil.which(CLANG) is None:
            raise AssertionError(f"{CLANG} is missing; type: scripts/setup test")

    def assert_refused(self, body, complaint):
        self.assertIn(complaint, complaints(body))

    def assert_allowed(self, body):
        self.assertEqual(complaints(body), "")

    def test_guarded_data_needs_its_mutex(self):
        self.assert_refused("int get() { return count_; }", "reading variable 'count_' requires holding mutex 'mutex_'")
        self.assert_refused("void set() { count_ = 1; }", "writing variable 'count_' requires holding mutex 'mutex_'")
        self.assert_allowed("int get() { const MutexLock lock(mutex_); return count_; }")

    def test_a_function_says_what_it_requires(self):
        self.assert_refused("void f() { add(); }", "calling function 'add' requires holding mutex 'mutex_'")
        self.assert_refused("void f() { const MutexLock lock(mutex_); lock_and_add(); }", "while mutex 'mutex_' is held")
        self.assert_allowed("void f() { const MutexLock lock(mutex_); add(); }")

    def test_a_mutex_is_locked_once(self):
        twice = "void f() { const MutexLock lock(mutex_); const MutexLock again(mutex_); }"
        self.assert_refused(twice, "acquiring mutex 'mutex_' that is already held")
        self.assert_refused("void f() { mutex_.lock(); }", "mutex 'mutex_' is still held at the end of function")

    def test_a_mutex_is_released_for_a_while(self):
        released = "void f() {{ const MutexLock lock(mutex_); {{ const MutexUnlock unlocked(mutex_); {} }} {} }}"
        self.assert_allowed(released.format("lock_and_add();", "add();"))
        self.assert_refused(released.format("add();", ""), "requires holding mutex 'mutex_'")
        self.assert_refused("void f() { const MutexUnlock unlocked(mutex_); }", "that was not held")

    def test_a_wait_needs_the_mutex(self):
        self.assert_refused("void f() { changed_.wait(mutex_); }", "calling function 'wait' requires holding mutex")
        waits = "void f() {{ const MutexLock lock(mutex_); changed_.wait(mutex_, [this]() {} {{ return count_ > 0; }}); }}"
        self.assert_allowed(waits.format("LB_REQUIRES(mutex_)"))
        self.assert_refused(waits.format(""), "reading variable 'count_' requires holding mutex 'mutex_'")


if __name__ == "__main__":
    unittest.main()
