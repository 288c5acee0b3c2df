// Added tokens: strings such as "[CLS]" that are found in a text before it is processed any further.
//
// AddedTokenMatcher is immutable after creation (any thread); AddedTokenSplitter walks over one text on one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace latebind::embedding {

struct AddedToken {
  std::string content;  // the text to search for
  std::int32_t id = 0;
  bool single_word = false;  // matches only between characters that are not word characters
  bool lstrip = false;       // includes the white space before it
  bool rstrip = false;       // includes the white space after it
  bool normalized = false;   // searched in the normalized text, otherwise in the original one
  bool special = false;
};

class AddedTokenMatcher {
 public:
  struct Match {
    std::size_t start;
    std::size_t stop;
    const AddedToken* token;
  };

  AddedTokenMatcher() = default;
  // Contents must not be empty. Returns kInvalidModel if two of them are equal.
  static core::Result<AddedTokenMatcher> create(std::vector<AddedToken> tokens);

  [[nodiscard]] bool empty() const { return tokens_.empty(); }
  // The longest of the leftmost matches at or after `from`. The splitter applies the strip and single-word rules.
  [[nodiscard]] std::optional<Match> find(std::string_view text, std::size_t from) const;

 private:
  [[nodiscard]] const AddedToken* longest_at(std::string_view text) const;

  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };

  std::vector<AddedToken> tokens_;  // sorted by content
  std::array<Range, 256> by_first_byte_{};
  std::optional<char> only_first_byte_;
};

// Splits a text into added tokens and the text between them.
class AddedTokenSplitter {
 public:
  struct Piece {
    std::string_view text;              // not empty
    const AddedToken* token = nullptr;  // null: ordinary text
  };

  // Both arguments must outlive the splitter. `text` must be well-formed UTF-8.
  AddedTokenSplitter(const AddedTokenMatcher& matcher, std::string_view text) : matcher_(matcher), text_(text) {}

  // Returns false at the end of the text.
  bool next(Piece& piece);

 private:
  [[nodiscard]] bool stands_alone(const AddedTokenMatcher::Match& match) const;
  [[nodiscard]] std::size_t spaces_begin(std::size_t end, std::size_t floor) const;
  [[nodiscard]] std::size_t spaces_end(std::size_t begin);

  const AddedTokenMatcher& matcher_;
  std::string_view text_;
  std::size_t searched_ = 0;   // end of the searched text
  std::size_t delivered_ = 0;  // end of the delivered pieces
  std::optional<Piece> waiting_;
  // The last white space that was skipped, so that no text causes repeated examination.
  std::size_t skipped_begin_ = 0;
  std::size_t skipped_end_ = 0;
};

}  // namespace latebind::embedding
