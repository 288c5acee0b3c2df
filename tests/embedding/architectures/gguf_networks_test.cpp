// Models in GGUF (tests/data/gguf/make.py): their tokens, and what transformers computes of the same weights.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "embedding/build_model.h"
#include "embedding/folder/model_folder.h"
#include "embedding/tokenizer/tokenizer.h"
#include "embedding/weights/gguf/header.h"
#include "tests/embedding/architectures/batch_of_texts.h"
#include "tests/embedding/support.h"
#include "tests/support/json.h"

namespace latebind::embedding {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using namespace std::string_literals;  // NOLINT(google-build-using-namespace): literals with zeros

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

template <class Number>
std::string bytes_of(Number number) {
  std::string bytes(sizeof(Number), '\0');
  std::memcpy(bytes.data(), &number, sizeof(Number));
  return bytes;
}

std::string text_of(const std::string& text) {
  return bytes_of<std::uint64_t>(text.size()) + text;
}

// GGUF's numbers of the types of values.
constexpr std::uint32_t kU32 = 4;
constexpr std::uint32_t kF32 = 6;
constexpr std::uint32_t kText = 8;

// Adds a key before the others, and another one without effect, which keeps the tensors at multiples of the alignment.
std::string with_key(std::string bytes, const std::string& key, std::uint32_t type, const std::string& value) {
  constexpr std::size_t kCountPlace = 16;
  constexpr std::size_t kAlignment = 32;
  std::string added = text_of(key) + bytes_of(type) + value + text_of("~" + key) + bytes_of(kText);
  const std::size_t end = (added.size() + sizeof(std::uint64_t)) % kAlignment;
  added += text_of(std::string(kAlignment - end, '~'));
  std::uint64_t count = 0;
  std::memcpy(&count, bytes.data() + kCountPlace, sizeof(count));
  count += 2;
  std::memcpy(bytes.data() + kCountPlace, &count, sizeof(count));
  return bytes.insert(kCountPlace + sizeof(count), added);
}

// The vectors of a file; none if it is refused.
std::vector<double> vectors_of_file(const std::string& bytes, const json& ids) {
  const testing::ScratchFolder scratch;
  scratch.write("m.gguf", bytes);
  const auto model = ModelFolder::open(scratch.path() / "m.gguf");
  if (!model.ok()) return {};
  const auto graph = make_graph(model->documents());
  return graph.ok() ? testing::vectors_of(*graph, testing::batch_of(ids)).values : std::vector<double>();
}

// Every key of the file under another name: the same vectors, or a refusal.
TEST_P(GgufModelTest, NoKeyIsIgnoredInSilence) {
  const std::string bytes = testing::read_file(gguf_data() / (GetParam() + ".gguf"));
  const json& expected = expected_of_models()[GetParam()];
  const auto vectors = [&](const std::string& file) { return vectors_of_file(file, expected["ids"]); };
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

// The pieces of a model (llama-gguf-split): the first one has all keys, and the tensors are distributed.
std::vector<std::string> pieces_of(const std::string& whole, std::size_t count) {
  core::FilePart part;
  part.bytes = core::SharedBytes::from_string(whole);
  const auto header = GgufHeader::read(part, "whole");
  EXPECT_TRUE(header.ok()) << header.status().to_string();
  constexpr std::size_t kAlignment = 32;
  constexpr std::uint32_t kU16 = 2;
  constexpr std::size_t kCounts = 8;
  const auto pad = [](std::string& bytes) { bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment); };
  std::uint64_t keys = 0;
  std::memcpy(&keys, whole.data() + kCounts + 8, sizeof keys);
  // Where the list of tensors begins: each entry begins with its name.
  std::size_t list = whole.size();
  for (const auto& [name, tensor] : header->tensors())
    list = std::min(list, whole.find(text_of(std::string(name))));
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < count; ++i) {
    std::string tensors;
    std::string data;
    std::size_t number = 0;
    std::uint64_t here = 0;
    for (const auto& [name, tensor] : header->tensors()) {
      if (number++ % count != i) continue;
      ++here;
      tensors += text_of(std::string(name)) + bytes_of(static_cast<std::uint32_t>(tensor.shape.size()));
      for (std::size_t axis = tensor.shape.size(); axis-- > 0;)
        tensors += bytes_of(static_cast<std::uint64_t>(tensor.shape[axis]));
      tensors += bytes_of(tensor.type) + bytes_of(static_cast<std::uint64_t>(data.size()));
      data += whole.substr(tensor.offset, tensor.size);
      pad(data);
    }
    std::string piece = whole.substr(0, kCounts) + bytes_of(here) + bytes_of((i == 0 ? keys : 0) + 3);
    if (i == 0) piece += whole.substr(kCounts + 16, list - kCounts - 16);
    piece += text_of("split.no") + bytes_of(kU16) + bytes_of(static_cast<std::uint16_t>(i));
    piece += text_of("split.count") + bytes_of(kU16) + bytes_of(static_cast<std::uint16_t>(count));
    piece += text_of("split.tensors.count") + bytes_of(std::uint32_t{5}) +
             bytes_of(static_cast<std::int32_t>(header->tensors().size()));
    piece += tensors;
    pad(piece);
    pieces.push_back(piece + data);
  }
  return pieces;
}

