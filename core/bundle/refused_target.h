// RefusedTarget: a target that a model could not be compiled for, and what its compiler said: what would have to change
// in the model. A bundle keeps it with the portable model (`executor_info.latebind.refused`, docs/bundle-format.md).
//
// Plain values. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/model.h"
#include "core/result.h"

namespace latebind::core {

struct RefusedTarget {
  std::string variant{};          // the name that it would have: "npu-v73-f16-1x32"
  std::string target{};           // "npu:v73"
  std::string backend{};          // "onnxruntime"
  std::string device{};           // as that backend calls it: "QNN.v73"
  std::string runtime_version{};  // of the vendor's library
  std::string precision{};
  std::vector<std::vector<std::int64_t>> shapes{};  // of the inputs, -1 for any; empty: as the model declares them
  std::string reason{};
  LeftNodes nodes{};  // those that its compiler did not take; none where it does not say which

  friend bool operator==(const RefusedTarget&, const RefusedTarget&) = default;
};

// {count, first: [{operator, name, shape}]}
[[nodiscard]] nlohmann::json to_json(const LeftNodes& nodes);
[[nodiscard]] Result<LeftNodes> parse_left_nodes(const nlohmann::json& value, std::string_view where);

// A list of {variant, target, backend, device, runtime_version, precision, shapes, reason, nodes}. kInvalidModel for a
// wrong type, and for more than 256 targets; `where` says which variant of which file.
[[nodiscard]] nlohmann::json to_json(const std::vector<RefusedTarget>& refused);
[[nodiscard]] Result<std::vector<RefusedTarget>> parse_refused_targets(const nlohmann::json& value,
                                                                       std::string_view where);

inline constexpr std::size_t kRefusedTargetsMax = 256;
// Of a vendor's words.
inline constexpr std::size_t kRefusedReasonMax = 2048;

}  // namespace latebind::core
