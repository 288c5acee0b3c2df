// The options of one call of the C interface: time limit, cancellation, attestation.
#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "api/c_objects.h"
#include "api/c_support.h"

namespace api = latebind::api;
namespace core = latebind::core;

namespace latebind::api {

std::chrono::milliseconds bounded_milliseconds(std::uint64_t given) {
  return std::chrono::milliseconds(std::min(given, std::uint64_t{365} * 24 * 3600 * 1000));
}

core::Result<Call> read_call(const lb_call_options* given) {
  LB_ASSIGN_OR_RETURN(const lb_call_options read, read_struct(given, "lb_call_options"));
  Call call;
  call.answered_by = read.answered_by;
  if (read.timeout_ms > 0) {
    call.limits.deadline = std::chrono::steady_clock::now() + bounded_milliseconds(read.timeout_ms);
  }
  if (read.cancellation != nullptr) {
    LB_RETURN_IF_ERROR(check_made_here(read.cancellation->made, "cancellation"));
    call.limits.cancellation = read.cancellation->cancellation;
  }
  return call;
}

core::Status give_attestation(std::shared_ptr<const core::Attestation> attestation, lb_attestation** out,
                              std::size_t hung_runs) {
  if (out == nullptr) return misuse("the pointer to the attestation is NULL");
  *out = new lb_attestation{std::move(attestation), hung_runs};
  return {};
}

}  // namespace latebind::api

lb_code lb_cancellation_create(lb_cancellation** cancellation) {
  return api::guarded([&]() -> core::Status {
    if (cancellation == nullptr) return api::misuse("lb_cancellation_create: the pointer to the cancellation is NULL");
    *cancellation = new lb_cancellation;
    return {};
  });
}

void lb_cancellation_request(const lb_cancellation* cancellation) {
  // The parent's cancellation may be locked forever, and refers to threads that the child does not have.
  if (cancellation != nullptr && cancellation->made.this_process()) cancellation->cancellation.request();
}

void lb_cancellation_destroy(lb_cancellation* cancellation) {
  if (cancellation != nullptr) api::destroy(cancellation, cancellation->made);
}