// Interleaved heads are undone in every piece, and shifted norms, too: only the first piece says what they are.
TEST(GgufModelsTest, PiecesAreOneModel) {
  for (const std::string name : {"llama", "gemma-embedding"}) {
    SCOPED_TRACE(name);
    const std::string whole = testing::read_file(gguf_data() / (name + ".gguf"));
    const json& ids = expected_of_models()[name]["ids"];
    const auto pieces = pieces_of(whole, 3);
    const auto wanted = vectors_of_file(whole, ids);
    ASSERT_FALSE(wanted.empty());
    const testing::ScratchFolder scratch;
    for (std::size_t i = 0; i < pieces.size(); ++i)
      scratch.write(fmt::format("m-Q4-{:05}-of-00003.gguf", i + 1), pieces[i]);
    for (const char* const place : {"", "m-Q4-00001-of-00003.gguf", "m-Q4-00003-of-00003.gguf"}) {
      const auto model = ModelFolder::open(scratch.path() / place);
      ASSERT_TRUE(model.ok()) << model.status().to_string();
      EXPECT_EQ(model->name(), "m-Q4");
      const auto graph = make_graph(model->documents());
      ASSERT_TRUE(graph.ok()) << graph.status().to_string();
      EXPECT_TRUE(testing::vectors_of(*graph, testing::batch_of(ids)).values == wanted);
    }
  }
}

TEST(GgufModelsTest, PiecesThatDoNotBelongTogetherAreRefusedByName) {
  const auto pieces = pieces_of(testing::read_file(gguf_data() / "qwen3.gguf"), 3);
  const auto refusal = [](const std::map<std::string, std::string>& files, const std::string& opened) {
    const testing::ScratchFolder scratch;
    for (const auto& [name, bytes] : files)
      scratch.write(name, bytes);
    return ModelFolder::open(scratch.path() / opened).status().to_string();
  };
  const std::string first = "m-00001-of-00003.gguf";
  const std::string second = "m-00002-of-00003.gguf";
  const std::string third = "m-00003-of-00003.gguf";
  EXPECT_THAT(refusal({{first, pieces[0]}, {second, pieces[1]}}, first),
              HasSubstr("m-00003-of-00003.gguf' of 3 is missing"));
  EXPECT_THAT(refusal({{second, pieces[1]}, {third, pieces[2]}}, ""), HasSubstr(first));
  EXPECT_THAT(refusal({{first, pieces[0]}, {second, pieces[2]}, {third, pieces[1]}}, first),
              HasSubstr("'split.no' is 2 and 'split.count' is 3, but it should be piece 1 of 3"));
  EXPECT_THAT(refusal({{first, pieces[0]}, {second, pieces[1]}, {third, pieces[1]}}, first),
              HasSubstr("'split.no' is 1"));
  EXPECT_THAT(refusal({{"a.gguf", pieces[0]}}, "a.gguf"), HasSubstr("its name does not end in -00001-of-00003.gguf"));
  EXPECT_THAT(refusal({{"a.gguf", pieces[1]}}, "a.gguf"), HasSubstr("piece 2 of 3 ('split.no')"));
  EXPECT_THAT(refusal({{first, pieces[1]}}, first), HasSubstr("piece 2 of 3 ('split.no')"));
}

TEST(GgufModelsTest, TheSuffixMayBeInUpperCase) {
  const testing::ScratchFolder scratch;
  scratch.write("a.GGUF", testing::read_file(gguf_data() / "bert.gguf"));
  const auto model = ModelFolder::open(scratch.path());
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->name(), "a");
}

TEST(GgufModelsTest, WhatIsNamedLikeOneAndIsNoneIsTold) {
  const testing::ScratchFolder scratch;
  for (const std::string_view content : {"", "GGU", "some text, and no model"}) {
    for (const char* name : {"m.gguf", "n.GGUF"}) {
      scratch.write(name, content);
      const auto model = ModelFolder::open(scratch.path() / name);
      EXPECT_EQ(model.status().code(), core::StatusCode::kInvalidModel);
      EXPECT_THAT(model.status().to_string(), HasSubstr("not a GGUF file: its first bytes are not GGUF"));
      EXPECT_THAT(model.status().to_string(), HasSubstr(name));
    }
  }
  scratch.write("m.txt", "some text, and no model");
  EXPECT_THAT(ModelFolder::open(scratch.path() / "m.txt").status().to_string(), HasSubstr("or one GGUF file"));
}

