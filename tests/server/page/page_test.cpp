#include "server/page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "server/page/figures.h"
#include "server/page/page_parts.h"
#include "tests/support/json.h"

namespace latebind::server {
namespace {

using core::Json;
using testing::HasSubstr;
using testing::Not;

Json status_of(std::string_view text) {
  return json_of(text);
}

// The page without its script and style, which hold words of their own.
std::string visible(const Json& status) {
  std::string page = render_page(status);
  for (const std::string_view tag : {"style", "script"}) {
    const std::size_t begin = page.find("<" + std::string(tag));
    const std::size_t end = page.find("</" + std::string(tag) + ">");
    page.erase(begin, end - begin);
  }
  return page;
}

constexpr std::string_view kFallback = R"({"version":"1.2.3","ready":true,"uptime_s":7500,
  "models":[{"name":"minilm","kind":"embedding","dimension":384,"max_tokens":256,"backend":"onnxruntime",
    "device":"onnxruntime:CPU","device_full_name":"Processor","runtime_version":"1.31.1","precision":"f32","threads":2,
    "requests":1,"from_cache":true,"load_s":0.35,"fallback":true,"reason":"using onnxruntime:CPU, because of that",
    "steps":[{"device":"openvino:NPU","taken":false,"brief":"no such device","reason":"a long text of the vendor"},
             {"device":"onnxruntime:CPU","taken":true,"brief":"","reason":""}],
    "queue":{"texts":12,"tokens":3400,"running_batches":1},
    "totals":{"texts":1234567,"tokens":800,"batches":3,"batch_tokens":1000,"padded_tokens":200,"fallback_texts":12},
    "batches":[{"number":7,"texts":8,"rows":8,"width":32,"tokens":192,"computed_tokens":200,"padded_tokens":8,"owners":3,"ms":12.1}]}],
  "requests":{"in_flight":1,"total":9,"refused":2,"failed":0,"texts_per_s":8.42,"p95_ms":12345},
  "limits":{"queue_tokens":131072}})";

TEST(PageTest, SaysWhatAnswersAndWhyItIsAFallback) {
  const std::string page = visible(status_of(kFallback));
  EXPECT_THAT(page, HasSubstr("<p class=\"device\">onnxruntime:CPU</p><p class=\"hardware\">Processor</p>"));
  EXPECT_THAT(page, HasSubstr("This is a fallback: </strong>using onnxruntime:CPU, because of that</p>"));
  EXPECT_THAT(page, HasSubstr("f32"));
  EXPECT_THAT(page, HasSubstr("onnxruntime · 1.31.1"));
  EXPECT_THAT(page, HasSubstr("350 ms · from the compile cache"));
}

TEST(PageTest, ShowsTheStepsInTheirOrderWithTheReasons) {
  const std::string page = visible(status_of(kFallback));
  const std::size_t refused = page.find("<b>openvino:NPU</b><span class=\"brief\">no such device</span>");
  const std::size_t reason = page.find("<summary>Details</summary><p>a long text of the vendor</p>");
  const std::size_t taken = page.find("<b>onnxruntime:CPU</b><span class=\"brief\">chosen: it answers</span>");
  ASSERT_NE(refused, std::string::npos);
  ASSERT_NE(taken, std::string::npos);
  EXPECT_LT(refused, reason);
  EXPECT_LT(reason, taken);
}

TEST(PageTest, ShowsTheLoadWithoutScripts) {
  const std::string page = visible(status_of(kFallback));
  EXPECT_THAT(page, HasSubstr("12 texts · 3,400 tokens"));
  EXPECT_THAT(page, HasSubstr("1,234,567 texts"));
  EXPECT_THAT(page, HasSubstr("<dt>Batches so far</dt><dd>3 · 20 % padding</dd>"));
  EXPECT_THAT(page, HasSubstr("Batch 7: 8 texts as 8 × 32, 4 % padding, 3 requests, 12 ms"));
  EXPECT_THAT(page, HasSubstr("<b data-figure=\"texts_per_s\">8.4</b>"));
  EXPECT_THAT(page, HasSubstr("<b data-figure=\"p95_ms\">12 s</b>"));
  EXPECT_THAT(page, HasSubstr("<b data-figure=\"queue_tokens\">3,400</b>"));
  EXPECT_THAT(page, HasSubstr("Ready · up 2 h 5 min"));
}

