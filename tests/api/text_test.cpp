// Texts through the C interface: options of one call, ids, streams, tokens. On the fake OpenVINO library and the tiny
// model of the tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "latebind/latebind.h"
#include "latebind/latebind.hpp"
#include "tests/api/encode.h"
#include "tests/api/last_error.h"
#include "tests/api/options.h"
#include "tests/embedding/support.h"
#include "tests/fakes/fake_openvino_library.h"

namespace {

using latebind::test::encode_ids_into;
using latebind::test::encode_into;
using latebind::test::IntoRows;
using latebind::test::last_message;
using latebind::test::with_openvino;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kTextEncoder = "encoder 32\n";
constexpr std::size_t kTextDimension = 32;

class TextInterfaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fake.script(kTextEncoder);
    auto made = latebind::Runtime::create(with_openvino(fake.file()));
    ASSERT_TRUE(made.ok()) << made.status().message();
    runtime = std::make_unique<latebind::Runtime>(*std::move(made));
    auto opened = runtime->open_embedder(folder());
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    embedder = std::make_unique<latebind::Embedder>(*std::move(opened));
    ASSERT_EQ(lb_runtime_create(with_openvino(fake.file()).get(), &c_runtime), LB_OK);
    ASSERT_EQ(lb_encoder_open(c_runtime, folder().c_str(), nullptr, nullptr, nullptr, &c_embedder), LB_OK)
        << last_message();
  }
  void TearDown() override {
    lb_encoder_destroy(c_embedder);
    lb_runtime_destroy(c_runtime);
  }
  static std::string folder() { return std::string(LATEBIND_SOURCE_DIR) + "/tests/data/tiny-bert/f32"; }

  std::vector<float> embed(std::string_view text, const latebind::EncodeOptions& options = {}) const {
    auto vectors = embedder->embed(text, options);
    EXPECT_TRUE(vectors.ok()) << vectors.status().message();
    return vectors ? *std::move(vectors) : std::vector<float>(kTextDimension);
  }

  latebind::test::FakeOpenvino fake;
  std::unique_ptr<latebind::Runtime> runtime;
  std::unique_ptr<latebind::Embedder> embedder;
  lb_runtime* c_runtime = nullptr;
  lb_encoder* c_embedder = nullptr;
};

TEST_F(TextInterfaceTest, FewerDimensionsAreTheFirstOnesOfLengthOne) {
  const auto whole = embed("a cat sat");
  const auto cut = embed("a cat sat", {.dimensions = 4});
  ASSERT_EQ(cut.size(), 4U);
  float length = 0;
  for (std::size_t i = 0; i < 4; ++i)
    length += whole[i] * whole[i];
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_FLOAT_EQ(cut[i], whole[i] / std::sqrt(length));
  const auto more = embedder->embed("a cat", {.dimensions = kTextDimension + 1});
  EXPECT_EQ(more.status().code(), LB_INVALID_ARGUMENT);
  EXPECT_THAT(more.status().message(), HasSubstr("vectors of 33 numbers were asked for; the model gives 32"));
}

TEST_F(TextInterfaceTest, LongTextsAreCutOrRefusedAsTheCallWants) {
  const std::string_view text = "the cat sat on the mat and the dog ran";
  const std::array<lb_text, 2> texts{lb_text{"a cat", 5}, lb_text{text.data(), text.size()}};
  std::vector<float> vectors(2 * kTextDimension);
  auto options = LB_INIT(lb_encode_options);
  options.max_tokens = 6;
  auto stats = LB_INIT(lb_encode_stats);
  const auto run = [&] { return encode_into(vectors, c_embedder, texts.data(), 2, &options, nullptr, &stats); };
  ASSERT_EQ(run(), LB_OK) << last_message();
  const auto results =
      embedder->encoder().encode(std::vector<std::string_view>{"a cat", text}, {.max_tokens = options.max_tokens});
  ASSERT_TRUE(results.ok()) << results.status().message();
  EXPECT_THAT(results->token_counts(), ElementsAre(4, 6));
  EXPECT_EQ(stats.truncated_texts, 1U);
  options.refuse_longer = 1;
  EXPECT_EQ(run(), LB_TEXT_TOO_LONG);
  EXPECT_THAT(last_message(), HasSubstr("texts[1]: the text has 12 tokens; at most 6 are taken"));
  options.max_tokens = 1000;
  EXPECT_EQ(run(), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("1000 tokens of a text were asked for"));
  options = LB_INIT(lb_encode_options);
  options.role = 3;
  EXPECT_EQ(run(), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("lb_encode_options.role is 3"));
}

