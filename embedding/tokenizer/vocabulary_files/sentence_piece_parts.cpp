#include "embedding/tokenizer/vocabulary_files/sentence_piece_parts.h"

#include <utility>

#include "embedding/tokenizer/vocabulary_files/json_parts.h"

namespace latebind::embedding {

using core::Json;

Json sentence_piece_normalizer(Json map, const SentencePieceOptions& options) {
  if (!options.is_albert) return map;
  Json parts = Json::array();
  for (const char* quotes : {"``", "''"})
    parts.push_back({{"type", "Replace"}, {"pattern", {{"String", quotes}}}, {"content", "\""}});
  if (!options.keep_accents) {
    parts.push_back({{"type", "NFKD"}});
    parts.push_back({{"type", "StripAccents"}});
  }
  if (options.do_lower_case) parts.push_back({{"type", "Lowercase"}});
  if (!map.is_null()) parts.push_back(std::move(map));
  return {{"type", "Sequence"}, {"normalizers", std::move(parts)}};
}

Json sentence_piece_decoder(const SentencePieceOptions& options) {
  return {{"type", "Metaspace"},
          {"replacement", "▁"},
          {"prepend_scheme", options.add_prefix_space ? "always" : "never"},
          {"split", true}};
}

Json sentence_piece_pre_tokenizer(const SentencePieceOptions& options) {
  return {{"type", "Sequence"},
          {"pretokenizers", Json::array({{{"type", "WhitespaceSplit"}}, sentence_piece_decoder(options)})}};
}

Json character_map_of(const Json& normalizer) {
  const auto is_map = [](const Json& part) {
    if (!part.is_object() || !part.contains("precompiled_charsmap")) return false;
    const auto type = part.find("type");
    return type != nullptr && *type == "Precompiled";
  };
  if (is_map(normalizer)) return normalizer;
  if (!normalizer.is_object()) return nullptr;
  const auto list = normalizer.find("normalizers");
  if (list == nullptr || !list->is_array()) return nullptr;
  for (const Json& part : *list) {
    if (is_map(part)) return part;
  }
  return nullptr;
}

void make_llama_parts(const Json* tokenizer_config, Json& root) {
  const bool has_prefix_space = flag_in(tokenizer_config, "add_prefix_space", true);
  const bool is_legacy = flag_in(tokenizer_config, "legacy", false);
  root["normalizer"] = nullptr;
  root["pre_tokenizer"] = {{"type", "Metaspace"},
                           {"replacement", "▁"},
                           {"prepend_scheme", !has_prefix_space ? "never"
                                              : is_legacy       ? "always"
                                                                : "first"},
                           {"split", false}};
  const auto model = root.find("model");
  if (model == nullptr || !model->is_object()) return;
  for (const char* key : {"unk_token", "dropout", "continuing_subword_prefix", "end_of_word_suffix"})
    (*model)[key] = nullptr;
  for (const char* key : {"fuse_unk", "byte_fallback"})
    (*model)[key] = true;
  (*model)["ignore_merges"] = false;
}

}  // namespace latebind::embedding
