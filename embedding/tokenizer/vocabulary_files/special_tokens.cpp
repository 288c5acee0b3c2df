#include "embedding/tokenizer/vocabulary_files/special_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/json/read.h"
#include "core/text/quote.h"
#include "embedding/tokenizer/vocabulary_files/tokenizer_class.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::string_view kExtraKey = "extra_special_tokens";
constexpr std::string_view kAdditionalKey = "additional_special_tokens";

Status wrong(std::string_view file, std::string_view key, std::string_view what) {
  return {StatusCode::kInvalidModel, fmt::format("{}: {} {}", file, core::quoted(key), what)};
}

// Reads an object with a token's flags.
Result<NamedToken> read_flags(const Json& object, std::string_view file, std::string_view key) {
  NamedToken token;
  token.is_text = false;
  bool has_content = false;
  for (const auto& [name, value] : object.members()) {
    if (name == "__type") continue;
    if (name == "content") {
      if (!value.is_string()) return wrong(file, key, "has a 'content' that is not a text");
      token.content = value.get<std::string>();
      has_content = true;
      continue;
    }
    if (!value.is_boolean()) return wrong(file, key, fmt::format("has {} with no flag", core::quoted(name)));
    const bool flag = value.get<bool>();
    if (name == "single_word") {
      token.single_word = flag;
    } else if (name == "lstrip") {
      token.lstrip = flag;
    } else if (name == "rstrip") {
      token.rstrip = flag;
    } else if (name == "normalized") {
      token.normalized = flag;
    } else if (name == "special") {
      token.special = flag;
    } else {
      return wrong(file, key, fmt::format("has the unknown key {}", core::quoted(name)));
    }
  }
  if (!has_content) return wrong(file, key, "has no 'content'");
  return token;
}

// Reads a token with a role or from a list: a text, or an object that is marked as a token; in some places any object
// is accepted.
Result<NamedToken> read_token(const Json& value, bool any_object, std::string_view file, std::string_view key) {
  if (value.is_string()) return NamedToken{.content = value.get<std::string>()};
  const auto* const type = core::find_member(value, "__type");
  const bool says_so = type != nullptr && *type == "AddedToken";
  if (!value.is_object() || (!says_so && !any_object)) return wrong(file, key, "is neither a text nor an AddedToken");
  return read_flags(value, file, key);
}

Result<std::vector<NamedToken>> read_list(const Json& value, bool any_object, std::string_view file,
                                          std::string_view key) {
  std::vector<NamedToken> tokens;
  if (value.is_null()) return tokens;
  if (!value.is_array()) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: {} is not a list, which is not supported", file, core::quoted(key)));
  }
  for (const Json& one : value) {
    LB_ASSIGN_OR_RETURN(NamedToken token, read_token(one, any_object, file, key));
    if (any_object && !token.is_text) token.special = true;
    tokens.push_back(std::move(token));
  }
  return tokens;
}

bool is_empty(const Json& value) {
  return value.is_null() || (value.is_structured() && value.empty());
}

}  // namespace

bool operator==(const NamedToken& a, const NamedToken& b) {
  const auto flags = [](const NamedToken& token) {
    return std::array{token.is_text, token.single_word, token.lstrip,
                      token.rstrip,  token.special,     token.normalized.value_or(!token.special)};
  };
  return a.content == b.content && flags(a) == flags(b);
}

Status SpecialTokens::read_decoder(const Json& decoder) {
  constexpr std::string_view kKey = "added_tokens_decoder";
  if (!decoder.is_object()) return wrong(kTokenizerConfigFile, kKey, "is not an object");
  for (const auto& [key, value] : decoder.members()) {
    std::uint64_t id = 0;
    const char* const end = key.data() + key.size();
    const auto parsed = std::from_chars(key.data(), end, id);
    if (parsed.ec != std::errc() || parsed.ptr != end) {
      return wrong(kTokenizerConfigFile, kKey, fmt::format("has the key {}, which is not an id", core::quoted(key)));
    }
    if (!value.is_object()) return wrong(kTokenizerConfigFile, kKey, "has a value that is not an object");
    LB_ASSIGN_OR_RETURN(added_[id], read_flags(value, kTokenizerConfigFile, kKey));
  }
  return {};
}

