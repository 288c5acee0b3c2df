// Both forms of a built model, byte for byte where that can be said without a vendor.
#include "embedding/graph/build.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "core/platform/mapped_file.h"
#include "embedding/graph/export.h"
#include "embedding/graph/onnx_reader.h"
#include "support.h"

namespace latebind::embedding {
namespace {

using core::ModelFormat;
using core::StatusCode;
using ::testing::HasSubstr;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

GraphModel built(const std::filesystem::path& folder, const GraphOptions& options = {}) {
  const auto model = ModelFolder::open(folder);
  EXPECT_TRUE(model.ok()) << model.status().to_string();
  auto graph = build_model(*model, options);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  return *std::move(graph);
}

struct Const {
  std::string type;
  std::size_t elements = 1;
  std::size_t offset = 0;
  std::size_t size = 0;
};

// Every tag of the text that begins so, up to its end.
std::vector<std::string_view> tags_of(std::string_view xml, std::string_view beginning) {
  std::vector<std::string_view> tags;
  for (auto at = xml.find(beginning); at != std::string_view::npos; at = xml.find(beginning, at + 1))
    tags.push_back(xml.substr(at, xml.find('>', at) + 1 - at));
  return tags;
}

std::string attribute(std::string_view tag, std::string_view name) {
  const std::string before = fmt::format(" {}=\"", name);
  const auto at = tag.find(before);
  if (at == std::string_view::npos) return {};
  const auto value = tag.substr(at + before.size());
  return std::string(value.substr(0, value.find('"')));
}

std::size_t number(std::string_view tag, std::string_view name) {
  return std::stoul(attribute(tag, name));
}

std::vector<Const> constants_of(std::string_view xml) {
  std::vector<Const> constants;
  for (const std::string_view tag : tags_of(xml, "<data element_type=")) {
    Const found{attribute(tag, "element_type"), 1, number(tag, "offset"), number(tag, "size")};
    std::stringstream dims(attribute(tag, "shape"));
    for (std::string dim; std::getline(dims, dim, ',');)
      found.elements *= std::stoul(dim);
    constants.push_back(found);
  }
  return constants;
}

TEST(BuildModelTest, BothFormsReferToOneMappingOfTheWeights) {
  for (const char* kind : {"f32", "f16", "bf16"}) {
    const GraphModel graph = built(testing::tiny_bert(kind));
    EXPECT_TRUE(graph.pooled);
    EXPECT_EQ(graph.dimension, 32U);
    EXPECT_EQ(graph.output, 0U);
    const core::ModelForm* onnx = graph.model.find(ModelFormat::kOnnx);
    const core::ModelForm* ir = graph.model.find(ModelFormat::kOpenvinoIr);
    ASSERT_NE(onnx, nullptr);
    ASSERT_NE(ir, nullptr);
    ASSERT_EQ(onnx->external.size(), 1U);
    EXPECT_EQ(onnx->external[0].location, "model.safetensors");
    EXPECT_EQ(onnx->external[0].data.bytes.data(), ir->weights.bytes.data());
    EXPECT_EQ(text_of(onnx->external[0].data.bytes),
              testing::read_file(testing::tiny_bert(kind) / "model.safetensors"));
  }
}

TEST(BuildModelTest, ConstantsOfTheIrLieInTheWeightsAndFitTheirShapes) {
  const GraphModel graph = built(testing::tiny_bert("f16"));
  const core::ModelForm& ir = *graph.model.find(ModelFormat::kOpenvinoIr);
  const std::map<std::string, std::size_t> sizes{{"f32", 4}, {"f16", 2}, {"i64", 8}};
  const auto constants = constants_of(text_of(ir.graph.bytes));
  EXPECT_GT(constants.size(), 30U);
  const std::size_t file_size = graph.model.find(ModelFormat::kOnnx)->external[0].data.bytes.size();
  std::size_t in_file = 0;
  for (const Const& constant : constants) {
    ASSERT_TRUE(sizes.contains(constant.type)) << constant.type;
    EXPECT_EQ(constant.size, constant.elements * sizes.at(constant.type));
    EXPECT_LE(constant.offset + constant.size, ir.weights.bytes.size());
    if (constant.offset + constant.size <= file_size) {
      in_file += constant.size;
    } else {
      EXPECT_GE(constant.offset, platform::MappedFile::tail_offset(file_size));
      EXPECT_EQ(constant.offset % sizes.at(constant.type), 0U);
    }
  }
  // All weights but the header: nothing of the model is copied.
  EXPECT_GT(in_file, file_size * 9 / 10);
}

TEST(BuildModelTest, LayersOfTheIrStandInOrderAndEveryInputHasOneEdge) {
  const GraphModel graph = built(testing::tiny_bert("bf16"), {.hidden_states = true});
  EXPECT_FALSE(graph.pooled);
  const std::string xml(text_of(graph.model.find(ModelFormat::kOpenvinoIr)->graph.bytes));
  EXPECT_THAT(xml, HasSubstr("names=\"last_hidden_state\""));
  std::map<std::pair<std::size_t, std::size_t>, int> edges;
  for (const std::string_view edge : tags_of(xml, "<edge ")) {
    EXPECT_LT(number(edge, "from-layer"), number(edge, "to-layer"));
    ++edges[{number(edge, "to-layer"), number(edge, "to-port")}];
  }
  std::size_t layers = 0;
  std::size_t inputs = 0;
  for (const std::string_view layer : tags_of(xml, "<layer ")) {
    EXPECT_EQ(number(layer, "id"), layers);
    // What stands on the layer's line before its outputs.
    const auto begin = static_cast<std::size_t>(layer.data() - xml.data());
    std::string_view line = std::string_view(xml).substr(begin, xml.find('\n', begin) - begin);
    line = line.substr(0, line.find("<output>"));
    const std::size_t ports = tags_of(line, "<port ").size();
    for (std::size_t port = 0; port < ports; ++port, ++inputs) {
      EXPECT_EQ((edges[{layers, port}]), 1) << line;
    }
    ++layers;
  }
  EXPECT_EQ(edges.size(), inputs);
}

TEST(BuildModelTest, TheOnnxFormDeclaresItsOutput) {
  const GraphModel pooled = built(testing::tiny_bert("f32"));
  const auto signature = read_onnx_signature(pooled.model.find(ModelFormat::kOnnx)->graph.bytes, "x.onnx");
  ASSERT_TRUE(signature.ok());
  ASSERT_EQ(signature->outputs.size(), 1U);
  EXPECT_EQ(signature->outputs[0].name, "sentence_embedding");
  EXPECT_EQ(signature->outputs[0].shape, (std::vector<std::int64_t>{-1, 32}));
}

TEST(BuildModelTest, RefusesAWeightsFileOfAnotherModel) {
  const testing::ScratchFolder scratch;
  scratch.copy_tiny_bert();
  scratch.write("model.safetensors", testing::safetensors("{}", 0));
  const auto model = build_model(*ModelFolder::open(scratch.path()), {});
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), StatusCode::kInvalidModel);
  EXPECT_THAT(model.status().to_string(), HasSubstr("embeddings.word_embeddings.weight"));
}

