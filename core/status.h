// Status: the outcome of an operation that can fail.
//
// A Status is either ok or an error with a code, Latebind's message and, if a vendor library was involved, that
// vendor's code and text, verbatim. Codes come in bands, so that a caller can decide what to do without knowing every
// code. The band says what was wrong: the call, the machine, its present resources, or Latebind.
//
// Values are immutable, cheap to move, cheap to copy (one shared block) and may be read from any thread. Creating one
// does not throw: without memory for an error, the result is out_of_memory(); without memory for an addition, the
// Status stays as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace latebind::core {

// The numbers are part of the C ABI (latebind.h repeats them). They never change and are never reused.
enum class StatusCode : std::int32_t {
  kOk = 0,

  // Caller's error: the same call fails again until the caller changes it.
  kInvalidArgument = 100,
  kNotFound = 101,
  kInvalidModel = 102,   // a model, tokenizer or configuration file is damaged or makes no sense
  kShapeMismatch = 103,  // names the tensor, the expected and the given shape
  kTypeMismatch = 104,
  kCountMismatch = 105,
  kUnsupported = 106,  // understood, but not supported by this build, backend or device
  kBufferTooSmall = 107,
  kTextTooLong = 108,  // more tokens than allowed, and the text must not be cut

  // Environment: the machine has to change (install, configure, plug in) before a retry can help.
  kLibraryNotFound = 200,
  kLibraryUnusable = 201,  // found, but damaged, too old, or with symbols missing
  kDeviceNotFound = 202,
  kIncompatibleBlob = 203,  // made for another version or device; use the portable model
  kNoDevice = 204,          // every device of the placement was rejected; the message has the reasons
  kStrictFallback = 205,    // only a fallback could have answered, and strict mode forbids it
  kPermissionDenied = 206,
  kIo = 207,

  // Resource: a retry may help, now or later.
  kBusy = 300,
  kDeadlineExceeded = 301,
  kOutOfMemory = 302,
  kDiskFull = 303,
  kDeviceFailed = 304,  // the vendor failed while compiling or running; another device may succeed
  kCancelled = 305,

  // Internal: a bug in Latebind or the vendor's library.
  kInternal = 400,
};

enum class StatusBand { kOk, kCaller, kEnvironment, kResource, kInternal };

[[nodiscard]] StatusBand band_of(StatusCode code);

// Returns a stable upper-case name for logs and JSON, such as "LIBRARY_NOT_FOUND".
[[nodiscard]] std::string_view name_of(StatusCode code);

// Whether the same call may succeed later without any change.
[[nodiscard]] bool is_retryable(StatusCode code);
// Whether a vendor's text reports a lack of memory, for which vendors have no code.
[[nodiscard]] bool reports_out_of_memory(std::string_view vendor_text) noexcept;

class [[nodiscard]] Status {
 public:
  // An ok status.
  Status() = default;
  Status(const Status& other) noexcept : rep_(other.rep_) {
    if (rep_ != nullptr) retain();
  }
  Status(Status&& other) noexcept : rep_(std::exchange(other.rep_, nullptr)) {}
  Status& operator=(Status other) noexcept {
    std::swap(rep_, other.rep_);
    return *this;
  }
  ~Status() {
    if (rep_ != nullptr) release();
  }

  // An error. `code` must not be kOk; if it is, the result is kInternal and says so.
  Status(StatusCode code, std::string message) noexcept;

  // Returns kOutOfMemory, without needing memory.
  [[nodiscard]] static Status out_of_memory() noexcept;
  // Converts the current exception, in a catch (...) that lets no exception through: out_of_memory() for
  // std::bad_alloc, otherwise kInternal with the exception's message.
  [[nodiscard]] static Status of_exception() noexcept;

  // An error that a vendor reported. `vendor_text` is kept unchanged.
  static Status from_vendor(StatusCode code, std::string message, std::int64_t vendor_code,
                            std::string vendor_text) noexcept;

  [[nodiscard]] bool ok() const { return rep_ == nullptr; }
  [[nodiscard]] StatusCode code() const;

  // Latebind's message, without the vendor's. Empty when ok.
  [[nodiscard]] std::string_view message() const;
  [[nodiscard]] std::optional<std::int64_t> vendor_code() const;
  [[nodiscard]] std::string_view vendor_text() const;

  // Returns one line for people: the message, then the vendor's code and text if there are any. It omits the details.
  [[nodiscard]] std::string to_string() const;

  // Returns one short line: the message and the vendor's text, cut after kBriefMax bytes.
  static constexpr std::size_t kBriefMax = 400;
  [[nodiscard]] std::string brief() const;

  // Returns what led to the error, such as every place where a library was looked for: one item a line, without a line
  // end after the last one. Empty when there are no details. The view refers to this status.
  [[nodiscard]] std::string_view details() const;

  // Returns the same error with its details replaced by these.
  [[nodiscard]] Status with_details(std::string details) const noexcept;

  // Returns the same error with `context` and ": " before its message; ok stays ok.
  [[nodiscard]] Status with_context(std::string_view context) const noexcept;

 private:
  // Status counts its owners itself: most functions here destroy or copy a Status, and std::shared_ptr would inline the
  // counting into each of them.
  struct Rep;
  struct Error;
  // Makes an error, or out_of_memory().
  explicit Status(Error&& error) noexcept;

  // Require rep_ != nullptr.
  void retain() const noexcept;
  void release() noexcept;

  Rep* rep_ = nullptr;
};

}  // namespace latebind::core

// Returns from the enclosing function with the error, if `expr` is one.
#define LB_RETURN_IF_ERROR(expr)                      \
  do {                                                \
    if (auto lb_status_ = (expr); !lb_status_.ok()) { \
      return lb_status_;                              \
    }                                                 \
  } while (false)
