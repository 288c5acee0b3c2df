#include "embedding/tokenizer/vocabulary_files/deberta_parts.h"

#include <utility>

#include "embedding/tokenizer/vocabulary_files/json_parts.h"

namespace latebind::embedding {

using core::Json;

void make_deberta_parts(const Json* tokenizer_config, Json& root) {
  Json normalizers = Json::array();
  if (flag_in(tokenizer_config, "do_lower_case", false)) normalizers.push_back({{"type", "Lowercase"}});
  normalizers.push_back({{"type", "Replace"}, {"pattern", {{"Regex", R"(\s{2,}|[\n\r\t])"}}}, {"content", " "}});
  normalizers.push_back({{"type", "NFC"}});
  normalizers.push_back({{"type", "Strip"}, {"strip_left", false}, {"strip_right", true}});
  // A null value means false.
  const bool is_said =
      tokenizer_config != nullptr && tokenizer_config->is_object() && tokenizer_config->contains("add_prefix_space");
  const bool adds_space = flag_in(tokenizer_config, "add_prefix_space", !is_said);
  Json spaces = {{"type", "Metaspace"},
                 {"replacement", "▁"},
                 {"prepend_scheme", adds_space ? "always" : "first"},
                 {"split", true}};
  root["decoder"] = spaces;
  Json pre_tokenizers = Json::array();
  if (flag_in(tokenizer_config, "split_by_punct", false))
    pre_tokenizers.push_back({{"type", "Punctuation"}, {"behavior", "Isolated"}});
  pre_tokenizers.push_back(std::move(spaces));
  root["normalizer"] = {{"type", "Sequence"}, {"normalizers", std::move(normalizers)}};
  root["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", std::move(pre_tokenizers)}};
}

std::size_t deberta_unknown(const ModelLists& lists, std::string_view unknown, const Json* tokenizer_config) {
  for (std::size_t i = 0; lists.scores && i < lists.vocabulary.size(); ++i) {
    const auto [id, text] = lists.vocabulary.at(i);
    const auto place = static_cast<std::size_t>(id);
    if (text == unknown && place < lists.scores->size() && (*lists.scores)[place] == 0) return place;
  }
  const Json* const said = member(tokenizer_config, "unk_id");
  return said != nullptr && said->is_number_unsigned() ? said->get<std::size_t>() : 1;
}

}  // namespace latebind::embedding
