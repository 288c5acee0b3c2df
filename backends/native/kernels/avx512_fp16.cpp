#include "backends/native/kernels/products.inc.h"
#include "backends/native/kernels/sets.h"

namespace latebind::native {

constinit const Product kAvx512FP16 = kF16Product;

}  // namespace latebind::native
