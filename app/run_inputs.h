// Inputs of a model: from .npy files, or random where none is given.
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
#include "core/tensor.h"

namespace latebind::app {

struct RunInput {
  core::TensorInfo declared;
  std::shared_ptr<const void> owner;  // of the view's memory
  core::TensorView view;
  std::string source;  // for people: the file, or "random, seed 0"
  std::string file;    // empty for a random one
};

// What the user says about inputs, not yet matched with a model's names.
struct InputWishes {
  std::vector<std::string> files{};   // NAME=FILE.npy
  std::vector<std::string> shapes{};  // NAME=1x128
  std::uint64_t seed = 0;
  // The client's names of both, for messages.
  std::string files_option = "input";
  std::string shapes_option = "shape";

  [[nodiscard]] bool empty() const { return files.empty() && shapes.empty(); }
};

// A random input may have at most this many bytes.
inline constexpr std::size_t kRandomBytesMax = std::size_t{4} << 30;

// kInvalidArgument for what is invalid for any model: no NAME=, or an invalid shape.
[[nodiscard]] core::Status check_wishes(const InputWishes& wishes);

// One RunInput for each declared one, in order. Unknown dimensions that are not given become 1. Random values are those
// of core::fill_random(): integers are 0 or 1, so that ids and masks stay in range. Errors name the input or the file.
[[nodiscard]] core::Result<std::vector<RunInput>> make_inputs(std::span<const core::TensorInfo> declared,
                                                              const InputWishes& wishes);

}  // namespace latebind::app
