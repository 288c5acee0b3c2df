// Ctrl-C as something that work asks about, instead of the end of the process. One at a time.
#pragma once

#include "core/cancellation.h"

namespace latebind::cli {

// While it lives, the first Ctrl-C requests the cancellation; a second one ends the process, as every other signal
// does.
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
