#include "server/observe/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "core/text/utf8.h"
#include "tests/server/observe/prometheus_parser.h"
#include "tests/server/observe/records.h"
#include "tests/support/latch.h"

namespace latebind::server {
namespace {

using std::chrono::milliseconds;
using test::answered_record;
using test::PrometheusPage;
using test::refused_record;
using ::testing::IsEmpty;
using ::testing::SizeIs;

PrometheusPage page_of(const Metrics& metrics, const ServerGauges& gauges = {}) {
  return PrometheusPage(metrics.render(gauges));
}

BatchRecord batch_of(std::size_t texts, std::size_t rows, std::size_t width, std::size_t tokens) {
  return {.texts = texts,
          .rows = rows,
          .width = width,
          .tokens = tokens,
          .computed_tokens = rows * width,
          .submissions = 1,
          .time = milliseconds(4)};
}

TEST(MetricsTest, IsAWholePageBeforeTheFirstRequest) {
  const PrometheusPage page = page_of(Metrics());
  EXPECT_EQ(page.value("te_request_count", {{"method", "single"}}), 0);
  EXPECT_EQ(page.value("te_request_duration_count"), 0);
  EXPECT_EQ(page.value("te_queue_size"), 0);
  EXPECT_EQ(page.value("latebind_ready"), 0);
  EXPECT_EQ(page.type("latebind_requests_total"), "counter");
  EXPECT_EQ(page.type("te_embed_queue_duration"), "histogram");
  EXPECT_EQ(page.type("latebind_padding_ratio"), "gauge");
}

TEST(MetricsTest, CountsAnAnsweredRequestUnderBothFamiliesOfNames) {
  Metrics metrics;
  metrics.observe(answered_record(1, 10));
  metrics.observe(answered_record(32, 320));
  const PrometheusPage page = page_of(metrics);
  EXPECT_EQ(page.value("te_request_count", {{"method", "single"}}), 1);
  EXPECT_EQ(page.value("te_request_count", {{"method", "batch"}}), 1);
  EXPECT_EQ(page.value("te_request_success", {{"method", "batch"}}), 1);
  EXPECT_EQ(page.value("te_embed_count"), 33);
  EXPECT_EQ(page.value("te_embed_success"), 33);
  EXPECT_EQ(page.value("te_request_duration_count"), 2);
  EXPECT_NEAR(page.value("te_request_duration_sum").value(), 0.024, 1e-9);
  EXPECT_EQ(page.value("te_embed_duration_count"), 33);
  EXPECT_NEAR(page.value("te_request_queue_duration_sum").value(), 0.006, 1e-9);
  EXPECT_NEAR(page.value("te_request_tokenization_duration_sum").value(), 0.002, 1e-9);
  EXPECT_NEAR(page.value("te_request_inference_duration_sum").value(), 0.012, 1e-9);
  EXPECT_EQ(page.value("te_request_duration_bucket", {{"le", "0.01"}}), 0);
  EXPECT_EQ(page.value("te_request_duration_bucket", {{"le", "0.02"}}), 2);
  EXPECT_EQ(
      page.value("latebind_requests_total", {{"protocol", "openai"}, {"route", "/v1/embeddings"}, {"status", "200"}}),
      2);
  EXPECT_EQ(page.value("latebind_texts_total", {{"model", "small"}}), 33);
  EXPECT_EQ(page.value("latebind_tokens_total", {{"model", "small"}}), 330);
  EXPECT_EQ(page.value("latebind_fallback_texts_total", {{"model", "small"}}), 0);
  EXPECT_EQ(page.value("latebind_response_bytes_total"), 4000);
}

TEST(MetricsTest, KeepsTheSumOfTokensWhereOnlyTheLongestTextIsKnown) {
  Metrics metrics;
  RequestRecord record = answered_record(5, 140);
  record.longest_tokens = 100;
  metrics.observe(record);
  const PrometheusPage page = page_of(metrics);
  EXPECT_EQ(page.value("te_request_input_length_count"), 5);
  EXPECT_EQ(page.value("te_request_input_length_sum"), 140);
  EXPECT_EQ(page.value("te_request_input_length_bucket", {{"le", "16"}}), 4);
  EXPECT_EQ(page.value("te_request_input_length_bucket", {{"le", "64"}}), 4);
  EXPECT_EQ(page.value("te_request_input_length_bucket", {{"le", "128"}}), 5);
}

TEST(MetricsTest, CountsRefusalsByReasonAndNotAsSuccess) {
  Metrics metrics;
  metrics.observe(refused_record(429, "overloaded"));
  metrics.observe(refused_record(429, "overloaded"));
  metrics.observe(refused_record(500, "internal"));
  RequestRecord gone = refused_record(499, "client_gone");
  gone.client_gone = true;
  metrics.observe(gone);
  const PrometheusPage page = page_of(metrics);
  EXPECT_EQ(page.value("te_request_failure", {{"err", "overloaded"}}), 2);
  EXPECT_EQ(page.value("te_request_failure", {{"err", "internal"}}), 1);
  EXPECT_EQ(page.value("te_request_success", {{"method", "single"}}), 0);
  EXPECT_EQ(page.value("te_request_success", {{"method", "batch"}}), 0);
  EXPECT_EQ(page.value("te_request_failure", {{"err", "client_gone"}}), 1);
  EXPECT_EQ(page.value("latebind_clients_gone_total"), 1);
  EXPECT_EQ(page.value("te_request_duration_count"), 0);
  const Totals totals = metrics.totals();
  EXPECT_EQ(totals.requests, 4U);
  EXPECT_EQ(totals.refused, 2U);
  EXPECT_EQ(totals.failed, 1U);
  EXPECT_EQ(totals.texts, 0U);
}

TEST(MetricsTest, ARequestWithoutARouteIsCountedAsNone) {
  Metrics metrics;
  RequestRecord record = refused_record(404, "not_found");
  record.route.clear();
  record.protocol.clear();
  record.is_embedding = false;
  metrics.observe(record);
  const PrometheusPage page = page_of(metrics);
  EXPECT_EQ(page.value("latebind_requests_total", {{"protocol", "none"}, {"route", "none"}, {"status", "404"}}), 1);
  EXPECT_EQ(page.value("te_request_count", {{"method", "single"}}), 0);
}

TEST(MetricsTest, CountsPaddingOfBatches) {
  Metrics metrics;
  metrics.observe("small", batch_of(4, 4, 20, 60));
  metrics.observe("small", batch_of(3, 8, 10, 20));
  const PrometheusPage page = page_of(metrics);
  EXPECT_EQ(page.value("latebind_batches_total", {{"model", "small"}}), 2);
  EXPECT_EQ(page.value("latebind_batch_tokens_total", {{"model", "small"}}), 160);
  EXPECT_EQ(page.value("latebind_padded_tokens_total", {{"model", "small"}}), 80);
  EXPECT_DOUBLE_EQ(page.value("latebind_padding_ratio").value(), 0.5);
  EXPECT_EQ(page.value("te_batch_next_size_sum"), 7);
  EXPECT_EQ(page.value("te_batch_next_tokens_sum"), 160);
  EXPECT_EQ(page.value("latebind_batch_duration_seconds_count"), 2);
  EXPECT_EQ(metrics.totals().batches, 2U);
  EXPECT_EQ(metrics.totals().batch_tokens, 160U);
  EXPECT_EQ(metrics.totals().padded_tokens, 80U);
  EXPECT_DOUBLE_EQ(metrics.recent().padding_ratio, 0.5);
}

TEST(MetricsTest, ShowsWhatIsReadAtTheMoment) {
  ServerGauges gauges;
  gauges.models.push_back({.model = "small",
                           .device = "openvino:CPU",
                           .precision = "f32",
                           .fallback = true,
                           .breaker_open = true,
                           .waiting_texts = 7,
                           .waiting_tokens = 700,
                           .running_batches = 2,
                           .running_tokens = 90,
                           .load_seconds = 1.25,
                           .from_cache = true});
  gauges.models.push_back({.model = "large", .waiting_texts = 5});
  gauges.connections = 3;
  gauges.requests_in_flight = 4;
  gauges.resident_bytes = 123456789;
  gauges.uptime_seconds = 0.5;
  gauges.ready = true;
  gauges.version = "1.2.3";
  const PrometheusPage page = page_of(Metrics(), gauges);
  EXPECT_EQ(page.value("te_queue_size"), 12);
  EXPECT_EQ(page.value("latebind_device_info", {{"model", "small"}, {"device", "openvino:CPU"}, {"precision", "f32"}}),
            1);
  EXPECT_EQ(page.value("latebind_fallback", {{"model", "small"}}), 1);
  EXPECT_EQ(page.value("latebind_fallback", {{"model", "large"}}), 0);
  EXPECT_EQ(page.value("latebind_breaker_open", {{"model", "small"}}), 1);
  EXPECT_EQ(page.value("latebind_queue_texts", {{"model", "large"}}), 5);
  EXPECT_EQ(page.value("latebind_queue_tokens", {{"model", "small"}}), 700);
  EXPECT_EQ(page.value("latebind_running_batches", {{"model", "small"}}), 2);
  EXPECT_EQ(page.value("latebind_running_tokens", {{"model", "small"}}), 90);
  EXPECT_EQ(page.value("latebind_load_seconds", {{"model", "small"}}), 1.25);
  EXPECT_EQ(page.value("latebind_load_from_cache", {{"model", "small"}}), 1);
  EXPECT_EQ(page.value("latebind_connections"), 3);
  EXPECT_EQ(page.value("latebind_requests_in_flight"), 4);
  EXPECT_EQ(page.value("latebind_resident_memory_bytes"), 123456789);
  EXPECT_EQ(page.value("latebind_uptime_seconds"), 0.5);
  EXPECT_EQ(page.value("latebind_ready"), 1);
  EXPECT_EQ(page.value("latebind_build_info", {{"version", "1.2.3"}}), 1);
}

TEST(MetricsTest, LabelValuesMayHoldAnything) {
  Metrics metrics;
  RequestRecord record = answered_record();
  record.model = "a\"b\\c\nd\xC3\xA9";
  metrics.observe(record);
  record.model = "\xFF";
  metrics.observe(record);
  const std::string text = metrics.render({});
  EXPECT_FALSE(core::find_invalid_utf8(text).has_value());
  const PrometheusPage page(text);
  EXPECT_EQ(page.value("latebind_texts_total", {{"model", "a\"b\\c\nd\xC3\xA9"}}), 1);
  EXPECT_EQ(page.value("latebind_texts_total", {{"model", "\\xFF"}}), 1);
}

TEST(MetricsTest, SeriesBeyondTheLimitAreCountedTogether) {
  Metrics metrics;
  RequestRecord record = answered_record();
  constexpr int kModels = 1000;
  for (int i = 0; i < kModels; ++i) {
    record.model = "model-" + std::to_string(i);
    record.route = "/v1/" + std::to_string(i);
    metrics.observe(record);
    metrics.observe(record.model, batch_of(1, 1, 8, 8));
  }
  const PrometheusPage page = page_of(metrics);
  // What is counted by label, the three shared ones, and what has no such label.
  EXPECT_LE(page.series(), Metrics::kSeriesMax + page_of(Metrics()).series() + 3 * 7);
  EXPECT_GE(page.series(), Metrics::kSeriesMax);
  const double shared = page.value("latebind_texts_total", {{"model", "other"}}).value();
  EXPECT_EQ(shared + static_cast<double>(page.series("latebind_texts_total") - 1), kModels);
  EXPECT_GT(page.value("latebind_requests_total", {{"protocol", "other"}, {"route", "other"}, {"status", "other"}}), 0);
  EXPECT_EQ(metrics.totals().texts, std::uint64_t{kModels});
  EXPECT_EQ(metrics.totals().batches, std::uint64_t{kModels});
  EXPECT_THAT(metrics.recent_batches("model-0"), SizeIs(1));
  EXPECT_THAT(metrics.recent_batches("model-999"), IsEmpty());
  EXPECT_THAT(metrics.recent_batches("other"), SizeIs(Metrics::kRecentBatchesMax));
}

TEST(MetricsTest, KeepsTheLastBatchesOldestFirst) {
  Metrics metrics;
  EXPECT_THAT(metrics.recent_batches("small"), IsEmpty());
  for (std::size_t i = 1; i <= Metrics::kRecentBatchesMax + 10; ++i)
    metrics.observe("small", batch_of(i, i, 8, i));
  const std::vector<BatchSeen> batches = metrics.recent_batches("small");
  ASSERT_THAT(batches, SizeIs(Metrics::kRecentBatchesMax));
  EXPECT_EQ(batches.front().number, 11U);
  EXPECT_EQ(batches.front().batch.texts, 11U);
  EXPECT_EQ(batches.back().number, 74U);
  EXPECT_EQ(batches.back().batch.texts, 74U);
}

TEST(MetricsTest, RecentLatenciesAreOfAnsweredRequestsForVectors) {
  Metrics metrics;
  metrics.observe(answered_record(4, 40));
  metrics.observe(refused_record(429, "overloaded"));
  RequestRecord probe = answered_record(0, 0);
  probe.is_embedding = false;
  metrics.observe(probe);
  const RecentFigures recent = metrics.recent();
  EXPECT_GT(recent.requests_per_s, 0);
  EXPECT_LE(recent.requests_per_s, 1);
  EXPECT_EQ(recent.texts_per_s, 0);  // nothing was computed
  EXPECT_NEAR(recent.p50_ms, 12, 12 * 0.05);
}

TEST(MetricsTest, StrangeRecordsDoNoHarm) {
  Metrics metrics;
  RequestRecord record = answered_record();
  record.answered = record.arrived - milliseconds(1);
  record.texts = 3;
  record.tokens = 0;
  record.longest_tokens = 100;
  record.status = std::numeric_limits<unsigned>::max();
  metrics.observe(record);
  record.status = 200;
  metrics.observe(record);
  metrics.observe("small", batch_of(1, 1, 1, 100));
  const PrometheusPage page = page_of(metrics);
  EXPECT_EQ(page.value("te_request_duration_sum"), 0);
  EXPECT_EQ(page.value("latebind_padded_tokens_total", {{"model", "small"}}), 0);
}

TEST(MetricsTest, ThreadsMayObserveWhileOthersRender) {
  Metrics metrics;
  constexpr int kThreads = 4;
  constexpr int kEach = 500;
  test::Latch begin(kThreads + 1);
  std::atomic<int> left{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      RequestRecord record = answered_record(2, 20);
      record.model = "model-" + std::to_string(t);
      begin.arrive_and_wait();
      for (int i = 0; i < kEach; ++i) {
        metrics.observe(record);
        metrics.observe(record.model, batch_of(2, 2, 10, 20));
      }
      --left;
    });
  }
  begin.arrive_and_wait();
  double before = 0;
  do {
    const PrometheusPage page = page_of(metrics);
    const double now = page.value("te_request_success", {{"method", "batch"}}).value();
    EXPECT_GE(now, before);
    EXPECT_EQ(page.value("te_embed_success"), 2 * now);
    before = now;
    (void)metrics.recent();
    (void)metrics.recent_batches("model-0");
  } while (left > 0);
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(metrics.totals().texts, std::uint64_t{2 * kThreads * kEach});
  EXPECT_EQ(metrics.recent_batches("model-3").back().number, std::uint64_t{kEach});
}

}  // namespace
}  // namespace latebind::server