TEST(PageTest, WithoutAFallbackThereIsNoNoticeOfOne) {
  Json status = status_of(kFallback);
  status["models"][0]["fallback"] = false;
  const std::string page = visible(status);
  EXPECT_THAT(page, HasSubstr("no fallback"));
  EXPECT_THAT(page, Not(HasSubstr("This is a fallback")));
}

TEST(PageTest, AnOpenBreakerAndHungRunsAreSeen) {
  Json status = status_of(kFallback);
  status["models"][0]["breaker_open"] = true;
  status["models"][0]["hung_runs"] = 2;
  const std::string page = visible(status);
  EXPECT_THAT(page, HasSubstr("breaker open"));
  EXPECT_THAT(page, HasSubstr("2 hung runs"));
}

TEST(PageTest, EscapesEveryTextOfTheStatus) {
  constexpr std::string_view evil = "<script>\"'&{{script}}";
  const std::string text(evil);
  const Json status = {{"version", text},
                       {"started_at", text},
                       {"listen", {text}},
                       {"ready", true},
                       {"cache", {{"enabled", true}, {"folder", text}}},
                       {"models",
                        {{{"name", text},
                          {"kind", text},
                          {"backend", text},
                          {"device", text},
                          {"device_full_name", text},
                          {"runtime_version", text},
                          {"precision", text},
                          {"fallback", true},
                          {"reason", text},
                          {"steps", {{{"device", text}, {"brief", text}, {"reason", text + "."}}}}}}}};
  const std::string page = visible(status);
  // That of the page itself is gone from what is visible.
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
  std::size_t found = 0;
  constexpr std::string_view escaped = "&lt;script&gt;&quot;&#39;&amp;{{script}}";
  for (std::size_t at = page.find(escaped); at != std::string::npos; at = page.find(escaped, at + 1))
    ++found;
  EXPECT_EQ(found, 16u);
}

TEST(PageTest, MissingMembersAreLeftOut) {
  for (
      const std::string_view text :
      {"{}", "null", "[]", R"({"models":null,"requests":[],"limits":"?"})", R"({"models":[null,{}]})",
       R"({"models":[{"steps":[1,{}],"batches":[{},null],"queue":3,"totals":null,"name":7}]})",
       R"({"models":[{"batches":[{"rows":-1,"width":1e300,"tokens":1e300,"padded_tokens":1e300,"ms":null}]}],"uptime_s":1e300})"}) {
    const std::string page = render_page(status_of(text));
    EXPECT_THAT(page, HasSubstr("</html>")) << text;
    EXPECT_THAT(page, Not(HasSubstr("{{"))) << text;
    EXPECT_THAT(page, Not(HasSubstr(">null<"))) << text;
  }
  EXPECT_THAT(visible(status_of("{}")), HasSubstr("No model is loaded yet."));
}

// A backend that computes by itself has nothing to compile.
TEST(PageTest, SaysWhatCameFromTheCacheAndNothingOfTheRest) {
  Json status = status_of(kFallback);
  status["models"][0]["from_cache"] = false;
  const std::string page = visible(status);
  EXPECT_THAT(page, HasSubstr("<dt>Loaded in</dt><dd>350 ms</dd>"));
  EXPECT_THAT(page, Not(HasSubstr("compiled")));
}

TEST(PageTest, AsksForAKeyAndSaysHowProgramsSendIt) {
  const std::string page = visible(status_of(R"({"wants_key":true})"));
  EXPECT_THAT(page, HasSubstr("<form id=\"key\" class=\"card\">"));
  EXPECT_THAT(page, HasSubstr("Authorization: Bearer KEY"));
  EXPECT_THAT(page, HasSubstr("<div id=\"content\" hidden>"));
  EXPECT_THAT(page, HasSubstr("<p id=\"state\" class=\"state locked\">"));
  EXPECT_THAT(page, HasSubstr("Key wanted"));
  EXPECT_THAT(page, Not(HasSubstr("the figures at the time")));
  const std::string open = visible(status_of(kFallback));
  EXPECT_THAT(open, HasSubstr("<form id=\"key\" class=\"card\" hidden>"));
  EXPECT_THAT(open, HasSubstr("<div id=\"content\">"));
}

