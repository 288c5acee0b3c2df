#include "server/observe/traces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "server/observe/otlp_endpoint.h"
#include "tests/server/observe/records.h"
#include "tests/support/latch.h"

namespace latebind::server {
namespace {

using std::chrono::milliseconds;
using test::answered_record;
using test::refused_record;
using ::testing::ElementsAre;
using ::testing::SizeIs;

const std::string kGood = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const std::string kGoodTrace = "4bf92f3577b34da6a3ce929d0e0e4736";

TEST(TraceContextTest, TakesACallersTraceAndPassesOnItsOwnSpan) {
  const TraceContext context = trace_context_of(kGood);
  EXPECT_EQ(hex_of(context), kGoodTrace);
  EXPECT_EQ(hex_of(context.parent_id), "00f067aa0ba902b7");
  EXPECT_TRUE(context.sampled);
  EXPECT_NE(context.span_id, context.parent_id);
  EXPECT_EQ(traceparent_of(context), "00-" + kGoodTrace + "-" + hex_of(context.span_id) + "-01");
  EXPECT_NE(trace_context_of(kGood).span_id, context.span_id);
}

TEST(TraceContextTest, ReadsTheFlagOfSamplingAloneOfTheFlags) {
  EXPECT_FALSE(trace_context_of("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00").sampled);
  EXPECT_FALSE(trace_context_of("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-fe").sampled);
  EXPECT_TRUE(trace_context_of("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff").sampled);
  EXPECT_EQ(traceparent_of(trace_context_of("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-fe")).substr(52),
            "-00");
}

TEST(TraceContextTest, TakesLaterVersionsThatMayBeLonger) {
  for (const std::string& later :
       {"01" + kGood.substr(2), "cc" + kGood.substr(2) + "-more", "fe" + kGood.substr(2) + "-"}) {
    EXPECT_EQ(hex_of(trace_context_of(later)), kGoodTrace) << later;
  }
}

TEST(TraceContextTest, BeginsASampledTraceWhereTheHeaderIsMissingOrWrong) {
  const std::vector<std::string> wrong = {
      "",
      "00",
      kGood.substr(0, 54),
      kGood + "-",
      kGood + "-00",
      kGood + " ",
      " " + kGood,
      "ff" + kGood.substr(2),
      "ff" + kGood.substr(2) + "-more",
      "01" + kGood.substr(2) + "more",
      "0g" + kGood.substr(2),
      "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
      "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00F067AA0BA902B7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x",
      "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7_01",
      std::string(55, '\0'),
      std::string(100'000, '0'),
  };
  const TraceContext none{};
  for (const std::string& text : wrong) {
    const TraceContext context = trace_context_of(text);
    EXPECT_NE(hex_of(context), kGoodTrace) << text;
    EXPECT_NE(context.trace_id, none.trace_id) << text;
    EXPECT_EQ(context.parent_id, none.parent_id) << text;
    EXPECT_NE(context.span_id, none.span_id) << text;
    EXPECT_TRUE(context.sampled) << text;
  }
}

TEST(TraceContextTest, ThreadsMakeDifferentIds) {
  std::mutex mutex;
  std::set<std::string> ids;
  test::Latch begin(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      begin.arrive_and_wait();
      std::vector<std::string> own;
      for (int i = 0; i < 500; ++i)
        own.push_back(hex_of(trace_context_of("")));
      const std::lock_guard lock(mutex);
      ids.insert(own.begin(), own.end());
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_THAT(ids, SizeIs(2000));
}

nlohmann::json spans_of(const std::vector<RequestRecord>& records) {
  return nlohmann::json::parse(
      otlp_json(records.data(), records.size(), "1.2.3"))["resourceSpans"][0]["scopeSpans"][0]["spans"];
}

std::map<std::string, nlohmann::json> attributes_of_span(const nlohmann::json& span) {
  std::map<std::string, nlohmann::json> attributes;
  for (const nlohmann::json& one : span["attributes"])
    attributes[one["key"]] = one["value"];
  return attributes;
}

TEST(OtlpJsonTest, NamesTheServiceAndTheScope) {
  const RequestRecord record = answered_record();
  const nlohmann::json request = nlohmann::json::parse(otlp_json(&record, 1, "1.2.3"));
  const nlohmann::json expected = {
      {{"key", "service.name"}, {"value", {{"stringValue", "latebind"}}}},
      {{"key", "service.version"}, {"value", {{"stringValue", "1.2.3"}}}},
  };
  ASSERT_EQ(request["resourceSpans"].size(), 1U);
  EXPECT_EQ(request["resourceSpans"][0]["resource"]["attributes"], expected);
  EXPECT_EQ(request["resourceSpans"][0]["scopeSpans"][0]["scope"]["name"], "latebind");
}

TEST(OtlpJsonTest, ARequestIsASpanWithItsStepsBelowIt) {
  RequestRecord record = answered_record(32, 871);
  record.trace.parent_id.fill(0x3C);
  const nlohmann::json spans = spans_of({record});
  ASSERT_EQ(spans.size(), 4U);
  const nlohmann::json& server = spans[0];
  EXPECT_EQ(server["name"], "POST /v1/embeddings");
  EXPECT_EQ(server["kind"], 2);
  EXPECT_EQ(server["traceId"], "1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a");
  EXPECT_EQ(server["spanId"], "2b2b2b2b2b2b2b2b");
  EXPECT_EQ(server["parentSpanId"], "3c3c3c3c3c3c3c3c");
  EXPECT_EQ(server["startTimeUnixNano"], "1767323045678000000");
  EXPECT_EQ(server["endTimeUnixNano"], "1767323045690000000");
  EXPECT_FALSE(server.contains("status"));
  auto attributes = attributes_of_span(server);
  EXPECT_EQ(attributes["http.request.method"]["stringValue"], "POST");
  EXPECT_EQ(attributes["http.route"]["stringValue"], "/v1/embeddings");
  EXPECT_EQ(attributes["http.response.status_code"]["intValue"], "200");
  EXPECT_EQ(attributes["latebind.device"]["stringValue"], "openvino:CPU");
  EXPECT_EQ(attributes["latebind.tokens"]["intValue"], "871");
  EXPECT_EQ(attributes["latebind.fallback"]["boolValue"], false);

  // The steps end with the answer and follow each other.
  std::set<std::string> ids{server["spanId"]};
  const char* const expected[][3] = {{"compute", "1767323045684000000", "1767323045690000000"},
                                     {"queue", "1767323045681000000", "1767323045684000000"},
                                     {"tokenize", "1767323045680000000", "1767323045681000000"}};
  for (std::size_t i = 0; i < 3; ++i) {
    const nlohmann::json& step = spans[i + 1];
    EXPECT_EQ(step["name"], expected[i][0]);
    EXPECT_EQ(step["startTimeUnixNano"], expected[i][1]);
    EXPECT_EQ(step["endTimeUnixNano"], expected[i][2]);
    EXPECT_EQ(step["kind"], 1);
    EXPECT_EQ(step["traceId"], server["traceId"]);
    EXPECT_EQ(step["parentSpanId"], server["spanId"]);
    ids.insert(step["spanId"].get<std::string>());
  }
  EXPECT_THAT(ids, SizeIs(4));
}

TEST(OtlpJsonTest, LeavesOutStepsThatThereWereNot) {
  const nlohmann::json spans = spans_of({refused_record(429, "overloaded"), refused_record(503, "not_ready")});
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_FALSE(spans[0].contains("parentSpanId"));
  EXPECT_FALSE(spans[0].contains("status"));
  EXPECT_EQ(spans[1]["status"]["code"], 2);
  EXPECT_EQ(attributes_of_span(spans[1])["error.type"]["stringValue"], "not_ready");
}

TEST(OtlpJsonTest, StepsThatAreTooLongStayWithinTheirRequest) {
  RequestRecord record = answered_record();
  record.computing = milliseconds(100);
  for (const nlohmann::json& span : spans_of({record})) {
    EXPECT_GE(span["startTimeUnixNano"].get<std::string>(), "1767323045678000000");
    EXPECT_LE(span["startTimeUnixNano"].get<std::string>(), span["endTimeUnixNano"].get<std::string>());
  }
}

TEST(OtlpJsonTest, StrangeMethodsAndBytesDoNoHarm) {
  RequestRecord record = answered_record();
  record.method = "BREW";
  record.id = "\xFF\n\"";
  const nlohmann::json spans = spans_of({record});
  EXPECT_EQ(spans[0]["name"], "HTTP /v1/embeddings");
  EXPECT_EQ(attributes_of_span(spans[0])["http.request.method"]["stringValue"], "_OTHER");
  EXPECT_THAT(spans_of({}), SizeIs(0));
}

TEST(OtlpEndpointTest, AddsThePathOfTraces) {
  EXPECT_EQ(otlp_endpoint_of("http://localhost:4318").value().url, "http://localhost:4318/v1/traces");
  EXPECT_EQ(otlp_endpoint_of("http://10.0.0.1:1/").value().url, "http://10.0.0.1:1/v1/traces");
  EXPECT_EQ(otlp_endpoint_of("http://otel_a.b-c:65535/x/y//").value().url, "http://otel_a.b-c:65535/x/y/v1/traces");
  EXPECT_EQ(otlp_endpoint_of("https://collector.example").value().url, "https://collector.example/v1/traces");
}

TEST(OtlpEndpointTest, KnowsThisMachine) {
  for (const char* url : {"http://localhost:4318", "http://127.0.0.1:1/x", "https://[::1]:4318", "http://[::1]"})
    EXPECT_TRUE(otlp_endpoint_of(url).value().is_loopback) << url;
  for (const char* url : {"http://localhost.example:1", "http://10.127.0.0:1", "http://[::2]:1"})
    EXPECT_FALSE(otlp_endpoint_of(url).value().is_loopback) << url;
}

TEST(OtlpEndpointTest, RefusesEverythingElse) {
  for (const std::string& url : {std::string(),
                                 std::string("localhost:4318"),
                                 std::string("http://"),
                                 std::string("https:///"),
                                 std::string("http://:4318"),
                                 std::string("http://localhost:"),
                                 std::string("http://localhost:0"),
                                 std::string("http://localhost:65536"),
                                 std::string("http://localhost:43x"),
                                 std::string("http://user@host:1"),
                                 std::string("http://host:1/a b"),
                                 std::string("http://host:1/a\r\nX: y"),
                                 std::string("http://host:1/a?b"),
                                 std::string("http://host:1/#b"),
                                 std::string("http://ho st:1"),
                                 std::string("http://[::1]x"),
                                 std::string("http://[]:1"),
                                 std::string("http://[::g]:1"),
                                 std::string("http://host\n:1"),
                                 std::string("ftp://host:1"),
                                 "http://" + std::string(2000, 'a') + ":1"}) {
    EXPECT_FALSE(otlp_endpoint_of(url).has_value()) << url;
  }
}

}  // namespace
}  // namespace latebind::server
