// What a child made by fork() inherits of OpenVINO, and whether OpenVINO can work there.
//
// OpenVINO keeps the threads of a compiled model that has gone for the next one that wants such threads, as long as any
// core lives. A child has the record of them and not the threads: what it compiles waits for them forever. And where a
// thread of the parent is in the middle of a call, what it has locked or counted stays so in the child. What a parent
// holds and does not use harms nobody (tried with OpenVINO 2026.4 on CPUs). So this keeps count of cores, of threads
// that are left over and of calls in progress, and a child knows what its parent had.
//
// All functions may be called from any thread.
#pragma once

#include "core/platform/process_generation.h"
#include "core/status.h"

namespace latebind::openvino {

// A call into the vendor's library, while it lives. Two atomic additions.
class Inside {
 public:
  Inside() noexcept;
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside();

 private:
  const platform::MadeIn made_;
};

// Before a core is made, and after it has gone.
void count_core() noexcept;
void discount_core() noexcept;

// A compiled model goes, or one was not finished: from now on the library has threads without a model, until its last
// core has gone.
void threads_are_left() noexcept;

// kLibraryUnusable in a child, or a child of a child, that cannot compute with what it has inherited.
[[nodiscard]] core::Status check_inherited();

}  // namespace latebind::openvino
