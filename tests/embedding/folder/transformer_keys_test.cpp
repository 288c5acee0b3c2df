#include "embedding/folder/transformer_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "embedding/folder/model_folder.h"
#include "tests/embedding/support.h"
#include "tests/support/json.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;
using nlohmann::json;
using ::testing::HasSubstr;

Status check(std::string_view text, const TransformerUse& use = {}) {
  return check_transformer_keys({.file = "sentence_bert_config.json", .read = json_of(text)}, use);
}

void expect_refused(std::string_view text, std::string_view part, StatusCode code = StatusCode::kUnsupported,
                    const TransformerUse& use = {}) {
  const Status status = check(text, use);
  EXPECT_EQ(status.code(), code) << text << ": " << status.to_string();
  EXPECT_THAT(status.to_string(), HasSubstr("sentence_bert_config.json: ")) << text;
  EXPECT_THAT(status.to_string(), HasSubstr(part)) << text;
}

TEST(TransformerKeysTest, WhatTheReferenceSavesPasses) {
  EXPECT_TRUE(check_transformer_keys({}, {}).ok());
  for (const char* text : {
           R"({"max_seq_length": 256, "do_lower_case": false})",
           R"({"transformer_task": "feature-extraction",
               "modality_config": {"text": {"method": "forward", "method_output_name": "last_hidden_state"}},
               "module_output_name": "token_embeddings"})",
           R"({"modality_config": {"text": {"method": "forward", "method_output_name": ["last_hidden_state"]}},
               "module_output_name": "token_embeddings"})",
           R"({"unpad_inputs": false, "backend": "onnx", "cache_dir": "/x", "query_length": null})",
       })
    EXPECT_TRUE(check(text).ok()) << check(text).to_string();
  const std::string_view sparse = R"({"transformer_task": "fill-mask", "module_output_name": "token_embeddings",
      "modality_config": {"text": {"method": "forward", "method_output_name": "logits"}}})";
  EXPECT_TRUE(check(sparse, {.takes_logits = true}).ok());
  EXPECT_FALSE(check(sparse).ok());
  const std::string_view cross = R"({"transformer_task": "sequence-classification", "module_output_name": "scores",
      "modality_config": {"text": {"method": "forward", "method_output_name": "logits"}}})";
  EXPECT_TRUE(check(cross, {.takes_logits = true, .module_output_name = "scores"}).ok());
  EXPECT_FALSE(check(cross).ok());
}

TEST(TransformerKeysTest, TheNetworksOwnPoolerTakesThePlaceOfPooling) {
  const std::string_view asked = R"({"module_output_name": "sentence_embedding",
      "modality_config": {"text": {"method": "forward", "method_output_name": "pooler_output"}}})";
  EXPECT_TRUE(check(asked, {.takes_pooler = true, .module_output_name = "sentence_embedding"}).ok());
  for (const char* name : {"ernie", "electra"}) {
    SCOPED_TRACE(name);
    testing::ScratchFolder scratch;
    const auto from = testing::data_folder() / "networks" / name;
    for (const char* file : {"config.json", "model.safetensors", "tokenizer.json"})
      scratch.write(file, testing::read_file(from / file));
    scratch.write("sentence_bert_config.json", asked);
    scratch.write("modules.json", R"([
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Normalize", "type": "sentence_transformers.models.Normalize"}])");
    const auto model = ModelFolder::open(scratch.path());
    if (std::string_view(name) == "electra") {
      EXPECT_THAT(model.status().to_string(), HasSubstr("'modality_config' asks for 'pooler_output'"));
      continue;
    }
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    const NetworkEnd end = model->documents().outputs.front()->end(/*from_states=*/false);
    EXPECT_EQ(end.pooler, "pooler.dense");
    EXPECT_EQ(end.pooling, graph::PoolingMode::kCls);
    EXPECT_TRUE(end.normalize);
  }
}

TEST(TransformerKeysTest, ArgumentsThatChangeNothingPass) {
  for (const char* text : {
           R"({"model_args": {}, "config_args": {}, "tokenizer_args": {}})",
           R"({"model_kwargs": {"torch_dtype": "float16", "attn_implementation": "sdpa", "trust_remote_code": true}})",
           R"({"config_kwargs": {"use_cache": false, "revision": "main"}})",
           R"({"processor_kwargs": {"use_fast": true, "local_files_only": true}})",
           R"({"processing_kwargs": {}})",
           R"({"processing_kwargs": {"text": {"padding": true, "truncation": "longest_first", "max_length": null,
                                              "add_special_tokens": true}, "image": {"size": 3}, "unknown": 1}})",
       })
    EXPECT_TRUE(check(text).ok()) << check(text).to_string();
}

