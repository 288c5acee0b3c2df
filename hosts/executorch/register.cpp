// Registers the delegate when the library is loaded. This opens no file, and prints only if the name is taken.
#include <executorch/runtime/backend/interface.h>

#include "hosts/executorch/delegate.h"
#include "hosts/executorch/log.h"

namespace {

// Never destroyed: ExecuTorch keeps the pointer, and methods may outlive the static objects of any library.
[[maybe_unused]] const bool g_registered = [] {
  namespace et = ::executorch::runtime;
  using latebind::delegate::kBackendId;
  static auto* backend = new latebind::delegate::LatebindBackend;
  const et::Error error = et::register_backend({kBackendId, backend});
  if (error == et::Error::Ok) return true;
  latebind::delegate::say(
      latebind::delegate::Level::kError,
      error == et::Error::InvalidArgument
          ? "was not registered: another library has already registered this name; load only one of them"
          : "was not registered: ExecuTorch has no place for another backend");
  return false;
}();

}  // namespace
