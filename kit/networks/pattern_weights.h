// Weights for networks that are made up: in memory, with values of a fixed pattern.
#pragma once

#include <cstdint>
#include <string>

#include "core/graph/operators.h"
#include "core/tensor/shared_bytes.h"
#include "core/tensor/tensor.h"

namespace latebind::kit {

// The weights of a Linear, of a Convolution, or of a norm.
struct WeightPair {
  graph::Weight weight;
  graph::Weight bias;
};

// Where a made-up network gets its weights from. One thread at a time.
class WeightMaker {
 public:
  WeightMaker() = default;
  WeightMaker(const WeightMaker&) = default;
  WeightMaker(WeightMaker&&) = default;
  WeightMaker& operator=(const WeightMaker&) = default;
  WeightMaker& operator=(WeightMaker&&) = default;
  virtual ~WeightMaker() = default;

  // Returns a new weight of the file that part() returns.
  virtual graph::Weight add(std::string name, core::ElementType type, const core::Shape& shape) = 0;
  // Returns the file with all weights. Called once, after the last add().
  [[nodiscard]] virtual core::FilePart part() const = 0;
};

// Values between -1 and 1, none of which is 0 or subnormal in f16. They depend only on what was added before.
class PatternWeights final : public WeightMaker {
 public:
  graph::Weight add(std::string name, core::ElementType type, const core::Shape& shape) override;
  [[nodiscard]] core::FilePart part() const override;

 private:
  void append(core::ElementType type, float value);
  void put(std::uint32_t bits, unsigned size);

  std::string bytes_;
  unsigned number_ = 0;
};

}  // namespace latebind::kit
