#include "embedding/folder/gguf/tokenizer_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json/value.h"
#include "core/text/base64.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"
#include "embedding/folder/gguf/pre_tokenizers.h"
#include "embedding/folder/gguf/scored_merges.h"
#include "embedding/tokenizer/vocabulary.h"
#include "embedding/tokenizer/vocabulary_files/sentence_piece_parts.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::string_view kWordBegin = "▁";
// llama.cpp's numbers of the token types that are used here.
constexpr std::uint64_t kGgufNormal = 1;
constexpr std::uint64_t kGgufUnknown = 2;
constexpr std::uint64_t kGgufControl = 3;
constexpr std::uint64_t kGgufUserDefined = 4;

class TokenizerMaker {
 public:
  TokenizerMaker(const GgufHeader& header, bool is_decoder) : header_(header), is_decoder_(is_decoder) {}

  Result<std::string> make() {
    LB_RETURN_IF_ERROR(read_tokens());
    LB_ASSIGN_OR_RETURN(const auto kind, header_.text("tokenizer.ggml.model"));
    if (!kind) return missing("tokenizer.ggml.model");
    root_["version"] = "1.0";
    LB_RETURN_IF_ERROR(*kind == "bert"    ? make_word_pieces()
                       : *kind == "llama" ? make_scored_bpe()
                       : *kind == "gpt2"  ? make_byte_bpe()
                       : *kind == "t5"    ? make_unigram()
                                          : unknown_kind(*kind));
    add_special_tokens();
    LB_RETURN_IF_ERROR(add_template(*kind == "bert"));
    std::string text = root_.dump();
    text.pop_back();
    return text + ",\"model\":" + model_ + "}";
  }

 private:
  [[nodiscard]] Status missing(std::string_view key) const {
    return {StatusCode::kInvalidModel, fmt::format("{}: no key '{}'", header_.name(), key)};
  }
  [[nodiscard]] Status invalid(std::string_view what) const {
    return {StatusCode::kInvalidModel, fmt::format("{}: {}", header_.name(), what)};
  }
  [[nodiscard]] Status unknown_kind(std::string_view kind) const {
    constexpr std::array<std::string_view, 4> kGgufTokenizers{"bert", "gpt2", "llama", "t5"};
    return {StatusCode::kUnsupported, fmt::format("{}: 'tokenizer.ggml.model' is {}{}", header_.name(),
                                                  core::quoted(kind), core::supported_instead(kind, kGgufTokenizers))};
  }
  Status read_tokens();
  Status need_scores() const { return scores_.empty() ? missing("tokenizer.ggml.scores") : Status(); }
  Status make_word_pieces();
  Status make_scored_bpe();
  Status make_byte_bpe();
  Status make_unigram();
  void add_special_tokens();
  Status add_template(bool is_word_pieces);
  // Returns the id of the first key that the file contains, or std::nullopt if it contains no such key.
  Result<std::optional<std::size_t>> id_in(std::initializer_list<std::string_view> keys) const;
  Result<bool> flag(std::string_view key, bool otherwise) const {
    LB_ASSIGN_OR_RETURN(const auto given, header_.flag(key));
    return given.value_or(otherwise);
  }
  [[nodiscard]] std::string vocabulary(const std::vector<std::string>& tokens) const;
  [[nodiscard]] std::size_t find_unknown() const {
    return static_cast<std::size_t>(std::ranges::find(types_, kGgufUnknown) - types_.begin());
  }

  const GgufHeader& header_;
  const bool is_decoder_;
  std::vector<std::string> tokens_;  // as the tokenizer's vocabulary has them
  std::vector<std::uint64_t> types_;
  std::vector<float> scores_;
  bool adds_bos_ = true;
  bool adds_eos_ = true;
  bool mask_takes_space_ = false;
  Json root_ = Json::object();
  std::string model_;
};

std::string quoted_json(std::string_view text) {
  return Json(text).dump();
}

