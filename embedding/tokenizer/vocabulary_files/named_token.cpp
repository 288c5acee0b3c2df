#include "embedding/tokenizer/vocabulary_files/named_token.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/json/read.h"

namespace latebind::embedding {

using core::Json;
using Kind = TokenizerClass::Kind;
using Role = SpecialTokens::Role;

std::span<const DefaultToken> default_tokens(Kind kind) {
  switch (kind) {
    case Kind::kBert:
      return kTokensOfBert;
    case Kind::kMpnet:
      return kTokensOfMpnet;
    case Kind::kGpt2:
      return kTokensOfGpt2;
    case Kind::kQwen2:
      return kTokensOfQwen2;
    case Kind::kAlbert:
      return kTokensOfAlbert;
    case Kind::kDeberta:
    case Kind::kDebertaV2:
      return kTokensOfDeberta;
    default:
      return kTokensOfRoberta;
  }
}

void give_flags_of_class(Kind kind, SpecialTokens& tokens) {
  const auto change = [&tokens](Role role, bool lstrip, bool special) {
    auto& token = tokens.at(role);
    if (!token || !token->is_text) return;
    token->is_text = false;
    token->lstrip = lstrip;
    token->special = special;
  };
  if (kind == Kind::kMpnet) {
    for (const Role role : {Role::kBos, Role::kEos, Role::kSep, Role::kCls, Role::kUnk, Role::kPad})
      change(role, false, false);
    change(Role::kMask, true, false);
  } else if (kind == Kind::kCamembert) {
    change(Role::kMask, true, true);
  }
}

core::Result<std::string> named_token(const std::optional<Json>& tokenizer_config,
                                      const std::optional<Json>& special_tokens_map, Role role) {
  const std::string key(SpecialTokens::kKeys[role]);
  for (const auto& [file, name] :
       {std::pair{&tokenizer_config, kTokenizerConfigFile}, std::pair{&special_tokens_map, kSpecialTokensFile}}) {
    if (!*file) continue;
    const auto found = (*file)->find(key);
    if (found == nullptr) continue;
    if (found->is_null()) return std::string();
    if (found->is_string()) return found->get<std::string>();
    return core::read_text(*found, "content", "", fmt::format("{}: {}", name, key));
  }
  if (!tokenizer_config) return std::string();
  LB_ASSIGN_OR_RETURN(const std::string made_by,
                      core::read_text(*tokenizer_config, "tokenizer_class", "", kTokenizerConfigFile));
  const auto known = known_tokenizer_classes();
  const auto found = std::ranges::find(known, without_fast(made_by), &TokenizerClass::name);
  if (found == known.end()) return std::string();
  for (const DefaultToken& token : default_tokens(found->kind)) {
    if (token.role == role) return std::string(token.content);
  }
  return std::string();
}

}  // namespace latebind::embedding
