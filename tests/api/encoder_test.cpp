// Encoders through the C interface: several outputs of one pass, their results, and misuse. On the recorded models of
// the tests and the built-in backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "latebind/latebind.h"
#include "latebind/latebind.hpp"
#include "tests/api/encode.h"
#include "tests/api/last_error.h"
#include "tests/api/recorded_encoder.h"

namespace {

using latebind::test::encode_into;
using latebind::test::last_message;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kRecorded = std::string(LATEBIND_SOURCE_DIR) + "/tests/data/";
const std::string kDenseModel = kRecorded + "tiny-bert/f32";

class EncoderInterfaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = latebind::Runtime::create({{"precision", "f32"}});
    ASSERT_TRUE(made.ok()) << made.status().message();
    runtime = std::make_unique<latebind::Runtime>(*std::move(made));
  }

  [[nodiscard]] std::unique_ptr<latebind::Encoder> open(const std::string& folder,
                                                        std::vector<std::string> outputs = {}) const {
    auto opened = runtime->open_encoder(folder, {}, {.outputs = std::move(outputs)});
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? std::make_unique<latebind::Encoder>(*std::move(opened)) : nullptr;
  }

  std::unique_ptr<latebind::Runtime> runtime;
  const std::vector<std::string_view> texts{"a cat sat", "the dog"};
};

TEST_F(EncoderInterfaceTest, OnePassGivesAllOutputsThatACallRequests) {
  const auto both = open(kDenseModel, {"dense", "token_vectors"});
  const auto dense = open(kDenseModel);
  ASSERT_TRUE(both != nullptr && dense != nullptr);
  ASSERT_EQ(both->outputs().size(), 2U);
  EXPECT_EQ(both->outputs()[1].name, "token_vectors");
  EXPECT_EQ(both->outputs()[1].form, LB_FORM_RAGGED);

  auto stats = LB_INIT(lb_encode_stats);
  const auto results = both->encode(texts, {}, {}, &stats);
  ASSERT_TRUE(results.ok()) << results.status().message();
  EXPECT_EQ(stats.texts, 2U) << "each text is computed once";
  const auto rows = results->dense("dense");
  const auto alone = dense->encode(texts);
  ASSERT_TRUE(rows.ok() && alone.ok());
  for (std::size_t i = 0; i < rows->values.size(); ++i)
    EXPECT_NEAR(rows->values[i], alone->dense()->values[i], 1e-5F) << i;
  const auto vectors = results->ragged("token_vectors");
  ASSERT_TRUE(vectors.ok()) << vectors.status().message();
  ASSERT_EQ(vectors->count, 2U);
  const auto counts = results->token_counts();
  EXPECT_EQ(vectors->begins[1], counts[0]);
  EXPECT_EQ(vectors->begins[2], counts[0] + counts[1]);

  // A call may want one of them, and length 1 where the model does not give it.
  const auto one = both->encode(texts, {.outputs = {"token_vectors"}, .normalize = true});
  ASSERT_TRUE(one.ok()) << one.status().message();
  const auto normal = one->ragged();
  ASSERT_TRUE(normal.ok()) << normal.status().message();
  double squares = 0;
  for (std::size_t i = 0; i < normal->dimension; ++i)
    squares += static_cast<double>(normal->vectors[i]) * static_cast<double>(normal->vectors[i]);
  EXPECT_NEAR(squares, 1, 1e-5);
}

TEST_F(EncoderInterfaceTest, AStreamGivesTheSameOutputs) {
  const auto both = open(kDenseModel, {"dense", "token_vectors"});
  ASSERT_NE(both, nullptr);
  const auto expected = both->encode(texts);
  ASSERT_TRUE(expected.ok());
  auto stream = both->open_stream();
  ASSERT_TRUE(stream.ok()) << stream.status().message();
  ASSERT_TRUE(stream->push(texts).ok());
  ASSERT_TRUE(stream->finish().ok());
  const auto window = stream->pull();
  ASSERT_TRUE(window.ok()) << window.status().message();
  ASSERT_EQ(window->count, 2U);
  const auto rows = window->results.dense("dense");
  const auto vectors = window->results.ragged("token_vectors");
  ASSERT_TRUE(rows.ok() && vectors.ok());
  for (std::size_t i = 0; i < rows->values.size(); ++i)
    EXPECT_NEAR(rows->values[i], expected->dense("dense")->values[i], 1e-5F) << i;
  const auto wanted = expected->ragged("token_vectors");
  for (std::size_t i = 0; i <= vectors->count; ++i)
    EXPECT_EQ(vectors->begins[i], wanted->begins[i]);
  for (std::size_t i = 0; i < vectors->begins[2] * vectors->dimension; ++i)
    EXPECT_NEAR(vectors->vectors[i], wanted->vectors[i], 1e-5F) << i;
  EXPECT_FALSE(window->results.sparse("dense").ok());
  const auto end = stream->pull();
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->count, 0U);
  EXPECT_EQ(end->results.dense("dense")->dimension, rows->dimension);
}

