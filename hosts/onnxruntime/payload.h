// Payload: the bytes of a bundle that a host's model contains.
//
// They are large, and are read once from the host, which keeps its own copy. Therefore the memory is not zeroed first,
// and consists of huge pages if the system has some. Shared by its users; constant after it is read.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "core/platform/huge_pages.h"
#include "hosts/onnxruntime/host.h"

namespace latebind::provider {

class Payload {
 public:
  // Reads the node's text attribute of that name; empty if it is missing. Throws Failure.
  static std::shared_ptr<const Payload> read(const Host& host, const abi::Node* node, const char* attribute);

  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(memory_.get()), size_}; }

 private:
  platform::LargeMemory memory_;
  std::size_t size_ = 0;
};

}  // namespace latebind::provider
