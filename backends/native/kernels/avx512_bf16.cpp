#include "backends/native/kernels/kernels.inc.h"
#include "backends/native/kernels/sets.h"

namespace latebind::native {

constinit const Kernels kAvx512Bf16Kernels = make_kernels("avx512_bf16");

}  // namespace latebind::native
