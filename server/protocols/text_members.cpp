#include "server/protocols/text_members.h"

#include <fmt/format.h>

#include <cstdint>

namespace latebind::server {
namespace {

// `place` is that of the array within the member, or empty for the member itself.
Problem read_ids(const Json& numbers, std::string_view place, std::string_view wanted, TokenIds& ids) {
  ids.reserve(numbers.size());
  for (const Json& number : numbers) {
    const auto id = number.whole<std::int32_t>();
    if (!id || *id < 0) {
      const std::string at = fmt::format("{}[{}]", place, ids.size());
      if (!number.is_number()) return unexpected_item(number, at, wanted);
      return fmt::format("has a number at {} that is not a token id: token ids are whole numbers from 0", at);
    }
    ids.push_back(*id);
  }
  if (ids.empty()) return fmt::format("has an empty array of token ids{}{}", place.empty() ? "" : " at ", place);
  return std::nullopt;
}

// `items` is not empty. `wanted` is what the first one may be.
Problem read_id_lists(const Json& items, std::string_view wanted, TextLimit& limit, std::vector<TokenIds>& lists) {
  const Json& first = items.front();
  if (!first.is_array()) return read_ids(items, {}, first.is_number() ? "a token id" : wanted, lists.emplace_back());
  if (!limit.has_room_for(items.size())) return std::nullopt;
  lists.reserve(items.size());
  for (const Json& item : items) {
    const std::string place = fmt::format("[{}]", lists.size());
    if (!item.is_array()) return unexpected_item(item, place, "an array of token ids");
    if (auto problem = read_ids(item, place, "a token id", lists.emplace_back())) return problem;
  }
  return std::nullopt;
}

// All items must be texts.
Problem read_items(const Json& items, TextLimit& limit, std::vector<std::string>& texts) {
  const std::size_t before = texts.size();
  const std::size_t count = before + items.size();
  if (!limit.has_room_for(count)) return std::nullopt;
  texts.reserve(count);
  for (const Json& item : items) {
    if (read_text(item, texts.emplace_back())) {
      return unexpected_item(item, fmt::format("[{}]", texts.size() - 1 - before), "a string");
    }
  }
  return std::nullopt;
}

}  // namespace

Problem read_texts(const Json& value, TextLimit& limit, std::vector<std::string>& texts) {
  if (value.is_array()) return read_items(value, limit, texts);
  return fmt::format("must be an array of strings, not {}", kind_of(value));
}

Problem read_text_or_texts(const Json& value, TextLimit& limit, std::vector<std::string>& texts) {
  if (value.is_string()) return read_text(value, texts.emplace_back());
  if (value.is_array()) return read_items(value, limit, texts);
  return fmt::format("must be a string or an array of strings, not {}", kind_of(value));
}

Problem read_id_lists(const Json& value, TextLimit& limit, std::vector<TokenIds>& lists) {
  if (!value.is_array()) {
    return fmt::format("must be an array of token ids, or an array of such arrays, not {}", kind_of(value));
  }
  return value.empty() ? std::nullopt : read_id_lists(value, "a token id", limit, lists);
}

Problem read_texts_or_ids(const Json& value, TextLimit& limit, TextsOrIds& inputs) {
  auto& texts = std::get<0>(inputs);
  if (value.is_string()) return read_text(value, texts.emplace_back());
  if (!value.is_array()) {
    return fmt::format("must be a string, token ids, or an array of strings or of arrays of token ids, not {}",
                       kind_of(value));
  }
  if (value.empty()) return std::nullopt;
  if (value.front().is_string()) return read_items(value, limit, texts);
  return read_id_lists(value, "a string or a token id", limit, inputs.emplace<1>());
}

}  // namespace latebind::server
