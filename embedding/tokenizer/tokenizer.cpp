#include "embedding/tokenizer/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <new>
#include <utility>

#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/text/counted.h"
#include "core/text/utf8.h"
#include "embedding/tokenizer/tokenizer_inside.h"
#include "embedding/tokenizer/vocabulary_files/beside_tokenizer_json.h"
#include "embedding/tokenizer/vocabulary_files/vocabulary_files.h"
#include "embedding/tokenizer/word_list.h"

namespace latebind::embedding {

using core::Result;
using core::Status;
using core::StatusCode;

Tokenizer::Tokenizer(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::from_file(const std::filesystem::path& file) {
  LB_ASSIGN_OR_RETURN(const platform::MappedFile mapped, platform::MappedFile::open(file));
  const auto bytes = mapped.bytes();
  return from_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, platform::path_to_utf8(file));
}

// `read` returns a Result<TokenizerFile>.
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

Status check_size(std::string_view text, std::string_view name) {
  if (text.size() <= Tokenizer::kFileBytesMax) return {};
  return {StatusCode::kUnsupported, fmt::format("{}: {} bytes are above the limit of {} for a tokenizer", name,
                                                text.size(), Tokenizer::kFileBytesMax)};
}

}  // namespace

Result<Tokenizer> Tokenizer::from_json(std::string_view text, std::string_view name, const TokenizerUse& use) {
  LB_RETURN_IF_ERROR(check_size(text, name));
  const auto read = [&]() -> Result<TokenizerFile> {
    const auto scores = use.beside == nullptr ? NumberRounding::kReference : rounding_beside(*use.beside);
    LB_ASSIGN_OR_RETURN(JsonDocument document, read_json_document(text, scores));
    if (use.beside != nullptr)
      LB_RETURN_IF_ERROR(take_beside_tokenizer_json(*use.beside, document.root, document.lists));
    return used(TokenizerFile::read(std::move(document)), use);
  };
  return from_file_of(read, name, use.markers);
}

Result<Tokenizer> Tokenizer::from_vocabulary_files(const TokenizerClass& tokenizer_class, const VocabularyFiles& files,
                                                   std::string_view name, const TokenizerUse& use) {
  const auto read = [&]() -> Result<TokenizerFile> {
    LB_ASSIGN_OR_RETURN(JsonDocument document, tokenizer_document(tokenizer_class, files));
    return used(TokenizerFile::read(std::move(document)), use);
  };
  return from_file_of(read, name, use.markers);
}

Result<Tokenizer> Tokenizer::from_word_list(std::string_view text, std::string_view name) {
  LB_RETURN_IF_ERROR(check_size(text, name));
  return from_file_of([text] { return read_word_list(text); }, name);
}

Status Tokenizer::check(std::string_view text, std::size_t max_tokens, std::size_t added) {
  if (max_tokens < added) {
    return {StatusCode::kInvalidArgument,
            fmt::format("a limit of {} leaves no room for the {}", core::counted(max_tokens, "token"),
                        core::counted(added, "special token"))};
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
    offsets.resize(offsets.size() + around.after.size());
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

std::size_t Tokenizer::tokens_after() const {
  return parts_->parts.post_processor.after.size();
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
      std::ranges::find(around.after, id) != around.after.end()) {
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
