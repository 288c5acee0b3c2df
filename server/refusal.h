// Refusal is the reason why a request does not get what it asked for. Each protocol has its status and format for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/status.h"

namespace latebind::server {

enum class RefusalKind : std::uint8_t {
  kBadRequest,        // the body, a header or the query is invalid
  kUnauthorized,      // no key, or an unknown one
  kNotFound,          // unknown path
  kNoModel,           // unknown model
  kMethodNotAllowed,  // the path has other methods
  kTooLarge,          // the body or the head is too large
  kTooManyTexts,      // in one request
  kTooLong,           // a text that may not be truncated
  kUnsupported,       // valid, but not supported here
  kMediaType,         // unsupported media type or coding of the body
  kNeedsTls,          // plain HTTP on a TLS address
  kOverloaded,        // too much work is waiting
  kTimeout,           // the request's deadline passed
  kNotReady,          // models are loading, or the server is shutting down
  kFallback,          // strict: only a fallback could answer
  kDevice,            // every device failed
  kInternal,
};

struct Refusal {
  RefusalKind kind = RefusalKind::kInternal;
  std::string message{};       // for people; never contains a client's text
  std::string param{};         // the invalid member or header, if any
  unsigned retry_after_s = 0;  // 0: a retry does not help, or the time is unknown
};

// The word for metrics and log, such as "overloaded".
[[nodiscard]] std::string_view word_of(RefusalKind kind);
// The default HTTP status; protocols may use others.
[[nodiscard]] unsigned status_of(RefusalKind kind);
// Converts an error of the layers below.
[[nodiscard]] Refusal refusal_of(const core::Status& status);

}  // namespace latebind::server
