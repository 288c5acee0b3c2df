// The manifest of bulk work: what an unfinished output is made of and by what. docs/bulk.md has its format, which
// python/latebind/bulk/_manifest.py writes, too. Stateless; any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/json_text.h"
#include "core/attestation.h"
#include "core/platform/files/file_identity.h"
#include "core/result.h"

namespace latebind::app {

inline constexpr int kManifestFormat = 1;
inline constexpr std::size_t kManifestBytesMax = std::size_t{16} << 20;

// A file of input, as it was when it was opened first.
struct ManifestInput {
  std::string name;  // as it was given
  std::filesystem::path file;
  platform::FileIdentity identity{};
};

// "inputs" of a manifest as it is written: name, bytes, lines and SHA-256 of each file, which is read for that. kIo for
// one that is not what it was.
[[nodiscard]] core::Result<Json> describe_inputs(const std::vector<ManifestInput>& inputs);
// kIo for the first input that is not what it was.
[[nodiscard]] core::Status check_unchanged(const std::vector<ManifestInput>& inputs);

// "answers" of a manifest: the model's digest, and what computes vectors.
[[nodiscard]] Json describe_answers(const std::string& model_digest, const core::ActiveConfig& active,
                                    std::size_t dimension);

// What is read of this after it was written: bytes that are no UTF-8, such as those of a file's name, are U+FFFD then.
[[nodiscard]] Json as_written(const Json& json);

// kInvalidArgument for text that is no manifest of this format; `name` is for messages.
[[nodiscard]] core::Result<Json> parse_manifest(const std::string& text, const std::string& name);

inline constexpr std::size_t kDifferencesShownMax = 8;

// What differs between two manifests, however much that is.
struct Differences {
  std::vector<std::string> shown{};  // such as "settings.normalize was false, now true", each one printable line
  std::size_t more = 0;              // beside those
};

// Nothing is shown when nothing differs. `now` is this run's, and small.
[[nodiscard]] Differences differences(const Json& was, const Json& now);

}  // namespace latebind::app
