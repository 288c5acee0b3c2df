// StaticLengthsExecutable: one model compiled for several static lengths, seen as one executable that takes any.
//
// For devices that want static shapes (NPUs), and models whose inputs are all [rows, length]. A run goes to the
// shortest length that it fits into: inputs are padded with zeros to that length (the model's mask says what is
// padding), rows are computed `rows` at a time, and results of the padding are cut off. The shortest length that
// compiles is loaded at once, the others on first use, or before that in the background.
//
// A length that the device cannot compile is skipped: a longer one does its work, and after a while it is tried again,
// since the device may have been absent. One that takes too long to compile is skipped until it is done: a longer one
// that is ready does its work; where there is none, the request is not for this device (kUnsupported). Thread-safe, as
// every executable.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/executable.h"
#include "core/result.h"

namespace latebind::core {

struct StaticLengthOptions {
  // Ascending. The last one is the longest that can be run.
  std::vector<std::size_t> lengths{};
  // How many inputs the model has.
  std::size_t inputs = 0;
  // Rows of every length.
  std::size_t rows = 1;
  // Loads the others in the background, shortest first.
  bool preload = false;
  // The longest that a request waits for a shape that is still to be compiled, from when that began; nothing: as long
  // as it takes. Compilation continues.
  std::optional<std::chrono::milliseconds> load_timeout{};
  // How long a shape that could not be compiled is not tried again; doubles with each refusal, up to ten minutes.
  std::chrono::milliseconds patience{10'000};
};

// Loads the model with this shape for every input. Called by several threads at once, for different shapes.
using LoadWithShape = std::function<Result<std::unique_ptr<Executable>>(const Shape& every_input)>;

// `load` is kept with whatever it refers to. The first error when no length loads; kUnsupported for a model whose
// inputs are not all [rows, length].
[[nodiscard]] Result<std::unique_ptr<Executable>> load_static_lengths(LoadWithShape load,
                                                                      const StaticLengthOptions& options);

}  // namespace latebind::core
