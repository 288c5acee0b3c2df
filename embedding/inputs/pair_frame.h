// PairFrame: how a language model takes two texts as one row, with other text around them.
//
// Immutable after construction; any thread may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace latebind::embedding {

class Tokenizer;

struct FramedRow {
  std::vector<std::int32_t> ids{};
  bool is_cut = false;
  // What is too long, if a text was cut for another reason than the number of tokens.
  std::string excess{};
  // Why the scores of all such rows would be equal, if no token of one of the texts is left.
  std::string lost{};
};

class PairFrame {
 public:
  PairFrame() = default;
  PairFrame(const PairFrame&) = delete;
  PairFrame& operator=(const PairFrame&) = delete;
  virtual ~PairFrame() = default;

  // Returns the row of two texts, which must be UTF-8, with at most `max_tokens` tokens: texts are cut, and what is
  // around them stays. `tokenizer` adds no special tokens. `instruction` is "" for none. Returns kInvalidArgument if
  // the limit leaves no room for the texts, and kUnsupported if the model takes no instruction.
  [[nodiscard]] virtual core::Result<FramedRow> encode(const Tokenizer& tokenizer, std::string_view query,
                                                       std::string_view document, std::string_view instruction,
                                                       std::size_t max_tokens) const = 0;
  // The file that declares the frame.
  [[nodiscard]] virtual const std::string& file() const = 0;
};

}  // namespace latebind::embedding
