#include "core/status.h"

#include <fmt/format.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <new>
#include <utility>

#include "core/text/one_line.h"
#include "core/text/utf8.h"

namespace latebind::core {

namespace {
constexpr std::string_view kOfSuccess = "an error was made with the code of success";
}  // namespace

struct Status::Error {
  StatusCode code;
  std::string message;
  std::optional<std::int64_t> vendor_code;
  std::string vendor_text;
  std::string details;
};

struct Status::Rep {
  const Error error;
  std::atomic<std::size_t> owners = 1;
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

bool reports_out_of_memory(std::string_view vendor_text) noexcept {
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

Status::Status(Error&& error) noexcept : rep_(new (std::nothrow) Rep{std::move(error)}) {
  if (rep_ == nullptr) *this = out_of_memory();
}

void Status::retain() const noexcept {
  rep_->owners.fetch_add(1, std::memory_order_relaxed);
}

void Status::release() noexcept {
  if (rep_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete rep_;
}

Status Status::out_of_memory() noexcept {
  // Never destroyed, because its first owner is never released. The message is short enough to need no memory.
  alignas(Rep) static std::byte place[sizeof(Rep)];
  static Rep* const rep = new (place) Rep{{StatusCode::kOutOfMemory, "out of memory", std::nullopt, {}, {}}};
  Status status;
  status.rep_ = rep;
  status.retain();
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
    : Status(Error{code == StatusCode::kOk ? StatusCode::kInternal : code, std::move(message), std::nullopt, {}, {}}) {
  if (code == StatusCode::kOk) *this = with_context(kOfSuccess);
}

Status Status::from_vendor(StatusCode code, std::string message, std::int64_t vendor_code,
                           std::string vendor_text) noexcept {
  const bool of_success = code == StatusCode::kOk;
  const Status status(
      Error{of_success ? StatusCode::kInternal : code, std::move(message), vendor_code, std::move(vendor_text), {}});
  return of_success ? status.with_context(kOfSuccess) : status;
}

StatusCode Status::code() const {
  return rep_ ? rep_->error.code : StatusCode::kOk;
}

std::string_view Status::message() const {
  return rep_ ? std::string_view(rep_->error.message) : std::string_view();
}

std::optional<std::int64_t> Status::vendor_code() const {
  return rep_ ? rep_->error.vendor_code : std::nullopt;
}

std::string_view Status::vendor_text() const {
  return rep_ ? std::string_view(rep_->error.vendor_text) : std::string_view();
}

std::string_view Status::details() const {
  return rep_ ? std::string_view(rep_->error.details) : std::string_view();
}

std::string Status::to_string() const {
  if (ok()) return "ok";
  std::string text = rep_->error.message;
  if (rep_->error.vendor_code && *rep_->error.vendor_code == 0 && !rep_->error.vendor_text.empty()) {
    text += fmt::format(" (vendor: {})", rep_->error.vendor_text);  // the vendor gave a text without a code
  } else if (rep_->error.vendor_code && !rep_->error.vendor_text.empty()) {
    text += fmt::format(" (vendor code {}: {})", *rep_->error.vendor_code, rep_->error.vendor_text);
  } else if (rep_->error.vendor_code) {
    text += fmt::format(" (vendor code {})", *rep_->error.vendor_code);
  }
  return one_line(text);
}

std::string Status::brief() const {
  if (ok()) return "ok";
  std::string text = rep_->error.message;
  if (!rep_->error.vendor_text.empty()) text += ": " + rep_->error.vendor_text;
  text = one_line(text);
  if (text.size() <= kBriefMax) return text;
  return std::string(cut_utf8(text, kBriefMax)) + " …";
}

Status Status::with_details(std::string details) const noexcept {
  if (ok()) return *this;
  try {
    Error error = rep_->error;
    error.details = std::move(details);
    Status status;
    status.rep_ = new Rep{std::move(error)};
    return status;
  } catch (const std::bad_alloc&) {
    return *this;
  }
}

Status Status::with_context(std::string_view context) const noexcept {
  if (ok()) return *this;
  try {
    Error error = rep_->error;
    error.message = fmt::format("{}: {}", context, error.message);
    Status status;
    status.rep_ = new Rep{std::move(error)};
    return status;
  } catch (...) {  // no memory, or an exception of the formatter
    return *this;
  }
}

}  // namespace latebind::core
