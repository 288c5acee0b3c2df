#include "backends/openvino/quarantine.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
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
  // Guarded by mutex.
  std::vector<Abandoned> requests;
  std::map<std::string, std::size_t, std::less<>> hung;  // by device, those in quarantines included

  // Frees what has come back. Under mutex.
  void reap() {
    std::erase_if(requests, [this](const Abandoned& abandoned) {
      if (!abandoned.request.is_idle()) return false;
      --hung[abandoned.compiled->device];
      return true;
    });
  }
};

// Never destroyed: what is in it may still be at work when the process ends.
Graveyard& graveyard() {
  static Graveyard* const instance = new Graveyard;
  return *instance;
}

}  // namespace

Quarantine::~Quarantine() {
  if (reap() == 0) return;
  const std::lock_guard lock(graveyard().mutex);
  graveyard().reap();
  for (Request& request : hung_) {
    graveyard().requests.push_back({compiled_, std::move(request)});
  }
}

void Quarantine::add(Request request) {
  {
    const std::lock_guard lock(graveyard().mutex);
    ++graveyard().hung[compiled_->device];
  }
  const std::lock_guard lock(mutex_);
  hung_.push_back(std::move(request));
  empty_.store(false, std::memory_order_release);
}

std::size_t Quarantine::reap() {
  if (empty_.load(std::memory_order_acquire)) return 0;
  const std::lock_guard lock(mutex_);
  const std::size_t back = std::erase_if(hung_, [](const Request& request) { return request.is_idle(); });
  empty_.store(hung_.empty(), std::memory_order_release);
  if (back > 0) {
    const std::lock_guard counting(graveyard().mutex);
    graveyard().hung[compiled_->device] -= back;
  }
  return hung_.size();
}

std::size_t abandoned_requests() {
  return abandoned_requests({});
}

std::size_t abandoned_requests(std::string_view device) {
  const std::lock_guard lock(graveyard().mutex);
  graveyard().reap();
  return static_cast<std::size_t>(std::ranges::count_if(graveyard().requests, [&](const Abandoned& abandoned) {
    return device.empty() || abandoned.compiled->device == device;
  }));
}

std::size_t hung_requests(std::string_view device) {
  const std::lock_guard lock(graveyard().mutex);
  graveyard().reap();
  std::size_t sum = 0;
  for (const auto& [name, count] : graveyard().hung) {
    if (device.empty() || name == device) sum += count;
  }
  return sum;
}

}  // namespace latebind::openvino
