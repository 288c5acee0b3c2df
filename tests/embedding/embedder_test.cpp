#include "embedding/embedder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/vendor/vendor_call.h"
#include "embedding/embed_stream.h"
#include "embedding/embed_task.h"
#include "embedding/folder/specification.h"
#include "embedding/outputs/pooling.h"
#include "embedding/tokenizer/tokenizer.h"
#include "tests/embedding/toy_encoder.h"
#include "tests/support/latch.h"
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
  ToyBackend(test::ToyScript script, core::DeviceKind kind) : ScriptedBackend("toy"), script_(std::move(script)) {
    with("DEVICE", kind);
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
    test::ToyScript script{.pooled = pooled, .requests = requests, .dimension = kTinyDimension};
    script.on_run = on_run;
    backend = std::make_shared<ToyBackend>(std::move(script), kind);
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

  static std::vector<std::int32_t> ids_of(std::string_view text, std::size_t max_tokens = 20) {
    static const auto tokenizer = Tokenizer::from_file(kTiny / "tokenizer.json");
    std::vector<std::int32_t> ids;
    EXPECT_TRUE(tokenizer->encode(text, max_tokens, ids).ok());
    return ids;
  }

  std::function<core::Status(const core::TensorView& ids)> on_run;  // of what open() opens
  bool pooled = true;                                               // likewise
  std::shared_ptr<ToyBackend> backend;
  core::DeviceKind kind = core::DeviceKind::kCpu;  // likewise
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

TEST_F(EmbedderTest, OnePassGivesAllOutputsThatACallAsksFor) {
  pooled = false;
  std::atomic<int> runs = 0;
  on_run = [&](const core::TensorView&) {
    ++runs;
    return core::Status();
  };
  EmbedderOptions options;
  options.outputs = {"dense", "token_vectors"};
  const auto embedder = open(kTiny, options, 1);
  ASSERT_TRUE(embedder.ok()) << embedder.status().to_string();
  const Encoder& encoder = (*embedder)->documents();
  const std::vector<std::string_view> texts{"the cat sat on the mat.", "a dog"};
  const std::vector<std::string> both{"token_vectors", "dense"};
  const auto results = encoder.encode(std::span(texts), both, {.alone = true});
  ASSERT_TRUE(results.ok()) << results.status().to_string();
  const int of_both = runs.exchange(0);
  const std::vector<std::string> one{"dense"};
  ASSERT_TRUE(encoder.encode(std::span(texts), one, {.alone = true}).ok());
  EXPECT_EQ(of_both, runs);
  const auto& tokens = std::get<RaggedRows>(results->outputs[0]);
  ASSERT_EQ(tokens.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto ids = ids_of(texts[i]);
    ASSERT_EQ(tokens.of(i).size(), ids.size() * kTinyDimension);
    EXPECT_EQ(tokens.of(i)[kTinyDimension + 3], test::toy_state(ids[1], 1, 3));
  }
  expect_vectors_of(texts, std::get<Rows>(results->outputs[1]).numbers, 20);

  const auto stream = EmbedStream::open(**embedder);
  ASSERT_TRUE(stream.ok());
  for (const std::string_view text : texts)
    ASSERT_TRUE((*stream)->push(text).ok());
  ASSERT_TRUE((*stream)->finish().ok());
  const auto window = (*stream)->pull();
  ASSERT_TRUE(window.ok()) << window.status().to_string();
  ASSERT_EQ(window->outputs.size(), 2U);
  expect_vectors_of(texts, window->vectors, 20);
  EXPECT_TRUE(std::ranges::equal(window->outputs[1].vectors, tokens.numbers));
  EXPECT_TRUE(std::ranges::equal(window->outputs[1].vector_counts, window->token_counts));

  const auto only = EmbedStream::open(**embedder, {.outputs = {"token_vectors"}});
  ASSERT_TRUE(only.ok());
  ASSERT_TRUE((*only)->push(texts[0]).ok());
  ASSERT_TRUE((*only)->finish().ok());
  const auto of_tokens = (*only)->pull();
  ASSERT_TRUE(of_tokens.ok()) << of_tokens.status().to_string();
  ASSERT_EQ(of_tokens->outputs.size(), 1U);
  EXPECT_TRUE(std::ranges::equal(of_tokens->vectors, tokens.of(0)));
  EXPECT_EQ((*only)->dimensions(), kTinyDimension);
  EXPECT_THAT(EmbedStream::open(**embedder, {.outputs = {"sparse"}}).status().to_string(),
              HasSubstr("was opened without the output 'sparse'"));

  options.outputs = {"sparse"};
  const auto refused = open(kTiny, options);
  EXPECT_EQ(refused.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(refused.status().to_string(), HasSubstr("its outputs are: dense, token_vectors"));
}

TEST_F(EmbedderTest, ATaskGivesTheOutputsThatItAsksFor) {
  pooled = false;
  std::atomic<int> runs = 0;
  on_run = [&](const core::TensorView&) {
    ++runs;
    return core::Status();
  };
  EmbedderOptions options;
  options.outputs = {"dense", "token_vectors"};
  const auto embedder = open(kTiny, options, 1);
  ASSERT_TRUE(embedder.ok()) << embedder.status().to_string();
  const std::vector<std::string_view> texts{"the cat sat on the mat.", "a dog"};
  const auto outcome_of = [&](const TaskOptions& task) {
    std::promise<TaskOutcome> promise;
    const auto started = EmbedTask::start(**embedder, std::span(texts), task,
                                          [&](TaskOutcome outcome) { promise.set_value(std::move(outcome)); });
    EXPECT_TRUE(started.ok()) << started.status().to_string();
    TaskOutcome outcome = promise.get_future().get();
    EXPECT_TRUE(outcome.status.ok()) << outcome.status.to_string();
    return outcome;
  };
  const TaskOutcome both = outcome_of({.outputs = {"token_vectors", "dense"}});
  EXPECT_EQ(runs.exchange(0), 1);
  ASSERT_EQ(both.results.size(), 2U);
  const auto& tokens = std::get<RaggedRows>(both.results[0]);
  ASSERT_EQ(tokens.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto ids = ids_of(texts[i]);
    ASSERT_EQ(tokens.of(i).size(), ids.size() * kTinyDimension);
    EXPECT_EQ(tokens.of(i)[kTinyDimension + 3], test::toy_state(ids[1], 1, 3));
  }
  expect_vectors_of(texts, std::get<Rows>(both.results[1]).numbers, 20);
  const TaskOutcome one = outcome_of({.texts = {.dimensions = 4}, .outputs = {"dense"}});
  ASSERT_EQ(one.results.size(), 1U);
  EXPECT_EQ(std::get<Rows>(one.results[0]).dimension, 4U);
  EXPECT_EQ(std::get<Rows>(one.results[0]).numbers.size(), 8U);
  EXPECT_EQ(outcome_of({}).results.size(), 2U);
  EXPECT_THAT(EmbedTask::start(**embedder, std::span(texts), {.outputs = {"sparse"}}, {}).status().to_string(),
              HasSubstr("was opened without the output 'sparse'"));
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
  const auto none = (*embedder)->embed(std::vector<std::string_view>(), {});
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

TEST_F(EmbedderTest, BatchesSuitTheDeviceUnlessTheirTokensAreGiven) {
  EXPECT_EQ((*open())->batch_tokens(), 1024U);
  kind = core::DeviceKind::kGpu;
  EXPECT_EQ((*open())->batch_tokens(), 2048U);
  EmbedderOptions options;
  options.batch_tokens = 300;
  EXPECT_EQ((*open(kTiny, options))->batch_tokens(), 300U);
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
  const auto stream = EmbedStream::open(**embedder);
  ASSERT_TRUE(stream.ok()) << stream.status().to_string();
  auto next = texts.begin();
  const auto status = embed_all(
      **stream,
      [&]() -> core::Result<std::optional<std::string_view>> {
        return next == texts.end() ? std::optional<std::string_view>() : std::optional<std::string_view>(*next++);
      },
      [&](const VectorWindow& window) {
        vectors.insert(vectors.end(), window.vectors.begin(), window.vectors.end());
        return core::Status();
      });
  ASSERT_TRUE(status.ok()) << status.to_string();
  ASSERT_EQ(vectors.size(), texts.size() * kTinyDimension);
  expect_vectors_of(texts, vectors, 20);
}

TEST_F(EmbedderTest, ACallMayHaveFewerDimensions) {
  const auto embedder = open();
  ASSERT_TRUE(embedder.ok());
  const std::vector<std::string_view> texts{"the cat sat", "a dog"};
  std::vector<float> out(2 * 8 + 1, -7.0F);
  const auto stats = (*embedder)->embed(texts, std::span(out).first(16), {.texts = {.dimensions = 8}});
  ASSERT_TRUE(stats.ok()) << stats.status().to_string();
  EXPECT_EQ(out[16], -7.0F);
  for (std::size_t text = 0; text < 2; ++text) {
    auto expected = test::toy_vector(ids_of(texts[text]), kTinyDimension);
    expected.resize(8);
    normalize(expected);  // the model's vectors have length 1, and so have these
    for (std::size_t d = 0; d < 8; ++d)
      EXPECT_NEAR(out[8 * text + d], expected[d], 1e-5);
  }
  const auto cramped = (*embedder)->embed(texts, std::span(out).first(15), {.texts = {.dimensions = 8}});
  EXPECT_EQ(cramped.status().code(), StatusCode::kBufferTooSmall);
  EXPECT_THAT(cramped.status().to_string(), HasSubstr("2 texts need 2 rows of 8 floats; there is room for 15"));
  const auto more = (*embedder)->embed(texts, out, {.texts = {.dimensions = 33}});
  EXPECT_EQ(more.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(more.status().to_string(), HasSubstr("vectors of 33 numbers were asked for; the model gives 32"));
}

TEST_F(EmbedderTest, ACallMayTakeFewerTokensOrRefuseLongerTexts) {
  const auto embedder = open();
  ASSERT_TRUE(embedder.ok());
  const std::vector<std::string_view> texts{"a dog", "the cat sat on the mat."};
  std::vector<float> out(2 * kTinyDimension);
  std::vector<std::uint32_t> counts(2);
  const auto stats = (*embedder)->embed(texts, out, {.texts = {.max_tokens = 5}, .token_counts = counts});
  ASSERT_TRUE(stats.ok()) << stats.status().to_string();
  EXPECT_EQ(counts, (std::vector<std::uint32_t>{4, 5}));
  EXPECT_EQ(stats->truncated_texts, 1U);
  expect_vectors_of(texts, out, 5);
  const auto refused = (*embedder)->embed(texts, out, {.texts = {.max_tokens = 5, .refuse_longer = true}});
  EXPECT_EQ(refused.status().code(), StatusCode::kTextTooLong);
  EXPECT_THAT(refused.status().to_string(), HasSubstr("texts[1]: the text has 9 tokens; at most 5 are taken"));
  const auto more = (*embedder)->embed(texts, out, {.texts = {.max_tokens = 21}});
  EXPECT_THAT(more.status().to_string(),
              HasSubstr("21 tokens of a text were asked for; the embedder was opened for 20"));
}

TEST_F(EmbedderTest, SaysHowManyTokensEachTextHasAndWhoAnswered) {
  const auto embedder = open();
  ASSERT_TRUE(embedder.ok());
  const std::vector<std::string_view> kinds{"a dog", "cats", "", "the cat"};
  std::vector<std::string_view> texts(kWindow + 100);
  for (std::size_t i = 0; i < texts.size(); ++i)
    texts[i] = kinds[i * i % 7 % kinds.size()];
  std::vector<float> out(texts.size() * kTinyDimension);
  std::vector<std::uint32_t> counts(texts.size());
  std::shared_ptr<const core::Attestation> answered_by;
  ASSERT_TRUE((*embedder)->embed(texts, out, {.token_counts = counts, .answered_by = &answered_by}).ok());
  for (std::size_t i = 0; i < texts.size(); ++i)
    ASSERT_EQ(counts[i], ids_of(texts[i]).size()) << i;
  ASSERT_NE(answered_by, nullptr);
  EXPECT_EQ(answered_by->active.backend, "toy");
  counts.resize(texts.size() - 1);
  const auto cramped = (*embedder)->embed(texts, out, {.token_counts = counts});
  EXPECT_EQ(cramped.status().code(), StatusCode::kBufferTooSmall);
}

TEST_F(EmbedderTest, WithinLimitsAndInBatchesOfItsOwnItGivesTheSame) {
  const auto embedder = open();
  ASSERT_TRUE(embedder.ok());
  const std::vector<std::string_view> texts{"the cat sat on the mat.", "", "a dog", "cats jumped?"};
  const auto hour = std::chrono::steady_clock::now() + std::chrono::hours(1);
  for (const EmbedOptions& options :
       {EmbedOptions{.alone = true}, EmbedOptions{.limits = {.deadline = hour}},
        EmbedOptions{.limits = {.cancellation = core::Cancellation::create()}},
        EmbedOptions{.texts = {.normalize = true}, .alone = true, .limits = {.deadline = hour}}}) {
    std::vector<float> out(texts.size() * kTinyDimension);
    const auto stats = (*embedder)->embed(texts, out, options);
    ASSERT_TRUE(stats.ok()) << stats.status().to_string();
    EXPECT_EQ(stats->texts, 4U);
    expect_vectors_of(texts, out, 20);
  }
}

TEST_F(EmbedderTest, ACallReturnsInTimeThoughTheVendorHoldsTheRun) {
  const auto entered = std::make_shared<test::Latch>(1);
  const auto let_go = std::make_shared<test::Latch>(1);
  on_run = [entered, let_go](const core::TensorView&) {
    entered->count_down();
    let_go->wait();
    return core::Status();
  };
  auto embedder = open(kTiny, {}, 1);
  ASSERT_TRUE(embedder.ok());
  const std::vector<std::string_view> texts{"a dog"};
  std::vector<float> out(kTinyDimension);
  const auto late = (*embedder)->embed(
      texts, out, {.limits = {.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20)}});
  EXPECT_EQ(late.status().code(), StatusCode::kDeadlineExceeded);
  const auto cancellation = core::Cancellation::create();
  std::thread canceller([&] {
    entered->wait();
    cancellation.request();
  });
  const auto cancelled = (*embedder)->embed(texts, out, {.limits = {.cancellation = cancellation}});
  EXPECT_EQ(cancelled.status().code(), StatusCode::kCancelled);
  canceller.join();
  embedder->reset();  // though the vendor is still at it
  let_go->count_down();
  while (core::given_up_calls("toy:DEVICE") > 0)
    std::this_thread::yield();
}

TEST_F(EmbedderTest, ACallThatHasNoTimeLeftBeginsNothing) {
  std::atomic<int> runs = 0;
  on_run = [&](const core::TensorView&) {
    ++runs;
    return core::Status();
  };
  const auto embedder = open();
  ASSERT_TRUE(embedder.ok());
  const auto cancellation = core::Cancellation::create();
  cancellation.request();
  const std::vector<std::string_view> texts{"a dog"};
  const std::vector<std::int32_t> dog = ids_of("a dog");
  const std::vector<Embedder::Ids> ids{dog};
  std::vector<float> out(kTinyDimension);
  const EmbedOptions cancelled{.limits = {.cancellation = cancellation}};
  const EmbedOptions late{.limits = {.deadline = std::chrono::steady_clock::now()}};
  EXPECT_EQ((*embedder)->embed(texts, out, cancelled).status().code(), StatusCode::kCancelled);
  EXPECT_EQ((*embedder)->embed_ids(ids, out, cancelled).status().code(), StatusCode::kCancelled);
  EXPECT_EQ((*embedder)->embed(texts, out, late).status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ((*embedder)->embed_ids(ids, out, late).status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(runs, 0);
}

TEST_F(EmbedderTest, IdsGiveWhatTheirTextsGive) {
  const auto embedder = open();
  ASSERT_TRUE(embedder.ok());
  const std::vector<std::string_view> texts{"the cat sat on the mat.", "", "a dog"};
  std::vector<std::vector<std::int32_t>> owned;
  for (const auto text : texts)
    owned.push_back(ids_of(text));
  const std::vector<Embedder::Ids> ids(owned.begin(), owned.end());
  std::vector<float> out(texts.size() * kTinyDimension);
  std::vector<std::uint32_t> counts(texts.size());
  const auto stats = (*embedder)->embed_ids(ids, out, {.token_counts = counts});
  ASSERT_TRUE(stats.ok()) << stats.status().to_string();
  expect_vectors_of(texts, out, 20);
  EXPECT_EQ(counts, (std::vector<std::uint32_t>{9, 2, 4}));
}

TEST_F(EmbedderTest, IdsThatThereAreNotAreRefusedByTheTextsPosition) {
  const auto embedder = open();
  ASSERT_TRUE(embedder.ok());
  const auto refusal_of = [&](const std::vector<std::int32_t>& second, const TextOptions& options = {}) {
    const std::vector<std::int32_t> first = ids_of("a dog");
    const std::vector<Embedder::Ids> ids{first, second};
    std::vector<float> out(2 * kTinyDimension);
    std::vector<std::uint32_t> counts(2);
    const auto stats = (*embedder)->embed_ids(ids, out, {.texts = options, .token_counts = counts});
    if (stats.ok()) {
      EXPECT_EQ(counts[1], 20U) << "cut";
      EXPECT_EQ(stats->truncated_texts, 1U);
    }
    return stats.status();
  };
  const auto size = static_cast<std::int32_t>(Tokenizer::from_file(kTiny / "tokenizer.json")->vocabulary_size());
  for (const std::int32_t id : {size, -1}) {
    const auto unknown = refusal_of({2, id, 3});
    EXPECT_EQ(unknown.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(unknown.to_string(), HasSubstr("texts[1]: no token has the id " + std::to_string(id)));
  }
  EXPECT_THAT(refusal_of({}).to_string(), HasSubstr("texts[1]: there is no token in it"));
  const std::vector<std::int32_t> longer(21, 5);
  EXPECT_TRUE(refusal_of(longer).ok());
  EXPECT_THAT(refusal_of(longer, {.refuse_longer = true}).to_string(),
              HasSubstr("texts[1]: the text has 21 tokens; at most 20 are taken"));
}

TEST_F(EmbedderTest, CallsOfManyThreadsShareRuns) {
  constexpr int kThreads = 8;
  test::Latch entered(1);
  test::Latch let_go(1);
  std::atomic<int> runs = 0;
  std::atomic<std::int64_t> most = 0;
  on_run = [&](const core::TensorView& ids) {
    if (++runs == 1) {
      entered.count_down();
      let_go.wait();
    }
    most = std::max<std::int64_t>(most, ids.shape[0]);
    return core::Status();
  };
  const auto embedder = open(kTiny, {}, 1);
  ASSERT_TRUE(embedder.ok());
  std::vector<std::thread> threads;
  const std::vector<std::string_view> kinds{"a dog", "the cat"};
  std::atomic<int> good = 0;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 50; ++round) {
        const std::vector<std::string_view> text{kinds[static_cast<std::size_t>(t) % 2]};
        std::vector<float> out(kTinyDimension);
        ASSERT_TRUE((*embedder)->embed(text, out).ok());
        expect_vectors_of(text, out, 20);
        ++good;
      }
    });
  }
  entered.wait();
  // Somebody is next when the request is free, with those that wait then.
  let_go.count_down();
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(good, 50 * kThreads);
  EXPECT_LE(runs, 50 * kThreads);
  EXPECT_GE(most, 1);
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
