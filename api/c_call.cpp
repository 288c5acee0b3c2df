// What belongs to one call of the C interface: time, cancellation, who answered.
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

core::Result<core::RunOptions> limits_of(const lb_call_options* given) {
  LB_ASSIGN_OR_RETURN(const lb_call_options call, read_struct(given, "lb_call_options"));
  core::RunOptions limits;
  if (call.timeout_ms > 0) limits.deadline = std::chrono::steady_clock::now() + bounded_milliseconds(call.timeout_ms);
  if (call.cancellation != nullptr) {
    LB_RETURN_IF_ERROR(check_made_here(call.cancellation->made, "cancellation"));
    limits.cancellation = call.cancellation->cancellation;
  }
  return limits;
}

lb_attestation** answered_by(const lb_call_options* given) {
  const auto call = read_struct(given, "lb_call_options");
  return call.ok() ? call->answered_by : nullptr;
}

core::Status give_attestation(std::shared_ptr<const core::Attestation> attestation, lb_attestation** out,
                              std::size_t hung_runs) {
  if (out == nullptr) return misuse("no place for the attestation was given");
  *out = new lb_attestation{std::move(attestation), hung_runs};
  return {};
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
