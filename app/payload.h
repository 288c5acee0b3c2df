// A model in memory of any format: recognised by its first bytes, used in place.
//
// Any thread. The result keeps the memory alive.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model.h"
#include "core/result.h"

namespace latebind::app {

// The numbers are those of the C ABI.
enum class PayloadFormat : std::int32_t {
  kOnnx = 0,
  kOpenvinoIr = 1,
  kBundle = 2,
  kOpenvinoBlob = 3,
  kByFirstBytes = 4
};

// kInvalidModel for what begins like none of them.
[[nodiscard]] core::Result<PayloadFormat> payload_format(std::span<const std::byte> bytes);

struct Payload {
  PayloadFormat format = PayloadFormat::kByFirstBytes;
  core::SharedBytes bytes;
  // An IR's. Where they are empty they follow the text in `bytes`, after a NUL, at the next multiple of
  // kWeightsAlignment.
  core::SharedBytes weights{};
  // The external data of an ONNX graph.
  std::vector<core::ExternalData> external{};
  std::string name{};  // for messages
};
inline constexpr std::size_t kWeightsAlignment = 64;

// kInvalidModel for damage that is visible from outside, for weights and data that the format does not have, and for
// data without a name or with a duplicate one.
[[nodiscard]] core::Result<core::Model> model_of_payload(Payload payload);

}  // namespace latebind::app
