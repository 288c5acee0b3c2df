// GgufKeys: reads the metadata keys of a GGUF file's architecture, such as "bert.block_count", with errors that name
// the key. Refers to a header that must outlive it. Immutable; any thread may use it.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/text/quote.h"
#include "embedding/weights/gguf/header.h"

namespace latebind::embedding {

class GgufKeys {
 public:
  explicit GgufKeys(const GgufHeader& header) : header_(header) {}

  [[nodiscard]] std::string full(std::string_view key) const {
    return fmt::format("{}.{}", header_.architecture(), key);
  }
  [[nodiscard]] core::Result<std::uint64_t> required(std::string_view key) const {
    LB_ASSIGN_OR_RETURN(const auto value, header_.whole(full(key)));
    if (value) return *value;
    return core::Status(core::StatusCode::kInvalidModel,
                        fmt::format("{}: no key '{}'", header_.name(), core::printable(full(key))));
  }
  [[nodiscard]] core::Result<std::uint64_t> whole(std::string_view key, std::uint64_t otherwise) const {
    LB_ASSIGN_OR_RETURN(const auto value, header_.whole(full(key)));
    return value.value_or(otherwise);
  }
  [[nodiscard]] core::Result<std::optional<double>> number(std::string_view key) const {
    LB_ASSIGN_OR_RETURN(const auto value, header_.number(full(key)));
    if (value && !std::isfinite(*value))
      return invalid(fmt::format("'{}' is {}, not a finite number", core::printable(full(key)), *value));
    return value;
  }
  [[nodiscard]] core::Result<std::optional<bool>> flag(std::string_view key) const { return header_.flag(full(key)); }
  // Returns the number of rows of a matrix, which is 1 for a tensor with one dimension.
  [[nodiscard]] core::Result<std::uint64_t> rows(std::string_view tensor) const {
    const GgufTensor* const found = header_.find_tensor(tensor);
    if (found == nullptr || found->shape.empty()) {
      return core::Status(core::StatusCode::kInvalidModel, fmt::format("{}: no tensor '{}'", header_.name(), tensor));
    }
    return found->shape.size() == 1 ? 1 : static_cast<std::uint64_t>(found->shape.front());
  }
  [[nodiscard]] bool has_tensor(std::string_view tensor) const { return header_.find_tensor(tensor) != nullptr; }
  [[nodiscard]] core::Status unsupported(std::string_view what) const {
    return {core::StatusCode::kUnsupported, fmt::format("{}: {}", header_.name(), what)};
  }
  [[nodiscard]] core::Status invalid(std::string_view what) const {
    return {core::StatusCode::kInvalidModel, fmt::format("{}: {}", header_.name(), what)};
  }
  [[nodiscard]] const GgufHeader& header() const { return header_; }

 private:
  const GgufHeader& header_;
};

}  // namespace latebind::embedding
