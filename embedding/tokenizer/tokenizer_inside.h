// The members of a Tokenizer, internal to the tokenizer's sources, which are divided by task.
//
// Immutable after construction; any thread.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "embedding/tokenizer/added_tokens.h"
#include "embedding/tokenizer/aligned_encoder.h"
#include "embedding/tokenizer/decoder.h"
#include "embedding/tokenizer/fused_bert_encoder.h"
#include "embedding/tokenizer/patterns/pattern.h"
#include "embedding/tokenizer/staged_encoder.h"
#include "embedding/tokenizer/text_encoder.h"
#include "embedding/tokenizer/tokenizer.h"
#include "embedding/tokenizer/tokenizer_file.h"
#include "embedding/tokenizer/tokenizer_parts.h"

namespace latebind::embedding {

struct Tokenizer::Parts {
  explicit Parts(TokenizerFile& file)
      : parts(std::move(file.parts)), id_end(file.id_end), decoder(std::move(file.decoder)) {}

  TokenizerParts parts;
  std::size_t id_end;
  core::Result<DecoderPtr> decoder;
  // Texts of added tokens that the vocabulary lacks or has in another form, by id.
  std::vector<std::pair<std::int32_t, std::string>> added_texts;
  // Sorted contents of special tokens as in the file; the reference recognises special tokens by these texts.
  std::vector<std::string> special_texts;
  // Ids of added tokens by their texts in the file.
  std::map<std::string, std::int32_t, std::less<>> added_ids;
  // Those that are searched in the original text; the encoder has the others.
  AddedTokenMatcher added_tokens;
  std::unique_ptr<const FusedBertEncoder> fused;  // null for other parts
  std::unique_ptr<const StagedEncoder> staged;
  std::unique_ptr<const AlignedEncoder> aligned;
  const TextEncoder* encoder = nullptr;  // the faster one of the first two

  core::Status add_tokens(std::vector<AddedToken> tokens);
  // See TokenizerUse::markers; `tokens` are those that were added.
  core::Status mark(std::span<const std::string> markers, std::vector<AddedToken> tokens);
  [[nodiscard]] std::optional<std::int32_t> id_of(std::string_view token) const;
  void encode(std::string_view text, std::size_t ids_end, std::vector<std::int32_t>& ids) const;
};

// Returns the result of `work`, or turns its exceptions into errors about texts of this size.
template <class Work>
core::Status within_limits(std::size_t bytes, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return {core::StatusCode::kOutOfMemory, fmt::format("not enough memory to tokenize {} bytes", bytes)};
  } catch (const PatternLimitError& error) {
    return {core::StatusCode::kUnsupported, error.what()};
  }
}

// Keeps the first or the last `count` ids from `begin` on.
inline void keep_tokens(std::vector<std::int32_t>& ids, std::size_t begin, std::size_t count, bool keep_end) {
  const std::size_t cut = ids.size() - begin - count;
  if (!keep_end) return ids.resize(begin + count);
  const auto from = ids.begin() + static_cast<std::ptrdiff_t>(begin);
  ids.erase(from, from + static_cast<std::ptrdiff_t>(cut));
}

}  // namespace latebind::embedding
