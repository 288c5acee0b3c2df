// What becomes of a model folder: a graph of ours, or a ready ONNX file.
#include "embedding/build_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/bundle/package.h"
#include "core/bundle/package_files.h"
#include "core/bundle/package_writer.h"
#include "core/graph/onnx_reader.h"
#include "core/model/onnx_form.h"
#include "embedding/bundle_parts.h"
#include "embedding/export_onnx.h"
#include "embedding/folder/model_folder.h"
#include "support.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using ::testing::HasSubstr;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

GraphModel built(const std::filesystem::path& folder, const GraphOptions& options = {}) {
  const auto model = ModelFolder::open(folder);
  EXPECT_TRUE(model.ok()) << model.status().to_string();
  auto graph = build_model(model->documents(), options);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  return *std::move(graph);
}

TEST(BuildModelTest, TheGraphKeepsTheFileWithTheWeights) {
  for (const char* kind : {"f32", "f16", "bf16"}) {
    const auto file = testing::tiny_bert(kind) / "model.safetensors";
    const GraphModel graph = built(testing::tiny_bert(kind));
    ASSERT_EQ(graph.ends.size(), 1U);
    EXPECT_TRUE(graph.ends[0].pooled);
    EXPECT_EQ(graph.ends[0].dimension, 32U);
    EXPECT_EQ(graph.ends[0].position, 0U);
    EXPECT_TRUE(graph.model.forms().empty()) << "nobody has asked for one";
    ASSERT_NE(graph.model.graph(), nullptr);
    const core::FilePart& weights = graph.model.graph()->graph->weights().front();
    EXPECT_EQ(weights.where.file, file);
    EXPECT_EQ(text_of(weights.bytes.bytes), testing::read_file(file));
    EXPECT_EQ(graph.model.graph()->sources.front().name, "model.safetensors");
  }
}

TEST(BuildModelTest, TheOnnxFormDeclaresItsOutputAndNamesTheWeights) {
  const GraphModel pooled = built(testing::tiny_bert("f32"));
  const auto onnx = core::onnx_form(pooled.model);
  ASSERT_TRUE(onnx.ok());
  const auto signature = graph::read_onnx_signature(onnx->graph.bytes, "x.onnx");
  ASSERT_TRUE(signature.ok());
  ASSERT_EQ(signature->outputs.size(), 1U);
  EXPECT_EQ(signature->outputs[0].name, "sentence_embedding");
  EXPECT_EQ(signature->outputs[0].shape, (std::vector<std::int64_t>{-1, 32}));
  ASSERT_EQ(onnx->external.size(), 1U);
  EXPECT_EQ(onnx->external[0].location, "model.safetensors");
  EXPECT_EQ(onnx->external[0].file, testing::tiny_bert("f32") / "model.safetensors");
}

TEST(BuildModelTest, RefusesAWeightsFileOfAnotherModel) {
  const testing::ScratchFolder scratch;
  scratch.copy_tiny_bert();
  scratch.write("model.safetensors", testing::safetensors("{}", 0));
  const auto model = build_model(ModelFolder::open(scratch.path())->documents());
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), StatusCode::kInvalidModel);
  EXPECT_THAT(model.status().to_string(), HasSubstr("embeddings.word_embeddings.weight"));
}

TEST(BuildModelTest, ABiasThatTheFilesDisagreeAboutIsRefused) {
  const testing::ScratchFolder scratch;
  scratch.copy_tiny_bert();
  for (const char* file :
       {"modules.json", "1_Pooling/config.json", "2_Dense/config.json", "2_Dense/model.safetensors",
        "3_Dense/config.json", "3_Dense/model.safetensors", "4_LayerNorm/config.json", "4_LayerNorm/model.safetensors"})
    scratch.write(file, testing::read_file(testing::data_folder() / "modules" / "behind" / file));
  const auto refusal = [&scratch](const char* module, bool has_bias) {
    scratch.set(std::string(module) + "/config.json", "bias", has_bias);
    const auto model = build_model(ModelFolder::open(scratch.path())->documents());
    scratch.set(std::string(module) + "/config.json", "bias", !has_bias);
    return model.ok() ? "it was taken" : model.status().to_string();
  };
  ASSERT_TRUE(build_model(ModelFolder::open(scratch.path())->documents()).ok());
  EXPECT_THAT(refusal("2_Dense", true), HasSubstr("no tensor 'linear.bias'"));
  EXPECT_THAT(refusal("3_Dense", false), HasSubstr("'3_Dense/linear.bias', but 'bias' is false"));
}

