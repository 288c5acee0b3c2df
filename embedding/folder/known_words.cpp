#include "embedding/folder/known_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/json/read.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {

using core::Result;
using core::Status;
using std::filesystem::path;

Status unknown_word(const path& file, std::string_view key, std::string_view word,
                    std::span<const std::string_view> known) {
  return unsupported_file(file,
                          fmt::format("'{}' is {}{}", key, core::quoted(word), core::supported_instead(word, known)));
}

Result<std::string> read_word(const core::Json& config, const char* key, const path& file,
                              std::span<const std::string_view> known) {
  LB_ASSIGN_OR_RETURN(std::string word, core::read_text(config, key, known.front(), platform::path_to_utf8(file)));
  if (std::ranges::find(known, word) == known.end()) return unknown_word(file, key, word, known);
  return word;
}

}  // namespace latebind::embedding
