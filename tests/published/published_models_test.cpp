// The claims of docs/published-models.md: each configuration of tests/data/published/, in a small network with random
// weights, opens and computes on the processor, or is refused for the given reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "backends/native/backend.h"
#include "core/engine/engine.h"
#include "embedding/encoder.h"
#include "embedding/folder/model_folder.h"
#include "tests/embedding/support.h"
#include "tests/published/made_folder.h"

namespace latebind::embedding {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

struct List {
  const char* file;
  const char* output;
};
constexpr std::array kLists{List{"dense", "dense"}, List{"cross", "score"}, List{"sparse", "sparse"},
                            List{"multi", "multi_vector"}};

struct Entry {
  std::string output;
  json content;
};

void PrintTo(const Entry& entry, std::ostream* out) {
  *out << entry.content["name"].get<std::string>();
}

// Leaves out models about which nothing is known.
std::vector<Entry> published_entries() {
  std::vector<Entry> entries;
  for (const List& list : kLists) {
    const auto file = testing::data_folder() / "published" / (std::string(list.file) + ".json");
    for (const json& content : json::parse(testing::read_file(file))) {
      if (content.contains("config") || content.contains("modules")) entries.push_back({list.output, content});
    }
  }
  return entries;
}

std::string name_of_entry(const ::testing::TestParamInfo<Entry>& given) {
  std::string name = given.param.output + "_" + given.param.content["name"].get<std::string>();
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

// The numbers of a result, whatever its form.
std::vector<float> numbers_of(const OutputResult& result) {
  if (const auto* const rows = std::get_if<Rows>(&result)) return rows->numbers;
  if (const auto* const ragged = std::get_if<RaggedRows>(&result)) return ragged->numbers;
  std::vector<float> weights;
  for (const SparseVector& vector : std::get<SparseRows>(result).vectors)
    weights.insert(weights.end(), vector.values.begin(), vector.values.end());
  return weights;
}

class PublishedModelTest : public ::testing::TestWithParam<Entry> {
 protected:
  PublishedModelTest() { EXPECT_TRUE(backends_.add(native::configured_backend({})).ok()); }

  // Opens the folder, if it is a model with the output of its list.
  core::Result<ModelFolder> open() {
    LB_ASSIGN_OR_RETURN(auto folder, testing::MadeFolder(GetParam().content, scratch_.path()).open());
    const std::string_view output = folder.kind().name;
    if (output == GetParam().output) return folder;
    return core::Status(core::StatusCode::kUnsupported,
                        "opens as a model of '" + std::string(output) + "', not of '" + GetParam().output + "'");
  }

  core::Result<Results> compute(const Specification& model) {
    LB_ASSIGN_OR_RETURN(const auto placement, core::Placement::parse("native:CPU", backends_));
    LB_ASSIGN_OR_RETURN(const Encoder encoder, Encoder::open(core::Engine(backends_), model, placement, {}));
    constexpr std::array<std::string_view, 2> kTexts{"the cat sat on the mat.", "a dog"};
    constexpr std::array kPairs{TextPair{kTexts[0], kTexts[1]}, TextPair{kTexts[1], kTexts[0]}};
    const InputList inputs = &encoder.input() == &kPairInput ? InputList(std::span<const TextPair>(kPairs))
                                                             : InputList(std::span<const std::string_view>(kTexts));
    return encoder.encode(inputs, std::span<const std::string>());
  }

  // Opens the folder and computes with each of its routes. A tokenizer may be refused as late as that.
  core::Result<std::vector<std::vector<float>>> compute_all() {
    LB_ASSIGN_OR_RETURN(const ModelFolder folder, open());
    std::vector<std::vector<float>> numbers;
    for (const Specification* model : {&folder.documents(), folder.queries()}) {
      if (model == nullptr) continue;
      LB_ASSIGN_OR_RETURN(const Results results, compute(*model));
      numbers.push_back(numbers_of(results.outputs.front()));
    }
    return numbers;
  }

  testing::ScratchFolder scratch_;
  core::Registry backends_;
};

TEST_P(PublishedModelTest, OpensAsClaimed) {
  const json& entry = GetParam().content;
  const auto numbers = compute_all();
  if (!entry["opens"].get<bool>()) {
    EXPECT_FALSE(numbers.ok()) << "it opens: the claim of its entry is out of date";
    EXPECT_THAT(numbers.status().to_string(), HasSubstr(entry["refused"].get<std::string>()));
    return;
  }
  ASSERT_TRUE(numbers.ok()) << numbers.status().to_string();
  for (const std::vector<float>& route : *numbers) {
    EXPECT_FALSE(route.empty());
    EXPECT_TRUE(std::ranges::all_of(route, [](float number) { return std::isfinite(number); }));
  }
}

INSTANTIATE_TEST_SUITE_P(All, PublishedModelTest, ::testing::ValuesIn(published_entries()), name_of_entry);

}  // namespace
}  // namespace latebind::embedding
