// Routers through the C interface: roles of texts, who answered, and the tokenizers of both ways.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "latebind/latebind.h"
#include "latebind/latebind.hpp"
#include "tests/api/last_error.h"
#include "tests/api/recorded_encoder.h"

namespace {

using latebind::Role;
using latebind::test::last_message;
using ::testing::HasSubstr;

class RouterInterfaceTest : public latebind::test::RecordedEncoderTest {
 protected:
  RouterInterfaceTest() : RecordedEncoderTest("routers") {}
};

TEST_F(RouterInterfaceTest, AQueryIsWeighedByTheTableAndNoDevice) {
  const auto encoder = runtime->open_sparse_encoder(models + "sparse");
  ASSERT_TRUE(encoder.ok()) << encoder.status().message();
  EXPECT_EQ(encoder->attestation()->backend, "native");
  for (const auto& [role, name] : {std::pair{Role::kQuery, "query"}, std::pair{Role::kDocument, "document"}}) {
    const auto vectors = encoder->encode(views, {.role = role});
    ASSERT_TRUE(vectors.ok()) << vectors.status().message();
    expect_same(*vectors, expected["vectors"]["sparse"][name]);
  }
}

// The device of each answer, asked for with the call.
TEST_F(RouterInterfaceTest, AnAnswerSaysWhoMadeIt) {
  lb_runtime* raw = nullptr;
  ASSERT_EQ(lb_runtime_create(nullptr, &raw), LB_OK) << last_message();
  lb_encoder* encoder = nullptr;
  ASSERT_EQ(lb_encoder_open(raw, (models + "sparse").c_str(), nullptr, nullptr, nullptr, &encoder), LB_OK)
      << last_message();
  const lb_text text{"a dog", 5};
  for (const auto& [role, backend] : {std::pair{LB_ROLE_QUERY, "none"}, std::pair{LB_ROLE_DOCUMENT, ""}}) {
    auto asked = LB_INIT(lb_encode_options);
    asked.role = role;
    lb_attestation* by = nullptr;
    auto call = LB_INIT(lb_call_options);
    call.answered_by = &by;
    lb_results* list = nullptr;
    ASSERT_EQ(lb_encoder_encode(encoder, &text, 1, &asked, &call, &list, nullptr), LB_OK) << last_message();
    auto active = LB_INIT(lb_active);
    ASSERT_EQ(lb_attestation_get(by, &active), LB_OK);
    if (*backend != '\0') {
      EXPECT_STREQ(active.backend, backend);
      EXPECT_STREQ(active.device, "");
      EXPECT_EQ(active.fallback, 0);
    } else {
      EXPECT_STRNE(active.backend, "none");
    }
    lb_attestation_destroy(by);
    lb_results_destroy(list);
  }
  lb_encoder_destroy(encoder);
  lb_runtime_destroy(raw);
}

TEST_F(RouterInterfaceTest, WhoDoesNotSayTheRoleIsAsked) {
  const auto embedder = runtime->open_embedder(models + "networks");
  ASSERT_TRUE(embedder.ok()) << embedder.status().message();
  EXPECT_THAT(embedder->embed(views).status().message(), HasSubstr("give the role of the texts"));
  const auto vectors = embedder->embed(views, {.role = Role::kQuery});
  ASSERT_TRUE(vectors.ok()) << vectors.status().message();
  EXPECT_NEAR(vectors->at(0), expected["vectors"]["networks"]["query"][0][0].get<float>(), 1e-5F);
  const auto tokenizer = embedder->tokenizer();
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_THAT(tokenizer->encode(views).status().message(), HasSubstr("give the role of the texts"));
}

TEST_F(RouterInterfaceTest, TokensAreThoseOfTheRole) {
  const auto tokenizer = latebind::Tokenizer::open(models + "sparse");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  const std::string_view text = "a dog";
  const auto query = tokenizer->encode({&text, 1}, {.prompt = "", .role = Role::kQuery});
  const auto document = tokenizer->encode({&text, 1}, {.prompt = "", .role = Role::kDocument});
  ASSERT_TRUE(query.ok() && document.ok());
  EXPECT_EQ(query->ids(0).size() + 2, document->ids(0).size());
}

}  // namespace
