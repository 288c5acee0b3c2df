// One graph on the device under test, compared with the reference.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/backend/device.h"
#include "core/config.h"
#include "core/graph/graph.h"
#include "core/result.h"
#include "kit/check.h"
#include "kit/context.h"
#include "kit/networks/case_builder.h"

namespace latebind::kit {

// Converts the outputs of a run, which must be f32.
[[nodiscard]] core::Result<std::vector<Array>> run_arrays(core::Executable& executable, const Inputs& inputs,
                                                          const core::RunOptions& options = {});

// Whether the backend refuses a model properly: with kUnsupported and a reason that names an operator of the graph, one
// of its members, an input, an output or a weight. Backends that get the graph in another form need only give a reason.
[[nodiscard]] bool is_proper_refusal(const core::Status& status, const graph::Graph& graph, const core::Device& device);

// Counts what a backend does with many graphs.
class Tally {
 public:
  explicit Tally(Context& context) : context_(context) {}

  // Loads the graph and runs it. An error says what the backend does wrong, with the case.
  [[nodiscard]] core::Status try_graph(const core::Device& device, GraphCase one,
                                       core::Precision precision = core::Precision::kF32);
  [[nodiscard]] std::size_t computed() const { return computed_; }
  [[nodiscard]] const std::vector<std::string>& refusals() const { return refusals_; }
  // passed() with the numbers, or refused() with the reasons if nothing was computed.
  [[nodiscard]] Finding finding() const;

 private:
  Context& context_;
  std::size_t computed_ = 0;
  std::size_t refused_ = 0;
  std::vector<std::string> refusals_;  // the first of different ones
};

// The precision that the device computes in by default: f32, or else its first.
[[nodiscard]] core::Precision default_precision(const core::Device& device);
// Whether models for the device need static shapes.
[[nodiscard]] bool needs_static_shapes(const core::Device& device);

}  // namespace latebind::kit
