#include "embedding/tokenizer/tokenizer_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "embedding/tokenizer/json_document.h"
#include "embedding/tokenizer/json_view.h"
#include "embedding/tokenizer/quote.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using nlohmann::json;

Result<NormalizerOptions> read_normalizer(const JsonView& root) {
  const json* value = root.find("normalizer");
  if (value == nullptr || value->is_null()) return NormalizerOptions{};
  LB_ASSIGN_OR_RETURN(const JsonView view, JsonView::object(*value, "normalizer"));
  LB_RETURN_IF_ERROR(view.require_type("BertNormalizer"));
  LB_RETURN_IF_ERROR(view.only_keys({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"}));
  NormalizerOptions options;
  LB_ASSIGN_OR_RETURN(options.clean_text, view.boolean("clean_text"));
  LB_ASSIGN_OR_RETURN(options.handle_chinese_chars, view.boolean("handle_chinese_chars"));
  LB_ASSIGN_OR_RETURN(options.lowercase, view.boolean("lowercase"));
  options.strip_accents = options.lowercase;
  const json* strip_accents = view.find("strip_accents");
  if (strip_accents != nullptr && !strip_accents->is_null()) {
    LB_ASSIGN_OR_RETURN(options.strip_accents, view.boolean("strip_accents"));
  }
  return options;
}

Status check_pre_tokenizer(const JsonView& root) {
  const json* value = root.find("pre_tokenizer");
  if (value == nullptr || value->is_null()) {
    return {StatusCode::kUnsupported, "no pre_tokenizer is not supported (supported: BertPreTokenizer)"};
  }
  LB_ASSIGN_OR_RETURN(const JsonView view, JsonView::object(*value, "pre_tokenizer"));
  LB_RETURN_IF_ERROR(view.require_type("BertPreTokenizer"));
  return view.only_keys({"type"});
}

Status read_model(const JsonView& root, TokenizerFile& file) {
  const json* value = root.find("model");
  if (value == nullptr) return {StatusCode::kInvalidModel, "the file has no \"model\""};
  LB_ASSIGN_OR_RETURN(const JsonView model, JsonView::object(*value, "model"));
  LB_RETURN_IF_ERROR(model.require_type("WordPiece"));
  LB_RETURN_IF_ERROR(
      model.only_keys({"type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"}));
  LB_ASSIGN_OR_RETURN(file.wordpiece.unk_token, model.string("unk_token"));
  LB_ASSIGN_OR_RETURN(file.wordpiece.continuing_subword_prefix, model.string("continuing_subword_prefix"));
  if (file.wordpiece.continuing_subword_prefix.size() > Vocabulary::kTokenBytesMax) {
    return {StatusCode::kUnsupported,
            fmt::format("model.continuing_subword_prefix is longer than {} bytes", Vocabulary::kTokenBytesMax)};
  }
  LB_ASSIGN_OR_RETURN(const std::uint64_t chars_max, model.whole_number("max_input_chars_per_word"));
  if (chars_max > WordPiece::kMaxInputCharsLimit) {
    return {StatusCode::kUnsupported, fmt::format("model.max_input_chars_per_word is {}, more than the {} supported",
                                                  chars_max, WordPiece::kMaxInputCharsLimit)};
  }
  file.wordpiece.max_input_chars_per_word = static_cast<std::size_t>(chars_max);
  const json* vocab = model.find("vocab");
  if (vocab == nullptr || !vocab->is_boolean()) {
    return {StatusCode::kInvalidModel, "model has no \"vocab\" (an object)"};
  }
  if (Status status = file.vocabulary.finish(); !status.ok()) return status.with_context("model.vocab");
  if (file.vocabulary.size() == 0) return {StatusCode::kInvalidModel, "model.vocab is empty"};
  file.id_end = file.vocabulary.id_end();
  return {};
}

// The id in the file must be the one that the reference gives the token: that of the vocabulary, or the next free one
// counted from the vocabulary's size.
Status read_added_tokens(const JsonView& root, TokenizerFile& file) {
  const json* value = root.find("added_tokens");
  if (value == nullptr) return {};
  LB_ASSIGN_OR_RETURN(const json* array, root.array("added_tokens"));
  std::unordered_map<std::string, std::size_t> seen;
  std::uint64_t next_id = file.vocabulary.size();
  for (const json& element : *array) {
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
    if (token.content.empty()) continue;  // as the reference does
    if (token.content.size() > Vocabulary::kTokenBytesMax) {
      return {StatusCode::kUnsupported, fmt::format("{}.content is {} bytes long, more than the {} supported",
                                                    view.name(), token.content.size(), Vocabulary::kTokenBytesMax)};
    }
    if (!seen.emplace(token.content, seen.size()).second) {
      return {StatusCode::kInvalidModel, fmt::format("{}: {} was added before", view.name(), quote(token.content))};
    }
    const auto in_vocabulary = file.vocabulary.find(token.content);
    const std::uint64_t expected = in_vocabulary ? static_cast<std::uint64_t>(*in_vocabulary) : next_id++;
    if (id != expected || id >= Vocabulary::kIdEnd) {
      return {StatusCode::kInvalidModel,
              fmt::format("{}: the id of {} is {}, and should be {} ({})", view.name(), quote(token.content), id,
                          expected, in_vocabulary ? "as in the vocabulary" : "the next one after the vocabulary")};
    }
    token.id = static_cast<std::int32_t>(id);
    file.id_end = std::max(file.id_end, static_cast<std::size_t>(id) + 1);
    file.added_tokens.push_back(std::move(token));
  }
  return {};
}

Result<std::int32_t> checked_id(const json& value, std::size_t id_end, std::string_view place) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= id_end) {
    return Status(StatusCode::kInvalidModel, fmt::format("{} is not the id of a token (below {})", place, id_end));
  }
  return static_cast<std::int32_t>(value.get<std::uint64_t>());
}

Result<PostProcessor> read_bert_processing(const JsonView& view, std::size_t id_end) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "sep", "cls"}));
  PostProcessor post_processor;
  for (const char* key : {"cls", "sep"}) {
    LB_ASSIGN_OR_RETURN(const json* pair, view.array(key));
    if (pair->size() != 2 || !(*pair)[0].is_string()) {
      return Status(StatusCode::kInvalidModel, fmt::format("{}.{} is not a token and its id", view.name(), key));
    }
    LB_ASSIGN_OR_RETURN(const std::int32_t id,
                        checked_id((*pair)[1], id_end, fmt::format("{}.{}[1]", view.name(), key)));
    (key[0] == 'c' ? post_processor.before : post_processor.behind).push_back(id);
  }
  return post_processor;
}

