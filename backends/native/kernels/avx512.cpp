#include "backends/native/kernels/kernels.inc.h"
#include "backends/native/kernels/sets.h"

namespace latebind::native {

constinit const Kernels kAvx512Kernels = make_kernels("avx512");

}  // namespace latebind::native
