// The origin that a GGUF file declares: the safetensors from which it was converted. It is for messages about files
// that are not supported.
//
// Source of the format: the GGUF specification of ggml, versions 1 to 3. Pure functions; any thread may call them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "core/status.h"

namespace latebind::embedding {

struct GgufOrigin {
  std::string repository{};  // "org/name" on the hub, or another address; empty if undeclared
  bool is_on_hub = false;
  std::string key{};   // the key that declares it
  std::string name{};  // the model's name in the file; may be empty
};

// Reads the origin; its texts are copied unchanged. Returns std::nullopt if the bytes are not GGUF. From a damaged file
// it returns what precedes the damage. Time and memory are bounded by the size of `bytes`, whatever sizes they claim.
[[nodiscard]] std::optional<GgufOrigin> read_gguf_origin(std::span<const std::byte> bytes);

// Returns the end of a message: the location of the safetensors, or what to look for.
[[nodiscard]] std::string say_gguf_origin(const GgufOrigin& origin);
// Returns kUnsupported: the files beside `file` need weights in another format.
[[nodiscard]] core::Status refuse_gguf(const std::filesystem::path& file, const GgufOrigin& origin);

}  // namespace latebind::embedding
