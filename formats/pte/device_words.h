// Translates the device names in programs of ExecuTorch to Latebind's. Pure functions; any thread.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "core/text/ascii.h"

namespace latebind::pte {

// A list of devices in Latebind's words, or a complaint if the translation is impossible.
struct DeviceWords {
  std::string words;
  std::string complaint;  // empty if the word is valid
};

// Programs for ExecuTorch's own OpenVINO backend use OpenVINO's device names, which are translated as follows:
//   CPU, AUTO                                 cpu, auto
//   GPU.1                                     openvino:GPU.1
//   AUTO:NPU,CPU, HETERO:NPU,CPU              openvino:NPU,openvino:CPU: the first one that takes the model
//   MULTI:…, BATCH:…, AUTO:-GPU, AUTO:CPU(2)  a complaint: no placement means the same
// Other names are unchanged.
inline DeviceWords device_words(std::string_view text) {
  const auto each = [](std::string_view list, const auto& translated) {
    std::string words;
    for (;;) {
      const auto comma = list.find(',');
      words += translated(list.substr(0, comma));
      if (comma == std::string_view::npos) return words;
      words += ',';
      list.remove_prefix(comma + 1);
    }
  };
  const auto one_of = [](std::string_view word, auto... known) { return ((word == known) || ...); };
  const auto colon = text.find(':');
  const std::string_view whole = text.substr(0, colon);
  const auto complain = [&](std::string_view why) {
    return DeviceWords{{}, "the device '" + std::string(text.substr(0, 128)) + "' " + std::string(why)};
  };
  if (one_of(whole, "MULTI", "BATCH")) {
    return complain(whole == "MULTI"
                        ? "runs a model on several devices at once, but Latebind runs it on one: name the devices in "
                          "order, such as openvino:GPU,openvino:CPU"
                        : "gathers runs into batches, which Latebind does not do: name the device that it uses");
  }
  if (whole == "HETERO" || (whole == "AUTO" && colon != std::string_view::npos)) {
    const std::string_view list = colon != std::string_view::npos ? text.substr(colon + 1) : std::string_view();
    const auto is_plain = [](char c) {
      return core::is_ascii_letter(c) || core::is_ascii_digit(c) || c == '.' || c == '_' || c == ',';
    };
    if (list.empty() || list.starts_with(',') || list.ends_with(',') || list.find(",,") != std::string_view::npos ||
        !std::ranges::all_of(list, is_plain)) {
      return complain("is not a plain list of devices: name the devices in order, such as " + std::string(whole) +
                      ":NPU,CPU");
    }
    return {each(list, [](std::string_view word) { return "openvino:" + std::string(word); }), {}};
  }
  return {each(text,
               [&](std::string_view word) {
                 const auto dot = word.find('.');
                 if (!one_of(word.substr(0, dot), "CPU", "GPU", "NPU", "AUTO")) return std::string(word);
                 return dot != std::string_view::npos ? "openvino:" + std::string(word) : core::ascii_lowered(word);
               }),
          {}};
}

}  // namespace latebind::pte
