#include "embedding/tokenizer/vocabulary_files/vocabulary_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/json/read.h"
#include "core/text/base64.h"
#include "core/text/git_lfs.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"
#include "embedding/tokenizer/vocabulary_files/check_config.h"
#include "embedding/tokenizer/vocabulary_files/deberta_parts.h"
#include "embedding/tokenizer/vocabulary_files/making_classes.h"
#include "embedding/tokenizer/vocabulary_files/named_token.h"
#include "embedding/tokenizer/vocabulary_files/sentence_piece.h"
#include "embedding/tokenizer/vocabulary_files/sentence_piece_parts.h"
#include "embedding/tokenizer/vocabulary_files/special_tokens.h"
#include "embedding/tokenizer/vocabulary_files/vocabulary_lists.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using core::Status;
using core::StatusCode;
using Kind = TokenizerClass::Kind;
using Role = SpecialTokens::Role;

Json sequence_of(const char* key, Json parts) {
  return {{"type", "Sequence"}, {key, std::move(parts)}};
}

// The reader of tokenizer.json accepts unsigned numbers only.
std::uint32_t id_number(std::int32_t id) {
  return static_cast<std::uint32_t>(id);
}

Json template_piece(const std::string& token) {
  return {{"SpecialToken", {{"id", token}, {"type_id", 0U}}}};
}

class DocumentMaker {
 public:
  DocumentMaker(const TokenizerClass& tokenizer_class, const VocabularyFiles& files)
      : class_(tokenizer_class),
        kind_(tokenizer_class.kind),
        files_(files),
        config_(files.tokenizer_config ? *files.tokenizer_config : Json::object()) {}

  Result<JsonDocument> make() {
    LB_RETURN_IF_ERROR(check_config(config_));
    for (const auto& [name, text] :
         {std::pair(class_.vocabulary_file, files_.vocabulary), std::pair(class_.merges_file, files_.merges)}) {
      if (core::is_git_lfs_pointer(text))
        return in(name, {StatusCode::kInvalidModel, std::string(core::kGitLfsPointer)});
    }
    for (const DefaultToken& token : default_tokens(kind_))
      tokens_.set(token.role, {.content = std::string(token.content)});
    LB_RETURN_IF_ERROR(tokens_.read(config_, files_.special_tokens_map, files_.added_tokens));
    give_flags_of_class(kind_, tokens_);
    document_.root = {{"version", "1.0"}};
    switch (kind_) {
      case Kind::kBert:
      case Kind::kMpnet:
        LB_RETURN_IF_ERROR(make_word_pieces());
        break;
      case Kind::kRoberta:
      case Kind::kGpt2:
      case Kind::kQwen2:
      case Kind::kDeberta:
        LB_RETURN_IF_ERROR(make_byte_pairs());
        break;
      case Kind::kXlmRoberta:
      case Kind::kCamembert:
      case Kind::kAlbert:
      case Kind::kDebertaV2:
        LB_RETURN_IF_ERROR(make_sentence_pieces());
        break;
    }
    LB_RETURN_IF_ERROR(add_tokens());
    LB_RETURN_IF_ERROR(add_post_processor());
    return std::move(document_);
  }

 private:
  [[nodiscard]] Result<bool> flag(const char* key, bool otherwise) const {
    return core::read_bool(config_, key, otherwise, kTokenizerConfigFile);
  }
  // For keys where null means false and differs from the default of a missing key.
  [[nodiscard]] Result<bool> flag_or_null(const char* key, bool otherwise) const {
    return config_.contains(key) ? flag(key, false) : otherwise;
  }
  static Status in(std::string_view file, const Status& status) { return status.with_context(file); }
  Json& root() { return document_.root; }

