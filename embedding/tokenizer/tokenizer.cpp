#include "embedding/tokenizer/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "core/platform/folders.h"
#include "core/platform/mapped_file.h"
#include "embedding/tokenizer/added_tokens.h"
#include "embedding/tokenizer/char_map.h"
#include "embedding/tokenizer/normalizer.h"
#include "embedding/tokenizer/post_processor.h"
#include "embedding/tokenizer/pre_tokenizer.h"
#include "embedding/tokenizer/quote.h"
#include "embedding/tokenizer/tokenizer_file.h"
#include "embedding/tokenizer/utf8.h"
#include "embedding/tokenizer/wordpiece.h"

namespace latebind::embedding {

using core::Result;
using core::Status;
using core::StatusCode;

namespace {

constexpr std::size_t kFileBytesMax = std::size_t{64} << 20;

}  // namespace

struct Tokenizer::Parts {
  Parts(TokenizerFile& file, WordPiece word_piece)
      : map(file.normalizer),
        post_processor(std::move(file.post_processor)),
        id_end(file.id_end),
        wordpiece(std::move(word_piece)) {}

  CharMap map;
  PostProcessor post_processor;
  std::size_t id_end;
  // Texts of added tokens that the vocabulary lacks, or has in another form; by id.
  std::vector<std::pair<std::int32_t, std::string>> added_texts;
  WordPiece wordpiece;
  AddedTokenMatcher added_tokens;
  // Added tokens that are looked for in the normalized text, which then is made whole; and the map that changes nothing
  // more in it.
  AddedTokenMatcher normalized_added_tokens;
  std::optional<CharMap> plain_map;

  Status add_tokens(std::vector<AddedToken> tokens);
  bool encode_words(std::string_view text, const CharMap& char_map, WordBuffer& word, std::size_t ids_end,
                    std::vector<std::int32_t>& ids) const;
  bool encode_piece(std::string_view text, WordBuffer& word, std::size_t ids_end, std::vector<std::int32_t>& ids) const;
  void encode(std::string_view text, std::size_t ids_end, std::vector<std::int32_t>& ids) const;
};

Status Tokenizer::Parts::add_tokens(std::vector<AddedToken> tokens) {
  std::vector<AddedToken> raw;
  std::vector<AddedToken> normalized;
  for (AddedToken& token : tokens) {
    if (token.normalized) {
      std::string content = normalize(token.content, map);
      if (content.empty()) {
        return {StatusCode::kUnsupported,
                fmt::format("nothing is left of the added token {} when it is normalized", quote(token.content))};
      }
      token.content = std::move(content);
    }
    if (wordpiece.vocabulary().token(token.id) != token.content) added_texts.emplace_back(token.id, token.content);
    (token.normalized ? normalized : raw).push_back(std::move(token));
  }
  std::sort(added_texts.begin(), added_texts.end());
  LB_ASSIGN_OR_RETURN(added_tokens, AddedTokenMatcher::create(std::move(raw)));
  LB_ASSIGN_OR_RETURN(normalized_added_tokens, AddedTokenMatcher::create(std::move(normalized)));
  if (!normalized_added_tokens.empty()) plain_map.emplace(NormalizerOptions{});
  return {};
}

// These return false when there are ids enough.
bool Tokenizer::Parts::encode_words(std::string_view text, const CharMap& char_map, WordBuffer& word,
                                    std::size_t ids_end, std::vector<std::int32_t>& ids) const {
  return for_each_word(text, char_map, word, [&](std::string_view found, bool too_long) {
    if (too_long) {
      ids.push_back(wordpiece.unknown_id());
    } else {
      wordpiece.tokenize(found, ids);
    }
    return ids.size() < ids_end;
  });
}

bool Tokenizer::Parts::encode_piece(std::string_view text, WordBuffer& word, std::size_t ids_end,
                                    std::vector<std::int32_t>& ids) const {
  if (normalized_added_tokens.empty()) return encode_words(text, map, word, ids_end, ids);
  const std::string normalized = normalize(text, map);
  AddedTokenSplitter splitter(normalized_added_tokens, normalized);
  AddedTokenSplitter::Piece piece;
  while (splitter.next(piece)) {
    if (piece.token != nullptr) {
      ids.push_back(piece.token->id);
      if (ids.size() >= ids_end) return false;
    } else if (!encode_words(piece.text, *plain_map, word, ids_end, ids)) {
      return false;
    }
  }
  return true;
}

void Tokenizer::Parts::encode(std::string_view text, std::size_t ids_end, std::vector<std::int32_t>& ids) const {
  if (ids.size() >= ids_end) return;
  WordBuffer word(wordpiece.options().max_input_chars_per_word);
  AddedTokenSplitter splitter(added_tokens, text);
  AddedTokenSplitter::Piece piece;
  bool go_on = true;
  while (go_on && splitter.next(piece)) {
    if (piece.token != nullptr) {
      ids.push_back(piece.token->id);
      go_on = ids.size() < ids_end;
    } else {
      go_on = encode_piece(piece.text, word, ids_end, ids);
    }
  }
  if (ids.size() > ids_end) ids.resize(ids_end);
}

Tokenizer::Tokenizer(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::from_file(const std::filesystem::path& file) {
  LB_ASSIGN_OR_RETURN(const platform::MappedFile mapped, platform::MappedFile::open(file));
  const auto bytes = mapped.bytes();
  return from_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, platform::path_to_utf8(file));
}

Result<Tokenizer> Tokenizer::from_json(std::string_view text, std::string_view name) {
  if (text.size() > kFileBytesMax) {
    return Status(StatusCode::kUnsupported, fmt::format("{}: {} bytes are more than the {} that a tokenizer may have",
                                                        name, text.size(), kFileBytesMax));
  }
  try {
    auto file = TokenizerFile::read(text);
    if (!file.ok()) return file.status().with_context(name);
    auto wordpiece = WordPiece::create(std::move(file->vocabulary), std::move(file->wordpiece));
    if (!wordpiece.ok()) return wordpiece.status().with_context(name);
    auto parts = std::make_unique<Parts>(*file, *std::move(wordpiece));
    if (Status status = parts->add_tokens(std::move(file->added_tokens)); !status.ok()) {
      return status.with_context(name);
    }
    return Tokenizer(std::move(parts));
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory, fmt::format("{}: not enough memory to read the tokenizer", name));
  } catch (const std::exception& error) {
    return Status(StatusCode::kInternal, fmt::format("{}: {}", name, error.what()));
  }
}

