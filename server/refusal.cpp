#include "server/refusal.h"

namespace latebind::server {

using core::StatusCode;

std::string_view word_of(RefusalKind kind) {
  switch (kind) {
    case RefusalKind::kBadRequest:
      return "bad_request";
    case RefusalKind::kUnauthorized:
      return "unauthorized";
    case RefusalKind::kNotFound:
      return "not_found";
    case RefusalKind::kNoModel:
      return "no_model";
    case RefusalKind::kMethodNotAllowed:
      return "method_not_allowed";
    case RefusalKind::kTooLarge:
      return "too_large";
    case RefusalKind::kTooManyTexts:
      return "too_many_texts";
    case RefusalKind::kTooLong:
      return "too_long";
    case RefusalKind::kUnsupported:
      return "unsupported";
    case RefusalKind::kMediaType:
      return "media_type";
    case RefusalKind::kNeedsTls:
      return "needs_tls";
    case RefusalKind::kOverloaded:
      return "overloaded";
    case RefusalKind::kTimeout:
      return "timeout";
    case RefusalKind::kNotReady:
      return "not_ready";
    case RefusalKind::kFallback:
      return "fallback";
    case RefusalKind::kDevice:
      return "device";
    case RefusalKind::kInternal:
      break;
  }
  return "internal";
}

unsigned status_of(RefusalKind kind) {
  switch (kind) {
    case RefusalKind::kBadRequest:
    case RefusalKind::kUnsupported:
    case RefusalKind::kNeedsTls:
      return 400;
    case RefusalKind::kUnauthorized:
      return 401;
    case RefusalKind::kNotFound:
    case RefusalKind::kNoModel:
      return 404;
    case RefusalKind::kMethodNotAllowed:
      return 405;
    case RefusalKind::kTooLarge:
    case RefusalKind::kTooLong:
      return 413;
    case RefusalKind::kTooManyTexts:
      return 422;
    case RefusalKind::kMediaType:
      return 415;
    case RefusalKind::kOverloaded:
      return 429;
    case RefusalKind::kNotReady:
    case RefusalKind::kFallback:
      return 503;
    case RefusalKind::kTimeout:
      return 504;
    case RefusalKind::kDevice:
    case RefusalKind::kInternal:
      break;
  }
  return 500;
}

Refusal refusal_of(const core::Status& status) {
  Refusal refusal;
  refusal.message = status.to_string();
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kShapeMismatch:
    case StatusCode::kTypeMismatch:
    case StatusCode::kCountMismatch:
      refusal.kind = RefusalKind::kBadRequest;
      break;
    case StatusCode::kTextTooLong:
      refusal.kind = RefusalKind::kTooLong;
      break;
    case StatusCode::kUnsupported:
      refusal.kind = RefusalKind::kUnsupported;
      break;
    case StatusCode::kBusy:
    case StatusCode::kOutOfMemory:
      refusal.kind = RefusalKind::kOverloaded;
      refusal.retry_after_s = 1;
      break;
    case StatusCode::kDeadlineExceeded:
      refusal.kind = RefusalKind::kTimeout;
      break;
    case StatusCode::kStrictFallback:
      refusal.kind = RefusalKind::kFallback;
      break;
    case StatusCode::kDeviceFailed:
    case StatusCode::kNoDevice:
      refusal.kind = RefusalKind::kDevice;
      refusal.retry_after_s = 1;
      break;
    default:
      refusal.kind = RefusalKind::kInternal;
      break;
  }
  return refusal;
}

}  // namespace latebind::server
