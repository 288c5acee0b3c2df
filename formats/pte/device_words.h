// Devices as programs of ExecuTorch name them. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/text/ascii.h"

namespace latebind::pte {

// A list of devices in Latebind's words. Programs made for ExecuTorch's own OpenVINO backend name them as OpenVINO
// does, "CPU" or "GPU.1": "cpu", "openvino:GPU.1". Everything else stays as it is.
inline std::string device_words(std::string_view text) {
  const auto translated = [](std::string_view word) {
    const auto dot = word.find('.');
    const std::string_view base = word.substr(0, dot);
    std::string plain(word);
    if (base != "CPU" && base != "GPU" && base != "NPU" && base != "AUTO") return plain;
    if (dot != std::string_view::npos) return "openvino:" + plain;
    return core::ascii_lowered(plain);
  };
  std::string words;
  for (;;) {
    const auto comma = text.find(',');
    words += translated(text.substr(0, comma));
    if (comma == std::string_view::npos) return words;
    words += ',';
    text.remove_prefix(comma + 1);
  }
}

}  // namespace latebind::pte
