// From Latebind's options to the vendor's session options.
//
// Pure functions over the vendor's table, for any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backends/onnxruntime/environment.h"
#include "backends/onnxruntime/targets.h"
#include "core/executable.h"
#include "core/result.h"

namespace latebind::onnxruntime {

// The distribution of threads. The vendor computes on the thread that calls it and on `threads_per_run` - 1 others,
// which all runs of a session share.
struct Concurrency {
  unsigned threads = 1;  // together, when all requests are running
  unsigned threads_per_run = 1;
  unsigned requests = 1;
};

// kLatency: one request, unless more are asked for, and all threads for each. kThroughput: as many requests as threads,
// unless another number is requested; the remaining threads help all runs.
[[nodiscard]] Concurrency concurrency_of(const core::CompileOptions& options);

// A size for every dimension of the model with this name.
using NamedDimensions = std::vector<std::pair<std::string, std::int64_t>>;

// A plugin provider's device, which computes the whole model.
struct PluginUse {
  std::string id;                                              // "onnxruntime:QNN.v73", for messages
  const abi::EpDevice* device = nullptr;                       // the environment's
  std::vector<std::pair<std::string, std::string>> options{};  // the provider's own
  const Target* target = nullptr;  // when it is virtual: the provider does not check blobs for it
};

enum class SessionKind {
  kRun,          // everything that makes runs fast
  kDeclare,      // only to query its inputs and outputs: nothing is optimised
  kCompile,      // optimised as far as the result is valid for any processor
  kCompileHere,  // optimised as kRun, for this processor
  kBlob,         // from a blob: already optimised
  kContext,      // to be compiled by a plugin provider: only constants are folded
};

[[nodiscard]] core::Result<Owned<abi::SessionOptions>> make_session_options(const Environment& environment,
                                                                            SessionKind kind,
                                                                            const core::CompileOptions& options,
                                                                            const NamedDimensions& dimensions);

// Gives the session to the plugin. What may be left to the CPU is checked when the session is there, where the vendor
// then says what was (read_assignment()); else by the vendor, which knows none and any. A property of `compile` in the
// vendor's form, ep.NAME.KEY with the provider's name in small letters, goes before an option of the plugin's.
[[nodiscard]] core::Status use_plugin(const Environment& environment, const PluginUse& plugin,
                                      const core::CompileOptions& compile, core::HostNodes host_nodes,
                                      abi::SessionOptions* options);

// One entry of the vendor's own configuration.
[[nodiscard]] core::Status add_entry(const Library& library, abi::SessionOptions* options, const std::string& key,
                                     const std::string& value);

}  // namespace latebind::onnxruntime
