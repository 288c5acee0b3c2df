// One model compiled for several static lengths, seen as one executable that takes any length.
//
// For devices that want static shapes (NPUs), and for models whose inputs are all [rows, length]. A run uses the
// shortest length that its rows fit into: inputs are padded with zeros to that length (the model's mask marks the
// padding), `rows` rows are computed at a time, and the results of the padding are cut off. The shortest length that
// compiles is loaded at once, the others on first use or, with `preload`, in the background.
//
// A length that the device cannot compile is skipped, and a longer one does its work. It is tried again after a while,
// because the device may have been absent. A length that takes too long to compile is skipped until it is done: a
// longer one that is ready does its work, and if there is none, the request is not for this device (kUnsupported). The
// executable may be used from any thread.
// every executable.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/backend/executable.h"
#include "core/result.h"

namespace latebind::core {

struct StaticLengthOptions {
  // Ascending. The last one is the longest that can be run.
  std::vector<std::size_t> lengths{};
  // The number of the model's inputs.
  std::size_t inputs = 0;
  // The number of rows of every length.
  std::size_t rows = 1;
  // Loads the other lengths in the background, shortest first.
  bool preload = false;
  // The longest that a request waits for a length that is still being compiled, counted from the start of its
  // compilation; std::nullopt for no limit. The compilation continues after that.
  std::optional<std::chrono::milliseconds> load_timeout{};
  // How long a length that could not be compiled is not tried again. It doubles with each refusal, up to ten minutes.
  std::chrono::milliseconds patience{10'000};
};

// Loads the model with this shape for every input. Several threads may call it at once, for different shapes.
using LoadWithShape = std::function<Result<std::unique_ptr<Executable>>(const Shape& every_input)>;

// Loads the model. `load` is kept, with everything it refers to. Returns the first error when no length loads, and
// kUnsupported for a model whose inputs are not all [rows, length].
[[nodiscard]] Result<std::unique_ptr<Executable>> load_static_lengths(LoadWithShape load,
                                                                      const StaticLengthOptions& options);

}  // namespace latebind::core
