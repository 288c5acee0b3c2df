// The manifest of a bulk run: which inputs and which model an unfinished output was made from. docs/bulk.md describes
// the format, which python/latebind/bulk/_manifest.py also writes.
//
// All functions are stateless and safe to call from any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/json_text.h"
#include "core/placement/attestation.h"
#include "core/platform/files/file_identity.h"
#include "core/result.h"

namespace latebind::app {

inline constexpr int kManifestFormat = 1;
inline constexpr std::size_t kManifestBytesMax = std::size_t{16} << 20;

// An input file, as it was when it was first opened.
struct ManifestInput {
  std::string name;  // as the user gave it
  std::filesystem::path file;
  platform::FileIdentity identity{};
};

// Reads each file and returns the "inputs" member of a manifest, as_written(): name, bytes, lines and SHA-256. Returns
// kIo if a file has changed since it was opened.
[[nodiscard]] core::Result<Json> describe_inputs(const std::vector<ManifestInput>& inputs);
// Returns kIo for the first input that has changed since it was opened.
[[nodiscard]] core::Status check_unchanged(const std::vector<ManifestInput>& inputs);

// Returns the "answers" member of a manifest: the model's digest and what computes the vectors.
[[nodiscard]] Json describe_answers(const std::string& model_digest, const core::ActiveConfig& active,
                                    std::size_t dimension);

// Returns what a reader finds after `json` was written: bytes that are not UTF-8, such as those of a file name, are
// U+FFFD.
[[nodiscard]] Json as_written(const Json& json);

// Returns kInvalidArgument if `text` is not a manifest of this format. `name` stands for the file in messages.
[[nodiscard]] core::Result<Json> parse_manifest(const std::string& text, const std::string& name);

// The limit for what differences() returns.
inline constexpr std::size_t kDifferencesMax = 1000;

// A value that differs, as JSON; std::nullopt if it is missing. Each text is one printable line of limited length.
struct Difference {
  std::string place;  // "settings.normalize", "inputs[0].sha256"
  std::optional<std::string> was;
  std::optional<std::string> now;
};
// `now` is the manifest of this run, and small; `was` may be anything that parse_manifest() accepts.
[[nodiscard]] std::vector<Difference> differences(const Json& was, const Json& now);

}  // namespace latebind::app
