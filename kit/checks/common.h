// What several groups of checks need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>

#include "core/backend/device.h"
#include "core/backend/executable.h"
#include "core/result.h"
#include "kit/check.h"
#include "kit/context.h"
#include "kit/networks/samples.h"
#include "kit/raw/raw_plugin.h"

namespace latebind::kit {

// A sample and its model, loaded by the backend.
struct LoadedSample {
  Sample sample;
  std::unique_ptr<core::Executable> executable;
};
// Loads the first sample that the device takes. `options` gets the device's default precision. The error has the
// reasons for which the device refuses all samples.
[[nodiscard]] core::Result<LoadedSample> load_sample(Context& context, core::CompileOptions options = {});

// Runs a batch of so many rows and compares the results with the reference.
[[nodiscard]] core::Status run_sample(core::Executable& executable, const Sample& sample, std::mt19937& chance,
                                      std::int64_t rows);

// The device under test without Latebind's host in between. For checks with Scope::kPlugin.
struct RawDevice {
  std::shared_ptr<RawState> state;
  core::Device device;
  std::uint32_t reads = 0;

  [[nodiscard]] bool reads_graphs() const { return (reads & LBB_READS_GRAPH) != 0; }
  // Copies a graph in the form that the device reads, in the device's default precision.
  [[nodiscard]] core::Result<std::unique_ptr<CopiedModel>> copy(const graph::Graph& graph, const CopyOptions& how = {},
                                                                core::CompileOptions options = {}) const;
  // Copies and loads it.
  [[nodiscard]] core::Result<std::unique_ptr<RawExecutable>> load(const graph::Graph& graph,
                                                                  const CopyOptions& how = {}) const;
};
// Creates a state with the settings of the subject, and finds the device.
[[nodiscard]] core::Result<RawDevice> raw_device(Context& context);
// The first sample that the device takes.
[[nodiscard]] core::Result<Sample> raw_sample(Context& context, const RawDevice& device);
// Runs as run_sample() does.
[[nodiscard]] core::Status run_raw(RawExecutable& executable, const Sample& sample, std::mt19937& chance,
                                   std::int64_t rows, const RawRun& how = {});

// Calls `work` on so many threads that begin at once, with their numbers, and returns the first error.
[[nodiscard]] core::Status on_threads(std::size_t count, const std::function<core::Status(std::size_t)>& work);

}  // namespace latebind::kit
