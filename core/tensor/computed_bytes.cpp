#include "core/tensor/computed_bytes.h"

namespace latebind::core {

ComputedBytes::ComputedBytes(std::size_t size)
    : size_(size), memory_(std::make_unique_for_overwrite<std::byte[]>(size)) {}

ComputedBytes::~ComputedBytes() = default;

void ComputedBytes::fill() const {
  std::call_once(filled_, [this] { compute_all({memory_.get(), size_}); });
}

}  // namespace latebind::core
