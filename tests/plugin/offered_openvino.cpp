// A plug-in of the backend openvino, for tests of the contract.
#include "backends/openvino/backend.h"
#include "backends/table/offer.h"

namespace latebind::table {
namespace {

constexpr Offer kOpenvino{.name = "openvino",
                          .version = LATEBIND_VERSION,
                          .settings = openvino::kSettings,
                          .make = openvino::configured_backend};

}  // namespace
}  // namespace latebind::table

extern "C" LBB_EXPORT lbb_code lb_backend_entry(const lbb_host* host, const lbb_table** table, lbb_error* error);
extern "C" LBB_EXPORT lbb_code lb_backend_entry(const lbb_host* host, const lbb_table** table, lbb_error* error) {
  return latebind::table::enter<latebind::table::kOpenvino>(host, table, error);
}
