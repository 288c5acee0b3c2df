#include "server/observe/request_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/text/utf8.h"
#include "tests/server/observe/records.h"
#include "tests/support/latch.h"

namespace latebind::server {
namespace {

using std::chrono::milliseconds;
using test::answered_record;
using test::refused_record;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr const char* kTrace = "1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a";

TEST(RequestLogTest, ATextLineIsForPeople) {
  EXPECT_EQ(log_line(answered_record(32, 871), LogFormat::kText),
            std::string("POST /v1/embeddings 200 12.0 ms 32 texts 871 tokens openvino:CPU f32 model=small id=abc-1 "
                        "trace=") +
                kTrace);
  RequestRecord record = refused_record(499, "client_gone");
  record.client_gone = true;
  EXPECT_EQ(log_line(record, LogFormat::kText),
            std::string("POST /v1/embeddings 499 12.0 ms client_gone id=abc-1 trace=") + kTrace);
  RequestRecord fallback = answered_record(1, 5);
  fallback.fallback = true;
  fallback.truncated_texts = 1;
  EXPECT_THAT(log_line(fallback, LogFormat::kText), HasSubstr(" 1 text 5 tokens 1 cut openvino:CPU f32 fallback "));
  record.path.clear();
  EXPECT_THAT(log_line(record, LogFormat::kText), StartsWith("POST (no request) 499"));
}

TEST(RequestLogTest, ThePathIsAsItWasAskedForCutAndQuoted) {
  RequestRecord record = refused_record(404, "not_found");
  record.route.clear();
  for (const auto& [path, shown] : std::vector<std::pair<std::string, std::string>>{
           {"//v1/embedings/", "//v1/embedings/"},
           {"/v2/models/an-org/a:latest/infer", "/v2/models/an-org/a:latest/infer"},
           {"/a b", "'/a b'"},
           {"/a\n200", "'/a\\x0a200'"},
           {"/" + std::string(1000, 'x'), "'/" + std::string(127, 'x') + "…'"}}) {
    record.path = path;
    EXPECT_THAT(log_line(record, LogFormat::kText), StartsWith("POST " + shown + " 404 "));
    const auto line = nlohmann::json::parse(log_line(record, LogFormat::kJson));
    EXPECT_LT(line["path"].get<std::string>().size(), 200U);
    EXPECT_FALSE(line.contains("route"));
  }
}

TEST(RequestLogTest, AJsonLineHasEveryMemberWithItsType) {
  const nlohmann::json line = nlohmann::json::parse(log_line(answered_record(32, 871), LogFormat::kJson));
  EXPECT_EQ(line["time"], "2026-01-02T03:04:05.678Z");
  EXPECT_EQ(line["id"], "abc-1");
  EXPECT_EQ(line["trace"], kTrace);
  EXPECT_EQ(line["method"], "POST");
  EXPECT_EQ(line["path"], "/v1/embeddings");
  EXPECT_EQ(line["route"], "/v1/embeddings");
  EXPECT_EQ(line["protocol"], "openai");
  EXPECT_EQ(line["model"], "small");
  EXPECT_EQ(line["status"], 200);
  EXPECT_EQ(line["ms"], 12.0);
  EXPECT_EQ(line["tokenize_ms"], 1.0);
  EXPECT_EQ(line["queue_ms"], 3.0);
  EXPECT_EQ(line["compute_ms"], 6.0);
  EXPECT_EQ(line["texts"], 32);
  EXPECT_EQ(line["tokens"], 871);
  EXPECT_EQ(line["device"], "openvino:CPU");
  EXPECT_FALSE(line.contains("refusal"));
  EXPECT_FALSE(line.contains("fallback"));
}

TEST(RequestLogTest, NothingThatAClientSendsBreaksALine) {
  RequestRecord record = answered_record();
  for (const std::string& bad : {std::string("a\nPOST /x 200"), std::string("a\r\nb"), std::string("\x1B[2J"),
                                 std::string("a\0b", 3), std::string("\xFF\xFE"), std::string("\xE2\x80\xA8"),
                                 std::string("\xC2\x85"), std::string("a\" b' =c"), std::string(100'000, 'x')}) {
    record.id = bad;
    record.method = bad;
    record.path = bad;
    for (const LogFormat format : {LogFormat::kText, LogFormat::kJson}) {
      const std::string line = log_line(record, format);
      EXPECT_LT(line.size(), 2000U);
      std::size_t controls = 0;
      core::for_each_character(
          line, [](std::string_view) {}, [&](std::string_view) { ++controls; });
      EXPECT_EQ(controls, 0U) << line;
      if (format == LogFormat::kJson) {
        EXPECT_TRUE(nlohmann::json::accept(line)) << line;
      }
    }
  }
  // Nor can it be taken for another member.
  record.id = "x status=200";
  EXPECT_THAT(log_line(record, LogFormat::kText), HasSubstr(" id='x status=200' trace="));
}

struct Lines {
  std::vector<std::string> all;
  std::function<void(std::string_view)> writer() {
    return [this](std::string_view line) { all.emplace_back(line); };
  }
};

TEST(RequestLogTest, WritesEveryLineInOrderBeforeItEnds) {
  Lines lines;
  {
    RequestLog log(LogFormat::kText, 0, lines.writer());
    RequestRecord record = answered_record();
    for (int i = 0; i < 100; ++i) {
      record.id = std::to_string(i);
      log.write(record);
    }
  }
  ASSERT_THAT(lines.all, SizeIs(100));
  EXPECT_THAT(lines.all.front(), HasSubstr(" id=0 "));
  EXPECT_THAT(lines.all.back(), HasSubstr(" id=99 "));
}

TEST(RequestLogTest, LinesOfManyThreadsStayWhole) {
  Lines lines;
  {
    RequestLog log(LogFormat::kJson, 0, lines.writer());
    test::Latch begin(4);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        RequestRecord record = answered_record();
        begin.arrive_and_wait();
        for (int i = 0; i < 200; ++i) {
          record.id = std::to_string(t) + "-" + std::to_string(i);
          log.write(record);
        }
      });
    }
    for (std::thread& thread : threads)
      thread.join();
  }
  std::set<std::string> ids;
  for (const std::string& line : lines.all)
    ids.insert(nlohmann::json::parse(line)["id"].get<std::string>());
  EXPECT_THAT(ids, SizeIs(800));
}

TEST(RequestLogTest, WritesAtMostSoManyLinesASecondAndSaysHowManyItLeftOut) {
  Lines lines;
  {
    RequestLog log(LogFormat::kText, 4, lines.writer());
    RequestRecord record = answered_record();
    for (int i = 0; i < 50; ++i)
      log.write(record);
    // A quarter of the lines is kept for these.
    RequestRecord failed = refused_record(500, "internal");
    failed.answered = record.answered + milliseconds(900);
    log.write(failed);
    log.write(failed);
    record.answered += milliseconds(1000);
    log.write(record);
    log.write(record);
  }
  ASSERT_THAT(lines.all, SizeIs(6));
  EXPECT_THAT(lines.all[2], Not(HasSubstr("left out")));
  EXPECT_THAT(lines.all[3], HasSubstr(" 500 "));
  EXPECT_THAT(lines.all[3], EndsWith("(47 lines left out before)"));
  EXPECT_THAT(lines.all[4], EndsWith("(1 line left out before)"));
  EXPECT_THAT(lines.all[5], Not(HasSubstr("left out")));
}

TEST(RequestLogTest, JsonSaysHowManyLinesWereLeftOut) {
  Lines lines;
  {
    RequestLog log(LogFormat::kJson, 1, lines.writer());
    RequestRecord record = answered_record();
    log.write(record);
    log.write(record);
    record.answered += milliseconds(1000);
    log.write(record);
  }
  ASSERT_THAT(lines.all, SizeIs(2));
  EXPECT_EQ(nlohmann::json::parse(lines.all[1])["left_out"], 1);
}

TEST(RequestLogTest, ARequestDoesNotWaitForASlowReaderAndWhatWaitsIsBounded) {
  std::vector<std::string> lines;
  {
    test::Latch stuck(1);
    test::Latch goes_on(1);
    RequestLog log(LogFormat::kJson, 0, [&](std::string_view line) {
      if (lines.empty()) {
        stuck.count_down();
        goes_on.wait();
      }
      lines.emplace_back(line);
    });
    const RequestRecord record = answered_record();
    log.write(record);
    stuck.wait();
    for (std::size_t i = 0; i < RequestLog::kWaitingLinesMax + 10; ++i)
      log.write(record);
    goes_on.count_down();
  }
  EXPECT_THAT(lines, SizeIs(1 + RequestLog::kWaitingLinesMax));
}

TEST(RequestLogTest, AnExceptionCostsItsOwnLineAlone) {
  std::vector<std::string> lines;
  {
    bool is_first = true;
    RequestLog log(LogFormat::kText, 0, [&](std::string_view line) {
      if (std::exchange(is_first, false)) throw std::runtime_error("broken");
      lines.emplace_back(line);
    });
    log.write(answered_record());
    log.write(answered_record());
  }
  EXPECT_THAT(lines, SizeIs(1));
}

}  // namespace
}  // namespace latebind::server
