// What a text is to a multi-vector encoder.
#pragma once

#include <array>
#include <cstdint>

#include "core/config.h"

namespace latebind::embedding {

enum class TextRole : std::int32_t { kDocument = 0, kQuery = 1 };

}  // namespace latebind::embedding

template <>
struct latebind::core::Words<latebind::embedding::TextRole> {
  static constexpr std::string_view kWhat = "kind of text";
  static constexpr std::array kWords{Word<embedding::TextRole>{"document", embedding::TextRole::kDocument},
                                     Word<embedding::TextRole>{"query", embedding::TextRole::kQuery}};
};
