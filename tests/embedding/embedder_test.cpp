#include "embedding/embedder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "embedding/embed_stream.h"
#include "embedding/tokenizer/tokenizer.h"
#include "tests/embedding/toy_encoder.h"
#include "tests/support/scripted_backend.h"

namespace latebind::embedding {
namespace {

namespace fs = std::filesystem;
using core::StatusCode;
using ::testing::HasSubstr;

constexpr std::size_t kTinyDimension = 32;
constexpr std::size_t kWindow = 16384;  // texts that embed() sorts and batches together
const fs::path kTiny = fs::path(LATEBIND_SOURCE_DIR) / "tests/data/tiny-bert/f32";

// Loads a toy encoder whatever the model is, and remembers how it was asked to.
class ToyBackend final : public test::ScriptedBackend {
 public:
  explicit ToyBackend(test::ToyScript script) : ScriptedBackend("toy"), script_(std::move(script)) {
    with("CPU", core::DeviceKind::kCpu);
  }
  using ScriptedBackend::load;
  core::Result<std::unique_ptr<core::Executable>> load(const core::Model& model, std::string_view,
                                                       const core::CompileOptions& options) override {
    ++loads;
    model_name = model.name();
    asked = options;
    return std::unique_ptr<core::Executable>(std::make_unique<test::ToyEncoder>(script_));
  }

  std::string model_name;
  core::CompileOptions asked;

 private:
  test::ToyScript script_;
};

class EmbedderTest : public ::testing::Test {
 protected:
  // The graph of the tiny model pools by itself.
  core::Result<std::unique_ptr<Embedder>> open(const fs::path& folder = kTiny, const EmbedderOptions& options = {},
                                               unsigned requests = 2) {
    backend = std::make_shared<ToyBackend>(
        test::ToyScript{.pooled = true, .requests = requests, .dimension = kTinyDimension});
    registry = {};
    EXPECT_TRUE(registry.add(backend).ok());
    return Embedder::open(core::Engine(registry), folder, *core::Placement::parse("auto", registry), options);
  }

  static void expect_vectors_of(const std::vector<std::string_view>& texts, std::span<const float> vectors,
                                std::size_t max_tokens) {
    const auto tokenizer = Tokenizer::from_file(kTiny / "tokenizer.json");
    ASSERT_TRUE(tokenizer.ok());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      std::vector<std::int32_t> ids;
      ASSERT_TRUE(tokenizer->encode(texts[i], max_tokens, ids).ok());
      const auto expected = test::toy_vector(ids, kTinyDimension);
      for (std::size_t d = 0; d < kTinyDimension; ++d) {
        ASSERT_NEAR(vectors[i * kTinyDimension + d], expected[d], 1e-5) << texts[i];
      }
    }
  }