TEST_F(TextInterfaceTest, IdsGiveTheVectorOfTheirText) {
  const auto tokenizer = embedder->tokenizer();
  ASSERT_TRUE(tokenizer.ok());
  const std::array<std::string_view, 2> texts{"a cat sat on the mat", "a dog"};
  const auto list = tokenizer->encode(texts);
  ASSERT_TRUE(list.ok()) << list.status().message();
  ASSERT_EQ(list->size(), 2U);
  std::vector<lb_token_ids> ids;
  for (std::size_t i = 0; i < 2; ++i)
    ids.push_back({list->ids(i).data(), list->ids(i).size()});
  std::vector<float> vectors(2 * kTextDimension);
  ASSERT_EQ(encode_ids_into(vectors, c_embedder, ids.data(), 2), LB_OK) << last_message();
  for (std::size_t i = 0; i < 2; ++i) {
    const auto expected = embed(texts[i]);
    for (std::size_t d = 0; d < kTextDimension; ++d)
      EXPECT_NEAR(vectors[i * kTextDimension + d], expected[d], 1e-6);
  }
  for (const std::int32_t bad : {-1, 1'000'000}) {
    const lb_token_ids one{&bad, 1};
    EXPECT_EQ(encode_ids_into(vectors, c_embedder, &one, 1), LB_INVALID_ARGUMENT);
    EXPECT_THAT(last_message(), HasSubstr("texts[0]: no token has the id " + std::to_string(bad)));
  }
  const lb_token_ids none{nullptr, 0};
  EXPECT_EQ(encode_ids_into(vectors, c_embedder, &none, 1), LB_INVALID_ARGUMENT);
  const lb_token_ids null{nullptr, 3};
  EXPECT_EQ(encode_ids_into(vectors, c_embedder, &null, 1), LB_INVALID_ARGUMENT);
}

TEST_F(TextInterfaceTest, ACallReturnsInTimeAndSaysWhoAnswered) {
  fake.script(std::string(kTextEncoder) + "hang\n");
  const lb_text text{"a cat", 5};
  std::vector<float> vectors(kTextDimension);
  auto call = LB_INIT(lb_call_options);
  call.timeout_ms = 20;
  EXPECT_EQ(encode_into(vectors, c_embedder, &text, 1, nullptr, &call), LB_DEADLINE_EXCEEDED);
  // One that is cancelled from another thread.
  lb_cancellation* cancellation = nullptr;
  ASSERT_EQ(lb_cancellation_create(&cancellation), LB_OK);
  call.timeout_ms = 0;
  call.cancellation = cancellation;
  std::thread other([&] { lb_cancellation_request(cancellation); });
  EXPECT_EQ(encode_into(vectors, c_embedder, &text, 1, nullptr, &call), LB_CANCELLED);
  other.join();
  lb_cancellation_destroy(cancellation);

  fake.script(kTextEncoder);
  lb_attestation* answered_by = nullptr;
  call = LB_INIT(lb_call_options);
  call.answered_by = &answered_by;
  ASSERT_EQ(encode_into(vectors, c_embedder, &text, 1, nullptr, &call), LB_OK) << last_message();
  auto active = LB_INIT(lb_active);
  ASSERT_EQ(lb_attestation_get(answered_by, &active), LB_OK);
  EXPECT_STREQ(active.backend, "openvino");
  lb_attestation_destroy(answered_by);
}