  Status make_word_pieces() {
    LB_ASSIGN_OR_RETURN(const std::string unknown, tokens_.text(Role::kUnk));
    LB_ASSIGN_OR_RETURN(const bool lowercase, flag("do_lower_case", true));
    LB_ASSIGN_OR_RETURN(const bool chinese, flag("tokenize_chinese_chars", true));
    Json accents = nullptr;  // follows the lower-case option
    if (core::find_member(config_, "strip_accents") != nullptr) {
      LB_ASSIGN_OR_RETURN(accents, flag("strip_accents", false));
    }
    LB_RETURN_IF_ERROR(in(class_.vocabulary_file, read_word_list(files_.vocabulary, document_.lists)));
    root()["normalizer"] = {{"type", "BertNormalizer"},
                            {"clean_text", true},
                            {"handle_chinese_chars", chinese},
                            {"strip_accents", accents},
                            {"lowercase", lowercase}};
    root()["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
    root()["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
    root()["model"] = {{"type", "WordPiece"},
                       {"unk_token", unknown},
                       {"continuing_subword_prefix", "##"},
                       {"max_input_chars_per_word", 100U},
                       {"vocab", true}};
    return {};
  }

  Status make_byte_pairs() {
    const auto prefix = config_.find("add_prefix_space");
    if (kind_ != Kind::kQwen2 && prefix != nullptr && prefix->is_null()) {
      return refused_key("add_prefix_space", "is null; it must be true or false");
    }
    LB_ASSIGN_OR_RETURN(add_prefix_space_, flag("add_prefix_space", false));
    LB_RETURN_IF_ERROR(in(class_.vocabulary_file, read_json_vocabulary(files_.vocabulary, document_.lists)));
    LB_RETURN_IF_ERROR(in(class_.merges_file, read_merges(files_.merges, document_.lists)));
    Json bytes = {{"type", "ByteLevel"},
                  {"add_prefix_space", add_prefix_space_},
                  {"trim_offsets", true},
                  {"use_regex", kind_ != Kind::kQwen2}};
    if (kind_ == Kind::kQwen2) {
      root()["normalizer"] = {{"type", "NFC"}};
      Json split = {
          {"type", "Split"}, {"pattern", {{"Regex", kQwenWords}}}, {"behavior", "Isolated"}, {"invert", false}};
      root()["pre_tokenizer"] = sequence_of("pretokenizers", Json::array({std::move(split), std::move(bytes)}));
      tokens_.add_plainly_again();
    } else {
      root()["pre_tokenizer"] = std::move(bytes);
    }
    root()["decoder"] = {
        {"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}, {"use_regex", true}};
    root()["model"] = {{"type", "BPE"},
                       {"dropout", nullptr},
                       {"unk_token", nullptr},
                       {"continuing_subword_prefix", ""},
                       {"end_of_word_suffix", ""},
                       {"fuse_unk", false},
                       {"byte_fallback", false},
                       {"ignore_merges", false},
                       {"vocab", true},
                       {"merges", true}};
    return {};
  }

  Status make_sentence_pieces() {
    LB_ASSIGN_OR_RETURN(const bool add_prefix_space, flag_or_null("add_prefix_space", true));
    auto read = SentencePieceModel::read(std::as_bytes(std::span(files_.vocabulary)));
    if (!read.ok()) return in(class_.vocabulary_file, read.status());
    const SentencePieceModel& model = *read;
    LB_ASSIGN_OR_RETURN(const std::size_t unknown, add_pieces(model));
    // The pieces that are searched in a text before it is processed any further.
    std::vector<NamedToken> marked;
    for (const auto& piece : model.pieces) {
      const bool is_control = piece.type == SentencePieceModel::Type::kControl;
      if (!is_control && piece.type != SentencePieceModel::Type::kUserDefined) continue;
      marked.push_back(
          {.content = std::string(piece.text), .is_text = false, .normalized = false, .special = is_control});
    }
    tokens_.set_additional(std::move(marked));

    root()["model"] = {{"type", "Unigram"}, {"unk_id", unknown}, {"vocab", true}, {"byte_fallback", false}};
    if (kind_ == Kind::kDebertaV2) {
      for (const char* key : {"do_lower_case", "split_by_punct"})
        LB_RETURN_IF_ERROR(flag(key, false).status());
      make_deberta_parts(&config_, root());
      return {};
    }
    SentencePieceOptions options{.add_prefix_space = add_prefix_space, .is_albert = kind_ == Kind::kAlbert};
    if (options.is_albert) {
      LB_ASSIGN_OR_RETURN(options.keep_accents, flag_or_null("keep_accents", false));
      LB_ASSIGN_OR_RETURN(options.do_lower_case, flag_or_null("do_lower_case", true));
    }
    root()["normalizer"] = sentence_piece_normalizer(character_map(model.character_map), options);
    root()["pre_tokenizer"] = sentence_piece_pre_tokenizer(options);
    root()["decoder"] = sentence_piece_decoder(options);
    return {};
  }

  // Makes the vocabulary of the class, which differs slightly from that of the file. Returns the index of the unknown
  // token.
  Result<std::size_t> add_pieces(const SentencePieceModel& model) {
    document_.lists.scores.emplace();
    const auto add = [this](std::string_view text, double score) -> Status {
      auto& scores = *document_.lists.scores;
      LB_RETURN_IF_ERROR(in(class_.vocabulary_file, document_.lists.vocabulary.add(text, scores.size())));
      scores.push_back(score);
      return {};
    };
    const auto add_from = [&](std::size_t first) -> Status {
      for (std::size_t i = first; i < model.pieces.size(); ++i)
        LB_RETURN_IF_ERROR(add(model.pieces[i].text, static_cast<double>(model.pieces[i].score)));
      return {};
    };
    if (kind_ == Kind::kAlbert) {
      LB_RETURN_IF_ERROR(add_from(0));
      return 1;
    }
    LB_ASSIGN_OR_RETURN(const std::string unknown, tokens_.text(Role::kUnk));
    if (kind_ == Kind::kDebertaV2) {
      LB_RETURN_IF_ERROR(add_from(0));
      return deberta_unknown(document_.lists, unknown, &config_);
    }
    LB_ASSIGN_OR_RETURN(const std::string pad, tokens_.text(Role::kPad));
    LB_ASSIGN_OR_RETURN(const std::string mask, tokens_.text(Role::kMask));
    std::size_t unknown_place = 3;
    // fairseq, where these models come from, has its own tokens before those of the file, and one after them.
    if (kind_ == Kind::kXlmRoberta) {
      LB_ASSIGN_OR_RETURN(const std::string bos, tokens_.text(Role::kBos));
      LB_ASSIGN_OR_RETURN(const std::string eos, tokens_.text(Role::kEos));
      for (const std::string& token : {bos, pad, eos, unknown})
        LB_RETURN_IF_ERROR(add(token, 0.0));
      LB_RETURN_IF_ERROR(add_from(3));
    } else {
      const std::string before[] = {"<s>NOTUSED", pad, "</s>NOTUSED", unknown};
      for (const std::string& token : before)
        LB_RETURN_IF_ERROR(add(token, 0.0));
      unknown_place = static_cast<std::size_t>(std::ranges::find(before, unknown) - std::begin(before));
      LB_RETURN_IF_ERROR(add("<unk>NOTUSED", -100.0));
      LB_RETURN_IF_ERROR(add_from(1));
    }
    LB_RETURN_IF_ERROR(add(mask, 0.0));
    return unknown_place;
  }

  static Json character_map(std::string_view bytes) {
    if (bytes.empty()) return nullptr;
    std::string encoded;
    core::append_base64(encoded, bytes);
    return {{"type", "Precompiled"}, {"precompiled_charsmap", std::move(encoded)}};
  }

  Status add_tokens() {
    added_ = tokens_.with_ids(document_.lists.vocabulary);
    Json list = Json::array();
    for (const AddedToken& token : added_) {
      list.push_back({{"id", id_number(token.id)},
                      {"content", token.content},
                      {"single_word", token.single_word},
                      {"lstrip", token.lstrip},
                      {"rstrip", token.rstrip},
                      {"normalized", token.normalized},
                      {"special", token.special}});
    }
    root()["added_tokens"] = std::move(list);
    return {};
  }

  [[nodiscard]] Result<std::int32_t> id_of(std::string_view token) const {
    const auto found = std::ranges::find(added_, token, &AddedToken::content);
    if (found != added_.end()) return found->id;
    return Status(StatusCode::kUnsupported, fmt::format("{}: {} is not a token that can be put around a text",
                                                        kTokenizerConfigFile, core::quoted(token)));
  }

  // Adds a template that puts `before` and `behind` around a text; empty texts stand for no token.
  Status add_template(const std::string& before, const std::string& behind) {
    Json pieces = Json::array();
    Json special = Json::object();
    const auto add = [&](const std::string& token) -> Status {
      // The reference writes a template as text, in which these characters have a meaning.
      if (token.find_first_of(":$ \t\n\v\f\r") != std::string::npos || !is_ascii(token)) {
        return {
            StatusCode::kUnsupported,
            fmt::format("{}: the token {} cannot be put around a text (supported: ASCII without spaces, ':' and '$')",
                        kTokenizerConfigFile, core::quoted(token))};
      }
      LB_ASSIGN_OR_RETURN(const std::int32_t id, id_of(token));
      pieces.push_back(template_piece(token));
      special[token] = {{"id", token}, {"ids", Json::array({id_number(id)})}, {"tokens", Json::array({token})}};
      return {};
    };
    if (!before.empty()) LB_RETURN_IF_ERROR(add(before));
    pieces.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0U}}}});
    if (!behind.empty()) LB_RETURN_IF_ERROR(add(behind));
    root()["post_processor"] = {
        {"type", "TemplateProcessing"}, {"single", pieces}, {"pair", Json::array()}, {"special_tokens", special}};
    return {};
  }

  // For a class without a post-processor: adds the requested tokens.
  Status add_asked_for() {
    std::string around[2];
    constexpr std::pair<const char*, Role> kAsked[] = {{"add_bos_token", Role::kBos}, {"add_eos_token", Role::kEos}};
    for (std::size_t i = 0; i < 2; ++i) {
      LB_ASSIGN_OR_RETURN(const bool asked, flag(kAsked[i].first, false));
      if (const auto& token = tokens_.at(kAsked[i].second); asked && token) around[i] = token->content;
    }
    return add_template(around[0], around[1]);
  }

  Status add_post_processor() {
    const bool is_asked_for = config_.contains("add_bos_token") || config_.contains("add_eos_token");
    switch (kind_) {
      case Kind::kGpt2:
      case Kind::kQwen2:
        return add_asked_for();
      case Kind::kXlmRoberta:
      case Kind::kCamembert:
        return add_template_of(Role::kBos, Role::kEos);
      case Kind::kBert:
      case Kind::kDeberta:
      case Kind::kDebertaV2:
        return add_template_of(Role::kCls, Role::kSep);
      case Kind::kAlbert:
        // Only this class lets the general post-processor replace its own.
        LB_RETURN_IF_ERROR(add_template_of(Role::kCls, Role::kSep));
        return is_asked_for ? add_asked_for() : Status();
      case Kind::kMpnet:
      case Kind::kRoberta:
        break;
    }
    LB_ASSIGN_OR_RETURN(const std::string cls, tokens_.text(Role::kCls));
    LB_ASSIGN_OR_RETURN(const std::string sep, tokens_.text(Role::kSep));
    LB_ASSIGN_OR_RETURN(const std::int32_t cls_id, id_of(cls));
    LB_ASSIGN_OR_RETURN(const std::int32_t sep_id, id_of(sep));
    root()["post_processor"] = {{"type", "RobertaProcessing"},
                                {"sep", Json::array({sep, id_number(sep_id)})},
                                {"cls", Json::array({cls, id_number(cls_id)})},
                                {"trim_offsets", true},
                                {"add_prefix_space", add_prefix_space_}};
    return {};
  }

  Status add_template_of(Role before, Role behind) {
    LB_ASSIGN_OR_RETURN(const std::string first, tokens_.text(before));
    LB_ASSIGN_OR_RETURN(const std::string last, tokens_.text(behind));
    if (kind_ == Kind::kAlbert) {
      // This class looks the tokens up before it adds them.
      for (const std::string& token : {first, last}) {
        LB_ASSIGN_OR_RETURN(const std::int32_t id, id_of(token));
        if (static_cast<std::size_t>(id) < document_.lists.vocabulary.size()) continue;
        return {StatusCode::kInvalidModel,
                fmt::format("{}: the token {} is missing", class_.vocabulary_file, core::quoted(token))};
      }
    }
    return add_template(first, last);
  }

  static bool is_ascii(std::string_view text) {
    return std::ranges::all_of(text, [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
  }

  const TokenizerClass& class_;
  const Kind kind_;
  const VocabularyFiles& files_;
  const Json config_;
  SpecialTokens tokens_;
  std::vector<AddedToken> added_;
  bool add_prefix_space_ = false;
  JsonDocument document_;
};

}  // namespace

Result<JsonDocument> tokenizer_document(const TokenizerClass& tokenizer_class, const VocabularyFiles& files) {
  for (const auto& [name, text] : {std::pair(tokenizer_class.vocabulary_file, files.vocabulary),
                                   std::pair(tokenizer_class.merges_file, files.merges)}) {
    if (text.size() > VocabularyFiles::kFileBytesMax) {
      return Status(StatusCode::kUnsupported, fmt::format("{}: {} bytes are above the limit of {} for a vocabulary",
                                                          name, text.size(), VocabularyFiles::kFileBytesMax));
    }
  }
  return DocumentMaker(tokenizer_class, files).make();
}

}  // namespace latebind::embedding
