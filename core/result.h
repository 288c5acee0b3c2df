// Result<T>: a value, or the Status that says why there is no value.
//
// A Result made from an ok Status becomes an internal error, so a Result always has a value or an error. It implements
// by hand what std::variant would do, because that saves compilers a tenth of the time on a file with many Result
// types.
#pragma once

#include <cassert>
#include <memory>
#include <type_traits>
#include <utility>

#include "core/status.h"

namespace latebind::core {

template <class T>
class [[nodiscard]] Result {
  static_assert(!std::is_same_v<std::remove_cvref_t<T>, Status>, "use Status itself");

 public:
  Result(T value) : value_(std::move(value)), has_value_(true) {}
  Result(Status status)
      : status_(status.ok() ? Status(StatusCode::kInternal, "a result was made from an ok status") : std::move(status)),
        has_value_(false) {}

  Result(const Result& other) requires std::is_copy_constructible_v<T> : has_value_(other.has_value_) {
    if (has_value_) {
      std::construct_at(&value_, other.value_);
    } else {
      std::construct_at(&status_, other.status_);
    }
  }
  Result(Result&& other) noexcept : has_value_(other.has_value_) { take(other); }
  // Takes its argument by value: the old state is destroyed when the new one is complete.
  Result& operator=(Result other) noexcept {
    destroy();
    has_value_ = other.has_value_;
    take(other);
    return *this;
  }
  ~Result() { destroy(); }

  [[nodiscard]] bool ok() const { return has_value_; }
  explicit operator bool() const { return ok(); }

  // Returns ok when there is a value.
  [[nodiscard]] Status status() const& { return ok() ? Status() : status_; }
  [[nodiscard]] Status status() && { return ok() ? Status() : std::move(status_); }

  // Require ok().
  T& operator*() & { return *checked(); }
  const T& operator*() const& { return *checked(); }
  T&& operator*() && { return std::move(*checked()); }
  T* operator->() { return checked(); }
  const T* operator->() const { return checked(); }

 private:
  T* checked() {
    assert(ok());
    return &value_;
  }
  const T* checked() const {
    assert(ok());
    return &value_;
  }

  // Moves the content of `other` here. Requires that no member is alive and that has_value_ equals that of `other`.
  void take(Result& other) noexcept {
    static_assert(std::is_nothrow_move_constructible_v<T>, "a result is moved on every path, failing ones too");
    if (has_value_) {
      std::construct_at(&value_, std::move(other.value_));
    } else {
      std::construct_at(&status_, std::move(other.status_));
    }
  }
  void destroy() noexcept {
    if (has_value_) {
      std::destroy_at(&value_);
    } else {
      std::destroy_at(&status_);
    }
  }

  union {
    T value_;
    Status status_;
  };
  bool has_value_;
};

}  // namespace latebind::core

#define LB_CONCAT_INNER_(a, b) a##b
#define LB_CONCAT_(a, b) LB_CONCAT_INNER_(a, b)

// Declares or assigns `lhs` from a Result, or leaves the enclosing function with its error.
#define LB_ASSIGN_OR_RETURN(lhs, expr) LB_ASSIGN_OR_RETURN_IMPL_(LB_CONCAT_(lb_result_, __LINE__), lhs, expr)
#define LB_ASSIGN_OR_RETURN_IMPL_(result, lhs, expr)   \
  auto result = (expr);                                \
  if (!result.ok()) return std::move(result).status(); \
  lhs = *std::move(result)
