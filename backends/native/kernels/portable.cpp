#include "backends/native/kernels/kernels.inc.h"
#include "backends/native/kernels/sets.h"

namespace latebind::native {

constinit const Kernels kPortableKernels = make_kernels("portable");

}  // namespace latebind::native