TEST_F(TextInterfaceTest, MoreTextsThanThereCanBeAreTheCallersError) {
  const lb_text text{"a", 1};
  const std::int32_t id = 1;
  const lb_token_ids ids{&id, 1};
  float vector = 0;
  const auto most = static_cast<std::size_t>(-1);
  EXPECT_EQ(encode_into({&vector, 1}, c_embedder, &text, most), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("at most 268435456 are allowed"));
  EXPECT_EQ(encode_ids_into({&vector, 1}, c_embedder, &ids, most), LB_INVALID_ARGUMENT);
  lb_tokenizer* tokenizer = nullptr;
  ASSERT_EQ(lb_encoder_tokenizer(c_embedder, &tokenizer), LB_OK);
  lb_token_list* list = nullptr;
  EXPECT_EQ(lb_tokenizer_encode(tokenizer, &text, most, 0, &list), LB_INVALID_ARGUMENT);
  lb_tokenizer_destroy(tokenizer);
  lb_stream* stream = nullptr;
  ASSERT_EQ(lb_stream_open(c_embedder, nullptr, nullptr, &stream), LB_OK);
  std::size_t taken = 0;
  EXPECT_EQ(lb_stream_push(stream, &text, most, &taken), LB_INVALID_ARGUMENT);
  lb_stream_destroy(stream);
}

TEST_F(TextInterfaceTest, TokensHaveOffsetsWhereTheyAreAskedFor) {
  const auto tokenizer = embedder->tokenizer();
  ASSERT_TRUE(tokenizer.ok());
  const std::vector<std::string_view> texts{"Hello  WORLD", "", "world 中 hello"};
  const auto plain = tokenizer->encode(texts);
  const auto made = tokenizer->encode_with_offsets(texts);
  ASSERT_TRUE(made.ok()) << made.status().message();
  ASSERT_EQ(made->size(), 3U);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto ids = made->ids(i);
    const auto offsets = made->offsets(i);
    EXPECT_TRUE(std::ranges::equal(ids, plain->ids(i)));
    ASSERT_EQ(offsets.size(), ids.size());
    EXPECT_EQ(offsets.front().end, 0U);
    EXPECT_EQ(offsets.back().end, 0U);
    for (const auto& [begin, end] : offsets) {
      EXPECT_LE(begin, end);
      EXPECT_LE(end, texts[i].size());
    }
  }
  EXPECT_EQ(made->offsets(0)[1].begin, 0U);
  EXPECT_EQ(made->offsets(0)[made->ids(0).size() - 2].end, 12U);
  EXPECT_TRUE(plain->offsets(0).empty());
  EXPECT_TRUE(made->offsets(3).empty());
  EXPECT_EQ(made->prompt(), "");
  EXPECT_EQ(tokenizer->encode(texts, {.prompt = "say "})->prompt(), "say ");
  const auto cut = tokenizer->encode_with_offsets(texts, {.max_tokens = 3});
  ASSERT_TRUE(cut.ok()) << cut.status().message();
  EXPECT_EQ(cut->offsets(2).size(), 3U);
  EXPECT_TRUE(cut->is_truncated(2));
}

TEST_F(TextInterfaceTest, MoreDimensionsThanThereAreAreAnErrorAndNotAnAllocation) {
  const std::vector<std::string_view> texts(4, "a cat");
  for (const int shift : {40, 62}) {
    const auto made = embedder->embed(texts, {.dimensions = static_cast<std::size_t>(std::uint64_t{1} << shift)});
    EXPECT_EQ(made.status().code(), LB_INVALID_ARGUMENT) << made.status().message();
  }
}

TEST_F(TextInterfaceTest, ATimeThatHasPassedHasPassedAlready) {
  const auto made = embedder->embed("a cat", {}, {.timeout = std::chrono::milliseconds(-1)});
  EXPECT_EQ(made.status().code(), LB_DEADLINE_EXCEEDED);
  EXPECT_THAT(made.status().message(), HasSubstr("negative"));
}