TEST(BuildModelTest, OutputsShareAnEndOrGetOneEach) {
  const GraphOptions both{.outputs = {"dense", "token_vectors"}};
  const testing::ScratchFolder scratch;
  scratch.copy_tiny_bert();
  const GraphModel shared = built(scratch.path(), both);
  ASSERT_EQ(shared.ends.size(), 2U);
  EXPECT_EQ(shared.ends[0].position, shared.ends[1].position);
  EXPECT_FALSE(shared.ends[0].pooled);
  EXPECT_EQ(shared.model.graph()->graph->outputs().size(), 1U);
  // What follows the pooling has weights: only the network computes it.
  for (const char* file :
       {"modules.json", "1_Pooling/config.json", "2_Dense/config.json", "2_Dense/model.safetensors",
        "3_Dense/config.json", "3_Dense/model.safetensors", "4_LayerNorm/config.json", "4_LayerNorm/model.safetensors"})
    scratch.write(file, testing::read_file(testing::data_folder() / "modules" / "behind" / file));
  const GraphModel apart = built(scratch.path(), both);
  ASSERT_EQ(apart.ends.size(), 2U);
  EXPECT_TRUE(apart.ends[0].pooled);
  EXPECT_FALSE(apart.ends[1].pooled);
  EXPECT_EQ(apart.ends[1].position, 1U);
  EXPECT_EQ(apart.ends[1].dimension, 32U);
  const auto onnx = core::onnx_form(apart.model);
  ASSERT_TRUE(onnx.ok()) << onnx.status().to_string();
  const auto signature = graph::read_onnx_signature(onnx->graph.bytes, "x.onnx");
  ASSERT_TRUE(signature.ok()) << signature.status().to_string();
  ASSERT_EQ(signature->outputs.size(), 2U);
  EXPECT_EQ(signature->outputs[0].name, "sentence_embedding");
  EXPECT_EQ(signature->outputs[1].name, "last_hidden_state");
}

TEST(BuildModelTest, TakesAReadyOnnxFileWhereThereAreNoWeights) {
  const testing::ScratchFolder scratch;
  scratch.copy_tiny_bert();
  auto folder = ModelFolder::open(scratch.path());
  std::filesystem::create_directory(scratch.path() / "onnx");
  ASSERT_TRUE(
      write_onnx_file(folder->documents(), {.outputs = {"token_vectors"}}, scratch.path() / "onnx" / "model.onnx")
          .ok());
  std::filesystem::remove(scratch.path() / "model.safetensors");
  const GraphModel states = built(scratch.path());
  EXPECT_FALSE(states.ends[0].pooled);
  EXPECT_EQ(states.ends[0].dimension, 32U);
  ASSERT_EQ(states.model.forms().size(), 1U);
  EXPECT_EQ(states.model.forms()[0].file, scratch.path() / "onnx" / "model.onnx");

  // Of another network than that of the other files.
  scratch.set("config.json", "hidden_size", 16);
  scratch.set("config.json", "num_attention_heads", 4);
  scratch.set("1_Pooling/config.json", "word_embedding_dimension", 16);
  const auto other = build_model(ModelFolder::open(scratch.path())->documents());
  EXPECT_EQ(other.status().code(), StatusCode::kInvalidModel);
  EXPECT_THAT(other.status().to_string(),
              HasSubstr("has 32 numbers for a token; config.json or the pooling's says 16"));
  scratch.set("config.json", "hidden_size", 32);
  scratch.set("1_Pooling/config.json", "word_embedding_dimension", 32);

  folder = ModelFolder::open(testing::tiny_bert("f32"));
  ASSERT_TRUE(write_onnx_file(folder->documents(), {}, scratch.path() / "onnx" / "model.onnx").ok());
  EXPECT_TRUE(built(scratch.path()).is_pooled());
  EXPECT_EQ(build_model(ModelFolder::open(scratch.path())->documents(), {.outputs = {"token_vectors"}}).status().code(),
            StatusCode::kUnsupported);

  scratch.write("onnx/model.onnx", "garbage that is no model");
  const auto damaged = build_model(ModelFolder::open(scratch.path())->documents());
  EXPECT_EQ(damaged.status().code(), StatusCode::kInvalidModel);
  EXPECT_THAT(damaged.status().to_string(), HasSubstr("model.onnx"));
}

// Bundles in memory, as a program of ExecuTorch has them.
class ModelOfBundleTest : public ::testing::Test {
 protected:
  void SetUp() override { scratch.copy_tiny_bert(); }

