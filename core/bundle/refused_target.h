// RefusedTarget: a target that a model could not be compiled for, with the compiler's reason, which shows what would
// have to change in the model. A bundle keeps it with the portable model (`executor_info.latebind.refused`,
// docs/bundle-format.md).
//
// Plain values and pure functions, for any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.h"
#include "core/model/model.h"
#include "core/result.h"

namespace latebind::core {

struct RefusedTarget {
  std::string variant{};          // the name that the variant would have: "npu-v73-f16-1x32"
  std::string target{};           // "npu:v73"
  std::string backend{};          // "onnxruntime"
  std::string device{};           // the device's name in that backend: "QNN.v73"
  std::string runtime_version{};  // of the vendor's library
  std::string precision{};
  std::vector<std::vector<std::int64_t>>
      shapes{};  // of the inputs, with -1 for any; empty for the shapes that the model declares
  std::string reason{};
  LeftNodes nodes{};  // the nodes that the compiler did not take; empty if it does not name them

  friend bool operator==(const RefusedTarget&, const RefusedTarget&) = default;
};

// Converts to and from {count, first: [{operator, name, shape}]}.
[[nodiscard]] Json to_json(const LeftNodes& nodes);
[[nodiscard]] Result<LeftNodes> parse_left_nodes(const Json& value, std::string_view where);

// Converts to and from a list of {variant, target, backend, device, runtime_version, precision, shapes, reason, nodes}.
// kInvalidModel for a wrong type, and for more than kRefusedTargetsMax targets; `where` names the variant and the file.
[[nodiscard]] Json to_json(const std::vector<RefusedTarget>& refused);
[[nodiscard]] Result<std::vector<RefusedTarget>> parse_refused_targets(const Json& value, std::string_view where);

inline constexpr std::size_t kRefusedTargetsMax = 256;
// The largest size of a vendor's reason, in bytes.
inline constexpr std::size_t kRefusedReasonMax = 2048;

}  // namespace latebind::core
