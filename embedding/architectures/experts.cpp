// The part of EncoderBuilder for feed-forward parts with experts.
#include <string>
#include <utility>

#include "embedding/architectures/encoder.h"

namespace latebind::embedding {

using core::Result;
using graph::Value;

Result<Value> EncoderBuilder::experts(Value x, const std::string& place, const LayerNames& names) {
  const std::size_t hidden = sizes_.hidden;
  const std::string name = place + std::string(names.experts);
  LB_ASSIGN_OR_RETURN(const Value router,
                      linear(x, place + std::string(names.router), hidden, sizes_.experts, /*has_bias=*/false));
  graph::Experts experts;
  experts.x = x;
  experts.router = router;
  experts.chosen = static_cast<std::int64_t>(sizes_.chosen);
  experts.function = sizes_.activation;
  LB_ASSIGN_OR_RETURN(experts.wide, weight(name + ".mlp.w1", {sizes_.experts * sizes_.intermediate, hidden}));
  LB_ASSIGN_OR_RETURN(experts.narrow, weight(name + ".mlp.w2", {sizes_.experts * sizes_.intermediate, hidden}));
  if (names.narrow_bias) {
    LB_ASSIGN_OR_RETURN(experts.bias, weight(name + ".bias", {hidden}));
  }
  return graph_.add(std::move(experts));
}

}  // namespace latebind::embedding
