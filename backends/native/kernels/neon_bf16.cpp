#include "backends/native/kernels/products.inc.h"
#include "backends/native/kernels/sets.h"

namespace latebind::native {

constinit const Product kNeonBF16 = kBF16Product;

}  // namespace latebind::native
