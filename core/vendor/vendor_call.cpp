#include "core/vendor/vendor_call.h"

#include <fmt/format.h>

#include <atomic>

#include "core/platform/process_generation.h"

namespace latebind::core {

// The calls of this process that were abandoned and have not returned. They form a list, so that abandoning needs no
// memory; each call is kept alive by its thread. A child made by fork() starts with an empty list.
class VendorCall::GivenUp {
 public:
  static GivenUp& instance() noexcept {
    static platform::PerProcess<GivenUp> current;
    return current.get();
  }

  void set_limit(VendorCall& call, std::optional<Clock::time_point> hangs_from) {
    const MutexLock lock(mutex_);
    call.hangs_from_ = hangs_from;
  }

  void add(VendorCall& call) {
    const MutexLock lock(mutex_);
    call.after_ = first_;
    if (first_ != nullptr) first_->before_ = &call;
    first_ = &call;
    count_.fetch_add(1, std::memory_order_relaxed);
  }

  void remove(VendorCall& call) {
    const MutexLock lock(mutex_);
    (call.before_ != nullptr ? call.before_->after_ : first_) = call.after_;
    if (call.after_ != nullptr) call.after_->before_ = call.before_;
    count_.fetch_sub(1, std::memory_order_relaxed);
  }

  template <class Wanted>
  std::size_t count(std::string_view where, const Wanted& wanted) {
    // Makes a run cost next to nothing while no call is abandoned.
    if (count_.load(std::memory_order_relaxed) == 0) return 0;
    const MutexLock lock(mutex_);
    std::size_t sum = 0;
    for (const VendorCall* call = first_; call != nullptr; call = call->after_)
      sum += (where.empty() || call->where_ == where) && wanted(*call) ? 1 : 0;
    return sum;
  }

 private:
  std::atomic<std::size_t> count_{0};
  Mutex mutex_;
  VendorCall* first_ LB_GUARDED_BY(mutex_) = nullptr;
};

Result<std::shared_ptr<VendorCall>> VendorCall::start(std::string where, std::function<Status()> work,
                                                      std::function<void()> stop) {
  std::shared_ptr<VendorCall> call(new VendorCall(std::move(where), std::move(work), std::move(stop)));
  LB_RETURN_IF_ERROR(AbandonableCall::start(call));
  return call;
}

VendorCall::End VendorCall::wait(const RunOptions& options) {
  auto until = options.deadline;
  End otherwise = End::kDeadline;
  if (const auto limit = limit_after(started(), options.run_timeout); limit && (!until || *limit < *until)) {
    until = limit;
    otherwise = End::kTimeout;
  }
  if (AbandonableCall::wait(until, options.cancellation)) return End::kReturned;
  return options.cancellation.is_requested() ? End::kCancelled : otherwise;
}

bool VendorCall::give_up(std::optional<std::chrono::milliseconds> timeout) {
  GivenUp::instance().set_limit(*this, limit_after(started(), timeout));
  return abandon();
}

void VendorCall::on_abandoned() {
  GivenUp::instance().add(*this);
}

void VendorCall::on_released() {
  GivenUp::instance().remove(*this);
}

Status call_until(const RunOptions& options, const std::string& where, std::function<Status()> work,
                  std::function<void()> stop) {
  LB_ASSIGN_OR_RETURN(const auto call, VendorCall::start(where, std::move(work), std::move(stop)));
  const auto end = call->wait(options);
  if (end == VendorCall::End::kReturned || !call->give_up(options.run_timeout)) return call->status();
  switch (end) {
    case VendorCall::End::kCancelled:
      return Status(StatusCode::kCancelled, fmt::format("the call of {} was cancelled", where));
    case VendorCall::End::kTimeout:
      return Status(StatusCode::kDeviceFailed,
                    fmt::format("hung: {} did not finish within {} ms", where, options.run_timeout->count()));
    default:
      return Status(StatusCode::kDeadlineExceeded, fmt::format("{} did not finish before the deadline", where));
  }
}

bool is_of_the_call(const Status& status) {
  return status.code() == StatusCode::kDeadlineExceeded || status.code() == StatusCode::kCancelled ||
         status.code() == StatusCode::kBusy;
}

std::size_t VendorCall::given_up(std::string_view where) {
  return GivenUp::instance().count(where, [](const VendorCall&) { return true; });
}

std::size_t VendorCall::hung(std::string_view where) {
  return GivenUp::instance().count(
      where, [](const VendorCall& call) { return call.hangs_from_ && *call.hangs_from_ <= Clock::now(); });
}

std::size_t given_up_calls(std::string_view where) {
  return VendorCall::given_up(where);
}

std::size_t hung_calls(std::string_view where) {
  return VendorCall::hung(where);
}

Status check_not_hung(std::string_view where, std::string_view refused) {
  const std::size_t hung = hung_calls(where);
  if (hung < kHungCallsMax) return {};
  return Status(
      StatusCode::kDeviceFailed,
      fmt::format("{} runs on {} have not returned; it gets no other {} until they do", hung, where, refused));
}

}  // namespace latebind::core
