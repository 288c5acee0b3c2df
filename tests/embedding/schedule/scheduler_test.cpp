#include "embedding/schedule/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/vendor/vendor_call.h"
#include "tests/embedding/toy_encoder.h"
#include "tests/embedding/toy_texts.h"
#include "tests/support/latch.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;
using test::kToyDimension;
using test::ToyScript;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using Clock = std::chrono::steady_clock;
using Ids = std::vector<std::int32_t>;

constexpr std::int32_t kNoNumber = 9999;  // a text of this mark gets a vector that is not finite

// A text of `length` tokens, at least 3, that is known again by its mark.
Ids text_of(std::int32_t mark, std::size_t length) {
  Ids ids(length, 4);
  ids.front() = 2;
  ids[1] = mark;
  ids.back() = 3;
  return ids;
}

std::vector<Ids> texts_of(std::int32_t mark, std::size_t length, std::size_t count) {
  return std::vector<Ids>(count, text_of(mark, length));
}

std::vector<Ids> ids_of(const std::vector<std::string>& texts) {
  static const auto tokenizer = test::toy_tokenizer();
  std::vector<Ids> all(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i)
    EXPECT_TRUE(tokenizer.encode(texts[i], 32, all[i]).ok());
  return all;
}

// Where a run waits until the test lets it go. Shared with runs that are given up.
struct Hold {
  void stop() {
    entered.count_down();
    let_go.wait();
  }
  test::Latch entered{1};
  test::Latch let_go{1};
};

// What the model was run with.
struct Runs {
  struct Run {
    std::size_t rows = 0;
    std::size_t width = 0;
    std::size_t tokens = 0;  // without padding
    std::vector<std::int64_t> marks;
    std::thread::id thread;

    bool operator==(const Run& other) const {
      return rows == other.rows && width == other.width && marks == other.marks;
    }
  };

  std::size_t add(const core::TensorView& ids) {
    Run run;
    run.rows = static_cast<std::size_t>(ids.shape[0]);
    run.width = static_cast<std::size_t>(ids.shape[1]);
    run.thread = std::this_thread::get_id();
    const auto* id = static_cast<const std::int64_t*>(ids.data);
    for (std::size_t row = 0; row < run.rows; ++row, id += run.width) {
      run.marks.push_back(id[1]);
      run.tokens += run.width - static_cast<std::size_t>(std::count(id, id + run.width, 0));
    }
    const std::lock_guard lock(mutex);
    all.push_back(std::move(run));
    return all.size() - 1;
  }
  std::vector<Run> so_far() {
    const std::lock_guard lock(mutex);
    return all;
  }
  std::vector<std::size_t> rows() {
    std::vector<std::size_t> rows;
    for (const Run& run : so_far())
      rows.push_back(run.rows);
    return rows;
  }
  std::vector<std::size_t> widths() {
    std::vector<std::size_t> widths;
    for (const Run& run : so_far())
      widths.push_back(run.width);
    return widths;
  }
  core::RunOptions limits_of(std::size_t run) {
    const std::lock_guard lock(mutex);
    return asked.at(run);
  }

  std::mutex mutex;
  std::vector<Run> all;                 // in the order in which they began
  std::vector<core::RunOptions> asked;  // as they were asked for
};

struct Sizes {
  std::size_t requests = 1;
  std::size_t batch_tokens = 2048;
  std::size_t longest = 512;
  std::size_t threads = 8;
};

// A scheduler over a toy model. `on_run` hears the number of each run.
class Rig {
 public:
  using OnRun = std::function<Status(std::size_t number)>;

  explicit Rig(const Sizes& sizes, OnRun on_run = nullptr, ToyScript script = {},
               const std::optional<ToyScript>& standby = std::nullopt)
      : forward(bind(watched(std::move(script), runs, std::move(on_run)), standby)),
        scheduler(forward, team, sizes.requests, sizes.batch_tokens, sizes.longest),
        team(sizes.threads) {}

  const std::shared_ptr<Runs> runs = std::make_shared<Runs>();
  const Forward forward;
  Scheduler scheduler;
  core::ThreadPool team;  // last: its threads use all of the above

 private:
  static ToyScript watched(ToyScript script, const std::shared_ptr<Runs>& runs, OnRun on_run) {
    script.on_ask = [runs](const core::RunOptions& options) {
      const std::lock_guard lock(runs->mutex);
      runs->asked.push_back(options);
    };
    script.on_run = [runs, on_run = std::move(on_run)](const core::TensorView& ids) {
      const std::size_t number = runs->add(ids);
      return on_run ? on_run(number) : Status();
    };
    if (!script.spoil) {
      script.spoil = [](std::int64_t mark, float value) {
        return mark == kNoNumber ? std::numeric_limits<float>::quiet_NaN() : value;
      };
    }
    return script;
  }
  static Forward bind(const ToyScript& script, const std::optional<ToyScript>& standby) {
    auto forward = Forward::bind(test::toy_model(script, standby),
                                 test::toy_output({.pooled = script.pooled, .normalize = !script.pooled}));
    EXPECT_TRUE(forward.ok()) << forward.status().to_string();
    return *std::move(forward);
  }
};

struct How {
  bool alone = false;
  bool caller_helps = false;
  core::RunOptions limits{};
  std::uint64_t first_position = 0;
  float* out = nullptr;
};

// An owner with one submission.
class Client {
 public:
  Client(Rig& rig, std::vector<Ids> texts, How how = {}) : texts_(std::move(texts)) {
    TokenTable tokens;
    for (const Ids& ids : texts_)
      EXPECT_TRUE(tokens.add(ids, {1 << 20, 0}).ok());
    auto handed = rig.scheduler.submit(owner_, {.tokens = std::move(tokens),
                                                .first_position = how.first_position,
                                                .wanted = {{.out = how.out}},
                                                .alone = how.alone,
                                                .caller_helps = how.caller_helps,
                                                .limits = std::move(how.limits)});
    refusal = handed.status();
    if (handed.ok()) submission = *std::move(handed);
  }

  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Its vectors are its own, and right.
  void expect_right(const float* out = nullptr) {
    ASSERT_TRUE(refusal.ok()) << refusal.to_string();
    const Status status = submission.wait();
    ASSERT_TRUE(status.ok()) << status.to_string();
    expect_vectors(out != nullptr ? std::span(out, texts_.size() * kToyDimension) : submission.vectors());
  }
  void expect_vectors(std::span<const float> vectors) const {
    ASSERT_EQ(vectors.size(), texts_.size() * kToyDimension);
    for (std::size_t i = 0; i < texts_.size(); ++i)
      test::expect_toy_vector(texts_[i], vectors.subspan(i * kToyDimension, kToyDimension));
  }

  Status refusal;

 private:
  std::vector<Ids> texts_;
  Scheduler::Owner owner_;

 public:
  Scheduler::Submission submission;  // last: it uses the owner
};

using Clients = std::vector<std::unique_ptr<Client>>;

core::RunOptions within(Clock::duration time) {
  return {.deadline = Clock::now() + time};
}

core::RunOptions until(const core::Cancellation& cancellation) {
  return {.cancellation = cancellation};
}

// Runs that were given up end by themselves; what they use is the test's.
void wait_for_those_given_up() {
  while (core::given_up_calls("toy:CPU") > 0)
    std::this_thread::yield();
}

// --- What one owner gets ---------------------------------------------------------------------------------------------

TEST(SchedulerTest, VectorsComeInTheOrderOfTheTexts) {
  for (const std::size_t requests : {1U, 2U, 5U}) {
    for (const bool caller_helps : {true, false}) {
      Rig rig({.requests = requests, .batch_tokens = 64});
      std::vector<float> out(301 * kToyDimension, -7.0F);
      Client client(rig, ids_of(test::mixed_texts(301)), {.caller_helps = caller_helps, .out = out.data()});
      client.expect_right(out.data());
      const EmbedStats stats = client.submission.stats();
      EXPECT_EQ(stats.texts, 301U);
      EXPECT_EQ(stats.truncated_texts, 0U);
      EXPECT_EQ(stats.fallback_texts, 0U);
      EXPECT_GE(stats.padded_tokens, stats.tokens);
      EXPECT_EQ(client.submission.answered_by()->active.backend, "toy");
      EXPECT_EQ(client.submission.token_counts()[1], 9U);
    }
  }
}

