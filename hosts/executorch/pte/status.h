// Status and Result of this folder: the codes are those of the public interface (latebind.h), the text is one line that
// says what was found and what to do. Values; any thread.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "include/latebind/latebind.h"

namespace latebind::pte {

class [[nodiscard]] Status {
 public:
  Status() = default;
  // An error. LB_OK would be none and becomes LB_INTERNAL.
  Status(lb_code code, std::string message)
      : code_(code == LB_OK ? static_cast<lb_code>(LB_INTERNAL) : code), message_(std::move(message)) {}

  [[nodiscard]] bool ok() const { return code_ == LB_OK; }
  [[nodiscard]] lb_code code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  lb_code code_ = LB_OK;
  std::string message_;
};

// A value, or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {
    if (status_.ok()) status_ = Status(LB_INTERNAL, "a result without a value");
  }

  [[nodiscard]] bool ok() const { return value_.has_value(); }
  [[nodiscard]] const Status& status() const { return status_; }

  // Only when ok().
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace latebind::pte
