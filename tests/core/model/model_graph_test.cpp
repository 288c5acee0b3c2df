// A Model as a Graph: nothing is written before it is requested.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/graph/onnx_structure.h"
#include "core/model/model.h"
#include "core/model/onnx_form.h"
#include "kit/networks/graph_model.h"
#include "kit/networks/small_encoder.h"

namespace latebind::core {
namespace {

using ::testing::HasSubstr;

using kit::small_graph;
using kit::SmallGraphOptions;

ModelGraph in_memory(const SmallGraphOptions& options = {}) {
  return kit::model_graph_of(*small_graph(options));
}

std::string digest_of(ModelGraph network) {
  const auto digest = Model::from_graph("m", std::move(network)).digest();
  EXPECT_TRUE(digest.ok()) << digest.status().to_string();
  return *digest;
}

TEST(ModelGraphTest, HasAGraphAndNoForms) {
  const Model model = Model::from_graph("m", in_memory());
  ASSERT_NE(model.graph(), nullptr);
  EXPECT_EQ(model.graph()->sources.front().name, "weights.bin");
  EXPECT_TRUE(model.forms().empty());
  EXPECT_FALSE(model.has_blobs_only());
  EXPECT_TRUE(Model::from_forms("m", {}).has_blobs_only());
  EXPECT_TRUE(model.check_forms().ok());
  EXPECT_TRUE(model.files().empty());
  EXPECT_TRUE(model.sources().empty());
}

TEST(ModelGraphTest, IsWrittenAsOnnxWhenSomebodyAsks) {
  const Model model = Model::from_graph("m", in_memory());
  const auto form = onnx_form(model);
  ASSERT_TRUE(form.ok()) << form.status().to_string();
  EXPECT_EQ(form->format, ModelFormat::kOnnx);
  EXPECT_TRUE(graph::check_onnx_structure(form->graph.bytes).ok());
  ASSERT_EQ(form->external.size(), 1U);
  EXPECT_EQ(form->external[0].location, "weights.bin");
  EXPECT_EQ(form->external[0].data.bytes.data(), model.graph()->graph->weights().front().bytes.bytes.data());
  EXPECT_TRUE(form->external[0].file.empty());
  EXPECT_TRUE(Model::from_forms("m", {*form}).check_forms().ok());

  const auto refused = onnx_form(Model::from_forms("m", {{.format = ModelFormat::kOpenvinoIr}}));
  EXPECT_EQ(refused.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(refused.status().to_string(), HasSubstr("the model m has only openvino-ir"));
}

TEST(ModelGraphTest, TheDigestCoversTheGraphAndTheWeights) {
  const std::string plain = digest_of(in_memory());
  EXPECT_EQ(plain, digest_of(in_memory()));
  EXPECT_NE(plain, digest_of(in_memory({.scale = 0.25F})));
  // Weights of other values, told by somebody's word.
  ModelGraph told = in_memory();
  told.sources = {{.identity = "sha256:one"}};
  const std::string one = digest_of(told);
  told.sources = {{.identity = "sha256:two"}};
  EXPECT_NE(one, digest_of(told));
  EXPECT_NE(one, plain);
}

class GraphFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    file_ = std::filesystem::path(::testing::TempDir()) /
            ("graph_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    const ModelGraph model = in_memory();  // owns the bytes
    const auto bytes = model.graph->weights().front().bytes.bytes;
    write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  void TearDown() override { std::filesystem::remove(file_); }
  void write(std::string_view text) const { std::ofstream(file_, std::ios::binary) << text; }

  // A network of one operator, on the weights of the file.
  [[nodiscard]] Model open() const {
    auto part = FilePart::open(file_);
    EXPECT_TRUE(part.ok()) << part.status().to_string();
    graph::GraphBuilder builder(*std::move(part));
    const auto ids =
        builder.add(graph::Input{.name = "ids", .type = ElementType::kI64, .shape = Shape{kDynamic, kDynamic}});
    const auto words = builder.add(graph::Lookup{
        .table = {.name = "w", .type = ElementType::kF32, .shape = Shape{4, 4}, .offset = 0}, .ids = ids});
    ModelGraph network;
    network.graph = std::make_shared<const graph::Graph>(*std::move(builder).finish(words, "words"));
    network.sources = {{.name = "w.bin"}};
    return Model::from_graph("m", std::move(network));
  }

  std::filesystem::path file_;
};

TEST_F(GraphFileTest, TheFileWithTheWeightsIsASource) {
  const Model model = open();
  ASSERT_EQ(model.sources().size(), 1U);
  EXPECT_TRUE(model.sources()[0].mapped);
  EXPECT_EQ(model.sources()[0].file, file_);
  EXPECT_EQ(model.files(), std::vector<std::filesystem::path>{file_});
  EXPECT_EQ(onnx_form(model)->external[0].file, file_);
  EXPECT_TRUE(model.check_files().ok());
  std::filesystem::remove(file_);
  EXPECT_TRUE(model.check_bytes().ok()) << "the mapping outlives the name";
  EXPECT_EQ(model.check_files().code(), StatusCode::kIo);
}

TEST_F(GraphFileTest, TheDigestIsOfTheFileThatWasOpened) {
  const Model model = open();
  const auto first = model.digest();
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(*first, *open().digest());
  unsigned asked = 0;
  const auto remembered = [&](const std::filesystem::path& file) -> Result<std::string> {
    EXPECT_EQ(file, file_);
    ++asked;
    return std::string("known");
  };
  EXPECT_NE(*model.digest(remembered), *first);
  EXPECT_EQ(asked, 1U);
  std::filesystem::remove(file_);
  write(std::string(4096, 'x'));
  EXPECT_EQ(model.digest().status().code(), StatusCode::kIo);
  EXPECT_NE(*open().digest(), *first);
}

}  // namespace
}  // namespace latebind::core
