// The default model on PJRT plug-ins gives the vectors of native.
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "backends/native/backend.h"
#include "core/engine/engine.h"
#include "embedding/embedder.h"
#include "tests/pjrt/real/support.h"
#include "tests/support/vectors.h"

namespace latebind::pjrt::testing {
namespace {

const std::string kSource = LATEBIND_SOURCE_DIR;

std::vector<std::string> golden_texts() {
  std::vector<std::string> texts;
  std::ifstream lines(kSource + "/tests/data/golden/minilm.jsonl");
  for (std::string line; std::getline(lines, line);)
    texts.push_back(nlohmann::json::parse(line)["text"]);
  return texts;
}

std::vector<float> embed(const std::shared_ptr<core::Backend>& backend, core::Precision precision) {
  core::Registry registry;
  EXPECT_TRUE(registry.add(backend).ok());
  embedding::EmbedderOptions options;
  options.load.compile.precision = precision;
  options.load.strict = true;
  options.load.static_lengths.lengths = {32, 256};
  options.load.static_lengths.rows = 4;
  const auto placement = core::Placement::parse(std::string(backend->name()) + ":CPU", registry);
  EXPECT_TRUE(placement.ok()) << placement.status().to_string();
  auto embedder = embedding::Embedder::open(core::Engine(registry), kSource + "/build/runtime/model/all-MiniLM-L6-v2",
                                            *placement, options);
  EXPECT_TRUE(embedder.ok()) << embedder.status().to_string();
  if (!embedder.ok()) return {};
  const std::vector<std::string> texts = golden_texts();
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  std::vector<float> vectors(texts.size() * (*embedder)->dimension());
  const auto embedded = (*embedder)->embed(views, vectors);
  EXPECT_TRUE(embedded.ok()) << embedded.status().to_string();
  EXPECT_EQ((*embedder)->attestation()->active.precision, precision);
  return vectors;
}

double least_cosine(const std::vector<float>& a, const std::vector<float>& b) {
  constexpr std::size_t kDimension = 384;
  double least = 1;
  for (std::size_t at = 0; at + kDimension <= a.size(); at += kDimension)
    least = std::min(least, test::cosine(std::span(a).subspan(at, kDimension), std::span(b).subspan(at, kDimension)));
  return least;
}

class GoldenVectorsTest : public VendorTest {};

TEST_P(GoldenVectorsTest, AreThoseOfNative) {
  const std::vector<float> wanted = embed(native::configured_backend({}), core::Precision::kF32);
  ASSERT_EQ(wanted.size(), 67U * 384U);
  const std::vector<float> exact = embed(backend_, core::Precision::kF32);
  ASSERT_EQ(exact.size(), wanted.size());
  EXPECT_GE(least_cosine(exact, wanted), 0.9999999);
}

TEST_P(GoldenVectorsTest, AreCloseInHalfThePrecision) {
  const std::vector<float> wanted = embed(native::configured_backend({}), core::Precision::kF32);
  const std::vector<float> found = embed(backend_, core::Precision::kBF16);
  ASSERT_EQ(found.size(), wanted.size());
  EXPECT_GE(least_cosine(found, wanted), 0.9995);
}

INSTANTIATE_TEST_SUITE_P(Vendors, GoldenVectorsTest, ::testing::Values(kNewer, kOlder),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace latebind::pjrt::testing
