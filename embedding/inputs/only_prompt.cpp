#include "embedding/inputs/only_prompt.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/text/utf8.h"

namespace latebind::embedding {
namespace {

// This many bytes of a text after its prompt determine the tokens of the prompt.
constexpr std::size_t kBesidePromptBytes = 128;

}  // namespace

core::Result<bool> is_only_prompt(const Tokenizer& tokenizer, std::size_t max_tokens, std::string_view whole,
                                  std::size_t prompt_bytes) {
  std::vector<std::int32_t> ids;
  if (!tokenizer.gives_offsets().ok()) {
    LB_RETURN_IF_ERROR(tokenizer.encode(whole.substr(0, prompt_bytes), max_tokens, ids));
    return ids.size() >= max_tokens;
  }
  // Decides by the offsets, because a prompt may have other tokens before a text than alone. The whole text takes time
  // to encode, and is needed only to confirm a refusal.
  std::vector<TokenOffsets> offsets;
  const std::string_view front = core::cut_utf8(whole, prompt_bytes + kBesidePromptBytes);
  for (const std::string_view part : {front, whole}) {
    ids.clear();
    offsets.clear();
    LB_RETURN_IF_ERROR(tokenizer.encode_with_offsets(part, max_tokens, Tokenizer::Cut::kEnd, ids, offsets));
    if (std::ranges::any_of(offsets, [&](const TokenOffsets& of) { return of.end > prompt_bytes; })) return false;
    if (part.size() == whole.size()) break;
  }
  return true;
}

}  // namespace latebind::embedding