TEST(SchedulerTest, NoTextsAreOverAtOnceAndATextWithoutATokenIsZero) {
  Rig rig({});
  Client none(rig, {});
  EXPECT_TRUE(none.submission.is_over());
  none.expect_right();
  // A tokenizer without special tokens gives none for an empty text.
  std::string text = test::toy_tokenizer_json();
  const auto special = text.find("\"post_processor\"");
  text.replace(special, text.find("\"decoder\"") - special, "\"post_processor\":null,");
  const auto tokenizer = Tokenizer::from_json(text, "the bare tokenizer");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  TokenTable tokens;
  ASSERT_TRUE(tokens.add(*tokenizer, {8, 0}, "").ok());
  std::vector<float> out(kToyDimension, -7.0F);
  Scheduler::Owner owner;
  auto empty = rig.scheduler.submit(owner, {.tokens = std::move(tokens), .wanted = {{.out = out.data()}}});
  ASSERT_TRUE(empty.ok());
  EXPECT_TRUE(empty->wait().ok());
  EXPECT_THAT(out, ::testing::Each(0.0F));
  EXPECT_EQ(rig.runs->so_far().size(), 0U);
}

TEST(SchedulerTest, AsManyBatchesRunSideBySideAsThereAreRequests) {
  for (const bool caller_helps : {true, false}) {
    // Every run waits for another one: the test ends only if two are in the model at one time.
    test::Latch both(2);
    Rig rig({.requests = 2, .batch_tokens = 4}, [&](std::size_t) {
      both.arrive_and_wait();
      return Status();
    });
    Client client(rig, texts_of(5, 3, 2), {.caller_helps = caller_helps});
    client.expect_right();
    EXPECT_EQ(client.submission.stats().padded_tokens, 6U);
  }
}

// Whoever comes next waits for less, and as many runs as there are requests have a share of the device each.
TEST(SchedulerTest, ADeviceThatLeavesPaddingOutGetsSmallBatchesAndKnowsHowManyThereAre) {
  Rig rig({.requests = 2}, nullptr, {.leaves_padding_out = true});
  Client lone(rig, texts_of(6, 9, 1));
  lone.expect_right();
  Client many(rig, texts_of(5, 20, 400));
  many.expect_right();
  EXPECT_EQ(many.submission.stats().padded_tokens, 8000U);
  for (const Runs::Run& run : rig.runs->so_far())
    EXPECT_LE(run.tokens, 256U);
  EXPECT_GE(rig.runs->so_far().size(), 33U);
  EXPECT_EQ(rig.runs->limits_of(0).side_by_side, 1U);
  EXPECT_EQ(rig.runs->limits_of(1).side_by_side, 2U);
}

TEST(SchedulerTest, NoMoreRunsAreUnderWayThanThereAreRequests) {
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  const auto on_run = [&](std::size_t) {
    const int now = ++inside;
    int seen = most;
    while (seen < now && !most.compare_exchange_weak(seen, now)) {
    }
    std::this_thread::yield();
    --inside;
    return Status();
  };
  Rig rig({.requests = 2, .batch_tokens = 8}, on_run);
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      Client client(rig, texts_of(5 + t, 4, 40), {.alone = t % 2 == 0, .caller_helps = t % 3 != 0});
      client.expect_right();
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(most, 2);
}

TEST(SchedulerTest, WhoeverWaitsForALoneTextComputesIt) {
  Rig rig({});
  Client helps(rig, texts_of(5, 4, 1), {.caller_helps = true});
  helps.expect_right();
  EXPECT_EQ(rig.runs->so_far().at(0).thread, std::this_thread::get_id());
  // Not within limits: the vendor's call does not end with them.
  Client limited(rig, texts_of(5, 4, 1), {.caller_helps = true, .limits = within(std::chrono::hours(1))});
  EXPECT_TRUE(limited.submission.wait(within(std::chrono::hours(1))).ok());
  EXPECT_NE(rig.runs->so_far().at(1).thread, std::this_thread::get_id());
  // Nor where others were told to.
  Client waits(rig, texts_of(5, 4, 1));
  waits.expect_right();
  EXPECT_NE(rig.runs->so_far().at(2).thread, std::this_thread::get_id());
}

TEST(SchedulerTest, WhoeverComputesForItselfGoesOnWithoutTheTeam) {
  Rig rig({.requests = 1, .batch_tokens = 8});
  Client client(rig, texts_of(5, 8, 20), {.caller_helps = true});
  client.expect_right();
  for (const auto& run : rig.runs->so_far())
    EXPECT_EQ(run.thread, std::this_thread::get_id());
}

TEST(SchedulerTest, TheTeamGoesOnWhileTheOneWhoWaitsComputes) {
  // The run of this thread ends after all others: would one of them be kept for it, this hung.
  const auto caller = std::this_thread::get_id();
  test::Latch others(5);
  std::atomic<bool> has_begun = false;
  Rig rig({.requests = 2, .batch_tokens = 8}, [&](std::size_t) {
    if (std::this_thread::get_id() != caller) {
      others.count_down();
    } else if (!has_begun.exchange(true)) {
      others.wait();
    }
    return Status();
  });
  Client client(rig, texts_of(5, 8, 6), {.caller_helps = true});
  client.expect_right();
}

TEST(SchedulerTest, HelpEndsWhenNothingIsLeftToBegin) {
  Hold hold;
  const auto caller = std::this_thread::get_id();
  Rig rig({.requests = 2, .batch_tokens = 8}, [&](std::size_t) {
    if (std::this_thread::get_id() != caller) hold.stop();
    return Status();
  });
  Client client(rig, texts_of(5, 8, 4), {.caller_helps = true});
  EXPECT_TRUE(client.submission.help().ok());  // though one batch is still held
  EXPECT_FALSE(client.submission.is_over());
  hold.let_go.count_down();
  client.expect_right();
}

TEST(SchedulerTest, AVectorThatIsNotFiniteIsRefusedByTheTextsPosition) {
  for (const bool pooled : {false, true}) {
    Rig rig({.batch_tokens = 64}, nullptr, {.pooled = pooled});
    Client good(rig, {text_of(5, 3), text_of(6, 4), text_of(7, 5)});
    good.expect_right();
    Client batch(rig, {text_of(5, 3), text_of(kNoNumber, 4), text_of(7, 5)});
    const Status status = batch.submission.wait();
    EXPECT_THAT(status.to_string(),
                HasSubstr("texts[1]: toy:CPU gave a vector with numbers that are not finite, in f32"));
    // It is not asked again, and nobody is told to try again.
    EXPECT_EQ(status.code(), StatusCode::kInternal);
    EXPECT_FALSE(core::is_retryable(status.code()));
    EXPECT_EQ(rig.runs->so_far().size(), 2U);
    Client alone(rig, texts_of(kNoNumber, 3, 1), {.first_position = 17});
    EXPECT_THAT(alone.submission.wait().to_string(), HasSubstr("texts[17]: toy:CPU"));
  }
}

TEST(SchedulerTest, AVectorThatHasLostItsLengthIsRefused) {
  ToyScript script;
  script.spoil = [](std::int64_t mark, float value) { return mark == kNoNumber ? 0.0F : value; };
  Rig rig({}, nullptr, std::move(script));
  Client good(rig, {text_of(5, 3), text_of(6, 4)});
  good.expect_right();
  Client bad(rig, {text_of(5, 3), text_of(kNoNumber, 4)});
  EXPECT_THAT(bad.submission.wait().to_string(),
              HasSubstr("texts[1]: toy:CPU gave a vector of zeros, where its length is to be 1, in f32"));
}

TEST(SchedulerTest, AFailedRunStopsWhatFollowsAndSaysWhere) {
  std::atomic<int> runs = 0;
  std::atomic<bool> gone = true;
  Rig rig({.batch_tokens = 64}, [&](std::size_t) {
    return ++runs >= 3 && gone ? Status(StatusCode::kDeviceFailed, "the device is gone") : Status();
  });
  Client client(rig, ids_of(test::mixed_texts(300)));
  const Status status = client.submission.wait();
  EXPECT_EQ(status.code(), StatusCode::kDeviceFailed);
  EXPECT_THAT(status.to_string(), HasSubstr("in a batch of"));
  EXPECT_THAT(status.to_string(), HasSubstr("the device is gone"));
  EXPECT_EQ(runs, 4) << "the device was asked once whether it is the request's fault";
  // It is as good as before.
  gone = false;
  Client next(rig, ids_of(test::mixed_texts(30)));
  next.expect_right();
}

