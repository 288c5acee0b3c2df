// A built-in backend gives the same vectors, bit for bit, when it is a plug-in: core -> contract -> core.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "backends/native/backend.h"
#include "backends/openvino/backend.h"
#include "backends/plugin/backend.h"
#include "core/engine/engine.h"
#include "core/platform/environment.h"
#include "embedding/embedder.h"
#include "tests/support/vectors.h"

namespace latebind::plugin {
namespace {

const std::string kSource = LATEBIND_SOURCE_DIR;

std::string openvino_library() {
  return platform::environment("LATEBIND_OPENVINO_LIBRARY") ? "" : kSource + "/build/runtime/venv";
}

std::shared_ptr<core::Backend> built_in(const std::string& name) {
  return name == "native" ? native::configured_backend({})
                          : openvino::make_backend({.library_path = openvino_library()});
}

std::shared_ptr<core::Backend> plugged_in(const std::string& name) {
  core::BackendSettingTexts settings;
  if (name == "openvino" && !openvino_library().empty()) settings["library"] = openvino_library();
  const char* const file = name == "native" ? LATEBIND_BACKEND_NATIVE : LATEBIND_BACKEND_OPENVINO;
  return std::make_shared<PluginBackend>(PluginSource{.name = name, .open = [file] { return load_plugin(file); }},
                                         settings);
}

std::vector<std::string> texts() {
  std::vector<std::string> texts;
  std::ifstream lines(kSource + "/tests/data/golden/minilm.jsonl");
  for (std::string line; std::getline(lines, line);)
    texts.push_back(nlohmann::json::parse(line)["text"]);
  EXPECT_EQ(texts.size(), 67U);
  return texts;
}

struct Case {
  const char* backend;
  core::Precision precision;

  friend std::ostream& operator<<(std::ostream& out, const Case& one) {
    return out << one.backend << " in " << core::word_of(one.precision);
  }
};

class GoldenVectorsTest : public ::testing::TestWithParam<Case> {
 protected:
  // Each text by itself, so that no batch depends on time.
  static std::vector<float> embed(const std::shared_ptr<core::Backend>& backend, core::ActiveConfig& active) {
    core::Registry registry;
    EXPECT_TRUE(registry.add(backend).ok());
    embedding::EmbedderOptions options;
    options.load.compile.precision = GetParam().precision;
    options.load.strict = true;
    const auto placement = core::Placement::parse(std::string(GetParam().backend) + ":CPU", registry);
    EXPECT_TRUE(placement.ok()) << placement.status().to_string();
    auto embedder = embedding::Embedder::open(core::Engine(registry), kSource + "/build/runtime/model/all-MiniLM-L6-v2",
                                              *placement, options);
    EXPECT_TRUE(embedder.ok()) << embedder.status().to_string();
    if (!embedder.ok()) return {};
    std::vector<float> vectors;
    for (const std::string& text : texts()) {
      std::vector<float> one((*embedder)->dimension());
      const std::string_view view = text;
      const auto embedded = (*embedder)->embed({&view, 1}, one);
      EXPECT_TRUE(embedded.ok()) << embedded.status().to_string();
      vectors.insert(vectors.end(), one.begin(), one.end());
    }
    active = (*embedder)->attestation()->active;
    return vectors;
  }
};

TEST_P(GoldenVectorsTest, AreThoseOfTheBuiltInBackendBitForBit) {
  const auto devices = built_in(GetParam().backend)->devices();
  ASSERT_TRUE(devices.ok()) << devices.status().to_string();
  const std::vector<core::Precision>& precisions = devices->front().traits.precisions;
  if (GetParam().precision != core::Precision::kFast && !precisions.empty() &&
      std::ranges::find(precisions, GetParam().precision) == precisions.end())
    GTEST_SKIP() << "this processor computes in " << core::words_of(precisions) << " only";
  core::ActiveConfig direct;
  core::ActiveConfig through;
  const std::vector<float> wanted = embed(built_in(GetParam().backend), direct);
  const std::vector<float> given = embed(plugged_in(GetParam().backend), through);
  ASSERT_FALSE(wanted.empty());
  EXPECT_EQ(given, wanted);
  EXPECT_EQ(through.id(), direct.id());
  EXPECT_EQ(through.device_full_name, direct.device_full_name);
  EXPECT_EQ(through.runtime_version, direct.runtime_version);
  EXPECT_EQ(through.library_file.empty(), false);
  EXPECT_EQ(through.precision, direct.precision);
  EXPECT_EQ(through.threads, direct.threads);
  EXPECT_EQ(through.requests, direct.requests);
  EXPECT_EQ(through.leaves_padding_out, direct.leaves_padding_out);
  EXPECT_EQ(through.packs_tokens, direct.packs_tokens);
  EXPECT_EQ(through.kept_shapes, direct.kept_shapes);
  EXPECT_EQ(through.compiles_nothing, direct.compiles_nothing);
}

INSTANTIATE_TEST_SUITE_P(Backends, GoldenVectorsTest,
                         ::testing::Values(Case{"native", core::Precision::kF32},
                                           Case{"native", core::Precision::kInt8},
                                           Case{"native", core::Precision::kFast},
                                           Case{"openvino", core::Precision::kF32}));

}  // namespace
}  // namespace latebind::plugin
