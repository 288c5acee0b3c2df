#include "embedding/tokenizer/vocabulary_files/beside_tokenizer_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json/read.h"
#include "core/text/quote.h"
#include "embedding/tokenizer/vocabulary_files/added_beside.h"
#include "embedding/tokenizer/vocabulary_files/class_beside.h"
#include "embedding/tokenizer/vocabulary_files/deberta_parts.h"
#include "embedding/tokenizer/vocabulary_files/json_parts.h"
#include "embedding/tokenizer/vocabulary_files/making_classes.h"
#include "embedding/tokenizer/vocabulary_files/sentence_piece_parts.h"
#include "embedding/tokenizer/vocabulary_files/tokens_around.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using core::Status;
using core::StatusCode;

bool is_added(const Json& root, std::string_view text) {
  const Json* const list = member(&root, "added_tokens");
  return list != nullptr && list->is_array() &&
         std::ranges::any_of(*list, [&](const Json& token) { return text_in(&token, "content") == text; });
}

class ClassCheck {
 public:
  // `named_in` is the file that names the class; empty if the kind of network alone implies it.
  ClassCheck(const BesideTokenizerJson& beside, const Json& root, const MakingClass& made_by, std::string_view named_in)
      : beside_(beside),
        root_(root),
        config_(beside.tokenizer_config ? &*beside.tokenizer_config : nullptr),
        made_by_(made_by),
        named_in_(named_in),
        model_(member(&root, "model")),
        normalizer_(member(&root, "normalizer")),
        pre_tokenizer_(member(&root, "pre_tokenizer")),
        normalizers_(parts_of(normalizer_, "normalizers")),
        pre_tokenizers_(parts_of(pre_tokenizer_, "pretokenizers")) {}

  [[nodiscard]] Status check() const {
    const std::string other = other_part();
    if (!other.empty()) {
      return {StatusCode::kUnsupported,
              fmt::format("{}, which uses other rules than tokenizer.json: {}{}", name(), other, remedy())};
    }
    if (made_by_.maker == Maker::kOther) {
      return {StatusCode::kUnsupported, fmt::format("{}, which uses unknown rules{}", name(), remedy())};
    }
    LB_RETURN_IF_ERROR(check_tokens_of_class());
    switch (made_by_.maker) {
      case Maker::kBert:
      case Maker::kMpnet:
        LB_RETURN_IF_ERROR(check_word_pieces());
        return check_around("cls_token", "sep_token");
      case Maker::kRoberta:
      case Maker::kDeberta:
        LB_RETURN_IF_ERROR(check_prefix_space(flag_in(bytes(), "add_prefix_space", true), false));
        return check_around("cls_token", "sep_token");
      case Maker::kGpt2:
      case Maker::kQwen2:
        return check_prefix_space(flag_in(bytes(), "add_prefix_space", true), false);
      case Maker::kGemma:
        return check_unknown();
      case Maker::kXlmRoberta:
      case Maker::kCamembert:
        LB_RETURN_IF_ERROR(check_prefix_space(has_prefix_space(), true_or_null("add_prefix_space")));
        return check_around("bos_token", "eos_token");
      case Maker::kAlbert:
        LB_RETURN_IF_ERROR(check_prefix_space(has_prefix_space(), true_or_null("add_prefix_space")));
        LB_RETURN_IF_ERROR(check_flag("do_lower_case", true_or_null("do_lower_case"),
                                      part_of_type(normalizers_, "Lowercase") != nullptr, "lower case"));
        return check_flag("keep_accents", false, part_of_type(normalizers_, "StripAccents") == nullptr,
                          "accents that stay");
      case Maker::kDebertaV2:
        return check_around("cls_token", "sep_token");
      case Maker::kT5:
        LB_RETURN_IF_ERROR(check_extra_ids(config_, root_));
        return check_end_of_t5();
      case Maker::kLlama:
      case Maker::kOther:
      case Maker::kAlone:
        break;
    }
    return {};
  }

  // Replaces the parts by those that a class for SentencePiece models makes. They differ from those of an accepted file
  // where a map of characters leaves spaces other than U+0020, and in properties of the model that no file can express.
  void remake(Json& root, const ModelLists& lists) const {
    if (made_by_.maker == Maker::kLlama) return make_llama_parts(config_, root);
    if (made_by_.maker == Maker::kDebertaV2) return remake_as_deberta(root, lists);
    const bool is_t5 = made_by_.maker == Maker::kT5;
    const SentencePieceOptions options{.add_prefix_space = is_t5 || has_prefix_space(),
                                       .is_albert = made_by_.maker == Maker::kAlbert,
                                       .keep_accents = part_of_type(normalizers_, "StripAccents") == nullptr,
                                       .do_lower_case = part_of_type(normalizers_, "Lowercase") != nullptr};
    Json map = normalizer_ == nullptr ? Json() : character_map_of(*normalizer_);
    root["pre_tokenizer"] = sentence_piece_pre_tokenizer(options);
    root["normalizer"] = sentence_piece_normalizer(std::move(map), options);
    const auto model = root.find("model");
    if (model == nullptr || !model->is_object()) return;
    (*model)["byte_fallback"] = false;
    if (made_by_.maker == Maker::kXlmRoberta) (*model)["unk_id"] = 3U;
    if (made_by_.maker == Maker::kAlbert) (*model)["unk_id"] = 1U;
    if (is_t5) (*model)["unk_id"] = 2U;
  }

