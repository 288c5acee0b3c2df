#include "embedding/tokenizer/vocabulary_files/tokens_around.h"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

#include "embedding/tokenizer/vocabulary_files/json_parts.h"

namespace latebind::embedding {
namespace {

using nlohmann::json;

// The token, and its id if that is not the one among the added tokens.
std::string with_id(const json& root, std::string_view text, const json& id) {
  const json* const tokens = member(&root, "added_tokens");
  if (tokens == nullptr || !tokens->is_array()) return std::string(text);
  for (const json& token : *tokens) {
    const json* const own = member(&token, "id");
    if (text_in(&token, "content") == text && own != nullptr && *own != id) {
      return fmt::format("{} with the id {}", text, id.dump());
    }
  }
  return std::string(text);
}

// The text of a pair of text and id.
std::string pair_text(const json& root, const json& list) {
  if (!list.is_array() || list.empty() || !list.front().is_string()) return {};
  const auto& text = list.front().get_ref<const std::string&>();
  return list.size() == 2 ? with_id(root, text, list.back()) : text;
}

}  // namespace

std::array<std::string, 2> tokens_around(const json& root) {
  std::array<std::string, 2> around;
  for (const json* const part : parts_of(member(&root, "post_processor"), "processors")) {
    const json* const cls = member(part, "cls");
    const json* const sep = member(part, "sep");
    if (cls != nullptr && sep != nullptr) return std::array{pair_text(root, *cls), pair_text(root, *sep)};
    const json* const single = member(part, "single");
    if (single == nullptr || !single->is_array()) continue;
    std::size_t place = 0;
    for (const json& piece : *single) {
      if (member(&piece, "Sequence") != nullptr) {
        place = 1;
        continue;
      }
      const std::string_view name = text_in(member(&piece, "SpecialToken"), "id");
      const json* const ids = member(member(member(part, "special_tokens"), name), "ids");
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
