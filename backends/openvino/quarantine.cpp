#include "backends/openvino/quarantine.h"

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
  empty_.store(false, std::memory_order_release);
}

std::size_t Quarantine::reap() {
  if (empty_.load(std::memory_order_acquire)) return 0;
  const std::lock_guard lock(mutex_);
  std::erase_if(hung_, [](const Request& request) { return request.is_idle(); });
  empty_.store(hung_.empty(), std::memory_order_release);
  return hung_.size();
}

std::size_t abandoned_requests() {
  const std::lock_guard lock(graveyard().mutex);
  std::erase_if(graveyard().requests, [](const Abandoned& abandoned) { return abandoned.request.is_idle(); });
  return graveyard().requests.size();
}

}  // namespace latebind::openvino
