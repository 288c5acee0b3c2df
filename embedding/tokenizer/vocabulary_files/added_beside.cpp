#include "embedding/tokenizer/vocabulary_files/added_beside.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/json/read.h"
#include "core/text/quote.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Status;
using core::StatusCode;

constexpr std::string_view kDecoder = "added_tokens_decoder";
constexpr std::string_view kExtra = "extra_special_tokens";
constexpr std::string_view kAdditional = "additional_special_tokens";

bool has_none(const Json& value) {
  return value.is_null() || (value.is_structured() && value.empty());
}

const Json* entry_of(const std::optional<Json>& object, std::string_view key) {
  if (!object || !object->is_object()) return nullptr;
  return object->find(key);
}

// Walks over the tokens that the files name, and stops at the first one that tokenizer.json does not add.
class Walk {
 public:
  explicit Walk(const Json& root) {
    const auto* const list = core::find_member(root, "added_tokens");
    if (list == nullptr || !list->is_array()) return;
    for (const Json& token : *list) {
      if (const std::string* const text = token_text(token)) known_.insert(*text);
    }
  }

  [[nodiscard]] Status one(std::string_view file, std::string_view key, const Json& value) const {
    const std::string* const text = token_text(value);
    return text == nullptr ? Status() : one(file, key, *text);
  }
  // Empty tokens are never added.
  [[nodiscard]] Status one(std::string_view file, std::string_view key, const std::string& text) const {
    if (text.empty() || known_.contains(text)) return {};
    return {
        StatusCode::kUnsupported,
        fmt::format("{}: {} names {}, which is not an added token of tokenizer.json: add it there, or remove it here",
                    file, core::quoted(key), core::quoted(text))};
  }
  [[nodiscard]] Status all(std::string_view file, std::string_view key, const Json& values) const {
    if (!values.is_structured()) return {};
    for (const Json& value : values)
      LB_RETURN_IF_ERROR(one(file, key, value));
    for (const auto& [name, value] : values.members())
      LB_RETURN_IF_ERROR(one(file, key, value));
    return {};
  }
  [[nodiscard]] bool has(std::string_view token) const { return known_.contains(token); }
  // Tokens by their roles, including roles that a model defines.
  [[nodiscard]] Status roles(std::string_view file, const std::optional<Json>& object,
                             const std::optional<Json>& before) const {
    if (!object || !object->is_object()) return {};
    for (const auto& [key, value] : object->members()) {
      if (key.ends_with("_token") && entry_of(before, key) == nullptr) LB_RETURN_IF_ERROR(one(file, key, value));
    }
    return {};
  }

 private:
  std::set<std::string, std::less<>> known_;
};

}  // namespace

const std::string* token_text(const Json& value) {
  if (value.is_string()) return &value.text();
  if (!value.is_object()) return nullptr;
  const auto* const content = core::find_member(value, "content");
  return content == nullptr || !content->is_string() ? nullptr : &content->text();
}

TokenByRole token_by_role(const BesideTokenizerJson& beside, std::string_view key, std::string_view otherwise) {
  const Json* found = nullptr;
  std::string_view file = kTokenizerConfigFile;
  if (entry_of(beside.tokenizer_config, kDecoder) == nullptr) {
    found = entry_of(beside.special_tokens_map, key);
    if (found != nullptr) file = kSpecialTokensFile;
  }
  if (found == nullptr) found = entry_of(beside.tokenizer_config, key);
  if (found == nullptr) return {.text = std::string(otherwise), .file = kTokenizerConfigFile};
  const std::string* const text = token_text(*found);
  return {.text = text == nullptr ? std::nullopt : std::optional(*text), .file = file, .is_said = true};
}

