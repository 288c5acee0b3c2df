#include "embedding/tokenizer/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <map>
#include <new>
#include <optional>
#include <utility>

#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"
#include "embedding/tokenizer/added_tokens.h"
#include "embedding/tokenizer/aligned_encoder.h"
#include "embedding/tokenizer/fused_bert_encoder.h"
#include "embedding/tokenizer/patterns/pattern.h"
#include "embedding/tokenizer/staged_encoder.h"
#include "embedding/tokenizer/text_encoder.h"
#include "embedding/tokenizer/tokenizer_file.h"
#include "embedding/tokenizer/tokenizer_parts.h"
#include "embedding/tokenizer/vocabulary_files/vocabulary_files.h"

namespace latebind::embedding {

using core::Result;
using core::Status;
using core::StatusCode;

struct Tokenizer::Parts {
  explicit Parts(TokenizerFile& file)
      : parts(std::move(file.parts)), id_end(file.id_end), decoder(std::move(file.decoder)) {}

  TokenizerParts parts;
  std::size_t id_end;
  core::Result<DecoderPtr> decoder;
  // Texts of added tokens that the vocabulary lacks, or has in another form; by id.
  std::vector<std::pair<std::int32_t, std::string>> added_texts;
  // Contents of special tokens as the file has them, sorted: what the reference takes a token's text for special by.
  std::vector<std::string> special_texts;
  // Ids of added tokens by their texts as the file has them.
  std::map<std::string, std::int32_t, std::less<>> added_ids;
  // Those that are looked for in the text as it is; the others are the encoder's.
  AddedTokenMatcher added_tokens;
  std::unique_ptr<const FusedBertEncoder> fused;  // null: for any other parts
  std::unique_ptr<const StagedEncoder> staged;
  std::unique_ptr<const AlignedEncoder> aligned;
  const TextEncoder* encoder = nullptr;  // the quicker one of the first two

