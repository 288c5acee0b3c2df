// How fast products are on this processor, by precision: measured, because no name of an instruction says it (bf16 is
// twice as fast as f32 on one maker's processors, and slower on another's).
#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "backends/native/kernels/kernels.h"
#include "core/backend.h"

namespace latebind::native {

struct ProbedProduct {
  core::Precision precision = core::Precision::kF32;
  const Product* product = nullptr;
};

// One thread multiplies matrices as a small encoder has them ([64,384] by [384,1536]) in each precision in turn, for
// about so long all in all and at least once; the best run of each counts. In the order of `products`. Throws
// std::bad_alloc. Any thread.
[[nodiscard]] std::vector<core::PrecisionSpeed> probe_products(const Kernels& kernels,
                                                               std::span<const ProbedProduct> products,
                                                               std::chrono::milliseconds time);

}  // namespace latebind::native
