// Errors that name a file of a model and its fault. Pure functions; any thread may call them.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "core/platform/files/folders.h"
#include "core/status.h"

namespace latebind::embedding {

[[nodiscard]] inline core::Status invalid_file(const std::filesystem::path& file, std::string_view what) {
  return core::Status(core::StatusCode::kInvalidModel, fmt::format("{}: {}", platform::path_to_utf8(file), what));
}

[[nodiscard]] inline core::Status unsupported_file(const std::filesystem::path& file, std::string_view what) {
  return core::Status(core::StatusCode::kUnsupported, fmt::format("{}: {}", platform::path_to_utf8(file), what));
}

// PEFT's adapters, which change the weights of the network beside them, or of another one.
inline constexpr std::string_view kAdapterConfigFile = "adapter_config.json";
[[nodiscard]] inline core::Status refuse_adapters(const std::filesystem::path& file) {
  return unsupported_file(
      file,
      "adapters (LoRA) are not supported: merge them into the weights (PEFT's merge_and_unload), and "
      "save the model without them");
}

}  // namespace latebind::embedding
