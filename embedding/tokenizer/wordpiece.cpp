#include "embedding/tokenizer/wordpiece.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "embedding/tokenizer/quote.h"
#include "embedding/tokenizer/utf8.h"

namespace latebind::embedding {

core::Result<WordPiece> WordPiece::create(Vocabulary vocabulary, WordPieceOptions options) {
  const auto unknown = vocabulary.find(options.unk_token);
  if (!unknown) {
    return core::Status(core::StatusCode::kInvalidModel,
                        fmt::format("model.unk_token {} is not in the vocabulary", quote(options.unk_token)));
  }
  return WordPiece(std::move(vocabulary), std::move(options), *unknown);
}

WordPiece::WordPiece(Vocabulary vocabulary, WordPieceOptions options, std::int32_t unknown_id)
    : vocabulary_(std::move(vocabulary)),
      options_(std::move(options)),
      unknown_id_(unknown_id),
      continuing_start_(vocabulary_.hash_start()),
      longest_initial_(vocabulary_.longest()),
      longest_continuing_(vocabulary_.longest_after(options_.continuing_subword_prefix)) {
  for (const char byte : options_.continuing_subword_prefix) {
    continuing_start_ = Vocabulary::hash_step(continuing_start_, byte);
  }
}

void WordPiece::tokenize(std::string_view word, std::vector<std::int32_t>& ids) const {
  const std::size_t first_id = ids.size();
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): written before it is read
  std::array<std::uint64_t, Vocabulary::kTokenBytesMax> states;  // of the first, the first two … bytes of what is left
  std::uint64_t state = vocabulary_.hash_start();
  std::string_view prefix;
  std::size_t longest = longest_initial_;
  std::string_view rest = word;
  while (!rest.empty()) {
    std::size_t length = std::min(rest.size(), longest);
    for (std::size_t i = 0; i < length; ++i)
      states[i] = state = Vocabulary::hash_step(state, rest[i]);
    std::int32_t id = -1;
    for (; length > 0; --length) {
      if (length < rest.size() && is_utf8_continuation(rest[length])) continue;
      id = vocabulary_.find(states[length - 1], prefix, rest.substr(0, length));
      if (id >= 0) break;
    }
    if (id < 0) {
      ids.resize(first_id);
      ids.push_back(unknown_id_);
      return;
    }
    ids.push_back(id);
    rest.remove_prefix(length);
    state = continuing_start_;
    prefix = options_.continuing_subword_prefix;
    longest = longest_continuing_;
  }
}

}  // namespace latebind::embedding
