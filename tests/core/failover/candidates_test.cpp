// The state machine of failover, alone and against a simple model of it.
#include "core/failover/candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace latebind::core {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Clock = Candidates::Clock;
using Index = Candidates::Index;
using Kind = Candidates::Task::Kind;
using PickFor = Candidates::PickFor;
using Failure = Candidates::Failure;
using Success = Candidates::Success;

const Clock::time_point kNoon = Clock::time_point{} + std::chrono::hours(1);
const Status kFault{StatusCode::kDeviceFailed, "it does not work"};

BreakerPolicy without_jitter() {
  BreakerPolicy policy;
  policy.backoff_first = milliseconds(100);
  policy.backoff_most = milliseconds(400);
  policy.jitter = 0;
  return policy;
}

class CandidatesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"npu", "gpu", "cpu"})
      candidates.add(name);
  }

  // Picks one after another until none is left.
  std::vector<Index> order(PickFor purpose = PickFor::kReport) {
    std::vector<Index> tried;
    while (const auto pick = candidates.pick(tried, purpose))
      tried.push_back(pick->index);
    return tried;
  }
  Failure fail(Index index, Clock::time_point now = kNoon) {
    return candidates.fail(index, candidates.openings(index), kFault, now);
  }
  Success succeed(Index index) { return candidates.succeed(index, candidates.openings(index)); }
  Candidates::Task next(Clock::time_point now) {
    return candidates.next_task(now, [this](Index index) { return loaded.contains(index); });
  }

  Candidates candidates{without_jitter()};
  std::set<Index> loaded;
};

TEST_F(CandidatesTest, RequestsGoToTheFirstAndRestingOnesComeLast) {
  EXPECT_THAT(order(), ElementsAre(0, 1, 2));
  EXPECT_EQ(fail(0), Failure::kRests);
  EXPECT_THAT(order(), ElementsAre(1, 2, 0));
  EXPECT_EQ(fail(2), Failure::kRests);
  EXPECT_THAT(order(), ElementsAre(1, 0, 2));
  EXPECT_TRUE(candidates.any_rests());
  EXPECT_EQ(succeed(0), Success::kWorksAgain);
  EXPECT_EQ(succeed(1), Success::kInUse);
  EXPECT_THAT(order(), ElementsAre(0, 1, 2));
}

TEST_F(CandidatesTest, ARefusedOneIsNeverTriedNorProbedAndSaysWhy) {
  candidates.refuse(0, Status(StatusCode::kUnsupported, "not this model"));
  candidates.add_refused(PlacementStep::refused("tpu", Status(StatusCode::kLibraryNotFound, "not here")));
  EXPECT_THAT(order(), ElementsAre(1, 2));
  EXPECT_EQ(fail(1), Failure::kRests);
  candidates.retire(1);
  EXPECT_EQ(next(kNoon + std::chrono::hours(1)).kind, Kind::kWait);
  const auto steps = candidates.refusals();
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].device, "npu");
  EXPECT_EQ(steps[0].reason, "not this model");
  EXPECT_EQ(steps[1].device, "gpu");
  EXPECT_EQ(steps[2].device, "tpu");
  EXPECT_EQ(candidates.refusals_before(1).size(), 1U);
}

TEST_F(CandidatesTest, ALateReportIsStale) {
  const auto before = candidates.openings(0);
  EXPECT_EQ(fail(0), Failure::kRests);
  EXPECT_EQ(candidates.succeed(0, before), Success::kStale);
  EXPECT_EQ(candidates.fail(0, before, kFault, kNoon), Failure::kStale);
  EXPECT_EQ(candidates.answer(0, before), Success::kStale);
  EXPECT_EQ(fail(0), Failure::kNoted) << "it rests already";
  EXPECT_EQ(succeed(0), Success::kWorksAgain);
  EXPECT_EQ(candidates.fail(0, before, kFault, kNoon), Failure::kStale);
  EXPECT_THAT(candidates.refusals(), IsEmpty());
}

TEST_F(CandidatesTest, OneRequestAtATimeIsLetThroughToARestingOne) {
  candidates.want_request(0, candidates.openings(0));
  EXPECT_FALSE(candidates.pick({}, PickFor::kRequest)->let_through) << "it is in use";
  EXPECT_EQ(fail(0), Failure::kRests);
  candidates.want_request(0, candidates.openings(0) - 1);
  EXPECT_EQ(candidates.pick({}, PickFor::kRequest)->index, 1U) << "it was judged since";
  candidates.want_request(0, candidates.openings(0));
  EXPECT_TRUE(candidates.pick({}, PickFor::kReport)->let_through);
  const auto pick = candidates.pick({}, PickFor::kRequest);
  EXPECT_EQ(pick->index, 0U);
  EXPECT_TRUE(pick->let_through);
  EXPECT_EQ(candidates.pick({}, PickFor::kRequest)->index, 1U);
  // An answer ends the rest.
  EXPECT_EQ(candidates.answer(0, pick->openings), Success::kWorksAgain);
  EXPECT_EQ(candidates.pick({}, PickFor::kRequest)->index, 0U);
}