Status TokenizerMaker::read_tokens() {
  LB_ASSIGN_OR_RETURN(const auto tokens, header_.texts("tokenizer.ggml.tokens"));
  if (!tokens || tokens->empty()) return missing("tokenizer.ggml.tokens");
  if (tokens->size() > Vocabulary::kTokensMax) return invalid(fmt::format("{} tokens", tokens->size()));
  for (const std::string_view token : *tokens) {
    if (core::find_invalid_utf8(token)) {
      return invalid(fmt::format("token {} of 'tokenizer.ggml.tokens' is not UTF-8", tokens_.size()));
    }
    tokens_.emplace_back(token);
  }
  LB_ASSIGN_OR_RETURN(auto types, header_.wholes("tokenizer.ggml.token_type"));
  types_ = types ? *std::move(types) : std::vector<std::uint64_t>(tokens_.size(), kGgufNormal);
  LB_ASSIGN_OR_RETURN(auto scores, header_.numbers("tokenizer.ggml.scores"));
  if (scores) scores_ = *std::move(scores);
  for (const auto& [key, size] : {std::pair("token_type", types_.size()), {"scores", scores_.size()}}) {
    if (size == tokens_.size() || size == 0) continue;
    return invalid(fmt::format("'tokenizer.ggml.{}' has {} elements for {} tokens", key, size, tokens_.size()));
  }
  if (types_.empty()) types_.resize(tokens_.size(), kGgufNormal);
  const bool are_finite = std::ranges::all_of(scores_, [](float score) { return std::isfinite(score); });
  return are_finite ? Status() : invalid("'tokenizer.ggml.scores' has numbers that are not finite");
}

std::string TokenizerMaker::vocabulary(const std::vector<std::string>& tokens) const {
  std::string text = "{";
  for (std::size_t id = 0; id < tokens.size(); ++id)
    text += fmt::format("{}{}:{}", id == 0 ? "" : ",", quoted_json(tokens[id]), id);
  return text + "}";
}

// In the file, pieces that begin a word start with a space mark, and other pieces continue a word. Special tokens are
// unmarked.
Status TokenizerMaker::make_word_pieces() {
  bool has_capitals = false;
  for (std::size_t id = 0; id < tokens_.size(); ++id) {
    std::string& token = tokens_[id];
    if (types_[id] == kGgufControl || types_[id] == kGgufUnknown) continue;
    const bool is_named = token.size() > 2 && token.starts_with('[') && token.ends_with(']');
    if (token.starts_with(kWordBegin)) {
      token.erase(0, kWordBegin.size());
    } else if (!is_named) {
      token.insert(0, "##");
    }
    const bool has_brackets = token.starts_with('[') && token.ends_with(']');
    has_capitals =
        has_capitals || (!has_brackets && std::ranges::any_of(token, [](char c) { return c >= 'A' && c <= 'Z'; }));
  }
  LB_ASSIGN_OR_RETURN(const bool lowers, flag("tokenizer.ggml.normalizer.lowercase", !has_capitals));
  LB_ASSIGN_OR_RETURN(const bool strips, flag("tokenizer.ggml.normalizer.strip_accents", lowers));
  root_["normalizer"] = {{"type", "BertNormalizer"},
                         {"clean_text", true},
                         {"handle_chinese_chars", true},
                         {"strip_accents", strips},
                         {"lowercase", lowers}};
  root_["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  root_["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  LB_ASSIGN_OR_RETURN(const auto unknown, id_in({"tokenizer.ggml.unknown_token_id"}));
  const std::string unknown_token = unknown ? tokens_[*unknown] : "[UNK]";
  model_ = fmt::format(
      R"({{"type":"WordPiece","unk_token":{},"continuing_subword_prefix":"##","max_input_chars_per_word":100,"vocab":{}}})",
      quoted_json(unknown_token), vocabulary(tokens_));
  return {};
}

Status TokenizerMaker::make_scored_bpe() {
  LB_RETURN_IF_ERROR(need_scores());
  LB_ASSIGN_OR_RETURN(const bool has_prefix, flag("tokenizer.ggml.add_space_prefix", true));
  Json parts = Json::array();
  if (has_prefix) parts.push_back({{"type", "Prepend"}, {"prepend", kWordBegin}});
  parts.push_back({{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", kWordBegin}});
  root_["normalizer"] = {{"type", "Sequence"}, {"normalizers", std::move(parts)}};
  Json decoders = Json::array();
  decoders.push_back({{"type", "Replace"}, {"pattern", {{"String", kWordBegin}}}, {"content", " "}});
  decoders.push_back({{"type", "ByteFallback"}});
  decoders.push_back({{"type", "Fuse"}});
  if (has_prefix) decoders.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  root_["decoder"] = {{"type", "Sequence"}, {"decoders", std::move(decoders)}};
  const std::vector<std::string_view> pieces(tokens_.begin(), tokens_.end());
  std::string merges;
  for (const auto& [first, second] : scored_merges(pieces, scores_))
    merges += fmt::format("{}[{},{}]", merges.empty() ? "" : ",", quoted_json(first), quoted_json(second));
  const std::size_t unknown = find_unknown();
  model_ = fmt::format(
      R"({{"type":"BPE","dropout":null,"unk_token":{},"continuing_subword_prefix":null,"end_of_word_suffix":null,"fuse_unk":true,"byte_fallback":true,"ignore_merges":false,"vocab":{},"merges":[{}]}})",
      unknown < tokens_.size() ? quoted_json(tokens_[unknown]) : "null", vocabulary(tokens_), merges);
  adds_eos_ = false;
  return {};
}

Status TokenizerMaker::make_byte_bpe() {
  LB_ASSIGN_OR_RETURN(const auto name, header_.text("tokenizer.ggml.pre"));
  if (!name) return missing("tokenizer.ggml.pre");
  const GgufPreTokenizer* const known = find_gguf_pre_tokenizer(*name);
  if (known == nullptr) {
    return {StatusCode::kUnsupported,
            fmt::format("{}: 'tokenizer.ggml.pre' is {}{}", header_.name(), core::quoted(*name),
                        core::supported_instead(*name, gguf_pre_tokenizer_names()))};
  }
  LB_ASSIGN_OR_RETURN(const bool has_prefix, flag("tokenizer.ggml.add_space_prefix", false));
  if (known->is_composed) root_["normalizer"] = {{"type", "NFC"}};
  Json parts = Json::array();
  for (const std::string_view pattern : known->patterns) {
    if (pattern.empty()) break;
    parts.push_back(
        {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}});
  }
  const Json bytes = {
      {"type", "ByteLevel"}, {"add_prefix_space", has_prefix}, {"trim_offsets", true}, {"use_regex", false}};
  parts.push_back(bytes);
  root_["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", std::move(parts)}};
  root_["decoder"] = {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}, {"use_regex", true}};
  LB_ASSIGN_OR_RETURN(const auto listed, header_.texts("tokenizer.ggml.merges"));
  if (!listed) return missing("tokenizer.ggml.merges");
  std::string merges;
  for (const std::string_view merge : *listed) {
    if (core::find_invalid_utf8(merge)) return invalid("'tokenizer.ggml.merges' is not UTF-8");
    merges += (merges.empty() ? "" : ",") + quoted_json(merge);
  }
  model_ = fmt::format(
      R"({{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,"end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,"ignore_merges":{},"vocab":{},"merges":[{}]}})",
      known->takes_whole_pieces, vocabulary(tokens_), merges);
  if (is_decoder_) adds_bos_ = known->adds_bos;
  if (is_decoder_) adds_eos_ = false;
  mask_takes_space_ = !is_decoder_;
  return {};
}

