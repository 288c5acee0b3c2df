// Translates Latebind's options to the vendor's session options.
//
// Pure functions over the vendor's table; any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backends/onnxruntime/environment.h"
#include "backends/onnxruntime/targets.h"
#include "core/backend/executable.h"
#include "core/result.h"

namespace latebind::onnxruntime {

// The distribution of threads. The vendor computes on the calling thread and on `threads_per_run` - 1 others, which all
// runs of a session share.
struct Concurrency {
  unsigned threads = 1;  // in total, when all requests are running
  unsigned threads_per_run = 1;
  unsigned requests = 1;
};

// kLatency: one request unless more are requested, with all threads for each. kThroughput: as many requests as threads
// unless another number is requested; the remaining threads help all runs.
[[nodiscard]] Concurrency concurrency_of(const core::CompileOptions& options);

// A size for each named dimension of the model.
using NamedDimensions = std::vector<std::pair<std::string, std::int64_t>>;

// A plugin provider's device, which computes the whole model.
struct PluginUse {
  std::string id;                                              // "onnxruntime:QNN.v73", for messages
  const abi::EpDevice* device = nullptr;                       // owned by the environment
  std::vector<std::pair<std::string, std::string>> options{};  // the provider's options
  const Target* target = nullptr;  // for a virtual device: the provider does not check blobs for it
};

enum class SessionKind {
  kRun,          // optimised for runs
  kDeclare,      // only to query inputs and outputs: not optimised
  kCompile,      // optimised as far as the result is valid for every processor
  kCompileHere,  // optimised like kRun, for this processor
  kBlob,         // from a blob, which is optimised already
  kContext,      // to be compiled by a plugin provider: only constants are folded
};

[[nodiscard]] core::Result<Owned<abi::SessionOptions>> make_session_options(const Environment& environment,
                                                                            SessionKind kind,
                                                                            const core::CompileOptions& options,
                                                                            const NamedDimensions& dimensions);

// Assigns the session to the plugin. Which nodes may stay on the CPU is checked after the session exists, if the vendor
// reports the assignment (read_assignment()); otherwise the vendor checks it, but only allows either none or all. A
// property of `compile` in the vendor's form, ep.NAME.KEY with the provider's name in lower case, overrides an option
// of the plugin.
[[nodiscard]] core::Status use_plugin(const Environment& environment, const PluginUse& plugin,
                                      const core::CompileOptions& compile, core::HostNodes host_nodes,
                                      abi::SessionOptions* options);

// Adds one entry of the vendor's configuration.
[[nodiscard]] core::Status add_entry(const Library& library, abi::SessionOptions* options, const std::string& key,
                                     const std::string& value);

}  // namespace latebind::onnxruntime
