// Router: the routes of a model for queries and for documents, and the rule by which a text takes one of them.
//
// The specification of a folder, the encoders of an opened model and the tokenizers of the C interface follow this
// rule; the layers below have no routes. Most models have one route for all texts. A value; thread-safe as far as T is.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "core/result.h"
#include "embedding/inputs/text_role.h"

namespace latebind::embedding {

// The error for texts without a role if the model requires one.
[[nodiscard]] inline core::Status role_is_missing(std::string_view model) {
  return {core::StatusCode::kInvalidArgument,
          fmt::format("{} takes queries and documents different ways, and its files name none for other texts: give "
                      "the role of the texts, query or document",
                      model)};
}

template <class T>
class Router {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): most models have one route.
  Router(T only) : documents_(std::move(only)) {}
  // `otherwise` is the role of texts without one; with kUnspecified, the caller must give the role.
  Router(T documents, T queries, TextRole otherwise)
      : documents_(std::move(documents)), queries_(std::move(queries)), otherwise_(otherwise) {}

  [[nodiscard]] bool has_routes() const { return queries_.has_value(); }
  // The only route, or the one for documents. The sizes and limits that a model reports are those of this route.
  [[nodiscard]] const T& documents() const { return documents_; }
  // The route for queries; null if all texts take one route.
  [[nodiscard]] const T* queries() const { return queries_ ? &*queries_ : nullptr; }
  // Returns the route for texts with this role. Returns kInvalidArgument if the role is required but missing. `model`
  // is the model's name, for the message.
  [[nodiscard]] core::Result<const T*> route_for(TextRole role, std::string_view model) const {
    if (!queries_) return &documents_;
    const TextRole taken = role == TextRole::kUnspecified ? otherwise_ : role;
    if (taken == TextRole::kUnspecified) return role_is_missing(model);
    return taken == TextRole::kQuery ? &*queries_ : &documents_;
  }
  // Returns a router of the results of `make` for each route, or the first error.
  template <class Make>
  [[nodiscard]] auto transform(const Make& make) const
      -> core::Result<Router<std::decay_t<decltype(*make(std::declval<const T&>()))>>> {
    using Made = Router<std::decay_t<decltype(*make(std::declval<const T&>()))>>;
    LB_ASSIGN_OR_RETURN(auto documents, make(documents_));
    if (!queries_) return Made(std::move(documents));
    LB_ASSIGN_OR_RETURN(auto queries, make(*queries_));
    return Made(std::move(documents), std::move(queries), otherwise_);
  }

 private:
  T documents_;
  std::optional<T> queries_{};
  TextRole otherwise_ = TextRole::kUnspecified;
};

}  // namespace latebind::embedding
