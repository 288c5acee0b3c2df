// What a model gives for texts, by its files.
//
// Source: the classes of sentence-transformers. Pure functions of the files, for any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "core/json.h"
#include "core/result.h"

namespace latebind::embedding {

enum class EncoderKind : std::uint8_t {
  kEmbedder,            // a vector for each text
  kCrossEncoder,        // scores for two texts together
  kSparseEncoder,       // weights for the entries of the vocabulary
  kMultiVectorEncoder,  // a vector for each token
};

// A file as it was read, or nothing where there is none, and its place for messages.
struct ConfigFile {
  std::filesystem::path file{};
  std::optional<nlohmann::json> read = std::nullopt;
};

// The class of the network that config.json is of: the first of "architectures"; empty where there is none.
[[nodiscard]] std::string_view network_class(const nlohmann::json& config);

// PyLate's class, or one of the keys that only PyLate writes into config_sentence_transformers.json.
[[nodiscard]] bool is_colbert(const nlohmann::json& own);
[[nodiscard]] bool has_pylate_keys(const nlohmann::json& own);
// Whether these are files of a multi-vector encoder, in any of the forms that are known. `config`: config.json.
[[nodiscard]] bool has_multi_vectors(const ConfigFile& own, bool listed, const std::optional<nlohmann::json>& config);

// By config_sentence_transformers.json (`own`) where there is a modules.json (`listed`), else by the class that
// config.json names. kUnsupported for models of other kinds, by their names.
[[nodiscard]] core::Result<EncoderKind> read_encoder_kind(const ConfigFile& own, bool listed,
                                                          const std::optional<nlohmann::json>& config);

// The file in which Stanford's ColBERT has what is not in config.json.
inline constexpr std::string_view kColbertFile = "artifact.metadata";

// The refusal of a model of another kind than what is wanted, with the command for it, and what a program opens it as:
// the classes have the same names in C++ and Python.
[[nodiscard]] core::Status wrong_kind(std::string_view model, EncoderKind kind);

// The refusal of texts of which nothing is said, by a model that has to know whether they are queries or documents.
[[nodiscard]] core::Status role_is_missing(std::string_view model);

}  // namespace latebind::embedding
