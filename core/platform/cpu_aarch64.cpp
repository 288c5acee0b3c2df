// cpu_name() and cpu_features() of system_info.h for aarch64 on Linux, where the kernel reports the CPU's features.
#include <sys/auxv.h>

#include <cstdint>
#include <fstream>
#include <string_view>

#include "core/platform/system_info.h"

namespace latebind::platform {
namespace {

// Bits of AT_HWCAP and AT_HWCAP2. They are part of the kernel's ABI, and are written out because the compiler's headers
// may be older.
constexpr std::uint64_t kAsimd = 1ULL << 1;
constexpr std::uint64_t kAsimdHalf = 1ULL << 10;
constexpr std::uint64_t kAsimdDot = 1ULL << 20;
constexpr std::uint64_t kSve = 1ULL << 22;
constexpr std::uint64_t kSve2 = 1ULL << 1;
constexpr std::uint64_t kI8mm = 1ULL << 13;
constexpr std::uint64_t kBf16 = 1ULL << 14;
constexpr std::uint64_t kSme = 1ULL << 23;

std::string value_of(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  const auto first = line.find_first_not_of(" \t", colon + 1);
  return first == std::string_view::npos ? std::string() : std::string(line.substr(first));
}

}  // namespace

std::string cpu_name() {
  std::ifstream stream("/proc/cpuinfo");
  std::string implementer;
  std::string part;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("model name")) return value_of(line);
    if (line.starts_with("CPU implementer") && implementer.empty()) implementer = value_of(line);
    if (line.starts_with("CPU part") && part.empty()) part = value_of(line);
  }
  if (implementer.empty() && part.empty()) return {};
  return "Arm CPU, implementer " + implementer + ", part " + part;
}

std::vector<std::string> cpu_features() {
  const std::uint64_t first = ::getauxval(AT_HWCAP);
  const std::uint64_t second = ::getauxval(AT_HWCAP2);
  std::vector<std::string> features;
  const auto add = [&features](bool present, const char* name) {
    if (present) features.emplace_back(name);
  };
  add((first & kAsimd) != 0, "neon");
  add((first & kAsimdHalf) != 0, "fp16");
  add((first & kAsimdDot) != 0, "dotprod");
  add((second & kI8mm) != 0, "i8mm");
  add((second & kBf16) != 0, "bf16");
  add((first & kSve) != 0, "sve");
  add((second & kSve2) != 0, "sve2");
  add((second & kSme) != 0, "sme");
  return features;
}

}  // namespace latebind::platform