  // Of the scratch folder, with the portable ONNX file of `graph`.
  std::string bundle_with(const GraphModel& graph) const {
    core::PackageWriter writer({.name = "tiny"});
    const auto added = add_portable(*ModelFolder::open(scratch.path()), graph, writer);
    EXPECT_TRUE(added.ok()) << added.to_string();
    const auto file = scratch.path() / "tiny.lbundle";
    EXPECT_TRUE(writer.write(file, core::PackageForm::kZip).ok());
    return testing::read_file(file);
  }
  static core::Result<core::Model> model_of(const std::string& bundle) {
    auto files = core::PackageFiles::from_zip(core::SharedBytes::from_string(bundle), "forward");
    EXPECT_TRUE(files.ok()) << files.status().to_string();
    const auto package = core::Package::from_files(*std::move(files));
    EXPECT_TRUE(package.ok()) << package.status().to_string();
    return model_of_bundle(*package);
  }

  const testing::ScratchFolder scratch;
};

TEST_F(ModelOfBundleTest, IsTheGraphOfTheWeightsInIt) {
  const auto model = model_of(bundle_with(built(scratch.path())));
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  ASSERT_NE(model->graph(), nullptr);
  EXPECT_TRUE(model->forms().empty()) << "weights are there once";
  EXPECT_EQ(model->blobs(), nullptr);
  EXPECT_TRUE(model->sources().empty()) << "it is in memory";
  EXPECT_EQ(graph::describe(*model->graph()->graph), graph::describe(*built(scratch.path()).model.graph()->graph));
  EXPECT_EQ(text_of(model->graph()->graph->weights().front().bytes.bytes),
            testing::read_file(scratch.path() / "model.safetensors"));
  EXPECT_TRUE(model->check_forms().ok());
  EXPECT_TRUE(model->prove_digest().ok());
}

TEST_F(ModelOfBundleTest, KeepsThePortableFileOfAnotherNetwork) {
  const auto model = model_of(bundle_with(built(scratch.path(), {.outputs = {"token_vectors"}})));
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->graph(), nullptr);
  ASSERT_EQ(model->forms().size(), 1U);
  const auto signature = graph::read_onnx_signature(model->forms().front().graph.bytes, "x");
  EXPECT_EQ(signature->outputs.front().name, "last_hidden_state");
}

TEST_F(ModelOfBundleTest, KeepsThePortableFileOfAnArchitectureThatIsNotKnown) {
  const GraphModel graph = built(scratch.path());
  std::filesystem::create_directory(scratch.path() / "onnx");
  scratch.write("onnx/model.onnx", "so that the folder can be opened");
  scratch.set("config.json", "model_type", "of a later release");
  const auto model = model_of(bundle_with(graph));
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->graph(), nullptr);
  EXPECT_EQ(model->forms().size(), 1U);
  EXPECT_TRUE(model->check_forms().ok());
}

TEST_F(ModelOfBundleTest, DamageIsFound) {
  const std::string whole = bundle_with(built(scratch.path()));
  const auto spoiled = [&](const std::string& file) {
    std::string bundle = whole;
    const std::string bytes = testing::read_file(scratch.path() / file);
    const auto at = bundle.find(bytes);
    EXPECT_NE(at, std::string::npos) << file;
    bundle[at + bytes.size() - 5] = static_cast<char>(bundle[at + bytes.size() - 5] ^ 1);
    return bundle;
  };
  EXPECT_EQ(model_of(spoiled("config.json")).status().code(), StatusCode::kInvalidModel);
  // What is large is read when it is loaded.
  const auto model = model_of(spoiled("model.safetensors"));
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->check_forms().code(), StatusCode::kInvalidModel);
}

TEST(WriteOnnxFileTest, HoldsTheWeightsOnce) {
  const testing::ScratchFolder scratch;
  const auto folder = ModelFolder::open(testing::tiny_bert("f32"));
  const auto file = scratch.path() / "model.onnx";
  ASSERT_TRUE(write_onnx_file(folder->documents(), {}, file).ok());
  const std::string onnx = testing::read_file(file);
  const std::string weights = testing::read_file(folder->documents().network.weights.front().file);
  EXPECT_GT(onnx.size(), weights.size() * 8 / 10);
  EXPECT_LT(onnx.size(), weights.size() * 3 / 2);
  // The last tensor's bytes, as they are.
  EXPECT_THAT(onnx, HasSubstr(weights.substr(weights.size() - 128)));
  EXPECT_TRUE(core::Model::from_file(file).ok());
}

TEST(WriteOnnxFileTest, LeavesNothingBehindWhenItFails) {
  const testing::ScratchFolder scratch;
  const auto folder = ModelFolder::open(testing::tiny_bert("f32"));
  const auto status = write_onnx_file(folder->documents(), {}, scratch.path() / "missing" / "model.onnx");
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.to_string(), HasSubstr("missing"));
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

}  // namespace
}  // namespace latebind::embedding