TEST(TransformerKeysTest, RefusesWhatWouldGiveOtherVectors) {
  expect_refused(R"({"processing_kwargs": {"text": {"max_length": 4}}})",
                 "'processing_kwargs.text.max_length' is 4: not supported; texts get their special tokens and are cut "
                 "to 'max_seq_length'");
  expect_refused(R"({"processing_kwargs": {"common": {"add_special_tokens": false}}})",
                 "'processing_kwargs.common.add_special_tokens' is false");
  expect_refused(R"({"processing_kwargs": {"text": {"truncation": "do_not_truncate"}}})", "text.truncation");
  expect_refused(R"({"processing_kwargs": {"text": {"padding": "max_length"}}})", "text.padding");
  expect_refused(R"({"config_kwargs": {"hidden_act": "relu"}})",
                 "'config_kwargs.hidden_act' is \"relu\": not supported here; set it in config.json");
  expect_refused(R"({"config_args": {"num_hidden_layers": 1}})", "'config_args.num_hidden_layers' is 1");
  expect_refused(R"({"processor_kwargs": {"model_max_length": 4}})", "'max_seq_length' in this file");
  expect_refused(R"({"tokenizer_args": {"do_lower_case": false}})", "'tokenizer_args.do_lower_case' is false");
  expect_refused(R"({"model_args": {"add_pooling_layer": false}})", "'model_args.add_pooling_layer' is false");
  expect_refused(R"({"tokenizer_name_or_path": "other"})", "'tokenizer_name_or_path' is \"other\"");
  expect_refused(R"({"query_length": 5})", "'query_length' is 5: supported of multi-vector encoders alone");
  expect_refused(R"({"query_expansion": {"length": 5}})", "'query_expansion' is");
  EXPECT_TRUE(check(R"({"query_length": 5})", {.has_roles = true}).ok());
  expect_refused(R"({"max_length": 5})",
                 "'max_length' is a key that sentence-transformers does not take; it takes "
                 "max_seq_length, do_lower_case");
}

// The reference would render every text in a chat template.
TEST(TransformerKeysTest, TakesMessagesForPairsAlone) {
  const std::string_view pairs = R"({"transformer_task": "text-generation", "module_output_name": "causal_logits",
      "modality_config": {"text": {"method": "forward", "method_output_name": "logits"},
                          "message": {"method": "forward", "method_output_name": "logits", "format": "flat"}}})";
  const TransformerUse use{.takes_logits = true, .module_output_name = "causal_logits", .takes_messages = true};
  EXPECT_TRUE(check(pairs, use).ok()) << check(pairs, use).to_string();
  expect_refused(R"({"modality_config": {"text": {"method": "forward", "method_output_name": "last_hidden_state"},
                     "message": {"method": "forward", "method_output_name": "last_hidden_state", "format": "flat"}},
                     "module_output_name": "token_embeddings"})",
                 "chat templates are supported of cross-encoders alone");
  expect_refused(R"({"modality_config": {"text": {"method": "forward", "method_output_name": "logits"},
                     "message": {"method": "generate", "method_output_name": "logits"}},
                     "module_output_name": "causal_logits"})",
                 "'modality_config.message.method' is \"generate\"", StatusCode::kUnsupported, use);
}

TEST(TransformerKeysTest, RefusesOtherOutputs) {
  const auto with = [](std::string_view text, std::string_view name) {
    return R"({"modality_config": {"text": )" + std::string(text) + R"(}, "module_output_name": )" + std::string(name) +
           "}";
  };
  const std::string_view good = R"({"method": "forward", "method_output_name": "last_hidden_state"})";
  EXPECT_TRUE(check(with(good, R"("token_embeddings")")).ok());
  expect_refused(with(R"({"method": "forward", "method_output_name": "pooler_output"})", R"("token_embeddings")"),
                 "'modality_config.text.method_output_name' is \"pooler_output\": the modules of this model need "
                 "'last_hidden_state'");
  expect_refused(with(R"({"method": "forward", "method_output_name": null})", R"("token_embeddings")"),
                 "method_output_name");
  expect_refused(
      with(R"({"method": "get_text_features", "method_output_name": "last_hidden_state"})", R"("token_embeddings")"),
      "modality_config.text.method' is \"get_text_features\"");
  expect_refused(with(good, R"("sentence_embedding")"), "'module_output_name' is \"sentence_embedding\"");
  expect_refused(with(good, "null"), "without 'module_output_name'", StatusCode::kInvalidModel);
  expect_refused(with(R"({"method": "forward"})", R"("token_embeddings")"), "has no 'method_output_name'",
                 StatusCode::kInvalidModel);
  expect_refused(R"({"modality_config": {"image": {}}, "module_output_name": "token_embeddings"})", "has no 'text'");
  expect_refused(R"({"modality_config": [], "module_output_name": "token_embeddings"})", "is not an object",
                 StatusCode::kInvalidModel);
  for (const char* text :
       {R"({"processing_kwargs": 1})", R"({"model_args": []})", R"({"processing_kwargs": {"text": 1}})"})
    expect_refused(text, "is not an object", StatusCode::kInvalidModel);
}

TEST(TransformerKeysTest, AFolderIsRefusedByThem) {
  const testing::ScratchFolder scratch;
  scratch.copy_tiny_bert();
  ASSERT_TRUE(ModelFolder::open(scratch.path()).ok());
  scratch.set("sentence_bert_config.json", "config_kwargs", json{{"hidden_act", "relu"}});
  EXPECT_THAT(ModelFolder::open(scratch.path()).status().to_string(), HasSubstr("config_kwargs.hidden_act"));
}

}  // namespace
}  // namespace latebind::embedding