TEST(SchedulerTest, SaysWhenAFallbackAnswered) {
  ToyScript broken;
  broken.on_run = nullptr;
  Rig rig(
      {}, [](std::size_t) { return Status(StatusCode::kDeviceFailed, "broken"); }, std::move(broken), ToyScript{});
  Client client(rig, texts_of(5, 4, 3));
  client.expect_right();
  EXPECT_EQ(client.submission.stats().fallback_texts, 3U);
  EXPECT_TRUE(client.submission.answered_by()->fallback);
  EXPECT_THAT(client.submission.answered_by()->reason, HasSubstr("broken"));
}

// --- Who is next -----------------------------------------------------------------------------------------------------

TEST(SchedulerTest, ALoneTextWaitsForOneBatchOfManyTexts) {
  for (const std::size_t held : {0U, 100U}) {
    Hold hold;
    Rig rig({.batch_tokens = 64}, [&](std::size_t number) {
      if (number == held) hold.stop();
      return Status();
    });
    Client many(rig, texts_of(5, 8, 10'000), {.alone = held > 0});
    hold.entered.wait();
    Client lone(rig, texts_of(99, 5, 1));
    hold.let_go.count_down();
    lone.expect_right();
    const auto runs = rig.runs->so_far();
    EXPECT_THAT(runs.at(held).marks, ::testing::Each(5));
    EXPECT_THAT(runs.at(held + 1).marks, ElementsAre(99));
  }
}

TEST(SchedulerTest, ManyCallsOfOneTextDoNotHoldBackManyTexts) {
  // Whenever a lone text is computed, the next one waits already.
  constexpr std::size_t kBatches = 20;
  Hold hold;
  std::deque<Client> lone;
  std::size_t computed = 0;
  Rig* at = nullptr;
  const auto on_run = [&](std::size_t number) {
    if (number == 0) hold.stop();
    computed += static_cast<std::size_t>(std::ranges::count(at->runs->so_far().at(number).marks, 5));
    // Nothing is added any more when all the others are done: then they are looked at.
    if (computed < 8 * kBatches && lone.size() < 3000 && number > 0) lone.emplace_back(*at, texts_of(99, 4, 1));
    return Status();
  };
  Rig rig({.batch_tokens = 64, .threads = 1}, on_run);
  at = &rig;
  Client many(rig, texts_of(5, 8, 8 * kBatches));
  hold.entered.wait();
  Client first(rig, texts_of(99, 4, 1));
  hold.let_go.count_down();
  many.expect_right();
  // Both had about as many tokens.
  EXPECT_LT(lone.size(), 2 * kBatches * 64 / 4);
  EXPECT_GT(lone.size(), kBatches * 64 / 4 / 2);
  for (Client& client : lone)
    client.expect_right();
}

TEST(SchedulerTest, TwoWithManyTextsTakeTurns) {
  Hold hold;
  Rig rig({.batch_tokens = 64}, [&](std::size_t number) {
    if (number == 0) hold.stop();
    return Status();
  });
  Client first(rig, texts_of(5, 8, 8 * 20), {.alone = true});
  hold.entered.wait();
  Client second(rig, texts_of(6, 8, 8 * 20), {.alone = true});
  hold.let_go.count_down();
  first.expect_right();
  second.expect_right();
  std::ptrdiff_t ahead = 0;
  for (const auto& run : rig.runs->so_far()) {
    ahead += run.marks.front() == 5 ? 1 : -1;
    EXPECT_LE(std::abs(ahead), 2);
  }
}

TEST(SchedulerTest, RequestsOfOneSizeAreOverInTheOrderInWhichTheyCame) {
  // However many of them wait, and though each batch has room for texts of several.
  Hold hold;
  Rig rig({.batch_tokens = 256, .threads = 1}, [&](std::size_t number) {
    if (number == 0) hold.stop();
    return Status();
  });
  Client blocker(rig, texts_of(1, 8, 1), {.alone = true});
  hold.entered.wait();
  std::deque<Client> clients;
  for (std::int32_t i = 0; i < 20; ++i) {
    auto texts = texts_of(10 + i, 5, 4);
    for (const std::size_t length : {3U, 9U, 16U})
      for (Ids& ids : texts_of(10 + i, length, 4))
        texts.push_back(std::move(ids));
    clients.emplace_back(rig, texts);
  }
  hold.let_go.count_down();
  for (Client& client : clients)
    client.expect_right();
  std::map<std::int64_t, std::size_t> last_run;
  const auto runs = rig.runs->so_far();
  for (std::size_t number = 0; number < runs.size(); ++number)
    for (const std::int64_t mark : runs[number].marks)
      last_run[mark] = number;
  for (std::int32_t i = 0; i + 1 < 20; ++i)
    EXPECT_LE(last_run[10 + i], last_run[11 + i]) << i;
}

std::size_t shapes_of_many_texts(std::size_t kept_shapes) {
  Rig rig({.batch_tokens = 1024}, nullptr, {.kept_shapes = kept_shapes});
  std::mt19937 random(3);
  for (int i = 0; i < 60; ++i) {
    std::vector<Ids> texts;
    for (int k = 0; k < 12; ++k)
      texts.push_back(text_of(10 + k, 3 + random() % 20 + (random() % 4 == 0 ? random() % 90 : 0)));
    Client client(rig, std::move(texts));
    client.expect_right();
  }
  std::set<std::pair<std::size_t, std::size_t>> shapes;
  for (const Runs::Run& run : rig.runs->so_far())
    shapes.emplace(run.rows, run.width);
  return shapes.size();
}

TEST(SchedulerTest, FewShapesAreInUseWhereTheDeviceMakesEachReady) {
  const std::size_t any = shapes_of_many_texts(0);
  EXPECT_LT(shapes_of_many_texts(32), any * 2 / 3);
}

// A device that keeps few shapes is no reason to pad a text that is alone: it may come again.
TEST(SchedulerTest, ALoneTextIsComputedAtItsOwnLengthWhateverIsReady) {
  Rig rig({}, nullptr, {.kept_shapes = 8});
  for (const std::size_t length : {20U, 19U, 20U}) {
    Client client(rig, texts_of(7, length, 1));
    client.expect_right();
  }
  EXPECT_THAT(rig.runs->widths(), ElementsAre(20, 19, 20));
}

// Ten times what the device takes is offered, and admitted as soon as there is room in a bounded queue.
// How long the one that waits longest of many does, in lengths of the queue.
double longest_wait_under_overload(bool leaves_padding_out) {
  constexpr std::size_t kRequests = 300;
  constexpr std::size_t kTexts = 32;
  constexpr std::uint64_t kWaitingMax = 16'384;
  struct Admitted {
    std::vector<Ids> texts{};
    std::uint64_t tokens = 0;
    std::size_t left = kTexts;
    // Tokens that were computed when it was admitted, and when it was over.
    std::uint64_t before = 0;
    std::uint64_t after = 0;
  };
  std::mt19937 random(11);
  std::vector<Admitted> requests(kRequests);
  for (std::size_t i = 0; i < kRequests; ++i) {
    for (std::size_t k = 0; k < kTexts; ++k) {
      const std::size_t length = 6 + random() % 20 + (random() % 8 == 0 ? random() % 90 : 0);
      requests[i].texts.push_back(text_of(static_cast<std::int32_t>(100 + i), length));
      requests[i].tokens += length;
    }
  }
  std::deque<Client> clients;
  std::uint64_t computed = 0;
  Rig* at = nullptr;
  const auto admit = [&] {
    while (clients.size() < kRequests) {
      Admitted& next = requests[clients.size()];
      const std::uint64_t waiting = at->scheduler.queue_state().waiting_tokens;
      if (waiting + next.tokens > kWaitingMax) return;
      next.before = computed;
      clients.emplace_back(*at, next.texts);
    }
  };
  Hold hold;
  Rig rig({.threads = 1},
          [&](std::size_t number) {
            if (number == 0) hold.stop();
            const auto run = at->runs->so_far().at(number);
            computed += run.tokens;
            for (const std::int64_t mark : run.marks) {
              if (mark >= 100 && --requests[static_cast<std::size_t>(mark - 100)].left == 0) {
                requests[static_cast<std::size_t>(mark - 100)].after = computed;
              }
            }
            admit();
            return Status();
          },
          {.leaves_padding_out = leaves_padding_out});
  at = &rig;
  Client blocker(rig, texts_of(1, 8, 1), {.alone = true});
  hold.entered.wait();
  admit();
  hold.let_go.count_down();
  blocker.expect_right();
  while (rig.scheduler.queue_state().waiting_tokens > 0 || rig.scheduler.queue_state().running_batches > 0)
    std::this_thread::yield();
  double worst = 0;
  // Without those after whom nobody came.
  for (std::size_t i = 0; i < kRequests - 30; ++i) {
    EXPECT_GT(requests[i].after, requests[i].before) << i;
    worst = std::max(worst, static_cast<double>(requests[i].after - requests[i].before) / kWaitingMax);
  }
  return worst;
}

TEST(SchedulerTest, UnderOverloadNobodyWaitsMuchLongerThanTheQueueIsLong) {
  EXPECT_LT(longest_wait_under_overload(/*leaves_padding_out=*/false), 1.5);
}

// The batch in which its last text is may have others behind it.
TEST(SchedulerTest, WithoutPaddingNobodyWaitsLongerThanTheQueueIsLong) {
  EXPECT_LT(longest_wait_under_overload(/*leaves_padding_out=*/true), 1.02);
}

// The lengths are such that no batch is full.
TEST(SchedulerTest, ALoneTextWaitsForOneBatchOfEachWithManyTexts) {
  for (std::size_t held = 1; held < 24; ++held) {
    Hold hold;
    Hold start;
    Rig rig({.threads = 1},
            [&](std::size_t number) {
              if (number == 0) start.stop();
              if (number == held) hold.stop();
              return Status();
            },
            {.leaves_padding_out = true});
    Client first(rig, texts_of(5, 23, 400));
    start.entered.wait();
    Client second(rig, texts_of(6, 23, 400));
    start.let_go.count_down();
    hold.entered.wait();
    Client lone(rig, texts_of(99, 5, 1));
    hold.let_go.count_down();
    lone.expect_right();
    first.expect_right();
    second.expect_right();
    const auto runs = rig.runs->so_far();
    const auto found =
        std::ranges::find_if(runs, [](const Runs::Run& run) { return std::ranges::count(run.marks, 99) > 0; });
    EXPECT_LE(found - runs.begin(), static_cast<std::ptrdiff_t>(held + 3)) << held;
  }
}

TEST(SchedulerTest, BatchesOfOneOwnerBeginInTheOrderInWhichHeHandedThemOver) {
  Hold hold;
  Rig rig({.batch_tokens = 64}, [&](std::size_t number) {
    if (number == 0) hold.stop();
    return Status();
  });
  Scheduler::Owner owner;
  const auto submit = [&](std::int32_t mark, std::size_t length, std::size_t count) {
    TokenTable tokens;
    for (const Ids& ids : texts_of(mark, length, count))
      EXPECT_TRUE(tokens.add(ids, {512, 0}).ok());
    return *rig.scheduler.submit(owner, {.tokens = std::move(tokens), .alone = true});
  };
  const auto first = submit(5, 16, 12);
  hold.entered.wait();
  const auto second = submit(6, 4, 20);
  auto third = submit(7, 8, 1);
  hold.let_go.count_down();
  EXPECT_TRUE(third.wait().ok());
  std::vector<std::int64_t> marks;
  for (const auto& run : rig.runs->so_far())
    marks.push_back(run.marks.front());
  EXPECT_TRUE(std::ranges::is_sorted(marks));
}

// --- Who comes together ----------------------------------------------------------------------------------------------

// The first run, of a text of its own, is held until open(): what is handed over before that waits together.
class HeldRig {
 public:
  explicit HeldRig(Sizes sizes = {}, Rig::OnRun on_run = nullptr, ToyScript script = {})
      : rig(
            sizes,
            [hold = hold, on_run = std::move(on_run)](std::size_t number) {
              if (number == 0) hold->stop();
              return on_run ? on_run(number) : Status();
            },
            std::move(script)),
        first_(rig, texts_of(1000, 3, 1), {.alone = true}) {
    hold->entered.wait();
  }

  void add(std::int32_t mark, std::size_t length, How how = {}) {
    clients.push_back(std::make_unique<Client>(rig, texts_of(mark, length, 1), std::move(how)));
  }
  void open() { hold->let_go.count_down(); }
  void expect_all_right() {
    for (const auto& client : clients)
      client->expect_right();
  }
  // Without the one that was held.
  std::vector<Runs::Run> runs() {
    auto all = rig.runs->so_far();
    all.erase(all.begin());
    return all;
  }
  std::vector<std::size_t> rows() {
    auto all = rig.runs->rows();
    all.erase(all.begin());
    return all;
  }

  const std::shared_ptr<Hold> hold = std::make_shared<Hold>();
  Rig rig;

 private:
  Client first_;

 public:
  Clients clients;
};

TEST(SchedulerTest, TextsOfManyOwnersShareABatchAndEachGetsHisOwnVector) {
  HeldRig held;
  for (int i = 0; i < 8; ++i)
    held.add(10 + i, i % 2 == 0 ? 12 : 13, {.caller_helps = i % 3 == 0});
  held.open();
  held.expect_all_right();
  ASSERT_EQ(held.runs().size(), 1U);
  EXPECT_EQ(held.runs()[0].rows, 8U);
  EXPECT_EQ(held.runs()[0].width, 13U);
  EXPECT_THAT(held.runs()[0].marks, UnorderedElementsAre(10, 11, 12, 13, 14, 15, 16, 17));
  for (const auto& client : held.clients) {
    EXPECT_EQ(client->submission.stats().texts, 1U);
    EXPECT_EQ(client->submission.stats().padded_tokens, 13U);
    EXPECT_EQ(client->submission.answered_by()->active.device, "CPU");
  }
}

TEST(SchedulerTest, SharedBatchesHaveNumbersOfRowsThatAreAllowed) {
  for (const auto& [batch_tokens, rows] : {std::pair<std::size_t, std::vector<std::size_t>>{2048, {16, 4}},
                                           {110, {11, 8, 1}},
                                           {30, {3, 3, 3, 3, 3, 3, 2}}}) {
    HeldRig held({.batch_tokens = batch_tokens});
    for (int i = 0; i < 20; ++i)
      held.add(10 + i, 10);
    held.open();
    held.expect_all_right();
    EXPECT_EQ(held.rows(), rows) << batch_tokens;
  }
}

TEST(SchedulerTest, TextsOfVeryDifferentLengthsAreNotPaddedToEachOther) {
  HeldRig held;
  for (int i = 0; i < 6; ++i)
    held.add(10 + i, i % 2 == 0 ? 4 : 40);
  held.open();
  held.expect_all_right();
  ASSERT_EQ(held.runs().size(), 2U);
  EXPECT_THAT(held.runs()[0].marks, UnorderedElementsAre(10, 12, 14));
  EXPECT_THAT(held.runs()[1].marks, UnorderedElementsAre(11, 13, 15));
}

TEST(SchedulerTest, ATextThatSharesWithNobodyIsNotPadded) {
  HeldRig held;
  held.add(10, 37);
  held.add(11, 201);
  held.open();
  held.expect_all_right();
  EXPECT_EQ(held.rig.runs->widths(), (std::vector<std::size_t>{3, 37, 201}));
  EXPECT_EQ(held.clients[0]->submission.stats().padded_tokens, 37U);
}

TEST(SchedulerTest, SharedBatchesKeepTheirBoundsWhateverTheLengths) {
  constexpr std::size_t kBatchTokens = 400;
  constexpr std::size_t kLongest = 120;
  std::mt19937 random(3);
  HeldRig held({.batch_tokens = kBatchTokens, .longest = kLongest});
  for (int i = 0; i < 300; ++i)
    held.add(100 + i, 3 + random() % (kLongest - 2));
  held.open();
  held.expect_all_right();
  const BatchShape shape{.tokens = kBatchTokens, .longest = kLongest};
  std::size_t shared = 0;
  for (const auto& run : held.runs()) {
    EXPECT_LE(run.width, kLongest);
    EXPECT_TRUE(shape.allows(run.rows, run.width)) << run.rows << " x " << run.width;
    if (run.rows == 1) continue;
    EXPECT_LE(run.rows * run.width, kBatchTokens);
    EXPECT_EQ(run.width, shape.width(run.width)) << "a width of its own";
    // Each adds at most what it costs alone and what a run costs beside its tokens.
    EXPECT_LE(run.rows * run.width, run.tokens + 16 * run.rows);
    shared += run.rows;
  }
  EXPECT_GT(shared, 200U) << "the bounds leave room for sharing";
}

TEST(SchedulerTest, WhatABatchOfSeveralTextsLeavesFreeIsFilledWithThoseOfOthers) {
  HeldRig held({.batch_tokens = 64});
  Client several(held.rig, texts_of(5, 8, 3));
  Client more(held.rig, texts_of(6, 8, 2));
  for (int i = 0; i < 5; ++i)
    held.add(10 + i, 8);
  held.open();
  several.expect_right();
  more.expect_right();
  held.expect_all_right();
  EXPECT_THAT(held.rows(), UnorderedElementsAre(8, 2));
}

TEST(SchedulerTest, WithoutPaddingABatchIsFilledInTheOrderInWhichTheyCame) {
  HeldRig held({}, nullptr, {.leaves_padding_out = true});
  Client several(held.rig, {text_of(5, 3), text_of(5, 50), text_of(5, 30)});
  for (int i = 0; i < 3; ++i)
    held.add(10 + i, 90 + 15 * static_cast<std::size_t>(i));
  held.open();
  several.expect_right();
  held.expect_all_right();
  ASSERT_EQ(held.runs().size(), 2U);
  // All of the first, whatever their lengths, and the next ones that there is room for.
  EXPECT_THAT(held.runs()[0].marks, ElementsAre(5, 5, 5, 10));
  EXPECT_THAT(held.runs()[1].marks, ElementsAre(11, 12));
}

TEST(SchedulerTest, WithoutPaddingTensorsStaySmallThoughLengthsDiffer) {
  HeldRig held({}, nullptr, {.leaves_padding_out = true});
  for (int i = 0; i < 60; ++i)
    held.add(10 + i, i == 0 ? 200 : 3);
  held.open();
  held.expect_all_right();
  for (const Runs::Run& run : held.runs())
    EXPECT_LE(run.rows * run.width, 2048U);
}

TEST(SchedulerTest, WhoWantsToBeAloneSharesWithNobody) {
  HeldRig held;
  for (int i = 0; i < 6; ++i)
    held.add(10 + i, 8, {.alone = i % 2 == 0});
  held.open();
  held.expect_all_right();
  EXPECT_THAT(held.rows(), UnorderedElementsAre(1, 1, 1, 3));
  for (const auto& run : held.runs()) {
    for (const std::int64_t mark : run.marks)
      EXPECT_EQ(run.rows == 1, mark % 2 == 0) << mark;
  }
}

TEST(SchedulerTest, WhoIsAloneGetsTheSameBatchesWhateverOthersDo) {
  std::mt19937 random(9);
  std::vector<Ids> texts;
  for (int i = 0; i < 300; ++i)
    texts.push_back(text_of(2000 + i, 3 + random() % 40));
  const auto batches_among = [&](int others) {
    HeldRig held({.batch_tokens = 128});
    Client alone(held.rig, texts, {.alone = true});
    for (int i = 0; i < others; ++i)
      held.add(10 + i, 3 + static_cast<std::size_t>(i) % 40);
    held.open();
    alone.expect_right();
    held.expect_all_right();
    auto batches = held.runs();
    std::erase_if(batches, [](const Runs::Run& run) { return run.marks.front() < 2000; });
    return batches;
  };
  const auto batches = batches_among(0);
  EXPECT_GT(batches.size(), 10U);
  EXPECT_EQ(batches_among(50), batches);
}

TEST(SchedulerTest, StaticShapesAreSharedByTextsOfTheSameLengthOnly) {
  HeldRig held({}, nullptr, {.static_lengths = {8, 16}, .static_rows = 4});
  for (const std::size_t length : {5U, 12U, 7U, 16U, 8U})
    held.add(static_cast<std::int32_t>(length), length);
  held.open();
  held.expect_all_right();
  ASSERT_EQ(held.runs().size(), 2U);
  EXPECT_EQ(held.runs()[0].width, 8U);
  EXPECT_THAT(held.runs()[0].marks, UnorderedElementsAre(5, 7, 8));
  EXPECT_EQ(held.runs()[1].width, 16U);
  EXPECT_THAT(held.runs()[1].marks, UnorderedElementsAre(12, 16));
  // A shape is computed whole, however few rows of it are used.
  std::uint64_t padded = 0;
  for (const auto& client : held.clients)
    padded += client->submission.stats().padded_tokens;
  EXPECT_EQ(padded, 4U * 8 + 4 * 16);
}

TEST(SchedulerTest, AStaticShapeHasNoMoreRowsThanItHas) {
  HeldRig held({}, nullptr, {.static_lengths = {8}, .static_rows = 4});
  for (int i = 0; i < 6; ++i)
    held.add(10 + i, 8);
  held.open();
  held.expect_all_right();
  EXPECT_EQ(held.rows(), (std::vector<std::size_t>{4, 2}));
}

TEST(SchedulerTest, AVectorOfOneThatIsNotFiniteIsNoErrorOfAnother) {
  HeldRig held;
  held.add(10, 8);
  held.add(kNoNumber, 8, {.first_position = 7});
  held.add(12, 8);
  held.open();
  const Status status = held.clients[1]->submission.wait();
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_THAT(status.to_string(), HasSubstr("texts[7]"));
  held.clients[0]->expect_right();
  held.clients[2]->expect_right();
  EXPECT_EQ(held.rows(), (std::vector<std::size_t>{3}));
}

TEST(SchedulerTest, AFailedRunIsTheErrorOfAllWhoShareItAndOfNobodyElse) {
  HeldRig held(
      {}, [](std::size_t number) { return number == 1 ? Status(StatusCode::kUnsupported, "not this one") : Status(); });
  held.add(10, 8, {.first_position = 3});
  held.add(11, 8, {.first_position = 5});
  held.add(12, 90);
  held.open();
  const Status first = held.clients[0]->submission.wait();
  const Status second = held.clients[1]->submission.wait();
  EXPECT_EQ(first.code(), StatusCode::kUnsupported);
  EXPECT_THAT(first.to_string(), HasSubstr("texts[3], in a batch of 2 texts of up to 8 tokens: not this one"));
  EXPECT_THAT(second.to_string(), HasSubstr("texts[5], in a batch of 2 texts of up to 8 tokens: not this one"));
  held.clients[2]->expect_right();
}

TEST(SchedulerTest, ALongTextIsNotPassedByShortOnesThatComeLater) {
  // With each short one that is computed another one comes.
  Rig* at = nullptr;
  std::deque<Client> more;
  const auto on_run = [&](std::size_t number) {
    if (at != nullptr && number > 0 && more.size() < 300)
      more.emplace_back(*at, texts_of(99, 4, 1), How{.alone = true});
    return Status();
  };
  HeldRig held({.threads = 1}, on_run);
  at = &held.rig;
  for (int i = 0; i < 3; ++i)
    held.add(10 + i, 4 * (1 + static_cast<std::size_t>(i)), {.alone = true});
  held.add(20, 100);
  held.open();
  held.expect_all_right();
  std::vector<std::int64_t> marks;
  for (const auto& run : held.runs())
    marks.push_back(run.marks.front());
  // It came at the same time as the three before it, and its turn begins with theirs.
  EXPECT_LE(std::ranges::find(marks, 20) - marks.begin(), 4);
  while (held.rig.runs->so_far().size() < 305)
    std::this_thread::yield();
  for (Client& client : more)
    client.expect_right();
}

// --- Time and cancellation -------------------------------------------------------------------------------------------

TEST(SchedulerTest, WhoHasNoTimeLeftLeavesThoughTheVendorHoldsTheRun) {
  const auto hold = std::make_shared<Hold>();
  auto rig = std::make_unique<Rig>(Sizes{}, [hold](std::size_t) {
    hold->stop();
    return Status();
  });
  {
    const auto limits = within(std::chrono::milliseconds(30));
    Client client(*rig, texts_of(5, 8, 3), {.limits = limits});
    hold->entered.wait();
    EXPECT_EQ(client.submission.wait(limits).code(), StatusCode::kDeadlineExceeded);
  }
  // The run is held still, and nobody waits for it.
  rig.reset();
  hold->let_go.count_down();
  wait_for_those_given_up();
}

TEST(SchedulerTest, ARunIsGivenUpWhenTheLastWhoWaitsForItLeaves) {
  const auto second = std::make_shared<Hold>();
  HeldRig held({}, [second](std::size_t number) {
    if (number == 1) second->stop();
    return Status();
  });
  for (int i = 0; i < 3; ++i)
    held.add(10 + i, 8, {.limits = i == 1 ? within(std::chrono::hours(1)) : until(core::Cancellation::create())});
  held.open();
  second->entered.wait();
  const auto limits = held.rig.runs->limits_of(1);
  ASSERT_EQ(held.runs().at(0).rows, 3U);
  EXPECT_TRUE(limits.is_bounded());
  held.clients.pop_back();
  held.clients.pop_back();
  EXPECT_FALSE(limits.cancellation.is_requested());
  held.clients.pop_back();
  EXPECT_TRUE(limits.cancellation.is_requested());
  // The device goes on with others meanwhile.
  held.add(20, 8);
  held.expect_all_right();
  second->let_go.count_down();
  wait_for_those_given_up();
}

TEST(SchedulerTest, WhoStaysGetsHisVectorThoughOthersOfTheRunHaveLeft) {
  const auto second = std::make_shared<Hold>();
  HeldRig held({}, [second](std::size_t number) {
    if (number == 1) second->stop();
    return Status();
  });
  for (int i = 0; i < 2; ++i)
    held.add(10 + i, 8, {.limits = within(std::chrono::hours(1))});
  held.open();
  second->entered.wait();
  held.clients.erase(held.clients.begin());
  second->let_go.count_down();
  held.expect_all_right();
}

TEST(SchedulerTest, ARunHasTheTimeOfTheOneWhoHasMost) {
  const auto soon = Clock::now() + std::chrono::hours(1);
  const auto late = soon + std::chrono::hours(1);
  const core::RunOptions cancellable = until(core::Cancellation::create());
  const auto shared_by = [](const std::vector<core::RunOptions>& owners) {
    HeldRig held;
    for (std::size_t i = 0; i < owners.size(); ++i)
      held.add(static_cast<std::int32_t>(10 + i), 8, {.limits = owners[i]});
    held.open();
    held.expect_all_right();
    EXPECT_EQ(held.rows(), (std::vector<std::size_t>{owners.size()}));
    return held.rig.runs->limits_of(1);
  };
  EXPECT_EQ(shared_by({{.deadline = soon}, {.deadline = late}}).deadline, late);
  EXPECT_EQ(shared_by({{.deadline = late}, {.deadline = soon}}).deadline, late);
  for (const auto& owners : {std::vector<core::RunOptions>{cancellable, {.deadline = soon}},
                             std::vector<core::RunOptions>{{.deadline = soon}, cancellable}}) {
    const auto limits = shared_by(owners);
    EXPECT_FALSE(limits.deadline);
    EXPECT_TRUE(limits.is_bounded());
  }
  EXPECT_FALSE(shared_by({{.deadline = soon}, {}}).is_bounded());
  EXPECT_FALSE(shared_by({{}, {.deadline = soon}, cancellable}).is_bounded());
}

TEST(SchedulerTest, WhoSharesARunWithSomebodyWithoutLimitsStillLeavesInTime) {
  const auto second = std::make_shared<Hold>();
  HeldRig held({}, [second](std::size_t number) {
    if (number == 1) second->stop();
    return Status();
  });
  const auto cancellation = core::Cancellation::create();
  held.add(10, 8);
  held.add(11, 8, {.limits = until(cancellation)});
  held.open();
  second->entered.wait();
  cancellation.request();
  EXPECT_EQ(held.clients[1]->submission.wait(until(cancellation)).code(), StatusCode::kCancelled);
  held.clients.pop_back();
  second->let_go.count_down();
  held.expect_all_right();
}

TEST(SchedulerTest, CancellingFromAnotherThreadEndsTheWait) {
  const auto hold = std::make_shared<Hold>();
  Rig rig({}, [hold](std::size_t number) {
    if (number == 0) hold->stop();
    return Status();
  });
  const auto cancellation = core::Cancellation::create();
  const auto limits = until(cancellation);
  auto client = std::make_unique<Client>(rig, texts_of(5, 8, 3), How{.caller_helps = true, .limits = limits});
  std::thread canceller([&] {
    hold->entered.wait();
    cancellation.request();
  });
  EXPECT_EQ(client->submission.wait(limits).code(), StatusCode::kCancelled);
  client.reset();
  EXPECT_TRUE(rig.runs->limits_of(0).cancellation.is_requested());
  canceller.join();
  // The request is free again, though the vendor is still at it.
  Client next(rig, texts_of(5, 8, 1));
  next.expect_right();
  hold->let_go.count_down();
  wait_for_those_given_up();
}

TEST(SchedulerTest, AWaitThatWasCutShortLosesNothing) {
  const auto hold = std::make_shared<Hold>();
  Rig rig({}, [hold](std::size_t) {
    hold->stop();
    return Status();
  });
  const auto cancellation = core::Cancellation::create();
  cancellation.request();
  Client client(rig, texts_of(5, 8, 1), {.limits = within(std::chrono::hours(1))});
  hold->entered.wait();
  EXPECT_EQ(client.submission.wait(until(cancellation)).code(), StatusCode::kCancelled);
  EXPECT_EQ(client.submission.wait(within(std::chrono::milliseconds(-1))).code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(client.submission.help(within(std::chrono::milliseconds(-1))).code(), StatusCode::kOk)
      << "nothing is left to begin";
  hold->let_go.count_down();
  client.expect_right();
}

// --- Bounds and ends -------------------------------------------------------------------------------------------------

TEST(SchedulerTest, MoreThanSoManyAreBusyUntilOneHasGone) {
  HeldRig held({.batch_tokens = 64});
  while (held.clients.size() + 1 < Scheduler::kSubmissionsMax)
    held.add(10, 8);
  EXPECT_TRUE(held.clients.back()->refusal.ok());
  held.add(10, 8);
  EXPECT_EQ(held.clients.back()->refusal.code(), StatusCode::kBusy);
  held.clients.pop_back();
  held.clients.pop_back();
  held.add(10, 8);
  EXPECT_TRUE(held.clients.back()->refusal.ok());
  held.open();
  held.expect_all_right();
}

TEST(SchedulerTest, WithoutThreadsWhoeverWaitsComputes) {
  for (const bool caller_helps : {false, true}) {
    Rig rig({.requests = 2, .batch_tokens = 64, .threads = 0});
    Client first(rig, ids_of(test::mixed_texts(100)), {.alone = true, .caller_helps = caller_helps});
    Client second(rig, ids_of(test::mixed_texts(50)), {.alone = true, .caller_helps = caller_helps});
    Client limited(rig, ids_of(test::mixed_texts(10)), {.limits = within(std::chrono::hours(1))});
    EXPECT_EQ(rig.runs->so_far().size(), 0U);
    second.expect_right();
    EXPECT_FALSE(first.submission.is_over());
    for (const auto& run : rig.runs->so_far())
      EXPECT_EQ(run.thread, std::this_thread::get_id());
    first.expect_right();
    EXPECT_TRUE(limited.submission.wait(within(std::chrono::hours(1))).ok());
  }
}

TEST(SchedulerTest, WithoutThreadsManyWhoWaitComputeForEachOther) {
  Rig rig({.requests = 2, .batch_tokens = 64, .threads = 0});
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 50; ++round) {
        Client client(rig, texts_of(5 + t, 8, 1 + static_cast<std::size_t>(round) % 20), {.caller_helps = t % 2 == 0});
        client.expect_right();
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

TEST(SchedulerTest, WhatIsDroppedWaitsForWhatHasBegun) {
  Hold hold;
  std::atomic<bool> ended = false;
  Rig rig({.batch_tokens = 64}, [&](std::size_t number) {
    if (number > 0) return Status();
    hold.stop();
    ended = true;
    return Status();
  });
  std::vector<float> out(500 * kToyDimension);
  auto client = std::make_unique<Client>(rig, ids_of(test::mixed_texts(500)), How{.out = out.data()});
  hold.entered.wait();
  std::thread opener([&] { hold.let_go.count_down(); });
  client.reset();
  EXPECT_TRUE(ended);
  opener.join();
}

TEST(SchedulerTest, WhatIsDroppedBeginsNothingMore) {
  HeldRig held({.batch_tokens = 64});
  for (const bool is_bounded : {false, true}) {
    Client dropped(held.rig, texts_of(5, 8, 100),
                   {.limits = is_bounded ? within(std::chrono::hours(1)) : core::RunOptions()});
    EXPECT_FALSE(dropped.submission.is_over());
  }
  held.add(99, 8);
  held.open();
  held.expect_all_right();
  ASSERT_EQ(held.runs().size(), 1U);
  EXPECT_THAT(held.runs()[0].marks, ElementsAre(99));
}

TEST(SchedulerTest, AnyMayBeDroppedAtAnyMoment) {
  for (std::size_t moment = 0; moment < 24; ++moment) {
    const auto reached = std::make_shared<test::Latch>(1);  // shared with runs that are given up
    Rig rig({.requests = 2, .batch_tokens = 64}, [reached, moment](std::size_t number) {
      if (number == moment) reached->count_down();
      return Status();
    });
    Clients clients;
    clients.push_back(std::make_unique<Client>(rig, ids_of(test::mixed_texts(100))));
    clients.push_back(std::make_unique<Client>(rig, ids_of(test::mixed_texts(60)), How{.caller_helps = true}));
    clients.push_back(
        std::make_unique<Client>(rig, ids_of(test::mixed_texts(60)), How{.limits = within(std::chrono::hours(1))}));
    clients.push_back(std::make_unique<Client>(rig, ids_of(test::mixed_texts(60)), How{.alone = true}));
    reached->wait();
    std::mt19937 random(static_cast<unsigned>(moment));
    std::shuffle(clients.begin(), clients.end(), random);
    clients.pop_back();
    clients.pop_back();
    Client next(rig, texts_of(99, 8, 9));
    next.expect_right();
    for (const auto& client : clients)
      client->expect_right();
  }
}

TEST(SchedulerTest, TheOnesThatAreMovedGoOn) {
  HeldRig held;
  held.add(10, 8);
  held.add(11, 90);
  Scheduler::Submission kept = std::move(held.clients[0]->submission);
  held.open();
  EXPECT_TRUE(kept.wait().ok());
  held.clients[0]->expect_vectors(kept.vectors());
  kept = std::move(held.clients[1]->submission);  // what it was is dropped
  EXPECT_TRUE(kept.wait().ok());
  held.clients[1]->expect_vectors(kept.vectors());
}

// --- All at once -----------------------------------------------------------------------------------------------------

TEST(SchedulerTest, ManyThreadsGetTheirOwnVectors) {
  Rig rig({.requests = 3, .batch_tokens = 64});
  const auto all = ids_of(test::mixed_texts(200));
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<Ids> mine(all.begin() + static_cast<std::ptrdiff_t>(t * 10), all.end());
      for (int round = 0; round < 5; ++round) {
        Client client(rig, mine, {.caller_helps = true});
        client.expect_right();
        good += client.submission.stats().texts == mine.size() ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(good, 40);
}

// What one thread does, over and over: hands over some texts in some way, and perhaps waits for them.
class Visitor {
 public:
  Visitor(Rig& rig, unsigned seed) : rig_(rig), random_(seed) {}

  void visit() {
    std::vector<Ids> texts(one_of(4) == 0 ? one_of(60) : 1 + one_of(3));
    std::ptrdiff_t bad = -1;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const bool is_bad = one_of(400) == 0;
      if (is_bad && bad < 0) bad = static_cast<std::ptrdiff_t>(i);
      texts[i] = text_of(is_bad ? kNoNumber : static_cast<std::int32_t>(100 + one_of(5000)), 3 + one_of(40));
    }
    const auto cancellation = core::Cancellation::create();
    How how{.alone = one_of(4) == 0, .caller_helps = one_of(2) == 0};
    switch (one_of(4)) {
      case 0:
        how.limits = within(std::chrono::microseconds(one_of(400)));
        break;
      case 1:
        how.limits = until(cancellation);
        break;
      default:
        break;
    }
    std::vector<float> memory(texts.size() * kToyDimension);
    const bool direct = !how.limits.is_bounded() && one_of(2) == 0;
    if (direct) how.out = memory.data();
    const core::RunOptions limits = how.limits;
    Client client(rig_, std::move(texts), how);
    if (!client.refusal.ok()) {
      EXPECT_EQ(client.refusal.code(), StatusCode::kBusy);
      return;
    }
    if (one_of(8) == 0) return;  // drops it
    if (one_of(8) == 0) (void)client.submission.help(limits);
    // Somebody else cancels, at some time.
    std::thread canceller;
    if (limits.cancellation.can_be_requested() && one_of(2) == 0) {
      canceller = std::thread([cancellation] { cancellation.request(); });
    }
    const Status status = client.submission.wait(limits);
    if (canceller.joinable()) canceller.join();
    if (status.ok()) {
      EXPECT_EQ(bad, -1);
      ++answered;
      client.expect_vectors(direct ? std::span<const float>(memory) : client.submission.vectors());
    } else if (status.code() == StatusCode::kInternal) {
      EXPECT_GE(bad, 0) << status.to_string();
    } else if (status.code() == StatusCode::kDeadlineExceeded) {
      EXPECT_TRUE(limits.deadline) << status.to_string();
    } else {
      EXPECT_EQ(status.code(), StatusCode::kCancelled) << status.to_string();
      EXPECT_TRUE(limits.cancellation.is_requested());
    }
  }

  int answered = 0;

 private:
  std::size_t one_of(std::size_t count) { return random_() % count; }

  Rig& rig_;
  std::mt19937 random_;
};

TEST(SchedulerTest, EveryAnswerAmongThousandsIsOnesOwn) {
  for (const std::size_t threads_of_team : {3U, 0U}) {
    Rig rig({.requests = 3, .batch_tokens = 256, .threads = threads_of_team});
    std::atomic<int> answered = 0;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        Visitor visitor(rig, 100 + t);
        for (int round = 0; round < 300; ++round)
          visitor.visit();
        answered += visitor.answered;
      });
    }
    for (std::thread& thread : threads)
      thread.join();
    EXPECT_GT(answered, 1000);
    wait_for_those_given_up();
    Client last(rig, texts_of(5, 8, 3));
    last.expect_right();
  }
}

// --- Whom no thread waits for ----------------------------------------------------------------------------------------

// What became of texts that were submitted with a Done.
struct Told {
  Scheduler::Done done() {
    return [this](Scheduler::Submission submission) {
      {
        const std::lock_guard lock(mutex);
        ++times;
        status = submission.wait();
        const auto rows = submission.vectors();
        vectors.assign(rows.begin(), rows.end());
        when = submission.times();
      }
      came.count_down();
    };
  }
  test::Latch came{1};
  std::mutex mutex;
  int times = 0;
  Status status;
  std::vector<float> vectors;
  Scheduler::Times when;
};

Scheduler::Texts texts_to_submit(const std::vector<Ids>& texts, std::uint64_t queue_tokens_max = 0) {
  Scheduler::Texts submitted;
  for (const Ids& ids : texts)
    EXPECT_TRUE(submitted.tokens.add(ids, {1 << 20, 0}).ok());
  submitted.queue_tokens_max = queue_tokens_max;
  return submitted;
}

TEST(SchedulerDoneTest, IsToldOnceWithTheVectors) {
  for (const std::size_t requests : {1U, 3U}) {
    Told told;
    Rig rig({.requests = requests, .batch_tokens = 16});
    const auto texts = texts_of(7, 5, 40);
    ASSERT_TRUE(rig.scheduler.submit_and_tell(texts_to_submit(texts), told.done()).ok());
    told.came.wait();
    const std::lock_guard lock(told.mutex);
    EXPECT_EQ(told.times, 1);
    EXPECT_TRUE(told.status.ok());
    ASSERT_EQ(told.vectors.size(), texts.size() * kToyDimension);
    for (std::size_t i = 0; i < texts.size(); ++i)
      test::expect_toy_vector(texts[i], std::span(told.vectors).subspan(i * kToyDimension, kToyDimension));
    EXPECT_LE(told.when.submitted, told.when.begun);
    EXPECT_LE(told.when.begun, told.when.over);
  }
}

TEST(SchedulerDoneTest, IsToldOfNoTextsAtOnce) {
  Told told;
  Rig rig({});
  ASSERT_TRUE(rig.scheduler.submit_and_tell({}, told.done()).ok());
  EXPECT_EQ(told.times, 1);
  EXPECT_TRUE(told.status.ok());
}

TEST(SchedulerDoneTest, IsToldOfAnError) {
  Told told;
  Rig rig({}, [](std::size_t) { return Status(StatusCode::kDeviceFailed, "the device is gone"); });
  ASSERT_TRUE(rig.scheduler.submit_and_tell(texts_to_submit(texts_of(7, 5, 3)), told.done()).ok());
  told.came.wait();
  const std::lock_guard lock(told.mutex);
  EXPECT_EQ(told.status.code(), StatusCode::kDeviceFailed);
}

TEST(SchedulerDoneTest, WhatIsDroppedIsNotBegunAndIsOverWithWhatRan) {
  Hold hold;
  Told told;
  Rig rig({.requests = 1, .batch_tokens = 8}, [&](std::size_t number) {
    if (number == 0) hold.stop();
    return Status();
  });
  const auto ticket = rig.scheduler.submit_and_tell(texts_to_submit(texts_of(7, 8, 20)), told.done());
  ASSERT_TRUE(ticket.ok());
  hold.entered.wait();
  EXPECT_EQ(rig.scheduler.queue_state().waiting_texts, 19U);
  EXPECT_EQ(rig.scheduler.queue_state().waiting_tokens, 19U * 8);
  EXPECT_EQ(rig.scheduler.queue_state().running_batches, 1U);
  EXPECT_FALSE(rig.runs->limits_of(0).is_bounded());
  EXPECT_FALSE(rig.runs->limits_of(0).nobody_waits.is_requested());
  ticket->drop();
  EXPECT_TRUE(rig.runs->limits_of(0).nobody_waits.is_requested());
  EXPECT_EQ(rig.scheduler.queue_state().waiting_texts, 0U);
  EXPECT_EQ(rig.scheduler.queue_state().waiting_tokens, 0U);
  hold.let_go.count_down();
  told.came.wait();
  ticket->drop();  // there is nothing left to drop
  EXPECT_EQ(told.times, 1);
  EXPECT_EQ(told.status.code(), StatusCode::kCancelled);
  EXPECT_EQ(rig.runs->so_far().size(), 1U);
}

TEST(SchedulerDoneTest, WhatWaitsBehindOthersIsOverAsSoonAsItIsDropped) {
  Hold hold;
  Told first;
  Told second;
  Rig rig({.requests = 1}, [&](std::size_t number) {
    if (number == 0) hold.stop();
    return Status();
  });
  ASSERT_TRUE(rig.scheduler.submit_and_tell(texts_to_submit(texts_of(7, 8, 1)), first.done()).ok());
  hold.entered.wait();
  const auto ticket = rig.scheduler.submit_and_tell(texts_to_submit(texts_of(8, 8, 1)), second.done());
  ASSERT_TRUE(ticket.ok());
  ticket->drop();
  EXPECT_EQ(second.times, 1);
  EXPECT_EQ(second.status.code(), StatusCode::kCancelled);
  hold.let_go.count_down();
  first.came.wait();
  EXPECT_TRUE(first.status.ok());
}

TEST(SchedulerDoneTest, ARunGoesOnAsLongAsSomebodyWaitsForIt) {
  Hold first_run;
  Hold shared_run;
  Told first;
  Told second;
  Told third;
  Rig rig({.requests = 1, .batch_tokens = 16}, [&](std::size_t number) {
    (number == 0 ? first_run : shared_run).stop();
    return Status();
  });
  ASSERT_TRUE(rig.scheduler.submit_and_tell(texts_to_submit(texts_of(7, 8, 1)), first.done()).ok());
  first_run.entered.wait();
  const auto gone = rig.scheduler.submit_and_tell(texts_to_submit(texts_of(8, 8, 1)), second.done());
  const auto also_gone = rig.scheduler.submit_and_tell(texts_to_submit(texts_of(9, 8, 1)), third.done());
  ASSERT_TRUE(gone.ok() && also_gone.ok());
  first_run.let_go.count_down();
  shared_run.entered.wait();
  ASSERT_EQ(rig.runs->so_far().size(), 2U);
  const auto is_given_up = [&] { return rig.runs->limits_of(1).nobody_waits.is_requested(); };
  gone->drop();
  EXPECT_FALSE(is_given_up());
  also_gone->drop();
  EXPECT_TRUE(is_given_up());
  EXPECT_FALSE(rig.runs->limits_of(0).nobody_waits.is_requested());
  shared_run.let_go.count_down();
  third.came.wait();
  EXPECT_EQ(third.status.code(), StatusCode::kCancelled);
  first.came.wait();
  EXPECT_TRUE(first.status.ok());
  second.came.wait();
}

TEST(SchedulerDoneTest, TooManyTokensAreRefusedUnlessNothingWaits) {
  Hold hold;
  Told running;
  Told large;
  Told refused;
  Rig rig({.requests = 1}, [&](std::size_t number) {
    if (number == 0) hold.stop();
    return Status();
  });
  ASSERT_TRUE(rig.scheduler.submit_and_tell(texts_to_submit(texts_of(7, 8, 1), 10), running.done()).ok());
  hold.entered.wait();
  // Nothing waits: also more than the limit is taken.
  ASSERT_TRUE(rig.scheduler.submit_and_tell(texts_to_submit(texts_of(7, 8, 3), 10), large.done()).ok());
  const auto status = rig.scheduler.submit_and_tell(texts_to_submit(texts_of(7, 8, 1), 10), refused.done()).status();
  EXPECT_EQ(status.code(), StatusCode::kBusy);
  EXPECT_THAT(status.to_string(), HasSubstr("24 tokens waiting already and 8 being computed, and these are 8 more"));
  hold.let_go.count_down();
  large.came.wait();
  running.came.wait();
  EXPECT_EQ(refused.times, 0);
}

TEST(SchedulerDoneTest, WhatRunsCountsAgainstWhatMayWait) {
  Hold hold;
  std::array<Told, 3> told;
  Rig rig({.requests = 1}, [&](std::size_t number) {
    if (number == 0) hold.stop();
    return Status();
  });
  const auto submit = [&](std::size_t who) {
    return rig.scheduler.submit_and_tell(texts_to_submit(texts_of(7, 8, 1), 24), told[who].done());
  };
  ASSERT_TRUE(rig.scheduler.submit_and_tell(texts_to_submit(texts_of(7, 8, 2), 24), told[0].done()).ok());
  hold.entered.wait();
  EXPECT_EQ(rig.scheduler.queue_state().running_tokens, 16U);
  ASSERT_TRUE(submit(1).ok());
  // 8 wait and 16 run: whoever comes now would wait for 24.
  EXPECT_EQ(submit(2).status().code(), StatusCode::kBusy);
  hold.let_go.count_down();
  told[0].came.wait();
  told[1].came.wait();
  while (rig.scheduler.queue_state().running_batches > 0)
    std::this_thread::yield();
  EXPECT_EQ(rig.scheduler.queue_state().running_tokens, 0U);
  EXPECT_TRUE(submit(2).ok());
  told[2].came.wait();
}

TEST(SchedulerDoneTest, ManyThreadsThatSubmitAndDropAreEachToldOnce) {
  Rig rig({.requests = 2, .batch_tokens = 32});
  constexpr int kEach = 60;
  std::atomic<int> told = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const auto some = static_cast<std::size_t>(i);
        const auto ticket = rig.scheduler.submit_and_tell(texts_to_submit(texts_of(5 + t, 3 + some % 9, 1 + some % 5)),
                                                          [&](const Scheduler::Submission&) { ++told; });
        ASSERT_TRUE(ticket.ok());
        if (i % 3 == t % 3) ticket->drop();
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  while (told < 4 * kEach)
    std::this_thread::yield();
  EXPECT_EQ(told, 4 * kEach);
  EXPECT_EQ(rig.scheduler.queue_state().waiting_tokens, 0U);
}

TEST(SchedulerTest, TextsOfSeveralOwnersAreComputedWithThoseOfTheirLength) {
  Hold hold;
  Rig rig({.requests = 1}, [&](std::size_t number) {
    if (number == 0) hold.stop();
    return Status();
  });
  Client first(rig, texts_of(5, 4, 1));
  hold.entered.wait();
  // Each has long and short texts: they meet by length, not by owner.
  const auto both = [](std::int32_t mark) {
    std::vector<Ids> texts{text_of(mark, 208), text_of(mark, 10), text_of(mark, 10)};
    return texts;
  };
  Client a(rig, both(6));
  Client b(rig, both(7));
  hold.let_go.count_down();
  a.expect_right();
  b.expect_right();
  EXPECT_THAT(rig.runs->rows(), ElementsAre(1, 2, 4));
  EXPECT_THAT(rig.runs->widths(), ElementsAre(4, 208, 10));
}

}  // namespace
}  // namespace latebind::embedding
