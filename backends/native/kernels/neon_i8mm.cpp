#include "backends/native/kernels/products.inc.h"
#include "backends/native/kernels/sets.h"

namespace latebind::native {

constinit const Product kNeonI8mmBF16 = kBF16Product;
constinit const Product kNeonI8mmInt8 = kInt8Product;

}  // namespace latebind::native
