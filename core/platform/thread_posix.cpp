#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX has more in it than C
#include <sys/resource.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <system_error>
#include <utility>

#include "core/platform/thread.h"

namespace latebind::platform {
namespace {

// The smallest stack for the first thread of a program: several times what any call of Latebind was seen to use.
constexpr rlim_t kFirstThreadRoom = rlim_t{1} << 20;

// Not noexcept, because pthread_cancel() unwinds it.
void* call(void* given) {
  const std::unique_ptr<std::function<void()>> work(static_cast<std::function<void()>*>(given));
  (*work)();
  return nullptr;
}

void check(int error) {
  if (error != 0) throw std::system_error(error, std::generic_category(), "no thread");
}

// While it lives, the calling thread receives no signals.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

  [[nodiscard]] const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

}  // namespace

struct Thread::System {
  ::pthread_t thread;
};

Thread::Thread() noexcept = default;

Thread::Thread(std::function<void()> work) {
  auto given = std::make_unique<std::function<void()>>(std::move(work));
  auto system = std::make_unique<System>();
  ::pthread_attr_t attributes;
  check(::pthread_attr_init(&attributes));
  std::size_t room = 0;
  ::pthread_attr_getstacksize(&attributes, &room);
  ::pthread_attr_setstacksize(&attributes, std::max(room, kThreadRoom));
  const int error = ::pthread_create(&system->thread, &attributes, call, given.get());
  ::pthread_attr_destroy(&attributes);
  check(error);
  // The thread owns it now.
  static_cast<void>(given.release());
  system_ = std::move(system);
}

Thread::Thread(Thread&& other) noexcept = default;

Thread& Thread::operator=(Thread&& other) noexcept {
  if (joinable()) std::terminate();
  system_ = std::move(other.system_);
  return *this;
}

Thread::~Thread() {
  if (joinable()) std::terminate();
}

void Thread::join() {
  check(::pthread_join(system_->thread, nullptr));
  system_.reset();
}

void Thread::detach() {
  ::pthread_detach(system_->thread);
  system_.reset();
}

bool Thread::is_this() const noexcept {
  return joinable() && ::pthread_equal(system_->thread, ::pthread_self()) != 0;
}

int call_with_room(const std::function<int()>& work) {
  ::rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kFirstThreadRoom) return work();
  // Applies to threads of vendors' libraries, too.
  ::pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) == 0) {
    ::pthread_attr_setstacksize(&attributes, kThreadRoom);
    ::pthread_setattr_default_np(&attributes);
    ::pthread_attr_destroy(&attributes);
  }
  std::optional<int> result;
  std::exception_ptr failure;
  {
    // Signals must go to the working thread and not to this one, which only waits and lacks the working thread's
    // settings.
    const NoSignals no_signals;
    Thread([&] {
      ::pthread_sigmask(SIG_SETMASK, &no_signals.before(), nullptr);
      try {
        result = work();
      } catch (const std::exception&) {
        failure = std::current_exception();
      }
    }).join();
  }
  if (failure) std::rethrow_exception(failure);
  return *result;
}

}  // namespace latebind::platform
