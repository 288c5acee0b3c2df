// What every part of the C interface needs: the thread's last error, structs of any size, and a fence for exceptions.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "core/background_work.h"
#include "core/platform/process_generation.h"
#include "core/platform/thread_cancellation.h"
#include "core/result.h"
#include "include/latebind/latebind.h"

namespace latebind::api {

// Keeps `status` as the calling thread's last error, unless it is ok, and returns its code. Without memory for all of
// it only the message is kept.
lb_code report(const core::Status& status) noexcept;

// The caller's error, in one line.
[[nodiscard]] core::Status misuse(std::string message);

// Not ok in a child made by fork() after `what` was made: a child has the memory of its parent, but not the threads
// that `what` was made with.
[[nodiscard]] core::Status check_made_here(const platform::MadeIn& made, std::string_view what);

// Nothing is ever destroyed that is kept. To those who search for memory that nobody refers to, it is none.
void keep_for_ever(const void* object) noexcept;

// For the destruction of handles: one that was made before fork() is not freed, since its threads cannot be waited for,
// nor is any once the process is ending, since the static objects that vendors' destructors use may have gone.
template <class Handle>
void destroy(Handle* handle, const platform::MadeIn& made) noexcept {
  const platform::NoThreadCancellation whole;
  if (!made.this_process()) return;
  const core::ForegroundWork work;
  if (work.may_begin()) {
    delete handle;
  } else {
    keep_for_ever(handle);
  }
}

// Rejects a reserved field that is not 0, so that it can mean something one day: `value` is that of the `index`th
// `what`.
[[nodiscard]] core::Status check_reserved(int32_t value, std::string_view type, std::string_view what, size_t index);

// Runs `body` (which returns a Status) and reports its result. Latebind's code does not throw, but memory may run out.
// A thread that the host cancels meanwhile ends after it.
template <class Body>
lb_code guarded(Body&& body) noexcept {
  const platform::NoThreadCancellation whole;
  try {
    return report(std::forward<Body>(body)());
  } catch (...) {
    return report(core::Status::of_exception());
  }
}

// As guarded(), for what may open or enter a vendor's library on the caller's thread: kBusy when the process is ending.
template <class Body>
lb_code guarded_work(Body&& body) noexcept {
  return guarded([&]() -> core::Status {
    const core::ForegroundWork work;
    return work.may_begin() ? std::forward<Body>(body)() : core::ending_error();
  });
}

// Whether a version of a struct can have this size: the size itself is in it, no field is cut, and it is not what
// happened to be in memory.
[[nodiscard]] core::Status check_struct_size(size_t size, size_t alignment, std::string_view what);

// The caller's options, whatever version of the struct they were compiled with: fields it does not know stay zero. Null
// gives zeros.
template <class T>
core::Result<T> read_struct(const T* given, std::string_view what) {
  T value{};
  if (given != nullptr) {
    LB_RETURN_IF_ERROR(check_struct_size(given->struct_size, alignof(T), what));
    std::memcpy(&value, given, std::min(given->struct_size, sizeof(T)));
  }
  value.struct_size = sizeof(T);
  return value;
}

// Copies as much of `value` as the caller's struct has room for; its struct_size stays.
template <class T>
core::Status write_struct(T value, T* out, std::string_view what) {
  if (out == nullptr) return misuse(std::string(what) + ": NULL was given");
  LB_RETURN_IF_ERROR(check_struct_size(out->struct_size, alignof(T), what));
  value.struct_size = out->struct_size;
  std::memcpy(out, &value, std::min(out->struct_size, sizeof(T)));
  return {};
}

inline std::string text_or(const char* given, std::string_view otherwise) {
  return given != nullptr ? std::string(given) : std::string(otherwise);
}

}  // namespace latebind::api
