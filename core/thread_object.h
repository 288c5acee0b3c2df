// An object that a thread has for itself, and that its last calls do without.
//
// A thread still runs code after its thread_local objects were destroyed: destructors of pthread keys, and, on the one
// that ends the process, what was given to atexit(). Whoever uses such an object there uses freed memory.
#pragma once

namespace latebind::core {

// The calling thread's T, made when it is first asked for; null from the beginning of its end on. One for each type.
// One that is first asked for by a thread that is ending already is not destroyed any more.
template <class T>
[[nodiscard]] T* thread_object() {
  // Has no destructor: it can be read as long as the thread runs.
  thread_local bool ended = false;
  struct Kept {
    T object;
    ~Kept() { ended = true; }
  };
  if (ended) return nullptr;
  thread_local Kept kept{};
  return &kept.object;
}

}  // namespace latebind::core
