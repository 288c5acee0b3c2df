#include "embedding/tokenizer/models/wordpiece.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "core/text/utf8.h"
#include "embedding/tokenizer/models/model_vocabulary.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {

namespace {

// Converts a token to the type of the output: an id, or a Token.
template <class Out>
Out made(std::int32_t id, std::size_t end) {
  if constexpr (std::is_same_v<Out, Token>) {
    return {id, end};
  } else {
    return id;
  }
}

bool has_more_code_points(std::string_view word, std::size_t max) {
  if (word.size() <= max) return false;
  std::size_t count = 0;
  for (const char byte : word) {
    if (!core::is_utf8_continuation(byte) && ++count > max) return true;
  }
  return false;
}

// The size of the longest token, limited to the size of a word.
std::size_t longest_in_a_word(const Vocabulary& vocabulary, const WordPieceOptions& options) {
  constexpr std::size_t kCharBytesMax = 4;
  return std::min(vocabulary.longest(), options.max_input_chars_per_word * kCharBytesMax);
}

}  // namespace

core::Result<std::unique_ptr<const WordPiece>> WordPiece::create(Vocabulary vocabulary, WordPieceOptions options) {
  LB_ASSIGN_OR_RETURN(const std::int32_t unknown, find_unknown(vocabulary, options.unk_token));
  if (const std::size_t longest = longest_in_a_word(vocabulary, options); longest > Vocabulary::kSearchedBytesMax) {
    return core::Status(
        core::StatusCode::kUnsupported,
        fmt::format("a token is {} bytes long, more than the {} supported if model.max_input_chars_per_word is {}",
                    longest, Vocabulary::kSearchedBytesMax, options.max_input_chars_per_word));
  }
  return std::unique_ptr<const WordPiece>(new WordPiece(std::move(vocabulary), std::move(options), unknown));
}

WordPiece::WordPiece(Vocabulary vocabulary, WordPieceOptions options, std::int32_t unknown_id)
    : TokenModel(std::move(vocabulary)),
      options_(std::move(options)),
      unknown_id_(unknown_id),
      continuing_start_(this->vocabulary().hash_start()),
      longest_initial_(longest_in_a_word(this->vocabulary(), options_)),
      longest_continuing_(
          std::min(longest_initial_, this->vocabulary().longest_after(options_.continuing_subword_prefix))) {
  for (const char byte : options_.continuing_subword_prefix) {
    continuing_start_ = Vocabulary::hash_step(continuing_start_, byte);
  }
}

void WordPiece::tokenize(std::string_view word, std::vector<Token>& tokens) const {
  if (has_more_code_points(word, options_.max_input_chars_per_word)) {
    tokens.push_back({unknown_id_, word.size()});
  } else {
    cut(word, tokens);
  }
}

void WordPiece::append_ids(std::string_view word, std::vector<std::int32_t>& ids) const {
  cut(word, ids);
}

template <class Out>
void WordPiece::cut(std::string_view word, std::vector<Out>& out) const {
  const Vocabulary& known = vocabulary();
  const std::size_t first = out.size();
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): written before it is read
  std::array<std::uint64_t, Vocabulary::kSearchedBytesMax>
      states;  // after the first byte, the first two bytes … of the rest
  std::uint64_t state = known.hash_start();
  std::string_view prefix;
  std::size_t longest = longest_initial_;
  std::string_view rest = word;
  while (!rest.empty()) {
    std::size_t length = std::min(rest.size(), longest);
    for (std::size_t i = 0; i < length; ++i)
      states[i] = state = Vocabulary::hash_step(state, rest[i]);
    std::int32_t id = -1;
    for (; length > 0; --length) {
      if (length < rest.size() && core::is_utf8_continuation(rest[length])) continue;
      id = known.find(states[length - 1], prefix, rest.substr(0, length));
      if (id >= 0) break;
    }
    if (id < 0) {
      out.resize(first);
      out.push_back(made<Out>(unknown_id_, word.size()));
      return;
    }
    rest.remove_prefix(length);
    out.push_back(made<Out>(id, word.size() - rest.size()));
    state = continuing_start_;
    prefix = options_.continuing_subword_prefix;
    longest = longest_continuing_;
  }
}

core::Result<TokenModelPtr> read_wordpiece(const JsonView& view, ModelLists lists) {
  Vocabulary& vocabulary = lists.vocabulary;
  LB_RETURN_IF_ERROR(
      view.only_keys({"type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"}));
  WordPieceOptions options;
  LB_ASSIGN_OR_RETURN(options.unk_token, view.string("unk_token"));
  LB_ASSIGN_OR_RETURN(options.continuing_subword_prefix, view.string("continuing_subword_prefix"));
  if (options.continuing_subword_prefix.size() > kAffixBytesMax) {
    return core::Status(core::StatusCode::kUnsupported,
                        fmt::format("model.continuing_subword_prefix is longer than {} bytes", kAffixBytesMax));
  }
  LB_ASSIGN_OR_RETURN(const std::uint64_t chars_max, view.whole_number("max_input_chars_per_word"));
  if (chars_max > WordPiece::kMaxInputCharsLimit) {
    return core::Status(core::StatusCode::kUnsupported,
                        fmt::format("model.max_input_chars_per_word is {}, more than the {} supported", chars_max,
                                    WordPiece::kMaxInputCharsLimit));
  }
  options.max_input_chars_per_word = static_cast<std::size_t>(chars_max);
  LB_RETURN_IF_ERROR(finish_vocabulary(view, VocabularyKind::kSteps, lists));
  LB_ASSIGN_OR_RETURN(auto wordpiece, WordPiece::create(std::move(vocabulary), std::move(options)));
  return TokenModelPtr(std::move(wordpiece));
}

}  // namespace latebind::embedding
