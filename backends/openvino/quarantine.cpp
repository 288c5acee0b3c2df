#include "backends/openvino/quarantine.h"

#include <algorithm>
#include <utility>

namespace latebind::openvino {
namespace {

// A request must be gone before the Compiled: members go in reverse order.
struct Abandoned {
  std::shared_ptr<const Compiled> compiled;
  Request request;
};

struct Graveyard {
  std::mutex mutex;
  std::vector<Abandoned> requests;  // guarded by mutex
};

std::atomic<std::size_t> g_hung{0};

// Never destroyed: what is in it may still be at work when the process ends.
Graveyard& graveyard() {
  static Graveyard* const instance = new Graveyard;
  return *instance;
}

}  // namespace

Quarantine::~Quarantine() {
  if (reap() == 0) return;
  (void)abandoned_requests();
  const std::lock_guard lock(graveyard().mutex);
  for (Request& request : hung_) {
    graveyard().requests.push_back({compiled_, std::move(request)});
  }
}

void Quarantine::add(Request request) {
  const std::lock_guard lock(mutex_);
  hung_.push_back(std::move(request));
  g_hung.fetch_add(1, std::memory_order_relaxed);
  empty_.store(false, std::memory_order_release);
}

std::size_t Quarantine::reap() {
  if (empty_.load(std::memory_order_acquire)) return 0;
  const std::lock_guard lock(mutex_);
  g_hung.fetch_sub(std::erase_if(hung_, [](const Request& request) { return request.is_idle(); }),
                   std::memory_order_relaxed);
  empty_.store(hung_.empty(), std::memory_order_release);
  return hung_.size();
}

std::size_t abandoned_requests() {
  return abandoned_requests({});
}

std::size_t abandoned_requests(std::string_view device) {
  const std::lock_guard lock(graveyard().mutex);
  auto& requests = graveyard().requests;
  g_hung.fetch_sub(std::erase_if(requests, [](const Abandoned& abandoned) { return abandoned.request.is_idle(); }),
                   std::memory_order_relaxed);
  return static_cast<std::size_t>(std::ranges::count_if(
      requests, [&](const Abandoned& abandoned) { return device.empty() || abandoned.compiled->device == device; }));
}

std::size_t hung_requests() {
  return g_hung.load(std::memory_order_relaxed);
}

}  // namespace latebind::openvino
