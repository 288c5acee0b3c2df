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

}  // namespace latebind::embedding
