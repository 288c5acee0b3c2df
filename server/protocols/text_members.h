// Members of the bodies of several protocols: texts, or token ids instead of them. What is wrong is named with its
// place: "has null at index 1, where a string is expected".
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

// Appends the texts of an array; where `limit` has no room for so many, they are counted alone.
[[nodiscard]] Problem read_texts(const JsonValue& value, TextLimit& limit, std::vector<std::string>& texts);
// The same, of a string or an array.
[[nodiscard]] Problem read_text_or_texts(const JsonValue& value, TextLimit& limit, std::vector<std::string>& texts);

// Token ids, or arrays of them, which `limit` counts. Nothing of an empty array; none of them is empty. An id is from 0
// to 2^31 - 1: one beyond that is unknown to every model.
[[nodiscard]] Problem read_id_lists(const JsonValue& value, TextLimit& limit, std::vector<TokenIds>& lists);

// One text or several, or their token ids. Nothing of an empty array.
[[nodiscard]] Problem read_texts_or_ids(const JsonValue& value, TextLimit& limit, TextsOrIds& inputs);

}  // namespace latebind::server
