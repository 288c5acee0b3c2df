#include "embedding/tokenizer/tokenizer_inside.h"

#include <algorithm>

#include "core/text/quote.h"

namespace latebind::embedding {

using core::Status;
using core::StatusCode;

Status Tokenizer::Parts::add_tokens(std::vector<AddedToken> tokens) {
  std::vector<AddedToken> raw;
  std::vector<AddedToken> normalized;
  added_texts.clear();
  special_texts.clear();
  added_ids.clear();
  for (AddedToken& token : tokens) {
    added_ids.emplace(token.content, token.id);
    if (token.special) special_texts.push_back(token.content);
    if (token.normalized && parts.normalizer != nullptr) {
      std::string content = parts.normalizer->normalize(token.content);
      if (content.empty()) {
        return {StatusCode::kUnsupported,
                fmt::format("the added token {} is empty after normalization", core::quoted(token.content))};
      }
      token.content = std::move(content);
    }
    if (parts.model->vocabulary().token(token.id) != token.content) added_texts.emplace_back(token.id, token.content);
    (token.normalized ? normalized : raw).push_back(std::move(token));
  }
  std::sort(added_texts.begin(), added_texts.end());
  std::sort(special_texts.begin(), special_texts.end());
  LB_ASSIGN_OR_RETURN(added_tokens, AddedTokenMatcher::create(std::move(raw)));
  // These tokens are searched in a text that the fused encoder never has.
  fused = normalized.empty() ? FusedBertEncoder::create(parts) : nullptr;
  LB_ASSIGN_OR_RETURN(AddedTokenMatcher matcher, AddedTokenMatcher::create(std::move(normalized)));
  staged = std::make_unique<StagedEncoder>(parts, std::move(matcher));
  aligned = std::make_unique<AlignedEncoder>(parts, added_tokens, staged->added_tokens());
  encoder = staged.get();
  if (fused != nullptr) encoder = fused.get();
  return {};
}

std::optional<std::int32_t> Tokenizer::Parts::id_of(std::string_view token) const {
  const auto added = added_ids.find(token);
  if (added != added_ids.end()) return added->second;
  return parts.model->vocabulary().find(token);
}

// Source: MultiVectorEncoder._register_prefix_tokens() of sentence-transformers.
Status Tokenizer::Parts::mark(std::span<const std::string> markers, std::vector<AddedToken> tokens) {
  bool is_new = false;
  for (const std::string& marker : markers) {
    constexpr std::string_view kSpaces = " \t\n\r\f\v";
    const std::size_t first = marker.find_first_not_of(kSpaces);
    if (first == std::string::npos) continue;
    const std::size_t end = std::min(marker.find_first_of(kSpaces, first), marker.size());
    for (const std::string& content : {marker, marker.substr(first, end - first)}) {
      const auto id = id_of(content);
      if (!id) continue;
      std::vector<std::int32_t> ids;
      encode(content, ids.max_size(), ids);
      // A token that is searched in the normalized text has another text, and does not count as itself.
      const auto has_other_text = [&](const auto& text) { return text.first == *id && text.second != content; };
      if (ids == std::vector{*id} && std::ranges::none_of(added_texts, has_other_text)) break;
      std::erase_if(tokens, [&](const AddedToken& token) { return token.content == content; });
      tokens.push_back({.content = content, .id = *id, .special = true});
      is_new = true;
      break;
    }
  }
  return is_new ? add_tokens(std::move(tokens)) : Status();
}

void Tokenizer::Parts::encode(std::string_view text, std::size_t ids_end, std::vector<std::int32_t>& ids) const {
  if (ids.size() >= ids_end) return;
  AddedTokenSplitter splitter(added_tokens, text);
  AddedTokenSplitter::Piece piece;
  bool go_on = true;
  while (go_on && splitter.next(piece)) {
    if (piece.token != nullptr) {
      ids.push_back(piece.token->id);
      go_on = ids.size() < ids_end;
    } else {
      go_on = encoder->encode(piece.text, piece.text.data() == text.data(), ids_end, ids);
    }
  }
  if (ids.size() > ids_end) ids.resize(ids_end);
}

}  // namespace latebind::embedding
