// The inputs for running a model, from .npy files or random.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/tensor/tensor.h"

namespace latebind::app {

struct RunInput {
  core::TensorInfo declared;
  std::shared_ptr<const void> owner;  // of the view's memory
  core::TensorView view;
  std::string source;  // for messages: the file, or "random, seed 0"
  std::string file;    // empty for a random input
};

// The inputs that the user asks for, not yet matched with a model.
struct RequestedInputs {
  std::vector<std::string> files{};   // NAME=FILE.npy
  std::vector<std::string> shapes{};  // NAME=1x128
  std::uint64_t seed = 0;
  // The client's names of both options, for messages.
  std::string files_option = "input";
  std::string shapes_option = "shape";

  [[nodiscard]] bool empty() const { return files.empty() && shapes.empty(); }
};

// The size limit of a random input, in bytes.
inline constexpr std::size_t kRandomBytesMax = std::size_t{4} << 30;

// Returns kInvalidArgument for what no model accepts: a value without NAME=, or an invalid shape.
[[nodiscard]] core::Status check_requested_inputs(const RequestedInputs& requested);

// Returns one RunInput per declared input, in order. Unknown dimensions default to 1. Random values come from
// core::fill_random(), where integers are 0 or 1 so that ids and masks stay in range. Errors name the input or the
// file.
[[nodiscard]] core::Result<std::vector<RunInput>> make_inputs(std::span<const core::TensorInfo> declared,
                                                              const RequestedInputs& requested);

}  // namespace latebind::app