TEST(PageTest, SaysThatModelsAreBeingLoaded) {
  const std::string page = visible(status_of(R"({"ready":false,"models":[]})"));
  EXPECT_THAT(page, HasSubstr("Models are loading."));
  EXPECT_THAT(page, HasSubstr("<p id=\"state\" class=\"state loading\">"));
}

TEST(PageTest, AModelOfTensorsHasNoQueue) {
  const std::string page =
      visible(status_of(R"({"models":[{"name":"net","kind":"tensors","device":"openvino:CPU"}]})"));
  EXPECT_THAT(page, HasSubstr("tensors model"));
  EXPECT_THAT(page, HasSubstr("<section id=\"try\" aria-labelledby=\"try-title\" hidden>"));
  EXPECT_THAT(page, Not(HasSubstr("Latest batches")));
}

TEST(PageTest, OnlyTheLatestBatchesAreShown) {
  Json status = status_of(R"({"models":[{"batches":[]}]})");
  for (int i = 0; i < 500; ++i) {
    status["models"][0]["batches"].push_back(
        {{"number", i}, {"rows", 1}, {"width", 16}, {"tokens", 8}, {"padded_tokens", 8}});
  }
  const std::string page = visible(status);
  EXPECT_THAT(page, HasSubstr("Batch 499:"));
  EXPECT_THAT(page, HasSubstr("40 batches"));
  EXPECT_THAT(page, Not(HasSubstr("Batch 459:")));
}

TEST(PageTest, NothingComesFromAnotherHostAndNoStyleIsInline) {
  const std::string page = render_page(status_of(kFallback));
  for (std::size_t at = page.find("://"); at != std::string::npos; at = page.find("://", at + 1)) {
    // The name of SVG, which nobody asks for anything.
    EXPECT_EQ(page.substr(at, 13), "://www.w3.org") << page.substr(at, 60);
  }
  EXPECT_THAT(page, Not(HasSubstr(" style=")));
  EXPECT_THAT(page, Not(HasSubstr(" onclick=")));
}

TEST(PageTest, ThePolicyAllowsNoInlineCodeButItsOwn) {
  const std::string policy(page_policy());
  EXPECT_THAT(policy, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  EXPECT_THAT(policy, Not(HasSubstr("\n")));
}

TEST(FiguresTest, AreWordedForPeople) {
  EXPECT_EQ(count_words(1234567), "1,234,567");
  EXPECT_EQ(count_words(999), "999");
  EXPECT_EQ(count_words(std::nullopt), "–");
  EXPECT_EQ(counted(1, "batch"), "1 batch");
  EXPECT_EQ(counted(2, "batch"), "2 batches");
  EXPECT_EQ(counted(0, "text"), "0 texts");
  EXPECT_EQ(rate_words(0), "0");
  EXPECT_EQ(rate_words(0.04), "0.0");
  EXPECT_EQ(rate_words(9.94), "9.9");
  EXPECT_EQ(rate_words(9.96), "10");
  EXPECT_EQ(ms_words(8.42), "8.4 ms");
  EXPECT_EQ(ms_words(12500), "13 s");
  EXPECT_EQ(bytes_words(1023), "1,023 B");
  EXPECT_EQ(bytes_words(1536), "1.5 KiB");
  EXPECT_EQ(bytes_words(32 << 20), "32 MiB");
  EXPECT_EQ(bytes_words(2.5 * (1 << 30)), "2.5 GiB");
  EXPECT_EQ(duration_words(59.9), "59 s");
  EXPECT_EQ(duration_words(90061), "1 d 1 h");
  EXPECT_EQ(time_words("2026-01-31T12:05:59Z"), "2026-01-31 12:05 UTC");
  EXPECT_EQ(time_words("soon"), "soon");
  EXPECT_EQ(percent_words(1, 0), "–");
  EXPECT_EQ(percent_words(1, 3), "33 %");
}

TEST(PageTest, AModelOfTensorsHasRunsAndNoBatches) {
  const std::string page =
      visible(status_of(R"({"models":[{"name":"t","kind":"tensors","queue":{"runs":3,"running":1}}]})"));
  EXPECT_THAT(page, HasSubstr("3 runs"));
  EXPECT_THAT(page, HasSubstr("1 run<"));
  EXPECT_THAT(page, Not(HasSubstr("Latest batches")));
}

}  // namespace
}  // namespace latebind::server