Status check_added_beside(const BesideTokenizerJson& beside, const Json& root) {
  const Walk walk(root);
  const Json* const decoder = entry_of(beside.tokenizer_config, kDecoder);
  const bool has_companions = decoder == nullptr;
  const std::optional<Json> none;
  const std::optional<Json>& map = has_companions ? beside.special_tokens_map : none;

  LB_RETURN_IF_ERROR(walk.roles(kSpecialTokensFile, map, none));
  LB_RETURN_IF_ERROR(walk.roles(kTokenizerConfigFile, beside.tokenizer_config, map));
  const Json* const extra = entry_of(beside.tokenizer_config, kExtra);
  const Json* const additional = entry_of(beside.tokenizer_config, kAdditional);
  if (extra != nullptr) LB_RETURN_IF_ERROR(walk.all(kTokenizerConfigFile, kExtra, *extra));
  if (additional != nullptr && (extra == nullptr || has_none(*extra))) {
    LB_RETURN_IF_ERROR(walk.all(kTokenizerConfigFile, kAdditional, *additional));
  }
  if (const Json* const more = entry_of(map, kExtra)) LB_RETURN_IF_ERROR(walk.all(kSpecialTokensFile, kExtra, *more));
  const Json* const more = entry_of(map, kAdditional);
  if (more != nullptr && extra == nullptr && additional == nullptr && entry_of(map, kExtra) == nullptr) {
    LB_RETURN_IF_ERROR(walk.all(kSpecialTokensFile, kAdditional, *more));
  }
  if (decoder != nullptr) return walk.all(kTokenizerConfigFile, kDecoder, *decoder);
  if (!beside.added_tokens || !beside.added_tokens->is_object()) return {};
  for (const auto& [text, id] : beside.added_tokens->members())
    LB_RETURN_IF_ERROR(walk.one(kAddedTokensFile, "its list", text));
  return {};
}

Status check_extra_ids(const Json* tokenizer_config, const Json& root) {
  constexpr std::uint64_t kCount = 100;
  constexpr std::uint64_t kCountMax = 10000;
  const auto* const given = tokenizer_config == nullptr ? nullptr : core::find_member(*tokenizer_config, "extra_ids");
  if (given != nullptr && !given->is_number_unsigned()) {
    return {StatusCode::kInvalidModel, fmt::format("{}: 'extra_ids' is not a number", kTokenizerConfigFile)};
  }
  const Walk walk(root);
  const std::uint64_t count = given == nullptr ? kCount : std::min(given->get<std::uint64_t>(), kCountMax);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string token = fmt::format("<extra_id_{}>", i);
    if (walk.has(token)) continue;
    return {StatusCode::kUnsupported,
            fmt::format(
                "{}: 'extra_ids' {} {}, but {} is not an added token of tokenizer.json; set it to the number of "
                "those tokens, or 'tokenizer_class' to 'PreTrainedTokenizerFast'",
                kTokenizerConfigFile, given == nullptr ? "is missing, which means" : "is", count, core::quoted(token))};
  }
  return {};
}

void take_flags_beside(const BesideTokenizerJson& beside, Json& root) {
  const Json* const decoder = entry_of(beside.tokenizer_config, kDecoder);
  const auto list = root.find("added_tokens");
  if (decoder == nullptr || !decoder->is_object() || list == nullptr || !list->is_array()) return;
  std::map<std::string_view, const Json*> said;
  for (const auto& [id, token] : decoder->members()) {
    if (const std::string* const text = token_text(token); text != nullptr && token.is_object()) said[*text] = &token;
  }
  const auto flag = [](const Json& token, std::string_view key, bool otherwise) {
    const auto* const found = core::find_member(token, key);
    return found != nullptr && found->is_boolean() ? found->get<bool>() : otherwise;
  };
  for (Json& token : *list) {
    const std::string* const text = token.is_object() ? token_text(token) : nullptr;
    const auto found = text == nullptr ? said.end() : said.find(*text);
    if (found == said.end()) continue;
    for (const char* key : {"single_word", "lstrip", "rstrip"})
      token[key] = flag(*found->second, key, false);
    token["normalized"] = flag(*found->second, "normalized", !flag(*found->second, "special", false));
  }
}

}  // namespace latebind::embedding
