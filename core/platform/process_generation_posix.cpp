#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "core/platform/process_generation.h"

namespace latebind::platform {
namespace {

std::atomic<unsigned> g_generation{0};

// Registered before main(), so that no fork() is missed. A child made by a plain system call, without the C library, is
// missed.
[[maybe_unused]] const int g_registered =
    ::pthread_atfork(nullptr, nullptr, [] { g_generation.fetch_add(1, std::memory_order_relaxed); });

}  // namespace

unsigned process_generation() noexcept {
  return g_generation.load(std::memory_order_relaxed);
}

void call_in_children(void (*function)()) noexcept {
  ::pthread_atfork(nullptr, nullptr, function);
}

std::uint64_t process_id() noexcept {
  return static_cast<std::uint64_t>(::getpid());
}

}  // namespace latebind::platform
