#include "backends/native/kernels/kernels.inc.h"
#include "backends/native/kernels/sets.h"

namespace latebind::native {

constinit const Kernels kAvx2Kernels = make_kernels("avx2");

}  // namespace latebind::native
