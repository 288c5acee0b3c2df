// The settings of a backend as a whole: where its library is, and the like.
//
// A backend lists its settings as data, and the settings table (app/settings.h) makes keys, variables and flags of
// them. All of them choose code that is executed, so none is taken from the environment of a privileged process.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace latebind::core {

struct BackendSetting {
  std::string_view key;          // "openvino.library": the backend's name, a dot, a word
  std::string_view environment;  // "LATEBIND_OPENVINO_LIBRARY"
  std::string_view flag;         // "--openvino-library"; empty when there is none
  std::string_view value;        // what a value looks like: "PATH"
  std::string_view help;         // one paragraph
  // What it may be, beside empty; anything where there are none.
  std::span<const std::string_view> words{};
};

// Texts by key. A missing key is not set, and then the backend searches.
using BackendSettingTexts = std::map<std::string, std::string, std::less<>>;

// The text of that key, "" when it is not set.
[[nodiscard]] inline std::string text_of(const BackendSettingTexts& texts, std::string_view key) {
  const auto found = texts.find(key);
  return found == texts.end() ? std::string() : found->second;
}

}  // namespace latebind::core
