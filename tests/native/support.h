// What the tests of `native` compute, and with what.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/native/backend.h"
#include "backends/native/kernels/kernels.h"
#include "core/graph/graph.h"
#include "core/model/model.h"
#include "kit/networks/batches.h"
#include "kit/networks/random_encoder.h"
#include "kit/run_graph.h"
#include "tests/support/encoders_to_draw.h"

namespace latebind::native::testing {

using core::ElementType;
using core::Shape;
using kit::Array;
using kit::draw_batch;
using kit::draw_shape;
using kit::encoder;
using kit::EncoderShape;
using kit::Inputs;
using kit::Outcome;
using kit::run;
using kit::run_all;
using test::encoders_to_draw;

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

// Attention of one head to all of a text, whose vectors lie one behind the other; the rest is to be set.
inline AttentionHead head_of(const float* query, const float* key, const float* value, float* out, std::size_t tokens,
                             std::size_t width) {
  return {.query = query,
          .key = key,
          .value = value,
          .out = out,
          .query_stride = width,
          .key_stride = width,
          .value_stride = width,
          .out_stride = width,
          .tokens = tokens,
          .keys = tokens,
          .width = width};
}

// What a set of kernels multiplies in.
struct Arithmetic {
  std::string isa;
  core::Precision precision = core::Precision::kF32;
  // Of what a network computes from what its operators mean.
  double distance = 0;
};
// Each once: what several sets share is the fastest one's.
inline std::vector<Arithmetic> runnable_arithmetics() {
  std::vector<Arithmetic> all;
  std::vector<Product> seen;
  const auto add = [&](const Kernels& set, core::Precision precision, const Product& product, double distance) {
    const auto is_same = [&](const Product& other) {
      return other.multiply == product.multiply && other.attend == product.attend;
    };
    if (!product.is_there() || std::ranges::any_of(seen, is_same)) return;
    seen.push_back(product);
    all.push_back({std::string(set.name), precision, distance});
  };
  for (const Kernels* const set : all_kernels()) {
    if (!can_run(*set)) continue;
    add(*set, core::Precision::kF32, set->f32, 2e-5);
    add(*set, core::Precision::kBF16, set->bf16, 0.05);
    add(*set, core::Precision::kF16, set->f16, 0.01);
    add(*set, core::Precision::kInt8, set->int8, 0.12);
  }
  return all;
}

}  // namespace latebind::native::testing
