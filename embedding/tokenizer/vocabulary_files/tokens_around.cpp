#include "embedding/tokenizer/vocabulary_files/tokens_around.h"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

#include "embedding/tokenizer/vocabulary_files/json_parts.h"

namespace latebind::embedding {
namespace {

using core::Json;

// The token, and its id if that is not the one among the added tokens.
std::string with_id(const Json& root, std::string_view text, const Json& id) {
  const Json* const tokens = member(&root, "added_tokens");
  if (tokens == nullptr || !tokens->is_array()) return std::string(text);
  for (const Json& token : *tokens) {
    const Json* const own = member(&token, "id");
    if (text_in(&token, "content") == text && own != nullptr && *own != id) {
      return fmt::format("{} with the id {}", text, id.dump());
    }
  }
  return std::string(text);
}

// The text of a pair of text and id.
std::string pair_text(const Json& root, const Json& list) {
  if (!list.is_array() || list.empty() || !list.front().is_string()) return {};
  const auto& text = list.front().text();
  return list.size() == 2 ? with_id(root, text, list.back()) : text;
}

}  // namespace

std::array<std::string, 2> tokens_around(const Json& root) {
  std::array<std::string, 2> around;
  for (const Json* const part : parts_of(member(&root, "post_processor"), "processors")) {
    const Json* const cls = member(part, "cls");
    const Json* const sep = member(part, "sep");
    if (cls != nullptr && sep != nullptr) return std::array{pair_text(root, *cls), pair_text(root, *sep)};
    const Json* const single = member(part, "single");
    if (single == nullptr || !single->is_array()) continue;
    std::size_t place = 0;
    for (const Json& piece : *single) {
      if (member(&piece, "Sequence") != nullptr) {
        place = 1;
        continue;
      }
      const std::string_view name = text_in(member(&piece, "SpecialToken"), "id");
      const Json* const ids = member(member(member(part, "special_tokens"), name), "ids");
      const std::size_t count = ids != nullptr && ids->is_array() ? ids->size() : 1;
      for (std::size_t i = 0; i < count; ++i) {
        if (!around[place].empty()) around[place] += ' ';
        around[place] += ids != nullptr && ids->is_array() ? with_id(root, name, (*ids)[i]) : std::string(name);
      }
    }
  }
  return around;
}

}  // namespace latebind::embedding
