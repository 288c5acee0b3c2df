// Constants: the weights that lie on the devices of one client. Equal weights lie there once, whichever executables use
// them, and are freed with the last of these. May be used from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/pjrt/client.h"
#include "backends/pjrt/stablehlo/network.h"
#include "core/result.h"
#include "core/threads/mutex.h"

namespace latebind::pjrt {

using SharedBuffer = std::shared_ptr<const OwnedBuffer>;

class Constants {
 public:
  explicit Constants(std::shared_ptr<const Client> client);

  // Returns the buffer with these bytes, which is uploaded if it is not there yet.
  [[nodiscard]] core::Result<SharedBuffer> get(std::size_t device, Element element, const Dims& dims,
                                               std::span<const std::byte> bytes);
  // The number of buffers in use.
  [[nodiscard]] std::size_t count();

 private:
  const std::shared_ptr<const Client> client_;
  const std::uint64_t seed_;
  core::Mutex mutex_;
  std::map<std::string, std::weak_ptr<const OwnedBuffer>> buffers_ LB_GUARDED_BY(mutex_);
};

// Returns the bytes of a constant as the device gets them. `kept` holds them if they are converted or computed.
[[nodiscard]] std::span<const std::byte> bytes_of(const NetworkConstant& constant, const graph::Graph& graph,
                                                  std::vector<std::byte>& kept);

}  // namespace latebind::pjrt
