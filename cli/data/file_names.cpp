#include "cli/data/file_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "core/text/ascii.h"

namespace latebind::cli {
namespace {

constexpr std::size_t kLengthMax = 100;
constexpr std::string_view kKept = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

bool is_reserved(const std::string& name) {
  constexpr std::array<std::string_view, 4> kDevices{"con", "prn", "aux", "nul"};
  const std::string stem = core::ascii_lowered(name.substr(0, name.find('.')));
  if (std::ranges::find(kDevices, stem) != kDevices.end()) return true;
  return stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt"));
}

}  // namespace

std::vector<std::string> safe_file_names(std::span<const std::string> names) {
  std::vector<std::string> safe;
  std::set<std::string> taken;
  for (const std::string& name : names) {
    std::string base = name.substr(0, kLengthMax);
    for (char& c : base) {
      if (kKept.find(c) == std::string_view::npos) c = '_';
    }
    if (base.empty()) base = "output";
    if (base.front() == '.') base.front() = '_';
    if (is_reserved(base)) base.insert(0, 1, '_');
    std::string unique = base;
    for (std::size_t i = 2; !taken.insert(core::ascii_lowered(unique)).second; ++i) {
      unique = fmt::format("{}_{}", base, i);
    }
    safe.push_back(std::move(unique));
  }
  return safe;
}

}  // namespace latebind::cli
