// ThreadObject: a thread-local object that may already be gone during the thread's last calls.
//
// A thread still runs code after its thread_local objects are destroyed: the destructors of other thread-specific data.
// If that code used a thread_local object with a destructor, it would use freed memory.
#pragma once

#include <new>
#include <type_traits>

#include "core/platform/thread_slot.h"

namespace latebind::core {

// One object for each type T and thread.
template <class T>
class ThreadObject {
 public:
  // Returns the calling thread's object, which is created on first use. Null once the thread has begun to end, and when
  // there is no memory or slot for it. The object of the thread that calls exit() is not destroyed.
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