TEST_F(EncoderInterfaceTest, AStreamGivesTheOutputsThatItWasOpenedForInTheirOrder) {
  const auto both = open(kDenseModel, {"dense", "token_vectors"});
  ASSERT_NE(both, nullptr);
  auto reversed = both->open_stream({.outputs = {"token_vectors", "dense"}});
  auto one = both->open_stream({.outputs = {"token_vectors"}});
  ASSERT_TRUE(reversed.ok() && one.ok());
  for (latebind::Stream* const stream : {&*reversed, &*one}) {
    ASSERT_TRUE(stream->push(texts).ok());
    ASSERT_TRUE(stream->finish().ok());
    const auto window = stream->pull();
    ASSERT_TRUE(window.ok()) << window.status().message();
    const auto vectors = window->results.ragged();  // the first one
    ASSERT_TRUE(vectors.ok()) << vectors.status().message();
    EXPECT_EQ(vectors->count, 2U);
    EXPECT_EQ(window->results.dense("dense").ok(), stream == &*reversed);
  }
}

TEST_F(EncoderInterfaceTest, DescribesItself) {
  const auto dense = open(kDenseModel);
  ASSERT_NE(dense, nullptr);
  EXPECT_EQ(dense->input(), "text");
  EXPECT_FALSE(dense->has_routes());
  EXPECT_EQ(dense->outputs().front().form, LB_FORM_DENSE);
  EXPECT_TRUE(dense->labels().empty());
  const auto pairs = open(kRecorded + "cross_encoders/roberta");
  ASSERT_NE(pairs, nullptr);
  EXPECT_EQ(pairs->input(), "pair");
  EXPECT_EQ(pairs->outputs().front().name, "score");
  EXPECT_EQ(pairs->outputs().front().form, LB_FORM_SCORES);
  EXPECT_THAT(pairs->labels(), ElementsAre("contradiction", "entailment", "neutral"));
  const auto sparse = open(kRecorded + "sparse_encoders/bert");
  ASSERT_NE(sparse, nullptr);
  EXPECT_EQ(sparse->outputs().front().form, LB_FORM_SPARSE);
  EXPECT_EQ(sparse->dimension(), 45U);
  EXPECT_EQ(sparse->prompts().count("query"), 1U);
  const auto late = open(kRecorded + "multi_vector_encoders/bert");
  ASSERT_NE(late, nullptr);
  EXPECT_EQ(late->max_tokens(latebind::Role::kQuery), 11U);
  EXPECT_EQ(late->max_tokens(latebind::Role::kDocument), 12U);
}

TEST_F(EncoderInterfaceTest, OutputsThatAModelDoesNotHaveAreRefusedWhenItIsOpened) {
  const auto status = [&](std::vector<std::string> outputs) {
    return runtime->open_encoder(kDenseModel, {}, {.outputs = std::move(outputs)}).status();
  };
  EXPECT_EQ(status({"dens"}).code(), LB_INVALID_ARGUMENT);
  EXPECT_THAT(status({"dens"}).message(), HasSubstr("there is no output 'dens' (did you mean dense?)"));
  EXPECT_EQ(status({"dense", "dense"}).code(), LB_INVALID_ARGUMENT);
  EXPECT_EQ(status({"sparse"}).code(), LB_UNSUPPORTED);
  EXPECT_THAT(status({"sparse"}).message(), HasSubstr("has no output 'sparse'; its outputs are: dense, token_vectors"));
  auto options = LB_INIT(lb_encoder_options);
  lb_encoder* none = nullptr;
  const auto opened = [&] {
    return lb_encoder_open(runtime->get(), kDenseModel.c_str(), nullptr, &options, nullptr, &none);
  };
  options.output_count = 1;
  EXPECT_EQ(opened(), LB_INVALID_ARGUMENT);
  const char* missing = nullptr;
  options.outputs = &missing;
  EXPECT_EQ(opened(), LB_INVALID_ARGUMENT);
  options = LB_INIT(lb_encoder_options);
  options.role = 3;
  EXPECT_EQ(opened(), LB_INVALID_ARGUMENT);
  options = LB_INIT(lb_encoder_options);
  options.reserved_ = 1;
  EXPECT_EQ(opened(), LB_INVALID_ARGUMENT);
  options.struct_size = 0;
  EXPECT_EQ(opened(), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("lb_encoder_options.struct_size is not set"));
  EXPECT_EQ(lb_encoder_open(nullptr, kDenseModel.c_str(), nullptr, nullptr, nullptr, &none), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_encoder_open(runtime->get(), kDenseModel.c_str(), nullptr, nullptr, nullptr, nullptr),
            LB_INVALID_ARGUMENT);
  EXPECT_EQ(none, nullptr);
}

