#include "core/status.h"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <utility>

#include "core/text/one_line.h"
#include "core/text/utf8.h"

namespace latebind::core {

namespace {
constexpr std::string_view kOfSuccess = "an error was made with the code of success";
}  // namespace

struct Status::Rep {
  StatusCode code;
  std::string message;
  std::optional<std::int64_t> vendor_code;
  std::string vendor_text;
  std::string details;
};

StatusBand band_of(StatusCode code) {
  const auto number = static_cast<std::int32_t>(code);
  if (number == 0) return StatusBand::kOk;
  if (number < 200) return StatusBand::kCaller;
  if (number < 300) return StatusBand::kEnvironment;
  if (number < 400) return StatusBand::kResource;
  return StatusBand::kInternal;
}

std::string_view name_of(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "OK";
    case StatusCode::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case StatusCode::kNotFound:
      return "NOT_FOUND";
    case StatusCode::kInvalidModel:
      return "INVALID_MODEL";
    case StatusCode::kShapeMismatch:
      return "SHAPE_MISMATCH";
    case StatusCode::kTypeMismatch:
      return "TYPE_MISMATCH";
    case StatusCode::kCountMismatch:
      return "COUNT_MISMATCH";
    case StatusCode::kUnsupported:
      return "UNSUPPORTED";
    case StatusCode::kBufferTooSmall:
      return "BUFFER_TOO_SMALL";
    case StatusCode::kTextTooLong:
      return "TEXT_TOO_LONG";
    case StatusCode::kLibraryNotFound:
      return "LIBRARY_NOT_FOUND";
    case StatusCode::kLibraryUnusable:
      return "LIBRARY_UNUSABLE";
    case StatusCode::kDeviceNotFound:
      return "DEVICE_NOT_FOUND";
    case StatusCode::kIncompatibleBlob:
      return "INCOMPATIBLE_BLOB";
    case StatusCode::kNoDevice:
      return "NO_DEVICE";
    case StatusCode::kStrictFallback:
      return "STRICT_FALLBACK";
    case StatusCode::kPermissionDenied:
      return "PERMISSION_DENIED";
    case StatusCode::kIo:
      return "IO";
    case StatusCode::kBusy:
      return "BUSY";
    case StatusCode::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case StatusCode::kOutOfMemory:
      return "OUT_OF_MEMORY";
    case StatusCode::kDiskFull:
      return "DISK_FULL";
    case StatusCode::kDeviceFailed:
      return "DEVICE_FAILED";
    case StatusCode::kCancelled:
      return "CANCELLED";
    case StatusCode::kInternal:
      return "INTERNAL";
  }
  return "UNKNOWN";
}

bool tells_of_no_memory(std::string_view vendor_text) noexcept {
  if (vendor_text.find("bad_alloc") != std::string_view::npos) return true;
  // OpenVINO: "Failed to allocate 640000000000 bytes of memory"; ONNX Runtime: "Failed to allocate memory for requested
  // buffer of size 640000000000".
  const auto found = vendor_text.find("Failed to allocate ");
  if (found == std::string_view::npos) return false;
  const auto line = vendor_text.substr(found, vendor_text.find('\n', found) - found);
  return line.find("memory") != std::string_view::npos;
}

bool is_retryable(StatusCode code) {
  return band_of(code) == StatusBand::kResource && code != StatusCode::kCancelled;
}

std::shared_ptr<const Status::Rep> Status::shared(Rep&& rep) noexcept {
  try {
    return std::make_shared<const Rep>(std::move(rep));
  } catch (const std::bad_alloc&) {
    return out_of_memory().rep_;
  }
}

Status Status::out_of_memory() noexcept {
  // Never destroyed; short enough for the string to need no memory. Shared without anybody counting.
  alignas(Rep) static std::byte place[sizeof(Rep)];
  static const Rep* const rep = new (place) Rep{StatusCode::kOutOfMemory, "out of memory", std::nullopt, {}, {}};
  Status status;
  status.rep_ = std::shared_ptr<const Rep>(std::shared_ptr<const Rep>(), rep);
  return status;
}

Status Status::of_exception() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::exception& error) {
    try {
      return Status(StatusCode::kInternal, std::string("unexpected: ") + error.what());
    } catch (const std::bad_alloc&) {
      return out_of_memory();
    }
  } catch (...) {
    return Status(StatusCode::kInternal, "unexpected");  // too short to need memory
  }
}

Status::Status(StatusCode code, std::string message) noexcept
    : rep_(shared({code == StatusCode::kOk ? StatusCode::kInternal : code, std::move(message), std::nullopt, {}, {}})) {
  if (code == StatusCode::kOk) *this = with_context(kOfSuccess);
}

Status Status::from_vendor(StatusCode code, std::string message, std::int64_t vendor_code,
                           std::string vendor_text) noexcept {
  Status status;
  const bool of_success = code == StatusCode::kOk;
  status.rep_ =
      shared({of_success ? StatusCode::kInternal : code, std::move(message), vendor_code, std::move(vendor_text), {}});
  return of_success ? status.with_context(kOfSuccess) : status;
}

StatusCode Status::code() const {
  return rep_ ? rep_->code : StatusCode::kOk;
}

std::string_view Status::message() const {
  return rep_ ? std::string_view(rep_->message) : std::string_view();
}

std::optional<std::int64_t> Status::vendor_code() const {
  return rep_ ? rep_->vendor_code : std::nullopt;
}

std::string_view Status::vendor_text() const {
  return rep_ ? std::string_view(rep_->vendor_text) : std::string_view();
}

std::string_view Status::details() const {
  return rep_ ? std::string_view(rep_->details) : std::string_view();
}

std::string Status::to_string() const {
  if (ok()) return "ok";
  std::string text = rep_->message;
  if (rep_->vendor_code && *rep_->vendor_code == 0 && !rep_->vendor_text.empty()) {
    text += fmt::format(" (vendor: {})", rep_->vendor_text);  // a text without a code
  } else if (rep_->vendor_code && !rep_->vendor_text.empty()) {
    text += fmt::format(" (vendor code {}: {})", *rep_->vendor_code, rep_->vendor_text);
  } else if (rep_->vendor_code) {
    text += fmt::format(" (vendor code {})", *rep_->vendor_code);
  }
  return one_line(text);
}

std::string Status::brief() const {
  if (ok()) return "ok";
  std::string text = rep_->message;
  if (!rep_->vendor_text.empty()) text += ": " + rep_->vendor_text;
  text = one_line(text);
  if (text.size() <= kBriefMax) return text;
  return std::string(cut_utf8(text, kBriefMax)) + " …";
}

Status Status::with_details(std::string details) const noexcept {
  if (ok()) return *this;
  try {
    Status status;
    Rep rep = *rep_;
    rep.details = std::move(details);
    status.rep_ = std::make_shared<const Rep>(std::move(rep));
    return status;
  } catch (const std::bad_alloc&) {
    return *this;
  }
}

Status Status::with_context(std::string_view context) const noexcept {
  if (ok()) return *this;
  try {
    Status status;
    Rep rep = *rep_;
    rep.message = fmt::format("{}: {}", context, rep.message);
    status.rep_ = std::make_shared<const Rep>(std::move(rep));
    return status;
  } catch (...) {  // no memory, or what formatting makes of that
    return *this;
  }
}

}  // namespace latebind::core
