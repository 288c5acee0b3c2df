// The tables that the files of kernels define, for kernels.cpp only.
#pragma once

#include "backends/native/kernels/kernels.h"

namespace latebind::native {

// Complete tables with products in f32.
extern const Kernels kPortableKernels;
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
#endif

// Products that newer instructions add to a table with panels of the same width. Products in int8 have no attention.
#if defined(__x86_64__)
extern const Product kAvx2VnniInt8;
extern const Product kAvx512VnniInt8;
extern const Product kAvx512BF16;
extern const Product kAvx512FP16;
#elif defined(__aarch64__)
// Additions to kPortableKernels.
extern const Product kNeonDotprodInt8;
extern const Product kNeonFP16;
extern const Product kNeonBF16;
extern const Product kNeonI8mmBF16;
extern const Product kNeonI8mmInt8;
#endif

}  // namespace latebind::native
