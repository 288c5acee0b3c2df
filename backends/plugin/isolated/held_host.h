// The host that an isolated plug-in sees. What the plug-in gives goes into a message or into shared memory, and weights
// come from HeldModel. The objects live in one call, on one thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "backends/plugin/host.h"
#include "backends/plugin/isolated/wire.h"

namespace latebind::plugin {

struct AlignedFree {
  void operator()(std::byte* bytes) const { ::operator delete[](bytes, std::align_val_t{kTensorStep}); }
};
using Block = std::unique_ptr<std::byte, AlignedFree>;

// Where the outputs of one run go: behind the inputs in the lane's memory, or into separate blocks.
struct Place {
  std::span<std::byte> memory;
  std::size_t at = 0;
  std::vector<Block> blocks{};
};

struct HeldOutput : lbb_output {
  Place* place = nullptr;
  std::int32_t type = 0;
  std::vector<std::int64_t> dims{};
  std::byte* data = nullptr;
  std::size_t size = 0;
};

struct HeldDevices : lbb_devices {
  Writer written{};
  std::uint64_t count = 0;
};

struct HeldRun {
  lbb_run run;
  const std::atomic<std::uint32_t>* is_cancelled;
};

// The functions that the plug-in gets.
[[nodiscard]] const lbb_host& held_host();
// For HeldRun: lbb_run.is_cancelled.
[[nodiscard]] std::int32_t is_run_cancelled(const lbb_run* run);
// Writes the lines that the plug-in has logged since the last call, from any thread.
void take_lines(Writer& to);

}  // namespace latebind::plugin
