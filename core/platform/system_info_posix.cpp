#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "core/platform/cpu_quota.h"
#include "core/platform/system_info.h"

namespace latebind::platform {
namespace {

// Returns a line such as "VmRSS:     1234 kB" of /proc/self/status. It does not use getrusage(), whose peak is
// inherited through fork and exec, so that a small program started by a large one would look large.
std::uint64_t field_bytes(const char* file, std::string_view field) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    std::string_view text = line;
    if (!text.starts_with(field)) continue;
    text.remove_prefix(field.size());
    const auto digit = text.find_first_of("0123456789");
    if (digit == std::string_view::npos) return 0;
    text.remove_prefix(digit);
    std::uint64_t kib = 0;
    std::from_chars(text.data(), text.data() + text.size(), kib);
    return kib * 1024;
  }
  return 0;
}

struct FreeSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

}  // namespace

unsigned usable_processors() {
  // The kernel returns EINVAL while the set is smaller than the machine could be.
  constexpr unsigned kMostProcessors = 1U << 16;
  for (unsigned count = 1024; count <= kMostProcessors; count *= 2) {
    const std::unique_ptr<cpu_set_t, FreeSet> set(CPU_ALLOC(count));
    if (set == nullptr) break;
    const std::size_t size = CPU_ALLOC_SIZE(count);
    if (::sched_getaffinity(0, size, set.get()) == 0) {
      const auto usable = static_cast<unsigned>(std::max(CPU_COUNT_S(size, set.get()), 1));
      std::ifstream own("/proc/self/cgroup");
      const std::string groups{std::istreambuf_iterator<char>(own), {}};
      return std::min(usable, processors_of_quota("/sys/fs/cgroup", groups).value_or(usable));
    }
    if (errno != EINVAL) break;
  }
  return 1;
}

std::uint64_t peak_resident_bytes() {
  return field_bytes("/proc/self/status", "VmHWM:");
}

std::uint64_t resident_bytes() {
  return field_bytes("/proc/self/status", "VmRSS:");
}

std::uint64_t available_memory_bytes() {
  std::uint64_t available = field_bytes("/proc/meminfo", "MemAvailable:");
  // The limit of a container, in the unified hierarchy.
  std::ifstream limit("/sys/fs/cgroup/memory.max");
  std::ifstream used("/sys/fs/cgroup/memory.current");
  std::uint64_t most = 0;
  std::uint64_t now = 0;
  if (limit >> most && used >> now) available = std::min(available, most > now ? most - now : 0);
  return available;
}

std::string platform_name() {
#if defined(__x86_64__)
  return "linux-x86_64";
#elif defined(__aarch64__)
  return "linux-aarch64";
#else
#error "Latebind is not ported to this processor: name the platform here and add a cpu_<processor>.cpp"
#endif
}

}  // namespace latebind::platform
