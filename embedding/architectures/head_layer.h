// A layer of a head: a linear layer, an activation and optionally a norm. A value.
#pragma once

#include <string>

#include "core/graph/operators.h"

namespace latebind::embedding {

struct HeadLayer {
  std::string name;         // of its tensors, without ".weight" and ".bias"
  bool in_encoder = false;  // below the encoder's prefix
  bool has_bias = true;
  graph::ActivationFunction activation = graph::ActivationFunction::kTanh;
  std::string norm{};  // after the activation, of the encoder's kind; empty: none
};

}  // namespace latebind::embedding