Status append_special_token(const JsonView& view, std::string_view token, std::size_t id_end,
                            std::vector<std::int32_t>& ids) {
  constexpr std::size_t kIdsMax = 1024;
  LB_ASSIGN_OR_RETURN(const JsonView special_tokens, view.object("special_tokens"));
  const json* value = special_tokens.find(token);
  const std::string name = fmt::format("{}[{}]", special_tokens.name(), quote(token));
  if (value == nullptr) return {StatusCode::kInvalidModel, fmt::format("{} is missing", name)};
  LB_ASSIGN_OR_RETURN(const JsonView special, JsonView::object(*value, name));
  LB_RETURN_IF_ERROR(special.only_keys({"id", "ids", "tokens"}));
  LB_ASSIGN_OR_RETURN(const json* listed, special.array("ids"));
  for (const json& id : *listed) {
    LB_ASSIGN_OR_RETURN(const std::int32_t checked, checked_id(id, id_end, name + ".ids"));
    ids.push_back(checked);
  }
  if (ids.size() > kIdsMax) {
    return {StatusCode::kUnsupported, fmt::format("{} adds more than {} tokens", view.name(), kIdsMax)};
  }
  return {};
}

Result<PostProcessor> read_template(const JsonView& view, std::size_t id_end) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "single", "pair", "special_tokens"}));
  LB_ASSIGN_OR_RETURN(const json* pieces, view.array("single"));
  PostProcessor post_processor;
  bool sequence_seen = false;
  for (const json& piece : *pieces) {
    const std::string place = fmt::format("{}.single[{}]", view.name(), &piece - &pieces->front());
    LB_ASSIGN_OR_RETURN(const JsonView outer, JsonView::object(piece, place));
    const bool is_sequence = outer.find("Sequence") != nullptr;
    const char* kind = is_sequence ? "Sequence" : "SpecialToken";
    LB_RETURN_IF_ERROR(outer.only_keys({kind}));
    LB_ASSIGN_OR_RETURN(const JsonView inner, outer.object(kind));
    LB_RETURN_IF_ERROR(inner.only_keys({"id", "type_id"}));
    LB_ASSIGN_OR_RETURN(const std::string id, inner.string("id"));
    LB_ASSIGN_OR_RETURN(const std::uint64_t type_id, inner.whole_number("type_id"));
    if (type_id != 0) {
      return Status(StatusCode::kUnsupported, fmt::format("{} has type_id {} (supported: 0)", place, type_id));
    }
    if (is_sequence) {
      if (id != "A" || sequence_seen) {
        return Status(StatusCode::kUnsupported,
                      fmt::format("{} is sequence {} (supported: the sequence \"A\", once)", place, quote(id)));
      }
      sequence_seen = true;
    } else {
      auto& ids = sequence_seen ? post_processor.behind : post_processor.before;
      LB_RETURN_IF_ERROR(append_special_token(view, id, id_end, ids));
    }
  }
  if (!sequence_seen) {
    return Status(StatusCode::kUnsupported, fmt::format("{}.single is without the sequence \"A\"", view.name()));
  }
  return post_processor;
}