Status SpecialTokens::read_map(const Json& special_tokens_map) {
  for (const auto& [key, value] : special_tokens_map.members()) {
    const auto* const role = std::ranges::find(kKeys, key);
    if (role != kKeys.end()) {
      const auto place = static_cast<std::size_t>(role - kKeys.begin());
      std::optional<NamedToken>& slot = named_[place];
      is_known_early_[place] = true;
      if (value.is_null()) {
        slot.reset();
        continue;
      }
      LB_ASSIGN_OR_RETURN(slot, read_token(value, true, kSpecialTokensFile, key));
      slot->special = !slot->is_text;
    } else if (key == kAdditionalKey) {
      LB_ASSIGN_OR_RETURN(additional_, read_list(value, false, kSpecialTokensFile, key));
    } else if (key == kExtraKey) {
      if (value.is_object() && value.empty()) continue;
      LB_ASSIGN_OR_RETURN(const auto more, read_list(value, true, kSpecialTokensFile, key));
      if (!extra_ || value.is_null()) extra_.emplace();
      for (const NamedToken& token : more) {
        extra_known_early_.insert(token.content);
        if (std::ranges::find(*extra_, token) == extra_->end()) extra_->push_back(token);
      }
    } else {
      return {StatusCode::kUnsupported,
              fmt::format("{}: {} is not supported without a tokenizer.json", kSpecialTokensFile, core::quoted(key))};
    }
  }
  return {};
}

// Reads {token: id}. A token is special if the files name it as one. As in the reference, neither the defaults of the
// class nor the objects of tokenizer_config.json are known at this point.
Status SpecialTokens::read_legacy_added(const Json& added_tokens) {
  std::set<std::string> special;
  for (std::size_t role = 0; role < named_.size(); ++role) {
    if (is_known_early_[role] && named_[role]) special.insert(named_[role]->content);
  }
  special.insert(extra_known_early_.begin(), extra_known_early_.end());
  for (const auto& [content, id] : added_tokens.members()) {
    if (!id.is_number_unsigned()) return wrong(kAddedTokensFile, content, "has no id");
    const bool is_special = special.contains(content);
    added_[id.get<std::uint64_t>()] = {
        .content = content, .is_text = false, .normalized = !is_special, .special = is_special};
  }
  return {};
}

Status SpecialTokens::read(const Json& tokenizer_config, const std::optional<Json>& special_tokens_map,
                           const std::optional<Json>& added_tokens) {
  for (std::size_t role = 0; role < kKeys.size(); ++role) {
    const auto found = tokenizer_config.find(kKeys[role]);
    if (found == nullptr) continue;
    named_[role].reset();
    is_known_early_[role] = found->is_string();
    if (found->is_null()) continue;
    LB_ASSIGN_OR_RETURN(named_[role], read_token(*found, false, kTokenizerConfigFile, kKeys[role]));
  }
  const auto extra = tokenizer_config.find(kExtraKey);
  const auto additional = tokenizer_config.find(kAdditionalKey);
  const bool has_extra = extra != nullptr && !is_empty(*extra);
  if (has_extra || (extra != nullptr && !extra->is_object())) {
    LB_ASSIGN_OR_RETURN(extra_, read_list(*extra, false, kTokenizerConfigFile, kExtraKey));
  }
  if (additional != nullptr && !has_extra) {
    LB_ASSIGN_OR_RETURN(extra_, read_list(*additional, false, kTokenizerConfigFile, kAdditionalKey));
  }

  for (const NamedToken& token : extra_.value_or(std::vector<NamedToken>())) {
    if (token.is_text) extra_known_early_.insert(token.content);
  }

  const auto decoder = tokenizer_config.find("added_tokens_decoder");
  if (decoder != nullptr) {
    LB_RETURN_IF_ERROR(read_decoder(*decoder));
  } else {
    if (special_tokens_map) LB_RETURN_IF_ERROR(read_map(*special_tokens_map));
    if (added_tokens) LB_RETURN_IF_ERROR(read_legacy_added(*added_tokens));
  }
  // Of two tokens with the same content, the later one counts.
  for (auto& token : named_) {
    if (!token) continue;
    for (const auto& [id, added] : added_) {
      if (added.content == token->content) token = added;
    }
  }
  return {};
}

