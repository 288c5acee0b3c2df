// Networks with LoRA adapters against what PEFT computes of the same weights (tests/data/adapters/make.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>

#include "embedding/build_model.h"
#include "embedding/folder/model_folder.h"
#include "tests/embedding/architectures/batch_of_texts.h"
#include "tests/embedding/support.h"
#include "tests/support/json.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using nlohmann::json;
using ::testing::HasSubstr;

std::filesystem::path adapters_folder() {
  return testing::data_folder() / "adapters";
}

const json& expected_of_adapters() {
  static const json document = json::parse(testing::read_file(adapters_folder() / "expected.json"));
  return document;
}

// A copy of an adapter, whose base is found wherever the tests run.
class AdapterFolder {
 public:
  explicit AdapterFolder(const std::string& name) {
    for (const char* file : {"adapter_config.json", "adapter_model.safetensors"})
      scratch_.write(file, testing::read_file(adapters_folder() / name / file));
    const json config = json::parse(testing::read_file(scratch_.path() / "adapter_config.json"));
    base_ = testing::data_folder() / config["base_model_name_or_path"].get<std::string>();
    set("base_model_name_or_path", base_.string());
  }

  void set(const std::string& key, const json& value) const { scratch_.set("adapter_config.json", key, value); }
  [[nodiscard]] const std::filesystem::path& path() const { return scratch_.path(); }
  [[nodiscard]] const std::filesystem::path& base() const { return base_; }
  [[nodiscard]] core::Result<graph::Graph> graph() const {
    LB_ASSIGN_OR_RETURN(const ModelFolder folder, ModelFolder::open(path()));
    return make_graph(folder.documents());
  }
  void expect(StatusCode code, std::string_view part) const {
    const auto made = graph();
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.status().code(), code) << made.status().to_string();
    EXPECT_THAT(made.status().to_string(), HasSubstr(part));
  }

 private:
  testing::ScratchFolder scratch_;
  std::filesystem::path base_;
};

double cosine(const double* a, const json& b) {
  double product = 0;
  double squares_a = 0;
  double squares_b = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    product += a[i] * b[i].get<double>();
    squares_a += a[i] * a[i];
    squares_b += b[i].get<double>() * b[i].get<double>();
  }
  return product / std::sqrt(squares_a * squares_b);
}

class AdapterTest : public ::testing::TestWithParam<std::string> {};

