// A thread-local object that may already be gone in the thread's last calls.
//
// A thread still runs code after its thread_local objects are destroyed: destructors of other thread-specific data.
// Code that uses a thread_local object with a destructor there uses freed memory.
#pragma once

#include <new>
#include <type_traits>

#include "core/platform/thread_slot.h"

namespace latebind::core {

// One for each type.
template <class T>
class ThreadObject {
 public:
  // The calling thread's, created on first use; null once the thread has begun to end, and when there is no memory or
  // slot for it. That of the thread that calls exit() stays.
  [[nodiscard]] static T* get() noexcept {
    static_assert(std::is_nothrow_default_constructible_v<T>);
    void* const value = slot().value();
    if (value == &gone_) return nullptr;
    if (value != nullptr) return static_cast<T*>(value);
    T* const made = new (std::nothrow) T();
    if (made == nullptr || slot().set(made)) return made;
    delete made;
    return nullptr;
  }

 private:
  static const platform::ThreadSlot& slot() noexcept {
    static const platform::ThreadSlot instance(&end);
    return instance;
  }
  static void end(void* value) {
    (void)slot().set(&gone_);
    if (value != &gone_) delete static_cast<T*>(value);
  }

  static inline char gone_ = 0;  // its address is the value of a thread that is ending
};

}  // namespace latebind::core