TEST(BuildModelTest, TakesAReadyOnnxFileWhereThereAreNoWeights) {
  const testing::ScratchFolder scratch;
  scratch.copy_tiny_bert();
  auto folder = ModelFolder::open(scratch.path());
  std::filesystem::create_directory(scratch.path() / "onnx");
  ASSERT_TRUE(write_onnx_file(*folder, {.hidden_states = true}, scratch.path() / "onnx" / "model.onnx").ok());
  std::filesystem::remove(scratch.path() / "model.safetensors");
  const GraphModel states = built(scratch.path());
  EXPECT_FALSE(states.pooled);
  EXPECT_EQ(states.dimension, 32U);
  ASSERT_EQ(states.model.forms().size(), 1U);
  EXPECT_EQ(states.model.forms()[0].file, scratch.path() / "onnx" / "model.onnx");

  folder = ModelFolder::open(testing::tiny_bert("f32"));
  ASSERT_TRUE(write_onnx_file(*folder, {}, scratch.path() / "onnx" / "model.onnx").ok());
  EXPECT_TRUE(built(scratch.path()).pooled);
  EXPECT_EQ(build_model(*ModelFolder::open(scratch.path()), {.hidden_states = true}).status().code(),
            StatusCode::kUnsupported);

  scratch.write("onnx/model.onnx", "garbage that is no model");
  const auto damaged = build_model(*ModelFolder::open(scratch.path()), {});
  EXPECT_EQ(damaged.status().code(), StatusCode::kInvalidModel);
  EXPECT_THAT(damaged.status().to_string(), HasSubstr("model.onnx"));
}

TEST(WriteOnnxFileTest, HoldsTheWeightsOnce) {
  const testing::ScratchFolder scratch;
  const auto folder = ModelFolder::open(testing::tiny_bert("f32"));
  const auto file = scratch.path() / "model.onnx";
  ASSERT_TRUE(write_onnx_file(*folder, {}, file).ok());
  const std::string onnx = testing::read_file(file);
  const std::string weights = testing::read_file(*folder->weights_file);
  EXPECT_GT(onnx.size(), weights.size() * 8 / 10);
  EXPECT_LT(onnx.size(), weights.size() * 3 / 2);
  // The last tensor's bytes, as they are.
  EXPECT_THAT(onnx, HasSubstr(weights.substr(weights.size() - 128)));
  EXPECT_TRUE(core::Model::from_file(file).ok());
}

TEST(WriteOnnxFileTest, LeavesNothingBehindWhenItFails) {
  const testing::ScratchFolder scratch;
  const auto folder = ModelFolder::open(testing::tiny_bert("f32"));
  const auto status = write_onnx_file(*folder, {}, scratch.path() / "missing" / "model.onnx");
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.to_string(), HasSubstr("missing"));
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

}  // namespace
}  // namespace latebind::embedding
