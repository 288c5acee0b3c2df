#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "core/platform/thread_slice.h"

namespace latebind::platform {
namespace {

// The kernel's struct sched_attr in its first version, which older C libraries do not declare.
struct Attributes {
  std::uint32_t size = sizeof(Attributes);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};
static_assert(sizeof(Attributes) == 48);

// The smallest slice that the kernel accepts; the default is some milliseconds.
constexpr std::uint64_t kSliceNs = 100'000;

}  // namespace

void prefer_short_slices() noexcept {
  Attributes attributes;
  // Keeps what was set for the thread: a nice value, or another policy, which has no slices of this kind.
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0U) != 0) return;
  if (attributes.policy != SCHED_OTHER) return;
  attributes.runtime_ns = kSliceNs;
  ::syscall(SYS_sched_setattr, 0, &attributes, 0U);
}

}  // namespace latebind::platform
