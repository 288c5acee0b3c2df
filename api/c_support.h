// What every part of the C interface needs: the thread's last error, structs of any version, and a barrier for
// exceptions. Callable from any thread.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "core/platform/process_generation.h"
#include "core/platform/thread_cancellation.h"
#include "core/result.h"
#include "core/threads/background_work.h"
#include "include/latebind/latebind.h"

namespace latebind::api {

// Keeps `status` as the calling thread's last error unless it is ok, and returns its code. If memory runs out, only the
// message is kept.
lb_code report(const core::Status& status) noexcept;

// Makes a kInvalidArgument error with this one-line message.
[[nodiscard]] core::Status misuse(std::string message);

// Fails in a child made by fork() after `what` was made: the child has its parent's memory, but not the threads that
// `what` needs.
[[nodiscard]] core::Status check_made_here(const platform::MadeIn& made, std::string_view what);

// Keeps the object until the process ends. Leak checkers find a reference to it.
void keep_for_ever(const void* object) noexcept;

// Destroys the object of a handle. It frees nothing if the object was made before fork(), since its threads cannot be
// joined, or if the process is ending, since static objects that vendors' destructors use may be gone.
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

// Rejects a reserved field that is not 0, so that it can get a meaning later. `value` is the field of the `index`th
// `what`, a struct of type `type`.
[[nodiscard]] core::Status check_reserved(int32_t value, std::string_view type, std::string_view what, size_t index);

// Runs `body`, which returns a Status, and reports its result. Catches exceptions, such as those of memory that runs
// out. A thread that the host cancels meanwhile ends afterwards.
template <class Body>
lb_code guarded(Body&& body) noexcept {
  const platform::NoThreadCancellation whole;
  try {
    return report(std::forward<Body>(body)());
  } catch (...) {
    return report(core::Status::of_exception());
  }
}

// Like guarded(), for functions that may enter a vendor's library on the caller's thread: kBusy when the process is
// ending.
template <class Body>
lb_code guarded_work(Body&& body) noexcept {
  return guarded([&]() -> core::Status {
    const core::ForegroundWork work;
    return work.may_begin() ? std::forward<Body>(body)() : core::ending_error();
  });
}

// Checks that a version of a struct can have this size: it has room for struct_size, is a multiple of the alignment,
// and is at most 64 KiB.
[[nodiscard]] core::Status check_struct_size(size_t size, size_t alignment, std::string_view what);

// Reads the caller's struct, whichever version it was compiled with: fields beyond its size stay zero. Null gives all
// zeros.
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

// Copies as much of `value` as the caller's struct has room for, and leaves its struct_size unchanged.
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