  Status add_tokens(std::vector<AddedToken> tokens);
  // See TokenizerUse; `tokens` are those that were added.
  Status mark(std::span<const std::string> markers, std::vector<AddedToken> tokens);
  [[nodiscard]] std::optional<std::int32_t> id_of(std::string_view token) const;
  void encode(std::string_view text, std::size_t ids_end, std::vector<std::int32_t>& ids) const;
};

Status Tokenizer::Parts::add_tokens(std::vector<AddedToken> tokens) {
  std::vector<AddedToken> raw;
  std::vector<AddedToken> normalized;
  added_texts.clear();
  special_texts.clear();
  added_ids.clear();
  for (AddedToken& token : tokens) {
    added_ids.emplace(token.content, token.id);
    if (token.special) special_texts.push_back(token.content);
    if (token.normalized && parts.normalizer != nullptr) {
      std::string content = parts.normalizer->normalize(token.content);
      if (content.empty()) {
        return {StatusCode::kUnsupported, fmt::format("nothing is left of the added token {} when it is normalized",
                                                      core::quoted(token.content))};
      }
      token.content = std::move(content);
    }
    if (parts.model->vocabulary().token(token.id) != token.content) added_texts.emplace_back(token.id, token.content);
    (token.normalized ? normalized : raw).push_back(std::move(token));
  }
  std::sort(added_texts.begin(), added_texts.end());
  std::sort(special_texts.begin(), special_texts.end());
  LB_ASSIGN_OR_RETURN(added_tokens, AddedTokenMatcher::create(std::move(raw)));
  // These are looked for in a text that the fused encoder never has.
  fused = normalized.empty() ? FusedBertEncoder::create(parts) : nullptr;
  LB_ASSIGN_OR_RETURN(AddedTokenMatcher matcher, AddedTokenMatcher::create(std::move(normalized)));
  staged = std::make_unique<StagedEncoder>(parts, std::move(matcher));
  aligned = std::make_unique<AlignedEncoder>(parts, added_tokens, staged->added_tokens());
  encoder = staged.get();
  if (fused != nullptr) encoder = fused.get();
  return {};
}

std::optional<std::int32_t> Tokenizer::Parts::id_of(std::string_view token) const {
  const auto added = added_ids.find(token);
  if (added != added_ids.end()) return added->second;
  return parts.model->vocabulary().find(token);
}

// Source: MultiVectorEncoder._register_prefix_tokens() of sentence-transformers.
Status Tokenizer::Parts::mark(std::span<const std::string> markers, std::vector<AddedToken> tokens) {
  bool is_new = false;
  for (const std::string& marker : markers) {
    constexpr std::string_view kSpaces = " \t\n\r\f\v";
    const std::size_t first = marker.find_first_not_of(kSpaces);
    if (first == std::string::npos) continue;
    const std::size_t end = std::min(marker.find_first_of(kSpaces, first), marker.size());
    for (const std::string& content : {marker, marker.substr(first, end - first)}) {
      const auto id = id_of(content);
      if (!id) continue;
      std::vector<std::int32_t> ids;
      encode(content, ids.max_size(), ids);
      // One that is looked for in the normalized text has another text, and does not count as itself.
      const auto has_other_text = [&](const auto& text) { return text.first == *id && text.second != content; };
      if (ids == std::vector{*id} && std::ranges::none_of(added_texts, has_other_text)) break;
      std::erase_if(tokens, [&](const AddedToken& token) { return token.content == content; });
      tokens.push_back({.content = content, .id = *id, .special = true});
      is_new = true;
      break;
    }
  }
  return is_new ? add_tokens(std::move(tokens)) : Status();
}

void Tokenizer::Parts::encode(std::string_view text, std::size_t ids_end, std::vector<std::int32_t>& ids) const {
  if (ids.size() >= ids_end) return;
  AddedTokenSplitter splitter(added_tokens, text);
  AddedTokenSplitter::Piece piece;
  bool go_on = true;
  while (go_on && splitter.next(piece)) {
    if (piece.token != nullptr) {
      ids.push_back(piece.token->id);
      go_on = ids.size() < ids_end;
    } else {
      go_on = encoder->encode(piece.text, piece.text.data() == text.data(), ids_end, ids);
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

// `read` gives a Result<TokenizerFile>.
template <class Read>
Result<Tokenizer> Tokenizer::from_file_of(Read read, std::string_view name, std::span<const std::string> markers) {
  try {
    auto file = read();
    if (!file.ok()) return file.status().with_context(name);
    auto parts = std::make_unique<Parts>(*file);
    Status status = parts->add_tokens(file->added_tokens);
    if (status.ok()) status = parts->mark(markers, std::move(file->added_tokens));
    if (!status.ok()) return status.with_context(name);
    return Tokenizer(std::move(parts));
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory, fmt::format("{}: not enough memory to read the tokenizer", name));
  } catch (const PatternLimitError& error) {
    return Status(StatusCode::kUnsupported, fmt::format("{}: {}", name, error.what()));
  } catch (const std::exception& error) {
    return Status(StatusCode::kInternal, fmt::format("{}: {}", name, error.what()));
  }
}

namespace {

Result<TokenizerFile> used(Result<TokenizerFile> file, const TokenizerUse& use) {
  if (file.ok() && !use.special_tokens) file->parts.post_processor = file->parts.post_processor.without_tokens();
  return file;
}

}  // namespace

Result<Tokenizer> Tokenizer::from_json(std::string_view text, std::string_view name, const TokenizerUse& use) {
  if (text.size() > kFileBytesMax) {
    return Status(StatusCode::kUnsupported, fmt::format("{}: {} bytes are more than the {} that a tokenizer may have",
                                                        name, text.size(), kFileBytesMax));
  }
  return from_file_of([&] { return used(TokenizerFile::read(text), use); }, name, use.markers);
}

Result<Tokenizer> Tokenizer::from_vocabulary_files(const TokenizerClass& tokenizer_class, const VocabularyFiles& files,
                                                   std::string_view name, const TokenizerUse& use) {
  const auto read = [&]() -> Result<TokenizerFile> {
    LB_ASSIGN_OR_RETURN(JsonDocument document, tokenizer_document(tokenizer_class, files));
    return used(TokenizerFile::read(std::move(document)), use);
  };
  return from_file_of(read, name, use.markers);
}

namespace {

// What `work` returns; instead of what it throws, why texts of so many bytes have no ids.
template <class Work>
Status within_limits(std::size_t bytes, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return {StatusCode::kOutOfMemory, fmt::format("not enough memory to tokenize {} bytes", bytes)};
  } catch (const PatternLimitError& error) {
    return {StatusCode::kUnsupported, error.what()};
  }
}

// How many tokens of two texts stay, where there is room for so many. Source: truncate_encodings() of tokenizers.
Result<std::pair<std::size_t, std::size_t>> kept_tokens(std::size_t first, std::size_t second, std::size_t room,
                                                        PairTruncation truncation) {
  if (first + second <= room) return std::pair{first, second};
  if (truncation == PairTruncation::kLongestFirst) {
    const auto [shorter, longer] = std::minmax(first, second);
    const bool first_is_longer = first > second;
    if (shorter > room / 2) {
      const std::size_t small = room / 2;
      const std::size_t large = room - small;
      return first_is_longer ? std::pair{large, small} : std::pair{small, large};
    }
    return first_is_longer ? std::pair{std::min(longer, room - shorter), shorter}
                           : std::pair{shorter, std::min(longer, room - shorter)};
  }
  const bool cuts_first = truncation == PairTruncation::kOnlyFirst;
  if ((cuts_first ? second : first) >= room) {
    return Status(StatusCode::kTextTooLong,
                  fmt::format("the {} text alone, which is not to be cut, leaves no room for the other one in {} "
                              "tokens",
                              cuts_first ? "second" : "first", room));
  }
  return cuts_first ? std::pair{room - second, second} : std::pair{first, room - first};
}

// Of those from `begin` on, the first or the last ones stay, so many.
void keep_tokens(std::vector<std::int32_t>& ids, std::size_t begin, std::size_t count, bool keep_end) {
  const std::size_t cut = ids.size() - begin - count;
  if (!keep_end) return ids.resize(begin + count);
  const auto from = ids.begin() + static_cast<std::ptrdiff_t>(begin);
  ids.erase(from, from + static_cast<std::ptrdiff_t>(cut));
}

}  // namespace

Result<EncodedPair> Tokenizer::encode_pair(std::string_view first, std::string_view second, const PairLimits& limits,
                                           std::vector<std::int32_t>& ids) const {
  LB_RETURN_IF_ERROR(parts_->parts.post_processor.pair.status());
  const PairProcessor& around = *parts_->parts.post_processor.pair;
  const std::size_t added = around.added_tokens();
  for (const auto& [text, name] : {std::pair{first, "the first text"}, std::pair{second, "the second text"}}) {
    LB_RETURN_IF_ERROR(check(text, limits.max_tokens, added).with_context(name));
  }
  const std::size_t begin = ids.size();
  EncodedPair pair;
  const auto encode = [&]() -> Status {
    const std::size_t room = limits.max_tokens - added;
    ids.insert(ids.end(), around.before.begin(), around.before.end());
    const std::size_t first_begin = ids.size();
    std::vector<std::int32_t> second_ids;
    const auto append = [&](std::string_view text, bool whole, std::vector<std::int32_t>& to) {
      const std::size_t left = to.max_size() - to.size();
      parts_->encode(text, whole || room >= left ? to.max_size() : to.size() + room + 1, to);
    };
    const auto append_both = [&](bool whole) {
      append(first, whole, ids);
      append(second, whole, second_ids);
      return ids.size() - first_begin;
    };
    // One more than there is room for shows that a text is too long. How much longer makes no difference, unless both
    // are: the longer one then gets the token that is left of two halves.
    std::size_t first_count = append_both(limits.keep_end);
    const bool has_odd_token = limits.truncation == PairTruncation::kLongestFirst && room % 2 == 1;
    if (has_odd_token && first_count > room && second_ids.size() > room && !limits.keep_end) {
      ids.resize(first_begin);
      second_ids.clear();
      first_count = append_both(true);
    }
    LB_ASSIGN_OR_RETURN(const auto kept, kept_tokens(first_count, second_ids.size(), room, limits.truncation));
    pair.is_cut = kept.first < first_count || kept.second < second_ids.size();
    keep_tokens(ids, first_begin, kept.first, limits.keep_end);
    keep_tokens(second_ids, 0, kept.second, limits.keep_end);
    const std::size_t between_begin = ids.size();
    ids.insert(ids.end(), around.between.begin(), around.between.end());
    ids.insert(ids.end(), second_ids.begin(), second_ids.end());
    ids.insert(ids.end(), around.behind.begin(), around.behind.end());
    pair.type_one_from = (around.type_one_from ? between_begin + *around.type_one_from : ids.size()) - begin;
    return {};
  };
  const Status status = within_limits(first.size() + second.size(), encode);
  if (status.ok()) return pair;
  ids.resize(begin);
  return status;
}

Status Tokenizer::check(std::string_view text, std::size_t max_tokens, std::size_t added) {
  if (max_tokens < added) {
    return {StatusCode::kInvalidArgument,
            fmt::format("at most {} tokens leave no room for the {} special tokens", max_tokens, added)};
  }
  if (const auto invalid = core::find_invalid_utf8(text)) {
    return {StatusCode::kInvalidArgument, fmt::format("the text is not UTF-8 at byte {}", *invalid)};
  }
  return {};
}

Status Tokenizer::encode(std::string_view text, std::size_t max_tokens, std::vector<std::int32_t>& ids) const {
  const PostProcessor& around = parts_->parts.post_processor;
  LB_RETURN_IF_ERROR(check(text, max_tokens, around.added_tokens()));
  const std::size_t begin = ids.size();
  Status status = within_limits(text.size(), [&]() -> Status {
    around.begin(ids);
    const std::size_t room = max_tokens - around.added_tokens();
    const std::size_t ids_end = room > ids.max_size() - ids.size() ? ids.max_size() : ids.size() + room;
    parts_->encode(text, ids_end, ids);
    around.end(ids);
    return {};
  });
  if (!status.ok()) ids.resize(begin);
  return status;
}

Result<std::size_t> Tokenizer::encode_end(std::string_view text, std::size_t max_tokens,
                                          std::vector<std::int32_t>& ids) const {
  const PostProcessor& around = parts_->parts.post_processor;
  LB_RETURN_IF_ERROR(check(text, max_tokens, around.added_tokens()));
  const std::size_t begin = ids.size();
  std::size_t cut = 0;
  Status status = within_limits(text.size(), [&]() -> Status {
    around.begin(ids);
    const std::size_t first = ids.size();
    parts_->encode(text, ids.max_size(), ids);
    const std::size_t room = max_tokens - around.added_tokens();
    if (ids.size() - first > room) {
      cut = ids.size() - first - room;
      keep_tokens(ids, first, room, /*keep_end=*/true);
    }
    around.end(ids);
    return {};
  });
  if (status.ok()) return cut;
  ids.resize(begin);
  return status;
}

Status Tokenizer::gives_offsets() const {
  const std::string_view part = parts_->parts.model->without_offsets();
  if (part.empty()) return {};
  return {StatusCode::kUnsupported, fmt::format("offsets are not supported for a {}", part)};
}

Status Tokenizer::encode_with_offsets(std::string_view text, std::size_t max_tokens, Cut cut,
                                      std::vector<std::int32_t>& ids, std::vector<TokenOffsets>& offsets) const {
  LB_RETURN_IF_ERROR(gives_offsets());
  LB_RETURN_IF_ERROR(check(text, max_tokens, parts_->parts.post_processor.added_tokens()));
  const PostProcessor& around = parts_->parts.post_processor;
  const std::size_t ids_begin = ids.size();
  const std::size_t offsets_begin = offsets.size();
  Status status = within_limits(text.size(), [&]() -> Status {
    const std::size_t room = max_tokens - around.added_tokens();
    auto tokens = parts_->aligned->encode(text, cut == Cut::kEnd ? room : std::numeric_limits<std::size_t>::max());
    if (tokens.size() > room) {
      const auto excess = static_cast<std::ptrdiff_t>(tokens.size() - room);
      const auto from = cut == Cut::kEnd ? tokens.end() - excess : tokens.begin();
      tokens.erase(from, from + excess);
    }
    parts_->aligned->trim(text, tokens);
    around.begin(ids);
    offsets.resize(offsets.size() + around.before.size());
    for (const AlignedToken& token : tokens) {
      ids.push_back(token.id);
      offsets.push_back(token.offsets);
    }
    around.end(ids);
    offsets.resize(offsets.size() + around.behind.size());
    return {};
  });
  if (status.ok()) return status;
  ids.resize(ids_begin);
  offsets.resize(offsets_begin);
  return status;
}

std::size_t Tokenizer::tokens_before() const {
  return parts_->parts.post_processor.before.size();
}

std::size_t Tokenizer::tokens_behind() const {
  return parts_->parts.post_processor.behind.size();
}

Result<std::string> Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const {
  LB_RETURN_IF_ERROR(parts_->decoder.status());
  try {
    std::vector<std::string> tokens;
    tokens.reserve(ids.size());
    for (const std::int32_t id : ids) {
      const auto text = token(id);
      if (!text) return Status(StatusCode::kInvalidArgument, fmt::format("no token has the id {}", id));
      if (skip_special_tokens && std::ranges::binary_search(parts_->special_texts, *text)) continue;
      tokens.emplace_back(*text);
    }
    const Decoder* const decoder = parts_->decoder->get();
    if (decoder != nullptr) tokens = decoder->decode(std::move(tokens));
    std::string text;
    for (std::size_t i = 0; i < tokens.size(); ++i)
      text.append(i > 0 && decoder == nullptr ? " " : "").append(tokens[i]);
    return text;
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory, fmt::format("not enough memory to decode {} tokens", ids.size()));
  } catch (const PatternLimitError& error) {
    return Status(StatusCode::kUnsupported, error.what());
  }
}

std::optional<std::string_view> Tokenizer::token(std::int32_t id) const {
  const auto& added = parts_->added_texts;
  const auto found = std::lower_bound(added.begin(), added.end(), id,
                                      [](const auto& text, std::int32_t wanted) { return text.first < wanted; });
  if (found != added.end() && found->first == id) return found->second;
  return parts_->parts.model->vocabulary().token(id);
}

bool Tokenizer::is_special(std::int32_t id) const {
  const PostProcessor& around = parts_->parts.post_processor;
  if (std::ranges::find(around.before, id) != around.before.end() ||
      std::ranges::find(around.behind, id) != around.behind.end()) {
    return true;
  }
  const auto text = token(id);
  return text && std::ranges::binary_search(parts_->special_texts, *text);
}

std::optional<std::int32_t> Tokenizer::id_of(std::string_view token) const {
  return parts_->id_of(token);
}

std::size_t Tokenizer::vocabulary_size() const {
  return parts_->id_end;
}

}  // namespace latebind::embedding
