// A built-in backend as a plug-in of another name: TWIN_NAME, of the backend in the namespace TWIN_OF. Whatever the
// backend computes, its twin computes, too.
#include "backends/native/backend.h"
#include "backends/openvino/backend.h"
#include "backends/table/offer.h"

namespace {

constexpr latebind::table::Offer kTwin{
    .name = TWIN_NAME, .version = "3.1", .settings = {}, .make = latebind::TWIN_OF::configured_backend};

}  // namespace

extern "C" LBB_EXPORT lbb_code lb_backend_entry(const lbb_host* host, const lbb_table** table, lbb_error* error) {
  return latebind::table::enter<kTwin>(host, table, error);
}
