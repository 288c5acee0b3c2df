// Candidates: what is known about the devices of a placement, which of them a request tries next, and what the
// background does about those that failed. The state machine of a PlacedModel.
//
// The order of the candidates is their rank. A candidate is one of:
//   in use    requests go to the first such candidate
//   resting   it failed, and its breaker is open; once the back-off has passed, the background probes it. Requests
//             skip it while another one is left. If nothing but a request can test it, the next one is let through
//   refused   it will never take this model, and is out of rotation for good
// A candidate in use may be a suspect: requests were late on it, and the background checks it.
//
// Reports carry the number of the breaker's openings when the reported work began, so that a late report never
// overrules a newer one.
//
// Pure: no lock, no thread, no clock; time is a parameter. The caller serializes the calls. The functions that are
// called after each request do not allocate memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/failover/breaker.h"
#include "core/placement/placement.h"
#include "core/status.h"

namespace latebind::core {

class Candidates {
 public:
  using Clock = Breaker::Clock;
  // The position of a candidate, in the order of the placement.
  using Index = std::size_t;

  explicit Candidates(const BreakerPolicy& policy) : policy_(policy) {}

  // Adds a device, which is in use.
  Index add(std::string name);
  // Adds a place of the order that has no device.
  void add_refused(PlacementStep refusal);
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] const std::string& name(Index index) const { return all_[index].name; }

  struct Pick {
    Index index = 0;
    std::uint64_t openings = 0;  // of its breaker, for reports
    bool let_through = false;    // it rests, and this request is the one that is let through
  };
  // Only a request may be let through to a resting device; a report leaves that to the next request.
  enum class PickFor { kRequest, kReport };
  // Returns the first candidate that is in use and was not tried, or one before it that waits for a request to test it;
  // if there is neither, the first resting one, because a device that might work is better than a certain error.
  [[nodiscard]] std::optional<Pick> pick(std::span<const Index> tried, PickFor purpose);

  // Returns how often the candidate's breaker has opened.
  [[nodiscard]] std::uint64_t openings(Index index) const { return all_[index].breaker.openings(); }
  // Returns why candidates are skipped: of all, or of those before `end`.
  [[nodiscard]] std::vector<PlacementStep> refusals() const { return refusals_before(size()); }
  [[nodiscard]] std::vector<PlacementStep> refusals_before(Index end) const;
  [[nodiscard]] bool any_rests() const;

  // Reports. The candidate will never take this model or these options.
  void refuse(Index index, const Status& why);
  // Takes the candidate out of rotation; its refusal stays what it is.
  void retire(Index index) { all_[index].is_retired = true; }
  enum class Failure {
    kStale,  // it was judged since; nothing has changed
    kNoted,  // it is still in use, or rested already
    kRests,  // it rests from now on
  };
  Failure fail(Index index, std::uint64_t openings, const Status& why, Clock::time_point now);
  // kStale: it was judged since, or is out of rotation; nothing has changed.
  enum class Success { kStale, kInUse, kWorksAgain };
  Success succeed(Index index, std::uint64_t openings);
  // A request was answered. Returns whether that was news (see succeed()).
  Success answer(Index index, std::uint64_t openings);
  // A request let through, or a probe, revealed nothing: the next request is let through, unless the candidate was
  // judged since.
  void want_request(Index index, std::uint64_t openings);
  // A request with enough time for any run missed its deadline. Returns true if the candidate becomes a suspect,
  // because that happened several times in a row.
  [[nodiscard]] bool miss_deadline(Index index, Clock::time_point now);
  // Something else hints that the candidate hangs. Returns true if it becomes a suspect: not while it is one or rests,
  // nor soon after it was one.
  [[nodiscard]] bool suspect(Index index, Clock::time_point now);
  // Whether the candidate answered a request since it became a suspect.
  [[nodiscard]] bool has_answered(Index index) const { return all_[index].has_answered; }

  // What the background does next.
  struct Task {
    enum class Kind {
      kLoad,   // load it, so that the first failover does not wait for that
      kCheck,  // check a suspect
      kProbe,  // probe a resting device; report the outcome with fail(), succeed(), want_request() or end_probe()
      kWait,   // nothing until `until`, or until something is reported
    };
    Kind kind = Kind::kWait;
    Index index = 0;
    std::uint64_t openings = 0;
    std::optional<Clock::time_point> until{};
  };
  // The second candidate should be loaded in advance.
  void want_standby() { standby_wanted_ = true; }
  // Takes the next task. `is_loaded` says which candidates are loaded.
  [[nodiscard]] Task next_task(Clock::time_point now, const std::function<bool(Index)>& is_loaded);
  // A probe ended without an outcome: it failed.
  void end_probe(Index index, Clock::time_point now) { all_[index].breaker.failed(now); }

 private:
  struct Candidate {
    Candidate(std::string its_name, const BreakerPolicy& policy) : name(std::move(its_name)), breaker(policy) {}

    const std::string name;
    Breaker breaker;
    bool is_retired = false;               // out of rotation
    std::optional<PlacementStep> refusal;  // why it is skipped; std::nullopt while it works
    bool has_failed = false;               // since it last worked
    unsigned late_runs = 0;                // in a row
    bool is_suspect = false;               // to be checked
    bool has_answered = false;             // since it last became a suspect
    Clock::time_point suspected_last{};
    bool wants_request = false;  // it rests, and the next request is let through
  };

  const BreakerPolicy policy_;
  std::deque<Candidate> all_;
  bool standby_wanted_ = false;
};

}  // namespace latebind::core
