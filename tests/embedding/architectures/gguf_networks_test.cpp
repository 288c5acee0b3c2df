// Models in GGUF (tests/data/gguf/make.py): their tokens, and what transformers computes of the same weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "embedding/build_model.h"
#include "embedding/folder/model_folder.h"
#include "embedding/tokenizer/tokenizer.h"
#include "tests/embedding/architectures/batch_of_texts.h"
#include "tests/embedding/support.h"
#include "tests/support/json.h"

namespace latebind::embedding {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::filesystem::path gguf_data() {
  return testing::data_folder() / "gguf";
}

const json& expected_of_models() {
  static const json document = json::parse(testing::read_file(gguf_data() / "expected.json"));
  return document["models"];
}

std::vector<std::int32_t> ids_of(const Tokenizer& tokenizer, const json& text) {
  std::vector<std::int32_t> ids;
  if (text.is_string()) {
    EXPECT_TRUE(tokenizer.encode(text.get<std::string>(), 512, ids).ok());
    return ids;
  }
  const auto pair =
      tokenizer.encode_pair(text[0].get<std::string>(), text[1].get<std::string>(), {.max_tokens = 512}, ids);
  EXPECT_TRUE(pair.ok()) << pair.status().to_string();
  return ids;
}

class GgufModelTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GgufModelTest, AgreesWithTheReference) {
  const auto model = ModelFolder::open(gguf_data() / (GetParam() + ".gguf"));
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const json& expected = expected_of_models()[GetParam()];
  const auto tokenizer = model->documents().open_tokenizer();
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  for (std::size_t i = 0; i < expected["texts"].size(); ++i)
    EXPECT_EQ(json(ids_of(*tokenizer, expected["texts"][i])), expected["ids"][i]) << expected["texts"][i];
  const auto graph = make_graph(model->documents());
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  const auto vectors = testing::vectors_of(*graph, testing::batch_of(expected["ids"]));
  const json& results = expected["results"];
  const std::size_t width = results[0].size();
  ASSERT_EQ(vectors.values.size(), results.size() * width);
  for (std::size_t row = 0; row < results.size(); ++row) {
    double product = 0;
    double square = 0;
    double other_square = 0;
    for (std::size_t i = 0; i < width; ++i) {
      double value = vectors.values[row * width + i];
      if (GetParam() == "reranker") value = 1 / (1 + std::exp(-value));
      const double wanted = results[row][i].get<double>();
      EXPECT_NEAR(value, wanted, 1e-5) << row << "," << i;
      product += value * wanted;
      square += value * value;
      other_square += wanted * wanted;
    }
    EXPECT_GE(product / std::sqrt(square * other_square), 0.9999999) << row;
  }
}

INSTANTIATE_TEST_SUITE_P(All, GgufModelTest,
                         ::testing::Values("bert", "bert-unigram", "gemma", "gemma-embedding", "llama", "nomic-bert",
                                           "qwen2", "qwen3", "reranker"),
                         [](const ::testing::TestParamInfo<std::string>& given) {
                           std::string name = given.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// Replaces the first occurrence, which leaves all places as they are.
std::string with(std::string bytes, std::string_view from, std::string_view to) {
  EXPECT_EQ(from.size(), to.size());
  const std::size_t at = bytes.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return bytes.replace(at, to.size(), to);
}

// Every key of the file under another name: the same vectors, or a refusal.
TEST_P(GgufModelTest, NoKeyIsIgnoredInSilence) {
  const std::string bytes = testing::read_file(gguf_data() / (GetParam() + ".gguf"));
  const json& expected = expected_of_models()[GetParam()];
  const testing::ScratchFolder scratch;
  const auto vectors = [&](const std::string& file) -> std::vector<double> {
    scratch.write("m.gguf", file);
    const auto model = ModelFolder::open(scratch.path() / "m.gguf");
    if (!model.ok()) return {};
    const auto graph = make_graph(model->documents());
    return graph.ok() ? testing::vectors_of(*graph, testing::batch_of(expected["ids"])).values : std::vector<double>();
  };
  const auto same = vectors(bytes);
  ASSERT_FALSE(same.empty());
  const std::string architecture = GetParam() == "reranker" || GetParam() == "bert-unigram" ? "bert" : GetParam();
  std::size_t refused = 0;
  for (std::size_t at = bytes.find(architecture + "."); at != std::string::npos;
       at = bytes.find(architecture + ".", at + 1)) {
    if (bytes[at - 1] != '\0') continue;  // not the beginning of a key
    std::string changed = bytes;
    changed[at + architecture.size() + 1] = '_';
    refused += vectors(changed).empty() ? 1 : 0;
  }
  EXPECT_GE(refused, 7U);
}

TEST(GgufModelsTest, AFolderMayHaveItAlone) {
  const testing::ScratchFolder scratch;
  scratch.write("a.gguf", testing::read_file(gguf_data() / "bert.gguf"));
  scratch.write("README.md", "text");
  const auto model = ModelFolder::open(scratch.path());
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->name(), "a");
  EXPECT_EQ(model->describe()["network"]["types"].text(), "F16, F32");
  EXPECT_THAT(model->describe()["assumed"].text(), HasSubstr("whether vectors are normalized"));
  scratch.write("b.gguf", testing::read_file(gguf_data() / "bert.gguf"));
  const auto several = ModelFolder::open(scratch.path());
  EXPECT_EQ(several.status().code(), core::StatusCode::kInvalidArgument);
  EXPECT_THAT(several.status().to_string(), HasSubstr("a.gguf, b.gguf"));
}

TEST(GgufModelsTest, WhatIsNotSupportedIsRefusedByName) {
  const std::string bert = testing::read_file(gguf_data() / "bert.gguf");
  const std::string qwen = testing::read_file(gguf_data() / "qwen2.gguf");
  const testing::ScratchFolder scratch;
  const auto expect = [&](const std::string& bytes, std::string_view what) {
    scratch.write("m.gguf", bytes);
    const auto model = ModelFolder::open(scratch.path() / "m.gguf");
    EXPECT_THAT(model.status().to_string(), HasSubstr(what));
    EXPECT_THAT(model.status().to_string(), HasSubstr("m.gguf"));
  };
  const std::string named("\4\0\0\0\0\0\0\0bert", 12);
  expect(with(bert, named, named.substr(0, 9) + "ort"), "'general.architecture' is 'bort'; of GGUF, bert, gemma");
  expect(with(bert, "blk.0.attn_q.weight", "blk.0.attn_p.weight"), "'blk.0.attn_p.weight'");
  expect(with(bert, "bert.block_count", "bert.block_kount"), "the key 'bert.block_kount'");
  expect(with(bert, "position_embd.weight", "position_ambd.weight"), "position_embd.weight");
  const std::string split("\5\0\0\0\0\0\0\0qwen2\x15", 14);
  expect(with(qwen, split, split.substr(0, 12) + "3\x15"), "'tokenizer.ggml.pre' is 'qwen3'; the nearest");
  expect(bert.substr(0, bert.size() / 2), "is it cut short?");
  expect(bert.substr(0, 100), "is it cut short?");
  expect(with(bert, std::string_view("GGUF\3\0\0\0", 8), std::string_view("GGUF\0\0\0\3", 8)), "big-endian");
  expect(with(bert, std::string_view("GGUF\3", 5), std::string_view("GGUF\1", 5)), "version 1");
}

}  // namespace
}  // namespace latebind::embedding
