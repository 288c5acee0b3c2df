#include <algorithm>
#include <fstream>
#include <string>
#include <system_error>

#include "core/platform/cpu_quota.h"

namespace latebind::platform {
namespace {

// Converts a quota per period to processors.
std::optional<unsigned> rounded_up(double quota, double period) {
  constexpr double kMost = 1 << 16;
  if (!(quota > 0) || !(period > 0) || quota / period > kMost) return std::nullopt;
  const double processors = quota / period;
  const auto whole = static_cast<unsigned>(processors);
  return whole + (static_cast<double>(whole) < processors ? 1 : 0);
}

// Reads "150000 100000", or "max 100000" for no limit.
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

// Returns the group's path in the hierarchy with this controller, from the line "NUMBER:controllers,with,commas:/path".
// The unified hierarchy has no controller: "0::/path".
std::string_view group_of(std::string_view own, const std::string& controller) {
  while (!own.empty()) {
    const std::string_view line = own.substr(0, own.find('\n'));
    own.remove_prefix(std::min(line.size() + 1, own.size()));
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first == std::string_view::npos ? first : first + 1);
    if (second == std::string_view::npos || line.substr(second + 1, 1) != "/") continue;
    const std::string controllers = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
    if (controllers.find("," + controller + ",") != std::string::npos) return line.substr(second + 2);
  }
  return {};
}

}  // namespace

std::optional<unsigned> processors_of_quota(const std::filesystem::path& groups, std::string_view own) {
  std::optional<unsigned> least;
  const auto take_all = [&](std::filesystem::path group, std::string_view path, const auto& quota_of_one) {
    const auto take = [&] {
      if (const auto one = quota_of_one(group)) least = std::min(*one, least.value_or(*one));
    };
    take();
    for (const std::filesystem::path& part : std::filesystem::path(path)) {
      // In a container that shares the machine's group names, the path may leave the mounted part.
      if (part == "..") break;
      group /= part;
      take();
    }
  };
  take_all(groups, group_of(own, ""), quota_of);
  take_all(groups / "cpu", group_of(own, "cpu"), older_quota_of);
  return least;
}

}  // namespace latebind::platform
