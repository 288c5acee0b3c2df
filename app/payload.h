// A model in memory, in any format. The format is recognised by its first bytes, and the memory is used in place.
//
// Any thread may call these functions. The result keeps the memory alive.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/result.h"

namespace latebind::app {

// The values are those of the C ABI.
enum class PayloadFormat : std::int32_t {
  kOnnx = 0,
  kOpenvinoIr = 1,
  kBundle = 2,
  kOpenvinoBlob = 3,
  kByFirstBytes = 4
};

// Returns kInvalidModel if the format is not recognised.
[[nodiscard]] core::Result<PayloadFormat> payload_format(std::span<const std::byte> bytes);

struct Payload {
  PayloadFormat format = PayloadFormat::kByFirstBytes;
  core::SharedBytes bytes;
  // The weights of an IR. If empty, they follow the XML in `bytes`, after a NUL, at the next multiple of
  // kWeightsAlignment.
  core::SharedBytes weights{};
  // The external data of an ONNX graph.
  std::vector<core::ExternalData> external{};
  std::string name{};  // for messages
};
inline constexpr std::size_t kWeightsAlignment = 64;

// Returns kInvalidModel for visible damage, for weights or external data that the format does not have, and for
// external data without a name or with a duplicate one.
[[nodiscard]] core::Result<core::Model> model_of_payload(Payload payload);

}  // namespace latebind::app
