#include "server/exchange.h"

#include <gtest/gtest.h>

#include <memory>

namespace latebind::server {
namespace {

class ExchangeTest : public testing::Test {
 protected:
  ExchangePtr make() {
    auto exchange = std::make_shared<Exchange>(HttpRequest{}, [](HttpResponse) {});
    exchange->before_answer([this](const Exchange& answered, HttpResponse&) { record_ = answered.record(); });
    return exchange;
  }
  static HttpResponse ok() {
    HttpResponse response;
    response.body = "vectors";
    return response;
  }
  RequestRecord record_;
};

TEST_F(ExchangeTest, WhatIsDroppedIsAnError) {
  make().reset();
  EXPECT_EQ(record_.status, 500U);
  EXPECT_EQ(record_.refusal, "internal");
  EXPECT_FALSE(record_.client_gone);
}

TEST_F(ExchangeTest, AClientThatLeftIsNobodysError) {
  auto dropped = make();
  dropped->gone().request();
  dropped.reset();
  EXPECT_EQ(record_.status, 499U);
  EXPECT_EQ(record_.refusal, "client_gone");
  EXPECT_TRUE(record_.client_gone);
}

TEST_F(ExchangeTest, AnAnswerThatNobodyWaitsForIsNone) {
  for (const char* refusal : {"", "timeout"}) {
    const auto late = make();
    late->gone().request();
    late->answer(ok(), refusal);
    EXPECT_EQ(record_.status, 499U) << refusal;
    EXPECT_EQ(record_.refusal, "client_gone") << refusal;
    EXPECT_EQ(record_.response_bytes, 0U) << refusal;
  }
  const auto in_time = make();
  in_time->answer(ok());
  in_time->gone().request();
  EXPECT_EQ(record_.status, 200U);
  EXPECT_EQ(record_.refusal, "");
  EXPECT_EQ(record_.response_bytes, 7U);
}

}  // namespace
}  // namespace latebind::server
