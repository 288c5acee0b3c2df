// Payload: the bytes of a bundle that a host's model carries within it.
//
// They are many, and are read once from the host, which keeps its own: so they are not zeroed before, and lie in huge
// pages where the system has some. Belongs to whoever holds it; constant after it is made.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "core/platform/huge_pages.h"
#include "hosts/onnxruntime/host.h"

namespace latebind::provider {

class Payload {
 public:
  // Of the node's text attribute of that name; empty when there is none. Throws Failure.
  static std::shared_ptr<const Payload> read(const Host& host, const abi::Node* node, const char* attribute);

  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(memory_.get()), size_}; }

 private:
  platform::LargeMemory memory_;
  std::size_t size_ = 0;
};

}  // namespace latebind::provider
