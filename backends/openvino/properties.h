// From CompileOptions to OpenVINO's properties, and back from what a compiled model says about itself.
//
// Everything is requested explicitly, above all the precision: on a CPU with native bf16 the vendor's default is bf16.
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/openvino/load.h"
#include "core/executable.h"

namespace latebind::openvino {

using Properties = std::vector<std::pair<std::string, std::string>>;

// More than any model needs; compiling passes them through a list of static length.
inline constexpr std::size_t kPropertiesMax = 32;

// "GPU" for "GPU.1".
[[nodiscard]] std::string device_base(std::string_view device);

// A device's name from outside: trailing NUL bytes are removed, then it must be 1 to 64 printable characters without
// spaces.
[[nodiscard]] core::Result<std::string> checked_device(std::string_view device);

// The properties for one load or compile, the user's own last (a user's key replaces Latebind's). `processors` are
// those that this process may use.
//
// On the CPU: PERFORMANCE_HINT, INFERENCE_PRECISION_HINT, INFERENCE_NUM_THREADS, and NUM_STREAMS: one for latency; for
// throughput see default_streams(). On other devices, `threads` is not passed on.
[[nodiscard]] core::Result<Properties> properties_for(std::string_view device, const core::CompileOptions& options,
                                                      unsigned processors);

// Shapes that a compiled model with these properties has ready at a time; 0: another device than the CPU, or several
// streams, which have different ones.
[[nodiscard]] std::size_t kept_shapes(std::string_view device, const Properties& properties);

// Streams for throughput when `requests` is not set: as many as threads while there are few, since a single thread on a
// batch never waits; above eight, two threads per stream up to 16 streams, and then more threads per stream: every
// stream costs memory for its activations.
[[nodiscard]] unsigned default_streams(unsigned threads);

// One property of a compiled model, stripped; the vendor's error when it does not exist.
[[nodiscard]] core::Result<std::string> compiled_property(const Library& library, const abi::CompiledModel* compiled,
                                                          const char* key);

// What is really active. kUnsupported when the precision is not the requested one.
struct Active {
  core::Precision precision = core::Precision::kF32;
  unsigned threads = 0;
  unsigned streams = 0;
  unsigned optimal_requests = 0;  // 0 when the vendor does not report it
  std::size_t kept_shapes = 0;    // see core::ActiveConfig
};
[[nodiscard]] core::Result<Active> read_back(const Library& library, const abi::CompiledModel* compiled,
                                             std::string_view device, core::Precision wanted);

}  // namespace latebind::openvino