TEST_F(EncoderInterfaceTest, ResultsOfAnotherFormNameTheFunctionThatReadsThem) {
  const auto dense = open(kDenseModel);
  ASSERT_NE(dense, nullptr);
  const auto results = dense->encode(texts);
  ASSERT_TRUE(results.ok());
  const auto refusal = [](const auto& found) {
    EXPECT_EQ(found.status().code(), LB_INVALID_ARGUMENT);
    return found.status().message();
  };
  EXPECT_THAT(refusal(results->sparse("dense")),
              HasSubstr("lb_results_sparse: the results of 'dense' have another form; "
                        "lb_results_dense reads them"));
  EXPECT_THAT(refusal(results->ragged()), HasSubstr("lb_results_dense reads them"));
  EXPECT_THAT(refusal(results->scores("dense")), HasSubstr("lb_results_dense reads them"));
  EXPECT_THAT(refusal(results->dense("score")), HasSubstr("did not request the output 'score'; it requested: dense"));
  lb_dense_rows rows{};
  lb_sparse_rows sparse{};
  lb_ragged_rows ragged{};
  const std::uint32_t* counts = nullptr;
  EXPECT_EQ(lb_results_dense(nullptr, nullptr, &rows), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_results_scores(nullptr, nullptr, &rows), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_results_sparse(nullptr, nullptr, &sparse), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_results_ragged(nullptr, nullptr, &ragged), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_results_dense(results->get(), nullptr, nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_results_token_counts(nullptr, &counts), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_results_count(nullptr), 0U);
  lb_results_destroy(nullptr);
}

TEST_F(EncoderInterfaceTest, RequestsAreCheckedBeforeAnythingIsComputed) {
  const auto dense = open(kDenseModel);
  const auto sparse = open(kRecorded + "sparse_encoders/bert");
  ASSERT_TRUE(dense != nullptr && sparse != nullptr);
  const lb_text text{"a cat", 5};
  std::array<lb_output_request, 2> requests{};
  auto options = LB_INIT(lb_encode_options);
  lb_results* results = nullptr;
  const auto encode = [&](const latebind::Encoder& encoder, lb_results** to) {
    return lb_encoder_encode(encoder.get(), &text, 1, &options, nullptr, to, nullptr);
  };
  EXPECT_EQ(encode(*dense, nullptr), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("results is NULL, and the request of an output has no rows"));
  options.output_count = 1;
  EXPECT_EQ(encode(*dense, &results), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("output_count is set and outputs is NULL"));
  options.outputs = requests.data();
  requests[0].name = "token_vectors";
  EXPECT_EQ(encode(*dense, &results), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("was not opened with the output 'token_vectors'; it was opened with: dense"));
  requests[0].name = "dense";
  options.output_count = 2;
  EXPECT_EQ(encode(*dense, &results), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("the output 'dense' was requested twice"));
  options.output_count = 1;
  options.reserved_ = 1;
  EXPECT_EQ(encode(*dense, &results), LB_INVALID_ARGUMENT);
  options.reserved_ = 0;
  std::array<float, 64> rows{};
  requests[0] = {nullptr, rows.data(), 3};
  EXPECT_EQ(encode(*dense, nullptr), LB_BUFFER_TOO_SMALL);
  EXPECT_EQ(encode(*sparse, &results), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("lb_output_request.rows must be NULL"));
  EXPECT_EQ(results, nullptr);
  // Results refer to the caller's rows.
  requests[0].capacity = rows.size();
  ASSERT_EQ(encode(*dense, &results), LB_OK) << last_message();
  lb_dense_rows found{};
  ASSERT_EQ(lb_results_dense(results, "dense", &found), LB_OK);
  EXPECT_EQ(found.values, rows.data());
  EXPECT_EQ(found.dimension, 32U);
  lb_results_destroy(results);
}

TEST_F(EncoderInterfaceTest, InputsThatTheModelDoesNotTakeAreRefused) {
  const auto dense = open(kDenseModel);
  const auto pairs = open(kRecorded + "cross_encoders/bert");
  ASSERT_TRUE(dense != nullptr && pairs != nullptr);
  EXPECT_THAT(pairs->encode(texts).status().message(), HasSubstr("encodes pairs, not texts"));
  EXPECT_EQ(pairs->open_stream().status().code(), LB_INVALID_ARGUMENT);
  const std::array<latebind::TextPair, 1> pair{latebind::TextPair{"a", "b"}};
  EXPECT_THAT(dense->encode_pairs(pair).status().message(), HasSubstr("encodes texts, not pairs"));
  const auto scores = pairs->encode_pairs(pair);
  ASSERT_TRUE(scores.ok()) << scores.status().message();
  EXPECT_EQ(scores->scores()->dimension, 1U);
  EXPECT_FALSE(scores->dense("score").ok());
  EXPECT_THAT(pairs->encode_pairs(pair, {.normalize = true}).status().message(),
              HasSubstr("scores have neither dimensions nor a length"));
  EXPECT_EQ(pairs->encode_pairs(pair, {.dimensions = 1}).status().code(), LB_INVALID_ARGUMENT);
  EXPECT_EQ(dense->compare({}, {}).status().code(), LB_UNSUPPORTED);
}

TEST_F(EncoderInterfaceTest, ARouterMayBeOpenedForOneRole) {
  const std::string folder = kRecorded + "routers/networks";
  const auto opened = runtime->open_encoder(folder, {}, {.role = latebind::Role::kQuery});
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_FALSE(opened->has_routes());
  EXPECT_TRUE(opened->encode(texts, {.role = latebind::Role::kQuery}).ok());
  EXPECT_EQ(opened->encode(texts, {.role = latebind::Role::kDocument}).status().code(), LB_INVALID_ARGUMENT);
  const auto both = open(folder);
  ASSERT_NE(both, nullptr);
  EXPECT_TRUE(both->has_routes());
}

TEST_F(EncoderInterfaceTest, NullsAreRefused) {
  auto info = LB_INIT(lb_encoder_info);
  auto output = LB_INIT(lb_output_info);
  lb_text text{};
  lb_tokenizer* tokenizer = nullptr;
  lb_attestation* attestation = nullptr;
  lb_results* results = nullptr;
  EXPECT_EQ(lb_encoder_describe(nullptr, &info), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_encoder_output(nullptr, 0, &output), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_encoder_label(nullptr, 0, &text), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_encoder_prompt(nullptr, 0, &text, &text, nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_encoder_tokenizer(nullptr, &tokenizer), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_encoder_attestation(nullptr, &attestation), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_encoder_encode(nullptr, nullptr, 0, nullptr, nullptr, &results, nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_encoder_encode_ids(nullptr, nullptr, 0, nullptr, nullptr, &results, nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_encoder_encode_pairs(nullptr, nullptr, 0, nullptr, nullptr, &results, nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_encoder_compare(nullptr, nullptr, nullptr, nullptr, nullptr, 0), LB_INVALID_ARGUMENT);
  lb_encoder_destroy(nullptr);
  const auto dense = open(kDenseModel);
  ASSERT_NE(dense, nullptr);
  EXPECT_EQ(lb_encoder_describe(dense->get(), nullptr), LB_INVALID_ARGUMENT);
  info.struct_size = 0;
  EXPECT_EQ(lb_encoder_describe(dense->get(), &info), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_encoder_output(dense->get(), 1, &output), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_encoder_label(dense->get(), 0, &text), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_encoder_prompt(dense->get(), 0, &text, &text, nullptr), LB_INVALID_ARGUMENT);
}

}  // namespace
