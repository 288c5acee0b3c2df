// Jobs of the C interface: each runs a command of the program on its own thread.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/c_objects.h"
#include "api/c_support.h"
#include "app/job_table.h"
#include "core/log.h"
#include "core/platform/detached_thread.h"
#include "core/platform/process_generation.h"
#include "core/text/utf8.h"
#include "core/threads/background_work.h"
#include "core/threads/mutex.h"

namespace core = latebind::core;
namespace api = latebind::api;
namespace app = latebind::app;

namespace {

using Clock = std::chrono::steady_clock;

// Each job has a thread and may start many; more jobs at once are a mistake.
constexpr int kJobsMax = 64;

// Starts at zero in a child made by fork(), which has none of its parent's jobs.
std::atomic<int>& jobs_under_way() noexcept {
  static latebind::platform::PerProcess<std::atomic<int>> jobs;
  return jobs.get();
}

class Counted {
 public:
  Counted() : is_one_(jobs_under_way().fetch_add(1) < kJobsMax) {}
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { jobs_under_way().fetch_sub(1); }
  [[nodiscard]] bool is_one() const { return is_one_; }

 private:
  const bool is_one_;
};

// Shared by the handle and the job's thread, which may outlive it.
class JobState {
 public:
  JobState(const app::NamedJob& job, app::JobArguments arguments, app::Runtime runtime)
      : job_(job), arguments_(std::move(arguments)), runtime_(std::move(runtime)) {
    client_.log = "the log (lb_set_log)";
    client_.cancellation = core::Cancellation::create();
    client_.note = [](std::string_view text) { core::log(core::LogLevel::kInfo, std::string(text)); };
    client_.progress = [this](std::string_view activity, std::uint64_t done, std::uint64_t total) {
      const core::MutexLock lock(mutex_);
      activity_.assign(activity);
      done_ = done;
      total_ = total;
    };
  }

  // Runs the job. Never throws: an exception becomes the job's error. Releases `place` when the job is over.
  void run(std::shared_ptr<const Counted> place) noexcept {
    core::Status status;
    std::string report;
    try {
      app::JobOutcome outcome{client_.check_cancelled(), std::nullopt};
      if (outcome.status.ok()) outcome = job_.run(arguments_, runtime_, client_);
      if (outcome.report) report = app::to_text(*outcome.report);
      status = std::move(outcome.status);
    } catch (...) {
      status = core::Status::of_exception();
    }
    place.reset();
    const core::MutexLock lock(mutex_);
    status_ = std::move(status);
    report_ = std::move(report);
    is_over_ = true;
    over_.notify_all();
  }

  void cancel() const { client_.cancellation.request(); }

  // Returns whether the job is over by the deadline.
  bool wait_until(Clock::time_point deadline) {
    const core::MutexLock lock(mutex_);
    return over_.wait_until(mutex_, deadline, [this]() LB_REQUIRES(mutex_) { return is_over_; });
  }

  lb_job_progress progress() {
    const core::MutexLock lock(mutex_);
    lb_job_progress value{};
    value.is_over = is_over_ ? 1 : 0;
    value.done = done_;
    value.total = total_;
    const std::string_view shown = core::cut_utf8(activity_, sizeof value.activity - 1);
    std::memcpy(value.activity, shown.data(), shown.size());
    return value;
  }

  // Constant once the job is over.
  [[nodiscard]] const core::Status& status() const { return status_; }
  [[nodiscard]] const std::string& report() const { return report_; }

 private:
  const app::NamedJob& job_;
  app::JobArguments arguments_;
  const app::Runtime runtime_;
  app::Client client_;

  core::Mutex mutex_;
  core::Condition over_;
  // Guarded by mutex_ until is_over_, constant afterwards.
  std::string activity_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
  bool is_over_ = false;
  core::Status status_;
  std::string report_;
};

}  // namespace

struct lb_job {
  std::shared_ptr<JobState> state;
  latebind::platform::MadeIn made{};
};

size_t lb_job_kind_count(void) {
  return app::job_table().size();
}

