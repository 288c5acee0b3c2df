// Where requests stay whose device did not come back by the deadline, until it does.
//
// A vendor waits in the destructor of a request that still runs, so such a request can not be freed; nor can what it
// was made from. It is kept here, with all that it needs, and freed once it is idle. When the executable goes first,
// its hung requests move to one place for the whole process and are looked at again whenever another one comes: nobody
// ever waits for a device that is gone. A device with too many there gets no new model, since each probe of a device
// that hangs for ever would leave one more behind, with all that it was made from. Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "backends/openvino/request.h"

namespace latebind::openvino {

class Quarantine {
 public:
  explicit Quarantine(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  Quarantine(const Quarantine&) = delete;
  Quarantine& operator=(const Quarantine&) = delete;
  ~Quarantine();

  // A device that has this many runs hanging is not given another.
  static constexpr std::size_t kMax = 8;

  void add(Request request);
  // Frees what has come back; the number that has not.
  std::size_t reap();

 private:
  const std::shared_ptr<const Compiled> compiled_;
  std::atomic<bool> empty_{true};  // so that a run without trouble takes no lock
  std::mutex mutex_;
  std::vector<Request> hung_;  // guarded by mutex_
};

// Requests in the place for the whole process that have not come back. For tests and reports.
[[nodiscard]] std::size_t abandoned_requests();
// The same, of one device.
[[nodiscard]] std::size_t abandoned_requests(std::string_view device);

// Runs on this device (empty: on any) that this process gave up and that have not been seen to come back.
[[nodiscard]] std::size_t hung_requests(std::string_view device = {});

}  // namespace latebind::openvino