 private:
  void remake_as_deberta(Json& root, const ModelLists& lists) const {
    make_deberta_parts(config_, root);
    const auto model = root.find("model");
    if (model == nullptr || !model->is_object()) return;
    (*model)["byte_fallback"] = false;
    const TokenByRole unknown = token_by_role(beside_, "unk_token", "[UNK]");
    (*model)["unk_id"] = deberta_unknown(lists, unknown.text.value_or(""), config_);
  }
  // These classes treat null as false.
  [[nodiscard]] bool true_or_null(const char* key) const {
    return config_ == nullptr || !config_->is_object() || !config_->contains(key);
  }
  // The source of the class's name.
  [[nodiscard]] std::string name() const {
    if (!named_in_.empty()) return fmt::format("{}: 'tokenizer_class' is {}", named_in_, core::quoted(made_by_.name));
    if (beside_.network.is_always_used)
      return fmt::format("config.json: 'model_type' always means {}", core::quoted(made_by_.name));
    return fmt::format("config.json: 'model_type' means {} if no file names a 'tokenizer_class'",
                       core::quoted(made_by_.name));
  }
  // The end of a message about a class: how tokenizer.json alone counts, if it can.
  [[nodiscard]] std::string_view remedy() const {
    if (beside_.network.is_always_used) return {};
    return named_in_.empty() ? "; with 'tokenizer_class' 'PreTrainedTokenizerFast' in tokenizer_config.json only "
                               "tokenizer.json counts"
                             : "; with 'PreTrainedTokenizerFast' only tokenizer.json counts";
  }
  [[nodiscard]] const Json* bytes() const { return part_of_type(pre_tokenizers_, "ByteLevel"); }

  // The part that differs in kind from what the class makes; empty if there is none.
  [[nodiscard]] std::string other_part() const {
    if (made_by_.maker == Maker::kAlone) return "it reads none";
    const std::string_view model = text_in(model_, "type");
    // Files of early versions do not name it.
    if (!model.empty() && model != made_by_.model) {
      return fmt::format("the model is {} there, not {}", core::quoted(model), made_by_.model);
    }
    const auto says = [](std::string_view part, const Json* found, std::string_view wanted) {
      return fmt::format("'{}' is {} there, not {}", part,
                         found == nullptr ? "missing" : core::quoted(text_in(found, "type")), wanted);
    };
    switch (made_by_.maker) {
      case Maker::kBert:
      case Maker::kMpnet:
        if (text_in(normalizer_, "type") != "BertNormalizer") return says("normalizer", normalizer_, "BertNormalizer");
        if (text_in(pre_tokenizer_, "type") != "BertPreTokenizer") {
          return says("pre_tokenizer", pre_tokenizer_, "BertPreTokenizer");
        }
        return other_word_pieces();
      case Maker::kRoberta:
      case Maker::kDeberta:
      case Maker::kGpt2:
        if (normalizer_ != nullptr) return says("normalizer", normalizer_, "missing");
        if (text_in(pre_tokenizer_, "type") == "ByteLevel" && flag_in(pre_tokenizer_, "use_regex", true)) {
          return other_byte_pairs();
        }
        return says("pre_tokenizer", pre_tokenizer_, "ByteLevel with its own words");
      case Maker::kQwen2:
        if (text_in(normalizer_, "type") != "NFC") return says("normalizer", normalizer_, "NFC");
        if (splits_as_qwen() && bytes() != nullptr && !flag_in(bytes(), "use_regex", true)) return other_byte_pairs();
        return says("pre_tokenizer", pre_tokenizer_, "Split at Qwen2's words and ByteLevel");
      case Maker::kGemma:
        if (text_in(normalizer_, "type") != "Replace") return says("normalizer", normalizer_, "Replace");
        if (!flag_in(model_, "byte_fallback", false)) return "the model has no 'byte_fallback' there";
        if (!flag_in(model_, "fuse_unk", false)) return "the model has no 'fuse_unk' there";
        if (flag_in(model_, "ignore_merges", false)) return "the model has 'ignore_merges' there";
        return {};
      case Maker::kXlmRoberta:
      case Maker::kCamembert:
      case Maker::kAlbert:
        if (part_of_type(pre_tokenizers_, "Metaspace") != nullptr) return {};
        return says("pre_tokenizer", pre_tokenizer_, "Metaspace");
      case Maker::kDebertaV2:
      case Maker::kT5:
      case Maker::kLlama:
      case Maker::kOther:
      case Maker::kAlone:
        break;
    }
    return {};
  }

