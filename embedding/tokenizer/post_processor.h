// PostProcessor: the last part of a tokenizer, which puts special tokens around every text, or around two.
//
// Whatever its kind in the file, it comes down to these tokens, so it is a value, not a class to derive from: each file
// in post_processors/ reads one, and part_table.h has them by name. Immutable in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/result.h"

namespace latebind::embedding {

// For two texts that become one row of ids.
struct PairProcessor {
  std::vector<std::int32_t> before{};
  std::vector<std::int32_t> between{};
  std::vector<std::int32_t> behind{};
  // Token types are 0, and from this token of `between` on 1, which may be the second text's first one; all 0 where
  // there is none.
  std::optional<std::size_t> type_one_from = std::nullopt;

  [[nodiscard]] std::size_t added_tokens() const { return before.size() + between.size() + behind.size(); }
};

// Takes the white space at either end of tokens out of their offsets, as byte-level tokens have it.
struct OffsetTrim {
  // One space at the very beginning was added, and is in no offset.
  bool add_prefix_space = false;
  // Nothing stands before the first token of a text when this is done.
  bool sees_first_token = true;
};

struct PostProcessor {
  std::vector<std::int32_t> before{};
  std::vector<std::int32_t> behind{};
  // kUnsupported where the file has one for two texts that is not known here: it is for those who have two.
  core::Result<PairProcessor> pair = PairProcessor{.type_one_from = 0};
  std::vector<OffsetTrim> trims{};  // one after the other; they change nothing but offsets
  bool joins_tokens = false;        // what is done to offsets behind it sees its tokens as those of the text

  [[nodiscard]] std::size_t added_tokens() const { return before.size() + behind.size(); }

  // The same, but for its tokens.
  [[nodiscard]] PostProcessor without_tokens() const {
    PostProcessor rest;
    for (const OffsetTrim& trim : trims)
      rest.trims.push_back({trim.add_prefix_space, true});
    return rest;
  }

  void begin(std::vector<std::int32_t>& ids) const { ids.insert(ids.end(), before.begin(), before.end()); }
  void end(std::vector<std::int32_t>& ids) const { ids.insert(ids.end(), behind.begin(), behind.end()); }
};

}  // namespace latebind::embedding
