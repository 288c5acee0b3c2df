// The real model on both real vendor runtimes: vectors against those of sentence-transformers, from all doors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "backends/native/backend.h"
#include "backends/onnxruntime/backend.h"
#include "backends/openvino/backend.h"
#include "core/engine/engine.h"
#include "core/platform/system_info.h"
#include "embedding/embed_stream.h"
#include "embedding/embedder.h"
#include "tests/support/vectors.h"

namespace latebind::embedding {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::size_t kDimension = 384;

const fs::path kSource = LATEBIND_SOURCE_DIR;
const fs::path kModel = kSource / "build/runtime/model/all-MiniLM-L6-v2";

// The texts and what sentence-transformers makes of them.
struct Golden {
  std::vector<std::string> texts;
  std::vector<float> vectors;

  static Golden read() {
    Golden golden;
    std::ifstream lines(kSource / "tests/data/golden/minilm.jsonl");
    for (std::string line; std::getline(lines, line);)
      golden.texts.push_back(nlohmann::json::parse(line)["text"]);
    std::ifstream npy(kSource / "tests/data/golden/minilm.npy", std::ios::binary);
    char head[10] = {};
    npy.read(head, sizeof head);
    const auto header = static_cast<unsigned char>(head[8]) + 256 * static_cast<unsigned char>(head[9]);
    npy.seekg(10 + header);
    golden.vectors.resize(golden.texts.size() * kDimension);
    npy.read(reinterpret_cast<char*>(golden.vectors.data()),
             static_cast<std::streamsize>(golden.vectors.size() * sizeof(float)));
    EXPECT_TRUE(npy.good()) << "tests/data/golden is damaged";
    EXPECT_EQ(golden.texts.size(), 67U);
    return golden;
  }
  [[nodiscard]] std::vector<std::string_view> views() const { return {texts.begin(), texts.end()}; }
};

using latebind::test::cosine;

double least_cosine(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  double least = 1;
  for (std::size_t at = 0; at < a.size(); at += kDimension)
    least = std::min(least, cosine(a.subspan(at, kDimension), b.subspan(at, kDimension)));
  return least;
}

// Where the vendor library is: empty, which means search, when its variable is set; else the one below build/runtime.
std::string library(const char* variable, const std::string& folder, const std::string& begin) {
  if (std::getenv(variable) != nullptr) return {};
  std::error_code ignored;
  for (const auto& python : fs::directory_iterator(kSource / "build/runtime/venv/lib", ignored)) {
    for (const auto& file : fs::directory_iterator(python.path() / "site-packages" / folder, ignored)) {
      if (file.path().filename().string().starts_with(begin)) return file.path().string();
    }
  }
  ADD_FAILURE() << "no " << begin << "* below build/runtime/venv: run scripts/setup";
  return {};
}

struct Case {
  const char* placement;
  core::Precision precision;
  double least_cosine;
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.placement;
}

class EmbedderRealTest : public ::testing::TestWithParam<Case> {
 protected:
  static core::Registry make_registry() {
    core::Registry backends;
    const auto openvino = library("LATEBIND_OPENVINO_LIBRARY", "openvino/libs", "libopenvino_c.so");
    EXPECT_TRUE(backends.add(openvino::make_backend({openvino})).ok());
    const auto onnxruntime = library("LATEBIND_ONNXRUNTIME_LIBRARY", "onnxruntime/capi", "libonnxruntime.so");
    EXPECT_TRUE(backends.add(onnxruntime::make_backend({onnxruntime})).ok());
    EXPECT_TRUE(backends.add(native::configured_backend({})).ok());
    return backends;
  }

  std::unique_ptr<Embedder> open(EmbedderOptions options = {}) {
    options.load.compile.precision = GetParam().precision;
    options.load.strict = true;
    const auto placement = core::Placement::parse(GetParam().placement, registry);
    EXPECT_TRUE(placement.ok()) << placement.status().to_string();
    auto embedder = Embedder::open(core::Engine(registry), kModel, *placement, options);
    EXPECT_TRUE(embedder.ok()) << embedder.status().to_string();
    return embedder.ok() ? *std::move(embedder) : nullptr;
  }

  static EmbedderOptions throughput() {
    EmbedderOptions options;
    options.load.compile.hint = core::PerformanceHint::kThroughput;
    options.load.compile.requests = 2;
    return options;
  }

  std::vector<float> embed(const Embedder& embedder, const std::vector<std::string_view>& texts,
                           EmbedStats* stats = nullptr) {
    std::vector<float> out(texts.size() * embedder.dimension());
    const auto result = embedder.embed(texts, out);
    EXPECT_TRUE(result.ok()) << result.status().to_string();
    if (stats != nullptr && result.ok()) *stats = *result;
    return out;
  }