Result<PostProcessor> read_post_processor(const JsonView& root, std::size_t id_end) {
  const json* value = root.find("post_processor");
  if (value == nullptr || value->is_null()) return PostProcessor{};
  LB_ASSIGN_OR_RETURN(const JsonView view, JsonView::object(*value, "post_processor"));
  LB_ASSIGN_OR_RETURN(const std::string type, view.string("type"));
  if (type == "TemplateProcessing") return read_template(view, id_end);
  if (type == "BertProcessing") return read_bert_processing(view, id_end);
  return Status(
      StatusCode::kUnsupported,
      fmt::format("post_processor of type {} is not supported (supported: TemplateProcessing, BertProcessing)",
                  quote(type)));
}

}  // namespace

Result<TokenizerFile> TokenizerFile::read(std::string_view text) {
  LB_ASSIGN_OR_RETURN(JsonDocument document, read_json_document(text));
  LB_ASSIGN_OR_RETURN(const JsonView root, JsonView::object(document.root, "the file"));
  LB_RETURN_IF_ERROR(root.only_keys({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                                     "post_processor", "decoder", "model"}));
  if (root.find("version") != nullptr) {
    LB_ASSIGN_OR_RETURN(const std::string version, root.string("version"));
    if (version != "1.0") {
      return Status(StatusCode::kUnsupported,
                    fmt::format("version {} is not supported (supported: \"1.0\")", quote(version)));
    }
  }
  TokenizerFile file;
  file.vocabulary = std::move(document.vocabulary);
  // The model first: when it is of another kind, that is what the reader wants to hear.
  LB_RETURN_IF_ERROR(read_model(root, file));
  LB_ASSIGN_OR_RETURN(file.normalizer, read_normalizer(root));
  LB_RETURN_IF_ERROR(check_pre_tokenizer(root));
  LB_RETURN_IF_ERROR(read_added_tokens(root, file));
  LB_ASSIGN_OR_RETURN(file.post_processor, read_post_processor(root, file.id_end));
  return file;
}

}  // namespace latebind::embedding
