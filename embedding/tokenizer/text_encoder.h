// TextEncoder: text to ids by normalizer, pre-tokenizer and model, in the best way for the given parts.
//
// StagedEncoder takes any parts; FusedBertEncoder those of BERT, all in one walk. Immutable, any thread. With offsets,
// an AlignedEncoder takes any parts.
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

  // Appends the ids of `text`, which must be well-formed UTF-8; stops and returns false once `ids` has `ids_end` or
  // more. It has fewer when this is called. `is_first`: nothing stands before `text`.
  virtual bool encode(std::string_view text, bool is_first, std::size_t ids_end,
                      std::vector<std::int32_t>& ids) const = 0;
};

}  // namespace latebind::embedding
