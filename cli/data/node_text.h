// Formats nodes of a model for people.
#pragma once

#include <fmt/format.h>

#include <string>

#include "core/model/model.h"
#include "core/text/one_line.h"

namespace latebind::cli {

// "NonZero 'find', i64 [2,?]"
inline std::string node_text(const core::LeftNode& node) {
  std::string text = core::one_line(node.op);
  if (!node.name.empty()) text += fmt::format(" '{}'", core::one_line(node.name));
  if (!node.shape.empty()) text += fmt::format(", {}", core::one_line(node.shape));
  return text;
}

}  // namespace latebind::cli
