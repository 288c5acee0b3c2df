#include "embedding/tokenizer/vocabulary_files/beside_tokenizer_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "embedding/tokenizer/tokenizer.h"
#include "embedding/tokenizer/vocabulary_files/making_classes.h"
#include "tests/support/json.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;
using ::testing::HasSubstr;

core::Json without(const core::Json& list, std::size_t index) {
  core::Json rest = core::Json::array();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i != index) rest.push_back(list[i]);
  }
  return rest;
}

core::Json bert_file() {
  return json_of(R"({
    "added_tokens": [{"id": 0, "content": "[PAD]"}, {"id": 1, "content": "[UNK]"}, {"id": 2, "content": "[CLS]"},
                     {"id": 3, "content": "[SEP]"}, {"id": 4, "content": "[MASK]"}],
    "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
                   "lowercase": true},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}]},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": true}})");
}

core::Json roberta_file() {
  return json_of(R"({
    "added_tokens": [{"content": "<s>"}, {"content": "</s>"}, {"content": "<pad>"}, {"content": "<unk>"},
                     {"content": "<mask>"}],
    "normalizer": null, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true},
    "post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0]},
    "model": {"type": "BPE", "vocab": true, "merges": true}})");
}

core::Json xlm_roberta_file() {
  core::Json file = roberta_file();
  file["normalizer"] = {{"type", "Precompiled"}};
  file["pre_tokenizer"] = json_of(R"({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"},
      {"type": "Metaspace", "replacement": "▁", "add_prefix_space": true}]})");
  file["post_processor"] = json_of(R"({"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}},
      {"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "</s>"}}]})");
  file["model"] = {{"type", "Unigram"}};
  return file;
}

core::Json qwen_file() {
  core::Json file = json_of(R"({
    "added_tokens": [{"content": "<|endoftext|>"}, {"content": "<|im_start|>"}, {"content": "<|im_end|>"}],
    "normalizer": {"type": "NFC"},
    "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex": ""},
        "behavior": "Isolated", "invert": false}, {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]},
    "post_processor": {"type": "Sequence", "processors": [{"type": "ByteLevel"}, {"type": "TemplateProcessing",
        "single": [{"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "<|endoftext|>"}}]}]},
    "model": {"type": "BPE"}})");
  file["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = kQwenWords;
  return file;
}

core::Json gemma_file() {
  return json_of(R"({
    "added_tokens": [{"content": "<pad>"}, {"content": "<eos>"}, {"content": "<bos>"}, {"content": "<unk>"},
                     {"content": "<mask>"}, {"content": "<image_soft_token>"}, {"content": "<start_of_image>"}],
    "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    "pre_tokenizer": {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious"},
    "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<bos>"}},
        {"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "<eos>"}}]},
    "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true}})");
}

core::Json t5_file() {
  core::Json file = xlm_roberta_file();
  file["added_tokens"] = json_of(R"([{"content": "<pad>"}, {"content": "</s>"}, {"content": "<unk>"},
      {"content": "<extra_id_1>"}, {"content": "<extra_id_0>"}])");
  file["post_processor"]["single"] = without(file["post_processor"]["single"], 0);
  return file;
}

// `texts`: tokenizer_config.json, special_tokens_map.json and added_tokens.json, as far as there are any.
Status check(const core::Json& file, std::initializer_list<std::string_view> texts,
             const TokenizerOfNetwork& network = {}) {
  BesideTokenizerJson beside{.network = network};
  std::optional<core::Json>* const slots[] = {&beside.tokenizer_config, &beside.special_tokens_map,
                                              &beside.added_tokens};
  std::size_t i = 0;
  for (const std::string_view text : texts) {
    if (!text.empty()) *slots[i] = json_of(text);
    ++i;
  }
  core::Json root = file;
  return take_beside_tokenizer_json(beside, root);
}