TEST(GgufModelsTest, AFactorWithoutATypeScalesPositionsLinearly) {
  const std::string plain = testing::read_file(gguf_data() / "llama.gguf");
  const json& ids = expected_of_models()["llama"]["ids"];
  const auto scaled = [&](float factor) {
    return with_key(plain, "llama.rope.scaling.factor", kF32, bytes_of(factor));
  };
  const auto typed = [&](const std::string& bytes, const std::string& type) {
    return with_key(bytes, "llama.rope.scaling.type", kText, text_of(type));
  };
  const auto same = vectors_of_file(plain, ids);
  const auto linear = vectors_of_file(typed(scaled(2), "linear"), ids);
  ASSERT_FALSE(same.empty());
  ASSERT_FALSE(linear.empty());
  EXPECT_FALSE(linear == same);
  EXPECT_TRUE(vectors_of_file(scaled(2), ids) == linear);
  EXPECT_TRUE(vectors_of_file(scaled(0), ids) == same);
  EXPECT_TRUE(vectors_of_file(scaled(1), ids) == same);
  EXPECT_TRUE(vectors_of_file(typed(scaled(2), "none"), ids) == same);
}

TEST(GgufModelsTest, WhatIsNotSupportedIsRefusedByName) {
  const std::string bert = testing::read_file(gguf_data() / "bert.gguf");
  const std::string qwen = testing::read_file(gguf_data() / "qwen2.gguf");
  const std::string llama = testing::read_file(gguf_data() / "llama.gguf");
  const std::string nomic = testing::read_file(gguf_data() / "nomic-bert.gguf");
  const std::string gemma = testing::read_file(gguf_data() / "gemma-embedding.gguf");
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
  const std::string base = "llama.rope.freq_base" + bytes_of(kF32);
  constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  expect(with(llama, base + bytes_of(300.0F), base + bytes_of(kNotANumber)),
         "'llama.rope.freq_base' is nan, not a finite number");
  expect(with(llama, base + bytes_of(300.0F), base + bytes_of(kInfinite)), "'llama.rope.freq_base' is inf, not a");
  expect(with_key(llama, "llama.rope.scaling.factor", kF32, bytes_of(kInfinite)), "'llama.rope.scaling.factor' is inf");
  expect(with_key(nomic, "nomic-bert.rope.scaling.factor", kF32, bytes_of(2.0F)),
         "'nomic-bert.rope.scaling.factor' is 2; scaled positions are supported only in decoders");
  const std::string wide = "gemma-embedding.dense_2_feat_in" + bytes_of(kU32);
  expect(with(gemma, wide + bytes_of(std::uint32_t{32}), wide + bytes_of(std::uint32_t{33})),
         "'gemma-embedding.dense_2_feat_in' is 33, but the tensor 'dense_2.weight' has 32 columns");
  expect(with_key(qwen, "qwen2.dense_3_feat_out", kU32, bytes_of(std::uint32_t{32})),
         "it has the key 'qwen2.dense_3_feat_out', but no tensor 'dense_3.weight'");
  // In terms of the file, not of those that are generated from it.
  const std::string width = "bert.embedding_length" + bytes_of(kU32);
  const std::string heads = "qwen2.attention.head_count" + bytes_of(kU32);
  const std::string layers = "qwen2.block_count" + bytes_of(kU32);
  expect(with(bert, width + bytes_of(std::uint32_t{32}), width + bytes_of(std::uint32_t{33})), "m.gguf: ");
  expect(with(qwen, heads + bytes_of(std::uint32_t{4}), heads + bytes_of(std::uint32_t{5})),
         "'qwen2.attention.head_count'");
  const auto expect_later = [&](const std::string& bytes, std::string_view what) {
    scratch.write("m.gguf", bytes);
    const auto model = ModelFolder::open(scratch.path() / "m.gguf");
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    const auto tokenizer = model->documents().open_tokenizer();
    const auto graph = tokenizer.ok() ? make_graph(model->documents()).status() : tokenizer.status();
    EXPECT_THAT(graph.to_string(), HasSubstr(what));
    EXPECT_THAT(graph.to_string(), ::testing::Not(HasSubstr(".json")));
  };
  expect_later(with(qwen, layers + bytes_of(std::uint32_t{2}), layers + bytes_of(std::uint32_t{3})),
               "m.gguf: no tensor 'blk.2.");
  const std::string merge = "\3\0\0\0\0\0\0\0h e"s;
  expect_later(with(qwen, merge, "\3\0\0\0\0\0\0\0\1 e"s), "m.gguf: 'tokenizer.ggml.merges'");
  expect(bert.substr(0, bert.size() / 2), "is it cut short?");
  expect(bert.substr(0, 100), "is it cut short?");
  expect(with(bert, std::string_view("GGUF\3\0\0\0", 8), std::string_view("GGUF\0\0\0\3", 8)), "big-endian");
  expect(with(bert, std::string_view("GGUF\3", 5), std::string_view("GGUF\1", 5)), "version 1");
}

}  // namespace
}  // namespace latebind::embedding