Status TokenizerMaker::make_unigram() {
  LB_RETURN_IF_ERROR(need_scores());
  LB_ASSIGN_OR_RETURN(const bool has_prefix, flag("tokenizer.ggml.add_space_prefix", true));
  LB_ASSIGN_OR_RETURN(const auto map, header_.bytes("tokenizer.ggml.precompiled_charsmap"));
  if (map && !map->empty()) {
    std::string base64;
    core::append_base64(base64, *map);
    root_["normalizer"] = {{"type", "Precompiled"}, {"precompiled_charsmap", std::move(base64)}};
  }
  root_["pre_tokenizer"] = sentence_piece_pre_tokenizer({.add_prefix_space = has_prefix});
  root_["decoder"] = sentence_piece_decoder({.add_prefix_space = has_prefix});
  // Only the scores of normal tokens are meaningful. Unknown characters get the lowest score.
  float lowest = 0;
  for (std::size_t id = 0; id < tokens_.size(); ++id)
    if (types_[id] == kGgufNormal) lowest = std::min(lowest, scores_[id]);
  std::string pieces;
  for (std::size_t id = 0; id < tokens_.size(); ++id) {
    const bool is_special = types_[id] == kGgufControl || types_[id] == kGgufUnknown || types_[id] == kGgufUserDefined;
    const float score = types_[id] == kGgufNormal ? scores_[id] : is_special ? 0.0F : lowest;
    pieces += fmt::format("{}[{},{}]", id == 0 ? "" : ",", quoted_json(tokens_[id]), score);
  }
  const std::size_t unknown = find_unknown();
  if (unknown == tokens_.size()) return invalid("no token has the type of the unknown one");
  model_ = fmt::format(R"({{"type":"Unigram","unk_id":{},"vocab":[{}],"byte_fallback":false}})", unknown, pieces);
  mask_takes_space_ = true;
  return {};
}

