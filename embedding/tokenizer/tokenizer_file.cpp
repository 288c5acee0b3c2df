#include "embedding/tokenizer/tokenizer_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/text/quote.h"
#include "embedding/tokenizer/json_document.h"
#include "embedding/tokenizer/json_view.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using core::Status;
using core::StatusCode;

Result<NormalizerPtr> read_normalizer(const JsonView& root) {
  const Json* value = root.find("normalizer");
  if (value == nullptr || value->is_null()) return NormalizerPtr();
  LB_ASSIGN_OR_RETURN(const JsonView view, JsonView::object(*value, "normalizer"));
  LB_ASSIGN_OR_RETURN(const auto read, find_part(view, kNormalizers));
  return read(view);
}

Result<PreTokenizerPtr> read_pre_tokenizer(const JsonView& root) {
  const Json* value = root.find("pre_tokenizer");
  if (value == nullptr || value->is_null()) return PreTokenizerPtr();
  LB_ASSIGN_OR_RETURN(const JsonView view, JsonView::object(*value, "pre_tokenizer"));
  LB_ASSIGN_OR_RETURN(const auto read, find_part(view, kPreTokenizers));
  return read(view);
}

Result<TokenModelPtr> read_model(const JsonView& root, ModelLists lists) {
  const Json* value = root.find("model");
  if (value == nullptr) return Status(StatusCode::kInvalidModel, "the file has no 'model'");
  LB_ASSIGN_OR_RETURN(const JsonView view, JsonView::object(*value, "model"));
  // Files of early versions do not name the model, and the reference takes the first type that fits.
  if (view.find("type") == nullptr && lists.merges) return read_bpe(view, std::move(lists));
  if (view.find("type") == nullptr && lists.scores) return read_unigram(view, std::move(lists));
  LB_ASSIGN_OR_RETURN(const auto read, find_part(view, kModels));
  return read(view, std::move(lists));
}

Result<PostProcessor> read_post_processor(const JsonView& root, std::size_t id_end) {
  const Json* value = root.find("post_processor");
  if (value == nullptr || value->is_null()) return PostProcessor{};
  LB_ASSIGN_OR_RETURN(const JsonView view, JsonView::object(*value, "post_processor"));
  LB_ASSIGN_OR_RETURN(const auto read, find_part(view, kPostProcessors));
  return read(view, id_end);
}

Result<DecoderPtr> read_decoder(const JsonView& root) {
  const Json* value = root.find("decoder");
  if (value == nullptr || value->is_null()) return DecoderPtr();
  LB_ASSIGN_OR_RETURN(const JsonView view, JsonView::object(*value, "decoder"));
  LB_ASSIGN_OR_RETURN(const auto read, find_part(view, kDecoders));
  return read(view);
}

