// A model in memory, whatever it is: told by its first bytes, used where it lies.
//
// Any thread. What is given keeps the memory alive.
#pragma once

#include <cstdint>
#include <string>

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

// `name` is for messages. `weights` are an IR's; where they are empty they follow the text in `bytes`, after a NUL, at
// the next multiple of kWeightsAlignment. kInvalidModel for what is damaged as far as that shows from outside, and for
// weights that the format has not.
[[nodiscard]] core::Result<core::Model> model_of_payload(PayloadFormat format, core::SharedBytes bytes,
                                                         core::SharedBytes weights, const std::string& name);
inline constexpr std::size_t kWeightsAlignment = 64;

}  // namespace latebind::app
