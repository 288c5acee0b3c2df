#include "api/c_support.h"

#include <fmt/format.h>

#include "core/status.h"

namespace latebind::api {
namespace {

struct LastError {
  core::Status status;
  std::string message;
  std::string vendor_text;
};

LastError& last_error() {
  thread_local LastError error;
  return error;
}

}  // namespace

lb_code report(const core::Status& status) {
  if (!status.ok()) {
    LastError& error = last_error();
    error.status = status;
    error.message = status.to_string();
    error.vendor_text = std::string(status.vendor_text());
  }
  return static_cast<lb_code>(status.code());
}

core::Status check_made_here(const platform::MadeIn& made, std::string_view what) {
  if (made.this_process()) return {};
  return misuse(
      fmt::format("this {0} was made before fork(), and a child process has none of the threads that it needs; "
                  "make another {0} in the child",
                  what));
}

core::Status misuse(std::string message) {
  return core::Status(core::StatusCode::kInvalidArgument, std::move(message));
}

}  // namespace latebind::api

using latebind::core::StatusCode;

void lb_last_error(lb_error* error) {
  if (error == nullptr || error->struct_size < sizeof(size_t)) return;
  const auto& last = latebind::api::last_error();
  lb_error value{};
  value.code = static_cast<lb_code>(last.status.code());
  value.retryable = latebind::core::is_retryable(last.status.code()) ? 1 : 0;
  value.message = last.message.c_str();
  value.has_vendor_code = last.status.vendor_code().has_value() ? 1 : 0;
  value.vendor_code = last.status.vendor_code().value_or(0);
  value.vendor_text = last.vendor_text.c_str();
  const auto written = latebind::api::write_struct(value, error, "lb_error");
  static_cast<void>(written);  // the size was checked above
}

const char* lb_code_name(lb_code code) {
  // The names are literals: they end in NUL.
  return latebind::core::name_of(static_cast<StatusCode>(code)).data();
}