  void SetUp() override {
    const auto features = platform::cpu_features();
    const auto has = [&](std::string_view word) {
      return std::ranges::any_of(features, [&](const std::string& f) { return f.find(word) != f.npos; });
    };
    if (GetParam().precision == core::Precision::kBF16 && !has("bf16")) GTEST_SKIP() << "this CPU has no bf16";
    if (GetParam().precision == core::Precision::kInt8 && !has("vnni") && !has("dotprod")) {
      GTEST_SKIP() << "no int8 on this CPU";
    }
  }

  core::Registry registry = make_registry();
  const Golden golden = Golden::read();
};

TEST_P(EmbedderRealTest, GivesTheVectorsOfTheReference) {
  const auto embedder = open(throughput());
  ASSERT_TRUE(embedder);
  EXPECT_EQ(embedder->dimension(), kDimension);
  EXPECT_EQ(embedder->max_tokens(), 256U);
  EmbedStats stats;
  const auto out = embed(*embedder, golden.views(), &stats);
  EXPECT_GE(least_cosine(out, golden.vectors), GetParam().least_cosine);
  EXPECT_EQ(stats.texts, golden.texts.size());
  EXPECT_GT(stats.truncated_texts, 0U);
  EXPECT_GE(stats.padded_tokens, stats.tokens);
  EXPECT_GT(stats.seconds, 0);
  for (std::size_t at = 0; at < out.size(); at += kDimension) {
    double length = 0;
    for (std::size_t i = 0; i < kDimension; ++i)
      length += static_cast<double>(out[at + i]) * static_cast<double>(out[at + i]);
    EXPECT_NEAR(length, 1.0, 1e-3);
  }
}

TEST_P(EmbedderRealTest, StaticShapesGiveTheSameVectors) {
  if (std::string_view(GetParam().placement) == "native:CPU") {
    EmbedderOptions options;
    options.load.shapes = core::ShapeMode::kStaticShapes;
    options.load.static_lengths.lengths = {32};
    const auto placement = core::Placement::parse("native:CPU", registry);
    EXPECT_THAT(Embedder::open(core::Engine(registry), kModel, *placement, options).status().to_string(),
                HasSubstr("does not support static shapes"));
    return;
  }
  const auto dynamic = open(throughput());
  EmbedderOptions options = throughput();
  options.load.shapes = core::ShapeMode::kStaticShapes;
  options.load.static_lengths.lengths = {32, 64, 128, 256, 512};
  for (const std::size_t rows : {1U, 3U}) {
    options.load.static_lengths.rows = rows;
    const auto fixed = open(options);
    ASSERT_TRUE(dynamic && fixed);
    const auto& active = fixed->attestation()->active;
    EXPECT_EQ(active.static_lengths, (std::vector<std::size_t>{32, 64, 128, 256}));  // cut at the model's limit
    EmbedStats stats;
    const auto out = embed(*fixed, golden.views(), &stats);
    EXPECT_GE(least_cosine(out, embed(*dynamic, golden.views())), GetParam().least_cosine);
    EXPECT_GE(least_cosine(out, golden.vectors), GetParam().least_cosine);
    EXPECT_EQ(stats.padded_tokens % (32 * rows), 0U);
    EXPECT_GT(stats.padding_ratio(), 0.0);
  }
}

TEST_P(EmbedderRealTest, EachTextAloneGivesTheSame) {
  const auto embedder = open();
  ASSERT_TRUE(embedder);
  for (std::size_t i = 0; i < golden.texts.size(); ++i) {
    const auto out = embed(*embedder, {golden.texts[i]});
    EXPECT_GE(cosine(out, std::span(golden.vectors).subspan(i * kDimension, kDimension)), GetParam().least_cosine)
        << golden.texts[i];
  }
}

TEST_P(EmbedderRealTest, SaysWhoAnswers) {
  const auto embedder = open(throughput());
  ASSERT_TRUE(embedder);
  const auto attestation = embedder->attestation();
  EXPECT_EQ(attestation->active.id(), GetParam().placement);
  EXPECT_EQ(attestation->active.precision, GetParam().precision);
  EXPECT_EQ(attestation->active.requests, 2U);
  EXPECT_FALSE(attestation->fallback);
}

TEST_P(EmbedderRealTest, EightThreadsAtOnceGetTheSameVectors) {
  const auto embedder = open(throughput());
  ASSERT_TRUE(embedder);
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      // Each thread its own part, some of it alone.
      std::vector<std::string_view> texts;
      std::vector<float> expected;
      for (std::size_t i = t; i < golden.texts.size(); i += 4) {
        texts.push_back(golden.texts[i]);
        expected.insert(expected.end(), &golden.vectors[i * kDimension], &golden.vectors[i * kDimension] + kDimension);
      }
      std::vector<float> out(expected.size());
      if (!embedder->embed(texts, out).ok()) return;
      std::vector<float> first(kDimension);
      if (!embedder->embed({texts.data(), 1}, first).ok()) return;
      const bool same = least_cosine(out, expected) >= GetParam().least_cosine &&
                        cosine(first, std::span(expected).first(first.size())) >= GetParam().least_cosine;
      good += same ? 1 : 0;
    });
  }
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(good, 8);
}

