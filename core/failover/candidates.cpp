#include "core/failover/candidates.h"

#include <algorithm>
#include <utility>

namespace latebind::core {
namespace {

// A caller's deadline alone says nothing about the device. But if this many consecutive requests missed their
// deadlines, it may hang.
constexpr unsigned kLateRunsToSuspect = 3;

// The shortest time between two checks of a suspect.
constexpr std::chrono::milliseconds kBetweenSuspicions{1'000};

}  // namespace

Candidates::Index Candidates::add(std::string name) {
  all_.emplace_back(std::move(name), policy_);
  return all_.size() - 1;
}

void Candidates::add_refused(PlacementStep refusal) {
  Candidate& added = all_.emplace_back(refusal.device, policy_);
  added.is_retired = true;
  added.refusal = std::move(refusal);
}

std::optional<Candidates::Pick> Candidates::pick(std::span<const Index> tried, PickFor purpose) {
  Candidate* resting = nullptr;
  Index resting_at = 0;
  for (Index i = 0; i < all_.size(); ++i) {
    Candidate& candidate = all_[i];
    if (candidate.is_retired || std::ranges::find(tried, i) != tried.end()) continue;
    if (candidate.breaker.is_closed() || candidate.wants_request) {
      const Pick pick{i, candidate.breaker.openings(), candidate.wants_request};
      // Only a request tests the device.
      if (purpose == PickFor::kRequest) candidate.wants_request = false;
      return pick;
    }
    if (resting != nullptr) continue;
    resting = &candidate;
    resting_at = i;
  }
  if (resting == nullptr) return std::nullopt;
  return Pick{resting_at, resting->breaker.openings(), false};
}

std::vector<PlacementStep> Candidates::refusals_before(Index end) const {
  std::vector<PlacementStep> steps;
  for (Index i = 0; i < end; ++i) {
    if (all_[i].refusal) steps.push_back(*all_[i].refusal);
  }
  return steps;
}

bool Candidates::any_rests() const {
  return std::ranges::any_of(all_, [](const Candidate& candidate) { return !candidate.breaker.is_closed(); });
}

void Candidates::refuse(Index index, const Status& why) {
  Candidate& candidate = all_[index];
  candidate.refusal = PlacementStep::refused(candidate.name, why);
  candidate.is_retired = true;
}

Candidates::Failure Candidates::fail(Index index, std::uint64_t openings, const Status& why, Clock::time_point now) {
  Candidate& candidate = all_[index];
  if (candidate.breaker.openings() != openings) return Failure::kStale;
  auto refusal = PlacementStep::refused(candidate.name, why);
  const bool opened = candidate.breaker.failed(now);
  candidate.has_failed = true;
  candidate.refusal = std::move(refusal);
  return opened ? Failure::kRests : Failure::kNoted;
}

Candidates::Success Candidates::succeed(Index index, std::uint64_t openings) {
  Candidate& candidate = all_[index];
  const bool rested = !candidate.breaker.is_closed();
  if (candidate.is_retired || !candidate.breaker.succeeded_since(openings)) return Success::kStale;
  candidate.has_failed = false;
  candidate.refusal.reset();
  candidate.wants_request = false;
  return rested ? Success::kWorksAgain : Success::kInUse;
}

Candidates::Success Candidates::answer(Index index, std::uint64_t openings) {
  Candidate& candidate = all_[index];
  candidate.late_runs = 0;
  candidate.has_answered = true;
  return candidate.has_failed ? succeed(index, openings) : Success::kStale;
}

void Candidates::want_request(Index index, std::uint64_t openings) {
  Candidate& candidate = all_[index];
  if (candidate.breaker.openings() == openings && !candidate.breaker.is_closed()) candidate.wants_request = true;
}

bool Candidates::miss_deadline(Index index, Clock::time_point now) {
  return ++all_[index].late_runs >= kLateRunsToSuspect && suspect(index, now);
}

bool Candidates::suspect(Index index, Clock::time_point now) {
  Candidate& candidate = all_[index];
  const bool was_checked = now < candidate.suspected_last + kBetweenSuspicions;
  if (candidate.is_suspect || was_checked || !candidate.breaker.is_closed()) return false;
  candidate.is_suspect = true;
  candidate.suspected_last = now;
  candidate.has_answered = false;
  return true;
}

Candidates::Task Candidates::next_task(Clock::time_point now, const std::function<bool(Index)>& is_loaded) {
  if (std::exchange(standby_wanted_, false)) {
    Index i = 0;
    while (i < all_.size() && !is_loaded(i))
      ++i;
    for (++i; i < all_.size(); ++i) {
      if (!all_[i].is_retired) return {Task::Kind::kLoad, i, all_[i].breaker.openings(), {}};
    }
  }
  if (const auto found = std::ranges::find_if(all_, &Candidate::is_suspect); found != all_.end()) {
    found->is_suspect = false;
    return {Task::Kind::kCheck, static_cast<Index>(found - all_.begin()), found->breaker.openings(), {}};
  }
  Task wait;
  for (Index i = 0; i < all_.size(); ++i) {
    Breaker& breaker = all_[i].breaker;
    const auto due = all_[i].is_retired ? std::nullopt : breaker.probe_due();
    if (!due) continue;
    if (breaker.begin_probe(now)) return {Task::Kind::kProbe, i, breaker.openings(), {}};
    if (!wait.until || *due < *wait.until) wait.until = due;
  }
  return wait;
}

}  // namespace latebind::core
