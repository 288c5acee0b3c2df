// A host that has the delegate among the libraries that it was linked with: it is registered before main().
#include <executorch/runtime/backend/interface.h>

int main() {
  return ::executorch::runtime::get_backend_class("LatebindBackend") != nullptr ? 0 : 1;
}
