#include "backends/native/kernels/products.inc.h"
#include "backends/native/kernels/sets.h"

namespace latebind::native {

constinit const Product kNeonDotprodInt8 = kInt8Product;

}  // namespace latebind::native
