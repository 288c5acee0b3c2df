// Measures the speed of products on this processor, by precision. The instruction set alone does not determine it: bf16
// is twice as fast as f32 on one vendor's processors, and slower on another's.
#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "backends/native/kernels/kernels.h"
#include "core/backend/capabilities.h"

namespace latebind::native {

struct ProbedProduct {
  core::Precision precision = core::Precision::kF32;
  const Product* product = nullptr;
};

// Multiplies matrices of a small encoder's size ([64,384] by [384,1536]) on one thread, alternating between the
// precisions, for about `time` in total and at least once each. The best run of each precision counts. The results are
// in the order of `products`. Throws std::bad_alloc. Any thread.
[[nodiscard]] std::vector<core::PrecisionSpeed> probe_products(const Kernels& kernels,
                                                               std::span<const ProbedProduct> products,
                                                               std::chrono::milliseconds time);

}  // namespace latebind::native
