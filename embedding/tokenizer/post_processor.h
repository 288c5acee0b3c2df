// PostProcessor: the last part of a tokenizer, which puts special tokens around a text or around two texts.
//
// All kinds in a file reduce to these tokens, so it is a value and not a base class. Each file in post_processors/
// reads one kind, and part_table.h lists them by name. Immutable in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/result.h"

namespace latebind::embedding {

// For two texts that form one row of ids.
struct PairProcessor {
  std::vector<std::int32_t> before{};
  std::vector<std::int32_t> between{};
  std::vector<std::int32_t> after{};
  // Token types are 0, and 1 from this token of `between` on; the index may be that of the second text's first token.
  // std::nullopt: all types are 0.
  std::optional<std::size_t> type_one_from = std::nullopt;

  [[nodiscard]] std::size_t added_tokens() const { return before.size() + between.size() + after.size(); }
};

// Removes the white space at both ends of tokens from their offsets, for byte-level tokens.
struct OffsetTrim {
  // The first space of the text was added, and belongs to no offset.
  bool add_prefix_space = false;
  // Whether the first token of a text is the first token of the row at this point.
  bool sees_first_token = true;
};

struct PostProcessor {
  std::vector<std::int32_t> before{};
  std::vector<std::int32_t> after{};
  // kUnsupported if the file has a template for two texts that is not supported; only encoding of two texts fails then.
  core::Result<PairProcessor> pair = PairProcessor{.type_one_from = 0};
  std::vector<OffsetTrim> trims{};  // one after the other; they change offsets only
  bool joins_tokens = false;        // offset changes after it treat its tokens as those of the text

  [[nodiscard]] std::size_t added_tokens() const { return before.size() + after.size(); }

  // The same without its tokens.
  [[nodiscard]] PostProcessor without_tokens() const {
    PostProcessor rest;
    for (const OffsetTrim& trim : trims)
      rest.trims.push_back({trim.add_prefix_space, true});
    return rest;
  }

  void begin(std::vector<std::int32_t>& ids) const { ids.insert(ids.end(), before.begin(), before.end()); }
  void end(std::vector<std::int32_t>& ids) const { ids.insert(ids.end(), after.begin(), after.end()); }
};

}  // namespace latebind::embedding
