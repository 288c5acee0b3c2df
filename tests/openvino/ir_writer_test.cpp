// The IR that is written of a graph, byte for byte where that can be said without the vendor.
#include "backends/openvino/ir_writer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "backends/openvino/read_model.h"
#include "core/platform/files/mapped_file.h"
#include "kit/networks/graph_model.h"
#include "kit/networks/small_encoder.h"

namespace latebind::openvino {
namespace {

using ::testing::HasSubstr;

using core::ModelFormat;
using kit::model_of;
using kit::small_graph;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
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

TEST(IrWriterTest, ConstantsOfTheIrLieInTheWeightsAndFitTheirShapes) {
  const auto readable = readable_model(model_of(*small_graph({.weights = core::ElementType::kF16})), false);
  ASSERT_TRUE(readable.ok()) << readable.status().to_string();
  const core::ModelForm& ir = readable->forms().front();
  const std::map<std::string, std::size_t> sizes{{"f32", 4}, {"f16", 2}, {"i64", 8}};
  const auto constants = constants_of(text_of(ir.graph.bytes));
  EXPECT_GT(constants.size(), 20U);
  const std::size_t file_size = small_graph({.weights = core::ElementType::kF16})->weights().front().bytes.bytes.size();
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
  EXPECT_EQ(in_file, file_size) << "nothing of the model is copied";
}

TEST(IrWriterTest, LayersOfTheIrStandInOrderAndEveryInputHasOneEdge) {
  const std::string xml = write_ir(*small_graph({.weights = core::ElementType::kBF16, .pooled = false}), 0).xml;
  EXPECT_THAT(xml, HasSubstr("names=\"tokens\""));
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

// So that a computation in 16 bits widens no weights of 16 bits to f32.
TEST(IrWriterTest, ConversionsOfWeightsAreMarkedIfTheirTypesAreKept) {
  const auto graph = small_graph({.weights = core::ElementType::kBF16});
  const auto marks = [](const std::string& xml) {
    return tags_of(xml, R"(<attribute name="decompression" version="0")").size();
  };
  EXPECT_EQ(marks(write_ir(*graph, 0).xml), 0U);
  const std::string kept = write_ir(*graph, 0, {.keeps_types = true}).xml;
  std::size_t of_weights = 0;
  for (const Const& constant : constants_of(kept))
    of_weights += constant.type == "bf16" ? 1U : 0U;
  EXPECT_GT(of_weights, 0U);
  EXPECT_EQ(marks(kept), of_weights);
  EXPECT_EQ(marks(write_ir(*small_graph({}), 0, {.keeps_types = true}).xml), 0U);
}

TEST(IrWriterTest, NamesFromOutsideStayInsideTheirQuotes) {
  graph::GraphBuilder builder{core::FilePart()};
  const auto x = builder.add(
      graph::Input{.name = "a<b>&\"c", .type = core::ElementType::kF32, .shape = core::Shape{core::kDynamic, 4}});
  const auto y = builder.add(graph::Normalize{.x = x});
  const auto made = std::move(builder).finish(y, "y");
  ASSERT_TRUE(made.ok());
  EXPECT_THAT(write_ir(*made, 0).xml, HasSubstr("names=\"a&lt;b&gt;&amp;&quot;c\""));
}

TEST(ReadableModelTest, TakesAFormThatIsThere) {
  core::ModelForm form;
  form.format = ModelFormat::kOnnx;
  form.graph = core::SharedBytes::from_string("bytes");
  const auto same = readable_model(core::Model::from_forms("m", {form}), false);
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->forms().front().graph.bytes.data(), form.graph.bytes.data());
}

TEST(ReadableModelTest, WritesTheGraphOverTheBytesThatWereMapped) {
  const auto file = std::filesystem::path(::testing::TempDir()) / "readable_model_weights";
  const auto in_memory = small_graph();
  const std::string bytes(text_of(in_memory->weights().front().bytes.bytes));
  std::ofstream(file, std::ios::binary) << bytes;
  auto part = core::FilePart::open(file);
  ASSERT_TRUE(part.ok());
  graph::GraphBuilder builder(*std::move(part));
  const auto ids = builder.add(graph::Input{
      .name = "ids", .type = core::ElementType::kI64, .shape = core::Shape{core::kDynamic, core::kDynamic}});
  const auto words = builder.add(graph::Lookup{
      .table = {.name = "w", .type = core::ElementType::kF32, .shape = core::Shape{7, 8}, .offset = 0}, .ids = ids});
  const core::Model model = model_of(*std::move(builder).finish(words, "words"));
  for (const char* name : {"there", "replaced", "removed"}) {
    const auto readable = readable_model(model, false);
    ASSERT_TRUE(readable.ok()) << readable.status().to_string();
    const core::ModelForm* ir = readable->find(ModelFormat::kOpenvinoIr);
    ASSERT_NE(ir, nullptr);
    EXPECT_EQ(text_of(ir->weights.bytes.first(bytes.size())), bytes) << name;
    std::filesystem::remove(file);
    if (name == std::string_view("there")) std::ofstream(file, std::ios::binary) << "another file";
  }
}

}  // namespace
}  // namespace latebind::openvino
