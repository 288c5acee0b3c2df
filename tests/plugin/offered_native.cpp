// A plug-in of the backend native, for tests of the contract.
#include "backends/native/backend.h"
#include "backends/table/offer.h"

namespace latebind::table {
namespace {

constexpr Offer kNative{.name = native::kBackendName,
                        .version = LATEBIND_VERSION,
                        .settings = native::kSettings,
                        .make = native::configured_backend};

}  // namespace
}  // namespace latebind::table

extern "C" LBB_EXPORT lbb_code lb_backend_entry(const lbb_host* host, const lbb_table** table, lbb_error* error);
extern "C" LBB_EXPORT lbb_code lb_backend_entry(const lbb_host* host, const lbb_table** table, lbb_error* error) {
  return latebind::table::enter<latebind::table::kNative>(host, table, error);
}
