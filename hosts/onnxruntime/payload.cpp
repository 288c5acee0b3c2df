#include "hosts/onnxruntime/payload.h"

#include <cstddef>

#include "hosts/onnxruntime/onnx_part.h"

namespace latebind::provider {

std::shared_ptr<const Payload> Payload::read(const Host& host, const abi::Node* node, const char* attribute) {
  auto payload = std::make_shared<Payload>();
  const abi::OpAttr* found = nullptr;
  // A missing attribute is an error in some versions and null in others.
  if (abi::Status* missing = host->Node_GetAttributeByName(node, attribute, &found)) host->ReleaseStatus(missing);
  if (found == nullptr) return payload;
  std::size_t size = attribute_size(host, found, abi::kAttrString);
  if (size == 0) return payload;
  // Whole huge pages, including the last one.
  const std::size_t room =
      size < platform::kHugePage ? size : (size + platform::kHugePage - 1) / platform::kHugePage * platform::kHugePage;
  payload->memory_ = platform::large_memory(room, alignof(std::max_align_t));
  host.check(host->ReadOpAttr(found, abi::kAttrString, payload->memory_.get(), size, &size));
  payload->size_ = size;
  return payload;
}

}  // namespace latebind::provider