Status Tokenizer::encode(std::string_view text, std::size_t max_tokens, std::vector<std::int32_t>& ids) const {
  const std::size_t added = parts_->post_processor.added_tokens();
  if (max_tokens < added) {
    return {StatusCode::kInvalidArgument,
            fmt::format("at most {} tokens leave no room for the {} special tokens", max_tokens, added)};
  }
  if (const std::size_t invalid = find_invalid_utf8(text); invalid != std::string_view::npos) {
    return {StatusCode::kInvalidArgument, fmt::format("the text is not UTF-8 at byte {}", invalid)};
  }
  const std::size_t begin = ids.size();
  try {
    parts_->post_processor.begin(ids);
    const std::size_t room = max_tokens - added;
    const std::size_t ids_end = room > ids.max_size() - ids.size() ? ids.max_size() : ids.size() + room;
    parts_->encode(text, ids_end, ids);
    parts_->post_processor.end(ids);
  } catch (const std::bad_alloc&) {
    ids.resize(begin);
    return {StatusCode::kOutOfMemory, fmt::format("not enough memory to tokenize {} bytes", text.size())};
  }
  return {};
}

std::optional<std::string_view> Tokenizer::token(std::int32_t id) const {
  const auto& added = parts_->added_texts;
  const auto found = std::lower_bound(added.begin(), added.end(), id,
                                      [](const auto& text, std::int32_t wanted) { return text.first < wanted; });
  if (found != added.end() && found->first == id) return found->second;
  return parts_->wordpiece.vocabulary().token(id);
}

std::size_t Tokenizer::vocabulary_size() const {
  return parts_->id_end;
}

}  // namespace latebind::embedding
