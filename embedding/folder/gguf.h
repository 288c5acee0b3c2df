// GGUF: where a file of llama.cpp's weights says that it comes from. Nothing else of it is read: Latebind takes the
// safetensors that such a file was made from.
//
// Source of the format: the GGUF specification of ggml, versions 1 to 3. A pure function, for any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "core/status.h"

namespace latebind::embedding {

struct GgufOrigin {
  std::string repository{};  // "org/name" on the hub, or the address of something else; empty: it says nothing
  bool is_on_hub = false;
  std::string key{};   // that says so
  std::string name{};  // what it calls the model; may be empty
};

// The texts are those of the file, as they are. Nothing where the bytes are no GGUF; of a damaged file, what comes
// before the damage. Time and memory are bounded by the bytes, whatever they claim.
[[nodiscard]] std::optional<GgufOrigin> read_gguf_origin(std::span<const std::byte> bytes);

// kUnsupported, with where the safetensors are, or what to look for.
[[nodiscard]] core::Status refuse_gguf(const std::filesystem::path& file, const GgufOrigin& origin);

}  // namespace latebind::embedding
