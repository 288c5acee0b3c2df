// A scheduler over a toy model that records its runs and can be held, and owners that submit texts to it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/vendor/vendor_call.h"
#include "embedding/schedule/scheduler.h"
#include "tests/embedding/toy_encoder.h"
#include "tests/embedding/toy_texts.h"
#include "tests/support/latch.h"

namespace latebind::embedding::schedule_test {

using core::Status;
using test::kToyDimension;
using test::ToyScript;
using Clock = std::chrono::steady_clock;
using Ids = std::vector<std::int32_t>;

inline constexpr std::int32_t kNoNumber = 9999;  // a text of this mark gets a vector that is not finite

// A text of `length` tokens, at least 3, that is known again by its mark.
inline Ids text_of(std::int32_t mark, std::size_t length) {
  Ids ids(length, 4);
  ids.front() = 2;
  ids[1] = mark;
  ids.back() = 3;
  return ids;
}

inline std::vector<Ids> texts_of(std::int32_t mark, std::size_t length, std::size_t count) {
  return std::vector<Ids>(count, text_of(mark, length));
}

inline std::vector<Ids> ids_of(const std::vector<std::string>& texts) {
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

inline core::RunOptions within(Clock::duration time) {
  return {.deadline = Clock::now() + time};
}

inline core::RunOptions until(const core::Cancellation& cancellation) {
  return {.cancellation = cancellation};
}

// Runs that were given up end by themselves; what they use is the test's.
inline void wait_for_those_given_up() {
  while (core::given_up_calls("toy:CPU") > 0)
    std::this_thread::yield();
}

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

}  // namespace latebind::embedding::schedule_test