// The id in the file must be the one that the reference assigns to the token: that of the vocabulary, or else the next
// free one from the vocabulary's size on.
Status read_added_tokens(const JsonView& root, TokenizerFile& file) {
  const Json* value = root.find("added_tokens");
  if (value == nullptr) return {};
  LB_ASSIGN_OR_RETURN(const Json* array, root.array("added_tokens"));
  std::unordered_map<std::string, std::size_t> seen;
  const Vocabulary& vocabulary = file.parts.model->vocabulary();
  std::uint64_t next_id = vocabulary.size();
  for (const Json& element : *array) {
    LB_ASSIGN_OR_RETURN(const JsonView view,
                        JsonView::object(element, fmt::format("added_tokens[{}]", &element - &array->front())));
    LB_RETURN_IF_ERROR(view.only_keys({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"}));
    AddedToken token;
    LB_ASSIGN_OR_RETURN(token.content, view.string("content"));
    LB_ASSIGN_OR_RETURN(const std::uint64_t id, view.whole_number("id"));
    LB_ASSIGN_OR_RETURN(token.single_word, view.boolean("single_word"));
    LB_ASSIGN_OR_RETURN(token.lstrip, view.boolean("lstrip"));
    LB_ASSIGN_OR_RETURN(token.rstrip, view.boolean("rstrip"));
    LB_ASSIGN_OR_RETURN(token.normalized, view.boolean("normalized"));
    LB_ASSIGN_OR_RETURN(token.special, view.boolean("special"));
    if (token.content.empty()) continue;  // as in the reference
    if (token.content.size() > Vocabulary::kTokenBytesMax) {
      return {StatusCode::kUnsupported, fmt::format("{}.content is {} bytes long, more than the {} supported",
                                                    view.name(), token.content.size(), Vocabulary::kTokenBytesMax)};
    }
    if (!seen.emplace(token.content, seen.size()).second) {
      return {StatusCode::kInvalidModel,
              fmt::format("{}: {} was added before", view.name(), core::quoted(token.content))};
    }
    const auto in_vocabulary = vocabulary.find(token.content);
    const std::uint64_t expected = in_vocabulary ? static_cast<std::uint64_t>(*in_vocabulary) : next_id++;
    if (id != expected || id >= Vocabulary::kIdEnd) {
      return {StatusCode::kInvalidModel,
              fmt::format("{}: the id of {} is {}, but should be {} ({})", view.name(), core::quoted(token.content), id,
                          expected, in_vocabulary ? "as in the vocabulary" : "the next one after the vocabulary")};
    }
    token.id = static_cast<std::int32_t>(id);
    file.id_end = std::max(file.id_end, static_cast<std::size_t>(id) + 1);
    file.added_tokens.push_back(std::move(token));
  }
  return {};
}

}  // namespace

Result<TokenizerFile> TokenizerFile::read(std::string_view text) {
  LB_ASSIGN_OR_RETURN(JsonDocument document, read_json_document(text));
  return read(std::move(document));
}

Result<TokenizerFile> TokenizerFile::read(JsonDocument document) {
  LB_ASSIGN_OR_RETURN(const JsonView root, JsonView::object(document.root, "the file"));
  LB_RETURN_IF_ERROR(root.only_keys({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                                     "post_processor", "decoder", "model"}));
  if (root.find("version") != nullptr) {
    LB_ASSIGN_OR_RETURN(const std::string version, root.string("version"));
    if (version != "1.0") {
      return Status(StatusCode::kUnsupported,
                    fmt::format("version {} is not supported (supported: '1.0')", core::quoted(version)));
    }
  }
  TokenizerFile file;
  // The model first, since another kind of model is the error to report.
  LB_ASSIGN_OR_RETURN(file.parts.model, read_model(root, std::move(document.lists)));
  LB_ASSIGN_OR_RETURN(file.parts.normalizer, read_normalizer(root));
  LB_ASSIGN_OR_RETURN(file.parts.pre_tokenizer, read_pre_tokenizer(root));
  const TokenizerParts& parts = file.parts;
  if (parts.pre_tokenizer != nullptr && parts.pre_tokenizer->needs_origin() && parts.normalizer != nullptr &&
      !parts.normalizer->tracks_origin()) {
    return Status(StatusCode::kUnsupported,
                  "pre_tokenizer with prepend_scheme 'first' is not supported after this normalizer (supported: "
                  "ByteLevel, Nmt, Precompiled, Prepend, Replace, Strip, a Sequence of these, none)");
  }
  file.id_end = file.parts.model->vocabulary().id_end();
  LB_RETURN_IF_ERROR(read_added_tokens(root, file));
  LB_ASSIGN_OR_RETURN(file.parts.post_processor, read_post_processor(root, file.id_end));
  file.decoder = read_decoder(root);
  return file;
}

std::vector<TokenizerPartNames> known_tokenizer_parts() {
  const auto names_of = [](std::string_view kind, const auto& parts) {
    TokenizerPartNames names{.kind = kind, .types = {}};
    for (const auto& part : parts)
      names.types.push_back(part.type);
    return names;
  };
  return {names_of("normalizer", kNormalizers), names_of("pre_tokenizer", kPreTokenizers), names_of("model", kModels),
          names_of("post_processor", kPostProcessors), names_of("decoder", kDecoders)};
}

}  // namespace latebind::embedding