void expect_refused(const core::Json& file, std::initializer_list<std::string_view> texts, std::string_view part) {
  const Status status = check(file, texts);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported) << part << ": " << status.to_string();
  EXPECT_THAT(status.to_string(), HasSubstr(part));
}

// As they are on the hub.
TEST(BesideTokenizerJsonTest, UsualFoldersPass) {
  EXPECT_TRUE(check(bert_file(), {}).ok());
  const auto passes = [](const core::Json& file, std::initializer_list<std::string_view> texts) {
    const Status status = check(file, texts);
    EXPECT_TRUE(status.ok()) << status.to_string();
  };
  passes(bert_file(), {R"({"do_lower_case": true, "unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]",
      "cls_token": "[CLS]", "mask_token": "[MASK]", "tokenize_chinese_chars": true, "strip_accents": null,
      "name_or_path": "nreimers/MiniLM-L6-H384-uncased", "do_basic_tokenize": true, "never_split": null,
      "tokenizer_class": "BertTokenizer", "model_max_length": 512})",
                       R"({"unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]", "cls_token": "[CLS]",
      "mask_token": "[MASK]"})"});
  passes(bert_file(), {R"({"added_tokens_decoder": {"0": {"content": "[PAD]", "lstrip": false, "normalized": false,
      "rstrip": false, "single_word": false, "special": true}, "2": {"content": "[CLS]"}}, "clean_up_tokenization_spaces":
      true, "additional_special_tokens": [], "extra_special_tokens": {}, "tokenizer_class": "DistilBertTokenizer"})"});
  passes(bert_file(), {R"({"tokenizer_class": "PreTrainedTokenizerFast", "do_lower_case": false})"});
  passes(roberta_file(), {R"({"unk_token": {"content": "<unk>", "__type": "AddedToken"}, "add_prefix_space": false,
      "errors": "replace", "trim_offsets": true, "tokenizer_class": "RobertaTokenizer"})",
                          R"({"bos_token": "<s>", "mask_token": {"content": "<mask>", "lstrip": true}})"});
  passes(xlm_roberta_file(), {R"({"tokenizer_class": "XLMRobertaTokenizerFast", "bos_token": "<s>", "eos_token": "</s>",
      "sp_model_kwargs": {}})"});
  passes(qwen_file(), {R"({"add_bos_token": false, "add_prefix_space": false, "additional_special_tokens":
      ["<|im_start|>", "<|im_end|>"], "bos_token": null, "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>",
      "unk_token": null, "split_special_tokens": false, "tokenizer_class": "Qwen2Tokenizer"})",
                       "", R"({"<|im_end|>": 151645, "<|im_start|>": 151644})"});
  passes(gemma_file(), {R"({"add_bos_token": true, "add_eos_token": true, "boi_token": "<start_of_image>", "bos_token":
      "<bos>", "eos_token": "<eos>", "extra_special_tokens": {"image_token": "<image_soft_token>"}, "unk_token": "<unk>",
      "use_default_system_prompt": false, "tokenizer_class": "GemmaTokenizerFast"})"});
}

// As T5's class makes it.
TEST(BesideTokenizerJsonTest, T5EndsTextsAndHasItsExtraTokens) {
  constexpr std::string_view kTwo = R"({"tokenizer_class": "T5TokenizerFast", "extra_ids": 2})";
  const Status status = check(t5_file(), {kTwo});
  EXPECT_TRUE(status.ok()) << status.to_string();
  expect_refused(t5_file(), {R"({"tokenizer_class": "T5Tokenizer"})"},
                 "'extra_ids' is missing, which means 100, but '<extra_id_2>' is not an added token of tokenizer.json");
  core::Json with_start = t5_file();
  with_start["post_processor"] = xlm_roberta_file()["post_processor"];
  expect_refused(with_start, {kTwo}, "puts '</s>' after a text and nothing before it, but tokenizer.json does not");
  expect_refused(t5_file(), {R"({"tokenizer_class": "T5Tokenizer", "extra_ids": 2, "eos_token": "<pad>"})"},
                 "'eos_token' is '<pad>', but T5Tokenizer puts '</s>' after a text");
}

