// TextRole: the role of a text for a model that does not treat all texts alike: a query, or a document that may answer
// it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/config.h"

namespace latebind::embedding {

enum class TextRole : std::uint8_t {
  kUnspecified,  // the model's default for texts without a role
  kQuery,        // as in sentence-transformers' encode_query()
  kDocument,     // as in sentence-transformers' encode_document()
};

}  // namespace latebind::embedding

template <>
struct latebind::core::Words<latebind::embedding::TextRole> {
  static constexpr std::string_view kWhat = "role";
  static constexpr std::array kWords{Word<embedding::TextRole>{"query", embedding::TextRole::kQuery},
                                     Word<embedding::TextRole>{"document", embedding::TextRole::kDocument}};
};
