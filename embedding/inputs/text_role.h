// What a text is to a model that does not treat all texts alike: a question that is asked, or what may answer it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/config.h"

namespace latebind::embedding {

enum class TextRole : std::uint8_t {
  kUnspecified,  // what the model takes a text for of which nothing is said
  kQuery,        // as sentence-transformers' encode_query() takes it
  kDocument,     // as its encode_document() does
};

}  // namespace latebind::embedding

template <>
struct latebind::core::Words<latebind::embedding::TextRole> {
  static constexpr std::string_view kWhat = "role";
  static constexpr std::array kWords{Word<embedding::TextRole>{"query", embedding::TextRole::kQuery},
                                     Word<embedding::TextRole>{"document", embedding::TextRole::kDocument}};
};
