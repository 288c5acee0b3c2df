#include "core/device.h"

#include <algorithm>

namespace latebind::core {
namespace {

// Short enough for a name, of characters that no list, path or file name takes for anything else.
bool is_word(std::string_view text) {
  constexpr std::size_t kLengthMax = 32;
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
           c == '-';
  };
  return !text.empty() && text.size() <= kLengthMax && std::ranges::all_of(text, is_plain);
}

}  // namespace

std::string Device::metadata_at(const std::string& key) const {
  const auto found = metadata.find(key);
  return found == metadata.end() ? std::string() : found->second;
}

bool Device::is_virtual() const {
  return metadata_at("IsVirtual") == "1";
}

std::string Device::target() const {
  std::string target(word_of(kind));
  // A CPU's is the machine's. What a vendor says in a sentence is for people.
  if (kind != DeviceKind::kNpu && kind != DeviceKind::kGpu) return target;
  const std::string architecture = metadata_at("Architecture");
  if (is_word(architecture)) target += ":" + architecture;
  return target;
}

}  // namespace latebind::core
