// The sets of kernels of this build, for kernels.cpp alone.
#pragma once

#include "backends/native/kernels/kernels.h"

namespace latebind::native {

extern const Kernels kPortableKernels;
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
extern const Kernels kAvx512VnniKernels;
extern const Kernels kAvx512Bf16Kernels;
#endif

}  // namespace latebind::native
