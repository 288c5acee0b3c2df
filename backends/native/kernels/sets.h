// What the files of kernels define, for kernels.cpp alone.
#pragma once

#include "backends/native/kernels/kernels.h"

namespace latebind::native {

// All that computing in f32 needs.
extern const Kernels kPortableKernels;
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
// What newer instructions add to kAvx512Kernels, whose panels are as wide. The product in int8 has no attention of its
// own.
extern const Product kAvx512VnniInt8;
extern const Product kAvx512BF16;
#endif

}  // namespace latebind::native