TEST(BesideTokenizerJsonTest, LlamaReplacesSpacesInAPreTokenizer) {
  core::Json file = gemma_file();
  file["added_tokens"] = json_of(R"([{"content": "<unk>"}, {"content": "<s>"}, {"content": "</s>"}])");
  const auto scheme_with = [&](std::string_view text) {
    core::Json root = file;
    BesideTokenizerJson beside;
    beside.tokenizer_config = json_of(text);
    const Status status = take_beside_tokenizer_json(beside, root);
    EXPECT_TRUE(status.ok()) << status.to_string();
    EXPECT_TRUE(root["normalizer"].is_null());
    EXPECT_TRUE(root["model"]["unk_token"].is_null());
    EXPECT_EQ(root["pre_tokenizer"]["split"], false);
    return root["pre_tokenizer"]["prepend_scheme"].get<std::string>();
  };
  EXPECT_EQ(scheme_with(R"({"tokenizer_class": "LlamaTokenizer"})"), "first");
  EXPECT_EQ(scheme_with(R"({"tokenizer_class": "LlamaTokenizerFast", "legacy": true})"), "always");
  EXPECT_EQ(scheme_with(R"({"tokenizer_class": "LlamaTokenizer", "add_prefix_space": false})"), "never");
}

// Qwen2's networks have this class whatever the files name.
TEST(BesideTokenizerJsonTest, AClassMayBeUsedAlways) {
  const TokenizerOfNetwork always{.tokenizer_class = "Qwen2Tokenizer", .is_always_used = true};
  constexpr std::string_view kOther = R"({"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>"})";
  EXPECT_TRUE(check(qwen_file(), {kOther}, always).ok());
  EXPECT_FALSE(check(gemma_file(), {kOther}, always).ok());
}

TEST(BesideTokenizerJsonTest, RefusesOtherRulesForWords) {
  const std::string_view of_bert = R"({"tokenizer_class": "BertTokenizer", )";
  const auto with = [&](std::string_view rest) { return std::string(of_bert) + std::string(rest) + "}"; };
  expect_refused(bert_file(), {with(R"("do_lower_case": false)")},
                 "tokenizer_config.json: 'do_lower_case' is false, but tokenizer.json is with lower case; set it to "
                 "true, or 'tokenizer_class' to 'PreTrainedTokenizerFast'");
  expect_refused(bert_file(), {with(R"("strip_accents": false)")}, "'strip_accents' is false");
  expect_refused(bert_file(), {with(R"("tokenize_chinese_chars": false)")}, "'tokenize_chinese_chars' is false");
  expect_refused(bert_file(), {with(R"("unk_token": "[MASK]")")}, "'unk_token' is '[MASK]', but the model");
  core::Json cased = bert_file();
  cased["normalizer"]["lowercase"] = false;
  expect_refused(
      cased, {R"({"tokenizer_class": "BertTokenizer"})"},
      "'do_lower_case' is missing, which is true to BertTokenizer, but tokenizer.json is without lower case");
  EXPECT_TRUE(check(cased, {with(R"("do_lower_case": false)")}).ok());
  expect_refused(roberta_file(), {R"({"tokenizer_class": "RobertaTokenizer", "add_prefix_space": true})"},
                 "'add_prefix_space' is true, but tokenizer.json is without a space before every text");
  expect_refused(xlm_roberta_file(), {R"({"tokenizer_class": "XLMRobertaTokenizer", "add_prefix_space": false})"},
                 "'add_prefix_space' is false");
}