void TokenizerMaker::add_special_tokens() {
  Json list = Json::array();
  for (std::size_t id = 0; id < tokens_.size(); ++id) {
    const bool is_special = types_[id] == kGgufControl || types_[id] == kGgufUnknown;
    if ((!is_special && types_[id] != kGgufUserDefined) || tokens_[id].empty()) continue;
    list.push_back({{"id", id},
                    {"content", tokens_[id]},
                    {"single_word", false},
                    {"lstrip", mask_takes_space_ && tokens_[id] == "<mask>"},
                    {"rstrip", false},
                    {"normalized", false},
                    {"special", is_special}});
  }
  root_["added_tokens"] = std::move(list);
}

Result<std::optional<std::size_t>> TokenizerMaker::id_in(std::initializer_list<std::string_view> keys) const {
  for (const std::string_view key : keys) {
    LB_ASSIGN_OR_RETURN(const auto given, header_.whole(key));
    // Files have 2^32 - 1 for an absent token.
    if (!given || *given == std::numeric_limits<std::uint32_t>::max()) continue;
    if (*given >= tokens_.size())
      return invalid(fmt::format("'{}' is {}, and there are {} tokens", key, *given, tokens_.size()));
    return std::optional(static_cast<std::size_t>(*given));
  }
  return std::optional<std::size_t>();
}

Status TokenizerMaker::add_template(bool is_word_pieces) {
  if (!is_word_pieces) {
    LB_ASSIGN_OR_RETURN(adds_bos_, flag("tokenizer.ggml.add_bos_token", adds_bos_));
    LB_ASSIGN_OR_RETURN(adds_eos_, flag("tokenizer.ggml.add_eos_token", adds_eos_));
  }
  using Id = std::optional<std::size_t>;
  Id first;
  Id last;
  // In each list, the first key is that of older files.
  if (adds_bos_) {
    LB_ASSIGN_OR_RETURN(first, is_word_pieces ? id_in({"tokenizer.ggml.cls_token_id", "tokenizer.ggml.bos_token_id"})
                                              : id_in({"tokenizer.ggml.bos_token_id"}));
  }
  if (adds_eos_) {
    LB_ASSIGN_OR_RETURN(last, is_word_pieces
                                  ? id_in({"tokenizer.ggml.seperator_token_id", "tokenizer.ggml.eos_token_id"})
                                  : id_in({"tokenizer.ggml.eos_token_id"}));
  }
  for (const auto& [is_wanted, id, text] : {std::tuple(adds_bos_, &first, "[CLS]"), {adds_eos_, &last, "[SEP]"}}) {
    if (!is_wanted || *id) continue;
    const auto found = std::ranges::find(tokens_, text);
    if (!is_word_pieces || found == tokens_.end())
      return missing(is_wanted && id == &first ? "tokenizer.ggml.bos_token_id" : "tokenizer.ggml.eos_token_id");
    *id = static_cast<std::size_t>(found - tokens_.begin());
  }
  if (!first && !last) return {};
  Json special = Json::object();
  const auto token = [&](std::size_t id, int type) {
    special[tokens_[id]] = {{"id", tokens_[id]}, {"ids", Json::array({id})}, {"tokens", Json::array({tokens_[id]})}};
    return Json{{"SpecialToken", {{"id", tokens_[id]}, {"type_id", type}}}};
  };
  Json single = Json::array();
  if (first) single.push_back(token(*first, 0));
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  if (last) single.push_back(token(*last, 0));
  Json pair = single;
  // As in BERT, the second text has token type 1; as in RoBERTa, two separators are between the texts.
  if (!is_word_pieces && last) pair.push_back(token(*last, 0));
  if (!is_word_pieces && !last && first) pair.push_back(token(*first, 0));
  const int type = is_word_pieces ? 1 : 0;
  pair.push_back({{"Sequence", {{"id", "B"}, {"type_id", type}}}});
  if (last) pair.push_back(token(*last, type));
  root_["post_processor"] = {{"type", "TemplateProcessing"},
                             {"single", std::move(single)},
                             {"pair", std::move(pair)},
                             {"special_tokens", std::move(special)}};
  return {};
}

}  // namespace

Result<std::string> gguf_tokenizer_json(const GgufHeader& header, bool is_decoder) {
  return TokenizerMaker(header, is_decoder).make();
}

std::string gguf_tokenizer_config(bool is_decoder) {
  // This class adds no rules to tokenizer.json.
  Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"}};
  if (!is_decoder) config["model_input_names"] = Json::array({"input_ids", "token_type_ids", "attention_mask"});
  return config.dump();
}

}  // namespace latebind::embedding