  std::shared_ptr<ToyBackend> backend;
  core::Registry registry;
};

TEST_F(EmbedderTest, OpensAModelFolderAndEmbedsInInputOrder) {
  EmbedderOptions options;
  options.load.compile.hint = core::PerformanceHint::kThroughput;
  const auto embedder = open(kTiny, options);
  ASSERT_TRUE(embedder.ok()) << embedder.status().to_string();
  EXPECT_EQ(backend->asked.hint, core::PerformanceHint::kThroughput);
  EXPECT_EQ((*embedder)->dimension(), kTinyDimension);
  EXPECT_EQ((*embedder)->max_tokens(), 20U);
  EXPECT_EQ((*embedder)->attestation()->active.backend, "toy");

  const std::vector<std::string_view> texts{"the cat sat on the mat.", "", "a dog", "cats jumped?",
                                            "one two three four five, red blue green small large and then it was not "
                                            "there, and it is not there now."};
  std::vector<float> out(texts.size() * kTinyDimension);
  const auto stats = (*embedder)->embed(texts, out);
  ASSERT_TRUE(stats.ok()) << stats.status().to_string();
  expect_vectors_of(texts, out, 20);
  EXPECT_EQ(stats->texts, 5U);
  EXPECT_EQ(stats->truncated_texts, 1U);
  EXPECT_EQ(stats->tokens, 9U + 2U + 4U + 6U + 20U);
}

TEST_F(EmbedderTest, MoreTextsThanAWindowComeInInputOrderToo) {
  for (const unsigned requests : {1U, 3U}) {
    const auto embedder = open(kTiny, {}, requests);
    ASSERT_TRUE(embedder.ok()) << embedder.status().to_string();
    const std::vector<std::string_view> kinds{"a dog", "cats", "", "the cat"};
    std::vector<std::string_view> texts(kWindow + 700);
    for (std::size_t i = 0; i < texts.size(); ++i)
      texts[i] = kinds[i * i % 7 % kinds.size()];
    std::vector<float> out(texts.size() * kTinyDimension);
    const auto stats = (*embedder)->embed(texts, out);
    ASSERT_TRUE(stats.ok()) << stats.status().to_string();
    EXPECT_EQ(stats->texts, texts.size());
    // A sample, and both sides of the border between the windows.
    for (std::size_t i = 0; i < texts.size(); i += (i > kWindow - 5 && i < kWindow + 5) ? 1 : 97) {
      expect_vectors_of({texts[i]}, {&out[i * kTinyDimension], kTinyDimension}, 20);
    }
  }
}

TEST_F(EmbedderTest, AnErrorInALaterWindowNamesTheText) {
  const auto embedder = open();
  ASSERT_TRUE(embedder.ok());
  std::vector<std::string_view> texts(kWindow + 700, "");
  texts[kWindow + 500] = "\xff";
  std::vector<float> out(texts.size() * kTinyDimension);
  const auto stats = (*embedder)->embed(texts, out);
  EXPECT_EQ(stats.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(stats.status().to_string(), HasSubstr("texts[16884]"));
}

TEST_F(EmbedderTest, NoTextsAreFineAndTooLittleRoomIsNot) {
  const auto embedder = open();
  ASSERT_TRUE(embedder.ok());
  const auto none = (*embedder)->embed({}, {});
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->texts, 0U);
  EXPECT_EQ(none->padding_ratio(), 0);
  const std::vector<std::string_view> texts{"a", "dog"};
  std::vector<float> out(kTinyDimension * 2 - 1);
  const auto cramped = (*embedder)->embed(texts, out);
  EXPECT_EQ(cramped.status().code(), StatusCode::kBufferTooSmall);
  EXPECT_THAT(cramped.status().to_string(), HasSubstr("2 texts need 2 rows of 32 floats; there is room for 63"));
}

TEST_F(EmbedderTest, TheTokenLimitMayBeLoweredAndRaisedWithinThePositions) {
  EmbedderOptions options;
  for (const std::size_t limit : {4U, 24U}) {
    options.max_tokens = limit;
    const auto embedder = open(kTiny, options);
    ASSERT_TRUE(embedder.ok()) << embedder.status().to_string();
    EXPECT_EQ((*embedder)->max_tokens(), limit);
    const std::vector<std::string_view> texts{"the cat sat on the mat."};
    std::vector<float> out(kTinyDimension);
    ASSERT_TRUE((*embedder)->embed(texts, out).ok());
    expect_vectors_of(texts, out, limit);
  }
  options.max_tokens = 25;
  const auto refused = open(kTiny, options);
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.status().to_string(), HasSubstr("at most 24 tokens a text; 25 were asked for"));
}

TEST_F(EmbedderTest, BatchesOfNoTokensAreRefused) {
  EmbedderOptions options;
  options.batch_tokens = 0;
  EXPECT_EQ(open(kTiny, options).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(EmbedderTest, AFolderThatIsNotThereIsNamed) {
  const auto refused = open("/nowhere/at-all");
  EXPECT_FALSE(refused.ok());
  EXPECT_THAT(refused.status().to_string(), HasSubstr("at-all"));
  EXPECT_EQ(backend->loads, 0);
}

TEST_F(EmbedderTest, AStreamOverItGivesTheSame) {
  const auto embedder = open();
  ASSERT_TRUE(embedder.ok());
  const std::vector<std::string_view> texts{"a dog", "", "the cat sat on the mat.", "cats jumped?"};
  std::vector<float> vectors;
  EmbedStream stream(**embedder, [&](std::span<const std::string>, std::span<const float> rows) {
    vectors.insert(vectors.end(), rows.begin(), rows.end());
    return core::Status();
  });
  for (const auto text : texts)
    ASSERT_TRUE(stream.push(std::string(text)).ok());
  ASSERT_TRUE(stream.finish().ok());
  ASSERT_EQ(vectors.size(), texts.size() * kTinyDimension);
  expect_vectors_of(texts, vectors, 20);
}

TEST(EmbedStatsTest, AddUp) {
  EmbedStats a{.texts = 1, .tokens = 10, .padded_tokens = 12, .truncated_texts = 1, .seconds = 0.5};
  a += {.texts = 2, .tokens = 20, .padded_tokens = 28, .truncated_texts = 0, .seconds = 0.25};
  EXPECT_EQ(a.texts, 3U);
  EXPECT_EQ(a.truncated_texts, 1U);
  EXPECT_DOUBLE_EQ(a.seconds, 0.75);
  EXPECT_DOUBLE_EQ(a.padding_ratio(), 0.25);
}

}  // namespace
}  // namespace latebind::embedding