TEST(BesideTokenizerJsonTest, RefusesClassesOfOtherTokenizers) {
  expect_refused(
      bert_file(), {R"({"tokenizer_class": "RobertaTokenizer"})"},
      "tokenizer_config.json: 'tokenizer_class' is 'RobertaTokenizer', which uses other rules than tokenizer.json: the "
      "model is 'WordPiece' there, not BPE; with 'PreTrainedTokenizerFast' only tokenizer.json counts");
  expect_refused(
      bert_file(), {R"({"tokenizer_class": "MPNetTokenizer"})"},
      "'bos_token' is missing, which is '<s>' to MPNetTokenizer, and that is not an added token of tokenizer.json");
  expect_refused(bert_file(), {R"({"tokenizer_class": "LlamaTokenizer"})"}, "not BPE");
  expect_refused(bert_file(), {R"({"tokenizer_class": "BertJapaneseTokenizer"})"}, "it reads none");
  EXPECT_TRUE(check(qwen_file(), {R"({"tokenizer_class": "LlamaTokenizerFast"})"}).ok());
  expect_refused(xlm_roberta_file(), {R"({"tokenizer_class": "PegasusTokenizer"})"},
                 "tokenizer_config.json: 'tokenizer_class' is 'PegasusTokenizer', which uses unknown rules; with "
                 "'PreTrainedTokenizerFast' only tokenizer.json counts");
  expect_refused(qwen_file(), {R"({"tokenizer_class": "GPT2Tokenizer"})"}, "'normalizer' is 'NFC' there");
  expect_refused(roberta_file(), {R"({"tokenizer_class": "Qwen2Tokenizer"})"}, "'normalizer' is missing there");
  expect_refused(roberta_file(), {R"({"tokenizer_class": "GemmaTokenizer"})"}, "not Replace");
  core::Json short_words = bert_file();
  short_words["model"]["max_input_chars_per_word"] = 5U;
  expect_refused(short_words, {R"({"tokenizer_class": "BertTokenizer"})"}, "'max_input_chars_per_word' is 5 there");
  core::Json other_words = qwen_file();
  other_words["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = " +";
  expect_refused(other_words, {R"({"tokenizer_class": "Qwen2Tokenizer"})"}, "not Split at Qwen2's words and ByteLevel");
  core::Json without_merges = roberta_file();
  without_merges["model"]["ignore_merges"] = true;
  expect_refused(without_merges, {R"({"tokenizer_class": "RobertaTokenizer"})"}, "the model has 'ignore_merges' there");
  core::Json with_suffix = qwen_file();
  with_suffix["model"]["end_of_word_suffix"] = "</w>";
  expect_refused(with_suffix, {R"({"tokenizer_class": "Qwen2Tokenizer"})"}, "the model has 'end_of_word_suffix' there");
  core::Json apart = gemma_file();
  apart["model"]["fuse_unk"] = false;
  expect_refused(apart, {R"({"tokenizer_class": "GemmaTokenizer"})"}, "the model has no 'fuse_unk' there");
  core::Json raw = bert_file();
  raw["normalizer"]["clean_text"] = false;
  expect_refused(raw, {R"({"tokenizer_class": "BertTokenizer"})"}, "'clean_text' is false there");
  core::Json plain = bert_file();
  plain["normalizer"] = {{"type", "Lowercase"}};
  expect_refused(plain, {R"({"tokenizer_class": "BertTokenizerFast"})"}, "'normalizer' is 'Lowercase' there");
  EXPECT_TRUE(check(plain, {R"({"tokenizer_class": "PreTrainedTokenizerFast"})"}).ok());
  EXPECT_TRUE(check(plain, {R"({"tokenizer_class": "OneOfTheirOwn"})"}).ok());
}

// Tokens that a class adds by itself are found in texts.
TEST(BesideTokenizerJsonTest, RefusesAFileWithoutTheTokensOfItsClass) {
  constexpr std::string_view kMissing = "and that is not an added token of tokenizer.json";
  expect_refused(roberta_file(), {R"({"tokenizer_class": "GPT2Tokenizer"})"}, kMissing);
  const std::string_view named =
      R"({"tokenizer_class": "GPT2Tokenizer", "unk_token": null, "bos_token": "<s>", "eos_token": "</s>"})";
  EXPECT_TRUE(check(roberta_file(), {named}).ok());
  const auto lacks = [&](core::Json file, std::string_view tokenizer_class) {
    file["added_tokens"] = without(file["added_tokens"], file["added_tokens"].size() - 1);
    const auto text = core::Json{{"tokenizer_class", tokenizer_class}}.dump();
    expect_refused(file, {text}, kMissing);
  };
  lacks(roberta_file(), "RobertaTokenizer");
  lacks(xlm_roberta_file(), "XLMRobertaTokenizer");
  core::Json gemma = gemma_file();
  gemma["added_tokens"] = without(gemma["added_tokens"], 4);
  expect_refused(gemma, {R"({"tokenizer_class": "GemmaTokenizer"})"}, "'mask_token' is missing, which is '<mask>'");
}

// As in the reference: the kind of network stands for a class, which counts as if it were named.
TEST(BesideTokenizerJsonTest, AClassThatNoFileNamesCountsAsANamedOne) {
  const auto refusal = [](const core::Json& file, std::string_view config, std::string_view name) {
    return check(file, {config}, {.tokenizer_class = name}).to_string();
  };
  EXPECT_TRUE(check(bert_file(), {}, {.tokenizer_class = "BertTokenizer"}).ok());
  EXPECT_TRUE(check(roberta_file(), {}, {.tokenizer_class = "RobertaTokenizer"}).ok());
  EXPECT_TRUE(
      check(bert_file(), {R"({"tokenizer_class": "PreTrainedTokenizerFast"})"}, {.tokenizer_class = "MPNetTokenizer"})
          .ok());
  core::Json cased = bert_file();
  cased["normalizer"]["lowercase"] = false;
  EXPECT_THAT(refusal(cased, "", "BertTokenizer"),
              HasSubstr("'do_lower_case' is missing, which is true to BertTokenizer"));
  EXPECT_EQ(refusal(cased, R"({"do_lower_case": false})", "BertTokenizer"), Status().to_string());
  EXPECT_THAT(refusal(bert_file(), "", "MPNetTokenizer"), HasSubstr("is missing, which is '<s>' to MPNetTokenizer"));
  EXPECT_THAT(refusal(bert_file(), "", "RobertaTokenizer"),
              HasSubstr("config.json: 'model_type' means 'RobertaTokenizer' if no file names a 'tokenizer_class', "
                        "which uses other rules than tokenizer.json: the model is 'WordPiece' there, not BPE; with "
                        "'tokenizer_class' 'PreTrainedTokenizerFast' in tokenizer_config.json only tokenizer.json "
                        "counts"));
  EXPECT_TRUE(check(bert_file(), {R"({"tokenizer_class": "RobertaTokenizer"})"}, {.needs_tokenizer_json = true}).ok());
  BesideTokenizerJson by_config{.config = core::Json{{"tokenizer_class", "RobertaTokenizer"}}};
  core::Json root = bert_file();
  EXPECT_THAT(take_beside_tokenizer_json(by_config, root).to_string(), HasSubstr("config.json: 'tokenizer_class'"));
}

TEST(BesideTokenizerJsonTest, RefusesTokensThatTheFileLacks) {
  constexpr std::string_view kNew = "names '<extra>', which is not an added token of tokenizer.json";
  for (const std::string_view text : {
           R"({"additional_special_tokens": ["<extra>"]})",
           R"({"extra_special_tokens": ["[PAD]", "<extra>"]})",
           R"({"extra_special_tokens": {"image_token": "<extra>"}})",
           R"({"image_token": "<extra>"})",
           R"({"mask_token": {"__type": "AddedToken", "content": "<extra>"}})",
           R"({"added_tokens_decoder": {"30522": {"content": "<extra>"}}})",
       })
    expect_refused(bert_file(), {text}, kNew);
  for (const std::string_view text :
       {R"({"cls_token": "<extra>"})", R"({"additional_special_tokens": ["<extra>"]})",
        R"({"mask_token": {"content": "<extra>"}})", R"({"extra_special_tokens": [{"content": "<extra>"}]})"})
    expect_refused(bert_file(), {"", text}, "special_tokens_map.json: ");
  expect_refused(bert_file(), {"", "", R"({"<extra>": 5})"}, "added_tokens.json: 'its list' names '<extra>'");
  // The companions count where tokenizer_config.json has no decoder.
  const std::string_view decoder = R"({"added_tokens_decoder": {"2": {"content": "[CLS]"}}})";
  EXPECT_TRUE(check(bert_file(), {decoder, R"({"cls_token": "<extra>"})", R"({"<extra>": 5})"}).ok());
  // And before it.
  EXPECT_TRUE(check(bert_file(), {R"({"cls_token": "<extra>"})", R"({"cls_token": "[CLS]"})"}).ok());
}

TEST(BesideTokenizerJsonTest, RefusesOtherTokensAroundATextOfClassesThatPutThemThere) {
  const std::string_view map = R"({"cls_token": "[MASK]"})";
  expect_refused(bert_file(), {R"({"tokenizer_class": "BertTokenizer"})", map},
                 "special_tokens_map.json: 'cls_token' is '[MASK]', but tokenizer.json puts '[CLS]' before a text");
  EXPECT_TRUE(check(bert_file(), {R"({"tokenizer_class": "PreTrainedTokenizerFast"})", map}).ok());
  expect_refused(bert_file(), {R"({"tokenizer_class": "BertTokenizer", "sep_token": null})"},
                 "'sep_token' is not a token, but BertTokenizer needs one");
  core::Json bare = bert_file();
  bare["post_processor"] = nullptr;
  expect_refused(bare, {R"({"tokenizer_class": "BertTokenizer"})"},
                 "tokenizer.json does not put a token before a text");
  expect_refused(xlm_roberta_file(), {R"({"tokenizer_class": "XLMRobertaTokenizer", "eos_token": "<pad>"})"},
                 "'eos_token' is '<pad>', but tokenizer.json puts '</s>' after a text");
  const auto of_bert = [&](const core::Json& file, std::string_view part) {
    expect_refused(file, {R"({"tokenizer_class": "BertTokenizer"})"}, part);
  };
  core::Json twice = bert_file();
  core::Json& single = twice["post_processor"]["single"];
  single = core::Json::array({single[0], single[0], single[1], single[2]});
  of_bert(twice, "tokenizer.json puts '[CLS] [CLS]' before a text");
  core::Json by_ids = bert_file();
  by_ids["post_processor"]["special_tokens"] = {{"[CLS]", {{"id", "[CLS]"}, {"ids", {2}}, {"tokens", {"[CLS]"}}}},
                                                {"[SEP]", {{"id", "[SEP]"}, {"ids", {3}}, {"tokens", {"[SEP]"}}}}};
  EXPECT_TRUE(check(by_ids, {R"({"tokenizer_class": "BertTokenizer"})"}).ok());
  core::Json& ids = by_ids["post_processor"]["special_tokens"]["[CLS]"]["ids"];
  ids = core::Json::array();
  of_bert(by_ids, "tokenizer.json does not put a token before a text");
  ids = {4};
  of_bert(by_ids, "tokenizer.json puts '[CLS] with the id 4' before a text");
  core::Json roberta = roberta_file();
  roberta["added_tokens"][0]["id"] = 7;
  expect_refused(roberta, {R"({"tokenizer_class": "RobertaTokenizer"})"}, "puts '<s> with the id 0' before a text");
}

// Of such a class, a file that passes gets the parts that the class makes, and the rounding of its scores.
TEST(BesideTokenizerJsonTest, ClassesForSentencePieceMakeTheirParts) {
  core::Json file = xlm_roberta_file();
  file["normalizer"] = json_of(R"({"type": "Sequence", "normalizers": [
      {"type": "Precompiled", "precompiled_charsmap": "AAAA"}, {"type": "Strip", "strip_left": false}]})");
  file["pre_tokenizer"] = json_of(R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"})");
  file["model"] = {{"type", "Unigram"}, {"unk_id", 0U}, {"byte_fallback", true}};
  BesideTokenizerJson beside{.tokenizer_config = core::Json{{"tokenizer_class", "XLMRobertaTokenizer"}}};
  core::Json root = file;
  ASSERT_TRUE(take_beside_tokenizer_json(beside, root).ok());
  EXPECT_EQ(root["normalizer"], file["normalizer"]["normalizers"][0]);
  EXPECT_EQ(root["pre_tokenizer"]["pretokenizers"][0]["type"], "WhitespaceSplit");
  EXPECT_EQ(root["pre_tokenizer"]["pretokenizers"][1]["prepend_scheme"], "always");
  EXPECT_EQ(root["model"], (core::Json{{"type", "Unigram"}, {"unk_id", 3U}, {"byte_fallback", false}}));
  EXPECT_EQ(rounding_beside(beside), NumberRounding::kNearest);

  core::Json albert = file;
  albert["added_tokens"] = json_of(R"([{"content": "[CLS]"}, {"content": "[SEP]"}, {"content": "<pad>"},
      {"content": "<unk>"}, {"content": "[MASK]"}])");
  albert["normalizer"]["normalizers"].push_back({{"type", "Lowercase"}});
  beside.tokenizer_config = core::Json{{"tokenizer_class", "AlbertTokenizer"}, {"keep_accents", true}};
  ASSERT_TRUE(take_beside_tokenizer_json(beside, albert).ok());
  std::vector<std::string> types;
  for (const core::Json& part : albert["normalizer"]["normalizers"])
    types.push_back(part["type"].text());
  EXPECT_THAT(types, ::testing::ElementsAre("Replace", "Replace", "Lowercase", "Precompiled"));
  EXPECT_EQ(albert["model"]["unk_id"], 1U);

  // DeBERTa's options count, whatever the file has, and its map of characters does not.
  core::Json deberta = albert;
  deberta["added_tokens"] = json_of(R"([{"content": "[CLS]"}, {"content": "[SEP]"}, {"content": "[PAD]"},
      {"content": "[UNK]"}, {"content": "[MASK]"}])");
  deberta["post_processor"] = json_of(R"({"type": "TemplateProcessing", "single": [
      {"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
      {"SpecialToken": {"id": "[SEP]", "type_id": 0}}], "special_tokens": {}})");
  for (const bool has_options : {false, true}) {
    beside.tokenizer_config = core::Json{
        {"tokenizer_class", "DebertaV2TokenizerFast"}, {"do_lower_case", has_options}, {"split_by_punct", has_options}};
    core::Json made_of = deberta;
    const Status status = take_beside_tokenizer_json(beside, made_of);
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(made_of["normalizer"]["normalizers"].size(), has_options ? 4U : 3U);
    EXPECT_EQ(made_of["pre_tokenizer"]["pretokenizers"].size(), has_options ? 2U : 1U);
    EXPECT_EQ(made_of["model"]["unk_id"], 1U);
  }

  // The same where the kind of network alone names the class.
  const core::Json made = [&] {
    core::Json named = file;
    EXPECT_TRUE(
        take_beside_tokenizer_json({.tokenizer_config = core::Json{{"tokenizer_class", "XLMRobertaTokenizer"}}}, named)
            .ok());
    return named;
  }();
  beside = {.network = {.tokenizer_class = "XLMRobertaTokenizer"}};
  root = file;
  ASSERT_TRUE(take_beside_tokenizer_json(beside, root).ok());
  EXPECT_EQ(root, made);
  EXPECT_EQ(rounding_beside(beside), NumberRounding::kNearest);
  // tokenizer.json is all there is where the class keeps the parts.
  root = file;
  beside.tokenizer_config = core::Json{{"tokenizer_class", "PreTrainedTokenizerFast"}};
  ASSERT_TRUE(take_beside_tokenizer_json(beside, root).ok());
  EXPECT_EQ(root, file);
  EXPECT_EQ(rounding_beside(beside), NumberRounding::kReference);
}

