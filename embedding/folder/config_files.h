// The configurations of a sentence-transformers model: JSON files, each of which may be missing.
//
// Source of the layout: sentence-transformers and transformers. Values; safe for concurrent use.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "core/json.h"
#include "core/json_text.h"
#include "core/result.h"
#include "embedding/folder/model_files.h"

namespace latebind::embedding {

// A file as it was read, and its path for messages; `read` is empty where there is no such file.
struct ConfigFile {
  std::filesystem::path file{};
  std::optional<nlohmann::json> read = std::nullopt;
};

// Reads the object in a file. kInvalidModel for JSON that is not an object.
[[nodiscard]] core::Result<ConfigFile> read_config_file(const ModelFiles& files, std::filesystem::path file,
                                                        const core::JsonLimits& limits = {});
// The same without the path; empty where there is no such file.
[[nodiscard]] core::Result<std::optional<nlohmann::json>> read_object(const ModelFiles& files,
                                                                      const std::filesystem::path& file,
                                                                      const core::JsonLimits& limits = {});

// Whether config_sentence_transformers.json (`own`) has this "model_type".
[[nodiscard]] bool has_model_type(const ConfigFile& own, std::string_view type);

// The class of the network: the first of "architectures" in config.json; empty where there is none.
[[nodiscard]] std::string_view network_class(const nlohmann::json& config);

// Whether config_sentence_transformers.json (`own`) is PyLate's by its class, or has one of the keys that only PyLate
// writes.
[[nodiscard]] bool is_colbert(const nlohmann::json& own);
[[nodiscard]] bool has_pylate_keys(const nlohmann::json& own);
// Whether these are the files of a multi-vector encoder, in any of the forms that are known. `config` is config.json;
// `listed` says whether there is a modules.json.
[[nodiscard]] bool has_multi_vectors(const ConfigFile& own, bool listed, const std::optional<nlohmann::json>& config);

// Where Stanford's ColBERT has what is not in its config.json.
inline constexpr std::string_view kColbertFile = "artifact.metadata";

}  // namespace latebind::embedding
