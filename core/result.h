// Result<T>: a value, or the Status that says why there is none.
//
// A Result made from an ok Status is an internal error, so that "no value, no error" cannot exist.
#pragma once

#include <cassert>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/status.h"

namespace latebind::core {

template <class T>
class [[nodiscard]] Result {
  static_assert(!std::is_same_v<std::remove_cvref_t<T>, Status>, "use Status itself");

 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Status status)
      : state_(std::in_place_index<1>,
               status.ok() ? Status(StatusCode::kInternal, "a result was made from an ok status") : std::move(status)) {
  }

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Ok when there is a value.
  [[nodiscard]] Status status() const { return ok() ? Status() : std::get<1>(state_); }

  // Only when ok().
  T& operator*() & { return *checked(); }
  const T& operator*() const& { return *checked(); }
  T&& operator*() && { return std::move(*checked()); }
  T* operator->() { return checked(); }
  const T* operator->() const { return checked(); }

 private:
  T* checked() {
    assert(ok());
    return std::get_if<0>(&state_);
  }
  const T* checked() const {
    assert(ok());
    return std::get_if<0>(&state_);
  }

  std::variant<T, Status> state_;
};

}  // namespace latebind::core

#define LB_CONCAT_INNER_(a, b) a##b
#define LB_CONCAT_(a, b) LB_CONCAT_INNER_(a, b)

// Declares or assigns `lhs` from a Result, or leaves the enclosing function with its error.
#define LB_ASSIGN_OR_RETURN(lhs, expr) LB_ASSIGN_OR_RETURN_IMPL_(LB_CONCAT_(lb_result_, __LINE__), lhs, expr)
#define LB_ASSIGN_OR_RETURN_IMPL_(result, lhs, expr) \
  auto result = (expr);                              \
  if (!result.ok()) return result.status();          \
  lhs = *std::move(result)