TEST_F(CandidatesTest, ARestingOneIsProbedOnceTheBackoffHasPassed) {
  EXPECT_EQ(next(kNoon).until, std::nullopt);
  EXPECT_EQ(fail(1), Failure::kRests);
  EXPECT_EQ(fail(0, kNoon + milliseconds(50)), Failure::kRests);
  EXPECT_EQ(next(kNoon).until, kNoon + milliseconds(100));
  const auto probe = next(kNoon + milliseconds(100));
  EXPECT_EQ(probe.kind, Kind::kProbe);
  EXPECT_EQ(probe.index, 1U);
  EXPECT_EQ(probe.openings, candidates.openings(1));
  EXPECT_EQ(next(kNoon + milliseconds(100)).until, kNoon + milliseconds(150)) << "it is being probed";
  EXPECT_EQ(candidates.fail(1, probe.openings, kFault, kNoon + milliseconds(110)), Failure::kRests);
  EXPECT_EQ(next(kNoon + milliseconds(150)).index, 0U);
  EXPECT_EQ(next(kNoon + milliseconds(150)).until, kNoon + milliseconds(310)) << "twice the back-off";
  candidates.end_probe(0, kNoon + milliseconds(160));
  EXPECT_EQ(next(kNoon + milliseconds(360)).kind, Kind::kProbe);
}

TEST_F(CandidatesTest, AStandbyIsTheNextAfterTheFirstThatIsLoaded) {
  EXPECT_EQ(next(kNoon).kind, Kind::kWait);
  candidates.want_standby();
  EXPECT_EQ(next(kNoon).kind, Kind::kWait) << "nothing is loaded";
  loaded = {0};
  candidates.refuse(1, kFault);
  candidates.want_standby();
  const auto task = next(kNoon);
  EXPECT_EQ(task.kind, Kind::kLoad);
  EXPECT_EQ(task.index, 2U);
  EXPECT_EQ(next(kNoon).kind, Kind::kWait);
}

TEST_F(CandidatesTest, SeveralMissedDeadlinesInARowMakeASuspect) {
  EXPECT_FALSE(candidates.miss_deadline(0, kNoon));
  EXPECT_FALSE(candidates.miss_deadline(0, kNoon));
  candidates.answer(0, 0);
  EXPECT_TRUE(candidates.has_answered(0));
  EXPECT_FALSE(candidates.miss_deadline(0, kNoon));
  EXPECT_FALSE(candidates.miss_deadline(0, kNoon));
  EXPECT_TRUE(candidates.miss_deadline(0, kNoon));
  EXPECT_FALSE(candidates.has_answered(0));
  EXPECT_FALSE(candidates.suspect(0, kNoon)) << "it is one already";
  EXPECT_THAT(order(), ElementsAre(0, 1, 2)) << "a suspect is in use";
  const auto check = next(kNoon);
  EXPECT_EQ(check.kind, Kind::kCheck);
  EXPECT_EQ(check.index, 0U);
  EXPECT_FALSE(candidates.suspect(0, kNoon + milliseconds(999))) << "it was checked a moment ago";
  EXPECT_TRUE(candidates.suspect(0, kNoon + milliseconds(1000)));
  EXPECT_EQ(fail(1), Failure::kRests);
  EXPECT_FALSE(candidates.suspect(1, kNoon)) << "it rests";
}

TEST_F(CandidatesTest, FailuresBelowTheNumberOfThePolicyAreNotedOnly) {
  BreakerPolicy policy = without_jitter();
  policy.failures_to_open = 2;
  Candidates patient(policy);
  patient.add("npu");
  EXPECT_EQ(patient.fail(0, 0, kFault, kNoon), Failure::kNoted);
  EXPECT_FALSE(patient.any_rests());
  EXPECT_EQ(patient.refusals().size(), 1U) << "the last failure is reported until it works";
  EXPECT_EQ(patient.answer(0, 0), Success::kInUse);
  EXPECT_THAT(patient.refusals(), IsEmpty());
}

// What the header says, as plainly as possible: one state, and one list of rests to come.
struct SimpleCandidate {
  enum class State { kInUse, kResting, kProbed, kRefused };

  void rest(Clock::time_point now) {
    state = State::kResting;
    until = now + backoff;
    backoff = std::min(2 * backoff, milliseconds(400));
    ++rests;
  }
  void work() {
    state = State::kInUse;
    backoff = milliseconds(100);
    is_listed = false;
    wants_request = false;
  }

  State state = State::kInUse;
  milliseconds backoff{100};
  Clock::time_point until{};
  std::uint64_t rests = 0;
  bool is_listed = false;
  bool wants_request = false;
};

class RandomSequence {
 public:
  explicit RandomSequence(std::uint32_t seed) : random_(seed) {
    for (Index i = 0; i < simple_.size(); ++i)
      candidates_.add("device " + std::to_string(i));
  }

