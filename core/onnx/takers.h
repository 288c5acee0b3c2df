// Takers: the nodes of a graph that take the same numbers, even if the tensors have different names.
//
// A vendor that joins equal nodes and removes those that change nothing sees one tensor where a model has several.
//
// Constant after construction; may be used from any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/onnx/network.h"

namespace latebind::onnx {

class Takers {
 public:
  Takers() = default;
  explicit Takers(const Network& network);

  // Returns the number of nodes of this operator that take the tensor, or one that may have the same numbers.
  [[nodiscard]] unsigned count(const std::string& tensor, std::string_view op) const;

 private:
  // The name that stands for all tensors that may have the same numbers.
  [[nodiscard]] const std::string& root_of(const std::string& tensor) const;

  std::map<std::string, std::string, std::less<>> roots_;  // only of tensors that another one stands for
  std::map<std::pair<std::string, std::string>, unsigned> counts_;
};

}  // namespace latebind::onnx
