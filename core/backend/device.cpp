#include "core/backend/device.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/name_character.h"

namespace latebind::core {
namespace {

// Whether the text is short and consists of characters that have no special meaning in lists, paths and file names.
bool is_word(std::string_view text) {
  constexpr std::size_t kLengthMax = 32;
  return !text.empty() && text.size() <= kLengthMax && std::ranges::all_of(text, is_name_character);
}

// Whether a list separated by commas has the word.
bool has_word(std::string_view list, std::string_view word) {
  return fmt::format(",{},", list).find(fmt::format(",{},", word)) != std::string::npos;
}

}  // namespace

std::string Device::metadata_at(const std::string& key) const {
  const auto found = metadata.find(key);
  return found == metadata.end() ? std::string() : found->second;
}

bool Device::is_virtual() const {
  return metadata_at("IsVirtual") == "1";
}

bool Device::runs_graphs_only() const {
  return metadata_at("GraphsOnly") == "1";
}

bool Device::is_preferred_in(Precision precision) const {
  return has_word(metadata_at("PreferredIn"), word_of(precision));
}

bool Device::computes_in(Precision precision) const {
  return has_word(metadata_at("Precisions"), word_of(precision));
}

std::string Device::target() const {
  std::string target(word_of(kind));
  // The architecture of a CPU is that of the machine. An architecture that is a sentence is for people.
  if (kind != DeviceKind::kNpu && kind != DeviceKind::kGpu) return target;
  const std::string architecture = metadata_at("Architecture");
  if (is_word(architecture)) target += ":" + architecture;
  return target;
}

}  // namespace latebind::core