lb_code lb_job_kind_at(size_t index, lb_job_kind* kind) {
  return api::guarded([&]() -> core::Status {
    const auto table = app::job_table();
    if (index >= table.size()) return api::misuse("lb_job_kind_at: no job of this index");
    lb_job_kind value{};
    // The strings are literals.
    value.name = table[index].name.data();
    value.arguments = table[index].arguments.data();
    value.report = table[index].report.data();
    return api::write_struct(value, kind, "lb_job_kind");
  });
}

lb_code lb_job_start(const lb_runtime* runtime, const char* name, const char* arguments, const lb_options* options,
                     lb_job** job) {
  return api::guarded([&]() -> core::Status {
    if (runtime == nullptr || name == nullptr || job == nullptr) return api::misuse("lb_job_start: NULL was given");
    *job = nullptr;
    LB_RETURN_IF_ERROR(api::check_made_here(runtime->shared->made, "runtime"));
    const app::NamedJob* found = app::find_job(name);
    if (found == nullptr) return app::unknown_job_error(name);
    LB_RETURN_IF_ERROR(core::check_not_ending());
    LB_ASSIGN_OR_RETURN(auto read, app::JobArguments::parse(api::text_or(arguments, "")));
    LB_ASSIGN_OR_RETURN(const auto settings, api::settings_over(*runtime, options));
    LB_ASSIGN_OR_RETURN(auto made, app::Runtime::make(settings, runtime->shared->registry,
                                                      {.hint = core::PerformanceHint::kThroughput}));
    auto place = std::make_shared<const Counted>();
    if (!place->is_one()) {
      return core::Status(core::StatusCode::kBusy, fmt::format("{} jobs are running, which is the limit", kJobsMax));
    }
    auto counted = core::BackgroundWork::begin();
    if (!counted) return core::ending_error();
    auto handle = std::make_unique<lb_job>();
    handle->state = std::make_shared<JobState>(*found, std::move(read), std::move(made));
    latebind::platform::run_detached([state = handle->state, place = std::move(place),
                                      work = std::make_shared<core::BackgroundWork>(*std::move(counted))]() mutable {
      state->run(std::move(place));
      // Released while the work is still counted: this may be the last reference to the backends.
      state.reset();
      work.reset();
    });
    *job = handle.release();
    return {};
  });
}

lb_code lb_job_wait(lb_job* job, uint64_t timeout_ms, lb_job_progress* progress) {
  return api::guarded([&]() -> core::Status {
    if (job == nullptr) return api::misuse("lb_job_wait: NULL was given");
    LB_RETURN_IF_ERROR(api::check_made_here(job->made, "job"));
    const auto write_progress = [&] {
      return progress == nullptr ? core::Status()
                                 : api::write_struct(job->state->progress(), progress, "lb_job_progress");
    };
    LB_RETURN_IF_ERROR(write_progress());  // reports a struct without its size before the wait
    const bool is_over = job->state->wait_until(Clock::now() + api::bounded_milliseconds(timeout_ms));
    LB_RETURN_IF_ERROR(write_progress());
    return is_over ? core::Status() : core::Status(core::StatusCode::kDeadlineExceeded, "the job has not ended yet");
  });
}

void lb_job_cancel(const lb_job* job) {
  if (job != nullptr && job->made.this_process()) job->state->cancel();
}

lb_code lb_job_result(lb_job* job, const char** report) {
  return api::guarded([&]() -> core::Status {
    if (job == nullptr) return api::misuse("lb_job_result: NULL was given");
    if (report != nullptr) *report = "";
    LB_RETURN_IF_ERROR(api::check_made_here(job->made, "job"));
    if (!job->state->wait_until(Clock::now())) {
      return core::Status(core::StatusCode::kBusy, "the job has not ended yet; see lb_job_wait");
    }
    if (report != nullptr) *report = job->state->report().c_str();
    return job->state->status();
  });
}

void lb_job_destroy(lb_job* job) {
  if (job == nullptr) return;
  lb_job_cancel(job);
  api::destroy(job, job->made);
}
