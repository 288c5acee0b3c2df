// Members that several protocols share: texts, or token ids instead. Problems name the place: "has null at index 1,
// where a string is expected".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server/protocols/json_body.h"

namespace latebind::server {

using TokenIds = std::vector<std::int32_t>;
using TextsOrIds = std::variant<std::vector<std::string>, std::vector<TokenIds>>;

// Appends the texts of an array. Beyond `limit` they are only counted.
[[nodiscard]] Problem read_texts(const Json& value, TextLimit& limit, std::vector<std::string>& texts);
// Like read_texts(), for a string or an array.
[[nodiscard]] Problem read_text_or_texts(const Json& value, TextLimit& limit, std::vector<std::string>& texts);

// Reads an array of token ids, or an array of such arrays, which `limit` counts. An empty array gives an empty list;
// inner arrays must not be empty. Ids are 0 to 2^31 - 1, since no model has larger ones.
[[nodiscard]] Problem read_id_lists(const Json& value, TextLimit& limit, std::vector<TokenIds>& lists);

// Reads one text or several, or their token ids. An empty array gives an empty list.
[[nodiscard]] Problem read_texts_or_ids(const Json& value, TextLimit& limit, TextsOrIds& inputs);

}  // namespace latebind::server
