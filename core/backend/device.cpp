#include "core/backend/device.h"

#include <algorithm>

#include "core/text/name_character.h"

namespace latebind::core {
namespace {

// Whether the text is short and consists of characters that have no special meaning in lists, paths and file names.
bool is_word(std::string_view text) {
  constexpr std::size_t kLengthMax = 32;
  return !text.empty() && text.size() <= kLengthMax && std::ranges::all_of(text, is_name_character);
}

}  // namespace

std::string Device::target() const {
  std::string target(word_of(kind));
  // The architecture of a CPU is that of the machine.
  if (kind != DeviceKind::kNpu && kind != DeviceKind::kGpu) return target;
  if (is_word(traits.architecture)) target += ":" + traits.architecture;
  return target;
}

std::map<std::string, std::string> Device::facts() const {
  auto facts = texts_of(traits, backend);
  facts.insert(metadata.begin(), metadata.end());
  return facts;
}

}  // namespace latebind::core
