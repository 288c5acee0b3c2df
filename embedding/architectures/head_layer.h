// A layer of what a network has on its encoder: a linear one, an activation and, perhaps, a norm.
//
// Values.
#pragma once

#include <string>

#include "core/graph/operators.h"

namespace latebind::embedding {

struct HeadLayer {
  std::string name;         // of its tensors, without ".weight" and ".bias"
  bool in_encoder = false;  // they are below the encoder's prefix
  bool has_bias = true;
  graph::ActivationFunction activation = graph::ActivationFunction::kTanh;
  std::string norm{};  // behind the activation, of the encoder's kind; empty: none
};

}  // namespace latebind::embedding
