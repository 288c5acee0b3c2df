// What the tests of `native` compute, and with what.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/native/backend.h"
#include "backends/native/kernels/kernels.h"
#include "core/graph/graph.h"
#include "core/model.h"
#include "tests/core/graph/random_encoder.h"

namespace latebind::native::testing {

using core::ElementType;
using core::Shape;
using graph::testing::Array;
using graph::testing::draw_batch;
using graph::testing::draw_shape;
using graph::testing::encoder;
using graph::testing::EncoderShape;
using graph::testing::Inputs;
using graph::testing::Outcome;
using graph::testing::run;

inline std::shared_ptr<core::Backend> backend(const std::string& isa = {}) {
  // As many threads as a test asks for, whatever the machine has.
  return make_backend({.isa = isa, .processors = 64});
}

inline core::Model model_of(graph::Graph graph) {
  return core::Model::from_graph("test", {.graph = std::make_shared<const graph::Graph>(std::move(graph))});
}

// Those that this processor has, "portable" among them.
inline std::vector<std::string> runnable_sets() {
  std::vector<std::string> names;
  for (const Kernels* const set : all_kernels()) {
    if (can_run(*set)) names.emplace_back(set->name);
  }
  return names;
}

// What a set of kernels multiplies in.
struct Arithmetic {
  std::string isa;
  core::Precision precision = core::Precision::kF32;
  // Of what a network computes from what its operators mean.
  double distance = 2e-5;
};
inline std::vector<Arithmetic> runnable_arithmetics() {
  std::vector<Arithmetic> all;
  for (const Kernels* const set : all_kernels()) {
    if (!can_run(*set)) continue;
    all.push_back({.isa = std::string(set->name)});
    if (set->f16.is_there()) all.push_back({std::string(set->name), core::Precision::kF16, 0.01});
    if (set->bf16.is_there()) all.push_back({std::string(set->name), core::Precision::kBF16, 0.05});
    if (set->int8.is_there()) all.push_back({std::string(set->name), core::Precision::kInt8, 0.12});
  }
  return all;
}

}  // namespace latebind::native::testing
