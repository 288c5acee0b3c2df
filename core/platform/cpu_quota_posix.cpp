#include <algorithm>
#include <fstream>
#include <string>
#include <system_error>

#include "core/platform/cpu_quota.h"

namespace latebind::platform {
namespace {

// So many microseconds of a period's, as processors.
std::optional<unsigned> rounded_up(double quota, double period) {
  constexpr double kMost = 1 << 16;
  if (!(quota > 0) || !(period > 0) || quota / period > kMost) return std::nullopt;
  const double processors = quota / period;
  const auto whole = static_cast<unsigned>(processors);
  return whole + (static_cast<double>(whole) < processors ? 1 : 0);
}

// "150000 100000", or "max 100000" for all.
std::optional<unsigned> quota_of(const std::filesystem::path& group) {
  std::ifstream file(group / "cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max") return std::nullopt;
  try {
    return rounded_up(std::stod(quota), period);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::optional<unsigned> older_quota_of(const std::filesystem::path& group) {
  std::ifstream quota_file(group / "cpu.cfs_quota_us");
  std::ifstream period_file(group / "cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  if (!(quota_file >> quota) || !(period_file >> period)) return std::nullopt;
  return rounded_up(quota, period);
}

// The group's path in the unified hierarchy: the line "0::/path".
std::string_view unified_group(std::string_view own) {
  constexpr std::string_view kUnified = "0::/";
  while (!own.empty()) {
    const std::string_view line = own.substr(0, own.find('\n'));
    if (line.starts_with(kUnified)) return line.substr(kUnified.size());
    own.remove_prefix(std::min(line.size() + 1, own.size()));
  }
  return {};
}

}  // namespace

std::optional<unsigned> processors_of_quota(const std::filesystem::path& groups, std::string_view own) {
  std::optional<unsigned> least;
  const auto take = [&](std::optional<unsigned> one) {
    if (one) least = std::min(*one, least.value_or(*one));
  };
  std::filesystem::path group = groups;
  take(quota_of(group));
  for (const std::filesystem::path& part : std::filesystem::path(unified_group(own))) {
    // In a container that shares the machine's names of groups, the path leads out of what is mounted.
    if (part == "..") break;
    group /= part;
    take(quota_of(group));
  }
  take(older_quota_of(groups / "cpu"));
  return least;
}

}  // namespace latebind::platform