Result<std::string> SpecialTokens::text(Role role) const {
  if (named_[role]) return named_[role]->content;
  return Status(StatusCode::kUnsupported,
                fmt::format("{}: '{}' is null, but this tokenizer needs one", kTokenizerConfigFile, kKeys[role]));
}

std::vector<NamedToken> SpecialTokens::in_order() const {
  std::vector<NamedToken> tokens;
  std::set<std::string_view> before;
  for (const auto& [id, token] : added_) {
    tokens.push_back(token);
    before.insert(token.content);
  }
  const auto add = [&](const NamedToken& token) {
    if (before.contains(token.content) || std::ranges::find(tokens, token) != tokens.end()) return;
    tokens.push_back(token);
  };
  std::set<std::string_view> names;
  for (const auto& token : named_) {
    if (!token) continue;
    add(*token);
    names.insert(token->content);
  }
  const std::vector<NamedToken> none;
  const std::vector<NamedToken>& extra = extra_ ? *extra_ : additional_ ? *additional_ : none;
  for (const NamedToken& token : extra)
    add(token);
  for (NamedToken& token : tokens)
    token.special = token.special || token.is_text || names.contains(token.content);
  if (!adds_plainly_again_) return tokens;
  std::set<std::string_view> again;
  const auto add_again = [&](const NamedToken& token) {
    if (again.insert(token.content).second) {
      tokens.push_back({.content = token.content, .is_text = false, .special = true});
    }
  };
  for (const auto& token : named_) {
    if (token) add_again(*token);
  }
  for (const NamedToken& token : extra)
    add_again(token);
  return tokens;
}

std::vector<AddedToken> SpecialTokens::with_ids(const Vocabulary& unfinished) const {
  const std::vector<NamedToken> tokens = in_order();
  // One walk over the vocabulary, which cannot be searched yet.
  std::unordered_map<std::string_view, std::optional<std::int32_t>> ids;
  for (const NamedToken& token : tokens)
    ids.emplace(token.content, std::nullopt);
  for (std::size_t i = 0; i < unfinished.size(); ++i) {
    const auto [id, text] = unfinished.at(i);
    if (const auto found = ids.find(text); found != ids.end()) found->second = id;
  }
  std::vector<AddedToken> added;
  std::unordered_map<std::string_view, std::size_t> places;
  auto next_id = static_cast<std::int32_t>(unfinished.size());
  for (const NamedToken& token : tokens) {
    if (token.content.empty()) continue;
    const auto [place, is_new] = places.emplace(token.content, added.size());
    if (is_new) {
      const auto in_vocabulary = ids.at(token.content);
      added.emplace_back().id = in_vocabulary ? *in_vocabulary : next_id++;
    }
    AddedToken& slot = added[place->second];
    slot = {.content = token.content,
            .id = slot.id,
            .single_word = token.single_word,
            .lstrip = token.lstrip,
            .rstrip = token.rstrip,
            .normalized = token.normalized.value_or(!token.special),
            .special = token.special};
  }
  std::ranges::sort(added, {}, &AddedToken::id);
  return added;
}

}  // namespace latebind::embedding
