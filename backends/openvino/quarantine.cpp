#include "backends/openvino/quarantine.h"

#include <algorithm>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <utility>

namespace latebind::openvino {
namespace {

// A request must be gone before the Compiled: members go in reverse order. Never assigned to, for that goes in order.
struct Abandoned {
  std::shared_ptr<const Compiled> compiled;
  Request request;
};

struct Graveyard {
  std::mutex mutex;
  // Guarded by mutex. A list: to move one into the place of another would free the other's Compiled first.
  std::list<Abandoned> requests;
  std::map<std::string, std::size_t, std::less<>> hung;  // by device, those in quarantines included

  // Takes out what has come back. Under mutex; the caller frees it after unlocking, for that calls the vendor.
  [[nodiscard]] std::list<Abandoned> reap() {
    std::list<Abandoned> back;
    for (auto next = requests.begin(); next != requests.end();) {
      const auto one = next++;
      if (!one->request.is_idle()) continue;
      --hung[one->compiled->device];
      back.splice(back.end(), requests, one);
    }
    return back;
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
  std::list<Abandoned> back;
  const std::lock_guard lock(graveyard().mutex);
  back = graveyard().reap();
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
  std::list<Abandoned> back;
  const std::lock_guard lock(graveyard().mutex);
  back = graveyard().reap();
  return static_cast<std::size_t>(std::ranges::count_if(graveyard().requests, [&](const Abandoned& abandoned) {
    return device.empty() || abandoned.compiled->device == device;
  }));
}

std::size_t hung_requests(std::string_view device) {
  std::list<Abandoned> back;
  const std::lock_guard lock(graveyard().mutex);
  back = graveyard().reap();
  std::size_t sum = 0;
  for (const auto& [name, count] : graveyard().hung) {
    if (device.empty() || name == device) sum += count;
  }
  return sum;
}

}  // namespace latebind::openvino
