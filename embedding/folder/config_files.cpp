#include "embedding/folder/config_files.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "embedding/folder/refusals.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using std::filesystem::path;

namespace {

bool is_stanford(const std::optional<Json>& config) {
  if (!config) return false;
  const auto* const found = core::find_member(*config, "architectures");
  if (found == nullptr || !found->is_array()) return false;
  return std::ranges::any_of(*found, [](const Json& name) { return name == "HF_ColBERT"; });
}

}  // namespace

Result<std::optional<Json>> read_object(const ModelFiles& files, const path& file, const core::JsonLimits& limits) {
  LB_ASSIGN_OR_RETURN(auto document, files.read_json(file, limits));
  if (document && !document->is_object()) return invalid_file(file, "an object was expected, found an array");
  return document;
}

Result<ConfigFile> read_config_file(const ModelFiles& files, path file, const core::JsonLimits& limits) {
  LB_ASSIGN_OR_RETURN(auto read, read_object(files, file, limits));
  return ConfigFile{.file = std::move(file), .read = std::move(read)};
}

bool has_model_type(const ConfigFile& own, std::string_view type) {
  const auto* const found = own.read ? core::find_member(*own.read, "model_type") : nullptr;
  return found != nullptr && *found == type;
}

std::string_view network_class(const Json& config) {
  const auto* const found = core::find_member(config, "architectures");
  if (found == nullptr || !found->is_array() || found->empty() || !found->front().is_string()) return {};
  return found->front().text();
}

bool is_colbert(const Json& own) {
  const auto* const type = core::find_member(own, "model_type");
  return type != nullptr && *type == "ColBERT";
}

bool has_pylate_keys(const Json& own) {
  constexpr std::array kKeys{
      "query_length",          "document_length", "query_expansion", "do_query_expansion", "attend_to_expansion_tokens",
      "attend_to_mask_tokens", "query_prefix",    "document_prefix", "skiplist_words"};
  return std::ranges::any_of(kKeys, [&](const char* key) { return own.contains(key); });
}

bool has_multi_vectors(const ConfigFile& own, bool listed, const std::optional<Json>& config) {
  if (!listed || !own.read) return is_stanford(config);
  if (core::find_member(*own.read, "model_type") == nullptr) return is_stanford(config) || has_pylate_keys(*own.read);
  return has_model_type(own, "MultiVectorEncoder") || has_model_type(own, "ColBERT");
}

}  // namespace latebind::embedding
