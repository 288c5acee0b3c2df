#include "api/c_objects.h"
#include "api/c_support.h"

namespace api = latebind::api;
namespace core = latebind::core;

namespace latebind::api {

core::Result<core::Cancellation> cancellation_of(const lb_cancellation* given) {
  if (given == nullptr) return core::Cancellation();
  LB_RETURN_IF_ERROR(check_made_here(given->made, "cancellation"));
  return given->cancellation;
}

}  // namespace latebind::api

lb_code lb_cancellation_create(lb_cancellation** cancellation) {
  return api::guarded([&]() -> core::Status {
    if (cancellation == nullptr) return api::misuse("lb_cancellation_create: no place for the cancellation was given");
    *cancellation = new lb_cancellation;
    return {};
  });
}

void lb_cancellation_request(const lb_cancellation* cancellation) {
  // One of the parent's may be locked for ever, and names what its threads wait for.
  if (cancellation != nullptr && cancellation->made.this_process()) cancellation->cancellation.request();
}

void lb_cancellation_destroy(lb_cancellation* cancellation) {
  if (cancellation != nullptr) api::destroy(cancellation, cancellation->made);
}
