#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <boost/asio.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/log.h"
#include "server/observe/traces.h"
#include "tests/server/observe/records.h"
#include "tests/support/latch.h"

namespace latebind::server {
namespace {

namespace asio = boost::asio;
using test::answered_record;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

nlohmann::json spans_in(const std::string& request) {
  return nlohmann::json::parse(
      request.substr(request.find("\r\n\r\n") + 4))["resourceSpans"][0]["scopeSpans"][0]["spans"];
}

// A collector on a free port of this machine: it reads requests, one after the other, until it has so many spans, and
// answers each with the same.
class Collector {
 public:
  Collector(std::size_t spans, std::string answer)
      : acceptor_(io_, asio::ip::tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0)),
        thread_([this, spans, answer = std::move(answer)] { run(spans, answer); }) {}
  ~Collector() {
    if (thread_.joinable()) thread_.join();
  }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }
  // Once all spans have come: the requests, each with its head.
  const std::vector<std::string>& requests() {
    thread_.join();
    return requests_;
  }

 private:
  void run(std::size_t wanted, const std::string& answer) {
    for (std::size_t spans = 0; spans < wanted; spans += spans_in(requests_.back()).size()) {
      asio::ip::tcp::socket socket(io_);
      acceptor_.accept(socket);
      std::string request;
      boost::system::error_code error;
      const std::size_t head = asio::read_until(socket, asio::dynamic_buffer(request), "\r\n\r\n", error);
      constexpr std::string_view kLength = "Content-Length: ";
      const std::size_t length = std::stoul(request.substr(request.find(kLength) + kLength.size()));
      asio::read(socket, asio::dynamic_buffer(request), asio::transfer_exactly(head + length - request.size()), error);
      asio::write(socket, asio::buffer(answer), error);
      requests_.push_back(std::move(request));
    }
  }

  asio::io_context io_;
  asio::ip::tcp::acceptor acceptor_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

std::unique_ptr<TraceExporter> exporter_to(const std::string& url) {
  auto exporter = TraceExporter::create(url, "1.2.3");
  EXPECT_TRUE(exporter.ok()) << exporter.status().to_string();
  return *std::move(exporter);
}

// An address that nobody listens at.
std::string deserted_url() {
  asio::io_context io;
  asio::ip::tcp::acceptor acceptor(io, asio::ip::tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0));
  return "http://127.0.0.1:" + std::to_string(acceptor.local_endpoint().port());
}

TEST(TraceExporterTest, RefusesEndpointsThatItCannotReach) {
  EXPECT_EQ(TraceExporter::create("ftp://localhost:4318", "1").status().code(), core::StatusCode::kInvalidArgument);
  EXPECT_EQ(TraceExporter::create("localhost:4318", "1").status().code(), core::StatusCode::kInvalidArgument);
  EXPECT_EQ(TraceExporter::create("", "1").status().code(), core::StatusCode::kInvalidArgument);
}

TEST(TraceExporterTest, EndsAtOnceWithoutAnythingToSend) {
  const auto begun = std::chrono::steady_clock::now();
  exporter_to(deserted_url()).reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(900));
}

TEST(TraceExporterTest, SendsWhatWaitsWhenItEnds) {
  Collector collector(8, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
  {
    const auto exporter = exporter_to(collector.url() + "/otlp/");
    exporter->add(answered_record());
    RequestRecord other = answered_record();
    other.trace.sampled = false;
    exporter->add(other);
    exporter->add(answered_record());
    EXPECT_EQ(exporter->dropped(), 0U);
  }
  const std::vector<std::string>& requests = collector.requests();
  ASSERT_THAT(requests, SizeIs(1));
  EXPECT_THAT(requests[0], AllOf(StartsWith("POST /otlp/v1/traces HTTP/1.1\r\nHost: 127.0.0.1:"),
                                 HasSubstr("\r\nContent-Type: application/json\r\n")));
  EXPECT_THAT(spans_in(requests[0]), SizeIs(8));
}

TEST(TraceExporterTest, SendsManyAtATimeFromManyThreads) {
  constexpr std::size_t kRecords = 512;
  Collector collector(4 * kRecords, "HTTP/1.1 202 Accepted\r\n\r\n");
  const auto exporter = exporter_to(collector.url());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < kRecords / 4; ++i)
        exporter->add(answered_record());
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  std::size_t spans = 0;
  for (const std::string& request : collector.requests())
    spans += spans_in(request).size();
  EXPECT_EQ(spans, 4 * kRecords);
  EXPECT_EQ(exporter->dropped(), 0U);
}

TEST(TraceExporterTest, FailuresAreCountedAndLoggedOnce) {
  std::mutex mutex;
  std::vector<std::string> lines;
  auto sink = [&](core::LogLevel, std::string_view text) {
    const std::lock_guard lock(mutex);
    lines.emplace_back(text);
  };
  core::set_log_sink(core::LogSink::to(sink));
  Collector collector(4 * std::size_t{512}, "HTTP/1.1 503 Service Unavailable\r\n\r\n");
  {
    const auto exporter = exporter_to(collector.url());
    for (int i = 0; i < 512; ++i)
      exporter->add(answered_record());
    (void)collector.requests();
  }
  core::set_log_sink({});
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_THAT(lines[0], AllOf(HasSubstr("it answered with status 503"), HasSubstr(" are lost so far")));
}

TEST(TraceExporterTest, SaysThatNobodyListens) {
  test::Latch logged(1);
  std::string line;
  auto sink = [&](core::LogLevel, std::string_view text) {
    line = text;
    logged.count_down();
  };
  core::set_log_sink(core::LogSink::to(sink));
  const auto exporter = exporter_to(deserted_url());
  for (int i = 0; i < 256; ++i)
    exporter->add(answered_record());
  logged.wait();
  core::set_log_sink({});
  EXPECT_THAT(line, HasSubstr("no response; is there a network?"));
  EXPECT_EQ(exporter->dropped(), 256U);
  EXPECT_EQ(exporter->sent(), 0U);
}

TEST(TraceExporterTest, WhatWaitsIsBoundedAndEndingDoesNotWaitForACollectorThatHangs) {
  // Connections are accepted by the system, and nobody ever reads from them.
  asio::io_context io;
  asio::ip::tcp::acceptor silent(io, asio::ip::tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0));
  std::unique_ptr<TraceExporter> exporter =
      exporter_to("http://127.0.0.1:" + std::to_string(silent.local_endpoint().port()));
  constexpr std::size_t kTooMany = 1000;
  for (std::size_t i = 0; i < TraceExporter::kWaitingMax + 256 + kTooMany; ++i)
    exporter->add(answered_record());
  EXPECT_GE(exporter->dropped(), kTooMany);
  EXPECT_EQ(exporter->sent(), 0U);
  const auto begun = std::chrono::steady_clock::now();
  exporter.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(1900));
}

}  // namespace
}  // namespace latebind::server
