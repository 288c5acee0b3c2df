// What the library of the plug-in exports: the backend pjrt through the contract.
#include "backends/pjrt/backend.h"
#include "backends/table/offer.h"

namespace latebind::pjrt {
namespace {

constexpr table::Offer kOffer{
    .name = kBackendName, .version = LATEBIND_VERSION, .settings = kSettings, .make = configured_backend};

}  // namespace
}  // namespace latebind::pjrt

extern "C" LBB_EXPORT lbb_code lb_backend_entry(const lbb_host* host, const lbb_table** table, lbb_error* error);
extern "C" LBB_EXPORT lbb_code lb_backend_entry(const lbb_host* host, const lbb_table** table, lbb_error* error) {
  return latebind::table::enter<latebind::pjrt::kOffer>(host, table, error);
}
