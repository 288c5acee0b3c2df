#include "backends/openvino/inherited.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdint>

namespace latebind::openvino {
namespace {

// A bit beside the number of cores.
constexpr std::uint64_t kThreadsAreLeft = std::uint64_t{1} << 63U;

enum class Inherited : std::uint8_t { kNothing, kThreads, kCalls };

std::atomic<std::uint64_t> g_cores{0};
std::atomic<std::uint64_t> g_calls{0};
std::atomic<Inherited> g_inherited{Inherited::kNothing};

// The child never destroys its parent's cores, so their number, and the threads that are left, stay recorded.
void begin_child() noexcept {
  if (g_calls.exchange(0) > 0) {
    g_inherited = Inherited::kCalls;
  } else if ((g_cores & kThreadsAreLeft) != 0 && g_inherited == Inherited::kNothing) {
    g_inherited = Inherited::kThreads;
  }
}

[[maybe_unused]] const bool g_registered = (platform::call_in_children(&begin_child), true);

}  // namespace

Inside::Inside() noexcept {
  g_calls.fetch_add(1);
}

Inside::~Inside() {
  if (made_.this_process()) g_calls.fetch_sub(1);
}

void count_core() noexcept {
  g_cores.fetch_add(1);
}

void discount_core() noexcept {
  std::uint64_t known = g_cores;
  while (!g_cores.compare_exchange_weak(known, known - 1 == kThreadsAreLeft ? 0 : known - 1)) {
  }
}

void threads_are_left() noexcept {
  g_cores.fetch_or(kThreadsAreLeft);
}

core::Status check_inherited() {
  const Inherited inherited = g_inherited;
  if (inherited == Inherited::kNothing) return {};
  constexpr const char* kRemedy =
      "start such processes without fork() (in Python, multiprocessing's 'spawn' or 'forkserver')";
  return core::Status(
      core::StatusCode::kLibraryUnusable,
      inherited == Inherited::kCalls
          ? fmt::format("OpenVINO cannot work in this process: fork() made it while its parent was in a call of "
                        "OpenVINO, which stays locked here; call fork() while OpenVINO is idle, or {}",
                        kRemedy)
          : fmt::format(
                "OpenVINO cannot work in this process: fork() made it while its parent had closed a model of "
                "OpenVINO and kept another, and OpenVINO would wait here for threads that the parent has; close "
                "all models before fork(), or none, or {}",
                kRemedy));
}

}  // namespace latebind::openvino
