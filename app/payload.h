// A model in memory, whatever it is: told by its first bytes, used where it lies.
//
// Any thread. What is given keeps the memory alive.
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

// kInvalidModel for what begins as none of them does.
[[nodiscard]] core::Result<PayloadFormat> payload_format(std::span<const std::byte> bytes);

struct Payload {
  PayloadFormat format = PayloadFormat::kByFirstBytes;
  core::SharedBytes bytes;
  // An IR's. Where they are empty they follow the text in `bytes`, after a NUL, at the next multiple of
  // kWeightsAlignment.
  core::SharedBytes weights{};
  // What an ONNX graph has its data in.
  std::vector<core::ExternalData> external{};
  std::string name{};  // for messages
};
inline constexpr std::size_t kWeightsAlignment = 64;

// kInvalidModel for what is damaged as far as that shows from outside, for weights and data that the format has not,
// and for data that lacks a name or has it twice.
[[nodiscard]] core::Result<core::Model> model_of_payload(Payload payload);

}  // namespace latebind::app