  [[nodiscard]] bool splits_as_qwen() const {
    const Json* const split = part_of_type(pre_tokenizers_, "Split");
    return text_in(member(split, "pattern"), "Regex") == kQwenWords && text_in(split, "behavior") == "Isolated" &&
           !flag_in(split, "invert", false) && pre_tokenizers_.size() == 2;
  }
  [[nodiscard]] std::string other_byte_pairs() const {
    for (const char* key : {"byte_fallback", "ignore_merges"}) {
      if (flag_in(model_, key, false)) return fmt::format("the model has '{}' there", key);
    }
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (!text_in(model_, key).empty()) return fmt::format("the model has '{}' there", key);
    }
    return {};
  }

  // Differences that no key of tokenizer_config.json can express.
  [[nodiscard]] std::string other_word_pieces() const {
    if (!flag_in(normalizer_, "clean_text", true)) return "'clean_text' is false there, not true";
    const Json* const most = member(model_, "max_input_chars_per_word");
    if (most != nullptr && most->is_number_unsigned() && most->get<std::uint64_t>() != 100) {
      return fmt::format("'max_input_chars_per_word' is {} there, not 100", most->get<std::uint64_t>());
    }
    const std::string_view prefix = text_in(model_, "continuing_subword_prefix");
    if (prefix.empty() || prefix == "##") return {};
    return fmt::format("'continuing_subword_prefix' is {} there, not '##'", core::quoted(prefix));
  }

  [[nodiscard]] Status check_flag(const char* key, bool otherwise, bool there, std::string_view what) const {
    LB_ASSIGN_OR_RETURN(const bool wanted, config_ == nullptr
                                               ? Result<bool>(otherwise)
                                               : core::read_bool(*config_, key, otherwise, kTokenizerConfigFile));
    if (wanted == there) return {};
    const std::string said = member(config_, key) != nullptr
                                 ? fmt::format("'{}' is {}", key, wanted)
                                 : fmt::format("'{}' is missing, which is {} to {}", key, otherwise, made_by_.name);
    return {StatusCode::kUnsupported,
            fmt::format("{}: {}, but tokenizer.json is {} {}; set it to {}, or 'tokenizer_class' to "
                        "'PreTrainedTokenizerFast'",
                        kTokenizerConfigFile, said, there ? "with" : "without", what, there)};
  }

  [[nodiscard]] Status check_word_pieces() const {
    const bool lower = flag_in(normalizer_, "lowercase", true);
    LB_RETURN_IF_ERROR(check_flag("do_lower_case", true, lower, "lower case"));
    LB_RETURN_IF_ERROR(check_flag("tokenize_chinese_chars", true, flag_in(normalizer_, "handle_chinese_chars", true),
                                  "'handle_chinese_chars'"));
    LB_RETURN_IF_ERROR(
        check_flag("strip_accents", lower, flag_in(normalizer_, "strip_accents", lower), "'strip_accents'"));
    return check_unknown();
  }

  [[nodiscard]] Status check_tokens_of_class() const {
    for (const DefaultToken& token : tokens_of_class(made_by_.maker)) {
      const std::string_view key = SpecialTokens::kKeys[token.role];
      const TokenByRole wanted = token_by_role(beside_, key, token.content);
      if (wanted.is_said || is_added(root_, token.content)) continue;
      return {StatusCode::kUnsupported,
              fmt::format("{}: {} is missing, which is {} to {}, and that is not an added token of tokenizer.json; "
                          "name the token, or set 'tokenizer_class' to 'PreTrainedTokenizerFast'",
                          kTokenizerConfigFile, core::quoted(key), core::quoted(token.content), made_by_.name)};
    }
    return {};
  }

  [[nodiscard]] Status check_prefix_space(bool there, bool otherwise) const {
    return check_flag("add_prefix_space", otherwise, there, "a space before every text");
  }

  [[nodiscard]] bool has_prefix_space() const {
    const Json* const metaspace = part_of_type(pre_tokenizers_, "Metaspace");
    const std::string_view scheme = text_in(metaspace, "prepend_scheme");
    return scheme.empty() ? flag_in(metaspace, "add_prefix_space", true) : scheme != "never";
  }

  // T5Tokenizer puts "</s>" after a text and nothing before it, whatever the roles of tokens say.
  [[nodiscard]] Status check_end_of_t5() const {
    const std::array<std::string, 2> around = tokens_around(root_);
    const TokenByRole end = token_by_role(beside_, "eos_token", "</s>");
    if (!end.text) return no_token(end, "eos_token");
    if (*end.text != "</s>") return other_token(end, "eos_token", "T5Tokenizer puts '</s>' after a text");
    if (around[0].empty() && around[1] == "</s>") return {};
    return {StatusCode::kUnsupported,
            fmt::format("{}, which puts '</s>' after a text and nothing before it, but tokenizer.json does not{}",
                        name(), remedy())};
  }

  [[nodiscard]] Status check_unknown() const {
    const std::string_view otherwise = made_by_.maker == Maker::kGemma ? "<unk>" : "[UNK]";
    const TokenByRole wanted = token_by_role(beside_, "unk_token", otherwise);
    const std::string_view there = text_in(model_, "unk_token");
    if (!wanted.text) return no_token(wanted, "unk_token");
    if (*wanted.text == there) return {};
    return other_token(wanted, "unk_token", fmt::format("the model of tokenizer.json has {}", core::quoted(there)));
  }

  [[nodiscard]] static Status other_token(const TokenByRole& wanted, std::string_view key, const std::string& what) {
    return {
        StatusCode::kUnsupported,
        fmt::format("{}: {} is {}, but {}; name the same one, or set 'tokenizer_class' to 'PreTrainedTokenizerFast'",
                    wanted.file, core::quoted(key), core::quoted(*wanted.text), what)};
  }

  [[nodiscard]] Status no_token(const TokenByRole& wanted, std::string_view key) const {
    return {StatusCode::kUnsupported,
            fmt::format("{}: {} is not a token, but {} needs one; name that of tokenizer.json, or set "
                        "'tokenizer_class' to 'PreTrainedTokenizerFast'",
                        wanted.file, core::quoted(key), made_by_.name)};
  }

  // Checks the tokens around a text: the class puts those of these roles there, whatever tokenizer.json has.
  [[nodiscard]] Status check_around(std::string_view before, std::string_view behind) const {
    const bool is_bert =
        made_by_.maker == Maker::kBert || made_by_.maker == Maker::kDeberta || made_by_.maker == Maker::kDebertaV2;
    const std::pair<std::string_view, std::string_view> roles[] = {{before, is_bert ? "[CLS]" : "<s>"},
                                                                   {behind, is_bert ? "[SEP]" : "</s>"}};
    const std::array<std::string, 2> around = tokens_around(root_);
    for (std::size_t i = 0; i < 2; ++i) {
      const TokenByRole wanted = token_by_role(beside_, roles[i].first, roles[i].second);
      const std::string& there = around[i];
      if (!wanted.text) return no_token(wanted, roles[i].first);
      if (*wanted.text == there) continue;
      return other_token(
          wanted, roles[i].first,
          there.empty()
              ? fmt::format("tokenizer.json does not put a token {} a text", i == 0 ? "before" : "after")
              : fmt::format("tokenizer.json puts {} {} a text", core::quoted(there), i == 0 ? "before" : "after"));
    }
    return {};
  }

  const BesideTokenizerJson& beside_;
  const Json& root_;
  const Json* config_;
  const MakingClass& made_by_;
  std::string_view named_in_;
  const Json* model_;
  const Json* normalizer_;
  const Json* pre_tokenizer_;
  std::vector<const Json*> normalizers_;
  std::vector<const Json*> pre_tokenizers_;
};

bool has_byte_level(const Json& root) {
  return part_of_type(parts_of(member(&root, "pre_tokenizer"), "pretokenizers"), "ByteLevel") != nullptr ||
         part_of_type(parts_of(member(&root, "decoder"), "decoders"), "ByteLevel") != nullptr;
}

}  // namespace

Status take_beside_tokenizer_json(const BesideTokenizerJson& beside, Json& root, const ModelLists& lists) {
  LB_RETURN_IF_ERROR(check_added_beside(beside, root));
  take_flags_beside(beside, root);
  const FoundClass found = class_beside(beside);
  if (found.made_by == nullptr) return {};
  // The reference recognises such a file as that of Llama 3, whose class is wrong.
  if (found.made_by->name == "LlamaTokenizer" && has_byte_level(root)) return {};
  const ClassCheck check(beside, root, *found.made_by, found.named_in);
  LB_RETURN_IF_ERROR(check.check());
  if (makes_sentence_pieces(found)) check.remake(root, lists);
  return {};
}

NumberRounding rounding_beside(const BesideTokenizerJson& beside) {
  return makes_sentence_pieces(class_beside(beside)) ? NumberRounding::kNearest : NumberRounding::kReference;
}

}  // namespace latebind::embedding
