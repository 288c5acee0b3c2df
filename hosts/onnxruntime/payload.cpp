#include "hosts/onnxruntime/payload.h"

#include <cstddef>
#include <new>
#include <span>

#include "core/platform/huge_pages.h"
#include "hosts/onnxruntime/onnx_part.h"

namespace latebind::provider {

std::shared_ptr<const Payload> Payload::read(const Host& host, const abi::Node* node, const char* attribute) {
  auto payload = std::make_shared<Payload>();
  const abi::OpAttr* found = nullptr;
  // An attribute that is not there is an error in some versions and null in others.
  if (abi::Status* missing = host->Node_GetAttributeByName(node, attribute, &found)) host->ReleaseStatus(missing);
  if (found == nullptr) return payload;
  std::size_t size = attribute_size(host, found, abi::kAttrString);
  if (size == 0) return payload;
  const bool is_large = size >= platform::kHugePage;
  const std::size_t room =
      is_large ? (size + platform::kHugePage - 1) / platform::kHugePage * platform::kHugePage : size;
  const std::align_val_t alignment{is_large ? platform::kHugePage : alignof(std::max_align_t)};
  payload->bytes_ = {static_cast<char*>(::operator new(room, alignment)), Free{alignment}};
  platform::prefer_huge_pages(std::as_writable_bytes(std::span(payload->bytes_.get(), room)));
  host.check(host->ReadOpAttr(found, abi::kAttrString, payload->bytes_.get(), size, &size));
  payload->size_ = size;
  return payload;
}

}  // namespace latebind::provider
