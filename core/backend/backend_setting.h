// The settings of a backend as a whole, such as the place of its library.
//
// A backend lists its settings as constant data. The settings table (app/settings.h) makes keys, variables and flags
// from them. Every one of these settings chooses code that is executed, so a privileged process takes none from its
// environment.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace latebind::core {

struct BackendSetting {
  std::string_view key;          // "openvino.library": the backend's name, a dot, a word
  std::string_view environment;  // "LATEBIND_OPENVINO_LIBRARY"
  std::string_view flag;         // "--openvino-library"; empty if no option sets it
  std::string_view value;        // what a value looks like: "PATH"
  std::string_view help;         // one paragraph
  // The allowed values besides the empty one; any value is allowed when this is empty.
  std::span<const std::string_view> words{};
};

// Setting values by key. A missing key is not set, and the backend then searches.
using BackendSettingTexts = std::map<std::string, std::string, std::less<>>;

// Returns the value of that key, or "" when it is not set.
[[nodiscard]] inline std::string text_of(const BackendSettingTexts& texts, std::string_view key) {
  const auto found = texts.find(key);
  return found == texts.end() ? std::string() : found->second;
}

}  // namespace latebind::core