TEST_P(AdapterTest, AgreesWithTheReference) {
  const AdapterFolder folder(GetParam());
  const auto graph = folder.graph();
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  const json texts = json::parse(testing::read_file(testing::data_folder() / "networks/expected.json"))["ids"];
  const auto vectors = testing::vectors_of(*graph, testing::batch_of(texts));
  const json& wanted = expected_of_adapters()["vectors"][GetParam()];
  for (std::size_t row = 0; row < wanted.size(); ++row) {
    EXPECT_GE(cosine(vectors.values.data() + row * wanted[row].size(), wanted[row]), 0.9999999) << row;
    for (std::size_t i = 0; i < wanted[row].size(); ++i)
      EXPECT_NEAR(vectors.values[row * wanted[row].size() + i], wanted[row][i].get<double>(), 3e-6) << row << "," << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, AdapterTest, ::testing::Values("bf16", "dora", "f16", "patterns", "plain", "table"),
                         [](const auto& given) { return given.param; });

TEST(AdapterFolderTest, OnlyTheChangedTensorsAreMade) {
  const AdapterFolder folder("bf16");
  const auto graph = folder.graph();
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  ASSERT_EQ(graph->weights().size(), 2U);
  EXPECT_EQ(graph->weights()[0].where.file.filename(), "model.safetensors");
  EXPECT_TRUE(graph->weights()[1].where.file.empty());
  std::size_t made = 0;
  std::size_t changed = 0;
  for (const graph::Node& node : graph->nodes()) {
    const auto* const linear = std::get_if<graph::Linear>(&node.op);
    if (linear == nullptr || linear->weight.file != 1) continue;
    EXPECT_EQ(linear->weight.type, core::ElementType::kBF16);
    EXPECT_TRUE(linear->weight.name.ends_with("query.weight") ||
                linear->weight.name.ends_with("intermediate.dense.weight"));
    ++changed;
    made += graph->bytes_of(linear->weight).size();
  }
  EXPECT_EQ(changed, 4U);
  EXPECT_EQ(graph->weights()[1].bytes.bytes.size(), made);
}

// A whole model beside the adapter is its base, whatever adapter_config.json names, as in transformers.
TEST(AdapterFolderTest, AWholeModelBesideTheAdapterIsItsBase) {
  const AdapterFolder folder("plain");
  for (const char* file : {"config.json", "model.safetensors", "tokenizer.json"})
    testing::write_file(folder.path() / file, testing::read_file(folder.base() / file));
  folder.set("base_model_name_or_path", "nobody/nothing");
  EXPECT_TRUE(folder.graph().ok());
}

TEST(AdapterFolderTest, TheBaseIsAskedForByItsName) {
  const AdapterFolder folder("plain");
  folder.set("base_model_name_or_path", "somebody/a-model");
  folder.expect(StatusCode::kNotFound, "'base_model_name_or_path' is 'somebody/a-model', which is neither a folder");
  FolderOptions options;
  options.find_base = [&](const std::string& name) -> core::Result<std::filesystem::path> {
    EXPECT_EQ(name, "somebody/a-model");
    return folder.base();
  };
  const auto opened = ModelFolder::open(folder.path(), options);
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  EXPECT_EQ(opened->files().relative(folder.path() / "adapter_config.json"), "adapter_config.json");
  EXPECT_EQ(opened->files().relative(folder.base() / "config.json"), "base_model/config.json");
}

TEST(AdapterFolderTest, OtherKindsAndOptionsAreRefusedByTheirNames) {
  const auto refused = [](const char* key, const json& value, std::string_view part) {
    const AdapterFolder folder("plain");
    folder.set(key, value);
    folder.expect(StatusCode::kUnsupported, part);
  };
  refused("peft_type", "IA3", "'peft_type' is 'IA3'; supported is LORA");
  refused("init_lora_weights", "pissa", R"('init_lora_weights' is "pissa", which changes the weights)");
  refused("init_lora_weights", "loftq", "'init_lora_weights'");
  refused("layer_replication", json::array({json::array({0, 2}), json::array({1, 2})}), "'layer_replication'");
  refused("trainable_token_indices", json::array({1}), "'trainable_token_indices'");
  refused("target_parameters", json::array({"x"}), "'target_parameters'");
  refused("use_qalora", true, "'use_qalora' is true");
  refused("lora_bias", true, "'lora_bias' is true");
  refused("rank_pattern", json{{"(?P<a>b)", 2}}, "'rank_pattern': the regular expression '(?P<a>b)' has '(?P'");
  refused("target_modules", "[[:alpha:]]+", "'target_modules': the regular expression '[[:alpha:]]+' has '[['");
  refused("a_new_option", 3, "'a_new_option' is 3");
}

TEST(AdapterFolderTest, ContradictionsAreErrorsThatNameKeyOrTensor) {
  const auto invalid = [](const char* key, const json& value, std::string_view part) {
    const AdapterFolder folder("plain");
    folder.set(key, value);
    folder.expect(StatusCode::kInvalidModel, part);
  };
  invalid("r", 5, "has rank 4, but by");
  invalid("r", 0, "'r'");
  invalid("lora_alpha", -1, "'lora_alpha' is -1");
  invalid("use_dora", true, "has no lora_magnitude_vector");
  invalid("target_modules", json::array({"key"}), "'target_modules' does not have the module of the tensor");
  invalid("target_modules", 3, "'target_modules' must be");
  invalid("target_modules", "x", "'target_modules' does not have the module of the tensor");
  invalid("target_modules", ".*layer\\.0\\..*", "'target_modules' does not have the module of the tensor");
  invalid("exclude_modules", ".*layer\\.1\\..*", "or 'exclude_modules' has it");
  invalid("exclude_modules", json::array({"query"}), "or 'exclude_modules' has it");
  invalid("rank_pattern", json{{"query", 0}}, "'rank_pattern' has 0");
  invalid("base_model_name_or_path", nullptr, "'base_model_name_or_path' is missing");
  const AdapterFolder other("plain");
  other.set("base_model_name_or_path", (testing::data_folder() / "networks/mpnet").string());
  other.expect(StatusCode::kInvalidModel, "attention.self.query.weight', which the model does not have");
  const AdapterFolder alone("plain");
  std::filesystem::remove(alone.path() / "adapter_model.safetensors");
  alone.expect(StatusCode::kNotFound, "neither adapter_model.safetensors nor adapter_model.bin is beside it");
}

TEST(AdapterFolderTest, AnAdapterWithoutTensorsIsRefused) {
  const AdapterFolder folder("plain");
  testing::write_file(folder.path() / "adapter_model.safetensors", testing::safetensors("{}", 0));
  folder.expect(StatusCode::kInvalidModel, "the adapter has no tensor that changes the model");
}

TEST(AdapterFolderTest, TwoModulesThatChangeOneTensorAreRefused) {
  const AdapterFolder folder("plain");
  const std::string stored = testing::read_file(folder.path() / "adapter_model.safetensors");
  std::uint64_t size = 0;
  std::memcpy(&size, stored.data(), sizeof size);
  json header = json::parse(stored.substr(8, size));
  const std::string data = stored.substr(8 + size);
  constexpr std::string_view kPrefix = "base_model.model.";
  const json given = header;
  for (const auto& [name, tensor] : given.items()) {
    if (!name.starts_with(kPrefix)) continue;
    json other = tensor;
    for (json& offset : other["data_offsets"])
      offset = offset.get<std::size_t>() + data.size();
    header[std::string(kPrefix) + "roberta." + name.substr(kPrefix.size())] = other;
  }
  testing::write_file(folder.path() / "adapter_model.safetensors",
                      testing::safetensors(header.dump(), 0) + data + data);
  folder.expect(StatusCode::kInvalidModel, "which another module of the adapter changes, too");
}

// A key that changes the numbers is read: without it, or with another value, they differ, or it is refused.
TEST(AdapterFolderTest, KeysOfTheScaleCount) {
  const json texts = json::parse(testing::read_file(testing::data_folder() / "networks/expected.json"))["ids"];
  const auto vectors = [&](const AdapterFolder& folder) {
    const auto graph = folder.graph();
    return graph.ok() ? testing::vectors_of(*graph, testing::batch_of(texts)).values : std::vector<double>();
  };
  const auto same = vectors(AdapterFolder("patterns"));
  ASSERT_FALSE(same.empty());
  for (const auto& [key, value] :
       std::initializer_list<std::pair<const char*, json>>{{"lora_alpha", 9},
                                                           {"use_rslora", false},
                                                           {"alpha_pattern", json::object()},
                                                           {"rank_pattern", json::object()}}) {
    const AdapterFolder folder("patterns");
    folder.set(key, value);
    EXPECT_NE(vectors(folder), same) << key;
  }
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, json>>{
           {"lora_dropout", 0.5},
           {"fan_in_fan_out", true},
           {"inference_mode", false},
           {"target_modules", "All-Linear"},
           // The same modules and numbers, as regular expressions.
           {"target_modules", "layers\\.[01]\\.(self_attn|mlp)\\..*_proj"},
           {"exclude_modules", ".*embed.*"},
           {"alpha_pattern", {{"d[a-z]+_proj", 20}, {"layers\\.0\\..*(v)_proj", 3.5}}},
           {"rank_pattern", {{"^layers.0.*o_proj", 6}, {"(k|x)_proj", 2}, {"1.mlp.up_proj", 3}}}}) {
    const AdapterFolder folder("patterns");
    folder.set(key, value);
    EXPECT_EQ(vectors(folder), same) << key;
  }
}

}  // namespace
}  // namespace latebind::embedding