TEST_F(TextInterfaceTest, AStreamIsPulledInWindows) {
  auto stream = embedder->open_stream({}, 3);
  ASSERT_TRUE(stream.ok()) << stream.status().message();
  const std::vector<std::string_view> texts{"a", "a cat", "a dog", "the cat sat", "", "the dog"};
  const auto taken = stream->push(texts);
  ASSERT_TRUE(taken.ok()) << taken.status().message();
  EXPECT_EQ(*taken, texts.size());
  ASSERT_TRUE(stream->finish().ok());
  std::size_t seen = 0;
  while (true) {
    const auto window = stream->pull();
    ASSERT_TRUE(window.ok()) << window.status().message();
    EXPECT_EQ(window->first, seen);
    if (window->count == 0) break;
    EXPECT_EQ(window->count, 3U);
    EXPECT_EQ(window->results.size(), 3U);
    EXPECT_EQ(window->results.token_counts().size(), 3U);
    for (std::size_t i = 0; i < window->count; ++i, ++seen) {
      const auto expected = embed(texts[seen]);
      for (std::size_t d = 0; d < kTextDimension; ++d)
        EXPECT_NEAR((*window->results.dense())[i][d], expected[d], 1e-6);
    }
  }
  EXPECT_EQ(seen, texts.size());
  const auto stats = stream->stats();
  ASSERT_TRUE(stats.ok());
  EXPECT_EQ(stats->texts, texts.size());
}

TEST_F(TextInterfaceTest, AStreamTakesWhatThereIsRoomForAndWaitsAsLongAsItIsTold) {
  auto stream = embedder->open_stream({}, 1);
  ASSERT_TRUE(stream.ok());
  const std::vector<std::string_view> texts(50, "a cat");
  auto taken = stream->push(texts);
  ASSERT_TRUE(taken.ok());
  EXPECT_GT(*taken, 0U);
  EXPECT_LT(*taken, texts.size());
  EXPECT_EQ(stream->wait_for_room({.timeout = std::chrono::milliseconds(1)}).code(), LB_DEADLINE_EXCEEDED);
  // One thread pushes what is left, this one pulls.
  std::thread pusher([&] {
    std::size_t done = *taken;
    while (done < texts.size()) {
      const auto more = stream->push(std::span(texts).subspan(done));
      ASSERT_TRUE(more.ok()) << more.status().message();
      done += *more;
      ASSERT_TRUE(stream->wait_for_room().ok());
    }
    ASSERT_TRUE(stream->finish().ok());
  });
  std::size_t seen = 0;
  while (true) {
    const auto window = stream->pull();
    ASSERT_TRUE(window.ok()) << window.status().message();
    if (window->count == 0) break;
    seen += window->count;
  }
  pusher.join();
  EXPECT_EQ(seen, texts.size());
}

TEST_F(TextInterfaceTest, AStreamOutlivesItsEmbedderAndEndsWithItsFirstError) {
  lb_stream* stream = nullptr;
  ASSERT_EQ(lb_stream_open(c_embedder, nullptr, nullptr, &stream), LB_OK) << last_message();
  lb_encoder_destroy(std::exchange(c_embedder, nullptr));
  const std::array<lb_text, 2> texts{lb_text{"a cat", 5}, lb_text{"\xff", 1}};
  std::size_t taken = 7;
  EXPECT_EQ(lb_stream_push(stream, texts.data(), 2, &taken), LB_INVALID_ARGUMENT);
  EXPECT_EQ(taken, 1U);
  EXPECT_THAT(last_message(), HasSubstr("texts[1]: the text is not UTF-8 at byte 0"));
  auto window = LB_INIT(lb_window);
  EXPECT_EQ(lb_stream_pull(stream, nullptr, &window), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_stream_finish(stream), LB_INVALID_ARGUMENT);
  lb_stream_destroy(stream);
}

