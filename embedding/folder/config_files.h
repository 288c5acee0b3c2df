// The configurations of a sentence-transformers model: JSON files, each of them optional.
//
// Source of the layout: sentence-transformers and transformers. Values and pure functions; safe for concurrent use.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "core/json/read.h"
#include "core/json/value.h"
#include "core/result.h"
#include "embedding/folder/model_files.h"

namespace latebind::embedding {

// A parsed file, and its path for messages. `read` is std::nullopt if the file does not exist.
struct ConfigFile {
  std::filesystem::path file{};
  std::optional<core::Json> read = std::nullopt;
};

// Reads the object in a file. Returns kInvalidModel for JSON that is not an object, and the errors of
// ModelFiles::read_json().
[[nodiscard]] core::Result<ConfigFile> read_config_file(const ModelFiles& files, std::filesystem::path file,
                                                        const core::JsonLimits& limits = {});
// The same without the path; std::nullopt if the file does not exist.
[[nodiscard]] core::Result<std::optional<core::Json>> read_object(const ModelFiles& files,
                                                                  const std::filesystem::path& file,
                                                                  const core::JsonLimits& limits = {});

// Returns whether config_sentence_transformers.json (`own`) has this "model_type".
[[nodiscard]] bool has_model_type(const ConfigFile& own, std::string_view type);

// Returns the class of the network: the first of "architectures" in config.json; empty if it has no such entry.
[[nodiscard]] std::string_view network_class(const core::Json& config);

// Returns whether config_sentence_transformers.json (`own`) is PyLate's by its class, or has one of the keys that only
// PyLate writes.
[[nodiscard]] bool is_colbert(const core::Json& own);
[[nodiscard]] bool has_pylate_keys(const core::Json& own);
// Returns whether these are the files of a multi-vector encoder, in any known form. `config` is config.json; `listed`
// says whether the folder has a modules.json.
[[nodiscard]] bool has_multi_vectors(const ConfigFile& own, bool listed, const std::optional<core::Json>& config);

// The file of Stanford's ColBERT with the settings that are not in its config.json.
inline constexpr std::string_view kColbertFile = "artifact.metadata";

}  // namespace latebind::embedding
