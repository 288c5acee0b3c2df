// TextEncoder: text to ids by normalizer, pre-tokenizer and model, in the fastest way for the given parts.
//
// StagedEncoder supports all parts; FusedBertEncoder supports those of BERT, in one walk. AlignedEncoder supports all
// parts and gives offsets. Immutable, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace latebind::embedding {

class TextEncoder {
 public:
  TextEncoder() = default;
  TextEncoder(const TextEncoder&) = delete;
  TextEncoder& operator=(const TextEncoder&) = delete;
  virtual ~TextEncoder() = default;

  // Appends the ids of `text`, which must be well-formed UTF-8. Stops and returns false once `ids` has `ids_end`
  // elements or more; it has fewer before the call. `is_first`: no text precedes `text`.
  virtual bool encode(std::string_view text, bool is_first, std::size_t ids_end,
                      std::vector<std::int32_t>& ids) const = 0;
};

}  // namespace latebind::embedding
