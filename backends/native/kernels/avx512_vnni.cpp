#include "backends/native/kernels/kernels.inc.h"
#include "backends/native/kernels/sets.h"

namespace latebind::native {

constinit const Kernels kAvx512VnniKernels = make_kernels("avx512_vnni");

}  // namespace latebind::native
