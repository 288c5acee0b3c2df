// Interruption turns Ctrl-C into a cancellation that work can check. At most one object may exist.
#pragma once

#include "core/threads/cancellation.h"

namespace latebind::cli {

// While an object lives, the first Ctrl-C requests the cancellation. A second one ends the process, as do all other
// signals.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  [[nodiscard]] const core::Cancellation& cancellation() const { return cancellation_; }
  [[nodiscard]] bool is_requested() const { return cancellation_.is_requested(); }

 private:
  core::Cancellation cancellation_ = core::Cancellation::create();
};

}  // namespace latebind::cli
