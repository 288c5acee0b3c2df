#include "api/c_support.h"

#include <fmt/format.h>

#include <atomic>
#include <new>

#include "core/status.h"
#include "core/threads/thread_object.h"

namespace latebind::api {
namespace {

struct LastError {
  core::Status status;       // has the vendor's text, and the message if there was no memory for `whole`
  std::string whole;         // message, vendor's code and text
  const char* message = "";  // points into `whole` or `status`
};

// Outlives the strings; see core/threads/thread_object.h.
thread_local core::StatusCode t_last_code = core::StatusCode::kOk;

constexpr const char* kNoWords = "the text of this error was not kept: the thread is ending, or is out of memory";

}  // namespace

lb_code report(const core::Status& status) noexcept {
  if (!status.ok()) {
    t_last_code = status.code();
    auto* const error = core::ThreadObject<LastError>::get();
    if (error == nullptr) return static_cast<lb_code>(status.code());
    error->status = status;
    try {
      error->whole = status.to_string();
      error->message = error->whole.c_str();
    } catch (...) {
      error->message = error->status.message().data();  // from a std::string, hence NUL-terminated
    }
  }
  return static_cast<lb_code>(status.code());
}

void keep_for_ever(const void* object) noexcept {
  struct Kept {
    const void* object;
    Kept* next;
  };
  static std::atomic<Kept*> all{nullptr};
  auto* const kept = new (std::nothrow) Kept{object, all.load()};
  while (kept != nullptr && !all.compare_exchange_weak(kept->next, kept)) {
  }
}

core::Status check_made_here(const platform::MadeIn& made, std::string_view what) {
  if (made.this_process()) return {};
  return misuse(
      fmt::format("this {0} was created before fork(), and its threads do not exist in a child process; create another "
                  "{0} in the child",
                  what));
}

core::Status misuse(std::string message) {
  return core::Status(core::StatusCode::kInvalidArgument, std::move(message));
}

core::Status check_struct_size(size_t size, size_t alignment, std::string_view what) {
  constexpr size_t kMax = 65'536;
  if (size >= sizeof(size_t) && size <= kMax && size % alignment == 0) return {};
  return misuse(size == 0 ? fmt::format("{0}.struct_size is not set; use LB_INIT({0})", what)
                          : fmt::format("{0}.struct_size is {1}, which does not match any version; use LB_INIT({0})",
                                        what, size));
}

core::Status check_reserved(int32_t value, std::string_view type, std::string_view what, size_t index) {
  if (value == 0) return {};
  return misuse(fmt::format("{} {}: {}.reserved_ is {} and must be 0; initialise the struct with zeros", what, index,
                            type, value));
}

}  // namespace latebind::api

using latebind::core::StatusCode;

void lb_last_error(lb_error* error) {
  if (error == nullptr || error->struct_size < sizeof(size_t)) return;
  const StatusCode code = latebind::api::t_last_code;
  const auto* const last = latebind::core::ThreadObject<latebind::api::LastError>::get();
  lb_error value{};
  value.code = static_cast<lb_code>(code);
  value.retryable = latebind::core::is_retryable(code) ? 1 : 0;
  value.message = code == StatusCode::kOk ? "" : latebind::api::kNoWords;
  value.vendor_text = "";
  value.details = "";
  if (last != nullptr && code != StatusCode::kOk && last->status.code() == code) {
    value.message = last->message;
    value.has_vendor_code = last->status.vendor_code().has_value() ? 1 : 0;
    value.vendor_code = last->status.vendor_code().value_or(0);
    value.vendor_text = last->status.vendor_text().data();  // from a std::string, hence NUL-terminated
    value.details = last->status.details().data();          // likewise
  }
  const auto written = latebind::api::write_struct(value, error, "lb_error");
  static_cast<void>(written);  // the size was checked above
}

const char* lb_code_name(lb_code code) {
  // The names are NUL-terminated literals.
  return latebind::core::name_of(static_cast<StatusCode>(code)).data();
}