TEST_P(EmbedderRealTest, AStreamGivesWhatOneCallGives) {
  const auto embedder = open(throughput());
  ASSERT_TRUE(embedder);
  const auto stream = EmbedStream::open(*embedder, {.window_texts = 10});
  ASSERT_TRUE(stream.ok()) << stream.status().to_string();
  std::vector<float> vectors;
  std::size_t pushed = 0;
  using Text = std::optional<std::string_view>;
  const auto status = embed_all(
      **stream,
      [&]() -> core::Result<Text> { return pushed < golden.texts.size() ? Text(golden.texts[pushed++]) : Text(); },
      [&](const VectorWindow& window) {
        EXPECT_EQ(window.first * kDimension, vectors.size());
        vectors.insert(vectors.end(), window.vectors.begin(), window.vectors.end());
        return core::Status();
      });
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_GE(least_cosine(vectors, golden.vectors), GetParam().least_cosine);
  EXPECT_EQ((*stream)->stats().texts, golden.texts.size());
}

TEST_P(EmbedderRealTest, ALowerTokenLimitCutsTexts) {
  EmbedderOptions options;
  options.max_tokens = 8;
  const auto embedder = open(options);
  ASSERT_TRUE(embedder);
  EmbedStats stats;
  const auto out = embed(*embedder, {"one two three four five six seven eight", "one two three four five six"}, &stats);
  EXPECT_EQ(stats.truncated_texts, 1U);
  EXPECT_EQ(stats.tokens, 16U);
  EXPECT_GE(cosine(std::span(out).first(kDimension), std::span(out).subspan(kDimension)), 0.9999);
}

TEST_P(EmbedderRealTest, MoreTokensThanThereArePositionsAreRefused) {
  EmbedderOptions options;
  options.max_tokens = 513;
  const auto placement = core::Placement::parse(GetParam().placement, registry);
  const auto embedder = Embedder::open(core::Engine(registry), kModel, *placement, options);
  EXPECT_EQ(embedder.status().code(), core::StatusCode::kInvalidArgument);
  EXPECT_THAT(embedder.status().to_string(), HasSubstr("at most 512 tokens"));
}

TEST_P(EmbedderRealTest, ABadTextIsNamedAndTheEmbedderStaysUsable) {
  const auto embedder = open();
  ASSERT_TRUE(embedder);
  std::vector<float> out(3 * kDimension);
  const std::vector<std::string_view> texts{"good", "bad \xff", "good"};
  const auto failed = embedder->embed(texts, out);
  EXPECT_EQ(failed.status().code(), core::StatusCode::kInvalidArgument);
  EXPECT_THAT(failed.status().to_string(), HasSubstr("texts[1]"));
  EXPECT_EQ(embedder->embed(texts, {out.data(), 2 * kDimension}).status().code(), core::StatusCode::kBufferTooSmall);
  EXPECT_TRUE(embedder->embed({}, {}).ok());
  embed(*embedder, {golden.texts[0]});
}

INSTANTIATE_TEST_SUITE_P(Real, EmbedderRealTest,
                         ::testing::Values(Case{"openvino:CPU", core::Precision::kF32, 0.99999},
                                           Case{"openvino:CPU", core::Precision::kBF16, 0.9995},
                                           Case{"onnxruntime:CPU", core::Precision::kF32, 0.99999},
                                           Case{"native:CPU", core::Precision::kF32, 0.9999999},
                                           Case{"native:CPU", core::Precision::kBF16, 0.9999},
                                           Case{"native:CPU", core::Precision::kInt8, 0.995}),
                         [](const auto& given) {
                           const std::string backend = given.param.placement;
                           return backend.substr(0, backend.find(':')) + "_" +
                                  std::string(core::word_of(given.param.precision));
                         });

}  // namespace
}  // namespace latebind::embedding