// As the reference: its own flags count, and those that are missing are false, or the opposite of "special".
TEST(BesideTokenizerJsonTest, AddedTokensHaveTheFlagsOfTheDecoder) {
  const BesideTokenizerJson beside{.tokenizer_config = json_of(R"({"added_tokens_decoder": {
      "4": {"content": "[MASK]", "lstrip": true, "normalized": true, "special": true},
      "9": {"content": "[CLS]", "special": true}, "3": {"content": "[SEP]"}}})")};
  core::Json root = bert_file();
  for (core::Json& token : root["added_tokens"])
    token["rstrip"] = true;
  ASSERT_TRUE(take_beside_tokenizer_json(beside, root).ok());
  const core::Json& tokens = root["added_tokens"];
  EXPECT_EQ(tokens[4], json_of(R"({"id": 4, "content": "[MASK]", "lstrip": true, "rstrip": false,
                                       "single_word": false, "normalized": true})"));
  EXPECT_FALSE(tokens[2]["normalized"].get<bool>());
  EXPECT_TRUE(tokens[3]["normalized"].get<bool>());
  EXPECT_TRUE(tokens[0]["rstrip"].get<bool>()) << "of which nothing is said";
}

// "ab" has the score of "a" and "b" together, and the reference's own parser takes it for less.
TEST(BesideTokenizerJsonTest, ScoresOfSuchAClassDecideAsPythonReadsThem) {
  constexpr std::string_view kFile = R"({"version": "1.0", "added_tokens": [
      {"id": 0, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
      {"id": 1, "content": "<pad>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
      {"id": 2, "content": "</s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
      {"id": 3, "content": "<unk>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
      {"id": 4, "content": "<mask>", "single_word": false, "lstrip": true, "rstrip": false, "normalized": false, "special": true}],
      "normalizer": null, "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never", "split": true},
      "post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": true,
        "add_prefix_space": false}, "decoder": null,
      "model": {"type": "Unigram", "unk_id": 3, "vocab": [["<s>", 0], ["<pad>", 0], ["</s>", 0], ["<unk>", 0], ["<mask>", 0],
        ["a", -10], ["b", -0.168529510498046875], ["ab", -10.168529510498047]]}})";
  BesideTokenizerJson beside{.tokenizer_config = core::Json{{"tokenizer_class", "PreTrainedTokenizerFast"}}};
  const auto ids_of = [&] {
    const auto tokenizer = Tokenizer::from_json(kFile, "tokenizer.json", {.beside = &beside});
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
    std::vector<std::int32_t> ids;
    if (tokenizer.ok()) {
      EXPECT_TRUE(tokenizer->encode("ab", 9, ids).ok());
    }
    return ids;
  };
  EXPECT_EQ(ids_of(), (std::vector<std::int32_t>{0, 5, 6, 2}));
  beside.tokenizer_config = core::Json{{"tokenizer_class", "XLMRobertaTokenizer"}, {"add_prefix_space", false}};
  EXPECT_EQ(ids_of(), (std::vector<std::int32_t>{0, 7, 2}));
}

TEST(BesideTokenizerJsonTest, DamagedFilesAreLeftToTheirReaders) {
  for (const std::string_view file : {R"({})", R"({"added_tokens": 1, "normalizer": [], "pre_tokenizer": 3})",
                                      R"({"post_processor": {"single": [1, {"SpecialToken": 4}]}, "model": []})"})
    for (const std::string_view text : {R"({"tokenizer_class": 5, "extra_special_tokens": 3, "cls_token": {}})",
                                        R"({"added_tokens_decoder": [1, {}]})"})
      EXPECT_TRUE(check(json_of(file), {text, R"({"cls_token": 5})", "[]"}).ok()) << file << text;
}

}  // namespace
}  // namespace latebind::embedding