  void step() {
    const Index index = below(simple_.size());
    SimpleCandidate& simple = simple_[index];
    // A report is about the present or about an earlier time.
    const bool is_late = below(4) == 0 && simple.rests > 0;
    const std::uint64_t seen = simple.rests - (is_late ? 1 : 0);
    switch (below(9)) {
      case 0:
        fail(index, seen, is_late);
        break;
      case 1: {
        const bool rested = simple.state == State::kResting || simple.state == State::kProbed;
        const auto success = candidates_.succeed(index, seen);
        const bool is_stale = is_late || simple.state == State::kRefused;
        ASSERT_EQ(success, is_stale ? Success::kStale : rested ? Success::kWorksAgain : Success::kInUse);
        if (!is_stale) simple.work();
        break;
      }
      case 2:
        if (below(20) != 0) break;
        candidates_.refuse(index, kFault);
        simple.is_listed = true;
        simple.state = State::kRefused;
        break;
      case 3:
        candidates_.want_request(index, seen);
        if (!is_late && (simple.state == State::kResting || simple.state == State::kProbed)) {
          simple.wants_request = true;
        }
        break;
      case 4:
        check_task();
        break;
      case 5:
        now_ += milliseconds(below(120));
        break;
      default:
        check_pick();
        break;
    }
    check_refusals();
  }

  std::size_t probes = 0;
  std::size_t let_through = 0;
  std::size_t last_resorts = 0;

 private:
  using State = SimpleCandidate::State;

  void fail(Index index, std::uint64_t seen, bool is_late) {
    SimpleCandidate& simple = simple_[index];
    // A breaker of a refused candidate is nobody's business.
    if (simple.state == State::kRefused) return;
    const auto failure = candidates_.fail(index, seen, kFault, now_);
    ASSERT_EQ(failure, is_late ? Failure::kStale : simple.state == State::kResting ? Failure::kNoted : Failure::kRests);
    if (is_late) return;
    simple.is_listed = true;
    if (failure == Failure::kRests) simple.rest(now_);
  }

  void check_pick() {
    std::vector<Index> tried;
    for (Index i = 0; i < simple_.size(); ++i) {
      if (below(4) == 0) tried.push_back(i);
    }
    std::optional<Index> expected;
    std::optional<Index> last_resort;
    for (Index i = 0; i < simple_.size(); ++i) {
      if (std::ranges::count(tried, i) > 0 || simple_[i].state == State::kRefused) continue;
      if (!last_resort) last_resort = i;
      if (!expected && (simple_[i].state == State::kInUse || simple_[i].wants_request)) expected = i;
    }
    if (!expected && last_resort) ++last_resorts;
    if (!expected) expected = last_resort;
    const bool is_request = below(2) == 0;
    const auto pick = candidates_.pick(tried, is_request ? PickFor::kRequest : PickFor::kReport);
    ASSERT_EQ(pick.has_value(), expected.has_value());
    if (!pick) return;
    SimpleCandidate& simple = simple_[*expected];
    ASSERT_EQ(pick->index, *expected);
    ASSERT_EQ(pick->openings, simple.rests);
    ASSERT_EQ(pick->let_through, simple.wants_request);
    if (is_request && simple.wants_request) {
      ++let_through;
      simple.wants_request = false;
    }
  }

  void check_task() {
    const auto task = candidates_.next_task(now_, [](Index) { return false; });
    std::optional<Index> due;
    std::optional<Clock::time_point> earliest;
    for (Index i = 0; i < simple_.size(); ++i) {
      if (simple_[i].state != State::kResting) continue;
      if (!due && simple_[i].until <= now_) due = i;
      if (!earliest || simple_[i].until < *earliest) earliest = simple_[i].until;
    }
    ASSERT_EQ(task.kind, due ? Kind::kProbe : Kind::kWait);
    if (!due) {
      ASSERT_EQ(task.until, earliest);
      return;
    }
    ++probes;
    ASSERT_EQ(task.index, *due);
    ASSERT_EQ(task.openings, simple_[*due].rests);
    simple_[*due].state = State::kProbed;
  }

  void check_refusals() {
    std::vector<std::string> listed;
    std::vector<std::string> expected;
    for (const PlacementStep& step : candidates_.refusals())
      listed.push_back(step.device);
    for (Index i = 0; i < simple_.size(); ++i) {
      if (simple_[i].is_listed) expected.push_back("device " + std::to_string(i));
    }
    ASSERT_EQ(listed, expected);
  }

  Index below(std::size_t end) { return random_() % end; }

  std::mt19937 random_;
  Candidates candidates_{without_jitter()};
  std::vector<SimpleCandidate> simple_{std::vector<SimpleCandidate>(4)};
  Clock::time_point now_ = kNoon;
};

TEST(CandidatesRandomTest, RandomSequencesDoWhatTheSimpleModelDoes) {
  std::size_t probes = 0;
  std::size_t let_through = 0;
  std::size_t last_resorts = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomSequence sequence(seed);
    for (int step = 0; step < 300; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      sequence.step();
      if (::testing::Test::HasFatalFailure()) return;
    }
    probes += sequence.probes;
    let_through += sequence.let_through;
    last_resorts += sequence.last_resorts;
  }
  // The interesting states were reached.
  EXPECT_GT(probes, 1000U);
  EXPECT_GT(let_through, 1000U);
  EXPECT_GT(last_resorts, 1000U);
}

}  // namespace
}  // namespace latebind::core
