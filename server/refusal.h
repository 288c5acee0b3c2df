// Refusal: why a request is not answered with what it asked for. Each protocol has its own status and words for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/status.h"

namespace latebind::server {

enum class RefusalKind : std::uint8_t {
  kBadRequest,        // the body, a header or the query is wrong
  kUnauthorized,      // no key, or an unknown one
  kNotFound,          // no such path
  kNoModel,           // no model with that name
  kMethodNotAllowed,  // the path has other methods
  kTooLarge,          // the body or the head is too large
  kTooManyTexts,      // in one request
  kTooLong,           // a text, where it may not be cut
  kUnsupported,       // understood, and not possible here
  kMediaType,         // no body of this type or coding
  kNeedsTls,          // plain HTTP where TLS is spoken
  kOverloaded,        // too much waits already
  kTimeout,           // the request's time was up
  kNotReady,          // models are still loading, or the server is ending
  kFallback,          // strict: only a fallback could answer
  kDevice,            // the device failed, and every other one
  kInternal,
};

struct Refusal {
  RefusalKind kind = RefusalKind::kInternal;
  std::string message{};       // for people; without the client's text
  std::string param{};         // the member or header that is wrong, where there is one
  unsigned retry_after_s = 0;  // 0: a retry does not help, or nobody knows
};

// The word of metrics and log: "overloaded".
[[nodiscard]] std::string_view word_of(RefusalKind kind);
// What HTTP calls it; protocols may differ.
[[nodiscard]] unsigned status_of(RefusalKind kind);
// An error of the layers below.
[[nodiscard]] Refusal refusal_of(const core::Status& status);

}  // namespace latebind::server
