// An object that a thread has for itself, and that its last calls do without.
//
// A thread still runs code after such objects have gone: destructors of what others keep for the thread. Whoever uses a
// thread_local object with a destructor there uses freed memory.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

#include "core/platform/thread_end.h"

namespace latebind::core {

// The calling thread's T, made when it is first asked for; null from the beginning of its end on, and where the system
// can not be told to end it. One for each type. That of the thread that calls exit() stays.
template <class T>
[[nodiscard]] T* thread_object() noexcept {
  static_assert(std::is_nothrow_default_constructible_v<T>);
  enum class State { kNone, kThere, kGone };
  struct Kept {
    alignas(T) std::byte place[sizeof(T)];
    State state;
    T* object() { return std::launder(reinterpret_cast<T*>(place)); }
  };
  // Zero, and without a destructor: it can be looked at as long as the thread runs.
  thread_local Kept kept;
  static const platform::ThreadEnd end([](void* given) {
    auto& ending = *static_cast<Kept*>(given);
    ending.state = State::kGone;
    ending.object()->~T();
  });
  if (kept.state == State::kNone) {
    if (!end.call_with(&kept)) return nullptr;
    new (kept.place) T();
    kept.state = State::kThere;
  }
  return kept.state == State::kThere ? kept.object() : nullptr;
}

}  // namespace latebind::core
