// Translates CompileOptions to OpenVINO's properties, and a compiled model's properties back.
//
// All properties are requested explicitly, above all the precision: on a CPU with native bf16, the vendor's default is
// bf16. Pure functions; any thread.
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/openvino/load.h"
#include "core/backend/executable.h"

namespace latebind::openvino {

using Properties = std::vector<std::pair<std::string, std::string>>;

// More than any model needs. Compiling passes properties in a list of this length.
inline constexpr std::size_t kPropertiesMax = 32;

// "GPU" for "GPU.1".
[[nodiscard]] std::string device_base(std::string_view device);

// Checks a device name from outside: removes trailing NUL bytes, and then requires 1 to 64 printable characters without
// spaces.
[[nodiscard]] core::Result<std::string> checked_device(std::string_view device);

// The properties for one load or compilation. The user's properties come last, and replace Latebind's with the same
// key. `processors` is the number that this process may use.
//
// The CPU gets PERFORMANCE_HINT, INFERENCE_PRECISION_HINT, INFERENCE_NUM_THREADS and NUM_STREAMS, which is 1 for
// latency and default_streams() for throughput. With one thread it is 0, so that the calling thread computes and learns
// of errors (Active::loses_errors), unless the user sets a property that needs a stream. Other devices do not get
// `threads`.
[[nodiscard]] core::Result<Properties> properties_for(std::string_view device, const core::CompileOptions& options,
                                                      unsigned processors);

// The number of shapes that a model compiled with these properties keeps ready; 0 for devices other than the CPU, and
// for several streams, which keep different shapes.
[[nodiscard]] std::size_t kept_shapes(std::string_view device, const Properties& properties);

// The number of streams for throughput if `requests` is not set. Up to eight threads, each has a stream, since a single
// thread on a batch never waits. With more threads, there are two threads a stream up to 16 streams, and then more
// threads a stream: each stream costs memory for its activations.
[[nodiscard]] unsigned default_streams(unsigned threads);

// Reads a property of a compiled model, without surrounding white space; the vendor's error if it does not exist.
[[nodiscard]] core::Result<std::string> compiled_property(const Library& library, const abi::CompiledModel* compiled,
                                                          const char* key);

// What is really active. kUnsupported when the precision is not the requested one.
struct Active {
  core::Precision precision = core::Precision::kF32;
  unsigned threads = 0;           // 0 when the vendor does not report it
  unsigned optimal_requests = 0;  // likewise
  bool has_one_stream = false;    // if true, the vendor computes one run at a time
  // Whether ov_infer_request_infer returns success for a run that failed. The CPU plugin (2025.4 to 2026.4) drops the
  // exception of a run in its one stream of one thread, where the outputs then hold arbitrary data and later runs
  // repeat the failed one. According to its source, it also does so where it divides a model among sockets. A run that
  // is started and waited for returns its error (decision 178).
  bool loses_errors = false;
  std::size_t kept_shapes = 0;  // see core::ActiveConfig
};
[[nodiscard]] core::Result<Active> read_back(const Library& library, const abi::CompiledModel* compiled,
                                             std::string_view device, core::Precision wanted);

}  // namespace latebind::openvino
