// GivenRun: the circumstances of one run as a plug-in gets them (lbb_run). The run's thread makes it; give_up() and
// is_cancelled() may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "backends/plugin/contract.h"
#include "core/backend/executable.h"
#include "core/threads/cancellation.h"

namespace latebind::plugin {

class GivenRun {
 public:
  GivenRun() = default;
  GivenRun(const GivenRun&) = delete;
  GivenRun& operator=(const GivenRun&) = delete;

  void limit(const core::RunOptions& options);
  // Tells the plug-in, when it asks, that nobody needs the result.
  void give_up() { is_given_up_.store(true, std::memory_order_release); }
  [[nodiscard]] bool is_given_up() const { return is_given_up_.load(std::memory_order_acquire); }
  // Valid as long as this object lives.
  [[nodiscard]] const lbb_run* get() const { return &given_.run; }

 private:
  // What the plug-in gets leads back to this object.
  struct Given {
    lbb_run run;
    const GivenRun* of;
  };
  static std::int32_t is_cancelled(const lbb_run* run);

  Given given_{.run = sized<lbb_run>(), .of = this};
  core::Cancellation cancellation_;
  core::Cancellation nobody_waits_;
  std::atomic<bool> is_given_up_{false};
};

}  // namespace latebind::plugin
