#include "backends/plugin/isolated/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "core/log.h"

namespace latebind::plugin {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kLanesMax = 256;
constexpr std::size_t kMemoryLeast = std::size_t{64} << 10U;
// How often a waiting run asks whether anybody still waits for it.
constexpr int kTick = 20;
// How long a run may go on that is over.
constexpr std::chrono::milliseconds kStopTime{1000};

bool is_over(const lbb_run& run) {
  const std::int64_t now =
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
  return (run.deadline_ns != 0 && run.deadline_ns <= now) ||
         (run.is_cancelled != nullptr && run.is_cancelled(&run) != 0);
}

}  // namespace

Result<bool> Lane::grow(std::size_t size) {
  if (memory.bytes().size() >= size) return false;
  LB_ASSIGN_OR_RETURN(memory, platform::SharedMemory::create(std::bit_ceil(std::max(size, kMemoryLeast))));
  return true;
}

Result<std::shared_ptr<Session>> Session::start(const std::filesystem::path& program, const std::string& library,
                                                std::chrono::milliseconds time, std::unique_ptr<Reader>& about) {
  LB_ASSIGN_OR_RETURN(auto child, platform::KeptChild::start(program, {kHoldCommand, library}));
  const std::shared_ptr<Session> session(new Session(std::move(child), library));
  const int socket = session->child_->socket();
  if (!platform::wait_for_message(socket, static_cast<int>(time.count())))
    return session->end(fmt::format("did not open it within {} ms", time.count()));
  auto said = platform::receive_message(socket, kAnswerMax);
  if (!said.ok()) return session->end({});
  about = std::make_unique<Reader>(*std::move(said));
  core::log(core::LogLevel::kDebug, fmt::format("{} runs in a separate process", library));
  return session;
}

bool Session::has_ended() {
  const core::MutexLock lock(mutex_);
  return !ended_.ok();
}

Status Session::end(std::string_view why) {
  const core::MutexLock lock(mutex_);
  if (ended_.ok()) {
    const std::string how = child_->end();
    ended_ = Status(StatusCode::kDeviceFailed, fmt::format("the process of the plug-in {} {}", library_,
                                                           why.empty() ? how : fmt::format("was ended: it {}", why)));
    free_.clear();
  }
  return ended_;
}

Result<std::unique_ptr<Lane>> Session::take() {
  {
    const core::MutexLock lock(mutex_);
    if (!ended_.ok()) return ended_;
    if (!free_.empty()) {
      auto lane = std::move(free_.back());
      free_.pop_back();
      return lane;
    }
    if (lanes_ >= kLanesMax)
      return Status(StatusCode::kBusy, fmt::format("{} calls of the plug-in {} are running already", lanes_, library_));
    LB_ASSIGN_OR_RETURN(auto ends, platform::connected_sockets());
    Writer question;
    question.number(Ask::kLane);
    if (platform::send_message(child_->socket(), question.bytes(), ends.second.get()).ok()) {
      ++lanes_;
      return std::make_unique<Lane>(std::move(ends.first));
    }
  }
  return end({});
}

void Session::give_back(std::unique_ptr<Lane> lane) {
  const core::MutexLock lock(mutex_);
  if (ended_.ok()) free_.push_back(std::move(lane));
}

std::string Session::wait(Lane& lane, const Patience& patience) {
  const auto began = Clock::now();
  std::optional<Clock::time_point> over;
  while (true) {
    const bool ticks = patience.run != nullptr;
    const int most = ticks ? kTick : patience.time ? static_cast<int>(patience.time->count()) : -1;
    if (platform::wait_for_message(lane.socket.get(), most)) return {};
    const auto now = Clock::now();
    if (patience.time && now - began >= *patience.time)
      return fmt::format("did not answer within {} ms", patience.time->count());
    if (!ticks || (!over && !is_over(*patience.run))) continue;
    if (!over) {
      over = now;
      reinterpret_cast<std::atomic<std::uint32_t>*>(lane.memory.bytes().data())->store(1, std::memory_order_relaxed);
    } else if (now - *over >= kStopTime) {
      return fmt::format("computed for {} ms after its run was over", kStopTime.count());
    }
  }
}

Result<std::unique_ptr<Reader>> Session::ask(Lane& lane, const Writer& question, int file, const Patience& patience) {
  if (!platform::send_message(lane.socket.get(), question.bytes(), file).ok()) return end({});
  if (const std::string late = wait(lane, patience); !late.empty()) return end(late);
  auto answer = platform::receive_message(lane.socket.get(), kAnswerMax);
  if (!answer.ok()) return end({});
  return std::make_unique<Reader>(*std::move(answer));
}

}  // namespace latebind::plugin