TEST_F(TextInterfaceTest, NullsAndStructsWithoutASizeAreRefused) {
  lb_stream* stream = nullptr;
  EXPECT_EQ(lb_stream_open(nullptr, nullptr, nullptr, &stream), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_stream_open(c_embedder, nullptr, nullptr, nullptr), LB_INVALID_ARGUMENT);
  ASSERT_EQ(lb_stream_open(c_embedder, nullptr, nullptr, &stream), LB_OK);
  std::size_t taken = 0;
  EXPECT_EQ(lb_stream_push(stream, nullptr, 1, &taken), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_stream_push(stream, nullptr, 0, nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_stream_push(stream, nullptr, 0, &taken), LB_OK);
  ASSERT_EQ(lb_stream_finish(stream), LB_OK);
  lb_window unsized{};
  EXPECT_EQ(lb_stream_pull(stream, nullptr, &unsized), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_stream_pull(stream, nullptr, nullptr), LB_INVALID_ARGUMENT);
  auto window = LB_INIT(lb_window);
  EXPECT_EQ(lb_stream_pull(stream, nullptr, &window), LB_OK);
  EXPECT_EQ(window.count, 0U);
  lb_stream_destroy(stream);
  lb_stream_destroy(nullptr);
  std::vector<float> rows(kTextDimension);
  const IntoRows options(rows);
  EXPECT_EQ(lb_stream_open(c_embedder, options.get(), nullptr, &stream), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("rows are pulled with each window"));

  lb_tokenizer* tokenizer = nullptr;
  EXPECT_EQ(lb_tokenizer_open("/nowhere", &tokenizer), LB_NOT_FOUND) << last_message();
  EXPECT_EQ(lb_tokenizer_open(nullptr, &tokenizer), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_encoder_tokenizer(nullptr, &tokenizer), LB_INVALID_ARGUMENT);
  lb_tokenizer_destroy(nullptr);
  lb_token_list_destroy(nullptr);
}

TEST_F(TextInterfaceTest, TokensNeedNoRuntimeAndTellWhatWasCut) {
  const auto tokenizer = latebind::Tokenizer::open(folder());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  const std::array<std::string_view, 2> texts{"the cat", "the cat sat on the mat and the dog ran over there and there"};
  for (const std::size_t max_tokens : {0U, 4U}) {
    const auto list = tokenizer->encode(texts, max_tokens);
    ASSERT_TRUE(list.ok()) << list.status().message();
    EXPECT_EQ(list->ids(0).size(), 4U);
    EXPECT_EQ(list->is_truncated(1), max_tokens == 4);
    EXPECT_EQ(tokenizer->token(list->ids(0).front()), "[CLS]");
    EXPECT_EQ(tokenizer->token(list->ids(0)[1]), "the");
  }
  EXPECT_EQ(tokenizer->token(-1), std::nullopt);
  EXPECT_EQ(tokenizer->token(1'000'000), std::nullopt);
  EXPECT_GT(tokenizer->vocabulary_size(), 10U);
  const std::array<std::string_view, 2> bad{"good", "\xc3"};
  EXPECT_THAT(tokenizer->encode(bad).status().message(), HasSubstr("texts[1]: the text is not UTF-8 at byte 0"));
  EXPECT_EQ(tokenizer->encode(texts, std::size_t{1} << 30).status().code(), LB_INVALID_ARGUMENT);
}

// The tiny model with a default prompt.
class PromptInterfaceTest : public TextInterfaceTest {
 protected:
  void SetUp() override {
    TextInterfaceTest::SetUp();
    scratch.copy_tiny_bert();
    scratch.write("config_sentence_transformers.json",
                  R"({"prompts": {"query": "the cat ", "none": ""}, "default_prompt_name": "query"})");
    auto opened = runtime->open_embedder(scratch.path().string());
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    prompted = std::make_unique<latebind::Embedder>(*std::move(opened));
  }
  std::vector<float> vector_of(std::string_view text, const latebind::EncodeOptions& options = {}) const {
    auto vectors = prompted->embed(text, options);
    EXPECT_TRUE(vectors.ok()) << vectors.status().message();
    return vectors ? *std::move(vectors) : std::vector<float>();
  }

  latebind::embedding::testing::ScratchFolder scratch;
  std::unique_ptr<latebind::Embedder> prompted;
};

TEST_F(PromptInterfaceTest, TheModelsDefaultIsBeforeTextsUnlessACallChooses) {
  const auto expected = embed("the cat sat");
  EXPECT_EQ(vector_of("sat"), expected);
  EXPECT_EQ(vector_of("sat", {.prompt_name = "query"}), expected);
  EXPECT_EQ(vector_of("sat", {.prompt = "the cat "}), expected);
  EXPECT_EQ(vector_of("the cat sat", {.prompt = ""}), expected);
  EXPECT_EQ(vector_of("the cat sat", {.prompt_name = "none"}), expected);
  EXPECT_EQ(embed("sat", {.prompt = "the cat "}), expected);

  auto stream = prompted->open_stream({.prompt = std::string("the ")});
  ASSERT_TRUE(stream.ok()) << stream.status().message();
  const std::string_view text = "cat sat";
  ASSERT_TRUE(stream->push({&text, 1}).ok());
  ASSERT_TRUE(stream->finish().ok());
  const auto window = stream->pull();
  ASSERT_TRUE(window.ok()) << window.status().message();
  const auto rows = window->results.dense();
  ASSERT_TRUE(rows.ok()) << rows.status().message();
  EXPECT_EQ(std::vector<float>(rows->values.begin(), rows->values.end()), expected);
}

TEST_F(PromptInterfaceTest, IdsAreThoseOfTheVectorsAndHaveNoPromptOfTheirOwn) {
  const auto tokenizer = latebind::Tokenizer::open(scratch.path().string());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  const std::string_view text = "sat";
  const auto by_default = tokenizer->encode({&text, 1});
  ASSERT_TRUE(by_default.ok());
  EXPECT_EQ(by_default->ids(0).size(), 5U);
  const auto alone = tokenizer->encode({&text, 1}, latebind::EncodeOptions{.prompt = ""});
  ASSERT_TRUE(alone.ok());
  EXPECT_EQ(alone->ids(0).size(), 3U);
  const latebind::EncodeOptions strict{.max_tokens = 4, .refuse_longer = true};
  EXPECT_EQ(tokenizer->encode({&text, 1}, strict).status().code(), LB_TEXT_TOO_LONG);
  const latebind::EncodeOptions other{.prompt_name = "other"};
  EXPECT_EQ(tokenizer->encode({&text, 1}, other).status().code(), LB_INVALID_ARGUMENT);
  const auto of_embedder = prompted->tokenizer();
  ASSERT_TRUE(of_embedder.ok());
  const auto ids = of_embedder->encode({&text, 1});
  ASSERT_TRUE(ids.ok());
  ASSERT_EQ(ids->ids(0).size(), 5U);

  lb_runtime* made = nullptr;
  lb_encoder* raw = nullptr;
  ASSERT_EQ(lb_runtime_create(with_openvino(fake.file()).get(), &made), LB_OK);
  ASSERT_EQ(lb_encoder_open(made, scratch.path().string().c_str(), nullptr, nullptr, nullptr, &raw), LB_OK)
      << last_message();
  std::vector<float> vector(kTextDimension);
  const lb_token_ids given{ids->ids(0).data(), ids->ids(0).size()};
  auto options = LB_INIT(lb_encode_options);
  options.prompt = "";
  EXPECT_EQ(encode_ids_into(vector, raw, &given, 1, &options), LB_OK);
  EXPECT_EQ(vector, vector_of("sat"));
  options.prompt = "x";
  EXPECT_EQ(encode_ids_into(vector, raw, &given, 1, &options), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("not before token ids"));
  lb_encoder_destroy(raw);
  lb_runtime_destroy(made);
}

TEST_F(PromptInterfaceTest, AChoiceThatIsNoneIsRefused) {
  const auto refusal = [&](const latebind::EncodeOptions& options) {
    const auto found = prompted->embed("sat", options);
    EXPECT_EQ(found.status().code(), LB_INVALID_ARGUMENT);
    return std::string(found.status().message());
  };
  EXPECT_THAT(refusal({.prompt_name = "other"}), HasSubstr("no prompt 'other'; it has: none, query"));
  EXPECT_THAT(refusal({.prompt = "a", .prompt_name = "query"}), HasSubstr("give one of them"));
  EXPECT_THAT(refusal({.prompt = "\xff"}), HasSubstr("the prompt is not UTF-8"));
  // The struct of a caller that was built before there were prompts.
  lb_encode_options older{};
  older.struct_size = offsetof(lb_encode_options, prompt);
  older.prompt = "not read";
  const std::string_view text = "sat";
  const lb_text c_text{text.data(), text.size()};
  std::vector<float> vector(kTextDimension);
  EXPECT_EQ(encode_into(vector, c_embedder, &c_text, 1, &older), LB_OK);
  EXPECT_EQ(vector, embed("sat"));
}

}  // namespace
