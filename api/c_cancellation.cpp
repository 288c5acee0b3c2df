#include "api/c_objects.h"
#include "api/c_support.h"

namespace api = latebind::api;
namespace core = latebind::core;

lb_code lb_cancellation_create(lb_cancellation** cancellation) {
  return api::guarded([&]() -> core::Status {
    if (cancellation == nullptr) return api::misuse("lb_cancellation_create: no place for the cancellation was given");
    *cancellation = new lb_cancellation;
    return {};
  });
}

void lb_cancellation_request(const lb_cancellation* cancellation) {
  if (cancellation != nullptr) cancellation->cancellation.request();
}

void lb_cancellation_destroy(lb_cancellation* cancellation) {
  delete cancellation;
}
