// What a child made by fork() inherits from OpenVINO, and whether OpenVINO can work there.
//
// When a compiled model is destroyed, OpenVINO keeps its threads for a later model that needs such threads, as long as
// any core exists. A child has the record of these threads but not the threads, so its next compilation would wait for
// them forever. If a thread of the parent is inside a call, its locks and counts stay as they are in the child. Objects
// that the parent holds but does not use are harmless (tried with OpenVINO 2026.4 on CPUs). Therefore this file counts
// cores, calls in progress and whether threads are left, so that a child knows its parent's state.
//
// All functions may be called from any thread.
#pragma once

#include "core/platform/process_generation.h"
#include "core/status.h"

namespace latebind::openvino {

// Marks a call into the vendor's library for as long as it lives. Costs two atomic additions.
class Inside {
 public:
  Inside() noexcept;
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside();

 private:
  const platform::MadeIn made_;
};

// Called before a core is created, and after it is destroyed.
void count_core() noexcept;
void discount_core() noexcept;

// Called when a compiled model is destroyed, or was not completed. From then until the last core is destroyed, the
// library keeps threads without a model.
void threads_are_left() noexcept;

// Returns kLibraryUnusable in a child, or a child of a child, that cannot compute with the inherited state.
[[nodiscard]] core::Status check_inherited();

}  // namespace latebind::openvino
